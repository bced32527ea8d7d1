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

#: Mode of each data rate of the tables; the last two are emulated only.
MODES = {rate: f"4539-{rate}S"
         for rate in (75, 150, 300, 600, 1200, 2400, 3200, 4800, 6400, 8000, 9600)}
MODES.update({57600: "5069-18k-57600S", 240000: "5069-48k-240000S"})
#: A ping that gets no answer in this time has failed.
PING_LIMIT_S = 600.0
#: Numbers of 16 bits, which plain Edition 3 does not have.
LARGE_WINDOWS: Dict[str, float] = {"extensions": 1, "large_windows": 1}
_LARGE_WINDOWS_FROM_BPS, _LARGE_WINDOWS_FROM_BER = 240000, 1e-4


class Cell(NamedTuple):
    """One published value; limit and goal in the same unit, None if not known.

    octets: of the transfer, payload or U_PDU; detail: interleaver, pause or way, as the table
    has it.
    """

    number: int
    table: str
    bit_rate: int
    octets: int
    ber: float
    detail: str
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
    """A cell, what was reached (None: it failed) and how it was run."""

    cell: Cell
    ours: Optional[float]
    how: str = "event simulator"

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


@lru_cache(maxsize=None)
def cells() -> Tuple[Cell, ...]:
    """All published cells."""
    path = os.path.join(os.path.dirname(__file__), "published.csv")
    with open(path, newline="", encoding="utf-8") as file:
        return tuple(
            Cell(int(r["id"]), r["table"], int(r["bit_rate"]), int(r["octets"] or 0),
                 float(r["ber"]), r["detail"], r["metric"], _number(r["value"]),
                 r["unit"] or "s", _number(r["limit"]), _number(r["goal"]))
            for r in csv.DictReader(file))


def noise(octets: int, seed: int = 1) -> bytes:
    """Octets that nothing can compress."""
    return np.random.default_rng(seed).bytes(octets)


def settings(bit_rate: int, ber: float) -> Dict[str, float]:
    """Settings of both data links beyond the defaults: large windows where 128 D_PDUs are far less
    than a transmission."""
    wanted = bit_rate >= _LARGE_WINDOWS_FROM_BPS or ber >= _LARGE_WINDOWS_FROM_BER
    return dict(LARGE_WINDOWS) if wanted else {}


@lru_cache(maxsize=None)
def _transfer(bit_rate: int, octets: int, ber: float, seed: int,
              earlier: int = 0) -> Dict[str, float]:
    return hf.simulate_tcp(MODES[bit_rate], noise(octets), ber=ber, seed=seed, earlier=earlier,
                           settings=settings(bit_rate, ber))


def _tcp(cell: Cell) -> Optional[float]:
    result = _transfer(cell.bit_rate, cell.octets, cell.ber, 1)
    name = {"connect time": "connect_s", "total time": "total_s", "close time": "close_s"}
    return result[name[cell.metric]] if result["complete"] else None


def _tcp_with_errors(cell: Cell, earlier: int = 0) -> Optional[float]:
    # With errors one run says little: the mean of 20.
    runs = [_transfer(cell.bit_rate, cell.octets, cell.ber, seed, earlier)
            for seed in range(1, 21 if cell.ber > 0 else 2)]
    if not all(r["complete"] for r in runs):
        return None
    mean = sum(r["total_s"] for r in runs) / len(runs)
    return 100 * 8 * cell.octets / cell.bit_rate / mean


def following_transfers(chosen: Iterable[Cell]) -> str:
    """A paragraph: the cells with bit errors once the stations know the losses of each other."""
    reached = [(c.ber, _tcp_with_errors(c, earlier=2)) for c in chosen
               if c.table == "HF-PEP BER" and c.ber > 0]
    if not reached:
        return ""
    return ("The table has the first transfer between two stations that do not know the losses "
            "of the channel. The third, the soft link broken after each: "
            + ", ".join(f"BER {ber:g} {_show(value, '%')}" for ber, value in reached) + ".")


@lru_cache(maxsize=None)
def _pings(mode: str, icmp: bool) -> Tuple[float, ...]:
    octets = 84 if icmp else 32
    return tuple(hf.simulate_ping(mode, icmp, octets, 6, limit_s=PING_LIMIT_S))


def _mean(times: Iterable[float]) -> Optional[float]:
    times = list(times)
    return None if min(times) < 0 else sum(times) / len(times)


def _mode(cell: Cell) -> str:
    """Its mode; the detail of some tables is the interleaver."""
    mode = MODES[cell.bit_rate]
    return mode[:-1] + cell.detail if cell.detail else mode


def _ping(cell: Cell) -> Optional[float]:
    times = _pings(_mode(cell), cell.table == "ping ARQ")
    return _mean(times[:1] if cell.metric == "first ping" else times[1:])


def _dns(cell: Cell) -> Optional[float]:
    # The first finds no link: what a user sees after a pause.
    return _mean(hf.simulate_dns(MODES[cell.bit_rate])["answer_s"][:1])


def _bulk(cell: Cell) -> Optional[float]:
    # At least half an hour of station time.
    u_pdu = cell.octets or 2042
    octets = max(cell.bit_rate * 1800 // 8, 20000) // u_pdu * u_pdu
    result = hf.simulate(_mode(cell), octets, u_pdu, ber=cell.ber,
                         arq="non-ARQ" not in cell.table)
    if not result["complete"] or result["octets_altered"]:
        return None
    return 100 * 8 * octets / (cell.bit_rate * result["time_s"])


def _interleaver(cell: Cell) -> Optional[float]:
    return _bulk(cell) if cell.metric == "utilization" else _ping(cell)


MEASURES: Dict[str, Callable[[Cell], Optional[float]]] = {
    "HF-PEP size and speed": _tcp,
    "HF-PEP BER": _tcp_with_errors,
    "ping ARQ": _ping,
    "DNS": _dns,
    "ARQ ping by speed": _ping,
    "S5066 throughput": _bulk,
    "S5066 MTU": _bulk,
    "S5066 interleaver": _interleaver,
    "S5066 BER": _bulk,
    "S5066 non-ARQ throughput": _bulk,
}
TITLES = {
    "HF-PEP size and speed": "HF-PEP: connect, send, confirm, close",
    "HF-PEP BER": "HF-PEP with bit errors (mean of 20 runs)",
    "IP client TCP": "TCP through the IP client",
    "IP client TCP BER": "TCP through the IP client with bit errors",
    "ping ARQ": "ICMP echo of 84 octets through the IP client, soft link open",
    "DNS": "A name looked up, A and AAAA, link set-up included; published: through the IP client",
    "XMPP round trip": "XMPP: a stanza each way",
    "XMPP payload": "XMPP: a stanza each way, by payload",
    "XMPP typing delay": "XMPP: a stanza each way, with pauses",
    "XMPP throughput": "XMPP: stanzas one way (the payload counts as 51 % of its octets)",
    "web, small page": "Web: a small page, name looked up",
    "web, site": "Web: a site of 40 files, 1.4 MB, two hosts, TLS (published: isode.com)",
    "ARQ ping by speed": "Echo of 32 octets over the data link itself",
    "S5066 throughput": "Data link: bulk ARQ by data rate",
    "S5066 MTU": "Data link: bulk ARQ by size of U_PDU",
    "S5066 interleaver": "Data link: interleavers",
    "S5066 BER": "Data link: bulk ARQ with bit errors",
    "S5066 non-ARQ throughput": "Data link: bulk without ARQ",
}


def measure(cell: Cell) -> Row:
    """Run one cell on the event simulator; cells of one transfer share a run."""
    how = "event simulator"
    if MEASURES[cell.table] in (_tcp, _tcp_with_errors) and settings(cell.bit_rate, cell.ber):
        how += ", large windows"
    return Row(cell, MEASURES[cell.table](cell), how)


def _show(value: Optional[float], unit: str) -> str:
    if value is None:
        return "-"
    return f"{value:.1f} %" if unit == "%" else f"{value:.2f} s"


def _line(r: Row) -> str:
    c = r.cell
    size = f"{c.octets} octets" if c.octets % 100 or (c.table.startswith("S5066") and c.octets) \
        else f"{c.octets / 1000:g} kB" if c.octets else ""
    ber = f"BER {c.ber:g}" if c.table.endswith("BER") else ""
    ratio = f"{100 * r.of_limit:.0f} %" if r.of_limit else "-"
    published = "failed" if c.published is None else _show(c.published, c.unit)
    ours = "failed" if r.ours is None else _show(r.ours, c.unit)
    what = ", ".join(x for x in (size, ber, c.detail) if x)
    return (f"| {c.bit_rate} | {what} | {c.metric} | {published} | **{ours}** | "
            f"{_show(c.goal, c.unit)} | {_show(c.limit, c.unit)} | {ratio} | "
            f"{'yes' if r.beaten else 'NO'} | {r.how} |")


HEAD = ["| bit/s | | what | published | ours | goal | limit | of the limit | beaten | run |",
        "|---|---|---|---|---|---|---|---|---|---|"]


def report(rows: List[Row], below: Dict[str, str] = {}) -> str:
    """Markdown: what was missed first, then every table. below: Markdown under the table of that
    name."""
    missed = [r for r in rows if not r.beaten]
    # A cell may have been run in two ways.
    count, lost = len({r.cell.number for r in rows}), len({r.cell.number for r in missed})
    lines = [f"{count - lost} of {count} published cells beaten; clear channel "
             "unless said otherwise.", ""]
    if missed:
        lines += ["### Missed", "", *HEAD, *map(_line, missed), ""]
    for table, title in TITLES.items():
        part = [r for r in rows if r.cell.table == table]
        if part:
            lines += [f"### {title}", "", *HEAD, *map(_line, part), ""]
        if part and below.get(table):
            lines += [below[table], ""]
    return "\n".join(lines)
