# SPDX-License-Identifier: GPL-3.0-or-later
"""What several recordings of a transmission are worth together, against the best of them.

Each trial is one transmission over independent Poor channels into audio files of different sample
rates. The recordings start up to 3 s apart, with clocks up to 50 ppm off and carrier offsets up
to 60 Hz.
"""
from dataclasses import dataclass
import math
import os
import random
import tempfile
from typing import Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, \
    Tuple

import numpy as np

from gnuradio.hf import hf_python as hf
from gnuradio.hf.options import option
from gnuradio.hf.recordings import recording, wav
from gnuradio.hf.signals import combination, demodulation
from .. import sweep
from . import ber

#: Gain wanted of four receivers, dB.
TARGET_DB = 6.0
#: Share of bad blocks at which the gain is read.
SHARE = 0.1
#: Sample rates of the recordings, in turn.
RATES = (8000, 48000, 11025, 44100, 16000, 96000)
#: Largest clock error, ppm, and carrier offset, Hz.
CLOCK_PPM, OFFSET_HZ = 50.0, 60.0
#: First SNR measured, step of the next ones, and limits, dB.
FIRST_DB, STEP_DB, MIN_DB, MAX_DB = 8.0, 2.0, -10.0, 30.0
#: Resampled sets of transmissions for the interval of the gain.
RESAMPLED = 2000
#: Peak of the audio, of full scale.
PEAK = 0.5


class Trial(NamedTuple):
    """One transmission. The first five fields are its key in a store.

    combined, best, all: bad blocks of the combination, of the best recording of this
    transmission, and of all recordings. took_part: recordings in the combination.
    """

    mode: str
    receivers: int
    blocks: int
    snr_db: float
    seed: int
    combined: int
    best: int
    all: int
    took_part: int


def record(folder: str, mode: hf.mode, octets: bytes, snr_db: float, receivers: int, seed: int
           ) -> List[str]:
    """Audio files of a transmission at several places. Returns their paths."""
    draw = random.Random(seed)
    sent = hf.modulate(mode, octets)
    paths = []
    for number in range(receivers):
        lead_s = 0.5 + draw.uniform(0, combination.MAX_DELAY_S - 0.1)
        lead = np.zeros(round(lead_s * hf.BASEBAND_RATE), np.complex64)
        tail = np.zeros(hf.BASEBAND_RATE, np.complex64)
        spec = (f"poor snr={snr_db:g} clock={draw.uniform(-CLOCK_PPM, CLOCK_PPM):.2f} "
                f"offset={draw.uniform(-OFFSET_HZ, OFFSET_HZ):.2f}")
        model = hf.channel_model(spec, seed * combination.MOST + number, mode.mean_power)
        heard = model.process(np.concatenate([lead, sent, tail]))
        rate = RATES[number % len(RATES)]
        converter = hf.baseband_to_audio(rate, demodulation.usual_subcarrier(3))
        audio = np.concatenate([converter.push(heard), converter.finish()])
        audio *= PEAK / np.max(np.abs(audio))
        paths.append(os.path.join(folder, f"{number}.wav"))
        with open(paths[-1], "wb") as file:
            wav.write_wav(file, rate, len(audio), iter([audio]))
    return paths


def bad_blocks(sent: bytes, blocks: int, bits_per_block: int, got: bytes) -> int:
    """Blocks whose octets are nowhere in what was received. A receiver that missed the start is
    not punished for the place of the rest."""
    bad = 0
    for number in range(blocks):
        first = -(-number * bits_per_block // 8)
        block = sent[first:(number + 1) * bits_per_block // 8]
        bad += block not in got
    return bad


def trial(mode: str, receivers: int, blocks: int, snr_db: float, seed: int) -> Trial:
    """Send one transmission; receive it by each receiver, and by all together."""
    times, what = hf.timing(mode), hf.mode(mode)
    octets = random.Random(seed).randbytes(times.octets_in(blocks))

    def bad(got: bytes) -> int:
        return bad_blocks(octets, blocks, times.bits_per_block, got)

    with tempfile.TemporaryDirectory() as folder:
        paths = record(folder, what, octets, snr_db, receivers, seed)
        alone = []
        for path in paths:
            got: List[bytes] = []
            demodulation.demodulate(recording.open_recording(path),
                                    demodulation.Reception(got.append))
            alone.append(bad(b"".join(got)))
        found = combination.demodulate(lambda: [recording.open_recording(p) for p in paths])
    together = bad(b"".join(m["octets"] for m in found.messages))
    took_part = max((len(m["parts"]) for m in found.messages), default=0)
    return Trial(mode, receivers, blocks, snr_db, seed, together, min(alone), sum(alone),
                 took_part)


def store(path: Optional[str], force: bool = False) -> "sweep.Store[Trial]":
    """Trials that are kept in a file."""
    return sweep.Store(Trial, 5, path, force=force)


@dataclass(frozen=True)
class Options:
    """Options of hf-lab bench combine."""

    modes: Tuple[str, ...] = option(("4539-3200S",), "Mode of 3 kHz; may be repeated.",
                                    flag="--mode", metavar="MODE")
    receivers: int = option(4, "Recordings of each transmission.", least=combination.LEAST,
                            most=combination.MOST)
    trials: int = option(24, "Transmissions at each SNR.", least=2)
    seconds: float = option(15.0, "Length of a transmission.", least=1, most=600)
    seed: int = option(1, "Seed of the first transmission.", least=0)

    def __post_init__(self) -> None:
        for mode in self.modes:
            if hf.mode(mode).bandwidth_hz != 3000:
                raise ValueError(f"mode {mode}: allowed are modes of 3 kHz")

    def blocks(self, mode: str) -> int:
        """Interleaver blocks of a transmission."""
        times = hf.timing(mode)
        return max(1, round(self.seconds * times.symbol_rate_bd / times.block_symbols))


Bad = Callable[[Trial], int]
Points = Dict[float, List[Trial]]


def _combined(row: Trial) -> int:
    return row.combined


def _best(row: Trial) -> int:
    return row.best


def share(rows: Sequence[Trial], bad: Bad) -> float:
    """Share of bad blocks. None counts as half a block."""
    return max(sum(map(bad, rows)), 0.5) / sum(row.blocks for row in rows)


def crossing(points: Points, bad: Bad) -> Optional[float]:
    """SNR at which SHARE of the blocks are bad, between two that were measured; None: it is not
    between any."""
    snrs = sorted(points, reverse=True)
    for high, low in zip(snrs, snrs[1:]):
        shares = share(points[high], bad), share(points[low], bad)
        if shares[0] <= SHARE < shares[1]:
            above, below, wanted = (math.log(s) for s in (*shares, SHARE))
            return high - (high - low) * (wanted - above) / (below - above)
    return None


def _next_snr(points: Points, bad: Bad) -> Optional[float]:
    """SNR to measure next for the crossing; None: it is known, or out of reach."""
    if not points:
        return FIRST_DB
    if crossing(points, bad) is not None:
        return None
    highest, lowest = max(points), min(points)
    up = share(points[highest], bad) > SHARE
    snr_db = highest + STEP_DB if up else lowest - STEP_DB
    return snr_db if MIN_DB <= snr_db <= MAX_DB else None


def measure(wanted: Options, workers: sweep.Workers, kept: "sweep.Store[Trial]"
            ) -> Iterator[List[Trial]]:
    """The trials at one SNR after the other, until both crossings are known."""
    for mode in wanted.modes:
        points: Points = {}
        for bad in (_combined, _best):
            snr_db = _next_snr(points, bad)
            while snr_db is not None:
                jobs = [(mode, wanted.receivers, wanted.blocks(mode), snr_db, wanted.seed + k)
                        for k in range(wanted.trials)]
                points[snr_db] = []
                for row in sweep.run(trial, jobs, workers, kept.get):
                    kept.add(row)
                    points[snr_db].append(row)
                yield points[snr_db]
                snr_db = _next_snr(points, bad)


def gain(points: Points) -> Optional[Tuple[float, float, float]]:
    """Gain in dB at SHARE and its 95 % interval, by resampling transmissions; None: unknown."""
    both = crossing(points, _best), crossing(points, _combined)
    if both[0] is None or both[1] is None:
        return None
    draw = random.Random(0)
    gains = []
    for _ in range(RESAMPLED):
        drawn = {snr: draw.choices(rows, k=len(rows)) for snr, rows in points.items()}
        best, combined = crossing(drawn, _best), crossing(drawn, _combined)
        if best is not None and combined is not None:
            gains.append(best - combined)
    if not gains:
        return None
    low, high = np.percentile(gains, [2.5, 97.5])
    return both[0] - both[1], float(low), float(high)


def report(rows: Iterable[Trial]) -> str:
    """Two tables: the gain beside its target, and what was counted."""
    by_mode: Dict[str, Points] = {}
    for row in rows:
        by_mode.setdefault(row.mode, {}).setdefault(row.snr_db, []).append(row)
    gains, counts = [], []
    for mode, points in by_mode.items():
        some = next(iter(points.values()))[0]
        found = gain(points)
        snrs = [crossing(points, bad) for bad in (_best, _combined)]
        target = f"{TARGET_DB:g}" if some.receivers == 4 else "-"
        gains.append([mode, some.receivers,
                      *("-" if snr is None else f"{snr:.1f}" for snr in snrs),
                      *(["-", "-"] if found is None
                        else [f"{found[0]:.1f}", f"{found[1]:.1f} to {found[2]:.1f}"]), target])
        counts += [_counted(mode, snr, points[snr]) for snr in sorted(points)]
    return (sweep.table(["mode", "receivers", f"best one: {SHARE:.0%} of blocks bad at, dB",
                         "combined, dB", "gain, dB", "95 % interval", "target, dB"], gains)
            + "\n\n" +
            sweep.table(["mode", "SNR, dB", "transmissions", "blocks", "bad: combined",
                         "95 % interval", "bad: best one", "95 % interval", "bad: mean of all",
                         "receivers that took part"], counts))


def _counted(mode: str, snr_db: float, rows: Sequence[Trial]) -> List[str]:
    blocks = sum(row.blocks for row in rows)
    cells = [mode, f"{snr_db:g}", str(len(rows)), str(blocks)]
    for bad in (_combined, _best):
        count = sum(map(bad, rows))
        cells += [str(count), ber.outward(*ber.interval(count, blocks, 0.95))]
    mean = sum(row.all / row.receivers for row in rows)
    took_part = sum(row.took_part for row in rows) / len(rows)
    return cells + [f"{mean:.1f}", f"{took_part:.2f}"]
