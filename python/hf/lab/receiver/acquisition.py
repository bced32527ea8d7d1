# SPDX-License-Identifier: GPL-3.0-or-later
"""How surely the receiver finds transmissions, at the SNR at which their data just come through,
and how often it finds one where there is none."""
from concurrent.futures import Executor
from functools import partial
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ... import hf_python as hf
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
    """Every coded mode of FADING, on AWGN and on its fading channel; or every waveform of a
    bandwidth, or those of a list, with the short interleaver, at the SNR at which its data are
    wanted to come, with so many super-frames of preamble or the mode's own number."""
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
    """Of some transmissions of a condition."""

    condition: Condition
    trials: int
    found: int

    @property
    def interval(self) -> Tuple[float, float]:
        """95 % interval of the probability of detection (Clopper-Pearson)."""
        return ber.interval(self.found, self.trials, 0.95)


def _trial(superframes: Optional[int], point: ber.Point, seed: int) -> Dict[str, float]:
    result: Dict[str, float] = hf.ber_trial(point.mode, point.channel, point.seconds, seed,
                                            point.effort, superframes=superframes)
    return result


def measure(condition: Condition, trials: int, executor: Executor, width: int,
            store: ber.Store, first_seed: int) -> Outcome:
    """Send that many transmissions, see how many are found."""
    point = condition.point
    found = 0
    source: Iterator = ber.trials(point, executor, width, store, first_seed,
                                  partial(_trial, condition.superframes))
    for _ in range(trials):
        found += bool(next(source)["found"])
    source.close()  # type: ignore[attr-defined]
    return Outcome(condition, trials, found)


def counted(condition: Condition, trials: int, executor: Executor, width: int,
            store: ber.Store, first_seed: int, counts: "tally.Tally[tally.Found]") -> Outcome:
    """As measure(), unless counts has as many trials from that seed on; what is measured is
    added to it."""
    wanted = tally.Found(condition.mode, condition.preambles or 1, condition.channel,
                         condition.snr_db, first_seed, trials, 0)
    have = counts.get(wanted)
    if have is None or have.trials < trials:
        outcome = measure(condition, trials, executor, width, store, first_seed)
        have = wanted._replace(found=outcome.found)
        counts.add(have)
    return Outcome(condition, have.trials, have.found)


def table(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as a Markdown table."""
    lines = ["| mode | super-frames | channel | SNR dB | found | probability | 95 % interval | "
             "target | |", "|---|---|---|---|---|---|---|---|---|"]
    for o in outcomes:
        low, high = o.interval
        share = o.found / o.trials
        word = "met" if share >= o.condition.target else \
            "MISSED" if high < o.condition.target else "not shown"
        lines.append(f"| {o.condition.mode} | {o.condition.preambles or '-'} | "
                     f"{o.condition.channel} | {o.condition.snr_db:g} | "
                     f"{o.found} of {o.trials} | {100 * share:.1f} % | {100 * low:.1f} to "
                     f"{100 * high:.1f} % | {100 * o.condition.target:g} % | {word} |")
    return "\n".join(lines)


def _piece(channel: str, seconds: float, seed: int, effort: int, bandwidth: int) -> List[str]:
    modes: List[str] = hf.ber_silence(channel, seconds, seed, effort, bandwidth)
    return modes


def silence(channel: str, hours: float, effort: int, executor: Executor, first_seed: int,
            bandwidth: int = 3, progress: Callable[[float], object] = lambda _: None,
            kept: Optional["tally.Tally[tally.Noise]"] = None) -> List[str]:
    """Modes of what the receiver finds in hours of noise; everything in it is false. progress:
    told the share that is done, 0 to 1; kept: pieces that were heard before are not heard again,
    others are added."""
    store = kept or tally.Tally(tally.Noise)
    pieces = max(1, round(hours * 3600 / PIECE_S))
    wanted = [tally.Noise(bandwidth, channel, effort, hours * 3600 / pieces, first_seed + i, "")
              for i in range(pieces)]
    jobs = [(w, None if store.get(w) else executor.submit(_piece, channel, w.seconds, w.seed,
                                                          effort, bandwidth)) for w in wanted]
    modes: List[str] = []
    for number, (piece, job) in enumerate(jobs, 1):
        if job is not None:
            store.add(piece._replace(found=" ".join(job.result())))
        heard = store.get(piece)
        modes += heard.found.split() if heard is not None else []
        progress(number / pieces)
    return modes
