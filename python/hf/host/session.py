# SPDX-License-Identifier: GPL-3.0-or-later
"""A session: two call signs and a byte stream with flush and abort."""
import asyncio
import enum
import socket
import struct
from typing import Callable, Optional, Protocol

#: Octets of one read from the stream.
READ_OCTETS = 4096
#: Octets that may wait for HF-PEP. A port that has more reads no more from its program.
WAITING_MAX = 1 << 16
#: Buffer of the kernel towards HF-PEP, octets. What it holds no longer counts as waiting.
KERNEL_OCTETS = 16384
#: A program that takes no data for this time loses its session, s.
DELIVER_S = 600.0


class Refused(Exception):
    """The session did not come about. The text says why."""


class State(enum.Enum):
    """States of a session."""

    CALLING = "calling"
    CONNECTED = "connected"
    CLOSING = "closing"  #: our end has ended its direction
    ENDED = "ended"


class User(Protocol):
    """The port that uses a session. All calls come from the event loop."""

    async def deliver(self, session: "Session", data: bytes) -> None:
        """Data for the program. Returns when the program can take more."""

    def ended(self, session: "Session", why: str) -> None:
        """The session has ended. All data were delivered before, unless why is not empty."""


class Session:
    """One session on its stream.

    caller, called: call signs. incoming: the far station has called.
    """

    def __init__(self, user: User, caller: str, called: str, incoming: bool) -> None:
        self.user = user
        self.caller, self.called, self.incoming = caller, called, incoming
        self.state = State.CALLING
        self.sent = self.received = 0  #: octets
        self._reader: Optional[asyncio.StreamReader] = None
        self._writer: Optional[asyncio.StreamWriter] = None
        self._task: Optional["asyncio.Task[None]"] = None
        #: The engine's own end of the session.
        self.on_end: Callable[[str], None] = lambda why: None

    @property
    def far(self) -> str:
        """Call sign of the other end."""
        return self.caller if self.incoming else self.called

    @property
    def open(self) -> bool:
        """Whether the program may send."""
        return self.state is State.CONNECTED

    def begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connected: carry data both ways from now on."""
        self._reader, self._writer = reader, writer
        self.state = State.CONNECTED
        self._task = asyncio.ensure_future(self._run())

    def send(self, data: bytes) -> None:
        """Octets for the far end. Ignored unless open."""
        if not self.open or self._writer is None:
            return
        self._writer.write(data)
        self.sent += len(data)

    async def room(self) -> None:
        """Wait until fewer than WAITING_MAX octets wait, or the session has ended."""
        while self.state is not State.ENDED and self.octets_waiting() >= WAITING_MAX:
            await asyncio.sleep(0.02)

    def octets_waiting(self) -> int:
        """Octets that HF-PEP has not taken."""
        return self._writer.transport.get_write_buffer_size() if self._writer else 0

    def disconnect(self) -> None:
        """End our direction after all octets. The session ends when the far end has them."""
        if self.state is State.CONNECTED and self._writer is not None:
            self.state = State.CLOSING
            self._writer.write_eof()

    def abort(self) -> None:
        """End the session at once. Octets on their way are lost."""
        if self.state is State.ENDED:
            return
        if self._task is not None:
            self._task.cancel()
            # asyncio.wait_for() of Python before 3.12 loses a cancellation that comes together
            # with its result.
            asyncio.get_running_loop().call_soon(self._end, "aborted")
        else:
            self._end("aborted")

    async def _run(self) -> None:
        why = ""
        try:
            await self._receive()
        except asyncio.CancelledError:
            why = "aborted"
        except asyncio.TimeoutError:
            why = f"the program has taken no data for {DELIVER_S:g} s"
        except OSError:
            why = "the far station or the link has ended the session"
        finally:
            self._end(why)

    async def _receive(self) -> None:
        assert self._reader is not None and self._writer is not None
        while True:
            data = await self._reader.read(READ_OCTETS)
            if not data or self.state is State.ENDED:
                break
            self.received += len(data)
            await asyncio.wait_for(self.user.deliver(self, data), DELIVER_S)
        if self.state is State.CONNECTED:
            self._writer.write_eof()

    def _end(self, why: str) -> None:
        if self.state is State.ENDED:
            return
        self.state = State.ENDED
        if self._writer is not None:
            close(self._writer, reset=bool(why))
        self.on_end(why)
        self.user.ended(self, why)


def prepare(writer: asyncio.StreamWriter) -> None:
    """Set up a stream's socket. Until close() the end of this program is a reset, so that the
    far end does not take cut data for the whole."""
    s = writer.get_extra_info("socket")
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_OCTETS)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    writer.transport.set_write_buffer_limits(high=WAITING_MAX)


def close(writer: asyncio.StreamWriter, reset: bool) -> None:
    """Close a stream: with a reset, or in order after all octets."""
    if reset:
        writer.transport.abort()
        return
    s = writer.get_extra_info("socket")
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
    writer.close()
