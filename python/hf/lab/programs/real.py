# SPDX-License-Identifier: GPL-3.0-or-later
"""Cells of the published tables with kernel TCP and real programs, in the namespaces of a pair of
stations: everything that the event simulator cannot show. Results are kept in a CSV
file, since some cells take hours."""
import csv
from functools import lru_cache
import os
import time
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from ... import netns, pair, station
from ..link import papers
from . import kernel, tcp, web, xmpp
from ..link.papers import Cell, Row

#: Times real time where no timer of a kernel or browser minds.
XMPP_SPEED = {75: 10.0, 1200: 8.0, 9600: 4.0}
WAVEFORM_SPEED = 4.0
#: XMPP: octets of payload in a burst, by data rate.
BURST_OCTETS = {75: 20_000, 1200: 100_000, 9600: 400_000}
#: Cells that need more than this of a person's time are for --long.
LONG_S = 20 * 60.0
#: Octets of a site, HTTP and TLS included, to guess how long it takes.
SITE_OCTETS = 1_700_000


class Outcome(NamedTuple):
    """A value (None: it failed), how it was run, and a picture to keep, if there is one."""

    value: Optional[float]
    how: str
    picture: bytes = b""


def _setting(cell: Cell, speed: float = 1, emulated: bool = True) -> pair.Setting:
    return pair.Setting(mode=papers.MODES[cell.bit_rate], ber=cell.ber, speed=speed,
                        emulated=emulated, allow=[f"{pair.ADDRESSES['B']}:*"])


#: Rules of the IP client, by what the table says of it.
RULES: Dict[str, List[Dict[str, str]]] = {
    "": [], "non-ARQ": [{"proto": "tcp", "action": "send", "mode": "non-arq"}],
    "in order": [{"proto": "tcp", "action": "send", "order": "in"}]}


def _service(cell: Cell) -> str:
    return "non-ARQ" if cell.table.endswith("non-ARQ") else cell.detail \
        if cell.detail in RULES else ""


@lru_cache(maxsize=None)
def _ip_transfer(bit_rate: int, octets: int, ber: float, service: str = "") -> kernel.Transfer:
    cell = next(c for c in papers.cells() if (c.bit_rate, c.octets, c.ber) ==
                (bit_rate, octets, ber) and c.table.startswith("IP client TCP"))
    setting = _setting(cell, _speed(cell))
    setting.pep_ports = None

    def with_rules(_: str, description: station.Description) -> None:
        if description.ip_client is not None:
            description.ip_client.filter = RULES[service]

    return kernel.transfer(setting, octets, limit_s=7200,
                           on_description=with_rules if service else None)


def _speed(cell: Cell) -> float:
    # 2.6 hours otherwise; its round trips are long enough for the kernel's timers.
    return 8 if cell.bit_rate * 1800 < 8 * cell.octets else 1


def _ip_client(cell: Cell) -> Outcome:
    t = _ip_transfer(cell.bit_rate, cell.octets, cell.ber, _service(cell))
    how = "kernel TCP (CUBIC), emulated modem, "
    how += "real time" if _speed(cell) == 1 else f"{_speed(cell):g} x real time"
    if t.times is None:
        return Outcome(None, f"{how}: {t.why}")
    value = {"connect time": t.times.connect_s, "total time": t.times.total_s,
             "final data latency": t.times.latency_s,
             "TCP utilization": t.times.utilisation(cell.bit_rate)}[cell.metric]
    return Outcome(value, how)


def _over_time(cell: Cell) -> Outcome:
    t = _ip_transfer(cell.bit_rate, cell.octets, cell.ber)
    how = "kernel TCP (CUBIC), emulated modem, real time"
    if not t.samples:
        return Outcome(None, f"{how}: {t.why}")
    at = float(cell.detail.split()[1])
    last = [s for s in t.samples if s.time_s <= at][-1]
    if last is t.samples[-1]:
        how += f"; complete after {last.time_s:.0f} s"
    return Outcome({"bytes transferred": float(last.octets), "latency": last.latency_s,
                    "utilization so far": 100 * 8 * last.octets / (cell.bit_rate * at)}
                   [cell.metric], how)


@lru_cache(maxsize=None)
def _pep_transfer(bit_rate: int, octets: int) -> kernel.Transfer:
    cell = next(c for c in papers.cells() if (c.table, c.bit_rate, c.octets) ==
                ("HF-PEP size and speed", bit_rate, octets))
    waveforms = bit_rate <= 9600
    setting = _setting(cell, WAVEFORM_SPEED if waveforms else 1, emulated=not waveforms)
    return kernel.transfer(setting, octets, limit_s=7200, greet=True)


def _pep(cell: Cell) -> Outcome:
    t = _pep_transfer(cell.bit_rate, cell.octets)
    how = f"kernel TCP, waveforms, {WAVEFORM_SPEED:g} x real time" if cell.bit_rate <= 9600 \
        else "kernel TCP, emulated modem, real time"
    if t.times is None:
        return Outcome(None, f"{how}: {t.why}")
    return Outcome({"connect time": t.times.connect_s, "total time": t.times.total_s,
                    "close time": t.times.close_s,
                    "final data latency": t.times.latency_s}[cell.metric], how)


@lru_cache(maxsize=None)
def _xmpp_run(bit_rate: int, octets: int, count: int, gap_s: float, burst: int) -> xmpp.Result:
    cell = next(c for c in papers.cells() if c.bit_rate == bit_rate and c.ber == 0)
    return xmpp.measure(_setting(cell, XMPP_SPEED[bit_rate]), octets, count, gap_s, burst)


def _xmpp(cell: Cell) -> Outcome:
    how = f"slixmpp, kernel TCP, emulated modem, {XMPP_SPEED[cell.bit_rate]:g} x real time"
    if cell.metric == "utilization":
        burst = BURST_OCTETS[cell.bit_rate] // cell.octets
        return Outcome(_xmpp_run(cell.bit_rate, cell.octets, 2, 0, min(burst, 600)).utilisation,
                       how)
    gap = float(cell.detail.split()[0]) if cell.detail else 0
    r = _xmpp_run(cell.bit_rate, cell.octets, 6, gap, 0)
    later = r.round_trips[1:]
    return Outcome({"first round trip": r.first, "minimum round trip": min(later),
                    "maximum round trip": max(later)}.get(cell.metric, r.average), how)


def _web(cell: Cell) -> Outcome:
    page = "small" if "small" in cell.table else "site"
    way = web.WAYS[0] if cell.detail == "HF-PEP" else web.WAYS[1]
    r = web.load(page, way, _setting(cell), 7200)
    how = (f"Chromium, emulated modem, real time; first paint "
           f"{papers._show(r.first_paint_s, 's')}, {r.files} files, {r.octets} octets, "
           f"{r.octets_over_hf} over HF")
    return Outcome(r.load_s, how, r.picture)


MEASURES: Dict[str, Callable[[Cell], Outcome]] = {
    "IP client TCP": _ip_client,
    "IP client TCP BER": _ip_client,
    "IP client TCP non-ARQ": _ip_client,
    "IP client TCP over time": _over_time,
    "HF-PEP size and speed": _pep,
    "XMPP round trip": _xmpp,
    "XMPP payload": _xmpp,
    "XMPP typing delay": _xmpp,
    "XMPP throughput": _xmpp,
    "web, small page": _web,
    "web, site": _web,
}


def why_not(table: str) -> Optional[str]:
    """Why a table cannot be run here; None if it can."""
    reason = netns.why_not()
    if reason is None and table.startswith("XMPP"):
        reason = xmpp.why_not()
    if reason is None and table.startswith("web"):
        reason = web.why_not()
    return reason


def duration_s(cell: Cell) -> float:
    """About how much of a person's time a cell takes."""
    octets = cell.octets
    if cell.table == "web, site":
        octets = SITE_OCTETS
    speed = 1.0
    if cell.table.startswith("XMPP"):
        speed = XMPP_SPEED[cell.bit_rate]
        octets = BURST_OCTETS[cell.bit_rate] if cell.metric == "utilization" else 20 * octets
    elif cell.table.startswith("HF-PEP") and cell.bit_rate <= 9600:
        speed = WAVEFORM_SPEED
    elif cell.table.startswith("IP client"):
        speed = _speed(cell)
    return 8 * octets / cell.bit_rate / speed


def measure(cell: Cell) -> Outcome:
    """Run one cell; raises RuntimeError. Cells of one transfer share a run."""
    return MEASURES[cell.table](cell)


def today() -> str:
    """The day of a run, as it is recorded."""
    return time.strftime("%Y-%m-%d")


COLUMNS = ["number", "table", "ours", "how", "recorded"]


class Store:
    """Results, cell by cell, in a CSV file (number, ours, how, and the day of the run
    with the build, if it is known); the last entry of a cell counts, so that several runs can
    write at once."""

    def __init__(self, path: str) -> None:
        self.path = path

    def add(self, cell: Cell, outcome: Outcome) -> None:
        """Append one."""
        new = not os.path.exists(self.path)
        with open(self.path, "a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(COLUMNS)
            value = "" if outcome.value is None else f"{outcome.value:.4f}"
            writer.writerow([cell.number, cell.table, value, outcome.how,
                             today()])

    def rows(self) -> List[Tuple[Cell, Row]]:
        """The cells that were run, with their results."""
        if not os.path.exists(self.path):
            return []
        known = {c.number: c for c in papers.cells()}
        found: Dict[int, Row] = {}
        with open(self.path, newline="", encoding="utf-8") as file:
            for r in csv.DictReader(file):
                cell = known[int(r["number"])]
                how = r["how"] + (f"; {r['recorded']}" if r.get("recorded") else "")
                found[cell.number] = Row(cell, float(r["ours"]) if r["ours"] else None, how)
        return [(known[n], found[n]) for n in sorted(found)]


def series_picture(path: str, cell: Cell) -> bool:
    """Draw octets, latency and use over time of a transfer through the IP client that was run
    just now; whether there was one."""
    if not cell.table.startswith("IP client TCP"):
        return False
    t = _ip_transfer(cell.bit_rate, cell.octets, cell.ber)
    if not t.samples or cell.octets < 100_000:
        return False
    tcp.plot(path, f"IP client, kernel TCP, {cell.octets / 1000:g} kB at {cell.bit_rate} bit/s",
             tcp.thinned(t.samples), cell.bit_rate)
    return True
