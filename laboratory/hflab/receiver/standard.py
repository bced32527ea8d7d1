# SPDX-License-Identifier: GPL-3.0-or-later
"""The conditions of MIL-STD-188-110C (Tables XVI and C-XVII, C.6; Appendix D for the wideband
waveforms) as measurements: each row of performance.csv and performance_wideband.csv beside what
the receiver does, and the SNR that it needs."""
import csv
from dataclasses import dataclass
from fnmatch import fnmatch
import math
from pathlib import Path
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from scipy.stats import gamma

from gnuradio.hf import hf_python as hf
from gnuradio.hf.options import option
from .. import sweep
from .ber import Point, Receiver, Reception, Result, Stop, joined, outward

DATA = Path(__file__).parent
# Where the standard names no duration: our choice.
DEFAULT_DURATION_S = 3600.0
TRANSMISSION_S = 26.0
LETTERS = {"L": "L", "VL": "VL", "none": "N"}


class Row(NamedTuple):
    """One condition. max_ber is None where synchronisation alone is asked for."""

    id: str
    mode: str
    channel: str  # without the SNR
    snr_db: float
    max_ber: Optional[float]
    duration_s: float
    whole: bool   # one transmission of the whole duration
    what: str
    target_db: Optional[float] = None  # SNR that we want to do with; none: no target


def _paths(row: Dict[str, str]) -> str:
    if int(row["paths"]) == 1:
        return "awgn"
    spread = row["fading_bw_hz_two_sigma"]
    return f"paths=0:0:{spread},{row['delay_ms']}:0:{spread}"


def rows(wanted: Sequence[str] = ()) -> List[Row]:
    """Every row, or those whose names fit one of the patterns, for example "D12-*"."""
    every = narrowband_rows() + wideband_rows()
    return [r for r in every if not wanted or any(fnmatch(r.id, w) for w in wanted)]


def wideband_modes() -> Dict[Tuple[int, int], str]:
    """The mode of each bandwidth in kHz and waveform number, with the long interleaver."""
    return {(m.bandwidth_hz // 1000, m.waveform): str(m) for m in hf.mode.all()
            if m.waveform is not None and m.interleaver == "L" and m.constraint_length == 7}


#: Poor: what we want to do with, by waveform number, dB.
#: The others 3 dB below the limit.
POOR_TARGETS_DB = {6: 11.0, 7: 15.0, 8: 17.5, 9: 20.5, 10: 23.5}
#: How far from the ideal receiver on AWGN, dB.
FROM_IDEAL_DB = 0.7
SPARE_DB = 3.0


def wideband_ideal_db(constraint_length: int = 7) -> Dict[int, float]:
    """SNR in the own bandwidth at which the ideal receiver has a bit error rate of 1e-5 on AWGN,
    by waveform number; simulated for 3 kHz, longest interleaver."""
    with open(DATA / "performance_ideal_wideband.csv", newline="", encoding="utf-8") as file:
        return {int(r["wid"]): float(r["ideal_receiver_snr_db_at_1e-5"])
                for r in csv.DictReader(file) if int(r["K"]) == constraint_length}


def _wideband_target(kind: str, wid: int, limit_db: float) -> float:
    if kind == "AWGN":
        return wideband_ideal_db()[wid] + FROM_IDEAL_DB
    if kind == "POOR":
        return POOR_TARGETS_DB.get(wid, limit_db - SPARE_DB)
    return limit_db if kind == "STATIC" else limit_db - SPARE_DB


def wideband_rows() -> List[Row]:
    """Every row of performance_wideband.csv: D<kHz>-<waveform>-<condition>."""
    modes = wideband_modes()
    result = []
    with open(DATA / "performance_wideband.csv", newline="", encoding="utf-8") as file:
        for r in csv.DictReader(file):
            delays = [float(d) for d in r["path_delays_ms"].split()]
            spread = float(r["fading_2sigma_hz"] or 0)
            channel = "awgn" if len(delays) == 1 and spread == 0 else "paths=" + ",".join(
                f"{d:g}:0:{spread:g}" for d in delays)
            kind, whole = r["channel"], False
            if r["test"] == "doppler_sweep":
                kind, whole, channel = "SWEEP", True, channel + " offset=75 sweep=3.5"
            elif r["test"] == "doppler_shift":
                up = "+75" in r["note"]
                kind, whole = "UP75" if up else "DOWN75", True
                channel += f" offset={75 if up else -75}"
            ber = float(r["ber_max"]) if r["ber_max"] else None
            bandwidth, wid = int(r["bw_khz"]), int(r["wid"])
            limit_db = float(r["snr_db_in_bw"])
            what = kind if len(delays) < 2 or kind == "POOR" else \
                f"{kind}, {' '.join(f'{d:g}' for d in delays)} ms"
            result.append(Row(f"D{bandwidth}-{wid}-{kind}", modes[bandwidth, wid], channel,
                              limit_db, ber, 60 * float(r["min_minutes"]), whole,
                              f"{bandwidth} kHz, waveform {wid}, {what}",
                              _wideband_target(kind, wid, limit_db)))
    return result


def narrowband_rows() -> List[Row]:
    """Every row of performance.csv: P01 to P35."""
    result = []
    with open(DATA / "performance.csv", newline="", encoding="utf-8") as file:
        for r in csv.DictReader(file):
            interleaver = LETTERS[r["interleaver"].split()[0]]
            channel, whole = _paths(r), False
            offset = r["frequency_offset_hz"]
            if offset.startswith("triangle"):
                channel, whole = channel + " offset=75 sweep=3.5", True
            elif float(offset or 0) != 0:
                channel, whole = channel + f" offset={offset}", True
            ber = float(r["max_ber"]) if r["max_ber"] else None
            fading = "AWGN" if channel.startswith("awgn") else \
                f"{r['delay_ms']} ms {r['fading_bw_hz_two_sigma']} Hz"
            extra = "" if not whole else (", sweep" if "sweep" in channel else f", {offset} Hz")
            result.append(Row(
                r["id"], f"4539-{r['rate_bps']}{interleaver}", channel, float(r["snr_db"]), ber,
                float(r["min_duration_s"] or DEFAULT_DURATION_S), whole, fading + extra))
    return result


def ideal_awgn(rate_bps: int) -> List[Tuple[float, float]]:
    """SNR and bit error rate of the ideal receiver, where it made errors."""
    with open(DATA / "performance_ideal_awgn.csv", newline="", encoding="utf-8") as file:
        return sorted((float(r["snr_db_in_3khz"]), float(r["ber"]))
                      for r in csv.DictReader(file)
                      if int(r["rate_bps"]) == rate_bps and float(r["ber"]) > 0)


def ideal_awgn_db(rate_bps: int, ber: float = 1e-5) -> Optional[float]:
    """SNR at which the ideal receiver reaches \\p ber: interpolated between its points."""
    points = [(snr, math.log10(b)) for snr, b in ideal_awgn(rate_bps)]
    target = math.log10(ber)
    for (s0, b0), (s1, b1) in zip(points, points[1:]):
        if b0 >= target >= b1:
            return s0 + (s1 - s0) * (b0 - target) / (b0 - b1)
    if len(points) > 1 and points[-1][1] > target:  # the last step, continued
        (s0, b0), (s1, b1) = points[-2:]
        return s1 + (s1 - s0) * (b1 - target) / (b0 - b1)
    return None


Run = Callable[[Point, Stop], Result]
#: The same with the seed of the first transmission.
SeededRun = Callable[[Point, Stop, int], Result]

#: Signal from which on a row counts as shown, s and bits.
SHOWN_S, SHOWN_BITS = 600.0, 3_000_000
#: First seeds of the two families that share this signal: the receiver was developed with small
#: ones.
FAMILIES = (1, 1_000_001)
#: Confidence of a bound, %.
CONFIDENCE = 97.5


def upper_bound(result: Result) -> float:
    """Bound of the bit error rate, 97.5 %, Poisson, for blocks with errors, or bits if there are
    none."""
    if result.bad_blocks == 0:
        return float(gamma.ppf(CONFIDENCE / 100, 1)) / result.bits
    worse = float(gamma.ppf(CONFIDENCE / 100, result.bad_blocks + 1)) / result.bad_blocks
    return result.ber * worse


def verdict(row: Row, r: Result) -> str:
    """shown: enough signal, nothing lost, and the upper bound within the limit; met: no more
    errors than allowed; open: more, but too few bad blocks to tell; MISSED."""
    allowed = row.max_ber or 0.0
    enough = r.bits >= SHOWN_BITS and r.air_s >= SHOWN_S
    if enough and upper_bound(r) <= allowed and r.lost + r.cut == 0:
        return "shown"
    if r.ber <= allowed:
        return "met"
    least = float(gamma.ppf(1 - CONFIDENCE / 100, r.bad_blocks)) / r.bad_blocks
    return "open" if r.ber * least <= allowed else "MISSED"


class Outcome(NamedTuple):
    """A row, its result at the required SNR (or at at_db), the least SNR found enough, and the
    least SNR of the matched-filter bound."""

    row: Row
    at_limit: Result
    needs_db: Optional[float]
    at_db: Optional[float] = None
    bound_db: Optional[float] = None

    @property
    def met(self) -> bool:
        return passes(self.row, self.at_limit)


def passes(row: Row, result: Result) -> bool:
    """Whether the measured rate is allowed. Rows without a rate: nothing was lost or cut."""
    if row.max_ber is None:
        return result.lost + result.cut == 0
    return result.ber <= row.max_ber


#: Blocks with errors after which a target counts as missed.
MISSED_AFTER = 30


def _least_db(row: Row, good: float, finest: float, at: Callable[[float], Result]) -> float:
    """The least SNR that is enough, below one that is: down by 2 dB while it holds, then halve
    the step."""
    step, lowest = 2.0, good - 20
    while good > lowest and passes(row, at(good - step)):
        good -= step
    while step > finest:
        step /= 2
        if passes(row, at(good - step)):
            good -= step
    return good


#: Last steps of a search, dB: of the receiver, and of both if the bound is computed as well.
FINEST_DB, FINEST_BESIDE_BOUND_DB = 0.5, 0.25


def check(row: Row, scale: float, effort: int, search: bool, run: Run,
          at_target: bool = False, bound: bool = False) -> Outcome:
    """Measure a row for its duration times scale. search: find the least SNR that is enough;
    bound: also that of the matched-filter bound, for the same duration. at_target: measure at
    the target instead of at the limit, for a row that has one, and until it is missed."""
    duration = row.duration_s * scale
    seconds = duration if row.whole else min(TRANSMISSION_S, duration)
    if "sweep" in row.channel:
        seconds = max(seconds, 90.0)  # one period

    def at(snr: float, receiver: Receiver = Receiver.HF) -> Result:
        return run(Point(row.mode, f"{row.channel} snr={snr:g}", seconds, effort, receiver),
                   Stop(bad_blocks=MISSED_AFTER if at_target else 10 ** 9, air_s=duration))

    if at_target:
        if row.target_db is None:
            raise ValueError(f"row {row.id} has no target")
        result = at(round(row.target_db, 2))
        needs = row.target_db if passes(row, result) else None
        return Outcome(row, result, needs, row.target_db)
    limit = at(row.snr_db)
    if not search or row.max_ber is None or not passes(row, limit):
        return Outcome(row, limit, None)
    needs = _least_db(row, row.snr_db, FINEST_BESIDE_BOUND_DB if bound else FINEST_DB, at)
    if not bound:
        return Outcome(row, limit, needs)
    return Outcome(row, limit, needs, bound_db=_least_db(
        row, row.snr_db, FINEST_BESIDE_BOUND_DB, lambda snr: at(snr, Receiver.BOUND)))


#: Duration of one transmission, s: nearly the longest of a data link, 127.5.
ACCEPT_TRANSMISSION_S = 120.0
#: From the target towards the limit while a row is not shown, dB.
ACCEPT_STEP_DB = 0.5
#: Times the signal that shows a row after which a place without a verdict is left.
MAX_SIGNAL = 3


def accept(row: Row, effort: int, run: SeededRun) -> Outcome:
    """Where row is shown, from its target on up: each place with half of the signal from each
    family of seeds, and up to three times of that while only the bound is too high.

    Raises ValueError for a row without a target or a bit error rate."""
    if row.target_db is None or row.max_ber is None:
        raise ValueError(f"row {row.id} has no target")
    at_db = round(row.target_db, 2)
    while True:
        point = Point(row.mode, f"{row.channel} snr={at_db:g}", ACCEPT_TRANSMISSION_S,
                      effort)
        for times in range(1, MAX_SIGNAL + 1):
            stop = Stop(MISSED_AFTER, times * SHOWN_S / 2, times * SHOWN_BITS // 2)
            result = joined([run(point, stop, seed) for seed in FAMILIES])
            word = verdict(row, result)
            if word in ("shown", "MISSED") or result.lost + result.cut > 0:
                break
        if word == "shown" or at_db >= row.snr_db:
            return Outcome(row, result, at_db if word == "shown" else None, at_db)
        at_db = min(round(at_db + ACCEPT_STEP_DB, 2), row.snr_db)


def margins(outcomes: List[Outcome]) -> str:
    """How far below the standard's limits the wideband rows of --search went, as a Markdown table:
    dB for each waveform and bandwidth, "missed" where even the limit was not met."""
    cells: Dict[Tuple[str, int, int], str] = {}
    for o in outcomes:
        head, wid, kind = (o.row.id + "--").split("-")[:3]
        if head.startswith("D") and kind in ("AWGN", "POOR"):
            cells[kind, int(wid), int(head[1:])] = (
                "missed" if o.needs_db is None else f"{o.row.snr_db - o.needs_db:g}")
    bandwidths = sorted({b for _, _, b in cells})
    return sweep.table(["dB below the limit", *(f"{b} kHz" for b in bandwidths)], (
        [f"{kind}, waveform {wid}", *(cells.get((kind, wid, b), "") for b in bandwidths)]
        for kind, wid in sorted({(k, w) for k, w, _ in cells})))


HEAD = ["row", "mode", "channel", "limit dB", "measured at", "BER allowed", "BER",
        "95 % up to", "bad blocks", "lost", "needs dB", "margin dB", "bound dB", "above it dB",
        ""]


def table(outcomes: List[Outcome]) -> str:
    """The outcomes as a Markdown table."""
    return sweep.table(HEAD, map(_cells, outcomes))


def _cells(o: Outcome) -> List[str]:
    r = o.at_limit
    at_db = o.row.snr_db if o.at_db is None else o.at_db
    return [o.row.id, o.row.mode, o.row.what, f"{o.row.snr_db:g}", f"{at_db:g}",
            "hold" if o.row.max_ber is None else f"{o.row.max_ber:.0e}", f"{r.ber:.1e}",
            outward(*r.ber_interval()).split()[-1], f"{r.bad_blocks} of {r.blocks}",
            f"{r.lost + r.cut} of {r.trials}", "" if o.needs_db is None else f"{o.needs_db:g}",
            "" if o.needs_db is None else f"{o.row.snr_db - o.needs_db:g}",
            "" if o.bound_db is None else f"{o.bound_db:g}",
            "" if o.bound_db is None or o.needs_db is None else f"{o.needs_db - o.bound_db:g}",
            "met" if o.met else "MISSED"]


@dataclass(frozen=True)
class Options(Reception):
    """Options of hf-lab ber standard."""

    wanted: Tuple[str, ...] = option(
        (), "Only this row (P01 to P35; D<kHz>-<waveform>-AWGN, -POOR, -STATIC, -UP75, -DOWN75 or "
        "-SWEEP) or these (D12-*, D*-POOR). May be repeated.", flag="--row", metavar="ID")
    scale: float = option(1.0, "Share of the duration that the standard asks for.", least=0.001,
                          most=10)
    search: bool = option(False, "Also find the SNR that is enough, to 0.5 dB, and list how far "
                          "wideband rows are below the limit.")
    bound: bool = option(False, "With --search: also find the SNR of the matched-filter bound, "
                         "both to 0.25 dB.")
    at_target: bool = option(
        False, "Measure each wideband row at the SNR that we want it to need, instead of its "
        "limit: 0.7 dB above the ideal receiver on AWGN, 3 to 7.5 dB below the limit on Poor.")
    accept: bool = option(
        False, "Find the SNR at which each wideband row is shown, from that of --at-target up in "
        "steps of 0.5 dB. Shown: 600 s and 3 million bits, half of them with seeds of their own, "
        "nothing lost, and the bit error rate below the limit with 97.5 % (Poisson).")

    def __post_init__(self) -> None:
        if self.search + self.at_target + self.accept > 1:
            raise ValueError("only one of --search, --at-target and --accept")
        if self.bound and not self.search:
            raise ValueError("--bound goes with --search")
        if self.accept and (self.scale, self.seed) != (1.0, 1):
            raise ValueError("--accept takes no --scale and no --seed: it has its own")
        if not self.rows():
            raise ValueError(f"no row {', '.join(self.wanted)}; there are P01 to P35 and "
                             "D3-0-AWGN to D48-12-STATIC")

    def rows(self) -> List[Row]:
        """The rows to measure."""
        return [r for r in rows(self.wanted)
                if r.target_db is not None or not (self.at_target or self.accept)
                if r.max_ber is not None or not self.accept]

    def measure(self, row: Row, run: SeededRun) -> Outcome:
        """Outcome of one row. run: also gets the seed of the first transmission."""
        if self.accept:
            return accept(row, self.effort, run)
        return check(row, self.scale, self.effort, self.search,
                     lambda point, stop: run(point, stop, self.seed), self.at_target, self.bound)

    def table(self, outcomes: List[Outcome]) -> str:
        """Markdown: the rows, and how far wideband rows are below their limits."""
        text = table(outcomes)
        if (self.search or self.at_target or self.accept) and any(
                o.row.id.startswith("D") for o in outcomes):
            text += "\n\n" + margins(outcomes)
        return text
