# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts of D_PDUs over time: sent, sent again, sent as fill, received and lost, from the log of a
data link."""
from collections import deque
import threading
from typing import Any, Deque, List

from gnuradio import gr
import pmt

from ..station import watch

#: Length of a bin, s of station time. A page shows two minutes as about two dozen bars.
BIN_S = 5.0
#: Bins kept. Empty bins are not stored, so this is at least twenty minutes.
MAX_BINS = 240


class DPduCounts(gr.basic_block):
    """Counts the D_PDUs in a data link's log port, in bins of BIN_S."""

    #: Indices in a bin. BEGIN: its start, s of station time. NEW: D_PDUs sent for the first time.
    #: AGAIN: sent again. FILL: copies that fill free space in a transmission. WHOLE: received
    #: intact. LOST: damaged or unreadable (estimated from the length).
    BEGIN, NEW, AGAIN, FILL, WHOLE, LOST = range(6)
    _PLACES = {"sent": NEW, "sent again": AGAIN, "sent as fill": FILL, "received": WHOLE,
               "damaged": LOST, "unread": LOST}

    def __init__(self) -> None:
        gr.basic_block.__init__(self, name="hf_d_pdu_counts", in_sig=None, out_sig=None)
        self._lock = threading.Lock()
        self._bins: Deque[List[float]] = deque(maxlen=MAX_BINS)
        self.message_port_register_in(pmt.intern("log"))
        self.set_msg_handler(pmt.intern("log"), self._on_log)

    def _on_log(self, message: Any) -> None:
        record = watch.log_record(message)
        if record is not None:
            self.note(record)

    def note(self, record: watch.LogRecord) -> None:
        """Count the D_PDUs of one log record."""
        place = self._PLACES.get(record.d_pdu)
        if place is None:
            return
        begin = record.time // BIN_S * BIN_S
        with self._lock:
            if not self._bins or self._bins[-1][self.BEGIN] < begin:
                self._bins.append([begin, 0, 0, 0, 0, 0])
            self._bins[-1][place] += record.d_pdus

    def take(self) -> List[List[float]]:
        """The bins with D_PDUs, the oldest first."""
        with self._lock:
            return [list(b) for b in self._bins]
