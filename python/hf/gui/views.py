# SPDX-License-Identifier: GPL-3.0-or-later
"""Displays for flowgraphs, built from GNU Radio's Qt sinks. They show a receiver's port "blocks",
one message for each interleaver block, and a spectrum. They need a Qt application, as the
Companion makes one."""
from collections import deque
from typing import Any, Deque, Dict

from gnuradio import blocks, gr, qtgui
from gnuradio.fft import window
import pmt

#: Colours of curves, one for each kind of display.
BLUE, ORANGE = "#2a6fdb", "#d9730d"

#: Blocks shown by a history.
HISTORY = 120


class _View(gr.hier_block2):
    """A sink with its widget, fed by the port "blocks"."""

    def __init__(self, name: str, sink: Any, convert: Any = None) -> None:
        gr.hier_block2.__init__(self, name, gr.io_signature(0, 0, 0), gr.io_signature(0, 0, 0))
        self.message_port_register_hier_in("blocks")
        # Keep references, or Python deletes these blocks.
        self.sink, self.convert = sink, convert
        if convert is None:
            self.msg_connect(self, "blocks", sink, "in")
        else:
            self.msg_connect(self, "blocks", convert, "blocks")
            self.msg_connect(convert, "out", sink, "in")

    def qwidget(self) -> Any:
        """The widget for a window."""
        return self.sink.qwidget()


class _Curve(gr.basic_block):
    """Turns blocks into the points of a curve."""

    def __init__(self) -> None:
        gr.basic_block.__init__(self, name="hf_curve", in_sig=None, out_sig=None)
        self.message_port_register_in(pmt.intern("blocks"))
        self.message_port_register_out(pmt.intern("out"))
        self.set_msg_handler(pmt.intern("blocks"), self._handle)

    def _handle(self, message: Any) -> None:
        if not pmt.is_pair(message) or not pmt.is_dict(pmt.car(message)):
            return
        points = self.points(pmt.to_python(pmt.car(message)))
        if points:
            self.message_port_pub(pmt.intern("out"), pmt.cons(
                pmt.make_dict(), pmt.init_f32vector(len(points), points)))

    def points(self, block: Dict[str, Any]) -> "list[float]":
        """The new curve after a block, given by its keys. Empty: unchanged."""
        raise NotImplementedError


class _Profile(_Curve):
    def points(self, block: Dict[str, Any]) -> "list[float]":
        return [float(x) for x in block.get("profile", ())]


class _History(_Curve):
    def __init__(self, key: str) -> None:
        _Curve.__init__(self)
        self._key = key
        self._values: Deque[float] = deque(maxlen=HISTORY)

    def points(self, block: Dict[str, Any]) -> "list[float]":
        if self._key not in block:
            return []
        self._values.append(float(block[self._key]))
        return list(self._values)


class constellation(_View):
    """Equalised symbols of the last interleaver block, PSK without scrambling. name: title."""

    def __init__(self, name: str = "Equalised symbols") -> None:
        sink = qtgui.const_sink_c(2048, name, 0, None)
        sink.set_update_time(0.1)
        sink.set_x_axis(-1.5, 1.5)
        sink.set_y_axis(-1.5, 1.5)
        sink.enable_grid(True)
        sink.disable_legend()
        sink.set_line_style(0, 0)
        sink.set_line_marker(0, 0)
        sink.set_line_color(0, BLUE)
        _View.__init__(self, "hf_view_constellation", sink)


class impulse_response(_View):
    """Share of the power at each delay during the last interleaver block. name: title;
    bandwidth: of the channel, kHz."""

    def __init__(self, name: str = "Channel impulse response", bandwidth: int = 3) -> None:
        half_symbols = 1600.0 * bandwidth  # a second
        sink = qtgui.time_sink_f(64, half_symbols, name, 0, None)
        sink.set_update_time(0.1)
        sink.set_y_axis(0, 1)
        sink.set_y_label("Share of power", "")
        sink.enable_grid(True)
        sink.disable_legend()
        sink.enable_stem_plot(True)
        sink.set_line_color(0, BLUE)
        _View.__init__(self, "hf_view_impulse_response", sink, _Profile())


class history(_View):
    """One quantity over the last 120 interleaver blocks. key: snr_db, doppler_hz,
    delay_spread_ms, freq_offset_hz, coded_ber or quality; name: title, by default from key."""

    #: Title, and initial range of the axis.
    KEYS = {"snr_db": ("SNR (dB)", -10.0, 40.0),
            "doppler_hz": ("Doppler spread (Hz)", 0.0, 5.0),
            "delay_spread_ms": ("Delay spread (ms)", 0.0, 6.0),
            "freq_offset_hz": ("Frequency offset (Hz)", -75.0, 75.0),
            "coded_ber": ("Coded bits corrected (share)", 0.0, 0.5),
            "quality": ("Quality of the decoder (0 to 1)", 0.0, 1.0)}

    def __init__(self, key: str = "snr_db", name: str = "") -> None:
        if key not in self.KEYS:
            raise ValueError(f"key {key}: allowed are {', '.join(self.KEYS)}")
        title, least, most = self.KEYS[key]
        sink = qtgui.time_sink_f(HISTORY, 1.0, name or title, 0, None)
        sink.set_update_time(0.1)
        sink.set_y_axis(least, most)
        sink.set_y_label(title, "")
        sink.enable_grid(True)
        sink.disable_legend()
        sink.set_line_color(0, ORANGE)
        sink.set_line_marker(0, 0)
        _View.__init__(self, "hf_view_history", sink, _History(key))


class waterfall(gr.hier_block2):
    """Spectrum over time of complex baseband. name: title; bandwidth: of the channel, kHz."""

    def __init__(self, name: str = "Waterfall", bandwidth: int = 3) -> None:
        gr.hier_block2.__init__(self, "hf_view_waterfall",
                                gr.io_signature(1, 1, gr.sizeof_gr_complex),
                                gr.io_signature(0, 0, 0))
        self.sink = qtgui.waterfall_sink_c(1024, window.WIN_BLACKMAN_hARRIS, 0,
                                           3200.0 * bandwidth, name, 1, None)
        self.sink.set_update_time(0.1)
        self.sink.enable_grid(True)
        self.sink.disable_legend()
        self.sink.set_intensity_range(-90, -20)
        # The sink takes 1024 samples at once, the buffer of a block before it may be smaller.
        self.connect(self, blocks.copy(gr.sizeof_gr_complex), self.sink)

    def qwidget(self) -> Any:
        """The widget for a window."""
        return self.sink.qwidget()
