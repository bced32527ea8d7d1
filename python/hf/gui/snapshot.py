# SPDX-License-Identifier: GPL-3.0-or-later
"""State of a running station as plain values, for the page, the terminal and other programs. All
histories are bounded."""
from collections import deque
from itertools import islice
import math
import threading
import time
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence

from gnuradio import blocks, fft, gr
from gnuradio.fft import window
import numpy as np
import pmt

from .. import station
from ..sis import s5066
from ..station import ale_view, edge, names, service, watch
from . import d_pdus, glance, listening, messages, net, progress

#: Limits of histories: transmissions and receptions, blocks, log lines, connections.
MAX_SPANS, MAX_BLOCKS, MAX_LINES, MAX_CONNECTIONS = 400, 400, 200, 100
#: Spans that each sample of the progress reads.
LAST_SPANS = 20
#: Symbols shown of a block, at equal distances.
MAX_SYMBOLS = 256
#: Points of a spectrum. The channel fills about a third of them.
SPECTRUM_POINTS = 128


class StatusWatch(gr.basic_block):
    """Keeps a history of a modem's status port for displays."""

    def __init__(self) -> None:
        gr.basic_block.__init__(self, name="hf_status_watch", in_sig=None, out_sig=None)
        self._lock = threading.Lock()
        self._spans: Deque[Dict[str, Any]] = deque(maxlen=MAX_SPANS)
        self._blocks: Deque[Dict[str, Any]] = deque(maxlen=MAX_BLOCKS)
        self._profile: List[float] = []
        self._symbols: List[List[float]] = []
        self.message_port_register_in(pmt.intern("blocks"))
        self.set_msg_handler(pmt.intern("blocks"), self._on_block)
        self.message_port_register_in(pmt.intern("status"))
        self.set_msg_handler(pmt.intern("status"), self._on_status)

    def _on_status(self, message: Any) -> None:
        meta = pmt.to_python(pmt.car(message)) if pmt.is_pair(message) else None
        if not isinstance(meta, dict):
            return
        now = float(meta.get("now", 0)) * 1e-9
        kind = str(meta.get("type", ""))
        with self._lock:
            if kind in ("tx_start", "rx_start"):
                self._spans.append({"kind": kind[:2], "begin": now, "end": None, "reason": "",
                                    "mode": str(meta.get("mode", ""))})
            elif kind in ("tx_end", "rx_end"):
                for span in reversed(self._spans):
                    if span["kind"] == kind[:2] and span["end"] is None:
                        span["end"] = now
                        span["reason"] = str(meta.get("reason", ""))
                        break
            elif kind == "rx_octets":
                self._blocks.append({"at": now, "snr_db": _number(meta.get("snr_db")),
                                     "quality": _number(meta.get("quality"))})
            elif kind == "channel" and self._blocks:
                for key in ("freq_offset_hz", "doppler_hz", "delay_spread_ms", "coded_ber"):
                    self._blocks[-1][key] = _number(meta.get(key))
                # The receiver reports exactly 0 for a transmission too short to measure it.
                self._blocks[-1]["doppler_hz"] = self._blocks[-1]["doppler_hz"] or None
                self._profile = [round(float(p), 4) for p in meta.get("profile", [])]

    def _on_block(self, message: Any) -> None:
        if not pmt.is_pair(message) or not pmt.is_c32vector(pmt.cdr(message)):
            return
        symbols = np.asarray(pmt.c32vector_elements(pmt.cdr(message)))
        some = symbols[::max(1, math.ceil(len(symbols) / MAX_SYMBOLS))]
        shown = [[_number(s.real) or 0.0, _number(s.imag) or 0.0] for s in some.round(2)]
        with self._lock:
            self._symbols = shown

    def last_spans(self) -> List[Dict[str, Any]]:
        """The newest spans on the air, more than there can be between two samples."""
        with self._lock:
            return [dict(s) for s in islice(reversed(self._spans), LAST_SPANS)][::-1]

    def take(self) -> Dict[str, Any]:
        """Spans on the air, received blocks, and the delay profile and equalised symbols of the
        last block."""
        with self._lock:
            return {"spans": [dict(s) for s in self._spans],
                    "blocks": [dict(b) for b in self._blocks], "profile": list(self._profile),
                    "symbols": self._symbols}


def _number(value: Any) -> Optional[float]:
    """The value for JSON, which has neither NaN nor infinity."""
    if value is None or not math.isfinite(float(value)):
        return None
    return round(float(value), 4)


class Spectrum:
    """The latest spectrum of complex baseband, dB, from the lowest to the highest frequency."""

    def __init__(self, tb: gr.top_block, source: Any, sample_rate: float) -> None:
        self.sample_rate = sample_rate
        # Five spectra per second of station time are enough for a display.
        skip = max(1, round(sample_rate / 5 / SPECTRUM_POINTS))
        self._probe = blocks.probe_signal_vf(SPECTRUM_POINTS)
        tb.connect(source, blocks.stream_to_vector(gr.sizeof_gr_complex, SPECTRUM_POINTS),
                   blocks.keep_one_in_n(gr.sizeof_gr_complex * SPECTRUM_POINTS, skip),
                   fft.fft_vcc(SPECTRUM_POINTS, True, window.hann(SPECTRUM_POINTS), True),
                   blocks.complex_to_mag_squared(SPECTRUM_POINTS), self._probe)

    def take(self) -> List[float]:
        """The spectrum in dB, with an arbitrary reference."""
        return [round(10 * math.log10(p + 1e-12), 1) for p in self._probe.level()]


class StationView:
    """Collects the state of one station."""

    def __init__(self, tb: gr.top_block, s: station.Station, radio: Optional[edge.Edge] = None,
                 received: Any = None, sample_rate: float = 9600.0) -> None:
        """Create before the flowgraph starts. received: block with the station's baseband, for a
        spectrum. radio: its radio with key, source and sink, or None."""
        self.station, self.radio = s, radio
        self.status = StatusWatch()
        self.spectrum = Spectrum(tb, received, sample_rate) if received is not None else None
        self.listening = listening.Listening(tb, received, sample_rate) \
            if received is not None and sample_rate <= listening.MAX_RATE else None
        if s.modem is not None:
            tb.msg_connect(s.modem, "status", self.status, "status")
            if _has_blocks(s.modem):
                tb.msg_connect(s.modem, "blocks", self.status, "blocks")
        self.progress = progress.Progress()
        #: Chat and files of the operator, if the page has control.
        self.messages: Optional[messages.Messages] = None
        #: Questions of the operator to the net, if the page has control.
        self.net: Optional[net.NetQuestion] = None
        #: Programs and servers that the services of the station work with.
        self.attached: Callable[[], Sequence[service.Attached]] = lambda: []
        self.names = names.Names(s.description)
        self.log = watch.LogWatch(max_lines=MAX_LINES, shown=self.names.in_text)
        for block in (s.ale, s.data_link, s.pep, s.ip_client, s.dns):
            if block is not None:
                tb.msg_connect(block, "log", self.log, "log")
        self.d_pdus = d_pdus.DPduCounts()
        if s.data_link is not None:
            tb.msg_connect(s.data_link, "log", self.d_pdus, "log")

    def sample(self) -> None:
        """Note how far the data link is. Call it every second or so, also if nobody looks."""
        s = self.station
        if s.data_link is not None:
            late = s.modem.state().late_answers if hasattr(s.modem, "state") else 0
            # Counters first: what is submitted in between must not look as if it were sent.
            stats = s.data_link.stats()
            self.progress.note(plain(s.data_link.state()), stats, late, self.status.last_spans(),
                               self.messages.unsubmitted if self.messages is not None else 0.0)

    def take(self) -> Dict[str, Any]:
        """The current state, ready for JSON."""
        self.sample()
        s, d = self.station, self.station.description
        seen: Dict[str, Any] = {"name": d.name, "mode": d.mode, "log": self.log.lines()}
        seen.update(self.status.take())
        if s.modem is not None:
            seen["modem"] = plain(s.modem.state())
        if s.ale is not None and d.ale is not None:
            seen["ale"] = ale_view.view(s.ale.ale(), d.ale.frequencies_hz)
        if s.data_link is not None:
            seen["link"] = plain(s.data_link.state())
            seen.update(_counters(s.data_link.stats()))
            seen["d_pdu_bins"], seen["d_pdu_bin_s"] = self.d_pdus.take(), d_pdus.BIN_S
        if s.pep is not None:
            connections = s.pep.connections()
            seen["connections"] = [plain(c) for c in connections[:MAX_CONNECTIONS]]
            seen["connections_left_out"] = max(0, len(connections) - MAX_CONNECTIONS)
            seen["pep"] = dict(s.pep.stats())
        if s.ip_client is not None:
            seen["flows"] = [plain(f) for f in s.ip_client.flows()]
        for name, block in (("ip", s.ip_client), ("dns", s.dns), ("sis", s.sis_server)):
            if block is not None:
                seen[name] = dict(block.stats())
        if self.spectrum is not None:
            seen["spectrum"] = self.spectrum.take()
            seen["sample_rate"] = self.spectrum.sample_rate
            seen["audible"] = self.listening is not None
        if self.radio is not None:
            seen["radio"] = self._radio(self.radio)
        seen["attached"] = [a._asdict() for a in self.attached()][:MAX_CONNECTIONS]
        seen["net"] = self.net.rows() if self.net is not None else []
        seen["progress"] = self.progress.take()
        seen["sending_file"] = self.messages.sending if self.messages is not None else ""
        link = dict(seen.get("link") or {})
        if link.get("peer"):
            link["peer"] = self.names.of(link["peer"])
        seen["glance"] = glance.glance({**seen, "name": self.names.of(d.name), "link": link})
        return seen

    def _radio(self, radio: edge.Edge) -> Dict[str, Any]:
        found: Dict[str, Any] = {}
        for name, block in (("source", radio.source), ("capture", radio.capture),
                            ("playback", radio.playback)):
            if hasattr(block, "state"):
                found[name] = plain(block.state())
        if "source" in found:
            found["level"] = edge.level_words(radio.source.state())
        if radio.turnaround_ms is not None:
            found["turnaround_ms"] = _number(radio.turnaround_ms)
        rig, key = radio.rig, radio.key
        if rig is not None and rig.known is not None:
            found["rig"] = {**vars(rig.known), "text": rig.known.text()}
        if key is not None:
            found["sink"] = plain(radio.sink.state())
            found["key"] = {"down": key.down, "latency_ms": _number(key.latency_ms),
                            "errors": key.errors()[-5:]}
        return found


def _has_blocks(modem: Any) -> bool:
    """Whether the modem reports blocks. Emulated and remote modems do not."""
    ports = modem.message_ports_out()
    return any(str(pmt.vector_ref(ports, k)) == "blocks" for k in range(pmt.length(ports)))


def plain(state: Any) -> Dict[str, Any]:
    """The fields of a C++ state object, for JSON."""
    found = {}
    for name in dir(state):
        if not name.startswith("_"):
            value = getattr(state, name)
            if isinstance(value, list):
                value = [plain(v) for v in value]
            found[name] = _number(value) if isinstance(value, float) else value
    return found


def _counters(stats: Dict[str, int]) -> Dict[str, Any]:
    """D_PDUs by type, and the other counters of a data link."""
    d_pdus = [{"type": k, "name": s5066.d_pdu_name(k), "sent": stats[f"sent_{k}"],
               "received": stats[f"received_{k}"]} for k in range(16)
              if stats[f"sent_{k}"] or stats[f"received_{k}"]]
    others = {k: v for k, v in stats.items()
              if not k.startswith(("sent_", "received_")) and v}
    return {"d_pdus": d_pdus, "counters": others}


class Snapshots:
    """States of all stations of a program, computed at most every MIN_AGE_S for all viewers."""

    MIN_AGE_S = 0.4

    def __init__(self, views: List[StationView], about: str) -> None:
        self.views, self.about = views, about
        self._lock = threading.Lock()
        self._last: Dict[str, Any] = {}
        self._at = -math.inf

    def sample(self) -> None:
        """Note the progress of all stations."""
        with self._lock:
            for view in self.views:
                view.sample()

    def take(self) -> Dict[str, Any]:
        """Keys about, at (the host's clock, s since 1970), stations."""
        with self._lock:
            if time.monotonic() - self._at >= self.MIN_AGE_S:
                self._last = {"about": self.about, "at": round(time.time(), 1),
                              "stations": [v.take() for v in self.views]}
                self._at = time.monotonic()
            return self._last
