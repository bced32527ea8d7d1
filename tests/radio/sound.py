# SPDX-License-Identifier: GPL-3.0-or-later
"""Sound cables without a sound card: the test's own PulseAudio server with null sinks, and ALSA
names for both ends of each."""
import contextlib
import os
import subprocess
import time


class Environment(dict):
    """Of programs that use the cables; server: its process id."""

    server = 0


def pactl(environment, *arguments):
    """Sends a command to the server and returns its output."""
    return subprocess.run(["pactl", *arguments], env=environment, check=True, timeout=60,
                          text=True, stdout=subprocess.PIPE).stdout.strip()


def plug(environment, name, rate=48000):
    """Put a cable in; gives what unplug() takes."""
    return pactl(environment, "load-module", "module-null-sink", f"sink_name={name}",
                 f"rate={rate}", "format=s16le", "channels=1", "channel_map=mono")


def unplug(environment, name):
    """Pull a cable out."""
    for line in pactl(environment, "list", "short", "modules").splitlines():
        if f"sink_name={name} " in line:
            pactl(environment, "unload-module", line.split()[0])


@contextlib.contextmanager
def cables(folder, names=("east", "west"), rates=None, first=False):
    """For each name ALSA devices NAME_in (play into the cable) and NAME_out (record what comes
    out). Gives the environment for programs that use them. first: the server goes ahead of other
    programs, as it does unless told otherwise; without, a busy machine is harder for it."""
    runtime = folder / "pulse"
    runtime.mkdir()
    unix = runtime / "pulse.sock"
    environment = Environment({
        **os.environ, "XDG_RUNTIME_DIR": str(runtime), "HOME": str(runtime),
        "ALSA_CONFIG_PATH": str(folder / "asound.conf"), "PULSE_SERVER": f"unix:{unix}"})
    text = "</usr/share/alsa/alsa.conf>\n"
    command = ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
               "--realtime=no", f"--high-priority={'yes' if first else 'no'}", "-L",
               f"module-native-protocol-unix auth-anonymous=1 socket={unix}"]
    for name in names:
        rate = (rates or {}).get(name, 48000)
        command += ["-L", f"module-null-sink sink_name={name} rate={rate} format=s16le channels=1 "
                    "channel_map=mono"]
        for end, device in (("in", name), ("out", f"{name}.monitor")):
            text += (f'pcm.{name}_{end} {{ type pulse; server "unix:{unix}"; device "{device}"; '
                     f'hint {{ show on; description "{name}" }} }}\n')
    (folder / "asound.conf").write_text(text)
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    environment.server = server.pid
    try:
        deadline = time.monotonic() + 30
        while not unix.exists():
            assert server.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        yield environment
    finally:
        server.terminate()
        server.wait(10)
