# SPDX-License-Identifier: GPL-3.0-or-later
"""What acquisition and noise gave, kept in CSV files over many runs of `hf-lab ber`: counts of
transmissions of a condition that were found, and pieces of noise with what was found in them."""
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from scipy.stats import gamma

from .. import sweep

#: Chance that a rate is above its upper bound.
BEYOND = 0.05


class Found(NamedTuple):
    """Counts for transmissions with seeds from first_seed on. snr_db: in the mode's bandwidth."""

    mode: str
    superframes: int
    channel: str
    snr_db: float
    first_seed: int
    trials: int
    found: int


class Noise(NamedTuple):
    """A piece of noise. found: the modes of false transmissions, blanks between."""

    bandwidth_khz: int
    channel: str
    effort: int
    seconds: float
    seed: int
    found: str


def counts(path: Optional[str] = None) -> "sweep.Store[Found]":
    """Counts of transmissions, in a CSV file or in memory."""
    return sweep.Store(Found, 5, path)


def pieces(path: Optional[str] = None) -> "sweep.Store[Noise]":
    """Pieces of noise, in a CSV file or in memory."""
    return sweep.Store(Noise, 5, path)


def most_a_day(found: int, hours: float) -> float:
    """Upper bound of the false starts in 24 h with a confidence of 95 %, of events that come by
    chance (Poisson)."""
    return float(gamma.ppf(1 - BEYOND, found + 1)) * 24 / hours


def noise_table(rows: Iterable[Noise]) -> str:
    """Hours and false starts of each bandwidth and channel as a Markdown table."""
    sums: Dict[Tuple[int, str], List[float]] = {}
    for r in rows:
        total = sums.setdefault((r.bandwidth_khz, r.channel), [0.0, 0])
        total[0] += r.seconds / 3600
        total[1] += len(r.found.split())
    return sweep.table(["bandwidth", "noise", "hours", "false starts", "in 24 h at most (95 %)"], (
        [f"{bandwidth} kHz", channel, f"{hours:.1f}", f"{found:g}",
         f"{most_a_day(round(found), hours):.2g}"]
        for (bandwidth, channel), (hours, found) in sorted(sums.items())))
