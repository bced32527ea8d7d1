# SPDX-License-Identifier: GPL-3.0-or-later
"""Sessions over host ports that end in every way, over two stations on emulated air.

Each session has data both ways and one random end. Afterwards both programs know the end, each
has a prefix of what the other sent, and all of it where the other has disconnected.
"""
import asyncio
from collections import Counter
from dataclasses import dataclass, field
import random
import socket
from typing import Any, Callable, Counter as Counts, Dict, List, Optional, Tuple

from gnuradio.hf import station
from gnuradio.hf.host import HostPorts
from gnuradio.hf.options import option
from gnuradio.hf.station import pair

CALLS = {"LA1AAA": "1.2.0.1", "LA1BBB": "1.2.0.2"}
CALL_OF = {"A": "LA1AAA", "B": "LA1BBB"}
#: Ends of a session, with how often each is drawn.
ENDS = {"disconnect": 6, "abort": 4, "abort the call": 1, "kill the program": 3,
        "kill the station": 1, "silence the station": 1}
#: Time for any step, s of the host's clock. After that a session is stuck.
STUCK_S = 60.0
#: Time for the end of a session, s of station time. A busy machine may need more than STUCK_S for
#: the 300 s after which a silent station is given up.
END_S = 900.0


@dataclass(frozen=True)
class Options:
    """How many sessions, and which."""

    sessions: int = option(100, "Sessions, 1 to 100000.", least=1, most=100000)
    first: int = option(1, "Number of the first session. Each number is one certain session, so "
                           "a run can go on where another has stopped.", least=1, most=10**9)
    speed: float = option(40.0, "Speed of the emulated air, as a multiple of real time.",
                          least=1, most=200)


class Program:
    """A program at an ARDOP or VARA port."""

    def __init__(self, ardop: bool, call: str) -> None:
        self.ardop, self.call = ardop, call
        self.lines: List[str] = []
        self.data = bytearray()
        self.closed = False
        self._tasks: List["asyncio.Task[None]"] = []
        self._writers: List[asyncio.StreamWriter] = []

    async def attach(self, port: int) -> None:
        """Connect both sockets and name the call sign. Raises RuntimeError without an answer."""
        for k, work in enumerate((self._read_lines, self._read_data)):
            reader, writer = await asyncio.open_connection("127.0.0.1", port + k)
            self._writers.append(writer)
            self._tasks.append(asyncio.ensure_future(work(reader)))
        self.say(f"MYCALL {self.call}")
        self.say("LISTEN TRUE" if self.ardop else "LISTEN ON")
        if not await self.wait(lambda: self.closed or len(self.lines) >= 2) or self.closed:
            raise RuntimeError(f"no answer from port {port}, only {self.lines}")

    async def _read_lines(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                line = await reader.readuntil(b"\r")
                self.lines.append(line.decode().strip())
        except (OSError, asyncio.IncompleteReadError):
            self.closed = True

    async def _read_data(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                if self.ardop:
                    block = await reader.readexactly(
                        int.from_bytes(await reader.readexactly(2), "big"))
                    self.data += block[3:] if block[:3] == b"ARQ" else b""
                else:
                    self.data += await reader.readexactly(1)
        except (OSError, asyncio.IncompleteReadError):
            pass

    def say(self, text: str) -> None:
        """Send a command."""
        self._writers[0].write(text.encode() + b"\r")

    def connect(self, far: str) -> None:
        """Start a call."""
        self.say(f"ARQCALL {far} 5" if self.ardop else f"CONNECT {self.call} {far}")

    def send(self, data: bytes) -> None:
        """Data for the far program."""
        if data:
            self._writers[1].write((len(data).to_bytes(2, "big") if self.ardop else b"") + data)

    def kill(self) -> None:
        """End as a killed program does."""
        for writer in self._writers:
            writer.transport.abort()
        for task in self._tasks:
            task.cancel()

    def connected(self) -> bool:
        """Whether a session has begun."""
        return any(line.startswith("CONNECTED") for line in self.lines)

    def over(self) -> bool:
        """Whether the program knows that there is no session any more."""
        return self.closed or "DISCONNECTED" in self.lines or \
            any(line.startswith("STATUS CONNECT TO") for line in self.lines)

    async def wait(self, ready: Callable[[], bool]) -> bool:
        """Wait until ready() for at most STUCK_S. False: it has not come."""
        loop = asyncio.get_running_loop()
        end = loop.time() + STUCK_S
        while not ready() and loop.time() < end:
            await asyncio.sleep(0.01)
        return ready()


@dataclass
class Result:
    """What became of the sessions."""

    ends: Counts[str] = field(default_factory=Counter)
    stuck: List[str] = field(default_factory=list)
    altered: List[str] = field(default_factory=list)


class Stations:
    """Two stations with host ports. A context manager that may be entered again."""

    def __init__(self, setting: pair.Setting) -> None:
        self._setting = setting
        self.hosts: Dict[str, HostPorts] = {}
        self.ports: Dict[str, int] = {}
        self.lines: List[str] = []  #: said to the operator

    def __enter__(self) -> "Stations":
        self.hosts = {}
        self.pair = pair.Pair(self._setting, namespaces=False, on_description=self._describe,
                              on_made=self._made)
        try:
            self.pair.__enter__()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        self.pair.__exit__()

    def _close(self) -> None:
        for ports in self.hosts.values():
            ports.close()

    def _describe(self, name: str, d: station.Description) -> None:
        base = _free_port()
        self.ports[name] = base
        d.host = station.Host(calls=dict(CALLS), ardop_port=base, vara_port=base + 2,
                              agwpe_port=base + 4, kiss_port=base + 5)
        self.hosts[name] = HostPorts(d)

    def _made(self, made: pair.Pair) -> None:
        for name, ports in self.hosts.items():
            ports.attach(made.stations[name], self.lines.append)


def _free_port() -> int:
    """A port that ends in 0, from which six in a row are free. Below those that the kernel gives
    to clients."""
    while True:
        base = random.SystemRandom().randrange(1100, 3200) * 10
        sockets = [socket.socket() for _ in range(6)]
        try:
            for k, s in enumerate(sockets):
                s.bind(("127.0.0.1", base + k))
            return base
        except OSError:
            continue
        finally:
            for s in sockets:
                s.close()


class Trial:
    """The sessions, one after another."""

    def __init__(self, wanted: Options) -> None:
        self.wanted = wanted
        self.result = Result()
        self.stations = Stations(pair.Setting(speed=wanted.speed, pep_ports=None))

    def run(self, progress: Callable[[], None] = lambda: None) -> Result:
        """All sessions."""
        self.stations.__enter__()
        try:
            for number in range(self.wanted.first, self.wanted.first + self.wanted.sessions):
                asyncio.run(self._session(number))
                progress()
        finally:
            self.stations.__exit__()
        return self.result

    async def _session(self, number: int) -> None:
        r = random.Random(number)
        end = r.choices(list(ENDS), list(ENDS.values()))[0]
        self.result.ends[end] += 1
        ardop = [r.random() < 0.5, r.random() < 0.5]
        programs = [Program(ardop[k], CALL_OF[name]) for k, name in enumerate("AB")]
        sent = [r.randbytes(r.choice([0, 10, 300, 3000])) for _ in programs]
        name = f"session {number}, {end}"
        try:
            for program, side in zip(programs, "AB"):
                await program.attach(self.stations.ports[side] + (0 if program.ardop else 2))
            programs[0].connect(programs[1].call)
            whole = await self._end(end, programs, sent, r, name)
            for k, program in enumerate(programs):
                got, other = bytes(program.data), sent[1 - k]
                if not other.startswith(got) or (1 - k in whole and got != other):
                    self.result.altered.append(
                        f"{name}: {len(got)} of {len(other)} octets at {program.call}")
        finally:
            for program in programs:
                program.kill()
        await self._at_rest(name)

    async def _end(self, end: str, programs: List[Program], sent: List[bytes], r: random.Random,
                   name: str) -> List[int]:
        """Carry the session to its end. Returns the programs whose data must be whole."""
        if end == "abort the call":
            await asyncio.sleep(r.random() * 0.3)
            programs[0].say("ABORT")
            await self._over(name, programs[:1])
            return []
        if not all([await p.wait(p.connected) for p in programs]):
            self.result.stuck.append(f"{name}: not connected")
            return []
        for program, data in zip(programs, sent):
            program.send(data)
        who = r.randrange(2)
        if end == "disconnect":
            programs[who].say("DISCONNECT")
            await self._over(name, programs)
            return [who]
        await asyncio.sleep(r.random() * 0.3)
        if end == "abort":
            programs[who].say("ABORT")
        elif end == "kill the program":
            programs[who].kill()
            programs[who].closed = True
        elif end == "kill the station":
            self.stations.__exit__()
            self.stations.__enter__()
        else:
            self.stations.pair.stations["AB"[who]].data_link.set_emcon(True)
            await self._over(name, programs[1 - who:2 - who])
            self.stations.__exit__()
            self.stations.__enter__()
        await self._over(name, programs)
        return []

    async def _over(self, name: str, programs: List[Program]) -> None:
        begin = self.stations.pair.now()
        for program in programs:
            while not await program.wait(program.over) and \
                    self.stations.pair.now() < begin + END_S:
                pass
            if not program.over():
                self.result.stuck.append(f"{name}: {program.call} {program.lines[-3:]}")

    async def _at_rest(self, name: str) -> None:
        """Both engines have forgotten the session."""
        def count() -> int:
            return sum(len(h.engine.sessions) for h in self.stations.hosts.values())

        if not await Program(True, "").wait(lambda: count() == 0):
            self.result.stuck.append(f"{name}: {count()} sessions remain in the stations")
            self.stations.__exit__()
            self.stations.__enter__()


def report(result: Result) -> str:
    """A table of the sessions, and each failure."""
    rows: List[Tuple[Any, ...]] = [(end, count, "") for end, count in result.ends.items()]
    rows += [("stuck", len(result.stuck), 0), ("with altered data", len(result.altered), 0)]
    lines = ["| sessions | count | target |", "|---|---|---|"]
    lines += [f"| {a} | {b} | {c} |" for a, b, c in rows]
    return "\n".join(lines + result.stuck + result.altered)


def good(result: Result) -> bool:
    """Whether no session was stuck and no data were altered."""
    return not result.stuck and not result.altered


def trial(wanted: Options, progress: Optional[Callable[[], None]] = None) -> Result:
    """Run the sessions."""
    return Trial(wanted).run(progress or (lambda: None))
