# SPDX-License-Identifier: GPL-3.0-or-later
"""What ALE does in a trial: its events, and the quality of the channels."""
from typing import Any, Callable, Dict, List

from gnuradio import gr
import pmt

#: Event of a row with the quality of a channel.
QUALITY = "quality"


class AleEar(gr.basic_block):
    """Collects the events of hf.ale_station from its port ale, but for changes of the channel."""

    def __init__(self, frequencies_hz: List[float]) -> None:
        """frequencies_hz: of the channels."""
        gr.basic_block.__init__(self, name="hf_trial_ale_ear", in_sig=None, out_sig=None)
        #: Called with the columns of each event, and its station time (now).
        self.heard: Callable[[Dict[str, Any]], None] = lambda row: None
        self._frequencies_hz = frequencies_hz
        self.message_port_register_in(pmt.intern("ale"))
        self.set_msg_handler(pmt.intern("ale"), self._on_ale)

    def _on_ale(self, message: Any) -> None:
        meta = pmt.to_python(pmt.car(message))
        event, channel = meta["type"], meta["ale_channel"]
        if event != "tune":
            text = bytes(pmt.u8vector_elements(pmt.cdr(message))).decode("ascii", "replace")
            self.heard({"now": meta["now"] * 1e-9, "event": event, "channel": channel,
                        "frequency_hz": self._frequencies_hz[channel], "text": text})


def quality_rows(view: Dict[str, Any], frequencies_hz: List[float], within_s: float
                 ) -> List[Dict[str, Any]]:
    """Rows for the channels whose quality was measured within the last seconds.

    view: ale_view.view(). Each row has age_s, the time since the measurement.
    """
    return [{"event": QUALITY, "channel": q["channel"], "peer": q["peer"],
             "frequency_hz": frequencies_hz[q["channel"]], "snr_db": q["snr_db"],
             "age_s": q["age_s"]} for q in view["quality"] if q["age_s"] <= within_s]
