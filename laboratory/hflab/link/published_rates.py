# SPDX-License-Identifier: GPL-3.0-or-later
"""Our rate adaptation beside two published rules, on the same channels and the same oracle."""
from typing import Dict, Iterator, List, NamedTuple, Tuple

from .. import experiments

#: Name in the table, Doppler spread of both paths, Hz.
CHANNELS = {"AWGN": 0.0, "Good": 0.1, "Poor": 1.0}
#: Mean SNR, dB, and amplitude of its swing with a period of a day, dB.
LEVELS = ((5.0, 0.0), (15.0, 0.0), (25.0, 0.0), (15.0, 12.0))
#: Deviation of the medium-term variation, dB.
SLOW_DB = 2.0
#: Names of the rules as of published_rate_policy(); empty: ours.
RULES = {"ours": "", "Trinder": "trinder", "RapidM": "rapidm"}


class Cell(NamedTuple):
    """Goodput of each of RULES, and of the best fixed mode of each minute, bit/s."""

    channel: str
    mean_db: float
    swing_db: float
    goodput_bps: Dict[str, float]
    oracle_bps: float


def jobs(hours: float, seed: int) -> Iterator[Tuple[str, float, float, float, int]]:
    """Arguments of measure() for all cells."""
    for channel in CHANNELS:
        for mean_db, swing_db in LEVELS:
            yield channel, mean_db, swing_db, hours, seed


def measure(channel: str, mean_db: float, swing_db: float, hours: float, seed: int) -> Cell:
    """One cell, with the modes of STANAG 4539 alone, which all three know."""
    found: Dict[str, float] = {}
    oracle = 0.0
    for name, rule in RULES.items():
        r = experiments.simulate_rates(
            mode="auto:4539", hours=hours, mean_db=mean_db, swing_db=swing_db, slow_db=SLOW_DB,
            fading_hz=CHANNELS[channel], seed=seed, rule=rule)
        found[name], oracle = r["goodput_bps"], r["oracle_bps"]
    return Cell(channel, mean_db, swing_db, found, oracle)


def report(cells: List[Cell]) -> str:
    """Markdown table: bit/s, and % of the oracle."""
    lines = ["| channel | SNR, dB | best mode of each minute | " + " | ".join(RULES) + " |",
             "|---|---|---|" + "---|" * len(RULES)]
    for c in cells:
        swing = f" +-{c.swing_db:.0f}" if c.swing_db else ""
        lines.append(f"| {c.channel} | {c.mean_db:.0f}{swing} | {c.oracle_bps:.0f} bit/s | "
                     + " | ".join(f"{bps:.0f}, {100 * bps / c.oracle_bps:.0f} %"
                                  for bps in c.goodput_bps.values()) + " |")
    return "\n".join(lines)
