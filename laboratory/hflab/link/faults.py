# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a U_PDU that was confirmed to a client is ever missing: hours of simulated faults."""
from dataclasses import dataclass
from typing import Dict, Iterator, List, NamedTuple, Tuple

from .. import experiments
from gnuradio.hf.options import option
from .. import sweep

#: Counted events, and how often each may happen.
COUNTS = [("u_pdus", "U_PDUs submitted by ARQ", None),
          ("delivered", "delivered", None),
          ("confirmed", "confirmed to their clients", None),
          ("missing", "**of these missing at the other side**", 0),
          ("rejected", "rejected", None),
          ("rejected_delivered", "of these delivered all the same", None),
          ("contradictory", "confirmed and rejected", 0),
          ("repeated_on_link", "delivered again on the same link", 0),
          ("repeated", "delivered again on a later link, or after a reset", None),
          ("altered", "altered", 0),
          ("restarts", "restarts of stations", None),
          ("links_made", "links made, as seen by each end", None),
          ("links_failed", "links failed", None),
          ("resets", "resets", None),
          ("collisions", "collisions", None)]


class Trial(NamedTuple):
    """One run."""

    seed: int
    hours: float
    counts: Dict[str, int]


@dataclass(frozen=True)
class Options:
    """Options of hf-lab bench faults."""

    hours: float = option(1000.0, "Station time, altogether.", least=1, most=1e5)
    each: float = option(10.0, "Hours of a run, each with its own seed.", least=1, most=200)
    seed: int = option(1, "Seed of the first run.")

    def points(self) -> List[Tuple[int, float]]:
        """Seed and hours of each run."""
        runs, left = [], self.hours
        while left > 1e-9:
            runs.append((self.seed + len(runs), min(self.each, left)))
            left -= self.each
        return runs


def _trial(seed: int, hours: float) -> Trial:
    counts = experiments.simulate_faults(3600 * hours, seed)
    return Trial(seed, hours, {name: int(getattr(counts, name)) for name, _, _ in COUNTS})


def measure(wanted: Options, workers: sweep.Workers) -> Iterator[Trial]:
    """All runs, in the order of their seeds."""
    return sweep.run(_trial, wanted.points(), workers)


def total(trials: List[Trial], name: str) -> int:
    """A count over all runs."""
    return sum(t.counts[name] for t in trials)


def failed(trials: List[Trial]) -> List[str]:
    """Forbidden events that happened, with their seeds."""
    found = []
    for name, what, most in COUNTS:
        if most is not None and total(trials, name) > most:
            seeds = ", ".join(str(t.seed) for t in trials if t.counts[name] > 0)
            found.append(f"{what.strip('*')}: {total(trials, name)} (seeds {seeds})")
    return found


def table(trials: List[Trial]) -> str:
    """Markdown."""
    hours = sum(t.hours for t in trials)
    return (f"{hours:g} h of station time in {len(trials)} runs, seeds {trials[0].seed} to "
            f"{trials[-1].seed}.\n\n" + sweep.table(["what", "count", "target"], (
                [what, total(trials, name), "-" if most is None else most]
                for name, what, most in COUNTS)))
