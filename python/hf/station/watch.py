# SPDX-License-Identifier: GPL-3.0-or-later
"""Events and log lines of a station, collected for displays, logs and pictures."""
from dataclasses import dataclass
import threading
from typing import Any, Callable, List, Optional

from gnuradio import gr
import pmt


@dataclass
class Event:
    """An event of a modem's status port. time: station time, s."""

    kind: str
    time: float
    mode: str = ""
    snr_db: float = 0.0
    octets: int = 0
    reason: str = ""


class ModemWatch(gr.basic_block):
    """Keeps the last max_events events of a modem's status port."""

    def __init__(self, max_events: int = 100000) -> None:
        gr.basic_block.__init__(self, name="hf_modem_watch", in_sig=None, out_sig=None)
        self._max_events = max_events
        self._events: List[Event] = []
        self._lock = threading.Lock()
        self.message_port_register_in(pmt.intern("status"))
        self.set_msg_handler(pmt.intern("status"), self._on_status)

    def _on_status(self, message: Any) -> None:
        if not pmt.is_pair(message):
            return
        meta = pmt.to_python(pmt.car(message))
        if not isinstance(meta, dict):
            return
        event = Event(kind=str(meta.get("type", "")),
                      time=float(meta.get("now", 0)) * 1e-9,
                      mode=str(meta.get("mode", "")),
                      snr_db=float(meta.get("snr_db", 0.0)),
                      octets=pmt.blob_length(pmt.cdr(message)),
                      reason=str(meta.get("reason", "")))
        with self._lock:
            self._events.append(event)
            del self._events[:-self._max_events]

    def events(self) -> List[Event]:
        """All events so far, in order."""
        with self._lock:
            return list(self._events)


@dataclass
class LogRecord:
    """One message of a log port."""

    time: float  #: station time, s
    text: str
    #: What became of D_PDUs: sent, sent again, sent as fill, received, damaged, unread. Empty if
    #: the line is not about D_PDUs.
    d_pdu: str = ""
    d_pdus: int = 0  #: their number, an estimate if unread
    acknowledges: bool = False  #: the D_PDU acknowledges data
    detail: bool = False  #: about one transmission or D_PDU, of which there are several a minute


def log_record(message: Any) -> Optional[LogRecord]:
    """The record in a message of a log port. None for any other message."""
    if not pmt.is_pair(message) or not pmt.is_dict(pmt.car(message)) or \
            not pmt.is_u8vector(pmt.cdr(message)):
        return None
    now, d_pdu, d_pdus, acknowledges, detail = (
        pmt.dict_ref(pmt.car(message), pmt.intern(key), pmt.PMT_NIL)
        for key in ("now", "d_pdu", "d_pdus", "acknowledges", "detail"))
    if not pmt.is_uint64(now):
        return None
    text = bytes(pmt.u8vector_elements(pmt.cdr(message))).decode("utf-8", "replace")
    return LogRecord(pmt.to_uint64(now) * 1e-9, text,
                     pmt.symbol_to_string(d_pdu) if pmt.is_symbol(d_pdu) else "",
                     pmt.to_uint64(d_pdus) if pmt.is_uint64(d_pdus) else 0,
                     pmt.eqv(acknowledges, pmt.PMT_T), pmt.eqv(detail, pmt.PMT_T))


def timed(station_time: float, text: str) -> str:
    """A log line: station time in seconds, and text."""
    return f"{station_time:9.2f} {text}"


class LogWatch(gr.basic_block):
    """Keeps the last max_lines lines of log ports, each with the prefix. details: also lines about
    single transmissions and D_PDUs. shown: what a line looks like to a person."""

    def __init__(self, prefix: str = "", max_lines: int = 10000, details: bool = True,
                 shown: Callable[[str], str] = str) -> None:
        gr.basic_block.__init__(self, name="hf_log_watch", in_sig=None, out_sig=None)
        self._prefix = prefix
        self._max_lines, self._details, self._shown = max_lines, details, shown
        self._lines: List[str] = []
        self._acknowledged: List[float] = []
        self._lock = threading.Lock()
        self.message_port_register_in(pmt.intern("log"))
        self.set_msg_handler(pmt.intern("log"), self._on_log)

    def _on_log(self, message: Any) -> None:
        record = log_record(message)
        if record is None:
            return
        with self._lock:
            if self._details or not record.detail:
                self._lines.append(timed(record.time, self._shown(self._prefix + record.text)))
            del self._lines[:-self._max_lines]
            if record.acknowledges and record.d_pdu.startswith("sent"):
                self._acknowledged.append(record.time)
                del self._acknowledged[:-self._max_lines]

    def lines(self) -> List[str]:
        """The lines so far: station time in seconds and text."""
        with self._lock:
            return list(self._lines)

    def acknowledged(self) -> List[float]:
        """Station times, s, at which D_PDUs that acknowledge data were made."""
        with self._lock:
            return list(self._acknowledged)

    def take(self) -> List[str]:
        """The lines since the last call."""
        with self._lock:
            lines, self._lines = self._lines, []
            return lines


@dataclass
class Transmission:
    """A transmission of one station. Times in seconds of station time."""

    begin: float
    end: float
    mode: str
    acknowledges: bool = False  #: carries acknowledgements, alone or with data


def transmissions(events: List[Event], until: float) -> List[Transmission]:
    """Transmissions from pairs of tx_start and tx_end. One without an end lasts until the time
    until."""
    result = []
    begin = None
    for e in events:
        if e.kind == "tx_start":
            begin = e
        elif e.kind == "tx_end" and begin is not None:
            result.append(Transmission(begin.time, e.time, begin.mode))
            begin = None
    if begin is not None:
        result.append(Transmission(begin.time, until, begin.mode))
    return result


def mark_acknowledgements(sent: List[Transmission], times: List[float]) -> None:
    """Set acknowledges of a station's transmissions, in order, from LogWatch.acknowledged().

    A D_PDU is made while its transmission is on the air, the first ones just before it.
    """
    for at in times:
        coming = [t for t in sent if t.end > at]
        if coming:
            coming[0].acknowledges = True
