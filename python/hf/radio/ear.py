# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings about the level of a receiver while a station runs."""
import time
from typing import Any, Callable, List

#: Report a silent receiver after this time, and clipping at most this often; s.
PATIENCE_S = 30.0
#: Lowest plausible noise peak of a receiver, dB of full scale: three steps of 16 bits.
FLOOR_DB = -80.0

_DEAF = "radio: deaf for {:.0f} s: all samples have one value; is the device the right one?"
_LOW = ("radio: for {:.0f} s peaks were below {:.0f} dB: turn the receiver up, or check cable "
        "and antenna")


class Ear:
    """Reports a receiver that is silent, too weak or clipped, and its recovery."""

    def __init__(self, state: Callable[[], Any], away: Callable[[], bool],
                 now: Callable[[], float] = time.monotonic) -> None:
        """state: of hf.from_audio or hf.from_sdr. away: whether silence is normal, since the
        transmitter is keyed or the device lost."""
        self._state, self._away, self._now = state, away, now
        self._heard, self._clipped_at = now(), now() - PATIENCE_S
        self._clipped = 0
        self._said = False

    def lines(self) -> List[str]:
        """Lines for the operator since the last call."""
        s, now, said = self._state(), self._now(), []
        deaf = s.silent_s > 1
        if self._away() or not (deaf or s.peak_db < FLOOR_DB):
            self._heard = now
            if self._said and not self._away():
                self._said = False
                said.append("radio: hears again")
        elif now >= self._heard + PATIENCE_S and not self._said:
            self._said = True
            said.append(_DEAF.format(PATIENCE_S) if deaf else _LOW.format(PATIENCE_S, FLOOR_DB))
        if s.clipped > self._clipped and now >= self._clipped_at + PATIENCE_S:
            said.append(f"radio: {s.clipped - self._clipped} received samples clipped: turn the "
                        "receiver down")
            self._clipped, self._clipped_at = s.clipped, now
        return said
