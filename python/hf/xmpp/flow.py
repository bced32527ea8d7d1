# SPDX-License-Identifier: GPL-3.0-or-later
"""What the versions have in common: which stanza is sent next to a far gateway, what is on its
way, and what is done with one from there.

A stanza leaves the journal when the far side has confirmed it. After a failure the stanzas on
their way are sent again, with the same numbers. The receiver remembers numbers and texts, and
drops second copies.
"""
from collections import Counter, OrderedDict
from typing import Callable, Collection, Dict, List, Optional, Tuple

from ..station.xmpp_tables import XmppPeer
from . import policy, rooms, stanza
from .journal import KEPT, Journal, Row
from .stanza import Element

#: A message that is sent later than this after it was written is stamped, s.
STAMP_AFTER_S = 60.0
#: A room writes to its occupants one after the other: time for that, s.
GATHER_S = 0.2
#: Persons whose turn is remembered.
MAX_PERSONS = 1000
#: One stanza in this number asks for the far gateway, and not the first: it may be the answer to
#: one that was just heard. Far fewer than journal.KEPT.
CLIENT_EVERY = 16
#: Stanzas on their way, and those after one that its far client has not confirmed. A gateway that
#: was killed asks for all since the one before: KEPT must be more, with those in between.
MAX_ON_THE_WAY = KEPT - CLIENT_EVERY - 4


class Flow:
    """Both flows with one node. One thread uses it."""

    def __init__(self, peer: XmppPeer, ours: List[str], journal: Journal, window: int,
                 max_octets: int, received: Callable[[Element], None],
                 say: Callable[[str], None]) -> None:
        """ours: domains of this side. window: octets on their way to the node. max_octets: of a
        stanza. received: takes a stanza from there. It must be in the journal, or need not be."""
        self.peer, self.node = peer, peer.node
        self._ours, self._journal, self._window = ours, journal, window
        self._received, self._say, self._max_octets = received, say, max_octets
        #: Numbers on their way, and their octets.
        self._on_the_way: Dict[int, int] = {}
        self._sent = -1  # the last number sent since the last failure
        self._max_on_the_way = MAX_ON_THE_WAY
        self._turns: "OrderedDict[str, int]" = OrderedDict()
        self._turn = 0
        self.counts: Counter = Counter()

    # --- to the far side ------------------------------------------------------------------------

    def again(self) -> None:
        """What was on its way has failed, and is sent again."""
        self._on_the_way.clear()
        self._sent = -1

    def _next(self, now: float, open_: Collection[int] = ()) -> Optional[Tuple[int, bytes]]:
        """Number and text of the next stanza. None: no more may be sent now. open_: numbers whose
        later ones may have to be sent again. now: seconds since 1970."""
        first = min([*self._on_the_way, *open_], default=self._sent)
        if self._sent - first + 1 >= self._max_on_the_way or \
                sum(self._on_the_way.values()) >= self._window:
            return None
        row = self._journal.again(self.node, self._sent) or self._new(now)
        if row is None or row.number is None:
            return None
        found = stanza.read(row.text, 1 << 30)
        if now - row.written > STAMP_AFTER_S:
            policy.stamp(found, row.written, self._ours[0])
        self._sent = row.number
        self.counts["sent"] += 1
        return row.number, stanza.write(found)

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
        """The far side has a stanza."""
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

    # --- from the far side ----------------------------------------------------------------------

    def _accept(self, number: int, found: Optional[Element], why: str) -> None:
        """A stanza with a number from there. None: it was refused, and why says the reason."""
        if found is not None:
            why = policy.refusal(found, self.peer.domains, self._ours)
        if why or found is None:
            self.counts["refused"] += 1
            if self.counts["refused"] in (1, 10, 100) or self.counts["refused"] % 1000 == 0:
                self._say(f"from {self.node}: stanza {self.counts['refused']} refused: {why}")
        elif stanza.kind_of(found) == "presence" or \
                self._journal.is_new(self.node, number, policy.unstamped(found)):
            self.counts["received"] += 1
            self._received(found)
        else:
            self.counts["second_copies"] += 1


def _writer(person: str) -> str:
    """Who takes turns: presence has the name of its writer, a line feed, and for whom it is."""
    return person.partition("\n")[0]
