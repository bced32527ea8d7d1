# SPDX-License-Identifier: GPL-3.0-or-later
"""An SDR through SoapySDR or UHD, with timed bursts and gap detection by the device's clock."""
from typing import Any, Callable, List, Optional, Tuple

from gnuradio import blocks, gr
import pmt

from .. import hf_python as _hf
from .. import station
from ..station.edge import Edge
from .dial import SdrDial
from .ear import Ear
from .key import Key

#: Tick of hf.modem, ms.
_TICK_MS = 10.0

#: Message for a damaged transmission, by reason.
_ADVICE = {
    "late": "was late and not sent, as a whole or from some sample on; raise latency_s",
    "underflow": "has a hole: samples did not arrive in time; is the computer too busy?",
    "untimed": "was not sent: the device reports no time, or is lost",
    "lost": "was cut: the device is lost",
}


class SdrEvents(gr.basic_block):
    """Turns events from the blocks of a radio into lines for the operator."""

    def __init__(self, rate: float, say: Callable[[str], None]) -> None:
        gr.basic_block.__init__(self, name="hf_sdr_events", in_sig=None, out_sig=None)
        self._rate, self._say = rate, say
        self.message_port_register_in(pmt.intern("events"))
        self.set_msg_handler(pmt.intern("events"), self._on_event)

    def _on_event(self, message: Any) -> None:
        meta = pmt.to_python(pmt.car(message)) if pmt.is_pair(message) else None
        if not isinstance(meta, dict):
            return
        kind, reason = meta.get("type"), str(meta.get("reason", ""))
        if kind == "tx_damaged":
            self._say(f"transmission {meta.get('transmission')} {_ADVICE.get(reason, reason)}")
        elif kind == "gap":
            self._say(f"{meta.get('lost')} received samples were lost "
                      f"({1e3 * float(meta.get('lost', 0)) / self._rate:.1f} ms)")
        elif kind == "device" and reason == "lost":
            self._say("the device is lost; retry every second")
        elif kind == "device" and reason == "back":
            self._say("the device is open again")


class SdrRadio(Edge):
    """Source and sink of a station on an SDR: device - from_sdr, to_sdr - device, and the key.

    With transmit = false the transmitter is not opened.
    """

    def __init__(self, tb: gr.top_block, r: station.Radio, modem_rate: float = 9600) -> None:
        """Raises RuntimeError if the device cannot be opened, ValueError for a setting that it
        does not support."""
        self._lines: List[str] = []
        self.radio: station.Radio = r
        self.key: Optional[Key] = None
        #: Block whose port events reports damaged transmissions, or None.
        self.events = None
        s = r.sdr
        rate = s.sample_rate or 5 * modem_rate
        self.source = _hf.from_sdr(rate, modem_rate)
        self._device_in, self._device_out = open_device(r, rate)
        self._watch = SdrEvents(rate, self._lines.append)
        self._ear = Ear(self.source.state, self._away)
        self._connect_receivers(tb, rate, modem_rate)
        tb.msg_connect(self.source, "events", self._watch, "events")
        tb.msg_connect(self._device_in, "events", self._watch, "events")
        if r.transmit:
            self._open_sink(tb, rate, modem_rate)
        else:
            self.sink: gr.basic_block = blocks.null_sink(gr.sizeof_gr_complex)
            self._no_transmitter()
        #: Sets its frequency at run time, with the interface of radio.Rig.
        self.rig = SdrDial(s.frequency_hz, r.subcarrier_hz, self._tune, self._transmits, self.key)

    def _open_sink(self, tb: gr.top_block, rate: float, modem_rate: float) -> None:
        r, s = self.radio, self.radio.sdr
        keyed = r.ptt.way != "none"
        self.sink = self.events = _hf.to_sdr(
            rate, modem_rate, s.latency_s, r.ptt.lead_s if keyed else 0,
            r.ptt.tail_s if keyed else 0, r.ptt.way == "uhd")
        self._connect_transmitter(tb)
        tb.msg_connect(self.source, "time", self.sink, "time")
        tb.msg_connect(self._device_out, "reports", self.sink, "reports")
        tb.msg_connect(self.sink, "events", self._watch, "events")
        if keyed and r.ptt.way != "uhd":
            sink = self.sink
            self.key = Key(r.ptt, lambda: sink.nitems_read(0), self._lines.append)
            tb.msg_connect(self.sink, "key", self.key, "key")

    def _connect_receivers(self, tb: gr.top_block, rate: float, modem_rate: float) -> None:
        del rate, modem_rate
        tb.connect(self._device_in, self.source)

    def _connect_transmitter(self, tb: gr.top_block) -> None:
        tb.connect(self.sink, self._device_out)

    def _no_transmitter(self) -> None:
        """The radio only receives."""

    def _transmits(self) -> bool:
        return self.events is not None and bool(self.sink.state().keyed)

    def _tune(self, channel_hz: float) -> None:
        directions = [d for d in (self._device_in, self._device_out) if d is not None]
        before = self.radio.sdr.frequency_hz
        try:
            for d in directions:
                d.set_frequency(channel_hz)
        except (RuntimeError, ValueError):
            for d in directions:  # change both or none
                d.set_frequency(before)
            raise
        self.radio.sdr.frequency_hz = channel_hz

    @property
    def turnaround_ms(self) -> Optional[float]:
        """Delay from the end of a reception to the first sample of an answer, without the
        decoder's delay and the key's lead. None without transmitter."""
        if self.events is None:
            return None
        # The answer starts at the counterpart of the first sample of the deciding tick.
        return 1e3 * self.radio.sdr.latency_s - _TICK_MS

    @property
    def level(self) -> float:
        """Highest peak of the modem's samples."""
        return 10 ** (self.radio.level_db / 20)

    def take_lines(self) -> List[str]:
        """Lines for the operator since the last call."""
        lines = self._ear.lines()
        return lines + [self._lines.pop(0) for _ in range(len(self._lines))]

    def _away(self) -> bool:
        keyed = self.events is not None and self.sink.state().keyed
        return keyed or not self._device_in.state().open

    def close(self) -> None:
        """Release the key. The flowgraph closes the device."""
        if self.key is not None:
            self.key.close()


def open_device(r: station.Radio, rate: float) -> Tuple[Any, Any]:
    """Open an SDR. Returns its receiver and transmitter blocks, the latter None if transmit is
    false. Raises RuntimeError if it cannot be opened, ValueError for an unsupported setting."""
    s = r.sdr
    args = f"driver=uhd,{s.args}" if r.type == "uhd" else s.args

    def of(kind: Any, gain_db: float, antenna: str) -> Any:
        return kind(args, rate, s.frequency_hz, s.lo_offset_hz, gain_db, antenna, s.channel,
                    s.clock_source, s.time_source)

    source = of(_hf.soapy_source, s.rx_gain_db, s.rx_antenna)
    if not r.transmit:
        return source, None
    sink = of(_hf.soapy_sink, s.tx_gain_db, s.tx_antenna)
    if r.ptt.way == "uhd":
        sink.key_by_burst(r.ptt.device or "FP0", r.ptt.pin, r.ptt.inverted)
    return source, sink
