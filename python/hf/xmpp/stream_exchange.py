# SPDX-License-Identifier: GPL-3.0-or-later
"""The two flows of stanzas with one far gateway of ours by streams (XEP-0365 0.3 over SLEP).

A stream keeps the order, and loses nothing until it ends. So no stanza is missing before a later
one of the same stream. A stanza has arrived when the far gateway says that it is on its disk: with
its next stanza, after CLIENT_EVERY stanzas, or in silence. After the end of a stream the stanzas
that it did not acknowledge are sent on the next one.
"""
from typing import Callable, Iterable, List, Optional

from ..station.xmpp_tables import XmppPeer
from . import stream_codec
from .flow import CLIENT_EVERY, Flow
from .journal import KEPT, Journal
from .stanza import Element

#: Octets on their way, as a multiple of the window of a node: an acknowledgement takes one turn
#: more than the confirmation of a node.
WINDOWS = 2
#: Stanzas on their way. After the end of a stream all are sent again, and the journal of the far
#: gateway knows twice KEPT.
MAX_UNCONFIRMED = 2 * KEPT - CLIENT_EVERY
#: Text of a group, octets. Later stanzas may be those of other persons. One block of deflate has
#: 16383 symbols, and its code takes about 40 octets: 14 stanzas of 1 kB take 525 octets each, one
#: alone takes 552.
GROUP_OCTETS = 16_384
#: Shortest silence after which an acknowledgement is sent by itself, s.
ACKNOWLEDGE_S = 5.0


class StreamExchange(Flow):
    """Both flows with one node, by streams. One thread uses it."""

    def __init__(self, peer: XmppPeer, ours: List[str], journal: Journal, window: int,
                 max_octets: int, received: Callable[[Element], None],
                 say: Callable[[str], None]) -> None:
        super().__init__(peer, ours, journal, WINDOWS * window, max_octets, received, say)
        journal.peer(peer.node)
        self._max_on_the_way = MAX_UNCONFIRMED
        self._writer = stream_codec.Writer()
        self._told: Optional[int] = None  # number of the next stanza, as the far side expects it
        #: Stream and number of the last stanza that has arrived.
        self._from: object = None
        self._last = 0
        #: Silence after which an acknowledgement is sent by itself, s.
        self.acknowledge_s = ACKNOWLEDGE_S
        #: Stanzas that are not acknowledged, their octets, and when the last one has arrived.
        self._owed, self._owed_octets, self._since = 0, 0, 0.0

    def again(self) -> None:
        """As in Flow: the next group is the first one of a new stream."""
        super().again()
        self._writer, self._told = stream_codec.Writer(), None

    def has_work(self) -> bool:
        """Whether there are stanzas that have not arrived."""
        return self._journal.waiting(self.node) > 0

    def group(self, now: float, monotonic: float) -> bytes:
        """Octets of the next stanzas, or of what they acknowledge. Empty: nothing. now: seconds
        since 1970."""
        records: List[bytes] = []
        numbers: List[int] = []
        size = 0
        while size < GROUP_OCTETS:
            found = self._next(now)
            if found is None:
                break
            number, text = found
            if number != self._told:
                records.append(stream_codec.started(number))
            records.append(text)
            numbers.append(number)
            self._told = number + 1
            size += len(text)
            self._on_the_way[number] = len(text) // 2  # until their octets are known
        if self._owed and (records or self._is_due(monotonic)):
            records.insert(0, stream_codec.acknowledged(self._last))
            self._owed = self._owed_octets = 0
        if not records:
            return b""
        octets = self._writer.group(records)
        for number in numbers:
            self._on_the_way[number] = len(octets) // len(numbers)
        return octets

    def _is_due(self, monotonic: float) -> bool:
        return self._owed >= CLIENT_EVERY or self._owed_octets >= self._window // 2 or \
            monotonic - self._since > self.acknowledge_s

    def take(self, found: Iterable[stream_codec.Found], stream: object, octets: int,
             monotonic: float) -> None:
        """What a stream has brought. octets: their number."""
        for f in found:
            if isinstance(f, stream_codec.Acknowledged):
                for number in [n for n in self._on_the_way if n <= f.number]:
                    self.confirmed(number)
                continue
            self._accept(f.id, f.stanza, f.why)
            self._from, self._last = stream, f.id
            self._owed += 1
            self._since = monotonic
        self._owed_octets += octets

    def ended(self, stream: object) -> None:
        """A stream has ended. What it has brought is sent again."""
        if self._from is stream:
            self._from, self._owed, self._owed_octets = None, 0, 0
