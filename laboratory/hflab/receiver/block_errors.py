# SPDX-License-Identifier: GPL-3.0-or-later
"""Block errors of the receiver over SNR, measured: `hf-lab bench curves FILE`."""
from dataclasses import dataclass
import time
from typing import Callable, Iterator, List, Optional, Tuple

from gnuradio.hf import hf_python as hf
from gnuradio.hf.options import option
from gnuradio.hf.simulation.block_errors import Point
from gnuradio.hf.system import machine, output
from . import ber, standard

CHANNELS = ["awgn", "moderate", "poor", "high-moderate"]
STEP_DB = 2.0
#: The same without fading: the errors inside bad blocks fall tenfold within 2 dB.
AWGN_STEP_DB = 1.0
#: Blocks of a point, and bad ones that end it early.
BLOCKS = 100
BAD = 80
#: Signal in a point, s: some fades at least.
SHORTEST_S, LONGEST_S = 200.0, 480.0
#: Of 4539: SNR in 3 kHz on AWGN where a sweep begins: about where half of the blocks arrive.
MIDDLE_DB = {75: -11, 150: -6, 300: -3, 600: 0, 1200: 3, 2400: 8, 3200: 6, 4800: 10, 6400: 13,
             8000: 16, 9600: 19}
#: The same of our own robust family.
OURS_DB = {50: -16, 75: -14, 150: -11, 200: -10, 300: -8}
LOWEST_DB, HIGHEST_DB = -20, 45


def modes(bandwidth_khz: Optional[int] = None) -> List[str]:
    """The modes that have curves: each rate with the short and the long interleaver, of 4539 and
    of our own family, or of 5069 in a bandwidth."""
    if bandwidth_khz is None:
        return [f"{family}-{rate}{il}" for family, rates in (("4539", MIDDLE_DB),
                                                             ("grhf", OURS_DB))
                for rate in rates for il in "SL"]
    return [str(m) for m in hf.mode.all()
            if m.waveform is not None and m.bandwidth_hz == 1000 * bandwidth_khz
            and m.interleaver in ("S", "L")]


def middle_db(mode: str, channel: str) -> float:
    """SNR in the mode's bandwidth where a sweep begins: about where half of the blocks arrive."""
    m = hf.mode(mode)
    own = OURS_DB if mode.startswith("grhf") else MIDDLE_DB
    awgn_db = float(own[m.rate_bps]) if m.waveform is None else \
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
    """Points every 2 dB, on AWGN every 1 dB, from where no block of a point is bad to where
    nearly all are."""
    block_s = hf.timing(hf.mode(mode)).block_begin(1) - hf.timing(hf.mode(mode)).block_begin(0)
    seconds = max(10 * block_s, 12.0)
    signal_s = min(max(BLOCKS * block_s, SHORTEST_S), LONGEST_S)
    middle = middle_db(mode, channel)

    def at(snr: float) -> Point:
        return point(run(ber.Point(mode, f"{channel} snr={snr:g}", seconds),
                         ber.Stop(round(BAD * signal_s / min(BLOCKS * block_s, LONGEST_S)),
                                  signal_s)), snr)

    step_db = AWGN_STEP_DB if channel == "awgn" else STEP_DB
    for step in (step_db, -step_db):
        snr = middle if step > 0 else middle - step_db
        while LOWEST_DB <= snr <= HIGHEST_DB:
            p = at(snr)
            yield p
            good = p.blocks - p.bad_blocks
            if (p.bad_blocks == 0 and p.lost == 0) if step > 0 else 10 * good <= p.blocks:
                break
            snr += step


@dataclass(frozen=True)
class Options:
    """Options of hf-lab bench curves."""

    wanted: Tuple[str, ...] = option((), "May be repeated.  [default: every rate, short and long "
                                     "interleaver]", flag="--mode", metavar="MODE")
    bandwidth: Optional[int] = option(None, "The waveforms of 5069 in this bandwidth.  [default: "
                                      "those of 4539 and our own]", metavar="KHZ",
                                      choices=machine.BANDWIDTHS_KHZ)
    channels: Tuple[str, ...] = option(tuple(CHANNELS), "Without its snr=; may be repeated.",
                                       flag="--channel", metavar="SPEC")

    def __post_init__(self) -> None:
        known = {(m.waveform, m.bandwidth_hz, m.rate_bps) for m in
                 (hf.mode(name) for name in modes(self.bandwidth))}
        for name in self.wanted:
            m = hf.mode(name)
            if (m.waveform, m.bandwidth_hz, m.rate_bps) not in known:
                raise ValueError(f"mode {name!r}: allowed are the rates of "
                                 f"{', '.join(modes(self.bandwidth))}")

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
