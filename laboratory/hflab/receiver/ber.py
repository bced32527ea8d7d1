# SPDX-License-Identifier: GPL-3.0-or-later
"""Bit error rates: trials (one transmission each) over modes, channels and SNR, in parallel,
repeatable and resumable. A trial is a pure function of its mode, channel, length, seed and
effort, and a sweep counts trials in the order of their seeds, so that the result depends
neither on the number of processors nor on interruptions."""
from dataclasses import dataclass
import decimal
from enum import IntEnum
import itertools
from typing import Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from scipy.stats import beta

from gnuradio.hf import hf_python as hf
from .. import experiments
from gnuradio.hf.options import option
from .. import sweep

#: Super-frames of wideband preambles in 110C D.6.1.
WIDEBAND_SUPERFRAMES = 20


class Receiver(IntEnum):
    """What receives the transmissions of a point."""

    HF = 0     # our receiver
    GENIE = 1  # the same, with the simulated channel instead of its estimate
    BOUND = 2  # every symbol arrives alone, over a known channel

    @property
    def note(self) -> str:
        """What follows the mode in names of points."""
        return ("", " (channel known)", " (bound)")[self]


class Point(NamedTuple):
    """Where a curve is sampled; the channel says all, its SNR included. With two antennas it has
    the words of both, with | between them."""

    mode: str
    channel: str
    seconds: float = 30.0
    effort: int = 1
    receiver: int = Receiver.HF

    @property
    def name(self) -> str:
        """The mode, and what received it."""
        return self.mode + Receiver(self.receiver).note


class Trial(NamedTuple):
    """One transmission of a point. The first six fields are its key in a store.

    receptions: how many the receiver found; found: 1 if the transmission is among them; ended: 1
    if it was followed to its end; cpu_s: processor time of the receiver.
    """

    mode: str
    channel: str
    seconds: float
    effort: int
    receiver: int
    seed: int
    bits: int
    errors: int
    blocks: int
    bad_blocks: int
    receptions: int
    found: int
    ended: int
    snr_db: float
    offset_hz: float
    air_s: float
    cpu_s: float

    @property
    def point(self) -> Point:
        """The point that it is a trial of."""
        return Point(*self[:5])


class Stop(NamedTuple):
    """When a point is done: number of bad blocks, or time of signal and number of bits."""

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
        """Bounds of the bit error rate. Errors come in bad blocks, so blocks are the independent
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


def _trial(point: Point, seed: int, superframes: Optional[int], lead: str, second: str) -> Trial:
    if point.receiver == Receiver.BOUND:
        counts = experiments.channel_bound(point.mode, lead, point.seconds, seed)
        return Trial(*point, seed, **counts, receptions=1, found=1, ended=1, snr_db=0.0,
                     offset_hz=0.0)
    result = experiments.ber_trial(point.mode, lead, point.seconds, seed, point.effort,
                                   point.receiver == Receiver.GENIE, superframes=superframes,
                                   second=second)
    return Trial(*point, seed, *(kind(result[name])
                                 for name, kind in list(Trial.__annotations__.items())[6:]))


def trial(point: Point, seed: int) -> Trial:
    """One trial, here and now; at module level so that it can be sent elsewhere."""
    first, _, second = point.channel.partition("|")
    wideband = point.mode.startswith("5069")
    return _trial(point, seed, WIDEBAND_SUPERFRAMES if wideband else None, first, second.strip())


def link_trial(point: Point, seed: int) -> Trial:
    """One trial with the preamble of the data link: as many super-frames as the mode has by
    itself."""
    return _trial(point, seed, None, point.channel, "")


Store = sweep.Store[Trial]


def store(path: Optional[str] = None, force: bool = False) -> Store:
    """Finished trials, in a CSV file or in memory. force: replace a file with other contents."""
    return sweep.Store(Trial, 6, path, force=force)


def results(rows: Iterable[Trial], min_seed: int = 0) -> List[Result]:
    """Every point, with all of its trials, or those of seeds from one on."""
    points: Dict[Point, List[Trial]] = {}
    for row in rows:
        if row.seed >= min_seed:
            points.setdefault(row.point, []).append(row)
    return [summed(point, of_point) for point, of_point in points.items()]


def trials(point: Point, workers: sweep.Workers, kept: Store, first_seed: int,
           one: Callable[[Point, int], Trial] = trial) -> Iterator[Trial]:
    """Trials without end, in the order of their seeds, some of them ahead of time."""
    for row in sweep.run(one, ((point, seed) for seed in itertools.count(first_seed)), workers,
                         lambda _, seed: kept.get(*point, seed)):
        kept.add(row)
        yield row


def measure(point: Point, stop: Stop, workers: sweep.Workers, kept: Store, first_seed: int = 1,
            one: Callable[[Point, int], Trial] = trial,
            progress: Callable[[float], object] = lambda _: None) -> Result:
    """Trials until the stop is reached. one: trial or link_trial, a store has those of one kind;
    progress: called with the share of the way to the stop, 0 to 1, after each trial."""
    rows: List[Trial] = []
    bad_blocks = bits = 0
    air_s = 0.0
    for row in trials(point, workers, kept, first_seed, one):
        rows.append(row)
        bad_blocks += row.bad_blocks
        air_s += row.air_s
        bits += row.bits
        signal = min(air_s / stop.air_s, bits / stop.bits if stop.bits else 1.0)
        progress(min(max(bad_blocks / stop.bad_blocks, signal), 1.0))
        if bad_blocks >= stop.bad_blocks or air_s >= stop.air_s and bits >= stop.bits:
            break
    return summed(point, rows)


def summed(point: Point, rows: Sequence[Trial]) -> Result:
    """The sums over trials of a point."""
    return Result(point, len(rows), sum(t.bits for t in rows), sum(t.errors for t in rows),
                  sum(t.blocks for t in rows), sum(t.bad_blocks for t in rows),
                  lost=sum(not t.found for t in rows),
                  cut=sum(t.found and not t.ended for t in rows),
                  false=sum(t.receptions - t.found for t in rows),
                  air_s=sum(t.air_s for t in rows), cpu_s=sum(t.cpu_s for t in rows))


def joined(results: Sequence[Result]) -> Result:
    """Results of one point with different seeds, added."""
    assert len({r.point for r in results}) == 1
    return Result(results[0].point, *(sum(column) for column in list(zip(*results))[1:]))


HEAD = ["mode", "channel", "BER", "95 % interval", "bad blocks", "lost", "cut", "false", "signal",
        "x real time"]


def table(found: Sequence[Result]) -> str:
    """The results as a Markdown table."""
    return sweep.table(HEAD, (
        [r.point.name, r.point.channel, f"{r.ber:.2e}", outward(*r.ber_interval()),
         f"{r.bad_blocks} of {r.blocks}", f"{r.lost} of {r.trials}", r.cut, r.false,
         f"{r.air_s:.0f} s", f"{r.air_s / r.cpu_s:.0f}"] for r in found))


def check(mode: str, channel: str) -> None:
    """Raises ValueError for a mode or channel that does not exist."""
    hf.mode(mode)
    hf.channel_model(channel)


@dataclass(frozen=True)
class Reception:
    """Options of everything that is received."""

    seed: int = option(1, "Seed of the first transmission; the others follow.", least=0)
    effort: int = option(1, "Effort of the receiver.", least=0, most=2)


@dataclass(frozen=True)
class Options(Reception):
    """Options of hf-lab ber run: each mode on each channel at each SNR."""

    modes: Tuple[str, ...] = option((), "May be repeated.", flag="--mode", metavar="MODE",
                                    required=True)
    channels: Tuple[str, ...] = option(("awgn",), "Without its snr=; may be repeated.",
                                       flag="--channel", metavar="SPEC")
    snrs_db: Tuple[float, ...] = option((), "dB in the mode's bandwidth, or values with commas.",
                                        flag="--snr", metavar="FIRST:LAST:STEP",
                                        parse=sweep.values, required=True)
    seconds: float = option(26.0, "Length of one transmission.", least=0.1, most=3600)
    max_bad: int = option(20, "Blocks with errors after which a point ends.", least=1)
    max_time: float = option(600.0, "Seconds of signal after which a point ends.", least=0.1)
    genie: bool = option(False, "Also give our receiver the channel instead of its estimate.")
    bound: bool = option(False, "Also print the matched-filter bound: the channel is known, and "
                         "every symbol arrives alone. Only by chance a receiver with this decoder "
                         "needs less.")
    antennas: int = option(1, "Antennas, each of which fades by itself.", flag="--diversity",
                           least=1, most=2)

    def __post_init__(self) -> None:
        if self.antennas > 1 and (self.genie or self.bound):
            raise ValueError("--diversity does not go with --genie or --bound")
        for point in self.points():
            check(point.mode, point.channel.split("|")[0])

    def points(self) -> List[Point]:
        """The points of all curves."""
        return [Point(mode, " | ".join([f"{channel} snr={snr:g}"] * self.antennas), self.seconds,
                      self.effort, receiver)
                for channel in self.channels for mode in self.modes
                for receiver in self.receivers
                for snr in self.snrs_db]

    @property
    def receivers(self) -> List[Receiver]:
        """Receivers to measure, ours first."""
        return [Receiver.HF, *[Receiver.GENIE] * self.genie, *[Receiver.BOUND] * self.bound]

    @property
    def stop(self) -> Stop:
        """When a point is done."""
        return Stop(self.max_bad, self.max_time)
