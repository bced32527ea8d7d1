# SPDX-License-Identifier: GPL-3.0-or-later
"""A day between two stations: one frequency, a clock table, or ALE.

The propagation table gives the SNR of each frequency and hour, and how days differ. A day drawn
from it gives each frequency a course of SNR. A strategy chooses a frequency at each second, and
the event simulator carries bulk data over the course that results.

Ours, and not from the table: how a day's deviations move with time and frequency (COMMON, HOURS),
the fading (Moderate), the share of calls that succeed, and that both directions have one SNR.

Time without a link is taken out of the course, because the data link of a station waits meanwhile.
"""
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from gnuradio.hf.simulation import simulator
from .. import experiments
from . import propagation

DAY_S = 86400
STEP_S = 0.1
#: Share of a day's deviation that all frequencies have in common, and its correlation time, h.
COMMON, HOURS = 0.5, 2.0
#: Two-sigma Doppler spread: Moderate of ITU-R F.1487.
FADING_HZ = 0.5
#: Nothing arrives.
NOTHING_DB = -60.0
#: Deviations of a decile from the median of a normal distribution.
DECILE = 1.2816

#: Goodput of adaptive stations, bit/s: Moderate from 0 dB on, below Poor with the call
#: (laboratory/results/measurements/rate.md).
PROMISE = ([-12, -6, -3, 0, 5, 10, 15, 20, 25, 30],
           [20, 87, 180, 381, 1885, 3471, 5439, 7256, 8958, 9087])
#: Share of ALE calls that succeed: at -3 and 0 dB as in docs/how-to/ale.md (Good, mean of Good and
#: Poor), at the others our guess.
CALLS = ([-9, -6, -3, 0, 3], [0.0, 0.4, 0.82, 0.95, 1.0])
#: A call to a scanning peer with these five channels: listen, call, answer, acknowledge. Ten
#: channels take 3.9 s more by the length of the call, and 14.8 s as measured (docs/how-to/ale.md).
CALL_S = 11.5
#: Reports of link quality in the three frames of a trial, a word in each.
REPORTS_S = 1.2
#: SNR that call and answer of a trial measure, mean of both directions: SNR of the channel, and
#: what is measured, dB. 20 handshakes for each on Moderate, 27 November 2026. Reports are not
#: below 0 dB.
MEASURED = ([-3, 5, 10, 20, 30], [-1.8, 4.4, 9.4, 19.4, 29.4])
#: Standard deviation of the same, dB.
MEASURED_DB = 1.3
#: What is known of a channel's quality is forgotten after this time.
KNOWN_S = 3600
#: The rule of the station (lib/ale/link/link_keeper.h): a pair moves if another channel promises
#: more than BETTER times the mean of what this one promised in BETTER_S seconds, at most once in
#: STAY_S. Otherwise it tries a channel of which nothing is known, and stays there if that promises
#: more than TRIED times the mean. A link is given up if nothing has arrived for LOST_S.
_KEEPING = experiments.ale_keeping()
BETTER, TRIED = _KEEPING["better"], _KEEPING["better_here"]
BETTER_S, STAY_S, LOST_S = (int(_KEEPING[x]) for x in ("window_s", "move_again_s", "silence_s"))
#: The TWAS before such a move, three words.
TWAS_S = 1.2


@dataclass(frozen=True)
class Strategy:
    """A way to choose the frequency."""

    name: str
    choose: Callable[["Weather", np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Weather:
    """One day. snr_db: mean SNR in 3 kHz, frequencies x seconds. median_db: the same of an average
    day."""

    mhz: Sequence[float]
    snr_db: np.ndarray
    median_db: np.ndarray


def promise(snr_db: Any) -> Any:
    """Goodput that a mean SNR promises, bit/s."""
    return np.interp(snr_db, *PROMISE, left=0.0)


def _course(hourly: Sequence[float]) -> np.ndarray:
    """Values of 24 hours, each in the middle of its hour, as one for each second."""
    centre = (np.arange(26) - 0.5) * 3600
    return np.interp(np.arange(DAY_S), centre, [hourly[-1], *hourly, hourly[0]])


def _deviation(random: np.random.Generator) -> np.ndarray:
    """A normal process with variance 1 and correlation time HOURS, for each second."""
    step = 60
    keep = np.exp(-step / 3600 / HOURS)
    values = [random.standard_normal()]
    for x in random.standard_normal(DAY_S // step):
        values.append(keep * values[-1] + np.sqrt(1 - keep * keep) * x)
    return np.interp(np.arange(DAY_S), np.arange(len(values)) * step, values)


def weather(seed: int, table: Optional[List[propagation.Prediction]] = None) -> Weather:
    """A day drawn from a propagation table."""
    table = table or propagation.read()
    random = np.random.default_rng([seed, 1])
    mhz = sorted({p.mhz for p in table})
    common = _deviation(random)
    snr, medians = [], []
    for f in mhz:
        hours = sorted((p for p in table if p.mhz == f), key=lambda p: p.hour)
        median = _course([max(p.snr_db, NOTHING_DB) for p in hours])
        z = np.sqrt(COMMON) * common + np.sqrt(1 - COMMON) * _deviation(random)
        scale = np.where(z < 0, _course([p.low_db for p in hours]),
                         _course([p.high_db for p in hours])) / DECILE
        medians.append(median)
        snr.append(np.maximum(median + z * scale, NOTHING_DB))
    return Weather(mhz, np.array(snr), np.array(medians))


def fixed(channel: int) -> Callable[[Weather, np.random.Generator], np.ndarray]:
    """One frequency all day."""
    return lambda w, random: np.full(DAY_S, channel)


def clock_table(w: Weather, random: np.random.Generator) -> np.ndarray:
    """The frequency that promises most on an average day, chosen for each hour."""
    hourly = promise(w.median_db).reshape(len(w.mhz), 24, 3600).mean(axis=2)
    return np.repeat(hourly.argmax(axis=0), 3600)


def always_best(w: Weather, random: np.random.Generator) -> np.ndarray:
    """The best frequency at each minute, as if somebody knew: the bound."""
    minutes = promise(w.snr_db).reshape(len(w.mhz), -1, 60).mean(axis=2)
    return np.repeat(minutes.argmax(axis=0), 60)


class AlePair:
    """Two scanning stations that link while data wait, which is always."""

    def __init__(self, w: Weather, random: np.random.Generator, trials: bool) -> None:
        self.w, self.random, self.trials = w, random, trials
        self.channel = np.full(DAY_S, -1)
        self.known: Dict[int, Any] = {}  # by channel: second, SNR
        self.t = 0
        #: Seconds of the moves and trials.
        self.moves: List[int] = []
        #: What each channel promises at each second, and the sums until then.
        self.bps = promise(w.snr_db)
        self.sums = np.pad(np.cumsum(self.bps, axis=1), ((0, 0), (1, 0)))

    def order(self) -> List[int]:
        """Channels in the order of calls: known ones by quality, then the others at random."""
        known = {c: db for c, (at, db) in self.known.items() if self.t - at <= KNOWN_S}
        rest = [c for c in range(len(self.w.mhz)) if c not in known]
        self.random.shuffle(rest)
        good = sorted((c for c in known if known[c] > CALLS[0][0]), key=lambda c: -known[c])
        return good + rest + [c for c in known if c not in good]

    def call(self, first: Optional[int] = None, min_bps: float = 0.0) -> Optional[int]:
        """Call on one channel after the other, perhaps on a given one first, which must promise
        more than min_bps. Returns the channel of the link."""
        for c in sorted(self.order(), key=lambda c: c != first):
            trial = c == first and min_bps > 0
            self.t += round(CALL_S + trial * REPORTS_S)
            if self.t >= DAY_S:
                return None
            db = float(self.w.snr_db[c, self.t])
            linked = self.random.random() < np.interp(db, *CALLS)
            measured = NOTHING_DB if not linked else (
                float(np.interp(db, *MEASURED)) + MEASURED_DB * self.random.standard_normal())
            self.known[c] = self.t, measured
            if linked and not (trial and promise(measured) <= min_bps):
                return c
        self.t += 60
        return None

    def leave(self, here: int) -> Tuple[Optional[int], float]:
        """A channel worth a call instead of this one, and what it must promise then, bit/s."""
        mean = (self.sums[here, self.t] - self.sums[here, self.t - BETTER_S]) / BETTER_S
        others = [c for c in range(len(self.w.mhz)) if c != here]
        known = {c: float(promise(self.known[c][1])) for c in others
                 if c in self.known and self.t - self.known[c][0] <= KNOWN_S}
        best = max(known, key=lambda c: known[c], default=None)
        if best is not None and known[best] > BETTER * mean:
            return best, 0.0
        if self.trials and len(known) < len(others):
            unknown = [c for c in others if c not in known]
            return min(unknown, key=lambda c: self.known.get(c, (-1, 0))[0]), TRIED * mean
        return None, 0.0

    def stay(self, here: int) -> Tuple[Optional[int], float]:
        """Use the link until it is lost or another channel is worth a call. Returns that channel
        and what it must promise, as leave()."""
        lost, began = 0, self.t
        while self.t < DAY_S:
            self.channel[self.t] = here
            self.known[here] = self.t, float(self.w.snr_db[here, self.t])
            lost = lost + 1 if self.bps[here, self.t] <= 0 else 0
            self.t += 1
            if lost >= LOST_S:
                self.known[here] = self.t, NOTHING_DB
                break
            last = self.moves[-1] if self.moves else -STAY_S
            if self.t - began >= BETTER_S and self.t - last >= STAY_S:
                there, min_bps = self.leave(here)
                if there is not None:
                    self.moves.append(self.t)
                    self.t += round(TWAS_S)
                    return there, min_bps
        return None, 0.0

    def run(self) -> np.ndarray:
        """The channel of each second; -1: no link."""
        there: Optional[int] = None
        min_bps = 0.0
        while self.t < DAY_S:
            here = self.call(there, min_bps)
            there, min_bps = (None, 0.0) if here is None else self.stay(here)
        return self.channel


def strategies(w: Weather) -> List[Strategy]:
    """All strategies, the fixed frequencies first."""
    return [*(Strategy(f"{f:g} MHz", fixed(k)) for k, f in enumerate(w.mhz)),
            Strategy("clock table", clock_table),
            Strategy("ALE without trials", lambda w, r: AlePair(w, r, False).run()),
            Strategy("ALE", lambda w, r: AlePair(w, r, True).run()),
            Strategy("always the best", always_best)]


def course(w: Weather, channel: np.ndarray) -> np.ndarray:
    """Mean SNR on the channel chosen, for each second with a link."""
    linked = np.flatnonzero(channel >= 0)
    return np.asarray(w.snr_db[channel[linked], linked], dtype=np.float32)


def carry(snr_db: np.ndarray, seed: int, mode: str = "auto") -> Any:
    """Bulk data from A to B on the event simulator, over a mean SNR for each second."""
    s = simulator.scenario()
    s.duration_s, s.seed, s.record = len(snr_db), seed, True
    s.stations = [simulator.scenario_station(), simulator.scenario_station()]
    for station, name in zip(s.stations, "AB"):
        station.name, station.mode = name, mode
    mean = np.repeat(snr_db, round(1 / STEP_S))
    paths = []
    for k, (a, b) in enumerate(("AB", "BA")):
        fading = simulator.snr_trace.make(mean_db=0, fading_hz=FADING_HZ, duration_s=len(snr_db),
                                          seed=2 * seed + k)
        values = np.asarray(fading.values, dtype=np.float32) + mean
        trace = simulator.snr_trace(values.tolist(), STEP_S, fading_hz=FADING_HZ)
        paths.append(simulator.scenario_path(from_=a, to=b, fading=trace))
    s.paths = paths
    traffic = simulator.scenario_traffic()
    traffic.from_, traffic.to = "A", "B"
    s.traffic = [traffic]
    return s.run()
