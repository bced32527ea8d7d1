# SPDX-License-Identifier: GPL-3.0-or-later
"""Two ALE stations on sound cables: their rigs change channels, and stay on that of the link."""
import contextlib
import shutil
import socket
import subprocess
import threading
import time

import pytest
from rig import dummy_rig
import sound
from test_audio import running

KHZ = (4721, 7101)


def station_file(folder, number, port):
    """SAM or JOE, who scan two channels."""
    hears, speaks = ("east", "west")[::1 if number == 1 else -1]
    path = folder / f"ale{number}.toml"
    me, other = ("SAM", "JOE")[::1 if number == 1 else -1]
    path.write_text(f"""
address = "1.2.0.{number}"
mode = "4539-1200S"
[sis_server]
port = 0
[ale]
addresses = ["{me}"]
frequencies_hz = [{KHZ[0]}000, {KHZ[1]}000]
peers = {{ "1.2.0.{3 - number}" = "{other}" }}
[ale.settings]
tune_s = 0.4
[radio]
type = "audio"
capture = "{hears}_out"
playback = "{speaks}_in"
[radio.ptt]
way = "rigctld"
port = {port}
lead_s = 0.1
[radio.rig]
""")
    return str(path)


def frequency(port, tries=5):
    """What rigctld reports, Hz. On a busy machine it now and then closes without an answer."""
    with socket.create_connection(("127.0.0.1", port), 5) as s:
        s.sendall(b"f\n")
        answer = s.recv(64).split()
    if not answer and tries > 1:
        return frequency(port, tries - 1)
    return int(float(answer[0]))


@contextlib.contextmanager
def ether(environment, ports):
    """The cables carry sound only while both rigs are on one frequency."""
    ended = threading.Event()

    def carry():
        heard = None
        while not ended.wait(0.03):
            same = len({frequency(p) for p in ports}) == 1
            if same != heard:
                heard = same
                for cable in ("east", "west"):
                    sound.pactl(environment, "set-sink-mute", cable, "0" if same else "1")

    thread = threading.Thread(target=carry)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_the_rigs_of_both_ends_are_on_the_channel_of_the_link(tmp_path):
    for program in ("pulseaudio", "rigctld"):
        if not shutil.which(program):
            pytest.skip(f"the program {program} is missing")
    with contextlib.ExitStack() as stack:
        ports = [stack.enter_context(dummy_rig()) for _ in range(2)]
        environment = stack.enter_context(sound.cables(tmp_path))
        logs = [tmp_path / f"log{k}" for k in (1, 2)]
        near, _ = stack.enter_context(running(station_file(tmp_path, 1, ports[0]), environment,
                                              logs[0]))
        stack.enter_context(running(station_file(tmp_path, 2, ports[1]), environment, logs[1]))
        stack.enter_context(ether(environment, ports))
        channels = {1000 * k for k in KHZ}
        deadline = time.monotonic() + 20
        while not {frequency(p) for p in ports} <= channels:  # as the dummies begin
            assert time.monotonic() < deadline
            time.sleep(0.1)
        scanned = {frequency(p) for _ in range(20) for p in ports if not time.sleep(0.1)}
        assert scanned == channels
        sender = stack.enter_context(subprocess.Popen(
            ["hf", "console", "ping", "--to", "1.2.0.2", "--server", near, "--count", "1",
             "--timeout", "60"], env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL))
        try:
            deadline = time.monotonic() + 50
            while not all("linked on channel" in log.read_text() for log in logs):
                assert time.monotonic() < deadline, [log.read_text() for log in logs]
                time.sleep(0.2)
            channel = int(logs[0].read_text().split("linked on channel ")[1][0])
            for _ in range(10):  # and they stay
                time.sleep(0.2)
                assert [frequency(p) for p in ports] == [1000 * KHZ[channel]] * 2
        finally:
            sender.kill()
