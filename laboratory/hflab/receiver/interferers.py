# SPDX-License-Identifier: GPL-3.0-or-later
"""What interferers in the channel cost: octets received, and processor time."""
import time
from typing import Callable, Dict, List, NamedTuple

import numpy as np
from scipy import signal

from gnuradio.hf import hf_python as hf
from gnuradio.hf.signals import demodulation

RATE = 9600
SUBCARRIER_HZ = 1800.0
#: Modes, and the SNR of each without an interferer, dB in 3 kHz.
MODES = {"4539-3200S": 12.0, "4539-9600S": 25.0}
LEVELS_DB = [-10.0, 0.0, 10.0, 20.0]
#: Least speed of the receiver, times real time.
TARGET = 40.0


class Cost(NamedTuple):
    """Share of octets that were right, and speed of the receiver, times real time."""

    mode: str
    kind: str
    level_db: float
    right: float
    speed: float


def _speech(times: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Noise of 400 to 1200 Hz whose level changes as slowly as that of syllables."""
    band = signal.butter(2, [400, 1200], "bandpass", fs=RATE)
    syllables = np.abs(signal.lfilter([0.002], [1, -0.998], rng.normal(size=len(times))))
    return signal.lfilter(*band, rng.normal(size=len(times))) * syllables


def _ssb_speech(times: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return signal.hilbert(_speech(times, rng)) * np.exp(-2j * np.pi * SUBCARRIER_HZ * times)


def _am_speech(times: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    speech = _speech(times, rng)
    return (1 + 0.9 * speech / np.max(np.abs(speech))) * np.exp(2j * np.pi * 300 * times)


def _hum(times: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Harmonics of 50 Hz from 300 to 2950 Hz of audio, falling by 6 dB an octave."""
    return sum((np.exp(2j * np.pi * (50 * k - SUBCARRIER_HZ) * times + 1j * k) / k
                for k in range(6, 60)), np.zeros(len(times)))


def _mfsk(times: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Eight tones 100 Hz apart, 20 symbols/s."""
    tones = np.repeat(-350 + 100 * rng.integers(0, 8, len(times) // 480 + 1), 480)[:len(times)]
    return np.exp(2j * np.pi * np.cumsum(tones) / RATE)


def _two(times: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Speech and a carrier of the same power."""
    speech = _ssb_speech(times, rng)
    return speech / np.sqrt(np.mean(np.abs(speech) ** 2)) + np.exp(2j * np.pi * 433 * times)


#: Interferers that are made here, and those of the simulated channel by their words.
MADE: Dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "hum": _hum, "speech": _ssb_speech, "AM with speech": _am_speech, "eight-tone FSK": _mfsk,
    "speech and a carrier": _two}
WORDS = {"none": "", "carrier": "carriers=433:{}", "Morse code": "morse=500:{}",
         "teletype 170 Hz": "rtty=-400:{}", "teletype 850 Hz": "rtty=-400:{}:50:850"}
KINDS = [*WORDS, *MADE]


def measure(mode: str, kind: str, level_db: float, seconds: float = 30.0) -> Cost:
    """One interferer. level_db: its power over that of the signal."""
    about = hf.mode(mode)
    octets = np.random.default_rng(7).bytes(int(about.rate_bps * seconds / 8))
    quiet = np.zeros(RATE, np.complex64)
    sent = np.concatenate([quiet, hf.modulate(about, octets), quiet])
    words = f"awgn snr={MODES[mode]} " + WORDS.get(kind, "").format(level_db)
    heard = hf.channel_model(words, 3, about.mean_power).process(sent)
    if kind in MADE:
        other = MADE[kind](np.arange(len(heard)) / RATE, np.random.default_rng(5))
        other *= np.sqrt(about.mean_power * 10 ** (level_db / 10) / np.mean(np.abs(other) ** 2))
        heard = (heard + other).astype(np.complex64)
    receiver, got = hf.receiver(), bytearray()
    begin = time.thread_time()
    for piece in (heard, demodulation.silence()):
        for event in receiver.push(piece):
            got += event["octets"] if event["type"] == "octets" else b""
    speed = len(heard) / RATE / (time.thread_time() - begin)
    right = sum(a == b for a, b in zip(octets, got)) / len(octets)
    return Cost(mode, kind, level_db, right, speed)


def table(rows: List[Cost]) -> str:
    """The rows as a Markdown table: right octets, %, and times real time."""
    levels = sorted({row.level_db for row in rows})
    lines = ["| mode | interferer | " + " | ".join(f"{level:+g} dB" for level in levels) + " |",
             "|---|---|" + "---|" * len(levels)]
    for mode, kind in dict.fromkeys((row.mode, row.kind) for row in rows):
        cells = [next((f"{100 * row.right:.0f} %, {row.speed:.0f}" for row in rows
                       if (row.mode, row.kind, row.level_db) == (mode, kind, level)), "")
                 for level in levels]
        lines.append(f"| {mode} | {kind} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
