# SPDX-License-Identifier: GPL-3.0-or-later
"""D_PDUs by time: how many were sent, sent again and sent as fill, arrived and were lost, from the
log of a data link."""
from collections import deque
import threading
from typing import Any, Deque, List

from gnuradio import gr
import pmt

from .. import watch

#: Of station time, in one count, s: a page shows two minutes in about two dozen bars.
BIN_S = 5.0
#: Counts that are kept: those of the last twenty minutes in which there were D_PDUs.
MOST_BINS = 240

class DPduCounts(gr.basic_block):
    """Listens on the log port of a data link and counts its D_PDUs in bins of BIN_S."""

    #: Places in a bin: its begin, s of station time; D_PDUs sent for the first time; sent again;
    #: copies in room that would have been empty; received whole; lost (damaged, or not readable at
    #: all; the latter by their length).
    BEGIN, NEW, AGAIN, FILL, WHOLE, LOST = range(6)
    _PLACES = {"sent": NEW, "sent again": AGAIN, "sent as fill": FILL, "received": WHOLE,
               "damaged": LOST, "unread": LOST}

    def __init__(self) -> None:
        gr.basic_block.__init__(self, name="hf_d_pdu_counts", in_sig=None, out_sig=None)
        self._lock = threading.Lock()
        self._bins: Deque[List[float]] = deque(maxlen=MOST_BINS)
        self.message_port_register_in(pmt.intern("log"))
        self.set_msg_handler(pmt.intern("log"), self._on_log)

    def _on_log(self, message: Any) -> None:
        record = watch.log_record(message)
        if record is not None:
            self.note(record)

    def note(self, record: watch.LogRecord) -> None:
        """Count the D_PDUs of one record of the log."""
        place = self._PLACES.get(record.d_pdu)
        if place is None:
            return
        begin = record.time // BIN_S * BIN_S
        with self._lock:
            if not self._bins or self._bins[-1][self.BEGIN] < begin:
                self._bins.append([begin, 0, 0, 0, 0, 0])
            self._bins[-1][place] += record.d_pdus

    def take(self) -> List[List[float]]:
        """The bins in which there were D_PDUs, the oldest first."""
        with self._lock:
            return [list(b) for b in self._bins]
