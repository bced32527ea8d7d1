# SPDX-License-Identifier: GPL-3.0-or-later
"""How surely the receiver finds transmissions, at the SNR at which their data just come through,
and how often it finds one where there is none."""
from dataclasses import dataclass
from functools import partial
from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple

from gnuradio.hf import hf_python as hf
from gnuradio.hf.options import option
from gnuradio.hf.system import machine
from .. import experiments
from .. import sweep
from . import ber, standard, tally

#: dB above the ideal receiver at which data must come through on AWGN.
ABOVE_IDEAL_DB = 0.7
#: SNR at which the data must come through on fading channels, by mode: channel and dB in 3 kHz.
FADING = {
    "4539-75L": ("paths=0:0:5,5:0:5", -2.0), "4539-150L": ("paths=0:0:5,5:0:5", 1.0),
    "4539-300L": ("paths=0:0:5,5:0:5", 3.0), "4539-600L": ("poor", 5.5),
    "4539-1200L": ("poor", 8.5), "4539-2400L": ("poor", 12.5), "4539-3200VL": ("poor", 12.5),
    "4539-4800VL": ("poor", 16.5), "4539-6400VL": ("poor", 19.0), "4539-8000VL": ("poor", 22.0),
    "4539-9600VL": ("poor", 25.0),
}
#: Share of the transmissions that must be found, on AWGN and on fading channels.
TARGETS = {"awgn": 0.995, "fading": 0.98}
#: The receiver's noise is stationary: pieces of this length, s, each with its own seed.
PIECE_S = 600.0


class Condition(NamedTuple):
    """A mode at the threshold of its data."""

    mode: str
    channel: str
    snr_db: float
    target: float
    superframes: Optional[int] = None  # of a wideband preamble; None: the mode's own

    @property
    def preambles(self) -> Optional[int]:
        """Super-frames that are sent; None: not a wideband mode."""
        return self.superframes or hf.mode(self.mode).superframes

    @property
    def point(self) -> ber.Point:
        """A transmission of one interleaver block."""
        return ber.Point(self.mode, f"{self.channel} snr={self.snr_db:g}", 0.1)


def conditions(bandwidth_khz: Optional[int] = None, superframes: Optional[int] = None,
               waveforms: Sequence[int] = ()) -> List[Condition]:
    """Every coded mode of FADING, on AWGN and on its fading channel. With a bandwidth: its
    waveforms, or those of a list, with the short interleaver, at the SNR at which their data
    should arrive. Their preamble has 'superframes' super-frames, by default the mode's number."""
    if bandwidth_khz is not None:
        return _wideband_conditions(bandwidth_khz, superframes, waveforms)
    result = []
    for mode, (channel, snr) in FADING.items():
        ideal = standard.ideal_awgn_db(hf.mode(mode).rate_bps)
        if ideal is not None:
            result.append(Condition(mode, "awgn", round(ideal + ABOVE_IDEAL_DB, 2),
                                    TARGETS["awgn"]))
        result.append(Condition(mode, channel, snr, TARGETS["fading"]))
    return result


def _wideband_conditions(bandwidth_khz: int, superframes: Optional[int],
                         waveforms: Sequence[int]) -> List[Condition]:
    modes = {m.waveform: m for m in hf.mode.all()
             if m.waveform is not None and m.bandwidth_hz == 1000 * bandwidth_khz
             and m.interleaver == "S" and m.constraint_length == 7
             and (not waveforms or m.waveform in waveforms)}
    # The limits are the same in every bandwidth, which is where an SNR counts.
    targets = {r.id: r.target_db for r in standard.wideband_rows()}
    result = []
    for waveform in sorted(modes):
        for channel, kind in (("awgn", "AWGN"), ("poor", "POOR")):
            snr = targets.get(f"D3-{waveform}-{kind}")
            if snr is not None:
                mode = modes[waveform]
                result.append(Condition(
                    str(mode), channel, round(snr, 2),
                    TARGETS["awgn" if channel == "awgn" else "fading"],
                    superframes))
    return result


class Outcome(NamedTuple):
    """Counts for some transmissions of a condition."""

    condition: Condition
    trials: int
    found: int

    @property
    def interval(self) -> Tuple[float, float]:
        """95 % interval of the probability of detection (Clopper-Pearson)."""
        return ber.interval(self.found, self.trials, 0.95)


def _found(superframes: Optional[int], point: ber.Point, seed: int) -> bool:
    return bool(experiments.ber_trial(point.mode, point.channel, point.seconds, seed, point.effort,
                                      superframes=superframes)["found"])


def measure(condition: Condition, trials: int, workers: sweep.Workers, first_seed: int,
            counts: "sweep.Store[tally.Found]") -> Outcome:
    """Send this many transmissions and count those found, unless counts already has them from that
    seed on. New results are added to counts."""
    key = (condition.mode, condition.preambles or 1, condition.channel, condition.snr_db,
           first_seed)
    have = counts.get(*key)
    if have is None or have.trials < trials:
        seeds = range(first_seed, first_seed + trials)
        found = sum(sweep.run(partial(_found, condition.superframes),
                              [(condition.point, seed) for seed in seeds], workers))
        have = tally.Found(*key, trials, found)
        counts.add(have)
    return Outcome(condition, have.trials, have.found)


HEAD = ["mode", "super-frames", "channel", "SNR dB", "found", "probability", "95 % interval",
        "target", ""]


def table(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as a Markdown table."""
    return sweep.table(HEAD, map(_cells, outcomes))


def _cells(o: Outcome) -> List[str]:
    low, high = o.interval
    share, target = o.found / o.trials, o.condition.target
    word = "met" if share >= target else "MISSED" if high < target else "not shown"
    return [o.condition.mode, str(o.condition.preambles or "-"), o.condition.channel,
            f"{o.condition.snr_db:g}", f"{o.found} of {o.trials}", f"{100 * share:.1f} %",
            f"{100 * low:.1f} to {100 * high:.1f} %", f"{100 * target:g} %", word]


def _piece(bandwidth: int, channel: str, effort: int, seconds: float, seed: int) -> tally.Noise:
    modes = experiments.ber_silence(channel, seconds, seed, effort, bandwidth)
    return tally.Noise(bandwidth, channel, effort, seconds, seed, " ".join(modes))


def noise(channel: str, hours: float, reception: ber.Reception, workers: sweep.Workers,
          bandwidth: int = 3, kept: "Optional[sweep.Store[tally.Noise]]" = None,
          progress: Callable[[float], object] = lambda _: None) -> List[str]:
    """Modes of what the receiver finds in hours of noise; everything in it is false. kept: pieces
    that were heard before are not heard again, others are added; progress: called with the share
    that is done, 0 to 1."""
    store = tally.pieces() if kept is None else kept
    count = max(1, round(hours * 3600 / PIECE_S))
    pieces = [(bandwidth, channel, reception.effort, hours * 3600 / count, reception.seed + i)
              for i in range(count)]
    modes: List[str] = []
    for number, row in enumerate(sweep.run(_piece, pieces, workers, store.get), 1):
        store.add(row)
        modes += row.found.split()
        progress(number / count)
    return modes


@dataclass(frozen=True)
class Options:
    """Options of hf-lab ber acquisition."""

    bandwidths: Tuple[int, ...] = option(
        (), "Only the wideband waveforms of this bandwidth; may be repeated.  [default: the modes "
        "of 4539]", flag="--bandwidth", metavar="KHZ", choices=machine.BANDWIDTHS_KHZ)
    superframes: Optional[int] = option(None, "Super-frames of a wideband preamble.  [default: "
                                        "each mode's own]", least=1, most=32)
    waveforms: Tuple[int, ...] = option((), "Only this wideband waveform; may be repeated.",
                                        flag="--waveform", least=0, most=13)
    trials: int = option(400, "Transmissions of each mode and channel.", least=1, metavar="N")
    seed: int = option(1, "Seed of the first transmission; the others follow.", least=0)

    def conditions(self) -> List[Condition]:
        """Every mode and channel to measure."""
        return [condition for bandwidth in self.bandwidths or (None,)
                for condition in conditions(bandwidth, self.superframes, self.waveforms)]


@dataclass(frozen=True)
class NoiseOptions(ber.Reception):
    """Options of hf-lab ber noise."""

    hours: float = option(1.0, "Noise to listen to, for each bandwidth and channel.",
                          least=0.01, most=1000)
    bandwidths: Tuple[int, ...] = option((3,), "Bandwidth of the receiver; may be repeated.",
                                         flag="--bandwidth", metavar="KHZ",
                                         choices=machine.BANDWIDTHS_KHZ)
    channels: Tuple[str, ...] = option(("awgn",), "Noise with more than its snr=0; may be "
                                       "repeated.", flag="--channel", metavar="SPEC")

    def __post_init__(self) -> None:
        for channel in self.channels:
            hf.channel_model(channel)
