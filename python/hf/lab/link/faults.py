# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a U_PDU that was confirmed to a client is ever missing: hours of simulated faults."""
from typing import Any, Iterator, List, NamedTuple

from ... import hf_python as hf

#: What is counted, and how often it may be.
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
    counts: Any


def measure(hours: float, each: float, first_seed: int = 1) -> Iterator[Trial]:
    """Runs of each hours, seeds from first_seed on, until there are so many hours."""
    seed, left = first_seed, hours
    while left > 1e-9:
        part = min(each, left)
        yield Trial(seed, part, hf.simulate_faults(3600 * part, seed))
        seed, left = seed + 1, left - part


def total(trials: List[Trial], name: str) -> int:
    """A count over all runs."""
    return sum(int(getattr(t.counts, name)) for t in trials)


def failed(trials: List[Trial]) -> List[str]:
    """What must not be and was, with the seeds where."""
    found = []
    for name, what, most in COUNTS:
        if most is not None and total(trials, name) > most:
            seeds = ", ".join(str(t.seed) for t in trials if getattr(t.counts, name) > 0)
            found.append(f"{what.strip('*')}: {total(trials, name)} (seeds {seeds})")
    return found


def table(trials: List[Trial]) -> str:
    """Markdown."""
    hours = sum(t.hours for t in trials)
    lines = [f"{hours:g} h of station time in {len(trials)} runs, seeds {trials[0].seed} to "
             f"{trials[-1].seed}.", "", "| what | count | target |", "|---|---|---|"]
    for name, what, most in COUNTS:
        lines.append(f"| {what} | {total(trials, name)} | {'-' if most is None else most} |")
    return "\n".join(lines)
