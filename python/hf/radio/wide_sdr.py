# SPDX-License-Identifier: GPL-3.0-or-later
"""An SDR that hears all channels of an ALE station at once, and transmits on one of them."""
import math
import time
from typing import Any, List, Optional, Sequence

from gnuradio import blocks, gr

from .. import hf_python as _hf
from .. import station
from .dial import SdrDial
from .rig import RigState
from .sdr import SdrRadio

#: Longest wait for the end of a transmission before the transmitter changes channels, s.
_TRANSMITTING_S = 2.0


class TransmitDial(SdrDial):
    """Channel of the transmitter. A transmission that has just ended may still be in the device's
    buffers: set() waits for its end, off the flowgraph's threads."""

    def set(self, frequency_hz: float = 0, mode: str = "", passband_hz: int = 0) -> RigState:
        """See SdrDial."""
        until = time.monotonic() + _TRANSMITTING_S
        while self._transmitting() and time.monotonic() < until:
            time.sleep(0.005)
        return super().set(frequency_hz, mode, passband_hz)


class WideSdrRadio(SdrRadio):
    """device - for each channel: rotator, from_sdr; adder, to_sdr, rotator - device.

    The device keeps its frequency. Rotators move the channels, so a change of the transmitter's
    channel takes no time in the device.
    """

    def __init__(self, tb: gr.top_block, r: station.Radio, dials_hz: Sequence[float],
                 modem_rate: float = 9600) -> None:
        """dials_hz: dial frequency of each channel, all within the device's band
        (station.Radio.check_band()). Raises as SdrRadio."""
        middle = r.sdr.frequency_hz
        self._turn = 2 * math.pi / (r.sdr.sample_rate or 5 * modem_rate)
        self._shifts = [hz + r.subcarrier_hz - middle for hz in dials_hz]
        self._rotator: Optional[Any] = None
        super().__init__(tb, r, modem_rate)
        self.rig = TransmitDial(dials_hz[0] + r.subcarrier_hz, r.subcarrier_hz, self._to_channel,
                                self._transmits, self.key)

    def _connect_receivers(self, tb: gr.top_block, rate: float, modem_rate: float) -> None:
        self.sources: List[Any] = [self.source]
        self.sources += [_hf.from_sdr(rate, modem_rate) for _ in self._shifts[1:]]
        for shift, source in zip(self._shifts, self.sources):
            tb.connect(self._device_in, blocks.rotator_cc(-self._turn * shift), source)

    def _connect_transmitter(self, tb: gr.top_block) -> None:
        # Only one channel has samples that are not zero, and tags.
        adder = blocks.add_cc()
        self._rotator = blocks.rotator_cc(self._turn * self._shifts[0])
        tb.connect(adder, self.sink, self._rotator, self._device_out)
        self.sinks = [(adder, k) for k in range(len(self._shifts))]

    def _no_transmitter(self) -> None:
        self.sinks = [blocks.null_sink(gr.sizeof_gr_complex) for _ in self._shifts]

    def _to_channel(self, channel_hz: float) -> None:
        shift = channel_hz - self.radio.sdr.frequency_hz
        if self._rotator is not None:
            self._rotator.set_phase_inc(self._turn * shift)
