# SPDX-License-Identifier: GPL-3.0-or-later
"""Transmissions received on a radio."""
import datetime
import threading
from typing import Any, Dict, List

from gnuradio import gr
import numpy as np
import pmt

from .. import hf_python as _hf


class Heard(gr.basic_block):
    """Keeps the last messages from port pdus of hf.rx. most: their number."""

    def __init__(self, most: int = 10000) -> None:
        gr.basic_block.__init__(self, name="hf_heard", in_sig=None, out_sig=None)
        self._most = most
        self._found: List[Dict[str, Any]] = []
        self._lock = threading.Lock()
        self.message_port_register_in(pmt.intern("pdus"))
        self.set_msg_handler(pmt.intern("pdus"), self._on_pdu)

    def _on_pdu(self, message: Any) -> None:
        if not pmt.is_pair(message):
            return
        meta = pmt.to_python(pmt.car(message))
        now = datetime.datetime.now(datetime.timezone.utc)
        one = {"time": now.strftime("%Y-%m-%d %H:%M:%SZ"),
               "octets": pmt.blob_length(pmt.cdr(message))}
        for key in ("mode", "reason"):
            one[key] = str(meta.get(key, ""))
        for key in ("snr_db", "freq_offset_hz"):
            one[key] = round(float(meta.get(key, 0)), 2)
        with self._lock:
            self._found.append(one)
            del self._found[:-self._most]

    def take(self) -> List[Dict[str, Any]]:
        """Transmissions that have ended since the last call: time (host's UTC at the end), mode,
        octets, snr_db (in 3 kHz), freq_offset_hz, reason."""
        with self._lock:
            found, self._found = self._found, []
        return found


class Busy:
    """Whether a transmission is being received."""

    def __init__(self, bandwidth_khz: int = 3) -> None:
        self._receiver = _hf.receiver(effort=0, bandwidth=bandwidth_khz)
        self.busy = False  #: between a preamble and the end of its transmission

    def push(self, x: np.ndarray) -> None:
        """Process received samples."""
        for event in self._receiver.push(x):
            self.busy = event["type"] != "end"
