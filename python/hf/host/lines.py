# SPDX-License-Identifier: GPL-3.0-or-later
"""Ports with two sockets: lines of commands, and data. One program at a time, one session."""
import array
import asyncio
import fcntl
import termios
import time
from typing import Any, Callable, Coroutine, List, Optional, Set, Tuple

from ..system.first_octets import Server, from_browser, line_judge
from .engine import Engine, peer_of
from .session import Refused, Session, State

#: Longest line of commands, octets.
LINE_MAX = 1024
#: Pause between the start of a session and its first data, and between its last data and its
#: end, s. The program reads two sockets. Most programs drop data before the start and after the
#: end.
PAUSE_S = 0.1
#: Time between the report of a block and that of its departure, s, and until the latter is
#: repeated.
REPORT_S, REPEAT_S = 0.05, 1.0
#: Time for the rest of a block of which a part has arrived, s.
PART_S = 2.0
#: Time that a data socket is kept while no program has sent a command, s.
EARLY_S = 60.0
#: Time for the end of one program to be noticed after the next has connected, s.
HANDOVER_S = 2.0
#: Unsent lines that a program may leave unread, octets. One with more has stopped.
UNREAD_MAX = 1 << 20


class LinePort:
    """What the ports with two sockets share. A port handles lines and frames data."""

    NAME = ""
    #: Whether the first report after a block has the block itself, although HF-PEP has it.
    REPORTS_BLOCKS = False

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.calls: List[str] = []  #: call signs of the program
        self.listening = False
        self.session: Optional[Session] = None
        self._command: Optional[asyncio.StreamWriter] = None
        self._data: Optional[asyncio.StreamWriter] = None
        self._call: Optional["asyncio.Task[None]"] = None
        self.command_server = Server(
            self._commands, line_judge(self.knows, b"\r", LINE_MAX),
            lambda: engine.refused(self.NAME))
        self.data_server = Server(
            self._data_socket, self._data_begins,
            lambda: engine.refused(f"{self.NAME} data"), eager=True)
        self._tasks: Set["asyncio.Task[None]"] = set()
        self._had_session = False  # since the data socket was opened
        self._at_rest = True  # nothing of the program's data is half read
        self._started_at = self._data_at = self._block_at = 0.0
        self._shown = 0  # in the last report of octets that wait
        engine.listeners.append(self)

    async def open(self, address: str, port: int) -> None:
        """Listen. Raises OSError."""
        await self.command_server.open(address, port)
        await self.data_server.open(address, port + 1)

    def close(self) -> None:
        """Stop listening and drop the program."""
        self.command_server.close()
        self.data_server.close()
        for writer in (self._command, self._data):
            if writer is not None:
                writer.close()

    def attached(self) -> List[Tuple[str, str]]:
        """Its program: address and state."""
        program, session = self._command, self.session
        if program is None:
            return []
        calls = ", ".join(self.calls)
        state = f"in a session with {session.far}" if session is not None else \
            "calls" if self._call is not None else "listens" if self.listening else "attached"
        return [(f"{peer_of(program)} {calls}".strip(), state)]

    # What a port defines.

    def knows(self, text: str) -> bool:
        """Whether a line has a verb of the protocol. The first line of a program needs one."""
        raise NotImplementedError

    def data_begins(self, octets: bytes) -> Optional[bool]:
        """Whether a program may begin its data with octets although it had no session since its
        data socket was opened. None: more octets are needed."""
        raise NotImplementedError

    def line(self, text: str) -> None:
        """One line of the program."""
        raise NotImplementedError

    async def block(self, reader: asyncio.StreamReader) -> bytes:
        """The next data of the program, empty at the end."""
        raise NotImplementedError

    def framed(self, kind: str, data: bytes) -> bytes:
        """Data as the program expects them."""
        raise NotImplementedError

    def idle_data(self, data: bytes) -> None:
        """Data of the program without a session."""

    def came_in(self, session: Session) -> None:
        """A call has come in, and is connected."""
        raise NotImplementedError

    def went_out(self, session: Session) -> None:
        """Our call is connected."""
        raise NotImplementedError

    def failed(self, called: str, why: str) -> None:
        """Our call has failed."""
        raise NotImplementedError

    def gone(self, why: str) -> None:
        """The session has ended. The program has its data."""
        raise NotImplementedError

    def reset(self) -> None:
        """A new program starts with default values."""
        self.calls, self.listening = [], False

    # For the engine.

    def listens(self, call: str) -> bool:
        """Whether the program waits for calls to this call sign."""
        return self.listening and self._data is not None and call in self.calls

    def offer(self, caller: str, called: str) -> Optional["LinePort"]:
        """This port, unless it has a session."""
        del caller, called
        return None if self.session or self._call else self

    def accepted(self, made: Session) -> None:
        """The offered session is connected."""
        self._begin(made)
        self.came_in(made)

    def _begin(self, made: Session) -> None:
        self.session, self._started_at, self._shown = made, time.monotonic(), 0
        self._had_session = True
        self.later(self._report(made))

    async def deliver(self, session: Session, data: bytes) -> None:
        """Data for the program."""
        if session is not self.session:
            return  # the program has gone, the session only sends its rest
        await asyncio.sleep(max(self._started_at + PAUSE_S - time.monotonic(), 0))
        if self._data is None:
            raise ConnectionResetError
        self._data.write(self.framed("ARQ", data))
        await self._data.drain()
        self._data_at = time.monotonic()

    async def _report(self, session: Session) -> None:
        """Report how many octets wait for HF-PEP, while the session is open.

        Pat at an ARDOP port takes a block as sent when a first report has come, and as flushed
        when a later one says 0. So the first has the block itself (REPORTS_BLOCKS), and the one
        with 0 comes REPORT_S later. It is repeated once for a program that was slow.
        """
        repeated = True
        while session is self.session:
            await asyncio.sleep(REPORT_S / 2)
            quiet_s = time.monotonic() - self._block_at
            now = session.octets_waiting()
            if quiet_s >= REPORT_S and now != self._shown:
                self._shown, repeated = now, False
                self.tell(f"BUFFER {now}")
            elif quiet_s >= REPEAT_S and not now and not repeated:
                repeated = True
                self.tell("BUFFER 0")

    def ended(self, session: Session, why: str) -> None:
        """The session has ended."""
        if session is not self.session:
            return
        self.later(self._gone(session, why))

    async def _gone(self, session: Session, why: str) -> None:
        await asyncio.sleep(max(self._data_at + PAUSE_S - time.monotonic(), 0))
        if self.session is session:
            self.session = None
            self.gone(why)

    # For a port.

    def tell(self, text: str) -> None:
        """Send a line to the program."""
        if self._command is None:
            return
        self._command.write(text.encode("ascii", "replace") + b"\r")
        if self._command.transport.get_write_buffer_size() > UNREAD_MAX:
            self._command.transport.abort()

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work on the side."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def calling(self) -> bool:
        """Whether a call is under way."""
        return self._call is not None

    def call(self, caller: str, called: str) -> None:
        """Start a call. Raises ValueError for call signs that may not be used."""
        self.engine.check_call(caller, called)
        self._call = asyncio.ensure_future(self._calling(caller, called))
        # A task that is cancelled before its first step runs none of its own code.
        self._call.add_done_callback(lambda task: self._aborted(called) if task.cancelled()
                                     else None)

    async def _calling(self, caller: str, called: str) -> None:
        try:
            made = await self.engine.call(self, caller, called)
            self._call = None
            self._begin(made)
            self.went_out(made)
        except Refused as error:
            self._call = None
            self.failed(called, str(error))

    def _aborted(self, called: str) -> None:
        self._call = None
        self.failed(called, "aborted")

    def disconnect(self) -> bool:
        """End the session after all data of the program. False: there is none."""
        if self._call is not None:
            self._call.cancel()
        elif self.session is not None:
            self.later(self._flush(self.session))
        else:
            return False
        return True

    def abort(self) -> bool:
        """End the session or the call at once. False: there is none."""
        if self._call is not None:
            self._call.cancel()
        elif self.session is not None:
            self.session.abort()
        else:
            return False
        return True

    async def _flush(self, session: Session) -> None:
        # The program has written its data before the command, but to the other socket.
        resting = time.monotonic()
        while session.open and self._data is not None:
            await asyncio.sleep(0.005)
            if self._at_rest and not _unread(self._data):
                break
            if _unread(self._data) or session.octets_waiting():
                resting = time.monotonic()
            elif time.monotonic() > resting + PART_S:
                break
        session.disconnect()

    # The sockets.

    async def _commands(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not await _soon(lambda: self._command is None):
            self.engine.say(f"host: {self.NAME} port: refused a second program")
            writer.close()
            return
        self._command = writer
        self.reset()
        self.opened()
        try:
            while True:
                octets = await reader.readuntil(b"\r")
                if len(octets) > LINE_MAX:
                    break
                text = octets.decode("ascii", "replace").strip()
                if text:
                    self.line(text)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._command = None
            self._lost()
            writer.close()
            if self._data is not None:
                self._data.close()

    def opened(self) -> None:
        """A program has come."""

    def _data_begins(self, octets: bytes) -> Optional[bool]:
        if self._command is None or (not self._had_session and from_browser(octets)):
            return False
        return True if self._had_session or self.session is not None else self.data_begins(octets)

    async def _data_socket(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
                           ) -> None:
        if not await _soon(lambda: self._data is None or self._command is None):
            writer.close()
            return
        if self._data is not None:
            self._data.close()  # without a program: a browser may hold it
        self._data, self._had_session = writer, False
        early = asyncio.get_running_loop().call_later(EARLY_S, self._drop_early, writer)
        writer.transport.set_write_buffer_limits(high=0)
        try:
            while data := await self._next_block(reader):
                session = self.session
                if session is not None and session.open:
                    self._at_rest = False
                    session.send(data)
                    self._block_at = time.monotonic()
                    self._shown = session.octets_waiting()
                    if self.REPORTS_BLOCKS:
                        self._shown = self._shown or len(data)
                    self.tell(f"BUFFER {self._shown}")
                    await session.room()
                else:
                    self.idle_data(data)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            early.cancel()
            writer.close()
            if self._data is writer:
                self._at_rest = True
                self._data = None
                self._lost()

    def _drop_early(self, writer: asyncio.StreamWriter) -> None:
        if self._data is writer and self._command is None:
            writer.close()

    async def _next_block(self, reader: asyncio.StreamReader) -> bytes:
        self._at_rest = True
        return await self.block(reader)

    def part_read(self) -> None:
        """A block has begun to arrive."""
        self._at_rest = False

    def _lost(self) -> None:
        """A socket of the program has ended. Data that it has not flushed are not the whole."""
        if self._call is not None:
            self._call.cancel()
        session, self.session = self.session, None
        if session is not None and session.state is State.CONNECTED:
            session.abort()
        if session is not None:
            self.gone("the program has gone")


async def _soon(free: Callable[[], bool]) -> bool:
    """Wait until a place is free, for at most HANDOVER_S. False: it is taken."""
    end = time.monotonic() + HANDOVER_S
    while not free() and time.monotonic() < end:
        await asyncio.sleep(0.01)
    return free()


def _unread(writer: asyncio.StreamWriter) -> int:
    """Octets that the kernel has received and we have not read."""
    count = array.array("i", [0])
    try:
        fcntl.ioctl(writer.get_extra_info("socket").fileno(), termios.FIONREAD, count)
    except OSError:
        return 0
    return count[0]
