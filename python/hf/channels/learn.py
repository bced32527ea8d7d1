# SPDX-License-Identifier: GPL-3.0-or-later
"""Estimates the channel of a received transmission and writes it to a channel file."""
import math
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from .. import hf_python as _hf
from ..pictures import style
from ..recordings import channel_file, recording, sigmf
from ..signals import demodulation
from ..system import output
from . import tap_estimator

#: Called with the share of the work that is done.
Progress = Callable[[float], object]
#: Share of the time for receiving, about. The rest is for the estimate.
LISTENING = 0.5
#: Points of a gain in a picture, at most.
MAX_POINTS = 3000
#: Longest recording, s. Its samples are kept in memory.
LONGEST_S = 1800.0
#: Shortest signal to learn a channel from, s.
SHORTEST_S = 1.0


class Heard(NamedTuple):
    """A transmission. received: its samples in the recording, 4 per symbol; sent: the same as
    transmitted, mean power 1; blocks: first samples of its blocks; snr_db: in the bandwidth;
    offset_hz: of the carrier; start_s: time in the recording."""

    mode: str
    received: np.ndarray
    sent: np.ndarray
    blocks: np.ndarray
    snr_db: float
    offset_hz: float
    start_s: float


class _Transmission:
    """Events of one transmission."""

    def __init__(self, start: Dict[str, Any]) -> None:
        self.start = start
        self.blocks: List[Dict[str, Any]] = []
        self.complete = False

    @property
    def octets(self) -> bytes:
        return b"".join(b["octets"] for b in self.blocks)


def _listen(source: recording.Recording, subcarrier: float, bandwidth: int, progress: Progress
            ) -> Tuple[np.ndarray, List[_Transmission]]:
    """The samples of the modem, and the transmissions in them."""
    rate = demodulation.baseband_rate(bandwidth)
    receiver = _hf.receiver(effort=2, bandwidth=bandwidth)
    converter = _hf.audio_to_baseband(source.rate, subcarrier, rate)
    kept: List[np.ndarray] = []
    found: List[_Transmission] = []
    count = 0

    def take(samples: np.ndarray) -> None:
        nonlocal count
        kept.append(samples)
        count += len(samples)
        if count > LONGEST_S * rate:
            raise recording.RecordingError(f"{source.name}: longer than {LONGEST_S:g} s")
        handle(receiver.push(samples))

    def handle(events: List[Dict[str, Any]]) -> None:
        for event in events:
            if event["type"] == "start":
                found.append(_Transmission(event))
            elif event["type"] == "octets":
                found[-1].blocks.append(event)
            else:
                found[-1].complete = event["reason"] == "eom"

    for piece in source.pieces():
        take(converter.push(piece))
        progress(LISTENING * source.share())
    take(converter.finish())
    take(demodulation.silence(bandwidth))
    return np.concatenate(kept), found


def heard(source: recording.Recording, subcarrier: float, bandwidth: int,
          progress: Progress = lambda _: None) -> Heard:
    """The longest transmission of a recording. Raises RecordingError if none is long
    enough, and ValueError for a wrong bandwidth, rate or subcarrier."""
    rate = demodulation.baseband_rate(bandwidth)
    samples, found = _listen(source, subcarrier, bandwidth, progress)
    found = [t for t in found if t.blocks]
    if not found:
        raise recording.RecordingError(f"{source.name}: no transmission is decoded in "
                                       f"{len(samples) / rate - demodulation.FLUSH_S:.1f} s")
    best = max(found, key=lambda t: t.blocks[-1]["time"] - t.blocks[0]["time"])
    mode = _hf.mode(best.start["mode"])
    timing = _hf.timing(mode)
    times = np.array([b["time"] for b in best.blocks])
    nominal = np.array([timing.block_begin(k) for k in range(len(times))])
    sent = _hf.modulate(mode, best.octets, eom=best.complete)
    sent = sent / math.sqrt(mode.mean_power)
    # sample_of_symbol: the pulse reaches 10 symbols to either side
    first = round((times[0] - nominal[0]) * rate) - 40
    last = first + len(sent) - 80
    if not best.complete:
        last = first + 40 + round((timing.block_begin(len(times))) * rate)
    begin, end = max(0, first + 40), min(len(samples), last)
    snrs = [b["snr_db"] for b in best.blocks]
    if end - begin < SHORTEST_S * rate:
        raise recording.RecordingError(f"{source.name}: the longest transmission lasts "
                                       f"{(end - begin) / rate:.1f} s; a channel is learned from "
                                       f"{SHORTEST_S:g} s or more")
    return Heard(str(mode), samples[begin:end], sent[begin - first:end - first],
                 np.round((nominal - nominal[0]) * rate).astype(int)
                 + round(times[0] * rate) - begin,
                 float(np.median(snrs)), best.start["freq_offset_hz"], begin / rate)


class Learned(NamedTuple):
    """The channel of a transmission. seconds: its duration; start_s: its time in the recording;
    snr_db: in the bandwidth."""

    mode: str
    seconds: float
    start_s: float
    snr_db: float
    channel: tap_estimator.Estimate


def learned(h: Heard) -> Learned:
    """The channel of a transmission. Raises ValueError if no channel is found."""
    mode = _hf.mode(h.mode)
    rate = 4.0 * _hf.timing(mode).symbol_rate_bd
    turns = h.offset_hz / rate * np.arange(len(h.received))
    received = (h.received * np.exp(-2j * np.pi * turns)).astype(np.complex64)
    power = float(np.mean(np.abs(received) ** 2))
    noise = power / 10 ** (h.snr_db / 10) * rate / mode.bandwidth_hz
    got = tap_estimator.estimate(h.sent, received, rate, h.blocks, noise)
    got = got._replace(offset_hz=got.offset_hz + h.offset_hz)
    snr = got.power / (got.noise_per_hz * mode.bandwidth_hz)
    return Learned(h.mode, len(h.received) / rate, h.start_s, 10 * math.log10(snr), got)


def write(path: str, source: recording.Recording, what: Learned) -> None:
    """Write a channel file. Raises output.OutputError."""
    c = what.channel
    channel_file.write(path, c.rate, list(c.delays_s), c.gains,
                       f"channel of {what.mode} in {source.name}", {
                           "hf:source": source.name,
                           "hf:mode": what.mode,
                           "hf:start_s": round(what.start_s, 6),
                           "hf:snr_db": round(what.snr_db, 2),
                           "hf:spreads_hz": [round(float(s), 4) for s in c.spreads_hz],
                           "hf:shifts_hz": [round(float(s), 4) for s in c.shifts_hz],
                           "hf:offset_hz": round(c.offset_hz, 4),
                           "hf:clock_ppm": round(c.clock_ppm, 4),
                           "hf:used": round(c.used, 4)})


def table(what: Learned) -> str:
    """The paths as a Markdown table."""
    c = what.channel
    lines = ["| delay ms | power dB | spread Hz | shift Hz |", "|---|---|---|---|"]
    for delay, power, spread, shift in zip(c.delays_s, np.mean(np.abs(c.gains) ** 2, axis=0),
                                           c.spreads_hz, c.shifts_hz):
        lines.append(f"| {1e3 * delay:.3f} | {10 * math.log10(power):.1f} | {spread:.2f} | "
                     f"{shift:+.3f} |")
    return "\n".join(lines)


def draw(what: Learned, path: str) -> None:
    """Draw delay, power and gains over time of the paths. The format follows from the name."""
    c = what.channel
    delays_ms = 1e3 * np.asarray(c.delays_s)
    powers_db = 10 * np.log10(np.mean(np.abs(c.gains) ** 2, axis=0))
    with style.figure(1, 2, height=4.6, width_ratios=[1, 2]) as (figure, (left, right)):
        figure.suptitle(f"Learned from {what.seconds:.1f} s of {what.mode}: SNR "
                        f"{what.snr_db:.1f} dB, {len(delays_ms)} paths")
        floor = min(-30.0, float(np.min(powers_db)) - 3)
        colours = style.colours(len(delays_ms))
        for delay, power, colour in zip(delays_ms, powers_db, colours):
            left.vlines([delay], [floor], [power], color=colour, linewidth=3)
            left.plot([delay], [power], "o", color=colour)
        left.set(xlabel="delay, ms", ylabel="mean power, dB", ylim=(floor, 3))
        left.margins(x=0.15)
        _gains(right, c, delays_ms, colours)
        for axis in (left, right):
            axis.grid(True)
        style.save(figure, path)


def _gains(axis: Any, c: tap_estimator.Estimate, delays_ms: np.ndarray, colours: List[Any]
           ) -> None:
    time_s = np.arange(len(c.gains)) / c.rate
    step = -(-len(time_s) // MAX_POINTS)
    for k, (delay, colour) in enumerate(zip(delays_ms, colours)):
        gain_db = 20 * np.log10(np.abs(c.gains[::step, k]) + 1e-6)
        axis.plot(time_s[::step], gain_db, color=colour, label=f"{delay:.2f} ms")
    axis.set(xlabel="time, s", ylabel="gain, dB", ylim=(-40, 12))
    style.legend_beside(axis, title="delay")


def learn(path: str, target: str, subcarrier: Optional[float] = None, bandwidth: int = 3,
          force: bool = False, progress: Progress = lambda _: None) -> Learned:
    """Learn the channel of the longest transmission in a recording and write it to a channel file.

    path: WAV or SigMF; target: the channel file; subcarrier: centre of the signal, Hz, None for
    the usual one; bandwidth: of the channel, kHz; force: replace files at target that hf has not
    written; progress: called with the share that is done, 0 to 1. Raises ValueError,
    RecordingError, output.OutputError.
    """
    source = recording.open_recording(path)
    output.check_all(sigmf.sigmf_files(target), source.paths, force)
    if subcarrier is None:
        subcarrier = 0.0 if source.complex_samples else demodulation.usual_subcarrier(bandwidth)
    result = learned(heard(source, subcarrier, bandwidth, progress))
    write(target, source, result)
    return result
