# SPDX-License-Identifier: GPL-3.0-or-later
"""What interferers, radios and codecs cost: octets received, and processor time."""
import io
import time
from typing import Callable, Dict, Iterator, List, NamedTuple, Tuple, Union

import numpy as np
from scipy import signal
import soundfile

from gnuradio.hf import hf_python as hf
from gnuradio.hf.signals import demodulation

RATE = 9600
SUBCARRIER_HZ = 1800.0
#: Modes, and the SNR of each without a disturbance, dB in 3 kHz.
MODES = {"4539-3200S": 12.0, "4539-9600S": 25.0}
LEVELS_DB = [-15.0, -10.0, 0.0, 10.0, 20.0]
#: Least speed of the receiver, times real time.
TARGET = 40.0
Samples = np.ndarray


class Cost(NamedTuple):
    """Share of octets that were right, and speed of the receiver, times real time. level: of the
    interferer, dB over the signal while it is on, or how much of something else."""

    mode: str
    kind: str
    level: str
    right: float
    speed: float


def _speech(times: Samples, rng: np.random.Generator) -> Samples:
    """Noise of 400 to 1200 Hz whose level changes as slowly as that of syllables."""
    band = signal.butter(2, [400, 1200], "bandpass", fs=RATE)
    syllables = np.abs(signal.lfilter([0.002], [1, -0.998], rng.normal(size=len(times))))
    return signal.lfilter(*band, rng.normal(size=len(times))) * syllables


def _ssb_speech(times: Samples, rng: np.random.Generator) -> Samples:
    return signal.hilbert(_speech(times, rng)) * np.exp(-2j * np.pi * SUBCARRIER_HZ * times)


def _am_speech(times: Samples, rng: np.random.Generator) -> Samples:
    speech = _speech(times, rng)
    return (1 + 0.9 * speech / np.max(np.abs(speech))) * np.exp(2j * np.pi * 300 * times)


def _hum(times: Samples, rng: np.random.Generator) -> Samples:
    """Harmonics of 50 Hz from 300 to 2950 Hz of audio, falling by 6 dB an octave."""
    return sum((np.exp(2j * np.pi * (50 * k - SUBCARRIER_HZ) * times + 1j * k) / k
                for k in range(6, 60)), np.zeros(len(times)))


def _tones(count: int, baud: float, apart_hz: float) -> Callable[..., Samples]:
    """Random tones without steps of the phase."""
    def make(times: Samples, rng: np.random.Generator) -> Samples:
        symbol = (times * baud).astype(int)
        hz = apart_hz * (rng.integers(0, count, symbol[-1] + 1) - count / 2)[symbol]
        return np.exp(2j * np.pi * np.cumsum(hz) / RATE)
    return make


def _ft8(times: Samples, rng: np.random.Generator) -> Samples:
    """Eight tones 6.25 Hz apart, 12.64 s of every 15 s."""
    return _tones(8, 6.25, 6.25)(times, rng) * (times % 15 < 12.64) * np.exp(
        2j * np.pi * 300 * times)


def _two(times: Samples, rng: np.random.Generator) -> Samples:
    """Speech and a carrier of the same power."""
    speech = _ssb_speech(times, rng)
    return speech / np.sqrt(np.mean(np.abs(speech) ** 2)) + np.exp(2j * np.pi * 433 * times)


def _power_line(times: Samples, rng: np.random.Generator) -> Samples:
    """100 pulses of one sample (0.1 ms) per second."""
    return (np.arange(len(times)) % (RATE // 100) == 0) * np.exp(
        2j * np.pi * rng.random(len(times)))


def _lightning(times: Samples, rng: np.random.Generator) -> Samples:
    """Two crashes of 50 ms per second at random times."""
    begin = (rng.random(len(times)) < 2 / RATE).astype(float)
    on = np.convolve(begin, np.ones(RATE // 20))[:len(times)] > 0
    return on * (rng.normal(size=len(times)) + 1j * rng.normal(size=len(times)))


def _sweeps(hz_per_s: float, period_s: float) -> Callable[..., Samples]:
    """Sweeps that cross the channel."""
    def make(times: Samples, rng: np.random.Generator) -> Samples:
        t = times % period_s - period_s / 2
        return (np.abs(hz_per_s * t) < 1500) * np.exp(1j * np.pi * hz_per_s * t ** 2)
    return make


def _next_channel(times: Samples, rng: np.random.Generator) -> Samples:
    """3200S 3 kHz higher."""
    octets = rng.bytes(int(times[-1] * 400) + 400)
    return hf.modulate(hf.mode("4539-3200S"), octets)[:len(times)] * np.exp(
        2j * np.pi * 3000 * times)


def _clipped(over_db: float) -> Callable[[Samples], Samples]:
    """Clipped this much above its mean power, as audio."""
    def change(heard: Samples) -> Samples:
        audio = _audio(heard)
        most = np.sqrt(np.mean(audio ** 2) * 10 ** (over_db / 10))
        return _complex(np.clip(audio, -most, most))
    return change


def _coded(kind: str, subtype: str) -> Callable[[Samples], Samples]:
    """Through a codec at 12000 samples/s, with peaks at half scale."""
    def change(heard: Samples) -> Samples:
        audio = signal.resample_poly(_audio(heard), 5, 4)
        file = io.BytesIO()
        soundfile.write(file, audio / (2 * np.max(np.abs(audio))), RATE * 5 // 4, subtype, None,
                        kind)
        file.seek(0)
        return _complex(signal.resample_poly(soundfile.read(file)[0], 4, 5))
    return change


def _aircraft(heard: Samples) -> Samples:
    """A second path, 6 dB weaker and 1 ms later, whose Doppler shift goes from 20 to -20 Hz."""
    hz = np.linspace(20, -20, len(heard))
    late = np.concatenate([np.zeros(RATE // 1000), heard])[:len(heard)]
    return heard + 0.5 * late * np.exp(2j * np.pi * np.cumsum(hz) / RATE)


def _audio(heard: Samples) -> Samples:
    turn = np.exp(2j * np.pi * SUBCARRIER_HZ / RATE * np.arange(len(heard)))
    return np.real(heard * turn)


def _complex(audio: Samples) -> Samples:
    turn = np.exp(-2j * np.pi * SUBCARRIER_HZ / RATE * np.arange(len(audio)))
    return signal.hilbert(audio) * turn


#: Interferers that are made here, and those of the simulated channel by their words.
MADE: Dict[str, Callable[[Samples, np.random.Generator], Samples]] = {
    "hum": _hum, "speech": _ssb_speech, "AM with speech": _am_speech,
    "eight-tone FSK": _tones(8, 20, 100), "FT8": _ft8, "speech and a carrier": _two,
    "power line": _power_line, "lightning": _lightning, "radar": _sweeps(400e3, 0.05),
    "sounder": _sweeps(100e3, 5), "next channel": _next_channel}
WORDS = {"carrier": "carriers=433:{}", "Morse code": "morse=500:{}",
         "teletype 170 Hz": "rtty=-400:{}", "teletype 850 Hz": "rtty=-400:{}:50:850"}
KINDS = [*WORDS, *MADE]
#: What else changes a signal: words of the simulated channel or a function, by how much.
CHANGES: Dict[str, Dict[str, Union[str, Callable[[Samples], Samples]]]] = {
    "none": {"": ""},
    "clipping above the mean": {f"{db} dB": _clipped(db) for db in (6, 3, 0)},
    "AGC": {f"{s} s": f"agc={s}" for s in (1, 0.1)},
    "codec": {"G.711": _coded("WAV", "ULAW"), "IMA ADPCM": _coded("WAV", "IMA_ADPCM"),
              "MP3": _coded("MP3", "MPEG_LAYER_III"), "Vorbis": _coded("OGG", "VORBIS")},
    "echo of -6 dB": {f"{ms} ms": f"paths=0:0:0,{ms}:-6:0" for ms in (2, 5, 8, 12)},
    "aircraft path of -6 dB": {"20 to -20 Hz": _aircraft},
    "frequency offset": {f"{hz} Hz": f"offset={hz}" for hz in (40, 75, 100)},
    "sample clock": {f"{ppm} ppm": f"clock={ppm}" for ppm in (20, 100)}}


def measure(mode: str, kind: str, level: str, seconds: float = 30.0) -> Cost:
    """One disturbance: a name of KINDS with its power over that of the signal, dB, or one of
    CHANGES with how much of it."""
    about = hf.mode(mode)
    octets = np.random.default_rng(7).bytes(int(about.rate_bps * seconds / 8))
    quiet = np.zeros(RATE, np.complex64)
    sent = np.concatenate([quiet, hf.modulate(about, octets), quiet])
    change = CHANGES[kind][level] if kind in CHANGES else WORDS.get(kind, "").format(
        level.lstrip("+"))
    channel = "" if isinstance(change, str) and "paths=" in change else "awgn "
    words = f"{channel}snr={MODES[mode]} " + (change if isinstance(change, str) else "")
    heard = hf.channel_model(words, 3, about.mean_power).process(sent)
    if kind in MADE:
        other = MADE[kind](np.arange(len(heard)) / RATE, np.random.default_rng(5))
        on = np.abs(other) > 0
        other = other * np.sqrt(about.mean_power * 10 ** (float(level) / 10) /
                                np.mean(np.abs(other[on]) ** 2))
        heard = heard + other
    elif callable(change):
        heard = change(heard)
    receiver, got = hf.receiver(), bytearray()
    begin = time.thread_time()
    for piece in (heard.astype(np.complex64), demodulation.silence()):
        for event in receiver.push(piece):
            got += event["octets"] if event["type"] == "octets" else b""
    speed = len(heard) / RATE / (time.thread_time() - begin)
    right = sum(a == b for a, b in zip(octets, got)) / len(octets)
    return Cost(mode, kind, level, right, speed)


def cases() -> Iterator[Tuple[str, str, str]]:
    """All rows: mode, kind and level of measure()."""
    for kind in KINDS:
        yield from ((mode, kind, f"{db:+g}") for mode in MODES for db in LEVELS_DB)
    for kind, how in CHANGES.items():
        yield from ((mode, kind, level) for mode in MODES for level in how)


def table(rows: List[Cost]) -> str:
    """The rows as two Markdown tables: right octets, %, and times real time."""
    measured = {row[:3]: f"{100 * row.right:.0f} %, {row.speed:.0f}" for row in rows}
    kinds = list(dict.fromkeys((row.kind, row.mode) for row in rows if row.kind in KINDS))
    levels = list(dict.fromkeys(row.level for row in rows if row.kind in KINDS))
    lines = ["| interferer | mode | " + " | ".join(f"{level} dB" for level in levels) + " |",
             "|---|---|" + "---|" * len(levels)]
    for kind, mode in kinds:
        cells = [measured.get((mode, kind, level), "") for level in levels]
        lines.append(f"| {kind} | {mode} | " + " | ".join(cells) + " |")
    others = [row for row in rows if row.kind in CHANGES]
    if others:
        lines += ["", "| disturbance | how much | " + " | ".join(MODES) + " |",
                  "|---|---|" + "---|" * len(MODES)]
    for kind, level in dict.fromkeys((row.kind, row.level) for row in others):
        cells = [measured.get((mode, kind, level), "") for mode in MODES]
        lines.append(f"| {kind} | {level} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
