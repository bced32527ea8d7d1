# SPDX-License-Identifier: GPL-3.0-or-later
"""Test signals over a radio loop, to set levels and delays."""
from dataclasses import dataclass, field
import math
import threading
import time
from typing import Any, Callable, List, Optional, Sequence, Tuple

from gnuradio import gr
import numpy as np
import pmt

from .. import hf_python as _hf
from .. import station

#: Test tones by kind, audio Hz.
TONES_HZ = {"single": (1500.0,), "two": (700.0, 1900.0)}
#: Rise and fall time of a test signal, s. Without it a click disturbs neighbouring channels.
_RAMP_S = 0.01


class Player(gr.sync_block):
    """Plays signals at chosen counts of received samples, and passes received samples on.

    One sample out for each sample in, with tags tx_sob and tx_eob, like hf.modem.
    """

    def __init__(self, heard: Optional[Callable[[np.ndarray], None]] = None) -> None:
        gr.sync_block.__init__(self, "hf_player", [np.complex64], [np.complex64])
        self._heard = heard
        self._lock = threading.Lock()
        self._waiting: List[Tuple[int, np.ndarray]] = []
        self.count = 0  #: samples so far

    def play(self, at: int, signal: np.ndarray) -> None:
        """Play a signal from sample count at. Signals must not overlap."""
        with self._lock:
            self._waiting.append((at, signal.astype(np.complex64)))

    def work(self, input_items: Sequence[np.ndarray], output_items: Sequence[np.ndarray]) -> int:
        """See gr.sync_block."""
        x, y = input_items[0], output_items[0]
        begin, end = self.count, self.count + len(y)
        y[:] = 0
        with self._lock:
            for at, signal in self._waiting:
                first, last = max(at, begin), min(at + len(signal), end)
                if first < last:
                    y[first - begin:last - begin] = signal[first - at:last - at]
                if begin <= at < end:
                    self.add_item_tag(0, at, pmt.intern("tx_sob"), pmt.PMT_T)
                if begin < at + len(signal) <= end:
                    self.add_item_tag(0, at + len(signal) - 1, pmt.intern("tx_eob"), pmt.PMT_T)
            self._waiting = [(a, s) for a, s in self._waiting if a + len(s) > end]
        if self._heard is not None:
            self._heard(x[:len(y)])
        self.count = end
        return len(y)

    def done(self) -> bool:
        """Whether everything was played."""
        with self._lock:
            return not self._waiting


def tone(kind: str, seconds: float, rate: float, subcarrier_hz: float, level: float
         ) -> np.ndarray:
    """A test tone as complex baseband: kind single or two, highest magnitude level."""
    t = np.arange(int(seconds * rate)) / rate
    hz = TONES_HZ[kind]
    x = sum(np.exp(2j * np.pi * (f - subcarrier_hz) * t) for f in hz) * (level / len(hz))
    ramp = min(int(_RAMP_S * rate), len(x) // 2)
    rise = 0.5 - 0.5 * np.cos(np.pi * np.arange(ramp) / ramp)
    x[:ramp] *= rise
    x[len(x) - ramp:] *= rise[::-1]
    return x


@dataclass
class Calibration:
    """Measurements over a loop from playback to capture. Lists are empty if nothing came back."""

    sent: int = 0
    delays_ms: List[float] = field(default_factory=list)   #: from this program to the air and back
    snr_db: List[float] = field(default_factory=list)
    offset_hz: List[float] = field(default_factory=list)
    peak_db: float = -200.0         #: of the captured audio, dB of full scale
    clipped: int = 0                #: clipped samples
    key_ms: Optional[float] = None  #: longest time that the rig took to key
    ppm: Optional[float] = None     #: playback's clock against capture's
    #: From the end of a reception on the air to the first sample of the answer on the air, without
    #: the decoder's delay and the key's lead. It is the longest time to the air and back.
    turnaround_ms: Optional[float] = None


def calibration_mode(bandwidth_khz: int) -> str:
    """QPSK at rate 3/4 with the short interleaver, which every usable loop carries."""
    if bandwidth_khz == 3:
        return "4539-3200S"
    return next(str(m) for m in _hf.mode.all() if m.bandwidth_hz == 1000 * bandwidth_khz
                and m.waveform == 6 and m.interleaver == "S" and m.constraint_length == 7)


def calibrate(tb: gr.top_block, radio: Any, bandwidth_khz: int, bursts: int,
              progress: Callable[[int], None]) -> Calibration:
    """Send short transmissions over a radio and time their return.

    tb: flowgraph of the radio, not running. It is stopped on return.
    bandwidth_khz: of the channel.
    progress: called with the number of transmissions sent.
    Raises RuntimeError if no samples arrive.
    """
    result = Calibration()
    rate = 3200.0 * bandwidth_khz
    receiver = _hf.receiver(bandwidth=bandwidth_khz)
    found: List[Tuple[int, float, float]] = []

    def heard(x: np.ndarray) -> None:
        for event in receiver.push(x):
            if event["type"] == "start":
                found.append((round(event["time"] * rate), event["snr_db"],
                              event["freq_offset_hz"]))

    player = Player(heard)
    player.set_max_output_buffer(512)
    tb.connect(radio.source, player, radio.sink)
    signal = np.asarray(_hf.modulate(calibration_mode(bandwidth_khz),
                                     b"calibration of a radio loop"))
    signal = signal * (radio.level / np.max(np.abs(signal)))
    gap = int(2.5 * rate)
    starts = [int(2 * rate) + k * (len(signal) + gap) for k in range(bursts)]
    for at in starts:
        player.play(at, signal)
    tb.start()
    try:
        last, since = -1, time.monotonic()
        while player.count < starts[-1] + len(signal) + gap:
            if player.count != last:
                last, since = player.count, time.monotonic()
            elif time.monotonic() > since + 5:
                raise RuntimeError("the device delivers no samples")
            progress(sum(player.count >= at for at in starts))
            result.peak_db = max(result.peak_db, radio.source.state().peak_db)
            time.sleep(0.1)
    finally:
        tb.stop()
        radio.close()
        tb.wait()
    result.sent, result.clipped = bursts, radio.source.state().clipped
    times = []
    for at in starts:
        near = [f for f in found if at <= f[0] < at + gap]
        if near:
            sample, snr_db, offset_hz = near[0]
            times.append((at / rate, (sample - at) / rate))
            result.delays_ms.append(1e3 * times[-1][1])
            result.snr_db.append(snr_db)
            result.offset_hz.append(offset_hz)
    if times:
        result.turnaround_ms = max(result.delays_ms) - 1e3 * radio.radio.ptt.lead_s
    if len(times) >= 3:
        result.ppm = 1e6 * float(np.polyfit(*zip(*times), 1)[0])
    if radio.key is not None and radio.key.latency_ms is not None:
        result.key_ms = radio.key.highest_latency_ms
    return result


def table(r: station.Radio, c: Calibration) -> str:
    """[data_link] and [radio] for a station file, with the results of the calibration."""
    lines = []
    if c.delays_ms:  # an answer keyed too soon is not heard
        lines += ["[data_link]", f"turnaround_s = {math.ceil(max(c.delays_ms) / 10) / 100:.2f}"
                  "  # total delay to the antenna and back", ""]
    lines += ["[radio]", f'type = "{r.type}"', f'capture = "{r.capture}"',
              f'playback = "{r.playback}"', f"audio_rate = {r.audio_rate}",
              f"subcarrier_hz = {r.subcarrier_hz:g}", f"level_db = {r.level_db:g}"]
    lines.append(f"buffer_s = {r.buffer_s:g}")
    if c.delays_ms:
        lines.append(f"latency_s = {max(0.0, 1e-3 * max(c.delays_ms) - r.buffer_s):.3f}"
                     "  # longest delay to the antenna")
    lines += ["", "[radio.ptt]", f'way = "{r.ptt.way}"']
    if r.ptt.way == "rigctld":
        lines += [f'host = "{r.ptt.host}"', f"port = {r.ptt.port}",
                  f"data = {str(r.ptt.data).lower()}"]
    elif r.ptt.way in ("serial", "cm108", "gpio"):
        lines.append(f'device = "{r.ptt.device}"')
        lines.append({"serial": f'line = "{r.ptt.line}"', "cm108": f"pin = {r.ptt.pin}",
                      "gpio": f"gpio_line = {r.ptt.gpio_line}"}[r.ptt.way])
        if r.ptt.inverted:
            lines.append("inverted = true")
    elif r.ptt.way == "tone":
        lines.append(f"tone_hz = {r.ptt.tone_hz:g}")
    elif r.ptt.way == "command":
        lines.append("command = [" + ", ".join(f'"{w}"' for w in r.ptt.command) + "]")
    lead = r.ptt.lead_s if c.key_ms is None else max(r.ptt.lead_s, 1.5e-3 * c.key_ms)
    lines += [f"lead_s = {lead:.3f}", f"tail_s = {r.ptt.tail_s:.3f}"]
    if r.rig is not None:
        lines += ["", "[radio.rig]", f"frequency_hz = {r.rig.frequency_hz:.0f}",
                  f'mode = "{r.rig.mode}"', f"passband_hz = {r.rig.passband_hz}"]
    return "\n".join(lines)
