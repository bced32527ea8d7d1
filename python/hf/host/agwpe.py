# SPDX-License-Identifier: GPL-3.0-or-later
"""Port for programs that use the AGW Packet Engine. Several programs, several sessions."""
import asyncio
import struct
import time
from typing import Callable, Dict, List, NamedTuple, Optional, Set, Tuple

from ..station import callsigns
from ..system.first_octets import Server
from . import ax25
from .engine import Engine, peer_of
from .session import Refused, Session

#: port, kind, PID, from, to, length of the data.
HEADER = struct.Struct("<B3xBxBx10s10sI4x")
#: Longest data of one frame, octets.
DATA_MAX = 65536
#: Data towards the program, octets in one frame. Pat ends with an error beyond its buffer.
BLOCK_MAX = 1000
#: Pause after each of these frames, s. Pat drops frames when more than ten wait.
BLOCK_S = 0.01
#: Programs at a time.
PROGRAMS_MAX = 16
#: A program that leaves this unread is dropped, octets.
UNREAD_MAX = 1 << 20
PID_TEXT = 0xF0
#: Kinds of frames that programs send. P is a log-in, which needs no answer.
KINDS = b"RGgXxCvcdYyMVKmkDPH"
#: Frames that may be on their way, as programs ask for it.
WINDOW = 127


class Frame(NamedTuple):
    """One frame of the protocol."""

    kind: str
    source: str
    to: str
    data: bytes = b""
    port: int = 0
    pid: int = 0


def encode(frame: Frame) -> bytes:
    """The octets of a frame."""
    return HEADER.pack(frame.port, ord(frame.kind), frame.pid, frame.source.encode()[:9],
                       frame.to.encode()[:9], len(frame.data)) + frame.data


async def read(reader: asyncio.StreamReader) -> Optional[Frame]:
    """The next frame. None: what has arrived is none."""
    port, kind, pid, source, to, length = HEADER.unpack(await reader.readexactly(HEADER.size))
    if length > DATA_MAX:
        return None
    data = await reader.readexactly(length)
    names = [c.split(b"\0")[0].decode("ascii", "replace").strip() for c in (source, to)]
    return Frame(chr(kind), names[0], names[1], data, port, pid)


def begins(octets: bytes) -> Optional[bool]:
    """Whether a connection begins with a frame of a program. None: more octets are needed."""
    kind, reserved = octets[4:5], octets[1:4] + octets[5:6] + octets[7:8]
    if any(reserved) or kind not in KINDS:
        return False
    if len(octets) < HEADER.size:
        return None
    _, _, _, source, to, length = HEADER.unpack_from(octets)
    return length <= DATA_MAX and (source.split(b"\0")[0] + to.split(b"\0")[0]).isascii()


class AgwpePort:
    """The port, and the listener of the engine for all its programs."""

    def __init__(self, engine: Engine, broadcast: Callable[[bytes], None]) -> None:
        """broadcast: sends one AX.25 frame to all stations."""
        self.engine, self.broadcast = engine, broadcast
        self._programs: Set["_Program"] = set()
        self.server = Server(self._serve, begins, lambda: engine.refused("AGWPE"))
        engine.listeners.append(self)

    async def open(self, address: str, port: int) -> None:
        """Listen. Raises OSError."""
        await self.server.open(address, port)

    def close(self) -> None:
        """Stop listening and drop all programs."""
        self.server.close()
        for program in list(self._programs):
            program.writer.close()

    def attached(self) -> List[Tuple[str, str]]:
        """Its programs: address and state."""
        return [(f"{peer_of(p.writer)} {', '.join(sorted(p.calls))}".strip(), p.state())
                for p in tuple(self._programs)]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._programs) >= PROGRAMS_MAX:
            writer.close()
            return
        program = _Program(self, writer)
        self._programs.add(program)
        try:
            while (frame := await read(reader)) is not None:
                await program.take(frame)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._programs.discard(program)
            program.lost()
            writer.close()

    def _listening(self, call: str) -> Optional["_Program"]:
        return next((p for p in self._programs if call in p.calls), None)

    def free(self, call: str) -> bool:
        """Whether no program has registered the call sign."""
        return self._listening(call) is None

    def listens(self, call: str) -> bool:
        """Whether a program has registered the call sign."""
        return self._listening(call) is not None

    def offer(self, caller: str, called: str) -> Optional["_Program"]:
        """The program that is called. None: it has a session with this caller."""
        program = self._listening(called)
        return None if program is None or program.has(called, caller) else program

    def accepted(self, made: Session) -> None:
        """The offered session is connected."""
        assert isinstance(made.user, _Program)
        made.user.add(made)

    def heard(self, frame: bytes) -> None:
        """A frame from another station."""
        for program in self._programs:
            program.heard(frame)


class _Program:
    """One program and its sessions. The user of these sessions."""

    def __init__(self, port: AgwpePort, writer: asyncio.StreamWriter) -> None:
        self.port, self.writer = port, writer
        self.calls: Set[str] = set()
        self._sessions: Dict[Tuple[str, str], Session] = {}
        self._calling: Dict[Tuple[str, str], "asyncio.Task[None]"] = {}
        self._unreported: Dict[Tuple[str, str], int] = {}
        #: Both call signs as the program has written them, such as with -0.
        self._written: Dict[Tuple[str, str], Tuple[str, str]] = {}
        self._registered: Dict[str, str] = {}
        self._said_lost = False
        self._monitors = self._raw = False

    def state(self) -> str:
        """What it does, in words."""
        far = [far for _, far in tuple(self._sessions)]
        return f"in a session with {', '.join(far)}" if far else \
            "calls" if self._calling else "attached"

    def has(self, ours: str, far: str) -> bool:
        """Whether there is a session or a call between two call signs."""
        return (ours, far) in self._sessions or (ours, far) in self._calling

    def tell(self, frame: Frame) -> None:
        """Send a frame to the program."""
        if self.writer.transport.get_write_buffer_size() > UNREAD_MAX:
            self.writer.transport.abort()
        else:
            self.writer.write(encode(frame))

    async def take(self, frame: Frame) -> None:
        """A frame of the program."""
        action = self._ACTIONS.get(frame.kind)
        if frame.kind == "D":
            await self._data(frame)
        elif action is not None:
            action(self, frame)

    def lost(self) -> None:
        """The program has gone. Data that it has not flushed are not the whole."""
        for task in list(self._calling.values()):
            task.cancel()
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            if session.open:
                session.abort()

    def _version(self, _: Frame) -> None:
        self.tell(Frame("R", "", "", struct.pack("<HHHH", 2005, 0, 127, 0)))

    def _ports(self, _: Frame) -> None:
        self.tell(Frame("G", "", "", b"1;Port1 HF data link;\0"))

    def _capabilities(self, frame: Frame) -> None:
        self.tell(Frame("g", "", "", struct.pack("<8BI", 3, 0, 0, 0, 0, 0, WINDOW,
                                                 len(self._sessions), 0), frame.port))

    def _register(self, frame: Frame) -> None:
        try:
            call = self.port.engine.own(frame.source)
            good = call in self.calls or self.port.free(call)
        except ValueError as error:
            self.port.engine.say(f"host: AGWPE port: {error}")
            good = False
        if good:
            self.calls.add(call)
            self._registered[call] = frame.source
        self.tell(Frame("X", frame.source, "", bytes([good]), frame.port))

    def _unregister(self, frame: Frame) -> None:
        self.calls.discard(_normal(frame.source))

    def _connect(self, frame: Frame) -> None:
        try:
            ours, far, _ = self.port.engine.check_call(frame.source, frame.to)
            if self.has(ours, far):
                raise ValueError(f"{ours} has a session with {far}")
        except ValueError as error:
            self._ended(frame.source, frame.to, str(error))
            return
        self._written[ours, far] = frame.source, frame.to
        task = self._calling[ours, far] = asyncio.ensure_future(self._call(ours, far))
        # A task that is cancelled before its first step runs none of its own code.
        task.add_done_callback(lambda done: self._failed(ours, far, "aborted")
                               if done.cancelled() else None)

    async def _call(self, ours: str, far: str) -> None:
        try:
            made = await self.port.engine.call(self, ours, far)
        except Refused as error:
            self._failed(ours, far, str(error))
            return
        self._calling.pop((ours, far), None)
        self.add(made)

    def _failed(self, ours: str, far: str, why: str) -> None:
        self._calling.pop((ours, far), None)
        self._ended(ours, far, why)

    def add(self, made: Session) -> None:
        """A session is connected."""
        ours = made.called if made.incoming else made.caller
        self._sessions[ours, made.far] = made
        self._written.setdefault((ours, made.far), (self._registered.get(ours, ours), made.far))
        word = "To Station" if made.incoming else "With"
        near, far = self._written[ours, made.far]
        self.tell(Frame("C", far, near, f"*** CONNECTED {word} {far}\r\0".encode()))

    def _ended(self, ours: str, far: str, why: str) -> None:
        self._unreported.pop((ours, far), None)
        ours, far = self._written.pop((ours, far), (ours, far))
        self.tell(Frame("d", far, ours, f"*** DISCONNECTED From Station {far}: {why}\r\0"
                        .encode("ascii", "replace")))

    def _find(self, frame: Frame) -> Tuple[Tuple[str, str], Optional[Session]]:
        # Some programs name the ends in the order of the call.
        key = (_normal(frame.source), _normal(frame.to))
        key = key if key in self._sessions or key in self._calling else (key[1], key[0])
        return key, self._sessions.get(key)

    def _disconnect(self, frame: Frame) -> None:
        key, session = self._find(frame)
        if key in self._calling:
            self._calling[key].cancel()
        elif session is None:
            self._ended(frame.source, frame.to, "no session")
        else:
            session.disconnect()

    async def _data(self, frame: Frame) -> None:
        key, session = self._find(frame)
        if session is not None and session.open:
            self._unreported[key] = self._unreported.get(key, 0) + 1
            session.send(frame.data)
            await session.room()
        elif not self._said_lost:
            self._said_lost = True
            self.port.engine.say(f"host: AGWPE port: data were dropped: {frame.source} has no "
                                 f"session with {frame.to}")

    def _outstanding(self, frame: Frame) -> None:
        # A program asks until it sees its frame wait, and then until no frame waits. So each
        # frame is reported once, although HF-PEP mostly takes it at once.
        key, session = self._find(frame)
        count = self._unreported.pop(key, 0)
        if session is not None and session.octets_waiting():
            count = max(count, 1)
        self.tell(Frame("Y", frame.source, frame.to, struct.pack("<I", count), frame.port))

    def _port_outstanding(self, frame: Frame) -> None:
        count = sum(1 for s in self._sessions.values() if s.octets_waiting())
        self.tell(Frame("y", "", "", struct.pack("<I", count), frame.port))

    def _unproto(self, frame: Frame) -> None:
        try:
            via, data = _via(frame)
            own = ax25.plain(self.port.engine.own(frame.source))
            self.port.broadcast(ax25.encode(ax25.Ui(
                own, frame.to.upper(), via, frame.pid or PID_TEXT, data)))
        except ValueError as error:
            self.port.engine.say(f"host: AGWPE port: a frame was dropped: {error}")

    def _raw_frame(self, frame: Frame) -> None:
        ui = ax25.decode(frame.data[1:])
        try:
            if ui is None:
                raise ValueError("allowed are UI frames")
            self.port.engine.own(ui.source)
            self.port.broadcast(frame.data[1:])
        except ValueError as error:
            self.port.engine.say(f"host: AGWPE port: a frame was dropped: {error}")

    def _toggle_monitor(self, _: Frame) -> None:
        self._monitors = not self._monitors

    def _toggle_raw(self, _: Frame) -> None:
        self._raw = not self._raw

    def heard(self, frame: bytes) -> None:
        """A frame from another station."""
        ui = ax25.decode(frame)
        if ui is None:
            return
        if self._monitors:
            via = f" Via {','.join(ui.via)}" if ui.via else ""
            clock = time.strftime("%H:%M:%S")
            head = (f" 1:Fm {ui.source} To {ui.to}{via} <UI pid={ui.pid:02X} "
                    f"Len={len(ui.data)} >[{clock}]\r")
            self.tell(Frame("U", ui.source, ui.to, head.encode() + ui.data + b"\r\0"))
        if self._raw:
            self.tell(Frame("K", ui.source, ui.to, b"\0" + frame))

    # For the engine.

    async def deliver(self, session: Session, data: bytes) -> None:
        """Data for the program."""
        ours = session.called if session.incoming else session.caller
        if self._sessions.get((ours, session.far)) is not session:
            return
        ours, far = self._written[ours, session.far]
        for k in range(0, len(data), BLOCK_MAX):
            self.writer.write(encode(Frame("D", far, ours, data[k:k + BLOCK_MAX],
                                           pid=PID_TEXT)))
            await asyncio.sleep(BLOCK_S)
        await self.writer.drain()

    def ended(self, session: Session, why: str) -> None:
        """The session has ended."""
        ours = session.called if session.incoming else session.caller
        if self._sessions.pop((ours, session.far), None) is session:
            self._ended(ours, session.far, why or "disconnected")

    _ACTIONS: Dict[str, Callable[["_Program", Frame], None]] = {
        "R": _version, "G": _ports, "g": _capabilities, "X": _register, "x": _unregister,
        "C": _connect, "v": _connect, "c": _connect, "d": _disconnect, "Y": _outstanding,
        "y": _port_outstanding, "M": _unproto, "V": _unproto, "K": _raw_frame,
        "m": _toggle_monitor, "k": _toggle_raw}


def _normal(call: str) -> str:
    """A call sign as sessions have it, or the text itself if it is none."""
    try:
        return callsigns.normal(call)
    except ValueError:
        return call.upper()


def _via(frame: Frame) -> Tuple[List[str], bytes]:
    """Digipeaters and data of an unproto frame. Raises ValueError."""
    if frame.kind != "V":
        return [], frame.data
    count = frame.data[0] if frame.data else 0
    if count > 8 or len(frame.data) < 1 + 10 * count:
        raise ValueError(f"{count} digipeaters")
    names = [frame.data[1 + 10 * k:11 + 10 * k].split(b"\0")[0] for k in range(count)]
    return [n.decode("ascii", "replace") for n in names], frame.data[1 + 10 * count:]
