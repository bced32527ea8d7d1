# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of the published measurements of HF systems, cell by cell beside ours.

published.csv holds the published values with the physical limit (air time alone) and the goal
(with the delays that good software reaches) of each cell; 1 kB is 1000 octets there.
"""
import csv
from functools import lru_cache
import os
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

import numpy as np

from .. import hf_python as hf

#: Data rates that the waveforms of this version have.
RATES = (75, 150, 300, 600, 1200, 2400, 3200, 4800, 6400, 8000, 9600)
#: A ping that gets no answer in this time has failed.
PING_LIMIT_S = 600.0


class Cell(NamedTuple):
    """One published value; limit and goal in the same unit, None if not known."""

    table: str
    bit_rate: int
    octets: int
    ber: float
    metric: str
    published: Optional[float]
    unit: str
    limit: Optional[float]
    goal: Optional[float]

    @property
    def better_is_more(self) -> bool:
        """True for utilisation, False for times."""
        return self.unit == "%"


class Row(NamedTuple):
    """A cell and what was reached; None: it failed."""

    cell: Cell
    ours: Optional[float]

    @property
    def of_limit(self) -> Optional[float]:
        """1 is the limit itself, less is worse."""
        if not self.ours or not self.cell.limit:
            return None
        ratio = self.cell.limit / self.ours
        return 1 / ratio if self.cell.better_is_more else ratio

    @property
    def beaten(self) -> bool:
        """Better than the published value; a cell that failed there counts if it works."""
        if self.ours is None:
            return False
        if self.cell.published is None:
            return True
        if self.cell.better_is_more:
            return self.ours > self.cell.published
        return self.ours < self.cell.published


def _number(text: str) -> Optional[float]:
    try:
        return float(text)
    except ValueError:
        return None


def cells() -> List[Cell]:
    """All published cells, those of rates that we do not have included."""
    path = os.path.join(os.path.dirname(__file__), "published.csv")
    with open(path, newline="", encoding="utf-8") as file:
        return [Cell(r["table"], int(r["bit_rate"]), int(r["octets"] or 0), float(r["ber"]),
                     r["metric"], _number(r["value"]), "s" if r["unit"] == "" else r["unit"],
                     _number(r["limit"]), _number(r["goal"]))
                for r in csv.DictReader(file)]


def _mode(bit_rate: int) -> str:
    return f"4539-{bit_rate}S"


def noise(octets: int, seed: int = 1) -> bytes:
    """Octets that nothing can compress."""
    return np.random.default_rng(seed).bytes(octets)


@lru_cache(maxsize=None)
def _transfer(bit_rate: int, octets: int, ber: float, seed: int) -> Dict[str, float]:
    return hf.simulate_tcp(_mode(bit_rate), noise(octets), ber=ber, seed=seed)


def _tcp(cell: Cell) -> Optional[float]:
    result = _transfer(cell.bit_rate, cell.octets, cell.ber, 1)
    name = {"connect time": "connect_s", "total time": "total_s", "close time": "close_s"}
    return result[name[cell.metric]] if result["complete"] else None


def _tcp_with_errors(cell: Cell) -> Optional[float]:
    # With errors one run says little: the mean of 20.
    runs = [_transfer(cell.bit_rate, cell.octets, cell.ber, seed)
            for seed in range(1, 21 if cell.ber > 0 else 2)]
    if not all(r["complete"] for r in runs):
        return None
    mean = sum(r["total_s"] for r in runs) / len(runs)
    return 100 * 8 * cell.octets / cell.bit_rate / mean


@lru_cache(maxsize=None)
def _pings(bit_rate: int, icmp: bool) -> Tuple[float, ...]:
    octets = 84 if icmp else 32
    return tuple(hf.simulate_ping(_mode(bit_rate), icmp, octets, 6, limit_s=PING_LIMIT_S))


def _mean(times: Iterable[float]) -> Optional[float]:
    times = list(times)
    return None if min(times) < 0 else sum(times) / len(times)


def _ping(cell: Cell) -> Optional[float]:
    times = _pings(cell.bit_rate, cell.table == "ping ARQ")
    return _mean(times[:1] if cell.metric == "first ping" else times[1:])


def _dns(cell: Cell) -> Optional[float]:
    # The first finds no link: what a user sees after a pause.
    return _mean(hf.simulate_dns(_mode(cell.bit_rate))["answer_s"][:1])


MEASURES: Dict[str, Callable[[Cell], Optional[float]]] = {
    "HF-PEP size and speed": _tcp,
    "HF-PEP BER": _tcp_with_errors,
    "ping ARQ": _ping,
    "ARQ ping by speed": _ping,
    "DNS": _dns,
}
TITLES = {
    "HF-PEP size and speed": "HF-PEP: connect, send, confirm, close",
    "HF-PEP BER": "HF-PEP with bit errors (mean of 20 runs)",
    "ping ARQ": "ICMP echo of 84 octets through the IP client, soft link open",
    "ARQ ping by speed": "Echo of 32 octets over the data link itself",
    "DNS": "A name looked up, A and AAAA, link set-up included; published: through the IP client",
}


def possible(cell: Cell) -> bool:
    """Whether a waveform of this version has the data rate."""
    return cell.bit_rate in RATES


def measure(cell: Cell) -> Row:
    """Run one cell on the event simulator; cells of one transfer share a run."""
    return Row(cell, MEASURES[cell.table](cell))


def _show(value: Optional[float], unit: str) -> str:
    if value is None:
        return "-"
    return f"{value:.1f} %" if unit == "%" else f"{value:.2f} s"


def _line(r: Row) -> str:
    c = r.cell
    size = f"{c.octets / 1000:g} kB" if c.octets else ""
    ber = f"{c.ber:g}" if c.table == "HF-PEP BER" else ""
    ratio = f"{100 * r.of_limit:.0f} %" if r.of_limit else "-"
    published = "failed" if c.published is None else _show(c.published, c.unit)
    ours = "failed" if r.ours is None else _show(r.ours, c.unit)
    what = " ".join(x for x in (size, f"BER {ber}" if ber else "") if x)
    return (f"| {c.bit_rate} | {what} | {c.metric} | {published} | **{ours}** | "
            f"{_show(c.goal, c.unit)} | {_show(c.limit, c.unit)} | {ratio} | "
            f"{'yes' if r.beaten else 'NO'} |")


def report(rows: List[Row]) -> str:
    """Markdown: what was missed first, then every table."""
    missed = [r for r in rows if not r.beaten]
    lines = [f"{len(rows) - len(missed)} of {len(rows)} published cells beaten; event "
             "simulator with the engines of the stations, clear channel unless said "
             "otherwise.", ""]
    head = ["| bit/s | | what | published | ours | goal | limit | of the limit | beaten |",
            "|---|---|---|---|---|---|---|---|---|"]
    if missed:
        lines += ["### Missed", "", *head, *map(_line, missed), ""]
    for table, title in TITLES.items():
        part = [r for r in rows if r.cell.table == table]
        if part:
            lines += [f"### {title}", "", *head, *map(_line, part), ""]
    return "\n".join(lines)
