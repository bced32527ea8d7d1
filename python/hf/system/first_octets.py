# SPDX-License-Identifier: GPL-3.0-or-later
"""Closes connections whose first octets belong to another protocol.

Any web page can make the operator's browser open TCP connections to this machine, and send
whatever it likes after the head of an HTTP request. A server that skips lines or octets it does
not know would find its own commands there, and transmit for that page. So nothing is skipped
before the first unit of a port's protocol.
"""
import asyncio
import re
import socket
from typing import Any, Awaitable, Callable, Dict, Optional, Type

#: Octets in which a port must recognise its protocol, and seconds that they may take.
MAX_OCTETS, MAX_S = 1 << 17, 300.0
#: Connections of a port that have not shown their protocol. The oldest is closed for another.
MAX_WAITING = 16

#: True: the octets begin with a whole unit of the protocol. False: never. None: more are needed.
Judge = Callable[[bytes], Optional[bool]]
#: A peer that has vanished ends its connection within two minutes: silence until the first
#: question, s, time between questions, s, and their number. Also the limit for unread octets, ms.
KEEP_IDLE_S, KEEP_EVERY_S, KEEP_COUNT = 60, 15, 3
UNREAD_MS = 1000 * (KEEP_IDLE_S + KEEP_EVERY_S * KEEP_COUNT)
_Connected = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

#: Start of a request: a method, and a path, an address or a host.
_REQUEST = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ +(?:/|\*|[a-z]+://|\S+ HTTP/)")
#: Cookie of STUN (RFC 8489), by itself or after a length (RFC 4571): WebRTC.
_STUN = re.compile(rb"(?s)(?:..)?[\0-\3]...\x21\x12\xa4\x42")


def from_browser(octets: bytes) -> bool:
    """Whether a connection begins as those of browsers do: HTTP, TLS or STUN."""
    return bool(_REQUEST.match(octets) or octets.startswith(b"\x16\x03") or _STUN.match(octets))


def line_judge(known: Callable[[str], bool], end: bytes, max_octets: int) -> Judge:
    """Judge of a protocol whose first unit is a line of text. Empty lines before it are skipped.
    known: whether a line is a command."""
    def judge(octets: bytes) -> Optional[bool]:
        line, found, _ = octets.lstrip(b"\r\n").partition(end)
        if from_browser(line) or len(line) > max_octets or not line.isascii():
            return False
        return known(line.decode("ascii").strip()) if found else None

    return judge


class Guard(asyncio.Protocol):
    """Mixin before a protocol of asyncio, which gets nothing of a connection that is refused.

    An eager protocol gets the connection at once, any other with its first unit.
    """

    eager = True
    _waiting: Dict["Guard", None]

    def guard(self, judge: Judge, refused: Callable[[], None], waiting: Dict["Guard", None]
              ) -> None:
        """refused: called when a connection is refused. waiting: of the port, shared by its
        connections."""
        self._judge, self._refused, self._waiting = judge, refused, waiting
        self._first: Optional[bytearray] = bytearray()
        self._guarded: Optional[asyncio.Transport] = None
        self._limit: Optional[asyncio.TimerHandle] = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first unit."""
        _keep_alive(transport)
        self._guarded = transport
        if self.eager:
            super().connection_made(transport)
            return
        self._limit = asyncio.get_running_loop().call_later(MAX_S, transport.abort)
        self._waiting[self] = None
        if len(self._waiting) > MAX_WAITING:
            next(iter(self._waiting)).abort()

    def abort(self) -> None:
        """Refuse the connection."""
        self._leave()
        self._judge = _never
        if self._guarded is not None:
            self._guarded.abort()

    def data_received(self, data: bytes) -> None:
        """Judge the first octets, or pass them on."""
        if self._first is None:
            super().data_received(data)
            return
        self._first += data
        verdict = self._judge(bytes(self._first))
        if verdict is None and len(self._first) <= MAX_OCTETS:
            return
        if not verdict:
            if self._judge is not _never:
                self._refused()
            self.abort()
            return
        first, self._first = bytes(self._first), None
        self._leave()
        if not self.eager:
            super().connection_made(self._guarded)  # type: ignore[arg-type]
        super().data_received(first)

    def connection_lost(self, exc: Optional[Exception]) -> None:
        """Tell the protocol, if it knows the connection."""
        self._leave()
        if self.eager or self._first is None:
            super().connection_lost(exc)

    def eof_received(self) -> Optional[bool]:
        """End of the far end's octets."""
        return super().eof_received() if self.eager or self._first is None else False

    def _leave(self) -> None:
        self._waiting.pop(self, None)
        if self._limit is not None:
            self._limit.cancel()


def _keep_alive(transport: Any) -> None:
    """Let the system ask whether a silent peer is still there."""
    connected = transport.get_extra_info("socket")
    if connected is None or connected.family not in (socket.AF_INET, socket.AF_INET6):
        return
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in ((socket.TCP_KEEPIDLE, KEEP_IDLE_S),
                          (socket.TCP_KEEPINTVL, KEEP_EVERY_S),
                          (socket.TCP_KEEPCNT, KEEP_COUNT), (socket.TCP_USER_TIMEOUT, UNREAD_MS)):
        connected.setsockopt(socket.IPPROTO_TCP, option, value)


def _never(octets: bytes) -> bool:
    del octets
    return False


class _Stream(Guard, asyncio.StreamReaderProtocol):
    """A guarded connection with a reader and a writer."""


class _LateStream(_Stream):
    """The same, whose handler starts with the first unit."""

    eager = False


class Server:
    """A port whose connections are guarded.

    connected: handler, as of asyncio.start_server(). refused: called when the first connection is
    refused. limit: of the reader, octets. eager: the handler starts before the first unit, for
    programs that only listen.
    """

    def __init__(self, connected: _Connected, judge: Judge, refused: Callable[[], None],
                 limit: int = 1 << 16, eager: bool = False) -> None:
        self._connected, self._judge, self._say_refused = connected, judge, refused
        self._limit = limit
        self._kind: Type[_Stream] = _Stream if eager else _LateStream
        self._waiting: Dict[Guard, None] = {}
        self._server: Optional[asyncio.AbstractServer] = None
        self._said = False

    async def open(self, address: str, port: int) -> None:
        """Listen. Raises OSError."""
        self._server = await asyncio.get_running_loop().create_server(self.protocol, address, port)

    def close(self) -> None:
        """Stop listening, and drop connections that have shown no protocol yet."""
        if self._server is not None:
            self._server.close()
        for waiting in list(self._waiting):
            waiting.abort()

    def protocol(self) -> asyncio.Protocol:
        """The protocol of a new connection."""
        made = self._kind(asyncio.StreamReader(self._limit), self._connected)
        made.guard(self._judge, self._refused, self._waiting)
        return made

    def _refused(self) -> None:
        if not self._said:
            self._said = True
            self._say_refused()
