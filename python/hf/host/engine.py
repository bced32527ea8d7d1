# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes sessions: finds the node of a call sign, opens the stream, exchanges greetings."""
import asyncio
from typing import Callable, Dict, List, Optional, Protocol, Set, Tuple

from ..station import callsigns
from . import greeting, session
from .greeting import Answer
from .session import Refused, Session, User

#: Longest time for a call, s of the host's clock. HF-PEP mostly gives up earlier.
CALL_S = 300.0
#: Time for the greeting of a stream that has arrived, s. It comes with the stream.
GREETING_S = 30.0
#: Streams that may wait for their greeting.
GREETING_MAX = 32
#: Sessions at a time, both directions.
SESSIONS_MAX = 64

_WORDS = {Answer.NOBODY: "no program listens there", Answer.UNKNOWN: "our call sign is not known "
          "there", Answer.BUSY: "the far program is in another session",
          Answer.VERSION: "the far station has another version of this service"}


class Listener(Protocol):
    """A port with programs that may be called."""

    def listens(self, call: str) -> bool:
        """Whether a program listens for calls to this call sign."""

    def offer(self, caller: str, called: str) -> Optional[User]:
        """The user of a session that is about to start. None: the program is busy."""

    def accepted(self, made: Session) -> None:
        """The session that was offered is connected."""


def peer_of(writer: asyncio.StreamWriter) -> str:
    """Address of the program at the other end of a connection, in words."""
    address = writer.get_extra_info("peername")
    return f"{address[0]}:{address[1]}" if address else "gone"


class Engine:
    """Sessions of one station.

    table: nodes of all call signs. node: address of this station.
    doors: port of HF-PEP on the loopback for each far node.
    say: takes a line for the operator.
    """

    def __init__(self, table: Dict[str, str], node: str, say: Callable[[str], None]) -> None:
        self.table, self.node, self.say = table, node, say
        self.doors: Dict[str, int] = {}
        self.listeners: List[Listener] = []
        self.sessions: Set[Session] = set()
        self._greeting = 0

    def refused(self, port: str) -> None:
        """Log that a connection at a port was closed because of its first octets."""
        self.say(f"host: {port} port: closed a connection that does not speak its protocol, as "
                 "that of a browser; the next ones are not reported")

    def own(self, text: str) -> str:
        """A call sign of this station, in its normal form. Raises ValueError for others."""
        call = callsigns.normal(text)
        if callsigns.node_of(self.table, call) != self.node:
            ours = ", ".join(c for c, n in self.table.items() if n == self.node)
            raise ValueError(f"{call} is no call sign of this station, which has {ours}")
        return call

    def check_call(self, caller: str, called: str) -> Tuple[str, str, str]:
        """Both call signs and the far node of a call. Raises ValueError."""
        ours, far = self.own(caller), callsigns.normal(called)
        node = callsigns.node_of(self.table, far)
        if node is None:
            raise ValueError(f"{far} is not in the table [host.calls]")
        if node == self.node:
            raise ValueError(f"{far} is this station itself")
        return ours, far, node

    async def call(self, user: User, caller: str, called: str) -> Session:
        """A connected session. Raises ValueError for call signs that may not be used, Refused if
        the far station refuses or cannot be reached."""
        caller, called, node = self.check_call(caller, called)
        if len(self.sessions) >= SESSIONS_MAX:
            raise Refused(f"{SESSIONS_MAX} sessions are open")
        made = Session(user, caller, called, incoming=False)
        self.sessions.add(made)
        # Not wait_for(): before Python 3.12 it loses a cancellation that comes together with its
        # result, and an aborted call would be a session.
        opening = asyncio.ensure_future(self._open(made, node))
        try:
            await asyncio.wait({opening}, timeout=CALL_S)
            if not opening.done():
                raise Refused(f"{called} has not answered within {CALL_S:g} s")
            reader, writer, answer = opening.result()
        except (OSError, asyncio.IncompleteReadError):
            self._forget(made)
            raise Refused(f"{called} cannot be reached") from None
        except (Refused, asyncio.CancelledError):
            self._forget(made)
            opening.cancel()
            opening.add_done_callback(_discard)
            raise
        if answer != Answer.ACCEPTED:
            session.close(writer, reset=True)
            self._forget(made)
            raise Refused(f"{called}: {_WORDS.get(answer, f'refused, reason {answer}')}")
        self._start(made, reader, writer)
        return made

    async def _open(self, made: Session, node: str
                    ) -> Tuple[asyncio.StreamReader, asyncio.StreamWriter, int]:
        door = self.doors.get(node)
        if door is None:
            raise ConnectionRefusedError
        reader, writer = await asyncio.open_connection("127.0.0.1", door)
        try:
            session.prepare(writer)
            writer.write(greeting.encode(greeting.Greeting(made.caller, made.called)))
            answer = await reader.readexactly(1)
        except BaseException:
            session.close(writer, reset=True)
            raise
        return reader, writer, answer[0]

    async def arrived(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A stream from another station."""
        if self._greeting >= GREETING_MAX:
            session.close(writer, reset=True)
            return
        self._greeting += 1
        try:
            session.prepare(writer)
            heard = await asyncio.wait_for(_read_greeting(reader), GREETING_S)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
            session.close(writer, reset=True)
            return
        finally:
            self._greeting -= 1
        answer, listener, user = self._judge(heard)
        writer.write(bytes([answer]))
        if heard is None or listener is None or user is None:
            who = f"{heard.called} called by {heard.caller}" if heard else "a call"
            self.say(f"host: {who}: refused, {answer.name.lower()}")
            session.close(writer, reset=False)
            return
        made = Session(user, heard.caller, heard.called, incoming=True)
        self.sessions.add(made)
        listener.accepted(made)
        self._start(made, reader, writer)

    def _judge(self, heard: Optional[greeting.Greeting]
               ) -> Tuple[Answer, Optional[Listener], Optional[User]]:
        if heard is None:
            return Answer.VERSION, None, None
        if callsigns.node_of(self.table, heard.caller) in (None, self.node):
            return Answer.UNKNOWN, None, None
        listening = [x for x in self.listeners if x.listens(heard.called)]
        if len(self.sessions) >= SESSIONS_MAX:
            return Answer.BUSY, None, None
        for listener in listening:
            user = listener.offer(heard.caller, heard.called)
            if user is not None:
                return Answer.ACCEPTED, listener, user
        return (Answer.BUSY if listening else Answer.NOBODY), None, None

    def _start(self, made: Session, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
               ) -> None:
        made.on_end = lambda why: self._over(made, why)
        made.begin(reader, writer)
        self.say(f"host: {made.caller} connected to {made.called}")

    def _over(self, made: Session, why: str) -> None:
        self._forget(made)
        self.say(f"host: {made.caller} and {made.called}: "
                 f"{why or 'disconnected'}, {made.sent} octets sent, {made.received} received")

    def _forget(self, made: Session) -> None:
        self.sessions.discard(made)

    def close(self) -> None:
        """Abort all sessions."""
        for made in list(self.sessions):
            made.abort()


def _discard(opening: "asyncio.Future[Tuple[asyncio.StreamReader, asyncio.StreamWriter, int]]"
             ) -> None:
    """End the stream of a call that nobody waits for."""
    if not opening.cancelled() and opening.exception() is None:
        session.close(opening.result()[1], reset=True)


async def _read_greeting(reader: asyncio.StreamReader) -> Optional[greeting.Greeting]:
    octets = b""
    while (whole := greeting.length(octets)) is None or len(octets) < whole:
        octets += await reader.readexactly(1)
        if octets[0] != greeting.VERSION:
            return None
    return greeting.decode(octets)
