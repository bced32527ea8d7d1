# SPDX-License-Identifier: GPL-3.0-or-later
"""Accuracy of learned channels: bit error rates over the learned and the true channel."""
import math
import os
from dataclasses import dataclass
from typing import Callable, Dict, Iterator, List, NamedTuple, Tuple

import numpy as np

from ... import channel_file, recording
from ... import hf_python as hf
from ...options import option
from .. import sweep
from ..receiver import ber
from . import learn

CHANNELS = ("good", "moderate", "poor")
#: Serial tone, then STANAG 4539 with 16 and 64 points.
MODES = ("4539-2400S", "4539-6400S", "4539-9600S")
#: The recording to learn from: mode, SNR in 3 kHz, dB, errors of the radios, and duration, s.
RECORDED = "4539-3200L"
RECORDED_SNR_DB = 20.0
RADIOS = "offset=17 clock=-12"
RECORDED_S = 45.0
#: Duration of a transmission in the comparison, s. Less, or the file would be played backwards.
PLAYED_S = 30.0
#: Bit error rate of the comparison, and allowed difference of the SNR, dB.
BER, TARGET_DB = 1e-3, 1.0
#: Samples between gains of the true channel, as many gains as the model has for 3 Hz.
TRUTH_EVERY = 48
#: SNR at the start, and step until the target BER is crossed, dB.
START_DB, STEP_DB = 20.0, 2.0
#: Distance of the points to interpolate between, dB.
FINE_DB = 1.0
LEAST_DB, MOST_DB = 0.0, 50.0

#: Bit errors and bits at an SNR.
Count = Tuple[int, int]


class Row(NamedTuple):
    """A mode on a channel: SNR for BER over the true and the learned channel, dB, and the bits
    and transmissions of both curves."""

    channel: str
    mode: str
    true_db: float
    learned_db: float
    bits: int
    trials: int

    @property
    def difference_db(self) -> float:
        """SNR needed over the learned channel in excess of the true one, dB."""
        return self.learned_db - self.true_db


def record(spec: str, seed: int, folder: str, seconds: float = RECORDED_S,
           snr_db: float = RECORDED_SNR_DB, mode: str = RECORDED) -> Tuple[str, str]:
    """Write a recording of a transmission through a simulated channel, with noise and errors of
    the radios, and a channel file of the true paths. Returns their names.

    The true channel has 200 gains per second, and neither offset nor noise.
    """
    base = os.path.join(folder, f"{spec}-{seed}")
    timing, kind = hf.timing(mode), hf.mode(mode)
    octets = timing.octets_in(int(seconds * timing.symbol_rate_bd / timing.block_symbols))
    random = np.random.default_rng(seed)
    rate = 4 * timing.symbol_rate_bd
    signal = hf.modulate(mode, random.integers(0, 256, octets, dtype=np.uint8).tobytes())
    lead = np.zeros(int(0.5 * rate), np.complex64)
    model = hf.channel_model(f"{spec} {RADIOS} snr={snr_db:g}", seed, kind.mean_power, rate)
    heard = model.process(np.concatenate([lead, signal, np.zeros(int(rate), np.complex64)]))
    recording.write_sigmf(base, rate, iter([heard]), f"{mode} over {spec}, seed {seed}",
                          lambda _: [])
    # Clock errors of a few ppm are negligible here, and their delay is not part of the paths.
    paths = hf.channel_model(spec, seed, 1.0, rate)
    gains_rate = rate / TRUTH_EVERY
    at = len(lead) + np.arange(0, len(signal), TRUTH_EVERY)
    delays = np.array(paths.delays_s)
    channel_file.write(base + "-true", gains_rate, list(delays - delays.min()), paths.gains(at),
                       f"the true {spec}, seed {seed}", {})
    return base + ".sigmf-meta", base + "-true.sigmf-meta"


def snr_for(count: Callable[[float], Count], target: float = BER, start_db: float = START_DB
            ) -> float:
    """SNR at which a bit error rate is reached, dB, interpolated between the logarithms of rates
    1 dB apart. count: errors and bits at an SNR. No error counts as half of one."""
    logs: Dict[float, float] = {}

    def above(snr_db: float) -> bool:
        if snr_db not in logs:
            errors, bits = count(snr_db)
            logs[snr_db] = math.log10(max(errors, 0.5) / bits)
        return logs[snr_db] > math.log10(target)

    snr_db = start_db
    direction = STEP_DB if above(snr_db) else -STEP_DB
    while above(snr_db) == (direction > 0):
        snr_db += direction
        if not LEAST_DB <= snr_db <= MOST_DB:
            return math.nan
    low, high = sorted((snr_db, snr_db - direction))
    middle = low + FINE_DB
    low, high = (middle, high) if above(middle) else (low, middle)
    return low + (logs[low] - math.log10(target)) / (logs[low] - logs[high]) * (high - low)


def compare(mode: str, true: str, learned: str, trials: int, workers: sweep.Workers,
            start_db: float = START_DB) -> Tuple[float, float, int]:
    """SNR for the bit error rate over two channel files, with noise of other seeds over each, and
    the bits of each point."""
    bits = 0

    def over(path: str, first_seed: int) -> float:
        def count(snr_db: float) -> Count:
            nonlocal bits
            point = ber.Point(mode, f'learned="{path}" snr={snr_db:g}', PLAYED_S)
            seeds = range(first_seed, first_seed + trials)
            done = list(sweep.run(ber.trial, [(point, seed) for seed in seeds], workers))
            bits = sum(d.bits for d in done)
            return sum(d.errors for d in done), bits

        return snr_for(count, start_db=start_db)

    true_db = over(true, 1)
    learned_db = over(learned, 1001)
    return true_db, learned_db, bits


@dataclass(frozen=True)
class Options:
    """Options of hf bench learned."""

    channels: Tuple[str, ...] = option(CHANNELS, "May be repeated.", flag="--channel",
                                       metavar="SPEC")
    modes: Tuple[str, ...] = option(MODES, "May be repeated.", flag="--mode", metavar="MODE")
    trials: int = option(8, "Transmissions of 30 s at each SNR.", least=1)
    seed: int = option(1, "Seed of the fading.", least=0)


def measure(wanted: Options, folder: str, workers: sweep.Workers) -> Iterator[Row]:
    """A row for each mode on each channel, which is learned from one recording."""
    for spec in wanted.channels:
        recorded, true = record(spec, wanted.seed, folder)
        target = os.path.join(folder, f"{spec}-{wanted.seed}-learned.sigmf-meta")
        learn.learn(recorded, target)
        for mode in wanted.modes:
            yield Row(spec, mode, *compare(mode, true, target, wanted.trials, workers),
                      wanted.trials)


def table(rows: List[Row]) -> str:
    """The rows as a Markdown table."""
    return sweep.table(["channel", "mode", "true dB", "learned dB", "difference dB", "target",
                        "bits of each"], (
        [r.channel, r.mode, f"{r.true_db:.2f}", f"{r.learned_db:.2f}", f"{r.difference_db:+.2f}",
         f"within {TARGET_DB:g}" + ("" if abs(r.difference_db) <= TARGET_DB else " missed"),
         f"{r.bits} in {r.trials}"] for r in rows))
