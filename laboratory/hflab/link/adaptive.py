# SPDX-License-Identifier: GPL-3.0-or-later
"""Goodput of adaptive stations on real waveforms beside the best fixed mode of each channel and
SNR.

Kept: one line for each run, adaptive ("auto") or in a fixed mode; the table and the map
follow from them. After a change of the rate adaptation only the adaptive runs are old."""
from dataclasses import dataclass
import functools
import math
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, \
    Sequence, Tuple

import numpy as np

from gnuradio.hf import hf_python as hf
from gnuradio.hf.simulation import simulator
from gnuradio.hf.options import option
from .. import sweep
from ..channel import capacity
from gnuradio.hf.pictures import style
from gnuradio.hf.simulation.block_errors import read
from ..receiver import block_errors

#: Name in the table, words of hf.channel.
CHANNELS = {"AWGN": "awgn", "ITU-R Good": "good", "ITU-R Moderate": "moderate",
            "ITU-R Poor": "poor", "3 ms, 10 Hz": "paths=0:0:10,3:0:10"}
SNRS_DB = (0, 5, 10, 15, 20, 25, 30)
#: The channel of block_errors.csv that tells which fixed modes are worth a run.
CURVES = {"AWGN": "awgn", "ITU-R Good": "moderate", "ITU-R Moderate": "moderate",
          "ITU-R Poor": "poor", "3 ms, 10 Hz": "high-moderate"}
#: bit/s of the fixed modes: those of auto in 3 kHz.
RATE_OF = {str(m): m.rate_bps for m in hf.mode.all() if m.bandwidth_hz == 3000
           and m.interleaver in ("S", "L") and str(m) not in ("4539-12800S", "4539-12800L")}
#: Independent blocks that a point of a curve is worth: it has 20 to 100, correlated by fading.
INDEPENDENT = 16
TARGET = 95.0  # % of the best fixed mode
#: A fixed mode that reaches this share of the best one with the first seed has a run with each.
CONTENDER = 0.8
ADAPTIVE = "auto"


class Run(NamedTuple):
    """Goodput in bit/s of station time, in one mode or adaptive, on one channel at one SNR (dB in
    3 kHz)."""

    channel: str
    snr_db: float
    seconds: float
    seed: int
    mode: str
    goodput_bps: float


@dataclass(frozen=True)
class Cell:
    """One channel at one SNR (dB in 3 kHz): goodput in bit/s of station time, mean over the seeds.
    The best mode has the highest mean."""

    channel: str
    snr_db: float
    adaptive_bps: float
    best_bps: float
    best_mode: str  # "none" where nothing gets through
    seeds: int = 1

    @property
    def share(self) -> Optional[float]:
        """Adaptive goodput in % of the best fixed mode; None where no mode gets through."""
        return 100 * self.adaptive_bps / self.best_bps if self.best_bps > 0 else None


def _reference_power() -> float:
    # All modes on the same air: the noise is that of the adaptive stations, whose SNR refers to
    # the fastest mode that every station reads.
    return hf.mode(hf.reference_mode(ADAPTIVE)).mean_power


def goodput(mode: str, channel: str, snr_db: float, seconds: float, seed: int) -> float:
    """bit/s that one station delivers to the other by ARQ in this many seconds of station time,
    from the first call on."""
    # More than the fastest mode carries, so that the time ends it.
    octets = int(hf.mode(hf.fastest_mode(ADAPTIVE)).rate_bps * seconds / 8) + 10000
    result = simulator.simulate_real(mode, octets, channel=f"{CHANNELS[channel]} snr={snr_db}",
                                     seed=seed, limit_s=seconds, signal_power=_reference_power())
    if result["octets_altered"]:
        raise RuntimeError(f"{mode}, {channel}, {snr_db} dB: {result['octets_altered']} octets "
                           "were altered")
    return 8 * result["octets_delivered"] / seconds


@functools.lru_cache(maxsize=None)
def _measured() -> Dict[Tuple[str, str], List[Any]]:
    """All curves, read once."""
    return read()


def curve_of(mode: str, channel: str) -> List[Any]:
    """Measured blocks of a mode, or of constraint length 7 if 9 was not measured. Empty: of
    neither."""
    known = _measured()
    return known.get((channel, mode)) or known.get((channel, mode.replace("-k9", ""))) or []


def at_most(mode: str, channel: str, snr_db: float) -> float:
    """bit/s that a fixed mode can deliver by what `hf-lab bench curves` measured of its blocks:
    those without errors, and two standard deviations more. 0 for a mode not measured there. The
    SNR is that of 4539-9600S; at the same peak others have more."""
    points = curve_of(mode, CURVES[channel])
    if not points:
        return 0.0
    snrs = [p.snr_db for p in points]
    good = [(p.blocks - p.bad_blocks) / max(p.blocks, 1) * (1 - p.lost / p.trials)
            for p in points]
    own_db = snr_db + 10 * math.log10(hf.mode(mode).mean_power / _reference_power())
    if own_db <= snrs[0] - block_errors.STEP_DB:
        return 0.0
    share = (float(np.interp(own_db, snrs, good)) * INDEPENDENT + 0.5) / (INDEPENDENT + 1)
    spread = math.sqrt(share * (1 - share) / INDEPENDENT)
    return RATE_OF[mode] * min(1.0, share + 2 * spread)


def search(goodput_of: Callable[[str], float], bound_of: Callable[[str], float]
           ) -> Tuple[float, str]:
    """Goodput of the best fixed mode, and its name, by asking for that of a few: those with the
    highest bound first, until no other could deliver more than the best."""
    best = 0.0, "none"
    for mode in sorted(RATE_OF, key=bound_of, reverse=True):
        if bound_of(mode) <= best[0]:
            break
        best = max(best, (goodput_of(mode), mode))
    return best


def measure_cell(channel: str, snr_db: float, seconds: float, seeds: Sequence[int],
                 known: Dict[Tuple[int, str], float]) -> List[Run]:
    """Runs missing in one cell. Runs with one seed have the same channel realisation.

    known: goodput by seed and mode, of earlier runs.
    """
    have = dict(known)
    new: List[Run] = []

    def of(seed: int, mode: str) -> float:
        if (seed, mode) not in have:
            have[seed, mode] = round(goodput(mode, channel, snr_db, seconds, seed), 1)
            new.append(Run(channel, snr_db, seconds, seed, mode, have[seed, mode]))
        return have[seed, mode]

    first = seeds[0]
    best, _ = search(lambda mode: of(first, mode), lambda mode: at_most(mode, channel, snr_db))
    contenders = [m for s, m in have if s == first and m in RATE_OF
                  and have[s, m] >= CONTENDER * best > 0]
    for seed in seeds:
        for mode in (ADAPTIVE, *contenders):
            of(seed, mode)
    return new


def cells(runs: Iterable[Run]) -> List[Cell]:
    """The table: every channel and SNR that has an adaptive run, beside the best of its fixed
    modes."""
    by_cell: Dict[Tuple[str, float], Dict[str, Dict[int, float]]] = {}
    for r in runs:
        cell = by_cell.setdefault((r.channel, r.snr_db), {})
        cell.setdefault(r.mode, {})[r.seed] = r.goodput_bps
    found = []
    for (channel, snr_db), of in by_cell.items():
        seeds = of.get(ADAPTIVE, {}).keys()
        mean = {m: sum(v[s] for s in seeds) / len(seeds) for m, v in of.items()
                if seeds and seeds <= v.keys()}
        fixed = [(v, m) for m, v in mean.items() if m != ADAPTIVE]
        if fixed:
            best, mode = max(fixed)
            found.append(Cell(channel, snr_db, mean[ADAPTIVE], best,
                              mode if best > 0 else "none", len(seeds)))
    return found


def store(path: Optional[str] = None, keep: Callable[[Run], bool] = lambda _: True,
          force: bool = False) -> "sweep.Store[Run]":
    """Runs, in a CSV file or in memory. keep: False for runs of the file to discard; force:
    replace a file with other contents."""
    return sweep.Store(Run, 5, path, keep, force)


@dataclass(frozen=True)
class Options:
    """Options of hf-lab bench adaptive."""

    seconds: float = option(600.0, "Station time of each run.", least=30, most=86400)
    seeds: int = option(4, "Runs of each mode in a cell, with seeds from 1 on.", least=1,
                        most=1000)
    channels: Tuple[str, ...] = option((), "Only this channel of the table; may be repeated.",
                                       flag="--channel", metavar="NAME")
    snrs_db: Tuple[float, ...] = option((), "Only this SNR in 3 kHz; may be repeated.",
                                        flag="--snr", metavar="DB")
    again: bool = option(False, "Repeat the adaptive runs of the file, after a change of the "
                         "adaptation.")

    def __post_init__(self) -> None:
        for channel in self.channels:
            if channel not in CHANNELS:
                raise ValueError(f"channel {channel!r}: allowed are {', '.join(CHANNELS)}")

    def cells(self) -> List[Tuple[str, float]]:
        """Channels and SNRs to measure."""
        return [(channel, snr_db) for channel in self.channels or CHANNELS
                for snr_db in self.snrs_db or SNRS_DB]

    def keeps(self, run: Run) -> bool:
        """Whether a run of an earlier measurement still counts."""
        return not self.again or run.mode != ADAPTIVE or (run.channel, run.snr_db) not in \
            self.cells()

    def concerns(self, run: Run) -> bool:
        """Whether a run belongs to this measurement."""
        return run.seconds == self.seconds and run.seed <= self.seeds


def measure(wanted: Options, workers: sweep.Workers, kept: "sweep.Store[Run]"
            ) -> Iterator[List[Run]]:
    """The missing runs of each cell. They are added to the kept ones."""
    have: Dict[Tuple[str, float], Dict[Tuple[int, str], float]] = {}
    for r in filter(wanted.concerns, kept.rows()):
        have.setdefault((r.channel, r.snr_db), {})[r.seed, r.mode] = r.goodput_bps
    points = [(*cell, wanted.seconds, range(1, wanted.seeds + 1), have.get(cell, {}))
              for cell in wanted.cells()]
    for new in sweep.run(measure_cell, points, workers):
        for r in new:
            kept.add(r)
        yield new


def report(cells: Sequence[Cell]) -> str:
    """Markdown: what the adaptive stations reach of the best fixed mode, by channel and SNR."""
    snrs = sorted({c.snr_db for c in cells})
    by_place = {(c.channel, c.snr_db): c for c in cells}
    rows = [[channel, *(_cell(by_place.get((channel, s))) for s in snrs)]
            for channel in CHANNELS if any(c.channel == channel for c in cells)]
    judged = [c.share for c in cells if c.share is not None]
    met = sum(share >= TARGET for share in judged)
    return sweep.table(["channel", *(f"{s:g} dB" for s in snrs)], rows) + (
        f"\n\n{met} of {len(judged)} cells reach {TARGET:g} % of the best fixed mode; runs of a "
        f"cell: {min((c.seeds for c in cells), default=0)}. Gap: SNR beyond that at which the "
        "capacity of 3 kHz is the goodput.")


def _cell(cell: Optional[Cell]) -> str:
    if cell is None:
        return "-"
    if cell.share is None:
        return "no mode"
    said = f"{cell.share:.0f} %"
    said = said if cell.share >= TARGET else f"**{said}**"
    gap = capacity.words(cell.adaptive_bps, cell.snr_db, cell.channel != "AWGN")
    mode = cell.best_mode.replace("4539-", "").replace("5069-3k-", "5069-")
    return f"{said}: {cell.adaptive_bps:.0f} of {cell.best_bps:.0f} ({mode}), gap {gap}"


def draw(cells: Sequence[Cell], path: str) -> None:
    """The shares as a map, channel by SNR; the format follows from the name."""
    snrs = sorted({c.snr_db for c in cells})
    names = [name for name in CHANNELS if any(c.channel == name for c in cells)]
    shares = np.full((len(names), len(snrs)), np.nan)
    for c in cells:
        if c.share is not None:
            shares[names.index(c.channel), snrs.index(c.snr_db)] = c.share
    with style.figure(height=0.6 * len(names) + 2) as (figure, axis):
        _map(figure, axis, names, snrs, shares)
        style.save(figure, path)


def _map(figure: Any, axis: Any, names: Sequence[str], snrs: Sequence[float],
         shares: np.ndarray) -> None:
    image = axis.imshow(shares, vmin=50, vmax=100, cmap="viridis", aspect="auto")
    for row, name in enumerate(names):
        for column, snr in enumerate(snrs):
            share = shares[row, column]
            if np.isnan(share):  # nothing is drawn below it
                text, colour = "no mode", style.foreground()
            else:
                text, colour = f"{share:.0f} %", "white" if share < 80 else "black"
            axis.text(column, row, text, ha="center", va="center", color=colour)
    axis.set(title="Adaptive stations: goodput in % of the best fixed mode",
             xlabel="SNR in 3 kHz, dB", ylabel="channel",
             xticks=range(len(snrs)), yticks=range(len(names)))
    axis.set_xticklabels([f"{s:g}" for s in snrs])
    axis.set_yticklabels(names)
    figure.colorbar(image, label="% of the best fixed mode")
