# SPDX-License-Identifier: GPL-3.0-or-later
"""Port for programs that are hosts of a VARA modem.

Commands are lines of text, ended by CR. Each is answered OK or WRONG, in order. Data are raw
octets on a socket of their own.
"""
import asyncio
import re
from typing import Callable, Optional

from .. import version
from ..station import callsigns
from .engine import Engine
from .lines import LinePort
from .session import Session

#: A line at least this often, s. Pat gives up after 120 s without one.
ALIVE_S = 60.0

#: Commands that are accepted and change nothing, since the data link decides for itself.
IGNORED = re.compile(r"(PUBLIC|CWID|CHAT) (ON|OFF)|COMPRESSION (ON|OFF|TEXT|FILES)|"
                     r"(P2P|WINLINK) SESSION|RETRIES [0-9]{1,3}|CLEANTXBUFFER|TUNE (ON|OFF)",
                     re.IGNORECASE)


#: Verbs without a method.
VERBS = {"BW500", "BW2300", "BW2750", "PUBLIC", "CWID", "CHAT", "COMPRESSION", "P2P", "WINLINK",
         "RETRIES", "CLEANTXBUFFER", "TUNE"}


class VaraPort(LinePort):
    """The port, for one program at a time."""

    NAME = "VARA"

    def __init__(self, engine: Engine, broadcast: Callable[[bytes], None]) -> None:
        """broadcast: sends one frame to all stations."""
        super().__init__(engine)
        self.broadcast = broadcast
        self._bandwidth = "2300"

    def reset(self) -> None:
        super().reset()
        self._bandwidth = "2300"

    def opened(self) -> None:
        self.later(self._alive())

    async def _alive(self) -> None:
        here = self._command
        while True:
            await asyncio.sleep(ALIVE_S)
            if self._command is not here:
                return
            self.tell("IAMALIVE")

    def knows(self, text: str) -> bool:
        verb = text.partition(" ")[0].upper()
        return verb in VERBS or hasattr(self, f"_do_{verb.lower()}")

    def data_begins(self, octets: bytes) -> Optional[bool]:
        return False  # VARA has no data without a session

    def line(self, text: str) -> None:
        verb, _, value = text.partition(" ")
        action = getattr(self, f"_do_{verb.lower()}", None)
        if action is not None:
            action(value.strip())
        elif re.fullmatch(r"BW(500|2300|2750)", text, re.IGNORECASE):
            self._bandwidth = text[2:]
            self.tell("OK")
        else:
            self.tell("OK" if IGNORED.fullmatch(text) else "WRONG")

    def _do_version(self, _: str) -> None:
        self.tell(f"VERSION gr-hf {version.__version__}")

    def _do_mycall(self, value: str) -> None:
        try:
            calls = [self.engine.own(c) for c in value.split()]
        except ValueError as error:
            self.engine.say(f"host: VARA port: {error}")
            calls = []
        if not 1 <= len(calls) <= 5:
            self.tell("WRONG")
            return
        self.calls = calls
        self.tell("OK")
        for call in calls:
            self.tell(f"REGISTERED {call}")

    def _do_listen(self, value: str) -> None:
        # CQ: listen for calls to all as well.
        if value.upper() not in ("ON", "OFF", "CQ"):
            self.tell("WRONG")
            return
        self.listening = value.upper() != "OFF"
        self.tell("OK")

    def _do_connect(self, value: str) -> None:
        words = value.split()
        try:
            if len(words) != 2 or self.session is not None or self.calling:
                raise ValueError("CONNECT needs two call signs and no session")
            if self.engine.own(words[0]) not in self.calls:
                raise ValueError(f"CONNECT {words[0]}: not set by MYCALL")
            self.engine.check_call(words[0], words[1])
        except ValueError as error:
            self.engine.say(f"host: VARA port: {error}")
            known = len(words) == 2 and self.session is None and not self.calling
            self.tell("OK" if known else "WRONG")
            if known:
                self.tell("DISCONNECTED")  # the program waits for it
            return
        self.tell("OK")
        self.call(words[0], words[1])

    def _do_disconnect(self, _: str) -> None:
        self.tell("OK")
        if not self.disconnect():
            self.tell("DISCONNECTED")

    def _do_abort(self, _: str) -> None:
        self.tell("OK")
        if not self.abort():
            self.tell("DISCONNECTED")

    def _do_cqframe(self, value: str) -> None:
        words = value.split()
        try:
            call = self.engine.own(words[0]) if words else ""
        except ValueError:
            call = ""
        if not call or self.session is not None:
            self.tell("WRONG")
            return
        self.tell("OK")
        self.broadcast(f"CQFRAME {call} {(words + ['2300'])[1]}"[:40].encode())

    def heard(self, data: bytes) -> None:
        """A frame from another station."""
        text = data.decode("ascii", "replace")
        found = re.fullmatch(r"CQFRAME (\S{3,10}) ([0-9]{1,5})", text)
        if found and self.session is None:
            try:
                self.tell(f"CQFRAME {callsigns.normal(found.group(1))} {found.group(2)}")
            except ValueError:
                pass

    # Data.

    async def block(self, reader: asyncio.StreamReader) -> bytes:
        return await reader.read(4096)

    def framed(self, kind: str, data: bytes) -> bytes:
        return data

    # Sessions.

    def came_in(self, session: Session) -> None:
        self.tell("PENDING")
        self.tell(f"CONNECTED {session.caller} {session.called} {self._bandwidth}")

    def went_out(self, session: Session) -> None:
        self.tell(f"CONNECTED {session.caller} {session.called} {self._bandwidth}")

    def failed(self, called: str, why: str) -> None:
        self.engine.say(f"host: VARA port: {why}")
        self.tell("DISCONNECTED")

    def gone(self, why: str) -> None:
        self.tell("DISCONNECTED")
