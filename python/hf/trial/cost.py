# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the time of a slot went: data, protocol, turnaround, padding and loss."""
from typing import Any, Dict

from ..gui.progress import MIN_S, Progress
from ..gui.snapshot import StatusWatch, plain

#: Parts of the time, as in gui.cost.Cost.take().
PARTS = ("data", "protocol", "turnaround", "padding", "loss")


class Meter:
    """Measures one slot after the other at its sender."""

    def __init__(self, tb: Any, modem: Any, data_link: Any) -> None:
        """Create before the flowgraph starts."""
        self._data_link = data_link
        self._status = StatusWatch()
        tb.msg_connect(modem, "status", self._status, "status")
        self.begin()

    def begin(self) -> None:
        """Start again from zero."""
        self._progress, self._next = Progress(), 0.0

    def tick(self, now: float) -> None:
        """Take a sample every MIN_S. now: station time, s."""
        if now >= self._next:
            self._next = now + MIN_S
            stats = self._data_link.stats()  # before the state, which must not be older
            self._progress.note(plain(self._data_link.state()), stats,
                                spans=self._status.last_spans())

    def parts_s(self) -> Dict[str, float]:
        """Seconds of each of PARTS since begin(), while data waited. Empty if they waited for
        less than 10 s."""
        return self._progress.cost_s()
