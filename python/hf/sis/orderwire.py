# SPDX-License-Identifier: GPL-3.0-or-later
"""HFCHAT, the operator orderwire of STANAG 5066 Annex F, over any SIS server.

Each U_PDU is one line of ASCII, ended by CR LF. Text beyond ASCII goes out as UTF-8 to peers that
agreed. Before the first such text we send a line of two blanks, and a peer of our make answers
with a line of one blank. Terminals of other makers show both as empty lines. To a peer that does
not answer, and to groups, such text is refused with the nearest ASCII spelling.
"""
from collections import OrderedDict, deque
from dataclasses import dataclass
import time
from typing import Any, Callable, Deque, Dict, Optional, List, Tuple
import unicodedata

from .. import sis
from ..plain_text import plain
from . import s5066

SAP = 5
QUESTION, ANSWER = b"  \r\n", b" \r\n"
#: Wait for the answer after the node has confirmed the question, s: the longest transmission.
ANSWER_S = s5066.MAX_EOT_S
#: Peers whose abilities are kept, and texts that wait for an answer.
MAX_PEERS, MAX_HELD = 1000, 100

#: Letters and signs that have no decomposition to ASCII in Unicode.
_SPELLINGS = str.maketrans({
    "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O",
    "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ı": "i",
    "‘": "'", "’": "'", "‚": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"',
    "–": "-", "—": "-", "−": "-", "‐": "-", "€": "EUR", "×": "x"})


def u_pdus(text: str, mtu: int = s5066.MTU) -> List[bytes]:
    """The U_PDUs of a text: one for each line that is not empty. Lines longer than the MTU are
    cut between characters. Control characters become blanks."""
    found = []
    for line in text.replace("\r", "\n").split("\n"):
        line = "".join(" " if c < " " or c == "\x7f" else c for c in line).rstrip()
        octets = line.encode("utf-8", "replace")
        while octets:
            end = min(mtu - 2, len(octets))
            while end < len(octets) and octets[end] & 0xc0 == 0x80:
                end -= 1
            if end <= 0:
                return []
            found.append(octets[:end] + b"\r\n")
            octets = octets[end:]
    return found


def decode(u_pdu: bytes) -> Optional[str]:
    """Text of a U_PDU as it may be printed, or None if it does not end with CR LF."""
    if not u_pdu.endswith(b"\r\n"):
        return None
    return plain(u_pdu[:-2].decode("utf-8", "replace").replace("\ufffd", "?"))


def ascii_spelling(text: str) -> Optional[str]:
    """The nearest spelling of a text in ASCII, or None if a character has none."""
    found = "".join(c for c in unicodedata.normalize("NFKD", text.translate(_SPELLINGS))
                    if not unicodedata.combining(c))
    return found if found.isascii() else None


@dataclass
class Message:
    """A text on its way. state: waiting, asking (whether the peer reads UTF-8), sending,
    delivered, sent (to a group), or why the text failed. tag: of the caller."""

    node: str
    text: str
    tag: Any = None
    state: str = "waiting"
    parts: int = 0

    @property
    def is_over(self) -> bool:
        """Whether the state is final."""
        return self.state not in ("waiting", "asking", "sending")

    @property
    def has_failed(self) -> bool:
        """Whether the text was not delivered."""
        return self.is_over and self.state not in ("delivered", "sent")


class Orderwire:
    """Sends and receives texts over one client, which is bound to SAP."""

    def __init__(self, client: sis.Client, repeats: int = 1, priority: int = 15, ttl_s: float = 0,
                 changed: Callable[[Message], None] = lambda message: None,
                 clock: Callable[[], float] = time.monotonic) -> None:
        """repeats: extra copies to a group. ttl_s: time to live of a text. changed: called when
        the state of a message changes."""
        self.client, self._repeats, self._priority, self._ttl_s = client, repeats, priority, ttl_s
        self._changed, self._clock = changed, clock
        self._agreed: "OrderedDict[str, None]" = OrderedDict()
        #: Time at which the wait for a peer's answer ends. None: the question is not confirmed.
        self._asked: Dict[str, Optional[float]] = {}
        self._held: Deque[Message] = deque()
        self._unconfirmed: Dict[Tuple[str, bytes], Deque[Message]] = {}

    @property
    def is_busy(self) -> bool:
        """Whether a text has no final state."""
        return bool(self._held or self._unconfirmed)

    def say(self, node: str, text: str, tag: Any = None) -> Message:
        """Send a text as soon as the node takes data, and the peer has answered if it must."""
        message = Message(str(s5066.address(node)), text, tag)
        if len(self._held) >= MAX_HELD:
            self._set(message, f"not sent: {MAX_HELD} texts wait already")
        else:
            self._held.append(message)
            self._pump()
        return message

    def take(self, p: Any) -> Optional[Tuple[str, str]]:
        """Process a primitive, None if there was none. Returns source and text of a message."""
        found = None
        if isinstance(p, s5066.s_unidata_indication):
            found = self._take_text(p)
        elif isinstance(p, (s5066.s_unidata_request_confirm, s5066.s_unidata_request_rejected)):
            self._take_result(p, isinstance(p, s5066.s_unidata_request_confirm))
        self._pump()
        return found

    def close(self, why: str) -> None:
        """Give up all texts that have no final state."""
        for message in self._held:
            self._set(message, f"not sent: {why}")
        for waiting in self._unconfirmed.values():
            for message in waiting:
                self._set(message, f"not known: {why}")
        self._held.clear()
        self._unconfirmed.clear()

    def _pump(self) -> None:
        """Start the texts that need not wait, those to one node in order."""
        behind = set()
        for message in list(self._held):
            if not self.client.flow_on:
                return
            if message.node in behind:
                continue
            if self._start(message):
                self._held.remove(message)
            else:
                behind.add(message.node)
        for node in [n for n in self._asked if self._is_late(n)]:
            del self._asked[node]  # the next text asks again

    def _start(self, message: Message) -> bool:
        """False: the text must wait."""
        node, group = message.node, s5066.address(message.node).is_group()
        if message.text.isascii() or (node in self._agreed and not group):
            self._submit(message, group)
        elif group or self._is_late(node):
            self._refuse(message, "a group" if group else node)
        elif node not in self._asked and not self._send(node, QUESTION, False):
            self._set(message, "not sent: the station accepts no data now")
        else:
            self._asked.setdefault(node, None)
            if message.state != "asking":
                self._set(message, "asking")
            return False
        return True

    def _is_late(self, node: str) -> bool:
        limit = self._asked.get(node)
        return limit is not None and self._clock() > limit

    def _refuse(self, message: Message, whom: str) -> None:
        spelling = ascii_spelling(message.text)
        instead = f", for example: {spelling}" if spelling else ""
        self._set(message, f"not sent: {whom} may read only ASCII; write it in ASCII{instead}")

    def _submit(self, message: Message, group: bool) -> None:
        parts = u_pdus(message.text, self.client.mtu)
        message.parts = len(parts)
        for octets in parts:
            if not self._send(message.node, octets, group):
                self._set(message, "not sent: the station accepts no data now")
                return
            if not group:
                self._unconfirmed.setdefault((message.node, octets), deque()).append(message)
        self._set(message, "sent" if group or not parts else "sending")

    def _send(self, node: str, octets: bytes, group: bool) -> bool:
        mode = sis.service("non_arq", retransmissions=self._repeats) if group else \
            sis.service("arq", "node", "in_order")
        return self.client.send(node, octets, SAP, mode, self._priority, self._ttl_s, timeout=30)

    def _take_text(self, p: Any) -> Optional[Tuple[str, str]]:
        source, octets = str(p.src), bytes(p.u_pdu)
        if octets in (QUESTION, ANSWER):
            if p.mode == s5066.transmission_mode.arq:  # anybody can send others in this name
                self._agree(source)
                if octets == QUESTION:
                    self._send(source, ANSWER, False)
            return None
        text = decode(octets)
        return None if text is None else (source, text)

    def _agree(self, node: str) -> None:
        self._asked.pop(node, None)
        self._agreed[node] = None
        self._agreed.move_to_end(node)
        if len(self._agreed) > MAX_PEERS:
            self._agreed.popitem(last=False)

    def _take_result(self, p: Any, confirmed: bool) -> None:
        node, octets = str(p.dst), bytes(p.u_pdu)
        if octets == QUESTION:
            if confirmed:
                if node in self._asked:
                    self._asked[node] = self._clock() + ANSWER_S
                return
            self._asked.pop(node, None)
            for message in [m for m in self._held if m.node == node]:
                self._held.remove(message)
                self._set(message, f"not delivered: {sis.reason(p)}")
            return
        waiting = self._unconfirmed.get((node, octets))
        if not waiting:
            return
        message = waiting.popleft()
        if not waiting:
            del self._unconfirmed[node, octets]
        message.parts -= 1
        if not confirmed:
            self._set(message, f"not delivered: {sis.reason(p)}")
        elif not message.parts and message.state == "sending":
            self._set(message, "delivered")

    def _set(self, message: Message, state: str) -> None:
        message.state = state
        self._changed(message)
