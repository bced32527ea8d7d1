# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface of a radio: everything that a station, its page and its commands ask of it."""
from typing import Any, List, Optional


#: Range for the peak of received audio, dB of full scale. It leaves room for fading and static.
TARGET_DB = (-18.0, -9.0)
#: Mean power of received audio, dB of full scale, from which on it is clipped: peaks of noise are
#: about 10 dB above their mean.
CLIPPED_DB = -10.0


def level_words(state: Any) -> str:
    """Advice on the level of received audio. state: with peak_db, silent_s and clipped."""
    if state.silent_s > 5:
        return "deaf: all samples have one value; is it the right device, and not muted?"
    if state.clipped:
        return f"{state.clipped} samples clipped: turn it down"
    if state.peak_db > TARGET_DB[1]:
        return "too loud: turn it down"
    if state.peak_db < TARGET_DB[0]:
        return "low: turn it up if the noise allows"
    return "good"


class Edge:
    """Between a modem and the air. Every radio derives from this class and sets source and sink.

    An attribute that a radio does not have stays as it is here, so no user of a radio needs to ask
    whether it exists.
    """

    source: Any  #: block that gives complex baseband at the modem's rate
    sink: Any    #: block that takes it
    sources: Any = None    #: radio that hears several channels at once: source of each channel
    sinks: Any = None      #: the same for sinks, as blocks or (block, port)
    lock_step = False      #: the air waits for the modem, as a recording does
    key: Any = None        #: push-to-talk (Key)
    rig: Any = None        #: frequency and mode of the transceiver or SDR
    events: Any = None     #: block whose port "events" reports to the modem
    capture: Any = None    #: sound card: block that records
    playback: Any = None   #: sound card: block that plays

    @property
    def level(self) -> float:
        """Highest peak of the modem's samples, of the full scale of sink."""
        return 1.0

    @property
    def over(self) -> bool:
        """True at the end of a recording. A live radio has no end."""
        return False

    @property
    def turnaround_ms(self) -> Optional[float]:
        """Time from the end of a reception to the start of the answer, ms; None if unknown."""
        return None

    def take_lines(self) -> List[str]:
        """Lines for the operator since the last call."""
        return []

    def close(self) -> None:
        """Release key and devices."""
