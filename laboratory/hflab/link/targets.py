# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of the data link beside published ones, targets and the limit, on the event simulator
with the engines of the stations."""
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from gnuradio.hf import hf_python as hf
from gnuradio.hf.simulation import simulator
from .. import experiments
from .. import sweep
from gnuradio.hf.simulation import scenarios
from . import papers


class Row(NamedTuple):
    """One figure. published: of a commercial system; limit: air time alone; of unit "s" less is
    better, of "%" more."""

    section: str
    what: str
    ours: float
    target: Optional[float] = None
    published: Optional[float] = None
    limit: Optional[float] = None
    unit: str = "%"

    @property
    def missed(self) -> bool:
        if self.target is None:
            return False
        return self.ours < 0 or (self.ours > self.target if self.unit == "s"
                                 else self.ours < self.target)


class Bulk(NamedTuple):
    """Acknowledged U_PDUs one way on a clear channel; percent of the data rate."""

    mode: str
    octets: int
    u_pdu: int
    published: float
    target: Optional[float]
    limit: Optional[float]
    ack_mode: str = "auto"
    note: str = ""


#: Figures by rate, with the long interleaver, and by U_PDU size at 1200 bit/s.
BULK = [Bulk("4539-9600S", 2_000_000, 2042, 83, 95.5, 96.5),
        Bulk("4539-1200S", 300_000, 2042, 90, 95, 95.9),
        Bulk("4539-75S", 20_000, 2042, 87, 88.5, 91.2),
        # The published systems, and the limit, acknowledge with the long interleaver.
        Bulk("4539-1200L", 300_000, 2042, 82, 85.7, None, "auto", ", short acknowledgements"),
        Bulk("4539-1200L", 300_000, 2042, 82, None, 86.1, "same", ", long acknowledgements")]
MTU = [Bulk("4539-1200S", 300_000, 2048, 90, 94, 94.8),
       Bulk("4539-1200S", 300_000, 1024, 89, 93, 93.9),
       Bulk("4539-1200S", 300_000, 512, 88, 92.5, 93.5),
       Bulk("4539-1200S", 300_000, 256, 85, 88, 89.1),
       Bulk("4539-1200S", 200_000, 128, 68, 80, 81.7),
       Bulk("4539-1200S", 100_000, 64, 33, 68, 69.8)]
#: The limit is that of plain Edition 3.
BIT_ERRORS = [(1e-5, 88.6, 89.5, 90.4), (1e-4, 55.9, 73.5, 74.8)]
NON_ARQ = [(75, 20_000, 81, 90), (1200, 300_000, 89, 95), (9600, 2_000_000, 94, 96.5)]
#: Shares of the load that go back, of 90 % of the data rate.
SPLITS = [0.04, 0.1, 0.25, 0.5]
#: Channels of the rate adaptation: name, mean SNR, swing of day and night, variation, fading.
CHANNELS = [("Poor, 15 dB with a swing of 10 dB", 15.0, 10.0, 3.0, 1.0),
            ("Moderate, 18 dB with a swing of 10 dB", 18.0, 10.0, 3.0, 0.5),
            ("Poor, 8 dB throughout", 8.0, 0.0, 0.0, 1.0),
            ("Poor, 22 dB throughout", 22.0, 0.0, 0.0, 1.0)]
#: Fixed modes that the adaptation is compared with on a channel of constant statistics.
FIXED = [f"4539-{rate}L" for rate in (600, 1200, 2400, 3200, 4800, 6400, 8000, 9600)]
#: Two ways of different SNR, dB: the good and the bad ones. Fading in Hz, and the best fixed mode
#: of data at each SNR: all were tried for half an hour, with answers in the best fixed mode.
GOOD_DB, BAD_DB = [20, 15, 10], [10, 5, 0]
FADINGS = [("AWGN", 0.0, {20: "9600S", 15: "8000S", 10: "4800S", 5: "3200S", 0: "600S"}),
           ("Moderate", 0.5, {20: "8000L", 15: "4800L", 10: "3200L", 5: "1200L", 0: "300L"}),
           ("Poor", 1.0, {20: "8000L", 15: "4800L", 10: "3200L", 5: "1200L", 0: "300L"})]
#: Fixed modes of answers that are tried.
ANSWERS = ["75S", "300S", "600S", "1200S", "2400S"]
#: Runs of each pattern of stations that share a channel, with seeds from 1 on.
SHARING_SEEDS = 12
PING_OCTETS = 32
PING_RATES = [75, 150, 300, 600, 1200, 2400, 3200, 4800, 6400, 8000, 9600]
# A ping is an S_UNIDATA of this many octets in one D_PDU with the longest addresses.
_DATA = PING_OCTETS + 4 + 22
_LINK = 29   # C_PDU of the link set-up in its D_PDU
_ACKS = 32   # two copies
# Collecting data, decoding and switching over.
_DELAYS_S = 0.4


def _goodput(result: Dict[str, float], rate: int, what: str) -> float:
    if not result["complete"] or result["octets_altered"]:
        raise RuntimeError(f"{what}: not everything was delivered")
    return 800 * result["octets_delivered"] / (rate * result["time_s"])


def _bulk(section: str, case: Bulk, part: int) -> List[Row]:
    result = simulator.simulate(case.mode, case.octets // part, case.u_pdu,
                                ack_mode=case.ack_mode)
    return [Row(section, f"{case.mode}, U_PDUs of {case.u_pdu}{case.note}",
                _goodput(result, hf.mode(case.mode).rate_bps, case.mode), case.target,
                case.published, case.limit)]


def _bit_errors(ber: float, published: float, target: float, limit: float, large: bool, part: int
                ) -> List[Row]:
    r = simulator.simulate("4539-9600S", 6_000_000 // part, ber=ber,
                           settings={} if large else {"large_windows": 0})
    name = "large windows" if large else "plain Edition 3"
    return [Row("Bulk ARQ with bit errors", f"4539-9600S, BER {ber:g}, {name}",
                _goodput(r, 9600, f"BER {ber:g}"), target, published,
                None if large else limit)]


def _non_arq(rate: int, octets: int, published: float, target: float, part: int) -> List[Row]:
    r = simulator.simulate(f"4539-{rate}S", octets // part, arq=False)
    return [Row("Non-ARQ", f"4539-{rate}S", _goodput(r, rate, "non-ARQ"), target, published)]


def _speed(octets: int) -> List[Row]:
    # Processor time, so that other work on the machine does not count.
    begin = time.thread_time()
    r = simulator.simulate("4539-9600S", octets)
    return [Row("Simulator", "two stations at 9600 bit/s, of 5000 times real time",
                100 * r["end_s"] / (time.thread_time() - begin) / 5000, 100)]


def ping_goal(mode: str, first: bool) -> float:
    """Request and answer with the acknowledgement in it, in seconds."""
    timing = hf.timing(hf.mode(mode))
    link = _LINK if first else 0
    there: float = timing.duration(_DATA + link)
    back: float = timing.duration(_DATA + _ACKS + link)
    return there + back + _DELAYS_S


def ping_modes() -> List[str]:
    """Each rate with its shortest, the short and the long interleaver."""
    return [f"4539-{rate}{il}" for rate in PING_RATES
            for il in (["Z", "S", "L"] if rate <= 2400 else ["US", "S", "L"])]


def _pings(mode: str) -> List[Row]:
    published = {(c.bit_rate, c.metric): c.published for c in papers.cells()
                 if c.table == "ARQ ping by speed"}
    times = simulator.simulate_ping(mode, False, PING_OCTETS, 6)
    rate = hf.mode(mode).rate_bps
    following = -1.0 if min(times) < 0 else sum(times[1:]) / len(times[1:])
    rows = []
    for first, ours in ((True, times[0]), (False, following)):
        name = "first ping" if first else "subsequent ping"
        rows.append(Row("Ping", f"{mode} {'first' if first else 'following'}", ours,
                        1.1 * ping_goal(mode, first),
                        published.get((rate, name)) if mode.endswith("S")
                        and not mode.endswith("US") else None, unit="s"))
    return rows


def _two_way(share: float, part: int) -> List[Row]:
    back = round(share * 0.9 * 9600)
    end = 7200 / part
    text = (f'duration_s = {end}\n[[station]]\nname = "A"\n[[station]]\nname = "B"\n'
            '[[traffic]]\nfrom = "A"\nto = "B"\n'
            f'[[traffic]]\nfrom = "B"\nto = "A"\nrate_bps = {back}\nstart_s = 60\n')
    run, = scenarios.parse(text)
    result = run.scenario.run()
    there, answer = (8 * f.octets_delivered / end for f in result.flows)
    return [Row("Two-way load at 9600 bit/s, sum",
                f"{there:.0f} + {answer:.0f} bit/s ({back} offered back)",
                100 * (there + answer) / 9600, 90, 100 * (7700 + 320) / 9600)]


def _adaptation(name: str, mean: float, swing: float, slow: float, fading: float, part: int
                ) -> List[Row]:
    section, hours = "Rate adaptation, of the oracle's goodput", 24 / part

    def run(mode: str) -> Dict[str, float]:
        r: Dict[str, float] = experiments.simulate_rates(
            mode=mode, hours=hours, mean_db=mean, swing_db=swing, slow_db=slow,
            fading_hz=fading)
        return r

    auto = run("auto")
    rows = [Row(section, f"{name}, {hours:g} h", 100 * auto["goodput_bps"] / auto["oracle_bps"],
                90)]
    if swing == 0:
        best, mode = max((run(mode)["goodput_bps"], mode) for mode in FIXED)
        rows.append(Row(section, f"{name}: the best fixed mode, {mode}",
                        100 * best / auto["oracle_bps"]))
    return rows


def _one_way_worse(name: str, fading: float, modes: Dict[int, str], worse: str, part: int
                   ) -> List[Row]:
    """The least of the cells of a channel where one way is the worse one."""
    def share(there: int, back: int, mode: str) -> float:
        def run(mode: str, back_mode: str) -> float:
            r: Dict[str, float] = experiments.simulate_rates(
                mode=mode, back_mode=back_mode, hours=0.5 / part, mean_db=there,
                back_mean_db=back, swing_db=0, slow_db=0, fading_hz=fading)
            return r["goodput_bps"]
        best = max(run(f"4539-{mode}", f"4539-{answer}") for answer in ANSWERS)
        return 100 * run("auto", "auto") / max(best, 1)

    cells = [(a, b) if worse == "back" else (b, a) for a in GOOD_DB for b in BAD_DB]
    least, cell = min((share(*cell, modes[cell[0]]), cell) for cell in cells)
    return [Row("Rate adaptation where one way is worse, of the best fixed pair of modes",
                f"{name}, the way {worse} is worse: least of {len(cells)} cells, "
                f"{cell[0]} dB there and {cell[1]} dB back", least, 80)]


_SHARING = "Stations on one channel, 2400 bit/s, default settings"


def _sharing(what: str, part: int, options: Dict[str, Any]) -> List[Row]:
    options = dict(options)
    late, hidden = options.pop("late_s", 0), options.get("hidden", False)
    # A new station starts at many places of the transmissions of the others.
    runs = [experiments.simulate_sharing(seed=seed, late_s=late and late + 43 * seed, **options)
            for seed in range(1, 2 if part > 1 else 1 + SHARING_SEEDS)]
    name = f"{what}, {len(runs)} runs of {options['hours']:g} h"
    rows = [Row(_SHARING, f"{name}: mean utilisation",
                100 * sum(r["utilisation"] for r in runs) / len(runs))]
    if not late:
        rows.append(Row(_SHARING, f"{name}: least fairness (Jain)",
                        100 * min(r["fairness"] for r in runs), None if hidden else 95))
    waits = [r["wait_s"][-1] if late else max(r["wait_s"]) for r in runs]
    rows.append(Row(_SHARING, f"{name}: longest wait", max(waits), None if hidden else 600,
                    unit="s"))
    if not hidden:
        rows.append(Row(_SHARING, f"{name}: runs with a wait over 600 s, of all",
                        100 * sum(w > 600 for w in waits) / len(runs)))
    return rows


def _half_load(stations: int, part: int) -> List[Row]:
    r = experiments.simulate_sharing(stations=stations, hours=8 / part, load_bps=1200.0 / stations)
    name = f"{stations} stations, half of the load"
    return [Row(_SHARING, f"{name}: utilisation", 100 * r["utilisation"]),
            Row(_SHARING, f"{name}: fairness (Jain)", 100 * r["fairness"])]


#: A part of the table: a function that makes its rows, and its arguments.
Job = Tuple[Callable[..., List[Row]], Tuple[Any, ...]]


def _sharing_jobs(part: int) -> Iterator[Job]:
    def job(what: str, **options: Any) -> Job:
        return _sharing, (what, part, options)

    for stations, patterns in ((2, ["two-way"]), (3, ["one-way", "two-way"]),
                               (8, ["one-way", "two-way", "mixed"])):
        for pattern in patterns:
            yield job(f"{stations} stations, {pattern}, always sending", stations=stations,
                      pattern=pattern, hours=1.0)
    for stations in (3, 8):
        yield job(f"{stations} stations, two-way, the last comes after 30 min",
                  stations=stations, pattern="two-way", hours=1.5, late_s=1800)
        yield job(f"{stations} stations, one-way, first and last do not hear each other",
                  stations=stations, pattern="one-way", hours=1.0, hidden=True)
        yield _half_load, (stations, part)


def jobs(quick: bool = False) -> List[Job]:
    """All parts of the table, in its order; quick: a tenth of the octets and hours."""
    part = 10 if quick else 1
    return [
        *((_bulk, ("Bulk ARQ, clear channel", case, part)) for case in BULK),
        *((_bulk, ("Bulk ARQ at 1200 bit/s by U_PDU size", case, part)) for case in MTU),
        *((_bit_errors, (*case, large, part)) for case in BIT_ERRORS for large in (False, True)),
        *((_non_arq, (*case, part)) for case in NON_ARQ),
        *((_two_way, (share, part)) for share in SPLITS),
        *((_adaptation, (*channel, part)) for channel in CHANNELS),
        *((_one_way_worse, (*fading, worse, part)) for fading in FADINGS
          for worse in ("back", "there")),
        *_sharing_jobs(part),
        (_speed, (10_000_000 // part,)),
        *((_pings, (mode,)) for mode in ping_modes())]


def _made(make: Callable[..., List[Row]], arguments: Tuple[Any, ...]) -> List[Row]:
    return make(*arguments)


def measure(wanted: List[Job], workers: sweep.Workers) -> Iterator[List[Row]]:
    """The rows of each part, in the order of the parts."""
    return sweep.run(_made, wanted, workers)


def _show(value: Optional[float], unit: str) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if unit == "s" else f"{value:.1f}"


def _line(r: Row, name: str) -> str:
    sign = "<=" if r.unit == "s" else ">="
    target = "-" if r.target is None else f"{sign} {_show(r.target, r.unit)}"
    met = "-" if r.target is None else "NO" if r.missed else "yes"
    published = "-" if r.published is None else f"{r.published:.4g}"
    return (f"| {name} | {published} | **{_show(r.ours, r.unit)}** | {target} | "
            f"{_show(r.limit, r.unit)} | {met} |")


def _ping_table(rows: List[Row]) -> Iterator[str]:
    yield ("| mode | published first | following | first, s | goal | following, s | goal | "
           "within 10 % |")
    yield "|---|---|---|---|---|---|---|---|"
    pairs: List[Tuple[Row, Row]] = list(zip(rows[::2], rows[1::2]))
    for a, b in pairs:
        mode = a.what.split()[0]
        published = [("-" if r.published is None else f"{r.published:.4g}") for r in (a, b)]
        yield (f"| {mode} | {published[0]} | {published[1]} | **{a.ours:.2f}** | "
               f"{ping_goal(mode, True):.2f} | **{b.ours:.2f}** | {ping_goal(mode, False):.2f} | "
               f"{'NO' if a.missed or b.missed else 'yes'} |")


def report(rows: List[Row]) -> str:
    """Markdown: missed figures first, then every section."""
    wanted = [r for r in rows if r.target is not None]
    missed = [r for r in wanted if r.missed]
    head = ["| what | published | ours | target | limit | met |", "|---|---|---|---|---|---|"]
    lines = [f"{len(wanted) - len(missed)} of {len(wanted)} targets met; utilisation in percent "
             "of the data rate, times in seconds.", ""]
    if missed:
        lines += ["### Missed", "", *head,
                  *(_line(r, f"{r.section}: {r.what}") for r in missed), ""]
    for section in dict.fromkeys(r.section for r in rows):
        part = [r for r in rows if r.section == section]
        if section == "Ping":
            lines += [f"### Ping of {PING_OCTETS} octets over the data link", "",
                      *_ping_table(part), ""]
        else:
            lines += [f"### {section}", "", *head, *(_line(r, r.what) for r in part), ""]
    return "\n".join(lines)
