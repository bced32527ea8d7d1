# SPDX-License-Identifier: GPL-3.0-or-later
"""The two flows of stanzas with one far gateway: each stanza arrives once, in order.

A stanza leaves the journal when the far side has confirmed it. After a failure the stanzas on
their way are sent again, with the same numbers. The receiver remembers numbers and texts, and
drops second copies.

The node's confirmation counts while the far gateway was heard lately: it comes sooner than that
of the far client. Either says that the octets are in the socket of the far gateway. A far gateway
that was killed has not written them down. So two of our gateways tell each other by notices
(codec.START and others) after a restart the next number and the last that has arrived. A receiver
that misses a number asks for it, and drops later ones until it has arrived. A gateway of another
maker sends no notices, and no compressed stream with our dictionary: its stanzas are taken as they
come.
"""
from collections import Counter, OrderedDict, deque
import time
from typing import Callable, Deque, Dict, List, NamedTuple, Optional, Set, Tuple

from ..station.xmpp_tables import XmppPeer
from . import codec, policy, rooms, stanza
from .journal import KEPT, Journal, Row
from .stanza import Element

#: A message that is sent later than this after it was written is stamped, s.
STAMP_AFTER_S = 60.0
#: The same request to send again is made once in this time, s.
ASK_AGAIN_S = 60.0
#: Notices are sent again this often, after the pauses of retry_s. The last pause has half an hour.
MAX_REPEATS = 8
#: Requests that are followed within that time. A gateway that is killed again asks again.
MAX_FOLLOWED = 10
#: One stanza in this number asks for the far client, and not the first: it may be the answer to
#: one that was just heard. Far fewer than journal.KEPT.
CLIENT_EVERY = 16
#: Longest U_PDU that asks for a confirmation by the far client itself. A notice has 8 octets, and
#: its D_PDU about 25 more.
MAX_REPEATED = 40
#: A far gateway that was heard within this time is there.
HEARD_S = 600.0
#: A room writes to its occupants one after the other: time for that, s.
GATHER_S = 0.2
#: Notices that wait for the node, the newest.
MAX_NOTICES = 20
#: Persons whose turn is remembered.
MAX_PERSONS = 1000
#: Stanzas on their way, and those after one that its far client has not confirmed. A gateway that
#: was killed asks for all since the one before: KEPT must be more, with those in between.
MAX_ON_THE_WAY = KEPT - CLIENT_EVERY - 4


class UPdu(NamedTuple):
    """A U_PDU for the node. last: the one whose confirmation counts. confirmation: by node or
    client."""

    octets: bytes
    number: int
    last: bool
    confirmation: str = "node"


class Exchange:
    """Both flows with one node. One thread uses it."""

    def __init__(self, peer: XmppPeer, ours: List[str], journal: Journal, window: int,
                 max_octets: int, received: Callable[[Element], None],
                 say: Callable[[str], None]) -> None:
        """ours: domains of this side. window: octets on their way to the node. max_octets: of a
        stanza. received: takes a stanza from there. It must be in the journal, or need not be."""
        self.peer, self.node = peer, peer.node
        self._ours, self._journal, self._window = ours, journal, window
        self._received, self._say, self._max_octets = received, say, max_octets
        self._is_compressed = peer.compression == "deflate"
        self._packer = codec.Packer(peer.connection, self._is_compressed, peer.application,
                                    codec.DICTIONARY if peer.extensions else b"")
        self._unpacker = codec.Unpacker(self._is_compressed, max_octets)
        known = journal.peer(self.node)
        journal.commit()
        self._last: Optional[int] = known["last"]
        self._is_ours: bool = known["ours"]
        #: No gateway with this journal was bound before. So none has lost a stanza from there.
        self._is_first_start: bool = known["new"]
        self._heard = float("-inf")
        self._asked_clients: Set[int] = set()  # numbers that far clients have not confirmed
        #: Numbers on their way, and their octets.
        self._on_the_way: Dict[int, int] = {}
        self._sent = -1  # the last number sent since the last failure
        self._turns: "OrderedDict[str, int]" = OrderedDict()
        self._turn = 0
        self._notices: Deque[bytes] = deque(maxlen=MAX_NOTICES)
        #: Kinds of the notices that are sent again until the node confirms them, and how often.
        self._repeated: Set[int] = set()
        self._repeats = 0
        #: When the stanzas after a number were asked for.
        self._asked: Dict[Optional[int], float] = {}
        self._followed: Deque[float] = deque(maxlen=MAX_FOLLOWED)
        self.counts: Counter = Counter()

    # --- to the node ----------------------------------------------------------------------------

    def begin(self) -> None:
        """There is a new connection to the node. Nothing is on its way. What was in the old one
        is lost, stanzas and notices."""
        if self._is_ours and self.peer.extensions:
            self._repeated, self._repeats = {codec.START, codec.RESUME}, 0
        self.again()

    def again(self) -> None:
        """What was on its way has failed, and is sent again, with all that a node has answered for
        since the far gateway was asked for."""
        if self._asked_clients:
            self._journal.rewind(self.node, min(self._asked_clients) - 1)
            self._asked_clients.clear()
        self._on_the_way.clear()
        self._packer.reset()
        self._sent = -1
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
        first = min([*self._on_the_way, *self._asked_clients], default=self._sent)
        if self._sent - first + 1 >= MAX_ON_THE_WAY or \
                sum(self._on_the_way.values()) >= self._window:
            return []
        starts = self._sent < 0
        row = self._journal.again(self.node, self._sent) or self._new(now)
        if row is None or row.number is None:
            return []
        found = stanza.read(row.text, 1 << 30)
        if now - row.written > STAMP_AFTER_S:
            policy.stamp(found, row.written, self._ours[0])
        u_pdus = self._packer.pack(row.number, stanza.write(found), mtu)
        self._sent = row.number
        self._on_the_way[row.number] = sum(map(len, u_pdus))
        self.counts["sent"] += 1
        made = self._asking(row.number, u_pdus)
        if starts and self.peer.extensions and not self._is_compressed:
            made.insert(0, UPdu(codec.notice(self.peer.connection, codec.START, row.number), -1,
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

    def _new(self, now: float) -> Optional[Row]:
        """The next stanza by rank, and of the person who has waited longest."""
        heads = [(rank, self._turns.get(_writer(person), 0), id_, person)
                 for person, rank, id_, written in self._journal.heads(self.node)
                 if not (self._is_of_room(person) and abs(now - written) < GATHER_S)]
        if not heads:
            return None
        _, _, id_, person = min(heads)
        if self._is_of_room(person):
            self._gather(person, id_)
        self._turn += 1
        self._turns[_writer(person)] = self._turn
        self._turns.move_to_end(_writer(person))
        if len(self._turns) > MAX_PERSONS:
            self._turns.popitem(last=False)
        return self._journal.number(self.node, id_)

    def _is_of_room(self, person: str) -> bool:
        return self.peer.extensions and person.startswith(rooms.ROOM)

    def _gather(self, person: str, id_: int) -> None:
        """One stanza for all occupants of a room."""
        waiting = self._journal.of_room(self.node, person, id_, 4 * rooms.MAX_OCCUPANTS)
        found, occupants = rooms.alike([row.text for row in waiting])
        text = rooms.gathered(waiting[0].text, occupants, self.peer.domains[0])
        if len(found) > 1 and len(text) <= self._max_octets:
            self._journal.join([waiting[k].id for k in found], text)
            self.counts["gathered"] += len(found) - 1

    def confirmed(self, number: int) -> None:
        """The node, or the far client, has a stanza, or the notices if it is negative."""
        if number < 0:
            self._repeated.clear()
        if number in self._asked_clients:
            self._asked_clients.remove(number)
            self._heard = time.monotonic()
        if self._on_the_way.pop(number, None) is not None:
            self._journal.arrived(self.node, number)
            self.counts["arrived"] += 1

    def is_on_the_way(self, number: Optional[int]) -> bool:
        """Whether the node has a stanza, and has not answered."""
        return number in self._on_the_way

    @property
    def is_waiting(self) -> bool:
        """Whether something is on its way."""
        return bool(self._on_the_way)

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
        why = m.why if m.stanza is None else policy.refusal(m.stanza, self.peer.domains,
                                                            self._ours)
        if why or m.stanza is None:
            self.counts["refused"] += 1
            if self.counts["refused"] in (1, 10, 100) or self.counts["refused"] % 1000 == 0:
                self._say(f"from {self.node}: stanza {self.counts['refused']} refused: {why}")
        elif stanza.kind_of(m.stanza) == "presence" or \
                self._journal.is_new(self.node, number, policy.unstamped(m.stanza)):
            self.counts["received"] += 1
            self._received(m.stanza)
        else:
            self.counts["second_copies"] += 1

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


def _writer(person: str) -> str:
    """Who takes turns: presence has the name of its writer, a line feed, and for whom it is."""
    return person.partition("\n")[0]
