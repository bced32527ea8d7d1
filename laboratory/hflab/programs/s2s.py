# SPDX-License-Identifier: GPL-3.0-or-later
"""Two Prosody that know nothing of HF: ordinary connections between servers (RFC 6120, dialback by
XEP-0220) over TCP through the IP client. Needs root for namespaces.

Their domains are addresses, so no name is looked up, as in the published measurement.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import List, Sequence

from gnuradio.hf.station import pair
from gnuradio.hf.system import netns

from .prosody import Prosody, Users

_CONFIG = """daemonize = false
run_as_root = true
pidfile = "{folder}/pid"
data_path = "{folder}/data"
log = {{ info = "{folder}/log" }}
interfaces = {{ "0.0.0.0" }}
modules_enabled = {{ "roster", "saslauth", "disco", "offline", "ping", "version", "dialback" }}
modules_disabled = {{ "tls" }}
authentication = "internal_plain"
allow_unencrypted_plain_auth = true
c2s_require_encryption = false
s2s_require_encryption = false
s2s_secure_auth = false

VirtualHost "{domain}"
"""
C2S_PORT = 5222
#: Station time in a second of the host.
SPEED = 4.0


class _Server(Prosody):
    """In a namespace, where root runs it. The name of a user is that of the station."""

    def _configure(self, far: Sequence[str], users: Sequence[str]) -> None:
        super()._configure(far, users)
        self._write("prosody.cfg.lua", _CONFIG.format(folder=self.folder, domain=self.domain))


def _user(name: str) -> str:
    return f"user@{pair.ADDRESSES[name]}"


def round_trips(rate: int, count: int = 10) -> List[float]:
    """Seconds of station time from a message until its answer is back, the first one first."""
    folder = tempfile.mkdtemp(prefix="hf-s2s-")
    try:
        setting = pair.Setting(mode=f"4539-{rate}S", speed=SPEED, pep_ports=None)
        with pair.Pair(setting) as made:
            for name in pair.NAMES:
                place = os.path.join(folder, name)
                _Server(place, pair.ADDRESSES[name], [], ["user"])
                made.start(name, ["prosody", "-F", "--config", f"{place}/prosody.cfg.lua"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                _wait_for(os.path.join(place, "log"))
            for name in reversed(pair.NAMES):
                client = made.start(name, [sys.executable, "-m", "hflab.programs.s2s", name,
                                           str(count)], stdout=subprocess.PIPE, text=True)
            output, _ = client.communicate(timeout=600 + 60 * count)
            times = [SPEED * float(line) for line in output.splitlines()]
            if len(times) != count + 1:
                with open(os.path.join(folder, "A", "log"), encoding="utf-8") as log:
                    raise RuntimeError(f"{len(times)} answers: {log.read()[-2000:]}")
            return times
    finally:
        shutil.rmtree(folder, True)


def _wait_for(log: str) -> None:
    end = time.monotonic() + 30
    while True:
        if os.path.exists(log):
            with open(log, encoding="utf-8") as file:
                if "Activated service 's2s'" in file.read():
                    return
        if time.monotonic() > end:
            raise RuntimeError("Prosody does not start")
        time.sleep(0.05)


def _run(name: str, count: str) -> None:
    """A client in a namespace: at A it writes and prints seconds, at B it answers."""
    me, other = _user(name), _user(pair.OTHER[name])
    users = Users({me: C2S_PORT})
    if name == "B":
        users.on_message(me, lambda m: m.reply("-").send())
        time.sleep(3600)
    time.sleep(3)  # until B's client is there
    for k in range(int(count) + 1):
        begin = time.monotonic()
        users.write(me, other, f"{k}")
        if not users.wait(lambda: len(users.bodies(me)) > k, 900 / SPEED):
            break
        print(time.monotonic() - begin, flush=True)
    users.close()


if __name__ == "__main__":
    if why := netns.why_not():
        raise SystemExit(why)
    if len(sys.argv) == 3:
        _run(*sys.argv[1:])
    else:
        found = round_trips(int(sys.argv[1]))
        print("first and mean of later round trips, s:",
              *(f"{t:.2f}" for t in (found[0], sum(found[1:]) / len(found[1:]))))
        print(*(f"{t:.2f}" for t in found))
