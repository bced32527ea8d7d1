# SPDX-License-Identifier: GPL-3.0-or-later
"""The two flows of stanzas with one far gateway by messages of RCOP (XEP-0365 0.1).

The node's confirmation counts while the far gateway was heard lately: it comes sooner than that
of the far client. Either says that the octets are in the socket of the far gateway. A far gateway
that was killed has not written them down. So two of our gateways tell each other by notices
(codec.START and others) after a restart the next number and the last that has arrived. A receiver
that misses a number asks for it, and drops later ones until it has arrived. A gateway of another
maker sends no notices, and no compressed stream with our dictionary: its stanzas are taken as they
come.
"""
from collections import deque
import time
from typing import Callable, Deque, Dict, List, NamedTuple, Optional, Set

from ..station.xmpp_tables import XmppPeer
from . import codec
from .flow import CLIENT_EVERY, Flow
from .journal import Journal
from .stanza import Element

#: The same request to send again is made once in this time, s.
ASK_AGAIN_S = 60.0
#: Notices are sent again this often, after the pauses of retry_s. The last pause has half an hour.
MAX_REPEATS = 8
#: Requests that are followed within that time. A gateway that is killed again asks again.
MAX_FOLLOWED = 10
#: Longest U_PDU that asks for a confirmation by the far client itself. A notice has 8 octets, and
#: its D_PDU about 25 more.
MAX_REPEATED = 40
#: A far gateway that was heard within this time is there.
HEARD_S = 600.0
#: Notices that wait for the node, the newest.
MAX_NOTICES = 20


class UPdu(NamedTuple):
    """A U_PDU for the node. last: the one whose confirmation counts. confirmation: by node or
    client."""

    octets: bytes
    number: int
    last: bool
    confirmation: str = "node"


class Exchange(Flow):
    """Both flows with one node, by messages of RCOP. One thread uses it."""

    def __init__(self, peer: XmppPeer, ours: List[str], journal: Journal, window: int,
                 max_octets: int, received: Callable[[Element], None],
                 say: Callable[[str], None]) -> None:
        super().__init__(peer, ours, journal, window, max_octets, received, say)
        self._is_compressed = peer.compression == "deflate"
        self._packer = codec.Packer(peer.connection, self._is_compressed, peer.application,
                                    codec.DICTIONARY if peer.extensions else b"")
        self._unpacker = codec.Unpacker(self._is_compressed, max_octets)
        known = self._journal.peer(self.node)
        self._journal.commit()
        self._last: Optional[int] = known["last"]
        self._is_ours: bool = known["ours"]
        #: No gateway with this journal was bound before. So none has lost a stanza from there.
        self._is_first_start: bool = known["new"]
        self._heard = float("-inf")
        self._asked_clients: Set[int] = set()  # numbers that far clients have not confirmed
        self._notices: Deque[bytes] = deque(maxlen=MAX_NOTICES)
        #: Kinds of the notices that are sent again until the node confirms them, and how often.
        self._repeated: Set[int] = set()
        self._repeats = 0
        #: When the stanzas after a number were asked for.
        self._asked: Dict[Optional[int], float] = {}
        self._followed: Deque[float] = deque(maxlen=MAX_FOLLOWED)

    # --- to the node ----------------------------------------------------------------------------

    def begin(self) -> None:
        """There is a new connection to the node. Nothing is on its way. What was in the old one
        is lost, stanzas and notices."""
        if self._is_ours and self.peer.extensions:
            self._repeated, self._repeats = {codec.START, codec.RESUME}, 0
        self.again()

    def again(self) -> None:
        """As in Flow, with all that a node has answered for since the far gateway was asked
        for."""
        if self._asked_clients:
            self._journal.rewind(self.node, min(self._asked_clients) - 1)
            self._asked_clients.clear()
        super().again()
        self._packer.reset()
        self._notices.clear()
        if codec.START in self._repeated:
            self._notice(codec.START, self._journal.peer(self.node)["next"])
        if self._repeated:
            self._request()
        self._repeats += 1
        if self._repeats >= MAX_REPEATS:
            self._repeated.clear()

    def _request(self) -> None:
        """Ask for all later stanzas."""
        if self._last is None:
            self._notice(codec.NOTHING, 0)
        else:
            self._notice(codec.RESUME, self._last)

    def _notice(self, kind: int, number: int) -> None:
        self._notices.append(codec.notice(self.peer.connection, kind, number))

    def due(self, mtu: int, now: float) -> List[UPdu]:
        """U_PDUs of the next stanza that may be sent, or of notices. now: seconds since 1970."""
        if self._notices:
            notices = [UPdu(n, -1, k + 1 == len(self._notices))
                       for k, n in enumerate(self._notices)]
            self._notices.clear()
            return notices
        starts = self._sent < 0
        found = self._next(now, self._asked_clients)
        if found is None:
            return []
        number, text = found
        u_pdus = self._packer.pack(number, text, mtu)
        self._on_the_way[number] = sum(map(len, u_pdus))
        made = self._asking(number, u_pdus)
        if starts and self.peer.extensions and not self._is_compressed:
            made.insert(0, UPdu(codec.notice(self.peer.connection, codec.START, number), -1,
                                False))
        return made

    def _asking(self, number: int, u_pdus: List[bytes]) -> List[UPdu]:
        """The U_PDUs of a stanza, the last of which asks for a confirmation. A confirmation by the
        far client repeats the U_PDU, so a short notice asks for it after a long stanza."""
        confirmation = self._confirmation(number)
        if confirmation == "client":
            self._asked_clients.add(number)
            if self.peer.extensions and len(u_pdus[-1]) > MAX_REPEATED:
                u_pdus = u_pdus + [codec.notice(self.peer.connection, codec.START, number + 1)]
        return [UPdu(u, number, False) for u in u_pdus[:-1]] + [
            UPdu(u_pdus[-1], number, True, confirmation)]

    def _confirmation(self, number: int) -> str:
        """A node answers sooner, and notices bring back what a far gateway did not get from it.
        But a node also answers for a gateway that has ended: ask for the gateway if it was not
        heard lately."""
        if self.peer.confirmation != "auto":
            return self.peer.confirmation
        heard = time.monotonic() - self._heard < HEARD_S
        if not self.peer.extensions or not self._asked_clients and (
                not heard or (number + 1) % CLIENT_EVERY == 0):
            return "client"
        return "node"

    def confirmed(self, number: int) -> None:
        """The node, or the far client, has a stanza, or the notices if it is negative."""
        if number < 0:
            self._repeated.clear()
        if number in self._asked_clients:
            self._asked_clients.remove(number)
            self._heard = time.monotonic()
        super().confirmed(number)

    # --- from the node --------------------------------------------------------------------------

    def take(self, u_pdu: bytes, now: float) -> None:
        """A U_PDU from the node. now: monotonic."""
        s = codec.segment(u_pdu)
        if s is None or s.connection != self.peer.connection:
            self.counts["malformed"] += 1
            return
        self._heard = time.monotonic()
        notice = codec.as_notice(s)
        if notice is not None:
            if self.peer.extensions:
                self._take_notice(*notice, now)
            return
        try:
            found = self._unpacker.take(s)
        except codec.ContextLost:
            self.counts["out_of_context"] += 1
            self._first(s.id, self.peer.extensions)
            self._ask(now)
            return
        if found is not None:
            if self._unpacker.is_ours:
                self._know_ours()
            self._take_message(found, now)

    def _nearest(self, id_: int, to: int) -> int:
        """The number with an ID that is nearest to another number."""
        return to + (id_ - to + 128) % 256 - 128

    def _first(self, id_: int, is_ours: bool) -> None:
        """A message with this ID is the first from there. No earlier one was lost if its ID is 0,
        or at the first start of this side. Otherwise the last one stays unknown."""
        if self._last is None and (self._is_first_start or id_ == 0 or not is_ours):
            self._last = id_ - 1

    def _take_message(self, m: codec.Arrived, now: float) -> None:
        self._first(m.id, self._is_ours)
        expected = 0 if self._last is None else self._last + 1
        number = self._nearest(m.id, expected)
        if self._last is None or number > expected and self._is_ours:
            self.counts["after_a_gap"] += 1
            self._ask(now)
            return
        self._last = max(number, expected - 1) if self._is_ours else number
        self._journal.set_peer(self.node, self._last, self._is_ours)
        self._accept(number, m.stanza, m.why)

    def _ask(self, now: float) -> None:
        """Ask for what is missing. A gateway of another maker ignores it."""
        if self.peer.extensions and \
                now - self._asked.get(self._last, float("-inf")) > ASK_AGAIN_S:
            self._asked = {self._last: now}
            self._repeated.add(codec.RESUME)
            self._repeats = 0
            self._request()

    def _know_ours(self) -> None:
        if not self._is_ours:
            self._is_ours = True
            self._journal.set_peer(self.node, self._last, True)

    def _take_notice(self, kind: int, id_: int, now: float) -> None:
        self._know_ours()
        if kind == codec.START:
            self._first(id_, True)
            if self._last is None or self._nearest(id_, self._last + 1) > self._last + 1:
                self._asked.clear()  # what was asked before may be lost with that gateway
                self._ask(now)
        elif kind == codec.LOST:
            self.counts["lost"] += 1
            self._last = id_ - 1 if self._last is None else \
                max(self._nearest(id_, self._last + 1) - 1, self._last)
        elif kind == codec.RESUME:
            self._resume(self._nearest(id_, self._journal.peer(self.node)["next"] - 1), now)
        elif kind == codec.NOTHING:
            self._resume(-1, now)

    def _resume(self, last: int, now: float) -> None:
        if sum(now - at < ASK_AGAIN_S for at in self._followed) == MAX_FOLLOWED:
            return
        self._followed.append(now)
        first = self._journal.rewind(self.node, last)
        self.again()
        if first > last + 1:
            self._notice(codec.LOST, first)
