# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a receiver hears: what an operator should know of its level while a station runs."""
import time
from typing import Any, Callable, List

#: A receiver that gives nothing for so long is deaf; between two lines about clipping; s.
PATIENCE_S = 30.0
#: Of the noise of a receiver, dB below full scale: less is no more than three steps of 16 bits.
FLOOR_DB = -80.0

_DEAF = "radio: deaf for {:.0f} s: nothing but one value comes; is the device the right one?"
_LOW = ("radio: for {:.0f} s peaks were below {:.0f} dB: turn the receiver up, or look at cable "
        "and antenna")


class Ear:
    """Says that a receiver is deaf, hears next to nothing, or is clipped; and that it hears
    again."""

    def __init__(self, state: Callable[[], Any], away: Callable[[], bool],
                 now: Callable[[], float] = time.monotonic) -> None:
        """state: of hf.from_audio or hf.from_sdr; away: the transmitter is keyed or the device
        lost, so that silence says nothing."""
        self._state, self._away, self._now = state, away, now
        self._heard, self._clipped_at = now(), now() - PATIENCE_S
        self._clipped = 0
        self._said = False

    def lines(self) -> List[str]:
        """What happened since the last call."""
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
