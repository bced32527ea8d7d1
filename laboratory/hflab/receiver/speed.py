# SPDX-License-Identifier: GPL-3.0-or-later
"""How many times faster than real time the engines and two stations work, by processor
time, so that other work on the machine does not count."""
import math
import os
import tempfile
import time
from typing import List, NamedTuple, Optional, Tuple

import numpy as np

from gnuradio.hf import hf_python as hf
from gnuradio.hf.recordings import recording, wav
from gnuradio.hf.signals import demodulation
from gnuradio.hf.simulation import simulator
from . import ber, standard

SAMPLE_RATE = 9600
MODES = ["4539-75S", "4539-600S", "4539-2400L", "4539-3200S", "4539-9600S", "4539-9600VL"]
# Least speed at 9600 bit/s: normal and highest effort. One pass has no target.
TARGETS = {1: 60, 2: 10}
#: The fastest mode of a bandwidth, kHz, with the times real time that it should be received at,
#: 3 dB above the SNR at which ten bits of a million are wrong; the same at that SNR for 48 kHz.
WIDEBAND = {3: ("5069-3k-16000S", 60.0), 12: ("5069-12k-64000S", 15.0),
            24: ("5069-24k-120000S", 8.0), 48: ("5069-48k-240000S", 4.0)}
WIDEBAND_AT_THRESHOLD = {48: 2.0}
#: SNR of that threshold in the mode's own bandwidth, dB: the ideal receiver's of 256 points and
#: 0.7 dB, as performance_ideal_awgn.csv has it.
THRESHOLD_256_DB = 28.0
WIDEBAND_NOISE = {48: 15.0}
#: Target of waveform 0, which has none: that of the fastest.
WIDEBAND_WALSH = {bandwidth: target for bandwidth, (_, target) in WIDEBAND.items()}
WIDEBAND_MODULATOR = {48: 50.0}
WIDEBAND_LOCK_STEP = {48: 2.0}
#: Two whole stations in one thread at 4539-9600S, normal effort.
LOCK_STEP_TARGET = 100
AUDIO_RATE = 48000
#: Processor time of the way from a recording to the receiver, on top of the receiver's, %.
AUDIO_TARGET = 15


class Speed(NamedTuple):
    """Times real time; lock_step: two stations in one thread, both directions simulated.

    to_audio, from_audio: octets to audio of 48000 samples/s and back, by way of a recording;
    audio_extra: what the audio costs on top of the receiver, %.
    """

    mode: str
    modulator: float
    receiver: Tuple[float, ...]  # by effort: 0, 1, 2
    idle_receiver: float
    lock_step: float
    to_audio: float
    from_audio: float
    audio_extra: float


def octets_for(mode: "hf.mode", seconds: float) -> int:
    """Octets of a transmission of about this many seconds."""
    return max(int(mode.rate_bps * seconds / 8), 16)


def measure(text: str, seconds: float) -> Speed:
    """Measure one mode with about this many seconds of signal."""
    mode = hf.mode(text)
    payload = np.random.default_rng(1).bytes(octets_for(mode, seconds))
    begin = time.thread_time()
    samples = hf.modulate(mode, payload)
    modulator = time.thread_time() - begin
    # The end of a message is reported some symbols after its last sample.
    samples = np.concatenate([samples, np.zeros(SAMPLE_RATE // 2, np.complex64)])
    duration = len(samples) / SAMPLE_RATE

    rng = np.random.default_rng(2)
    noise = (rng.normal(size=len(samples)) + 1j * rng.normal(size=len(samples))) * 0.02
    heard = (samples + noise).astype(np.complex64)
    busy = []
    for effort in (0, 1, 2):
        receiver = hf.receiver(effort=effort)
        begin = time.thread_time()
        events = receiver.push(heard)
        busy.append(duration / (time.thread_time() - begin))
        if b"".join(e["octets"] for e in events if e["type"] == "octets") != payload:
            raise RuntimeError(f"{text}, effort {effort}: the receiver did not give back "
                               "what was sent")
    begin = time.thread_time()
    receiver.push(noise.astype(np.complex64))
    idle = time.thread_time() - begin

    begin = time.thread_time()
    result = simulator.simulate_real(text, octets_for(mode, seconds), 2042,
                                     limit_s=20 * seconds + 200)
    lock_step = result["end_s"] / (time.thread_time() - begin)
    return Speed(text, duration / modulator, tuple(busy), duration / idle, lock_step,
                 *measure_audio(heard, payload, modulator))


def measure_audio(heard: np.ndarray, payload: bytes, modulator: float
                  ) -> Tuple[float, float, float]:
    """The last three figures of Speed: baseband to audio, through a file, and back."""
    duration = len(heard) / SAMPLE_RATE
    begin = time.thread_time()
    up = hf.baseband_to_audio(AUDIO_RATE)
    audio = np.concatenate([up.push(heard), up.finish()])
    to_audio = time.thread_time() - begin + modulator
    peak = np.max(np.abs(audio))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "audio.wav")
        with open(path, "wb") as file:
            wav.write_wav(file, AUDIO_RATE, len(audio), [audio / (1.1 * peak)])
        octets = bytearray()
        begin = time.thread_time()
        demodulation.demodulate(recording.open_recording(path),
                                demodulation.Reception(octets.extend))
        from_audio = time.thread_time() - begin
        # The two shares by themselves: their difference would drown in the clock's noise.
        begin = time.thread_time()
        down = hf.audio_to_baseband(AUDIO_RATE, blank_bursts=True)
        baseband = [down.push(p) for p in recording.open_recording(path).pieces()]
        baseband.append(down.finish())
        front_end = time.thread_time() - begin
    if octets != payload:
        raise RuntimeError("the audio did not give back what was sent")
    receiver = hf.receiver()
    begin = time.thread_time()
    for piece in [*baseband, demodulation.silence()]:
        receiver.push(piece)
    engine = time.thread_time() - begin
    return duration / to_audio, duration / from_audio, 100 * front_end / engine


def table(rows: List[Speed]) -> str:
    """The rows as a Markdown table."""
    lines = ["| mode | modulator | receiver, effort 0 | 1 | 2 | receiver, noise | two stations "
             "| to 48 kHz audio | from 48 kHz audio | on top of the receiver |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for r in rows:
        cells = [f"{r.modulator:.0f}"]
        for effort, reached in enumerate(r.receiver):
            target = TARGETS.get(effort) if "-9600" in r.mode else None
            cells.append(f"{reached:.0f}" + (f" (target {target})" if target else ""))
        target = f" (target {LOCK_STEP_TARGET})" if r.mode == "4539-9600S" else ""
        cells += [f"{r.idle_receiver:.0f}", f"{r.lock_step:.0f}{target}", f"{r.to_audio:.0f}",
                  f"{r.from_audio:.0f}", f"{r.audio_extra:.1f} % (target {AUDIO_TARGET} %)"]
        lines.append(f"| {r.mode} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


class WidebandSpeed(NamedTuple):
    """Times real time of the fastest mode of a bandwidth, normal effort, all that is sent in the
    bandwidth listened for; receiver: at the threshold and 3 dB above. walsh: of waveform 0, long
    interleaver, on Poor at the SNR that it needs there, modulator and channel included."""

    mode: str
    bandwidth: int
    modulator: float
    receiver: Tuple[float, float]
    idle_receiver: float
    walsh: float
    lock_step: float


def measure_wideband(bandwidth: int, seconds: float) -> WidebandSpeed:
    """Measure a bandwidth, kHz, with about this many seconds of signal."""
    text, _ = WIDEBAND[bandwidth]
    mode = hf.mode(text)
    rate = 3200 * bandwidth
    payload = np.random.default_rng(1).bytes(octets_for(mode, seconds))
    begin = time.thread_time()
    samples = hf.modulate(mode, payload)
    modulator = time.thread_time() - begin
    samples = np.concatenate([samples, np.zeros(rate // 2, np.complex64)])
    duration = len(samples) / rate
    rng = np.random.default_rng(2)
    noise = (rng.normal(size=len(samples)) + 1j * rng.normal(size=len(samples)))
    # A sample is four times as wide as a symbol: 3200 samples/s for 800 Bd.
    power = float(np.mean(np.abs(samples[:-rate // 2]) ** 2)) * 3.2 / 2
    reached = []
    for above_db in (0.0, 3.0):
        level = math.sqrt(power / 10 ** ((THRESHOLD_256_DB + above_db) / 10))
        heard = (samples + level * noise).astype(np.complex64)
        receiver = hf.receiver(bandwidth=bandwidth)
        begin = time.thread_time()
        events = receiver.push(heard)
        reached.append(duration / (time.thread_time() - begin))
        got = b"".join(e["octets"] for e in events if e["type"] == "octets")
        if got[:len(payload) // 2] != payload[:len(payload) // 2] and above_db > 0:
            raise RuntimeError(f"{text}: the receiver did not give back what was sent")
    receiver = hf.receiver(bandwidth=bandwidth)
    begin = time.thread_time()
    receiver.push((level * noise).astype(np.complex64))
    idle = duration / (time.thread_time() - begin)
    begin = time.thread_time()
    result = simulator.simulate_real(text, octets_for(mode, seconds), 2042,
                                     limit_s=20 * seconds + 200)
    lock_step = result["end_s"] / (time.thread_time() - begin)
    return WidebandSpeed(text, bandwidth, duration / modulator, (reached[0], reached[1]), idle,
                         measure_walsh(bandwidth, seconds), lock_step)


def measure_walsh(bandwidth: int, seconds: float) -> float:
    """Times real time of waveform 0 on Poor: its words are sought at every delay."""
    row, = standard.rows([f"D{bandwidth}-0-POOR"])
    result = ber.trial(ber.Point(row.mode, f"{row.channel} snr={row.target_db:g}", seconds), 1)
    return result["air_s"] / result["cpu_s"]


def wideband_table(rows: List[WidebandSpeed]) -> str:
    """The rows as a Markdown table."""
    def cell(value: float, target: Optional[float]) -> str:
        return f"{value:.1f}" + (f" (target {target:g})" if target else "")

    lines = ["| mode | modulator | receiver, 28 dB (threshold) | 31 dB | noise | "
             "waveform 0, Poor | two stations |",
             "|---|---|---|---|---|---|---|"]
    for r in rows:
        k = r.bandwidth
        lines.append("| " + " | ".join([
            r.mode, cell(r.modulator, WIDEBAND_MODULATOR.get(k)),
            cell(r.receiver[0], WIDEBAND_AT_THRESHOLD.get(k)),
            cell(r.receiver[1], WIDEBAND[k][1]),
            cell(r.idle_receiver, WIDEBAND_NOISE.get(k)),
            cell(r.walsh, WIDEBAND_WALSH[k]),
            cell(r.lock_step, WIDEBAND_LOCK_STEP.get(k))]) + " |")
    return "\n".join(lines)
