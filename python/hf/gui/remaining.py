# SPDX-License-Identifier: GPL-3.0-or-later
"""Time until everything that waits has arrived: from the mode, the queue, and the turns until
now. Data move in turns of up to two minutes, so the speed of the last minute says little."""
from collections import deque
from dataclasses import dataclass
from typing import Deque, List, Optional, Tuple

from .. import hf_python as _hf
from .words import mode_bps

#: Share of a mode's rate that data have before anything was measured. The rest is preambles and
#: headers. It counts as much as PRIOR_S of transmission, as a first transmission is a short sample
#: after which the data link chooses other segments.
PRIOR, PRIOR_S = 0.9, 30.0
#: Share of a long transmission that is data: D_PDUs have 3 % of headers.
FULL = 0.97
#: Share of the transmissions that data fill at least. Calls and acknowledgements carry less.
MIN_FILL = 0.3
#: Turns that are averaged.
TURNS = 4


@dataclass
class Transmission:
    """One of our transmissions. end: None while it lasts. Station time, s."""

    mode: str
    begin: float
    end: Optional[float]

    def room(self, now: float) -> float:
        """Octets that it had room for until now."""
        return (mode_bps(self.mode) or 0) * ((self.end or now) - self.begin) / 8


class Remaining:
    """Follows one data link. Times are station time, s. Octets are those of U_PDUs."""

    def __init__(self) -> None:
        self._began = -1.0  # the last transmission that was counted
        self._now: Optional[Transmission] = None  # under way
        self._before = (0.0, 0.0)  # octets sent and not acknowledged when it began
        self._last: Optional[Transmission] = None  # the last one with data that has ended
        self._fresh = False  # it is not acknowledged yet
        self._capacity = 0.0  # octets that all ended transmissions had room for
        self._turns: Deque[float] = deque(maxlen=TURNS)
        self._answers: Deque[float] = deque(maxlen=TURNS)
        self._lengths: Deque[float] = deque(maxlen=TURNS)  # of those that left something
        #: Octets acknowledged, and the capacity used for them, after each answer.
        self._done: Deque[Tuple[float, float]] = deque(maxlen=TURNS + 1)
        self._begin = 0.0  # capacity when the work began
        #: Octets that left the queue since then. Those that are lost may return to it.
        self._left_queue = 0.0
        self._sample = (0.0, 0.0, 0.0, 0.0)  # time, octets sent, not sent, not acknowledged

    def note(self, now: float, transmissions: List[Transmission], sent: float, unsent: float,
             unacknowledged: float) -> None:
        """Take a sample. transmissions: the last ones, in order. sent: all octets sent once, since
        the start. unsent: octets that wait for it. unacknowledged: octets sent and not
        acknowledged."""
        done = sent - unacknowledged
        if not unsent and not unacknowledged:
            self._done.clear()
            self._lengths.clear()
            self._last = None
        if not self._done:
            self._done.append((done, self._capacity))
            self._begin, self._left_queue = self._capacity, 0.0
        else:
            self._left_queue += max(0.0, sent - self._sample[1])
        before, self._now = self._now, None
        for t in transmissions:
            if t.end is None:
                if before is None or before.begin != t.begin:
                    self._before = self._sample[1], self._sample[3]
                # An acknowledgement may be noticed late.
                self._before = self._before[0], min(self._before[1], unacknowledged)
                self._now = t
            elif t.begin > self._began:
                self._began = t.begin
                self._end(t, unsent)
        if done > self._done[-1][0]:
            self._acknowledge(now, done)
        self._sample = now, sent, unsent, unacknowledged

    def _end(self, t: Transmission, unsent: float) -> None:
        assert t.end is not None
        self._capacity += t.room(t.end)
        if self._last is not None:
            if t.room(t.end) < MIN_FILL * self._last.room(t.end) and unsent:
                return  # an acknowledgement or a call
            assert self._last.end is not None
            self._turns.append(t.begin - self._last.end)
        self._last, self._fresh = t, True
        if unsent:
            self._lengths.append(t.end - t.begin)

    def _acknowledge(self, now: float, done: float) -> None:
        if self._done[-1][1] == self._capacity and len(self._done) > 1:
            self._done.pop()
        self._done.append((done, self._capacity))
        if self._last is not None and self._now is None:
            assert self._last.end is not None
            if not self._fresh and self._answers:
                self._answers.pop()
            self._answers.append(now - self._last.end)
            self._fresh = False

    def _bps(self) -> int:
        """Rate of the data, bit/s. 0: not known."""
        now = self._sample[0]
        room = self._capacity - self._begin + (self._now.room(now) if self._now else 0.0)
        if self._left_queue < MIN_FILL * room:
            return 0
        found = [t for t in (self._now, self._last) if t is not None]
        most = max((t.room(now) for t in found), default=0.0)
        return next((mode_bps(t.mode) or 0 for t in found if t.room(now) >= MIN_FILL * most), 0)

    def efficiency(self, bps: int) -> float:
        """Share of the mode's rate at which octets arrived while we transmitted."""
        (first, capacity), (last, used) = self._done[0], self._done[-1]
        prior = PRIOR_S * bps / 8
        return min(1.0, max(0.01, (last - first + PRIOR * prior) / (used - capacity + prior)))

    def left(self) -> Optional[float]:
        """Seconds until everything has arrived. None: not known."""
        now, sent, unsent, unacknowledged = self._sample
        bps = self._bps() if self._done else 0
        if not bps:
            return None
        share = self.efficiency(bps)
        fresh, again = 0.0, unacknowledged  # octets whose answer is awaited, and to be sent again
        since = now if self._now is None else self._now.begin
        passed = 0.0 if self._last is None or self._last.end is None else since - self._last.end
        if self._now is not None:
            # D_PDUs leave the queue a while before they are on the air.
            carried = sent - self._before[0] + self._before[1]
            again = max(0.0, carried - FULL * bps * (now - self._now.begin) / 8)
            fresh = unacknowledged
        elif self._fresh:
            fresh, again = again, 0.0
        lost = fresh * max(0.0, 1 - share / PRIOR)
        air = 8 * (unsent / share + (again + lost) / PRIOR) / bps
        # Before there were two transmissions, the longest is assumed.
        longest = max(self._lengths) if len(self._lengths) > 1 else _hf.s5066.MAX_EOT_S
        answer = _mean(self._answers, min(passed, _mean(self._turns, passed)))
        turn = max(answer, _mean(self._turns, passed))
        if self._now is not None:
            over = max(0.0, now - self._now.begin + air - longest)
            return air + -(-over // longest) * turn + answer
        if unsent + again < 1 and 8 * lost < bps:
            return max(0.0, answer - passed)
        return max(0.0, turn - passed) + air + (-(-air // longest) - 1) * turn + answer


def _mean(values: Deque[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
