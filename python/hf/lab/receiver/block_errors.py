# SPDX-License-Identifier: GPL-3.0-or-later
"""Block errors of the receiver over SNR, by mode and channel. The event simulator uses them
instead of samples. `hf bench curves FILE` measures them. The file in the tree is
`lib/s5066/rate/block_errors.csv`, which is compiled into the data link; a copy is installed with
this package."""
import csv
from dataclasses import dataclass
from pathlib import Path
import time
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ... import hf_python as hf
from ... import machine, output
from ...options import option
from . import ber, standard

PATH = str(Path(__file__).parents[2] / "block_errors.csv")
CHANNELS = ["awgn", "moderate", "poor", "high-moderate"]
STEP_DB = 2.0
#: Blocks of a point, and bad ones that end it early.
BLOCKS = 100
BAD = 40
#: Signal in a point, s.
LONGEST_S = 480.0
#: Of 4539: SNR in 3 kHz on AWGN where a sweep begins: about where half of the blocks arrive.
MIDDLE_DB = {75: -11, 150: -6, 300: -3, 600: 0, 1200: 3, 2400: 8, 3200: 6, 4800: 10, 6400: 13,
             8000: 16, 9600: 19}
LOWEST_DB, HIGHEST_DB = -20, 45


class Point(NamedTuple):
    """A point of a curve. snr_db: in the mode's bandwidth; lost: transmissions not found or in a
    wrong mode; blocks and bad_blocks: of the others; ber_of_bad: bit error rate inside the bad
    ones; date: of the measurement, as yyyymmdd."""

    mode: str
    channel: str
    snr_db: float
    trials: int
    lost: int
    blocks: int
    bad_blocks: int
    ber_of_bad: float
    date: int


def modes(bandwidth_khz: Optional[int] = None) -> List[str]:
    """The modes that have curves: each rate with the short and the long interleaver, of 4539, or
    of 5069 in a bandwidth."""
    if bandwidth_khz is None:
        return [f"4539-{rate}{il}" for rate in MIDDLE_DB for il in "SL"]
    return [str(m) for m in hf.mode.all()
            if m.waveform is not None and m.bandwidth_hz == 1000 * bandwidth_khz
            and m.interleaver in ("S", "L") and m.constraint_length == 7]


def middle_db(mode: str, channel: str) -> float:
    """SNR in the mode's bandwidth where a sweep begins: about where half of the blocks arrive."""
    m = hf.mode(mode)
    awgn_db = float(MIDDLE_DB[m.rate_bps]) if m.waveform is None else \
        round(standard.wideband_ideal_db()[m.waveform]) - 1.0
    return awgn_db + (0 if channel == "awgn" else 4)


def point(result: ber.Result, snr_db: float) -> Point:
    """The figures that the simulator needs. A lost transmission has half of its bits wrong."""
    share = result.lost / result.trials
    blocks = round(result.blocks * (1 - share))
    bad = max(result.bad_blocks - round(result.blocks * share), 0)
    errors = max(result.errors - result.bits * share / 2, 0)
    bits = result.bits / result.blocks * bad
    return Point(result.point.mode, result.point.channel.split(" snr=")[0], snr_db,
                 result.trials, result.lost, blocks, bad,
                 min(errors / bits, 0.5) if bad else 0.0,
                 int(time.strftime("%Y%m%d")))


def curve(mode: str, channel: str,
          run: Callable[[ber.Point, ber.Stop], ber.Result]) -> Iterator[Point]:
    """Points every 2 dB, from where no block of a point is bad to where nearly all are."""
    block_s = hf.timing(hf.mode(mode)).block_begin(1) - hf.timing(hf.mode(mode)).block_begin(0)
    seconds = max(10 * block_s, 12.0)
    middle = middle_db(mode, channel)

    def at(snr: float) -> Point:
        return point(run(ber.Point(mode, f"{channel} snr={snr:g}", seconds),
                         ber.Stop(BAD, min(BLOCKS * block_s, LONGEST_S))), snr)

    for step in (STEP_DB, -STEP_DB):
        snr = middle if step > 0 else middle - STEP_DB
        while LOWEST_DB <= snr <= HIGHEST_DB:
            p = at(snr)
            yield p
            good = p.blocks - p.bad_blocks
            if (p.bad_blocks == 0 and p.lost == 0) if step > 0 else 10 * good <= p.blocks:
                break
            snr += step


@dataclass(frozen=True)
class Options:
    """Options of hf bench curves."""

    wanted: Tuple[str, ...] = option((), "May be repeated.  [default: every rate, short and long "
                                     "interleaver]", flag="--mode", metavar="MODE")
    bandwidth: Optional[int] = option(None, "The waveforms of 5069 in this bandwidth.  [default: "
                                      "those of 4539]", metavar="KHZ",
                                      choices=machine.BANDWIDTHS_KHZ)
    channels: Tuple[str, ...] = option(tuple(CHANNELS), "Without its snr=; may be repeated.",
                                       flag="--channel", metavar="SPEC")

    def __post_init__(self) -> None:
        known = modes(self.bandwidth)
        for mode in self.wanted:
            if mode not in known:
                raise ValueError(f"mode {mode!r}: allowed are {', '.join(known)}")

    def pairs(self) -> List[Tuple[str, str]]:
        """Channels and modes to measure."""
        return [(channel, mode) for channel in self.channels
                for mode in self.wanted or modes(self.bandwidth)]


def write(points: List[Point], path: str) -> None:
    """Save points, ordered, as CSV."""
    def place(p: Point) -> Tuple[str, bool, int, int, str, float]:
        m = hf.mode(p.mode)
        return (p.channel, m.waveform is not None, m.bandwidth_hz, m.rate_bps, p.mode, p.snr_db)

    ordered = sorted(points, key=place)
    output.write_csv(path, Point._fields,
                     ([f"{v:.4g}" if isinstance(v, float) else v for v in p] for p in ordered))


def read(path: str = PATH) -> Dict[Tuple[str, str], List[Point]]:
    """The curves of a file, by channel and mode, points by rising SNR.

    Raises ValueError that names the file and the line.
    """
    curves: Dict[Tuple[str, str], List[Point]] = {}
    with open(path, newline="", encoding="utf-8") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            try:
                p = Point(row["mode"], row["channel"], float(row["snr_db"]),
                          int(row["trials"]), int(row["lost"]), int(row["blocks"]),
                          int(row["bad_blocks"]), float(row["ber_of_bad"]),
                          int(row["date"]))
            except (KeyError, TypeError, ValueError):
                raise ValueError(f"{path}, line {number}: needs the columns "
                                 + ", ".join(Point._fields)) from None
            curves.setdefault((p.channel, p.mode), []).append(p)
    for points in curves.values():
        points.sort(key=lambda p: p.snr_db)
    return curves


#: Share of the blocks of a mode that are lost at its threshold.
LOST = 0.1


class Threshold(NamedTuple):
    """SNR that a mode needs. source: the mode whose blocks were counted."""

    snr_db: float
    source: str


def _share(p: Point) -> float:
    """Share of blocks that do not arrive, those of lost transmissions included."""
    bad = p.bad_blocks / p.blocks if p.blocks else 1.0
    return 1 - (1 - p.lost / p.trials) * (1 - bad)


def threshold(mode: str, channel: str,
              curves: Dict[Tuple[str, str], List[Point]]) -> Optional[Threshold]:
    """The least SNR in the mode's bandwidth, dB, from which on one block of ten is lost at most:
    between two measured points on a line. Of a wideband mode that was not measured itself, that
    of its waveform in 3 kHz; none if that was not measured either, or never gets so far."""
    m = hf.mode(mode)
    source = mode
    if m.waveform is not None and (channel, mode) not in curves:
        source = next((str(o) for o in hf.mode.all()
                       if o.waveform == m.waveform and o.bandwidth_hz == 3000
                       and o.interleaver == m.interleaver
                       and o.constraint_length == m.constraint_length), mode)
    points = curves.get((channel, source), [])
    for low, high in reversed(list(zip([None, *points[:-1]], points))):
        if _share(high) > LOST:
            return None
        if low is not None and _share(low) > LOST:
            part = (_share(low) - LOST) / (_share(low) - _share(high))
            return Threshold(round(low.snr_db + part * (high.snr_db - low.snr_db), 1), source)
    return None
