# SPDX-License-Identifier: GPL-3.0-or-later
"""An SDR, by SoapySDR or UHD: bursts at given times, gaps by the device's clock."""
import dataclasses
import os
import threading
import time
from typing import Any, Callable, List, Optional, Tuple

from gnuradio import blocks, gr
import pmt

from .. import hf_python as _hf
from .. import station
from .dial import SdrDial
from .ear import Ear
from .key import Key

#: A synthesiser's step, Hz; the receiver finds what is left.
_SAME_FREQUENCY_HZ = 5.0
#: Of the modem (hf.modem works in ticks), ms.
_TICK_MS = 10.0
#: So much of a rate may be rounding, as in the blocks of SoapySDR.
_SAME_RATE = 1e-11

#: A device of UHD that gives nothing for so long is gone; s.
SILENT_S = 4.0
#: gr-uhd waits for such a device for ever, and keeps a flowgraph from ending: then the program is
#: ended so long after the key was released; s.
_PATIENCE_S = 5.0

#: What an operator should do about a transmission that suffered.
_ADVICE = {
    "late": "came too late, the whole or from some sample on, and was not sent; raise latency_s",
    "underflow": "has a hole: samples did not come in time; is the computer too busy?",
    "untimed": "was not sent: the device has told no time, or is lost",
    "lost": "was cut: the device is lost",
}


class SdrEvents(gr.basic_block):
    """Hears what the blocks of a radio tell, and makes lines for the operator of it."""

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
            self._say("the device is lost; it is tried again each second")
        elif kind == "device" and reason == "back":
            self._say("the device is opened again")


class SdrRadio:
    """Source and sink of a station on an SDR: device - from_sdr, to_sdr - device, and the key.

    With transmit = false nothing of the transmitter is opened.
    """

    lock_step = False
    over = False  # an SDR has no end

    def __init__(self, tb: gr.top_block, r: station.Radio, modem_rate: float = 9600) -> None:
        """Raises RuntimeError if the device cannot be opened, ValueError for what it does not
        have."""
        self._lines: List[str] = []
        self._moved = (time.monotonic(), 0)  # when samples came last, and how many
        self._gone = False
        self.radio: station.Radio = r
        self.key: Optional[Key] = None
        #: Block whose port events tells of transmissions that suffered; None: there is none.
        self.events: Optional[gr.basic_block] = None
        s = r.sdr
        rate = s.sample_rate or 5 * modem_rate
        self.source = _hf.from_sdr(rate, modem_rate)
        self._device_in, self._device_out = open_device(r, rate)
        self._watch = SdrEvents(rate, self._lines.append)
        self._ear = Ear(self.source.state, self._away)
        tb.connect(self._device_in, self.source)
        tb.msg_connect(self.source, "events", self._watch, "events")
        if r.type == "soapy":
            tb.msg_connect(self._device_in, "events", self._watch, "events")
        if r.transmit:
            self._open_sink(tb, rate, modem_rate)
        else:
            self.sink: gr.basic_block = blocks.null_sink(gr.sizeof_gr_complex)
        #: Its frequency while it runs, with what radio.Rig has.
        self.rig = SdrDial(s.frequency_hz, r.subcarrier_hz, self._tune, self._transmits, self.key)

    def _open_sink(self, tb: gr.top_block, rate: float, modem_rate: float) -> None:
        r, s = self.radio, self.radio.sdr
        keyed = r.ptt.way != "none"
        self.sink = self.events = _hf.to_sdr(
            rate, modem_rate, s.latency_s, r.ptt.lead_s if keyed else 0,
            r.ptt.tail_s if keyed else 0, r.ptt.way == "uhd")
        tb.connect(self.sink, self._device_out)
        tb.msg_connect(self.source, "time", self.sink, "time")
        tb.msg_connect(self._device_out, "reports" if r.type == "soapy" else "async_msgs",
                       self.sink, "reports")
        tb.msg_connect(self.sink, "events", self._watch, "events")
        if keyed and r.ptt.way != "uhd":
            sink = self.sink
            self.key = Key(r.ptt, lambda: sink.nitems_read(0), self._lines.append)
            tb.msg_connect(self.sink, "key", self.key, "key")

    def _transmits(self) -> bool:
        return self.events is not None and bool(self.sink.state().keyed)

    def _tune(self, channel_hz: float) -> None:
        before = self.radio.sdr.frequency_hz
        directions = [d for d in (self._device_in, self._device_out) if d is not None]
        wanted = dataclasses.replace(self.radio.sdr, frequency_hz=channel_hz)
        try:
            for d in directions:
                _tune(d, self.radio.type, wanted)
        except (RuntimeError, ValueError):
            for d in directions:  # both, or none
                _tune(d, self.radio.type, dataclasses.replace(wanted, frequency_hz=before))
            raise
        self.radio.sdr.frequency_hz = channel_hz

    @property
    def turnaround_ms(self) -> Optional[float]:
        """From the end of a reception to the first sample of an answer, beyond the decoder's delay
        and without the key's lead; None without transmitter."""
        if self.events is None:
            return None
        # The answer begins opposite to the first sample of the tick in which it was decided.
        return 1e3 * self.radio.sdr.latency_s - _TICK_MS

    @property
    def level(self) -> float:
        """Of the modem: highest peak of its samples."""
        return 10 ** (self.radio.level_db / 20)

    def take_lines(self) -> List[str]:
        """What the operator should know, said since the last call. Raises RuntimeError once all
        is said if a device of UHD is gone."""
        if self.radio.type == "uhd":
            self._look_for_silence()
        lines = self._ear.lines()
        lines += [self._lines.pop(0) for _ in range(len(self._lines))]
        if self._gone and not lines:
            raise RuntimeError(f"{self.radio.sdr.args}: the device is lost")
        return lines

    def _away(self) -> bool:
        keyed = self.events is not None and self.sink.state().keyed
        return keyed or (self.radio.type == "soapy" and not self._device_in.state().open)

    def _look_for_silence(self) -> None:
        # gr-uhd does not tell that its device is gone.
        now, count = time.monotonic(), self.source.nitems_read(0)
        if count != self._moved[1]:
            self._moved = (now, count)
        elif count > 0 and now > self._moved[0] + SILENT_S and not self._gone:
            self._gone = True
            self._lines.append(f"{self.radio.sdr.args}: the device gives no samples: it is lost, "
                               "and the station ends")

    def close(self) -> None:
        """Release the key; the flowgraph closes the device. Ends the program with status 1 some
        seconds later if that cannot be, since a device of UHD is gone."""
        if self.key is not None:
            self.key.close()
        if self._gone:
            end_without_uhd()


def end_without_uhd() -> None:
    """End the program with status 1 some seconds from now: gr-uhd keeps a flowgraph from ending
    whose device is gone."""
    end = threading.Timer(_PATIENCE_S, os._exit, (1,))
    end.daemon = True
    end.start()


def open_device(r: station.Radio, rate: float) -> Tuple[Any, Any]:
    """Receiver and transmitter of an SDR, blocks of GNU Radio; None for one that is not wanted.
    Raises RuntimeError if it cannot be opened, ValueError for what it does not have."""
    return (_open_soapy if r.type == "soapy" else _open_uhd)(r, rate)


def _open_soapy(r: station.Radio, rate: float) -> Tuple[Any, Any]:
    s = r.sdr

    def of(kind: Any, gain_db: float, antenna: str) -> Any:
        return kind(s.args, rate, s.frequency_hz, s.lo_offset_hz, gain_db, antenna, s.channel,
                    s.clock_source, s.time_source)

    return (of(_hf.soapy_source, s.rx_gain_db, s.rx_antenna),
            of(_hf.soapy_sink, s.tx_gain_db, s.tx_antenna) if r.transmit else None)


def _open_uhd(r: station.Radio, rate: float) -> Tuple[Any, Any]:
    try:
        from gnuradio import uhd
    except ImportError:
        raise RuntimeError("type = 'uhd': GNU Radio is here without its UHD blocks") from None
    s = r.sdr
    stream = uhd.stream_args(cpu_format="fc32", channels=[s.channel])
    try:
        source = uhd.usrp_source(s.args, stream)
        sink = uhd.usrp_sink(s.args, stream) if r.transmit else None
    except (RuntimeError, IndexError) as error:
        raise RuntimeError(f"args = '{s.args}': UHD cannot open it: "
                           + str(error).replace("\n", " ")) from None
    _set_uhd(uhd, source, s, rate, s.rx_gain_db, s.rx_antenna)
    if sink is not None:
        _set_uhd(uhd, sink, s, rate, s.tx_gain_db, s.tx_antenna)
        if r.ptt.way == "uhd":
            _key_by_burst(sink, r.ptt)
    return source, sink


def _tune(block: Any, kind: str, s: station.Sdr) -> None:
    """To the frequency of s. Raises ValueError for what the device does not have, RuntimeError if
    it does not answer."""
    if kind == "soapy":
        block.set_frequency(s.frequency_hz)
        return
    from gnuradio import uhd
    span = block.get_freq_range()
    if not span.start() <= s.frequency_hz <= span.stop():
        raise ValueError(f"frequency_hz = {s.frequency_hz!r}: allowed with args = '{s.args}' are "
                         f"{span.start():.10g} to {span.stop():.10g} Hz")
    request = uhd.tune_request(s.frequency_hz, s.lo_offset_hz) if s.lo_offset_hz \
        else uhd.tune_request(s.frequency_hz)
    block.set_center_freq(request)
    if abs(block.get_center_freq() - s.frequency_hz) > _SAME_FREQUENCY_HZ:
        raise ValueError(f"frequency_hz = {s.frequency_hz:.10g}, lo_offset_hz = "
                         f"{s.lo_offset_hz:.10g}: the device went to "
                         f"{block.get_center_freq():.10g} Hz")


def _set_uhd(uhd: Any, block: Any, s: station.Sdr, rate: float, gain_db: float, antenna: str
             ) -> None:
    """Set a USRP Source or Sink. Raises ValueError for what the device does not have."""
    def refuse(name: str, value: Any, allowed: Any) -> None:
        raise ValueError(f"{name} = {value!r}: allowed with args = '{s.args}' are {allowed}")

    for name, value, there, put in (
            ("clock_source", s.clock_source, block.get_clock_sources,
             lambda v: block.set_clock_source(v)),
            ("time_source", s.time_source, block.get_time_sources,
             lambda v: block.set_time_source(v))):
        if value:
            if value not in there(0):
                refuse(name, value, ", ".join(there(0)) or "none")
            put(value)
    if antenna:
        if antenna not in block.get_antennas():
            refuse("antenna", antenna, ", ".join(block.get_antennas()) or "none")
        block.set_antenna(antenna)
    block.set_samp_rate(rate)
    if abs(block.get_samp_rate() / rate - 1) > _SAME_RATE:
        refuse("sample_rate", rate, f"{block.get_samp_rate():.10g} samples/s (nearest)")
    _tune(block, "uhd", s)
    gains = block.get_gain_range()
    if not gains.start() <= gain_db <= gains.stop():
        refuse("gain_db", gain_db, f"{gains.start():g} to {gains.stop():g} dB")
    block.set_gain(gain_db)


def _key_by_burst(sink: Any, ptt: station.Ptt) -> None:
    """A pin that the USRP itself drives as long as it transmits: it cannot stick."""
    bank, bit = ptt.device or "FP0", 1 << (ptt.pin - 1)
    banks = list(sink.get_gpio_banks(0))
    if bank not in banks:
        raise ValueError(f"ptt device = '{bank}': allowed are the device's banks of pins, "
                         f"{', '.join(banks) or 'none'}")
    idle, on = (bit, 0) if ptt.inverted else (0, bit)
    for attribute, value in (("CTRL", bit), ("DDR", bit), ("ATR_0X", idle), ("ATR_RX", idle),
                             ("ATR_TX", on), ("ATR_XX", on)):
        sink.set_gpio_attr(bank, attribute, value, bit)
