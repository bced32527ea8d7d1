# SPDX-License-Identifier: GPL-3.0-or-later
"""Bit error rates: trials (one transmission each) over modes, channels and SNR, in parallel,
repeatable and resumable. A trial is a pure function of its mode, channel, length, seed and
effort, and a sweep counts trials in the order of their seeds, so that the result depends
neither on the number of processors nor on interruptions."""
import csv
import decimal
import os
from collections import deque
from concurrent.futures import Executor
from typing import Callable, Dict, IO, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from scipy.stats import beta

from ... import hf_python as hf
from ... import output

KEYS = ["mode", "channel", "seconds", "effort", "genie", "seed"]
COUNTS = ["bits", "errors", "blocks", "bad_blocks", "receptions", "found", "ended"]
MEASURED = ["snr_db", "offset_hz", "air_s", "cpu_s"]
COLUMNS = KEYS + COUNTS + MEASURED


#: Of the preamble of wideband transmissions: what 110C D.6.1 measures with.
WIDEBAND_SUPERFRAMES = 20


class Point(NamedTuple):
    """Where a curve is sampled; the channel says all, its SNR included. With two antennas it has
    the words of both, with | between them."""

    mode: str
    channel: str
    seconds: float = 30.0
    effort: int = 1
    genie: bool = False  # the receiver is told the simulated channel

    @property
    def name(self) -> str:
        """The mode, and whether the channel was known."""
        return self.mode + (" (channel known)" if self.genie else "")


class Stop(NamedTuple):
    """A point is done after so many bad blocks, or so much time of signal and so many bits."""

    bad_blocks: int = 20
    air_s: float = 600.0
    bits: int = 0


class Result(NamedTuple):
    """Sums over the trials of a point. Blocks of lost transmissions count as bad."""

    point: Point
    trials: int
    bits: int
    errors: int
    blocks: int
    bad_blocks: int
    lost: int       # transmissions not found, or found in a wrong mode or place
    cut: int        # found, but not followed to the end
    false: int      # receptions of what nobody sent
    air_s: float
    cpu_s: float

    @property
    def ber(self) -> float:
        return self.errors / self.bits

    def block_interval(self, confidence: float = 0.95) -> Tuple[float, float]:
        """Clopper-Pearson interval of the share of bad blocks."""
        return interval(self.bad_blocks, self.blocks, confidence)

    def ber_interval(self, confidence: float = 0.95) -> Tuple[float, float]:
        """Of the bit error rate. Errors come in bad blocks, so blocks are the independent
        events; without any, the rule for independent bits."""
        if self.bad_blocks == 0:
            return interval(0, self.bits, confidence)
        low, high = self.block_interval(confidence)
        share = self.bad_blocks / self.blocks
        return self.ber * low / share, self.ber * high / share


def interval(events: int, of: int, confidence: float) -> Tuple[float, float]:
    """Clopper-Pearson."""
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, events, of - events + 1)) if events > 0 else 0.0
    high = float(beta.ppf(1 - tail, events + 1, of - events)) if events < of else 1.0
    return low, high


def outward(low: float, high: float) -> str:
    """An interval with two digits, rounded away from its middle: what lies in it when exact
    still does when it is printed with at least as many."""
    context = decimal.Context(prec=2, rounding=decimal.ROUND_FLOOR)
    least = context.create_decimal_from_float(low)
    context.rounding = decimal.ROUND_CEILING
    most = context.create_decimal_from_float(high)
    return " to ".join(f"{bound:.1e}" if bound else "0" for bound in (least, most))


def trial(point: Point, seed: int) -> Dict[str, float]:
    """One trial, here and now; at module level so that it can be sent elsewhere."""
    first, _, second = point.channel.partition("|")
    result: Dict[str, float] = hf.ber_trial(point.mode, first, point.seconds, seed,
                                            point.effort, point.genie,
                                            superframes=WIDEBAND_SUPERFRAMES
                                            if point.mode.startswith("5069") else None,
                                            second=second.strip())
    return result


def link_trial(point: Point, seed: int) -> Dict[str, float]:
    """One trial with the preamble of the data link: as many super-frames as the mode has by
    itself."""
    result: Dict[str, float] = hf.ber_trial(point.mode, point.channel, point.seconds, seed,
                                            point.effort, point.genie)
    return result


def _row(key: Tuple[str, ...], value: Dict[str, float]) -> List[str]:
    return [*key, *(str(int(value[k])) for k in COUNTS),
            *(repr(float(value[k])) for k in MEASURED)]


class Store:
    """Finished trials, in a CSV file that a later run reads again. Without a file: memory.

    Raises output.OutputError for a file that holds something else.
    """

    def __init__(self, path: Optional[str] = None) -> None:
        self._known: Dict[Tuple[str, ...], Dict[str, float]] = {}
        self._file: Optional[IO[str]] = None
        if path is None:
            return
        output.check(path, first_line=output.first_line(COLUMNS))
        if os.path.exists(path):
            self._read(path)
        # Written anew, so that a line that was cut off does not spoil the next one.
        output.write_csv(path, COLUMNS, (_row(k, v) for k, v in self._known.items()))
        self._path = path
        self._file = open(path, "a", newline="", encoding="utf-8")
        self._writer = csv.writer(self._file, lineterminator="\n")

    def _read(self, path: str) -> None:
        with open(path, newline="", encoding="utf-8", errors="replace") as file:
            for number, row in enumerate(csv.DictReader(file), 2):
                values = [row.get(k) for k in COLUMNS]
                if any(v is None or v == "" for v in values):
                    continue  # cut off in the middle of a line
                try:
                    self._known[tuple(row[k] for k in KEYS)] = {
                        **{k: int(row[k]) for k in COUNTS},
                        **{k: float(row[k]) for k in MEASURED}}
                except ValueError:
                    raise ValueError(f"{path}, line {number}: not numbers where a trial has "
                                     "some") from None

    def _write(self, key: Tuple[str, ...], value: Dict[str, float]) -> None:
        if self._file is None:
            return
        try:
            self._writer.writerow(_row(key, value))
            self._file.flush()
        except OSError as error:
            raise output.OutputError(f"{self._path}: {error.strerror}") from None

    @staticmethod
    def _key(point: Point, seed: int) -> Tuple[str, ...]:
        return (point.mode, point.channel, repr(float(point.seconds)), str(point.effort),
                str(int(point.genie)), str(seed))

    def get(self, point: Point, seed: int) -> Optional[Dict[str, float]]:
        """The trial, if it was done before."""
        return self._known.get(self._key(point, seed))

    def add(self, point: Point, seed: int, value: Dict[str, float]) -> None:
        """Keep a trial."""
        key = self._key(point, seed)
        if key not in self._known:
            self._known[key] = value
            self._write(key, value)

    def results(self, least_seed: int = 0) -> List[Result]:
        """Every point in the file, with all of its trials, or those of seeds from one on."""
        points: Dict[Point, List[Dict[str, float]]] = {}
        for (mode, channel, seconds, effort, genie, seed), value in self._known.items():
            if int(seed) < least_seed:
                continue
            point = Point(mode, channel, float(seconds), int(effort), genie == "1")
            points.setdefault(point, []).append(value)
        return [summed(point, values) for point, values in points.items()]

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def trials(point: Point, executor: Executor, width: int, store: Store,
           first_seed: int, one: Callable[[Point, int], Dict[str, float]] = trial
           ) -> Iterator[Dict[str, float]]:
    """Trials without end, in the order of their seeds, some of them ahead of time."""
    waiting: deque = deque()
    seed = first_seed
    try:
        while True:
            while len(waiting) < width:
                done = store.get(point, seed)
                waiting.append((seed, done or executor.submit(one, point, seed)))
                seed += 1
            at, job = waiting.popleft()
            value = job if isinstance(job, dict) else job.result()
            store.add(point, at, value)
            yield value
    finally:
        for _, job in waiting:
            if not isinstance(job, dict):
                job.cancel()


def measure(point: Point, stop: Stop, executor: Executor, width: int, store: Store,
            first_seed: int = 1,
            one: Callable[[Point, int], Dict[str, float]] = trial,
            progress: Callable[[float], object] = lambda _: None) -> Result:
    """Trials until \\p stop is reached. \\p width: how many are under way at once; \\p one: trial
    or link_trial, a store has those of one kind; \\p progress: told the share of the way to
    \\p stop, 0 to 1, after each trial."""
    values: List[Dict[str, float]] = []
    bad_blocks = air_s = bits = 0.0
    source = trials(point, executor, width, store, first_seed, one)
    for value in source:
        values.append(value)
        bad_blocks += value["bad_blocks"]
        air_s += value["air_s"]
        bits += value["bits"]
        signal = min(air_s / stop.air_s, bits / stop.bits if stop.bits else 1.0)
        progress(min(max(bad_blocks / stop.bad_blocks, signal), 1.0))
        if bad_blocks >= stop.bad_blocks or air_s >= stop.air_s and bits >= stop.bits:
            break
    source.close()  # type: ignore[attr-defined]
    return summed(point, values)


def summed(point: Point, values: List[Dict[str, float]]) -> Result:
    """The sums over trials of a point."""
    sums = {key: sum(v[key] for v in values) for key in COUNTS + MEASURED}
    lost = sum(not v["found"] for v in values)
    cut = sum(bool(v["found"] and not v["ended"]) for v in values)
    false = sum(int(v["receptions"] - bool(v["found"])) for v in values)
    return Result(point, len(values), int(sums["bits"]), int(sums["errors"]),
                  int(sums["blocks"]), int(sums["bad_blocks"]), lost, cut, false,
                  sums["air_s"], sums["cpu_s"])


def joined(results: Sequence[Result]) -> Result:
    """Results of one point with different seeds, added."""
    assert len({r.point for r in results}) == 1
    return Result(results[0].point, *(sum(column) for column in list(zip(*results))[1:]))


def table(results: List[Result]) -> str:
    """The results as a Markdown table."""
    lines = ["| mode | channel | BER | 95 % interval | bad blocks | lost | cut | false | signal "
             "| x real time |", "|---|---|---|---|---|---|---|---|---|---|"]
    for r in results:
        lines.append(f"| {r.point.name} | {r.point.channel} | {r.ber:.2e} | "
                     f"{outward(*r.ber_interval())} | {r.bad_blocks} of {r.blocks} | "
                     f"{r.lost} of {r.trials} | {r.cut} | {r.false} | {r.air_s:.0f} s | "
                     f"{r.air_s / r.cpu_s:.0f} |")
    return "\n".join(lines)
