# SPDX-License-Identifier: GPL-3.0-or-later
"""Port for programs that are hosts of an ARDOP modem.

Commands are lines of text, ended by CR. The answer is an echo of the verb. Reports come between
the answers. Data are in blocks with their length, and on the way to the program with a type.
"""
import asyncio
import re
from typing import Callable, Dict, Optional

from .. import version
from .engine import Engine
from .lines import LinePort
from .session import Session

#: Longest block towards the program, octets. Pat ends with an error at blocks beyond its buffer.
BLOCK_MAX = 1000
#: Data without a session that wait for FECSEND, octets.
FEC_MAX = 1 << 16

#: Values that a program may set and ask for. They change nothing here, since the data link
#: decides for itself.
DEFAULTS = {
    "ARQBW": "2000MAX", "ARQTIMEOUT": "120", "AUTOBREAK": "TRUE", "BUSYBLOCK": "FALSE",
    "BUSYDET": "5", "CALLBW": "UNDEFINED", "CAPTURE": "0", "CMDTRACE": "FALSE",
    "CONSOLELOG": "6", "CWID": "FALSE", "DEBUGLOG": "FALSE", "DRIVELEVEL": "100",
    "ENABLEPINGACK": "FALSE", "EXTRADELAY": "0", "FASTSTART": "TRUE", "FECID": "FALSE",
    "FECMODE": "4PSK.500.100", "FECREPEATS": "0", "FSKONLY": "FALSE", "GRIDSQUARE": "",
    "LEADER": "120", "LOGLEVEL": "6", "MONITOR": "TRUE", "PLAYBACK": "0",
    "PROTOCOLMODE": "ARQ", "SQUELCH": "5", "TRAILER": "20", "TUNINGRANGE": "100",
    "USE600MODES": "FALSE"}

#: Values with a form of their own. Others are any text.
FORMS = {
    "ARQBW": r"(200|500|1000|2000)(MAX|FORCED|FORCE)", "PROTOCOLMODE": "ARQ|FEC|RXO",
    "CALLBW": r"(200|500|1000|2000)(MAX|FORCED|FORCE)|UNDEFINED",
    "ARQTIMEOUT": "[0-9]{1,4}", "GRIDSQUARE": "[A-Z0-9]{0,8}"}

#: Verbs that are only echoed.
ECHOED = {"BREAK", "INITIALIZE", "SENDID", "TWOTONETEST", "CL", "PING"}


class ArdopPort(LinePort):
    """The port, for one program at a time."""

    NAME = "ARDOP"
    REPORTS_BLOCKS = True

    def __init__(self, engine: Engine, broadcast: Callable[[bytes], None]) -> None:
        """broadcast: sends one frame to all stations."""
        super().__init__(engine)
        self.broadcast = broadcast
        self._values: Dict[str, str] = {}
        self._aux = ""
        self._state = "OFFLINE"
        self._queue = bytearray()
        self.reset()

    def reset(self) -> None:
        super().reset()
        self._values = dict(DEFAULTS)
        self._state = "DISC"
        self._aux = ""
        self._queue.clear()

    def knows(self, text: str) -> bool:
        verb = text.partition(" ")[0].upper()
        return verb in DEFAULTS or verb in ECHOED or hasattr(self, f"_do_{verb.lower()}")

    def data_begins(self, octets: bytes) -> Optional[bool]:
        whole = len(octets) >= 2 and len(octets) >= 2 + int.from_bytes(octets[:2], "big")
        # STUN looks like a short block until its cookie, in octets 4 to 7.
        short = len(octets) < 8 and octets[2:3] < b"\x08"
        return True if whole and not short else None

    def line(self, text: str) -> None:
        verb, _, value = text.partition(" ")
        verb, value = verb.upper(), value.strip()
        action = getattr(self, f"_do_{verb.lower()}", None)
        if action is not None:
            action(value)
        elif verb in DEFAULTS:
            self._value(verb, value)
        elif verb in ECHOED:
            self.tell(verb)
        else:
            self.tell(f"FAULT CMD {verb} NOT RECOGNIZED")

    def _value(self, verb: str, value: str) -> None:
        if not value:
            self.tell(f"{verb} {self._values[verb]}".rstrip())
            return
        value = value.upper()
        if verb in FORMS and not re.fullmatch(FORMS[verb], value):
            self.tell(f"FAULT SYNTAX ERR: {verb} {value}")
            return
        if self._values[verb] in ("TRUE", "FALSE") and value not in ("TRUE", "FALSE"):
            if verb != "CWID":  # also ONOFF
                self.tell(f"FAULT SYNTAX ERR: {verb} {value}")
                return
        self._values[verb] = value
        self.tell(f"{verb} now {value}")

    # Verbs.

    def _do_state(self, _: str) -> None:
        self.tell(f"STATE {self._state}")

    def _do_version(self, _: str) -> None:
        self.tell(f"VERSION gr-hf {version.__version__}")

    def _do_codec(self, value: str) -> None:
        self.tell(f"CODEC now {value.upper()}" if value else "CODEC TRUE")

    def _do_mycall(self, value: str) -> None:
        if not value:
            self.tell(f"MYCALL {self.calls[0] if self.calls else ''}".rstrip())
            return
        self._set_calls("MYCALL", value, self._aux)

    def _do_myaux(self, value: str) -> None:
        if not value:
            self.tell(f"MYAUX {self._aux}".rstrip())
            return
        self._set_calls("MYAUX", self.calls[0] if self.calls else "", value)

    def _set_calls(self, verb: str, first: str, aux: str) -> None:
        try:
            others = [self.engine.own(c) for c in aux.split(",") if c.strip()]
            calls = [self.engine.own(first)] if first else []
        except ValueError as error:
            self.tell(f"FAULT {verb}: {error}")
            return
        self.calls, self._aux = calls + others, ",".join(others)
        self.tell(f"{verb} now {calls[0] if verb == 'MYCALL' else self._aux}")

    def _do_listen(self, value: str) -> None:
        if not value:
            self.tell(f"LISTEN {str(self.listening).upper()}")
        elif value.upper() in ("TRUE", "FALSE"):
            self.listening = value.upper() == "TRUE"
            self.tell(f"LISTEN now {value.upper()}")
        else:
            self.tell(f"FAULT SYNTAX ERR: LISTEN {value}")

    def _do_arqcall(self, value: str) -> None:
        words = value.split()
        if len(words) != 2 or not words[1].isdigit():
            self.tell(f"FAULT SYNTAX ERR: ARQCALL {value}")
        elif self.session is not None or self.calling:
            self.tell("FAULT Not from state " + self._state)
        elif not self.calls:
            self.tell("FAULT MYCALL not set")
        else:
            try:
                self.call(self.calls[0], words[0])
            except ValueError as error:
                self.tell(f"FAULT {error}")
                return
            self.tell(f"ARQCALL {words[0].upper()} {words[1]}")
            self._queue.clear()
            self._become("ISS")

    def _do_disconnect(self, _: str) -> None:
        if self.disconnect():
            self.tell("DISCONNECT NOW TRUE")
        else:
            self.tell("DISCONNECT IGNORED")
            # Pat disconnects twice, and waits 30 s for this the second time.
            self.tell(f"NEWSTATE {self._state}")

    def _do_abort(self, _: str) -> None:
        self.tell("ABORT")
        self.abort()

    def _do_dd(self, _: str) -> None:
        self.tell("DD")
        self.abort()

    def _do_buffer(self, _: str) -> None:
        self.tell(f"BUFFER {self._waiting()}")

    def _do_datatosend(self, value: str) -> None:
        if value == "0":
            self._do_purgebuffer("")
        else:
            self.tell(f"DATATOSEND {self._waiting()}")

    def _do_purgebuffer(self, _: str) -> None:
        self._queue.clear()
        self.tell("PURGEBUFFER")
        self.tell(f"BUFFER {self._waiting()}")

    def _do_fecsend(self, value: str) -> None:
        if value.upper() not in ("TRUE", "FALSE"):
            self.tell(f"FAULT SYNTAX ERR: FECSEND {value}")
            return
        self.tell(f"FECSEND now {value.upper()}")
        if value.upper() == "FALSE" or not self._queue or self.session is not None:
            return
        self._become("FECSEND")
        self.broadcast(bytes(self._queue))
        self._queue.clear()
        self.tell("BUFFER 0")
        self._become("DISC")

    def _waiting(self) -> int:
        return self.session.octets_waiting() if self.session else len(self._queue)

    def _become(self, state: str) -> None:
        if state != self._state:
            self._state = state
            self.tell(f"NEWSTATE {state}")

    # Data.

    async def block(self, reader: asyncio.StreamReader) -> bytes:
        while True:
            head = await reader.readexactly(2)
            self.part_read()
            data = await reader.readexactly(int.from_bytes(head, "big"))
            if data:
                return data

    def framed(self, kind: str, data: bytes) -> bytes:
        parts = [data[k:k + BLOCK_MAX] for k in range(0, len(data), BLOCK_MAX)]
        return b"".join((len(p) + 3).to_bytes(2, "big") + kind.encode() + p for p in parts)

    def idle_data(self, data: bytes) -> None:
        if len(self._queue) + len(data) > FEC_MAX:
            self.tell(f"FAULT more than {FEC_MAX} octets wait")
            return
        self._queue += data
        self.tell(f"BUFFER {len(self._queue)}")

    def heard(self, data: bytes) -> None:
        """A frame from another station."""
        if self._data is not None and self._command is not None and self.session is None:
            self._data.write(self.framed("FEC", data))

    # Sessions.

    def _bandwidth(self) -> str:
        return re.sub("[A-Z]", "", self._values["ARQBW"])

    def came_in(self, session: Session) -> None:
        self._queue.clear()
        self.tell("PENDING")
        self.tell(f"TARGET {session.called}")
        self._become("IRS")
        self.tell(f"CONNECTED {session.caller} {self._bandwidth()}")

    def went_out(self, session: Session) -> None:
        self._become("ISS")
        self.tell(f"CONNECTED {session.called} {self._bandwidth()}")

    def failed(self, called: str, why: str) -> None:
        self.tell(f"STATUS CONNECT TO {called.upper()} FAILED! {why}")
        self._become("DISC")

    def gone(self, why: str) -> None:
        if why:
            self.tell(f"STATUS {why}")
        self.tell("BUFFER 0")
        self.tell("DISCONNECTED")
        self._become("DISC")
