# SPDX-License-Identifier: GPL-3.0-or-later
"""What a data link costs: where the time goes while data wait to be sent."""
from collections import deque
from dataclasses import astuple, dataclass, replace
from typing import Deque, Dict, Iterable, Mapping, Optional

from .remaining import Transmission

#: Time that the split looks back, s, and turns that are kept. A turn is a transmission and the
#: pause for its answer. The shortest take about 2 s.
SPAN_S, MAX_TURNS = 300.0, 160
#: Shortest time that is split, s. One short call says nothing about data.
MIN_SPAN_S = 10.0


@dataclass
class _Totals:
    """Sums over the time in which data waited, s and octets."""

    time: float = 0.0
    on_air: float = 0.0  # time of our transmissions
    room: float = 0.0    # what they had room for
    sent: float = 0.0    # D_PDUs, whole
    again: float = 0.0   # of these, sent again for want of an acknowledgement
    fill: float = 0.0    # of these, copies in room that was free
    done: float = 0.0    # octets of U_PDUs that have arrived
    lost: float = 0.0    # octets sent and not acknowledged, at this moment

    def minus(self, other: "_Totals") -> "_Totals":
        return _Totals(*(a - b for a, b in zip(astuple(self), astuple(other))))


class Cost:
    """Follows one data link. Times are station time, s. It counts whole turns, so that data and
    their acknowledgement belong together."""

    def __init__(self) -> None:
        self._raw: Optional[_Totals] = None  # counters at the last sample
        self._sum = _Totals()
        self._turns: Deque[_Totals] = deque([self._sum], maxlen=MAX_TURNS)
        self._on_air = self._waits = False
        self._began, self._air, self._room = -1.0, 0.0, 0.0  # of the transmissions that ended

    def note(self, now: float, link: Mapping[str, object], stats: Mapping[str, int],
             transmissions: Iterable[Transmission], done: float, lost: float,
             waits: bool) -> None:
        """Take a sample. link: the fields of a data_link_state. stats: the counters of the data
        link. transmissions: the last ones, in order. done: octets of U_PDUs that have arrived.
        lost: octets that were sent and are not acknowledged. waits: whether anything has not
        arrived."""
        on_air = link.get("phase") == "transmitting"
        for t in transmissions:
            if t.end is None:
                on_air = True
            elif t.begin > self._began:
                self._began = t.begin
                self._air += t.end - t.begin
                self._room += t.room(t.end)
        raw = _Totals(now, self._air, self._room, *(
            float(stats.get(k, 0)) for k in ("octets_sent", "octets_sent_again",
                                             "octets_sent_as_fill")), done, lost)
        if on_air and not self._on_air:
            if self._raw is not None and self._waits:
                # The answer that came since the last sample belongs to the turn that ends.
                came = max(0.0, done - self._raw.done)
                self._sum = replace(self._sum, done=self._sum.done + came,
                                    lost=max(0.0, self._sum.lost - came))
                self._raw = replace(self._raw, done=self._raw.done + came)
            self._end_turn()
        if self._raw is not None and (self._waits or waits):
            grown = astuple(raw.minus(self._raw))
            self._sum = _Totals(*(a + max(0.0, b) for a, b in zip(astuple(self._sum), grown)))
            self._sum.lost = lost
        self._raw, self._on_air = raw, on_air
        if self._waits and not waits and not on_air:
            self._end_turn()
        self._waits = waits

    def _end_turn(self) -> None:
        if self._sum.time > self._turns[-1].time:
            self._turns.append(self._sum)

    def take(self) -> Optional[Dict[str, float]]:
        """Shares of the time in which data waited, in the last SPAN_S of it; their sum is 1.
        None while less than MIN_SPAN_S is known.

        data: octets of U_PDUs that have arrived. turnaround: not on the air. The rest was on the
        air: loss, octets that did not arrive at first; protocol, headers and control D_PDUs;
        padding, preambles, the rest of blocks, and copies in it.
        """
        last = self._turns[-1]
        begin = next(t for t in self._turns if t.time > last.time - SPAN_S or t is last)
        return _shares(last.minus(begin))

    def total_s(self) -> Dict[str, float]:
        """The same in seconds, of all turns since the start. Empty while less than MIN_SPAN_S is
        known."""
        whole = self._turns[-1]
        return {name: share * whole.time for name, share in (_shares(whole) or {}).items()}


def _shares(d: _Totals) -> Optional[Dict[str, float]]:
    """See Cost.take()."""
    if d.time < MIN_SPAN_S or d.room <= 0:
        return None
    air = min(1.0, d.on_air / d.time)
    data = min(1.0, d.done / d.room)
    # Octets that were lost in the last turn are not sent again yet.
    loss = min(1.0 - data, max(0.0, d.again + d.lost) / d.room)
    first = d.sent - d.again - d.fill
    protocol = min(1.0 - data - loss, max(0.0, first - d.done - d.lost) / d.room)
    return {"data": air * data, "turnaround": 1 - air, "loss": air * loss,
            "protocol": air * protocol, "padding": air * (1 - data - loss - protocol)}
