# SPDX-License-Identifier: GPL-3.0-or-later
"""D_PDUs by time: how many were sent, sent again and sent as fill, arrived and were lost, from the
log of a data link."""
from collections import deque
import re
import threading
from typing import Any, Deque, List

from gnuradio import gr
import pmt

from .. import watch

#: Of station time, in one count, s: a page shows two minutes in about two dozen bars.
BIN_S = 5.0
#: Counts that are kept: those of the last twenty minutes in which there were D_PDUs.
MOST_BINS = 240

#: Lines of the log: a D_PDU that is sent has its mode at the end, one that was received has not.
_D_PDU = re.compile(r"\S+>\S+ [A-Z0-9-]+ .*?(?P<damaged> BAD CRC)? eot [0-9.]+"
                    r"(?: (?P<kind>again |fill )?(?P<sent>@)\S+)?$")
_UNREAD = re.compile(r"about (\d+) D_PDUs of \S+ could not be read$")


class DPduCounts(gr.basic_block):
    """Listens on the log port of a data link and counts its D_PDUs in bins of BIN_S."""

    #: Places in a bin: its begin, s of station time; D_PDUs sent for the first time; sent again;
    #: copies in room that would have been empty; received whole; lost (damaged, or not readable at
    #: all; the latter by their length).
    BEGIN, NEW, AGAIN, FILL, WHOLE, LOST = range(6)
    _SENT = {"": NEW, "again ": AGAIN, "fill ": FILL}

    def __init__(self) -> None:
        gr.basic_block.__init__(self, name="hf_d_pdu_counts", in_sig=None, out_sig=None)
        self._lock = threading.Lock()
        self._bins: Deque[List[float]] = deque(maxlen=MOST_BINS)
        self.message_port_register_in(pmt.intern("log"))
        self.set_msg_handler(pmt.intern("log"), self._on_log)

    def _on_log(self, message: Any) -> None:
        line = watch.log_line(message)
        if line is not None:
            self.note(*line)

    def note(self, at: float, text: str) -> None:
        """Count what one line of the log says; at: its station time, s."""
        found, count = _D_PDU.match(text), 1
        if found:
            place = self._SENT[found["kind"] or ""] if found["sent"] else \
                self.LOST if found["damaged"] else self.WHOLE
        else:
            unread = _UNREAD.match(text)
            if not unread:
                return
            place, count = self.LOST, int(unread[1])
        begin = at // BIN_S * BIN_S
        with self._lock:
            if not self._bins or self._bins[-1][self.BEGIN] < begin:
                self._bins.append([begin, 0, 0, 0, 0, 0])
            self._bins[-1][place] += count

    def take(self) -> List[List[float]]:
        """The bins in which there were D_PDUs, the oldest first."""
        with self._lock:
            return [list(b) for b in self._bins]
