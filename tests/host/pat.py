# SPDX-License-Identifier: GPL-3.0-or-later
"""One mail between two unmodified Pats at the host ports of two stations, on real waveforms.

Pat is a foreign program: Debian's package pat has it as pat-winlink.
"""
from dataclasses import dataclass
import json
import os
import random
import shutil
import string
import subprocess
import tempfile
import time
from typing import Callable, Dict, List, Optional

from gnuradio.hf.options import option
from gnuradio.hf.station import pair
from gnuradio.hf.system import netns
from sessions import CALL_OF, Stations

#: The ports as Pat calls them, and the longest time from connected to disconnected at 9600S on
#: AWGN 30 dB and at 1200S on Poor 10 dB, s.
WAYS = {"ardop": (9.0, 25.0), "varahf": (12.0, 25.0)}
#: Mode and channel of the two measurements.
LINKS = (("4539-9600S", "awgn snr=30"), ("4539-1200S", "poor snr=10"))
#: Time for everything, s.
LIMIT_S = 150.0
#: What a Pat says that cannot listen at a port, as 0.13 of Debian 12 at a VARA port.
UNABLE = "is not a valid listen method"
#: Names of Pat's program.
NAMES = ("pat-winlink", "pat")


@dataclass(frozen=True)
class Options:
    """The mail, and what it crosses."""

    octets: int = option(4050, "Octets of the text. 4050 shrink to a mail of 3.3 kB.",
                         least=1, most=100000)
    seed: int = option(1, "Seed of text, noise and fading.")


@dataclass
class Outcome:
    """One mail. arrived: at the far mailbox. session_s: from connected to disconnected, as the
    calling program sees it, station time. octets: that crossed both ways."""

    way: str
    mode: str
    channel: str
    arrived: bool
    session_s: float
    octets: int
    target_s: float
    why: str = ""

    def row(self) -> str:
        """The outcome as a row of a table."""
        good = self.arrived and self.session_s <= self.target_s
        return (f"| {self.way} | {self.mode} | {self.channel} | {self.octets} | "
                f"{'yes' if self.arrived else 'no'} | {self.session_s:.1f} | {self.target_s:g} | "
                f"{'ok' if good else 'missed'} |")


HEAD = ("| port | mode | channel | octets | arrived | connected to disconnected, s | target | |\n"
        "|---|---|---|---|---|---|---|---|")


def program(name: Optional[str] = None) -> str:
    """Path of Pat. Raises ValueError if it is not installed."""
    found = next((path for n in ([name] if name else NAMES)
                  if (path := shutil.which(n)) is not None), None)
    if found is None:
        raise ValueError(f"{name or 'pat-winlink'} is not installed: Debian's package pat has it")
    return found


class _Pat:
    """One Pat with its own home folder."""

    def __init__(self, path: str, home: str, call: str, ports: Dict[str, int]) -> None:
        self._path, self._home, self.call = path, home, call
        self.log = os.path.join(home, "output")
        os.makedirs(home)
        config = {"mycall": call, "locator": "JO59", "version_reporting_disabled": True,
                  "http_addr": f"127.0.0.1:{netns.free_tcp_ports(1)[0]}",
                  "ardop": {"addr": f"127.0.0.1:{ports['ardop']}",
                            "arq_bandwidth": {"Forced": False, "Max": 500},
                            "connect_requests": 10},
                  "varahf": {"addr": f"127.0.0.1:{ports['varahf']}", "bandwidth": 2300}}
        with open(os.path.join(home, "config.json"), "w") as file:
            json.dump(config, file)

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """Start Pat with its answers on standard input."""
        where = ["--config", f"{self._home}/config.json", "--mbox", f"{self._home}/mailbox",
                 "--log", f"{self._home}/log", "--event-log", f"{self._home}/events"]
        with open(self.log, "ab") as out:
            return subprocess.Popen([self._path, *where, *arguments], stdin=subprocess.PIPE,
                                    stdout=out, stderr=out, preexec_fn=netns.ended_with_me,
                                    env={**os.environ, "HOME": self._home})

    def said(self) -> str:
        """What it has printed."""
        with open(self.log, errors="replace") as file:
            return file.read()

    def mails(self, folder: str) -> int:
        """Mails in a folder of the mailbox."""
        path = os.path.join(self._home, "mailbox", self.call, folder)
        return len(os.listdir(path)) if os.path.isdir(path) else 0


def text_of(octets: int, seed: int) -> str:
    """A text that hardly shrinks."""
    r = random.Random(seed)
    letters = string.ascii_letters + string.digits + "+/"
    return "".join("\n" if k % 77 == 76 else r.choice(letters) for k in range(octets))


def measure(wanted: Options, way: str, mode: str, channel: str, target_s: float,
            path: str) -> Outcome:
    """Pass one mail from station A to station B."""
    out = Outcome(way, mode, channel, False, 0.0, 0, target_s)
    setting = pair.Setting(mode=mode, emulated=False, channel=channel, seed=wanted.seed,
                           pep_ports=None)
    with tempfile.TemporaryDirectory(prefix="hf-pat-") as folder, Stations(setting) as stations:
        lines = stations.lines
        pats = {name: _Pat(path, os.path.join(folder, name), CALL_OF[name],
                           {"ardop": base, "varahf": base + 2})
                for name, base in stations.ports.items()}
        running: List["subprocess.Popen[bytes]"] = []
        try:
            _compose(pats["A"], CALL_OF["B"], text_of(wanted.octets, wanted.seed))
            running.append(_answered(pats["B"].start("--listen", way, "http")))
            _wait(lambda: "initialized" in pats["B"].said() or UNABLE in pats["B"].said(), 20)
            if UNABLE in pats["B"].said():
                out.why = f"{path}: '{way}' {UNABLE}"
                return out
            running.append(_answered(pats["A"].start("connect", f"{way}:///{CALL_OF['B']}")))
            engine = stations.hosts["A"].engine
            _wait(lambda: bool(engine.sessions) and all(s.open for s in engine.sessions), LIMIT_S)
            begin = stations.pair.now()
            made = next(iter(engine.sessions), None)
            _wait(lambda: not engine.sessions, LIMIT_S)
            out.session_s = stations.pair.now() - begin
            out.octets = made.sent + made.received if made is not None else 0
            _wait(lambda: pats["B"].mails("in") == 1, 5)
            out.arrived = pats["B"].mails("in") == 1 and pats["A"].mails("sent") == 1
            if not out.arrived:
                out.why = "\n".join(lines) + pats["A"].said()[-600:]
        finally:
            for process in running:
                process.kill()
                process.wait()
    return out


def _compose(pat: _Pat, to: str, text: str) -> None:
    process = pat.start("compose", "--p2p-only", "-s", "test", to)
    process.communicate(text.encode(), timeout=20)


def _answered(process: "subprocess.Popen[bytes]") -> "subprocess.Popen[bytes]":
    # Pat asks whether to go on without an account at Winlink.
    assert process.stdin is not None
    process.stdin.write(b"c\nc\n")
    process.stdin.flush()
    return process


def _wait(ready: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not ready() and time.monotonic() < end:
        time.sleep(0.02)
    return ready()
