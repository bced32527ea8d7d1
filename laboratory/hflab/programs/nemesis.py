# SPDX-License-Identifier: GPL-3.0-or-later
"""Two whole stations under fire: two data links with HF-PEP and the program of their modems, each
a process of its own. Processes are killed, stopped and starved while connections run over them.

The history of every connection is checked: octets that arrive are those that were sent, an end of
the stream comes after the last octet only, everything ends in time. Afterwards the stations must
work, with the descriptors and the memory that they had before.
"""
import asyncio
from dataclasses import dataclass, field
import os
import random
import resource
import signal
import socket
import struct
import subprocess
import tempfile
import time
from typing import Any, Callable, Coroutine, Dict, Iterator, List, NamedTuple, \
    Optional, Set, Tuple

from gnuradio.hf.options import option
from gnuradio.hf.system import netns
from .. import sweep
from . import kernel

NODES = {"A": "1.2.0.1", "B": "1.2.0.2"}
OTHER = {"A": "B", "B": "A"}
#: Address of station B when it comes back as another one.
STRANGER = "1.2.0.9"
#: A far station is given up after this silence, s. The stations of this test have it in a rule.
OUTAGE_S = 60
#: Sizes of a direction of a connection, octets.
SIZES = (0, 200, 3000, 20000)
#: Open connections at once.
MAX_FLOWS = 6
#: Everything has ended this time after the last fault, s: OUTAGE_S, 30 s for its check, and the
#: time of the octets that may wait at 9600 bit/s.
END_S = 300.0
#: Connections after the last fault succeed within this time, s.
WORKS_AGAIN_S = 180.0
#: What a process may have more at the end than at the start.
MORE_FDS, MORE_MEMORY = 4, 32 << 20
#: Longest time until a station is ready, s, and until its use of memory is steady.
START_S, SETTLED_S = 60.0, 30.0


@dataclass(frozen=True)
class Options:
    """Runs of hf-lab bench nemesis."""

    runs: int = option(3, "Number of runs, each with its own faults.", least=1, most=100000)
    first: int = option(1, "Seed of the first run. A seed gives the same faults at the same "
                           "times.",
                        least=1, most=10**9)
    minutes: float = option(10.0, "Duration of the faults of a run, real time.", least=0.2,
                            most=1440)


class Run(NamedTuple):
    """One run. The last five are failures; what they were is in the notes."""

    seed: int
    minutes: float
    faults: int
    connections: int
    whole: int
    resets: int
    served_twice: int
    octets: int
    wrong: int
    untrue_ends: int
    stuck: int
    died: int
    grown: int
    notes: str


FAILURES = {"wrong": "connections with wrong octets", "untrue_ends": "ends before the last octet",
            "stuck": "connections without an end, or stations that do not work again",
            "died": "processes that ended by themselves",
            "grown": "processes that kept descriptors or memory"}


class Program:
    """A process of the test: hf run with its files."""

    def __init__(self, name: str, folder: str, files: List[str]) -> None:
        self.name, self.folder, self.files = name, folder, files
        self.process: Optional[subprocess.Popen] = None  # type: ignore[type-arg]
        #: Descriptors and memory of the present process SETTLED_S after its start.
        self.before: Optional[Tuple[int, int]] = None
        self.started = 0.0
        self.starved = False  #: may end by itself: it has too little memory

    def start(self, files: Optional[List[str]] = None) -> None:
        """Start it. Its lines go to NAME.log."""
        with open(os.path.join(self.folder, f"{self.name}.log"), "ab") as log:
            self.process = subprocess.Popen(
                [*kernel.HF, "run", *(files or self.files)], cwd=self.folder, stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, preexec_fn=netns.ended_with_me)
        self.before, self.started = None, time.monotonic()

    def note_use(self) -> None:
        """Note descriptors and memory once it has settled."""
        if self.before is None and time.monotonic() > self.started + SETTLED_S \
                and self.over() is None:
            self.before = self.uses()

    def kill(self) -> None:
        """End it as a crash does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def signal(self, number: int) -> None:
        """Send a signal."""
        assert self.process is not None
        self.process.send_signal(number)

    def pid(self) -> int:
        """Its process."""
        assert self.process is not None
        return self.process.pid

    def over(self) -> Optional[int]:
        """Its status if it has ended."""
        assert self.process is not None
        return self.process.poll()

    def limit(self, what: int, soft: int) -> int:
        """Change a limit of the process. Returns the old one."""
        old, hard = resource.prlimit(self.pid(), what)
        resource.prlimit(self.pid(), what, (soft if hard < 0 else min(soft, hard), hard))
        return old

    def uses(self) -> Tuple[int, int]:
        """Open descriptors, and memory in octets."""
        proc = f"/proc/{self.pid()}"
        with open(f"{proc}/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
        return len(os.listdir(f"{proc}/fd")), pages * resource.getpagesize()


@dataclass
class End:
    """One end of a connection: what it sends and what it has heard."""

    sends: bytes
    expects: bytes
    got: bytearray = field(default_factory=bytearray)
    #: eof, reset, killed, or empty while it is open.
    over: str = ""

    async def run(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Send and receive until both directions have ended."""
        async def send() -> None:
            writer.write(self.sends)
            await writer.drain()
            writer.write_eof()

        async def receive() -> None:
            while part := await reader.read(65536):
                self.got += part

        try:
            await asyncio.gather(send(), receive())
            self.over = self.over or "eof"
        except OSError:
            self.over = self.over or "reset"
        finally:
            if self.over == "reset":
                writer.transport.abort()
            else:
                writer.close()

    def whole(self) -> bool:
        """Whether everything has arrived, and then the end."""
        return self.over == "eof" and self.got == self.expects


def octets_of(number: int, way: str, count: int) -> bytes:
    """The octets of a connection in one direction."""
    return random.Random(f"{number} {way}").randbytes(count)


#: A connection begins with its number and the octets of both directions.
HEAD = struct.Struct(">QII")


class Flow:
    """A connection from one station to the other, with both of its ends."""

    def __init__(self, number: int, up: int, down: int) -> None:
        self.number = number
        there, back = octets_of(number, "up", up), octets_of(number, "down", down)
        self.client = End(HEAD.pack(number, up, down) + there, back)
        self._back, self._there = back, there
        #: Two if the far station was restarted before it had confirmed the connection.
        self.servers: List[End] = []
        self.writer: Optional[asyncio.StreamWriter] = None

    async def run(self, port: int) -> None:
        """The client's end."""
        try:
            reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            self.client.over = "reset"
            return
        await self.client.run(reader, self.writer)

    def serve(self) -> End:
        """A server's end, for a connection that arrives."""
        self.servers.append(End(self._back, self._there))
        return self.servers[-1]

    def served(self) -> bool:
        """Whether the last server has seen the end."""
        return bool(self.servers) and bool(self.servers[-1].over)

    def whole(self) -> bool:
        """Whether both ends have everything."""
        return self.client.whole() and bool(self.servers) and self.servers[-1].whole()

    def ends(self) -> List[Tuple[str, End]]:
        """All ends, each with its name."""
        return [("client", self.client)] + [("server", end) for end in self.servers]

    def kill(self) -> None:
        """End the client as a crash does: its socket is reset."""
        if self.writer is not None and not self.client.over:
            self.client.over = "killed"
            sock = self.writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.writer.transport.abort()

    def problems(self) -> Iterator[Tuple[str, str]]:
        """Kind of failure, and a sentence."""
        for name, end in self.ends():
            if not end.expects.startswith(end.got):
                yield "wrong", f"connection {self.number}: wrong octets at the {name}"
            elif end.over == "eof" and len(end.got) < len(end.expects):
                yield "untrue_ends", (f"connection {self.number}: end after {len(end.got)} of "
                                      f"{len(end.expects)} octets at the {name}")


class Fire:
    """One run: the stations, their connections and the faults."""

    def __init__(self, seed: int, minutes: float, folder: str) -> None:
        self.seed, self.minutes, self.folder = seed, minutes, folder
        self.fate, self.random = random.Random(f"{seed} faults"), random.Random(seed)
        self.hit: Set[str] = set()  # programs that a fault is at
        self.at_work: List["asyncio.Future[None]"] = []  # all faults
        self.flows: List[Flow] = []
        self.failures: Dict[str, int] = dict.fromkeys(FAILURES, 0)
        self.notes: List[str] = []
        self.faults = 0
        self.open: Set["asyncio.Task[None]"] = set()
        ports = netns.free_tcp_ports(6)
        self.modem_ports, self.entries = ports[:2], dict(zip("AB", ports[2:4]))
        self.sis_port, self.listen_port = ports[4:]
        self.programs = {
            "modems": Program("modems", folder, ["modem-A.toml", "modem-B.toml"]),
            "A": Program("A", folder, ["A.toml"]), "B": Program("B", folder, ["B.toml"])}

    def write_files(self) -> None:
        """The station files."""
        for k, name in enumerate("AB"):
            self._write(f"modem-{name}", f'mode = "4539-9600S"\n'
                        f'[modem_server]\nport = {self.modem_ports[k]}\n')
            for stem, address in ((name, NODES[name]), (f"{name}-other", STRANGER)):
                self._write(stem, f"""address = "{address}"
mode = "4539-9600S"
[modem_client]
port = {self.modem_ports[k]}
[capture]
d_pdu = "{stem}.pcap"
[pep]
listen = ["{self.entries[name]}=127.0.0.1:{self.listen_port}"]
routes = ["127.0.0.0/8={NODES[OTHER[name]]}"]
allow = ["127.0.0.1:{self.listen_port}"]
[[pep.rule]]
outage_s = {OUTAGE_S}
""" + (f"[sis_server]\nport = {self.sis_port}\n" if name == "A" else ""))

    def _write(self, stem: str, text: str) -> None:
        with open(os.path.join(self.folder, f"{stem}.toml"), "w", encoding="ascii") as file:
            file.write(text)

    # --- connections ----------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            number, _, _ = HEAD.unpack(await reader.readexactly(HEAD.size))
        except (OSError, asyncio.IncompleteReadError):
            writer.transport.abort()
            return
        if number >= len(self.flows):
            self._fail("wrong", f"a connection of number {number}, which nobody made")
            writer.transport.abort()
            return
        await self.flows[number].serve().run(reader, writer)

    def _begin(self, coroutine: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.ensure_future(coroutine)
        self.open.add(task)
        task.add_done_callback(self.open.discard)
        return task

    def _connect(self, way: str, up: int, down: int) -> Flow:
        flow = Flow(len(self.flows), up, down)
        self.flows.append(flow)
        self._begin(flow.run(self.entries[way]))
        return flow

    def _at_work(self) -> List[Flow]:
        return [f for f in self.flows if not f.client.over]

    async def _traffic(self) -> None:
        while True:
            await asyncio.sleep(self.random.uniform(1, 10))
            if len(self._at_work()) < MAX_FLOWS:
                sizes = self.random.choice(SIZES), self.random.choice(SIZES)
                self._connect(self.random.choice("AB"), *sizes)

    # --- faults ---------------------------------------------------------------------------------

    async def _kill(self, program: Program) -> None:
        program.kill()
        await asyncio.sleep(self.fate.choice([0, 3, 30, 90]))
        program.start()

    async def _pause(self, program: Program) -> None:
        program.signal(signal.SIGSTOP)
        await asyncio.sleep(self.fate.choice([2, 20, 80]))
        program.signal(signal.SIGCONT)

    async def _other_address(self, program: Program) -> None:
        program.kill()
        program.start(["B-other.toml"])
        await asyncio.sleep(self.fate.uniform(30, 100))
        program.kill()
        program.start()

    async def _descriptors(self, program: Program) -> None:
        used = {int(name) for name in os.listdir(f"/proc/{program.pid()}/fd")}
        free = sorted(set(range(len(used) + 4)) - used)
        await self._limited(program, resource.RLIMIT_NOFILE, free[self.fate.randrange(4)])

    async def _memory(self, program: Program) -> None:
        with open(f"/proc/{program.pid()}/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
        program.starved = True
        old = program.limit(resource.RLIMIT_AS, pages * resource.getpagesize() + (8 << 20))
        await asyncio.sleep(self.fate.uniform(10, 60))
        if program.over() is None:
            program.limit(resource.RLIMIT_AS, old)
        else:
            program.start()
        program.starved = False

    async def _disk(self, program: Program) -> None:
        # The capture cannot grow, as on a full disk.
        await self._limited(program, resource.RLIMIT_FSIZE, 4096)

    async def _limited(self, program: Program, what: int, least: int) -> None:
        old = program.limit(what, least)
        await asyncio.sleep(self.fate.uniform(10, 60))
        if program.over() is None:
            program.limit(what, old)

    async def _kill_application(self, _: Program) -> None:
        if flows := self._at_work():
            self.fate.choice(flows).kill()

    async def _flood(self, _: Program) -> None:
        port = self.fate.choice([self.sis_port, *self.modem_ports, *self.entries.values()])
        for _ in range(100):
            try:
                _, writer = await asyncio.wait_for(
                    asyncio.open_connection("127.0.0.1", port), 5)
            except (OSError, asyncio.TimeoutError):
                await asyncio.sleep(0.1)
                continue
            # An entry would forward these octets to the far server, as a head of a connection.
            if port not in self.entries.values():
                writer.write(self.fate.randbytes(self.fate.randrange(2000)))
            await asyncio.sleep(0.05)
            writer.transport.abort()

    #: Kinds of faults: how often each is drawn, and the programs that it may hit.
    KINDS = [(4, "A B modems", _kill), (3, "A B modems", _pause), (1, "B", _other_address),
             (2, "A B", _descriptors), (1, "A B", _disk), (1, "A B", _memory),
             (3, "", _kill_application), (2, "", _flood)]

    async def _fire(self) -> None:
        while True:
            await asyncio.sleep(self.fate.uniform(3, 20))
            _, names, kind = self.fate.choices(self.KINDS, [n for n, *_ in self.KINDS])[0]
            name = self.fate.choice(names.split() or [""])
            if name in self.hit:
                continue
            self.faults += 1
            self.at_work.append(asyncio.ensure_future(self._fault(name, kind)))

    async def _fault(self, name: str, kind: Callable[..., Coroutine[Any, Any, None]]) -> None:
        if name:
            self.hit.add(name)
        try:
            await kind(self, self.programs.get(name))
        finally:
            self.hit.discard(name)

    # --- the run --------------------------------------------------------------------------------

    def _fail(self, kind: str, note: str) -> None:
        self.failures[kind] += 1
        self.notes.append(note)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            for program in self.programs.values():
                status = program.over()
                # -9: killed by this test, and started again by it.
                if status is not None and status != -signal.SIGKILL and not program.starved:
                    self._fail("died", f"{program.name} ended with status {status}")
                    program.start()
                program.note_use()

    async def _works(self, within_s: float, what: str) -> bool:
        """Whether a connection each way succeeds. Each is tried again after a reset."""
        loop = asyncio.get_running_loop()
        end = loop.time() + within_s
        for way in "AB":
            while True:
                flow = self._connect(way, 3000, 3000)
                while not (flow.client.over and (flow.served() or flow.client.over != "eof")):
                    if loop.time() > end:
                        self._fail("stuck", f"{what}: no connection from {way} within "
                                            f"{within_s:g} s")
                        return False
                    await asyncio.sleep(0.2)
                if flow.whole():
                    break
                if loop.time() > end:
                    self._fail("stuck", f"{what}: connections from {way} end as "
                                        f"{flow.client.over}")
                    return False
                await asyncio.sleep(1)
        return True

    async def run(self) -> Run:
        """Everything."""
        self.write_files()
        server = await asyncio.start_server(self._serve, "127.0.0.1", self.listen_port)
        for program in self.programs.values():
            program.start()
        try:
            watch = asyncio.ensure_future(self._watch())
            if await self._works(START_S + WORKS_AGAIN_S, "at the start"):
                await self._under_fire()
        finally:
            watch.cancel()
            for program in self.programs.values():
                program.kill()
            server.close()
            for task in list(self.open):
                task.cancel()
        return self._result()

    async def _under_fire(self) -> None:
        work = [asyncio.ensure_future(c) for c in (self._traffic(), self._fire())]
        await asyncio.wait(work, timeout=60 * self.minutes,
                           return_when=asyncio.FIRST_COMPLETED)
        for task in work:
            if task.done():
                task.result()  # raises
            task.cancel()
        await asyncio.gather(*self.at_work)
        loop = asyncio.get_running_loop()
        end = loop.time() + END_S
        while self._unfinished() and loop.time() < end:
            await asyncio.sleep(0.5)
        for flow, name in self._unfinished():
            self._fail("stuck", f"connection {flow.number}: the {name} sees no end")
        await self._works(WORKS_AGAIN_S, "after the faults")
        await asyncio.sleep(5)
        for program in self.programs.values():
            self._compare(program)

    def _unfinished(self) -> List[Tuple[Flow, str]]:
        """Ends of connections that are still open."""
        return [(flow, name) for flow in self.flows
                for name, end in flow.ends() if not end.over]

    def _compare(self, program: Program) -> None:
        if program.before is None:
            return
        (fds, memory), (fds_before, memory_before) = program.uses(), program.before
        if fds > fds_before + MORE_FDS or memory > memory_before + MORE_MEMORY:
            self._fail("grown", f"{program.name}: {fds_before} descriptors and "
                                f"{memory_before >> 20} MB before, {fds} and {memory >> 20} after")

    def _result(self) -> Run:
        for flow in self.flows:
            for kind, note in flow.problems():
                self._fail(kind, note)
        ends = [end for flow in self.flows for _, end in flow.ends()]
        return Run(self.seed, self.minutes, self.faults, len(self.flows),
                   sum(f.whole() for f in self.flows),
                   sum(f.client.over == "reset" for f in self.flows),
                   sum(len(f.servers) > 1 for f in self.flows),
                   sum(len(end.got) for end in ends), **self.failures,
                   notes="; ".join(self.notes))


def one(seed: int, minutes: float, keep: str = "") -> Run:
    """A run. keep: folder for the logs and captures, instead of a temporary one."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(Fire(seed, minutes, keep or folder).run())


def store(path: Optional[str], force: bool = False) -> "sweep.Store[Run]":
    """Runs that are kept in a file."""
    return sweep.Store(Run, 2, path, force=force)


def failed(run: Run) -> bool:
    """Whether anything was wrong with a run."""
    return any(getattr(run, kind) for kind in FAILURES)


def report(runs: List[Run]) -> str:
    """A table of all runs together, and what has failed."""
    rows: List[Tuple[str, Any, Any]] = [
        ("runs", len(runs), ""), ("hours", round(sum(r.minutes for r in runs) / 60, 2), ""),
        ("faults", sum(r.faults for r in runs), ""),
        ("connections", sum(r.connections for r in runs), ""),
        ("of these whole at both ends", sum(r.whole for r in runs), ""),
        ("of these reset", sum(r.resets for r in runs), ""),
        ("of these made twice at the far station", sum(r.served_twice for r in runs), ""),
        ("octets received", sum(r.octets for r in runs), "")]
    rows += [(text, sum(getattr(r, kind) for r in runs), 0) for kind, text in FAILURES.items()]
    return "\n".join([sweep.table(["what", "count", "target"], rows)]
                     + [f"seed {r.seed}: {r.notes}" for r in runs if r.notes])
