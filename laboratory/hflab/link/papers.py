# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of the published measurements of HF systems, cell by cell beside ours.

published.csv holds the published values with the physical limit (air time alone) and the goal
(with the delays that good software reaches) of each cell, published_more.csv those that another
cell decides or that are printed once more (papers_more.py); 1 kB is 1000 octets there.
"""
import csv
from functools import lru_cache
import os
import random
import zlib
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from gnuradio.hf import hf_python as hf
from gnuradio.hf.simulation import simulator
from .. import experiments
from ..programs import chat_sizes

#: Mode of each data rate of the tables.
MODES = {rate: f"4539-{rate}S"
         for rate in (75, 150, 300, 600, 1200, 2400, 3200, 4800, 6400, 8000, 9600)}
MODES.update({57600: "5069-18k-57600S", 240000: "5069-48k-240000S"})
#: A ping that gets no answer in this time has failed.
PING_LIMIT_S = 600.0
#: The air of over_waveforms(): nothing is lost in any mode.
CLEAR_AIR = "awgn snr=40"
#: Octets of a data D_PDU besides its segment.
_D_PDU_HEAD = 22


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
        """True for utilisation and rates, False for times and overheads."""
        return self.unit in ("%", "bit/s", "B") and "overhead" not in self.metric \
            and "DEFLATE" not in self.metric


class Row(NamedTuple):
    """A cell, the figure reached (None: it failed, or was not run) and how it was run. same: with
    acknowledgements in the interleaver of the data, as the published systems send them."""

    cell: Cell
    ours: Optional[float]
    how: str = "event simulator"
    same: Optional[float] = None

    @property
    def judged(self) -> bool:
        """True if a published figure exists to compare with."""
        return not self.how.startswith("not run")

    @property
    def of_limit(self) -> Optional[float]:
        """1 is the limit itself, less is worse."""
        if not self.ours or not self.cell.limit:
            return None
        ratio = self.cell.limit / self.ours
        return 1 / ratio if self.cell.better_is_more else ratio

    @property
    def equal(self) -> bool:
        """The published figure, with its printed digits."""
        if self.ours is None or self.cell.published is None:
            return self.ours is None and self.cell.published is None
        return abs(self.ours - self.cell.published) <= max(0.01 * self.cell.published, 0.05)

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


def _lines(name: str) -> List[Dict[str, str]]:
    path = os.path.join(os.path.dirname(__file__), name)
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@lru_cache(maxsize=None)
def cells() -> Tuple[Cell, ...]:
    """All published cells."""
    return tuple(
        Cell(int(r["id"]), r["table"], int(r["bit_rate"]), int(r["octets"] or 0),
             float(r["ber"]), r["detail"], r["metric"], _number(r["value"]),
             r["unit"] or "s", _number(r["limit"]), _number(r["goal"]))
        for r in _lines("published.csv") + _lines("published_more.csv"))


@lru_cache(maxsize=None)
def derivations() -> Dict[int, str]:
    """Where our figure of a cell comes from, by its number: see papers_more. Those that are not
    here have a run of their own."""
    return {int(r["id"]): r["ours"] for r in _lines("published_more.csv")}


def runs(cell: Cell) -> bool:
    """True if the cell has its own run."""
    return derivations().get(cell.number, "measure") == "measure"


def hexadecimal(octets: int, seed: int) -> str:
    """Noise as hexadecimal digits: the payload of the published XMPP measurements."""
    return random.Random(seed).randbytes((octets + 1) // 2).hex()[:octets]


def noise(octets: int, seed: int = 1) -> bytes:
    """Octets that nothing can compress."""
    return np.random.default_rng(seed).bytes(octets)


@lru_cache(maxsize=None)
def _transfer(bit_rate: int, octets: int, ber: float, seed: int, earlier: int = 0,
              ack_mode: str = "auto", channel: Optional[str] = None) -> Dict[str, float]:
    return simulator.simulate_tcp(MODES[bit_rate], noise(octets), ber=ber, seed=seed,
                                  earlier=earlier, ack_mode=ack_mode, channel=channel)


def _tcp(cell: Cell, ack_mode: str, channel: Optional[str] = None) -> Optional[float]:
    result = _transfer(cell.bit_rate, cell.octets, cell.ber, 1, ack_mode=ack_mode,
                       channel=channel)
    name = {"connect time": "connect_s", "total time": "total_s", "close time": "close_s",
            "final data latency": "latency_s"}
    return result[name[cell.metric]] if result["complete"] else None


def _tcp_with_errors(cell: Cell, ack_mode: str, earlier: int = 0) -> Optional[float]:
    if cell.detail == "data link":
        return _overhead(cell)
    # Mean of 20 runs: with errors a single run says little.
    results = [_transfer(cell.bit_rate, cell.octets, cell.ber, seed, earlier, ack_mode)
               for seed in range(1, 21 if cell.ber > 0 else 2)]
    if not all(r["complete"] for r in results):
        return None
    mean = sum(r["total_s"] for r in results) / len(results)
    return 100 * 8 * cell.octets / cell.bit_rate / mean


def _overhead(cell: Cell) -> float:
    """Parts of the time of bulk ARQ that are no user data, in percent."""
    r, octets = _bulk_run(cell, "auto")
    use = 100 * 8 * octets / (cell.bit_rate * r["time_s"])
    turns = 100 * (1 - r["tx_time_s"] / r["time_s"])
    lost = (100 - turns) * r["d_pdus_repeated"] / r["d_pdus_sent"]
    heads = 100 * 8 * _D_PDU_HEAD * (r["d_pdus_sent"] - r["d_pdus_repeated"]) / (
        cell.bit_rate * r["time_s"])
    return {"protocol overhead": heads, "turnaround overhead": turns, "data loss overhead": lost,
            "gaps and padding overhead": max(100 - use - turns - lost - heads, 0)}[cell.metric]


def following_transfers(chosen: Iterable[Cell]) -> str:
    """A paragraph: the cells with bit errors once the stations know the losses of each other."""
    reached = [(c.ber, _tcp_with_errors(c, "auto", earlier=2)) for c in chosen
               if c.table == "HF-PEP BER" and c.ber > 0 and not c.detail]
    if not reached:
        return ""
    return ("The table has the first transfer between two stations that do not know the losses "
            "of the channel. The third, the soft link broken after each: "
            + ", ".join(f"BER {ber:g} {_show(value, '%')}" for ber, value in reached) + ".")


@lru_cache(maxsize=None)
def _pings(mode: str, icmp: bool, arq: bool = True, ack_mode: str = "auto",
           gap_s: float = 10) -> Tuple[float, ...]:
    octets = 84 if icmp else 32
    return tuple(simulator.simulate_ping(mode, icmp, octets, 6, gap_s=gap_s,
                                         limit_s=PING_LIMIT_S, ack_mode=ack_mode, arq=arq))


def _mean(times: Iterable[float]) -> Optional[float]:
    times = list(times)
    return None if min(times) < 0 else sum(times) / len(times)


def _mode(cell: Cell) -> str:
    """Mode of the cell. The detail of some tables is the interleaver."""
    mode = MODES[cell.bit_rate]
    return mode[:-1] + cell.detail if cell.detail else mode


def _ping(cell: Cell, ack_mode: str) -> Optional[float]:
    arq = "non-ARQ" not in cell.table
    times = _pings(_mode(cell), cell.table.startswith("ping"), arq, ack_mode)
    if cell.metric == "first ping":
        return _mean(times[:1])
    later = times[1:]
    if cell.metric in ("ping min", "ping max"):
        return None if min(later) < 0 else (min if "min" in cell.metric else max)(later)
    return _mean(later)


def _ping_of_series(cell: Cell, ack_mode: str) -> Optional[float]:
    # Four minutes apart the soft link is broken in between; else the next follows at once.
    apart, _, number = cell.detail.partition(", ping ")
    times = _pings(MODES[cell.bit_rate], False, True, ack_mode, 240 if "min" in apart else 0)
    return _mean([times[int(number) - 1]])


def _dns(cell: Cell, ack_mode: str) -> Optional[float]:
    # The first action finds no link, like that of a user after a pause.
    return _mean(experiments.simulate_dns(MODES[cell.bit_rate])["answer_s"][:1])


@lru_cache(maxsize=None)
def _bulk_of(mode: str, bit_rate: int, u_pdu: int, ber: float, arq: bool,
             ack_mode: str) -> Tuple[Dict[str, float], int]:
    # At least half an hour of station time.
    octets = max(bit_rate * 1800 // 8, 20000) // u_pdu * u_pdu
    return simulator.simulate(mode, octets, u_pdu, ber=ber, arq=arq, ack_mode=ack_mode), octets


def _bulk_run(cell: Cell, ack_mode: str) -> Tuple[Dict[str, float], int]:
    if cell.table == "HF-PEP BER" or cell.table == "S5066 BER":
        return _bulk_of(MODES[cell.bit_rate], cell.bit_rate, 2042, cell.ber, True, ack_mode)
    return _bulk_of(_mode(cell), cell.bit_rate, cell.octets or 2042, cell.ber,
                    "non-ARQ" not in cell.table, ack_mode)


def _bulk(cell: Cell, ack_mode: str) -> Optional[float]:
    result, octets = _bulk_run(cell, ack_mode)
    if not result["complete"] or result["octets_altered"]:
        return None
    return 100 * 8 * octets / (cell.bit_rate * result["time_s"])


def _interleaver(cell: Cell, ack_mode: str) -> Optional[float]:
    if cell.metric == "interleaver delay":
        timing = hf.timing(hf.mode(_mode(cell)))
        return timing.block_begin(1) - timing.block_begin(0)
    return (_bulk if cell.metric == "utilization" else _ping)(cell, ack_mode)


def _two_way(cell: Cell, ack_mode: str) -> Optional[float]:
    """Bulk one way, and back as much as the published return rate."""
    from gnuradio.hf.simulation import scenarios
    back = next(c.published for c in cells() if c.table == cell.table
                and c.bit_rate == cell.bit_rate and c.metric == "return rate")
    end = 7200 if cell.bit_rate > 1000 else 36000
    mode = f'mode = "{MODES[cell.bit_rate]}"\n'
    text = (f'duration_s = {end}\n[[station]]\nname = "A"\n{mode}[[station]]\nname = "B"\n{mode}'
            '[[traffic]]\nfrom = "A"\nto = "B"\n'
            f'[[traffic]]\nfrom = "B"\nto = "A"\nrate_bps = {back}\nstart_s = 60\n')
    run, = scenarios.parse(text)
    there, answer = (8 * f.octets_delivered / end for f in run.scenario.run().flows)
    return there if cell.metric == "send rate" else answer


def _of_text(cell: Cell, ack_mode: str) -> float:
    if cell.unit != "%":
        return chat_sizes.overhead() if cell.unit == "B" else chat_sizes.first_exchange() / 1000
    text = hexadecimal(100_000, 1).encode()
    # The compression level of SLEP (slep/deflate.cc), for digits.
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_HUFFMAN_ONLY)
    return 100 * len(compressor.compress(text) + compressor.flush()) / len(text)


MEASURES: Dict[str, Callable[[Cell, str], Optional[float]]] = {
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
    "ping non-ARQ": _ping,
    "ARQ ping, one by one": _ping_of_series,
    "non-ARQ ping": _ping,
    "S5066 two-way": _two_way,
    "XMPP, text": _of_text,
}
TITLES = {
    "HF-PEP size and speed": "HF-PEP: connect, send, confirm, close",
    "HF-PEP BER": "HF-PEP with bit errors (mean of 20 runs)",
    "IP client TCP": "TCP through the IP client",
    "IP client TCP BER": "TCP through the IP client with bit errors",
    "IP client TCP non-ARQ": "TCP through the IP client, without ARQ",
    "IP client TCP over time": "TCP through the IP client, 10 MB at 240 kbit/s over time",
    "IP client TCP, again": "TCP through the IP client, as printed once more beside HF-PEP",
    "TCP over Annex K": "TCP over the slots of the measured product",
    "ping non-ARQ": "ICMP echo of 84 octets through the IP client, without ARQ",
    "ping ARQ": "ICMP echo of 84 octets through the IP client, soft link open",
    "DNS": "A name looked up, A and AAAA, link set-up included; published: through the IP client",
    "XMPP round trip": "XMPP: a stanza each way",
    "XMPP payload": "XMPP: a stanza each way, by payload",
    "XMPP typing delay": "XMPP: a stanza each way, with pauses",
    "XMPP throughput": "XMPP: stanzas one way (the payload counts as 51 % of its octets)",
    "web, small page": "Web: a small page, name looked up",
    "web, site": "Web: a site of 40 files, 1.4 MB, two hosts, TLS (published: isode.com)",
    "XMPP, text": "XMPP: what the text says",
    "ARQ ping, one by one": "Echo of 32 octets over the data link itself, one by one",
    "non-ARQ ping": "Echo of 32 octets over the data link itself, without ARQ",
    "S5066 two-way": "Data link: bulk one way, a little the other",
    "ARQ ping by speed": "Echo of 32 octets over the data link itself",
    "S5066 throughput": "Data link: bulk ARQ by data rate",
    "S5066 MTU": "Data link: bulk ARQ by size of U_PDU",
    "S5066 interleaver": "Data link: interleavers",
    "S5066 BER": "Data link: bulk ARQ with bit errors",
    "S5066 non-ARQ throughput": "Data link: bulk without ARQ",
}


#: Their acknowledgements have a mode of their own.
_WITHOUT_ACK_MODE = (_dns, _two_way, _of_text)


def measure(cell: Cell) -> Row:
    """Run one cell on the event simulator; cells of one transfer share a run."""
    run = MEASURES[cell.table]
    alone = run in _WITHOUT_ACK_MODE or "overhead" in cell.metric or "delay" in cell.metric
    how = "octets as they are packed, without a link" if run == _of_text else "event simulator"
    return Row(cell, run(cell, "auto"), how, None if alone else run(cell, "same"))


def groups(chosen: Iterable[Cell]) -> List[Tuple[List[Cell]]]:
    """Cells that share a run are neighbours, so that one worker measures them."""
    found: Dict[Tuple[Any, ...], List[Cell]] = {}
    for c in chosen:
        key = (c.table, c.bit_rate, c.octets, c.ber, c.detail.partition(",")[0])
        found.setdefault(key, []).append(c)
    return [(cells,) for cells in found.values()]


def measure_all(chosen: Sequence[Cell]) -> List[Row]:
    """The cells of a group."""
    return [measure(cell) for cell in chosen]


def over_waveforms(cell: Cell) -> Row:
    """A cell of HF-PEP by size and speed over real waveforms in one thread, on CLEAR_AIR. Every
    octet is compared at the far end."""
    ours, emulated = _tcp(cell, "auto", CLEAR_AIR), _tcp(cell, "auto")
    how = "real waveforms, one thread"
    if ours is not None and emulated:
        how += f"; {100 * (ours / emulated - 1):+.1f} % of the event simulator"
    return Row(cell, ours, how)


def all_over_waveforms(chosen: Iterable[Cell], say: Callable[[str], None],
                       progress: Callable[[float], object] = lambda _: None) -> List[Row]:
    """Rows of over_waveforms(); say: called with the name of each run. progress: called with the
    share done, 0 to 1."""
    rows: List[Row] = []
    cells = [c for c in chosen if MEASURES.get(c.table) is _tcp and runs(c)]
    for cell in cells:
        progress(len(rows) / len(cells))
        say(f"waveforms: {cell.bit_rate} bit/s, {cell.octets} octets, {cell.metric}")
        rows.append(over_waveforms(cell))
    return rows


def _show(value: Optional[float], unit: str) -> str:
    if value is None:
        return "-"
    if unit in ("%", "bit/s", "kB", "MB"):
        return f"{value:.1f} {unit}"
    return f"{value:.0f} B" if unit == "B" else f"{value:.2f} s"


def _line(r: Row) -> str:
    from .papers_more import why_better
    c = r.cell
    size = f"{c.octets} octets" if c.octets % 100 or (c.table.startswith("S5066") and c.octets) \
        else f"{c.octets / 1000:g} kB" if c.octets else ""
    ber = f"BER {c.ber:g}" if "BER" in c.table else ""
    ratio = f"{100 * r.of_limit:.0f} %" if r.of_limit else "-"
    published = "failed" if c.published is None else _show(c.published, c.unit)
    ours = "-" if not r.judged else "failed" if r.ours is None else _show(r.ours, c.unit)
    what = ", ".join(x for x in (size, ber, c.detail) if x)
    how = r.how
    if r.of_limit and r.of_limit > 1.005:
        how += f"; better than the limit: {why_better(r)}"
    beaten = "-" if not r.judged else "yes" if r.beaten else "equal" if r.equal else "NO"
    return (f"| {c.number} | {c.bit_rate or ''} | {what} | {c.metric} | {published} | "
            f"**{ours}** | {_show(r.same, c.unit)} | {_show(c.goal, c.unit)} | "
            f"{_show(c.limit, c.unit)} | {ratio} | {beaten} | {how} |")


HEAD = ["| cell | bit/s | | what | published | ours | ACK as published | goal | limit | "
        "of the limit | beaten | run |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|"]


def report(rows: List[Row], below: Dict[str, str] = {}) -> str:
    """Markdown: missed figures first, then every table. below: Markdown under the table of that
    name."""
    missed = sorted((r for r in rows if r.judged and not r.beaten and not r.equal),
                    key=lambda r: r.cell.number)
    # A cell may have been run in two ways.
    judged = {r.cell.number for r in rows if r.judged}
    lost = {r.cell.number for r in missed}
    rest = {r.cell.number for r in rows} - judged
    lines = [f"{len(judged - lost)} of {len(judged)} published cells beaten or equal, {len(rest)} "
             "were not run; clear channel unless said otherwise. All settings are the defaults, "
             "except the mode. Ours: short interleaver for data, ultra short for "
             "acknowledgements (`ack_mode = \"auto\"`). ACK as published: short for both "
             "(`ack_mode = \"same\"`).", ""]
    if missed:
        lines += ["### Missed", "", *HEAD, *map(_line, missed), ""]
    for table, title in TITLES.items():
        part = sorted((r for r in rows if r.cell.table == table), key=lambda r: r.cell.number)
        if part:
            lines += [f"### {title}", "", *HEAD, *map(_line, part), ""]
        if part and below.get(table):
            lines += [below[table], ""]
    return "\n".join(lines)
