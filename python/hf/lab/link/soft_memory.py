# SPDX-License-Identifier: GPL-3.0-or-later
"""Gain of the memory for damaged copies of a segment: two whole stations on real waveforms, one
sends bulk data to the other, 3 dB below the threshold of its mode.

Kept: one line for each run. Runs with one seed have the same channel realisation."""
from dataclasses import dataclass
import random
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from .. import experiments
from ...options import option
from .. import sweep

#: Modes, the threshold of each on ITU-R Poor (dB in 3 kHz: 1 to 7 % of the blocks are bad in
#: block_errors.csv), and station time of a run, s.
MODES = {"600L": (2.0, 1800.0), "75L": (-8.0, 7200.0), "75S": (-4.0, 7200.0)}
#: Below the threshold, dB.
BELOW_DB = 3.0
#: The setting copy_memory, and its name in the table.
MEMORIES = {0: "each copy alone", 1: "two copies as octets", 2: "all copies as soft bits"}
#: Goodput with soft bits over that of each copy alone.
TARGET = 2.0
#: Octets of a U_PDU: short ones show more of what arrived in the time.
U_PDU_OCTETS = 500
#: So that the stations do not give each other up: with the default of 8, two stations at 75L and
#: -11 dB often lose their link before anything has arrived.
PATIENT = {"max_silent_rounds": 100, "link_tries": 100}
#: Draws of the seeds for an interval.
DRAWS = 2000


class Run(NamedTuple):
    """Octets that arrived in one run, and its counts."""

    mode: str
    snr_db: float
    seconds: float
    memory: int
    seed: int
    octets: int
    d_pdus_sent: int
    damaged: int
    repaired: int
    summed: int
    headers: int


@dataclass(frozen=True)
class Options:
    """Options of hf bench memory."""

    seeds: int = option(8, "Runs of each point, with seeds from 1 on.", least=1, most=1000)
    modes: Tuple[str, ...] = option((), "Only this mode; may be repeated.", flag="--mode",
                                    metavar="MODE")
    above_db: float = option(0.0, "SNR above that of the table, dB: 6 shows that nothing changes "
                             "where nothing fails.", least=-20, most=60)
    hours: float = option(0.0, "Station time of each run, h. 0: half an hour at 600 bit/s, two at "
                          "75.", least=0, most=100)

    def __post_init__(self) -> None:
        for mode in self.modes:
            if mode not in MODES:
                raise ValueError(f"mode {mode!r}: allowed are {', '.join(MODES)}")

    def points(self) -> List[Tuple[str, float, float, int, int]]:
        """Mode, SNR, seconds, memory and seed of each run."""
        return [(mode, MODES[mode][0] - BELOW_DB + self.above_db,
                 3600 * self.hours or MODES[mode][1], memory, seed)
                for mode in self.modes or MODES for seed in range(1, self.seeds + 1)
                for memory in MEMORIES]


def store(path: Optional[str] = None, force: bool = False) -> "sweep.Store[Run]":
    """Runs, in a CSV file or in memory. force: replace a file with other contents."""
    return sweep.Store(Run, 5, path, force=force)


def one(mode: str, snr_db: float, seconds: float, memory: int, seed: int) -> Run:
    """A run."""
    # More than the mode carries, so that the time ends it.
    octets = int(int(mode[:-1]) * seconds / 8) + 10000
    result = experiments.simulate_real(f"4539-{mode}", octets, U_PDU_OCTETS,
                                       channel=f"poor snr={snr_db}", seed=seed, limit_s=seconds,
                                       settings={"copy_memory": memory, **PATIENT})
    if result["octets_altered"]:
        raise RuntimeError(f"{mode}, seed {seed}: {result['octets_altered']} octets were altered")
    return Run(mode, snr_db, seconds, memory, seed, int(result["octets_delivered"]),
               *(int(result[name]) for name in ("d_pdus_sent", "segments_damaged",
                                                "segments_repaired", "segments_summed",
                                                "headers_recovered")))


def measure(wanted: Options, workers: sweep.Workers, kept: "sweep.Store[Run]") -> Iterator[Run]:
    """The runs. They are added to the kept ones."""
    for run in sweep.run(one, wanted.points(), workers, kept.get):
        kept.add(run)
        yield run


def gain(runs: Sequence[Run], of: int, over: int) -> Tuple[float, float, float]:
    """Octets with one memory over those with another, and the interval of 95 %: seeds are drawn
    again, with both runs of each."""
    octets: Dict[int, Dict[int, int]] = {}
    for run in runs:
        octets.setdefault(run.seed, {})[run.memory] = run.octets
    pairs = [(o[of], o[over]) for o in octets.values()]
    draw = random.Random(1)

    def ratio(some: Sequence[Tuple[int, int]]) -> float:
        above, below = (sum(octets) for octets in zip(*some))
        return above / below if below > 0 else float("inf") if above > 0 else 0.0

    drawn = sorted(ratio(draw.choices(pairs, k=len(pairs))) for _ in range(DRAWS))
    return ratio(pairs), drawn[DRAWS // 40], drawn[-DRAWS // 40 - 1]


def cells(runs: Iterable[Run]) -> Dict[Tuple[str, float], List[Run]]:
    """Runs by mode and SNR."""
    found: Dict[Tuple[str, float], List[Run]] = {}
    for run in runs:
        found.setdefault((run.mode, run.snr_db), []).append(run)
    return found


def missed(runs: Iterable[Run]) -> List[str]:
    """Points below the target."""
    return [f"{mode} at {snr_db:g} dB" for (mode, snr_db), some in cells(runs).items()
            if gain(some, 2, 0)[0] < TARGET]


def report(runs: Sequence[Run]) -> str:
    """Markdown: goodput by memory, the gains beside the target, and the counts."""
    return sweep.table(["mode and SNR", "runs", *(f"{name}, bit/s" for name in MEMORIES.values()),
                        f"soft bits of alone, target {TARGET:g}", "of two copies", "damaged",
                        "repaired, of these by soft bits", "headers recovered"],
                       (_row(*key, some) for key, some in cells(runs).items()))


def _row(mode: str, snr_db: float, runs: Sequence[Run]) -> List[str]:
    def goodput(memory: int) -> str:
        some = [run for run in runs if run.memory == memory]
        return f"{8 * sum(r.octets for r in some) / sum(r.seconds for r in some):.1f}"

    def shown(over: int) -> str:
        value, least, most = gain(runs, 2, over)
        said = f"{value:.2f}" if over or value >= TARGET else f"**{value:.2f}**"
        return f"{said} ({least:.2f} to {most:.2f})"

    soft = [run for run in runs if run.memory == 2]
    return [f"{mode}, {snr_db:g} dB", str(len(soft)), *map(goodput, MEMORIES), shown(0), shown(1),
            str(sum(r.damaged for r in soft)),
            f"{sum(r.repaired for r in soft)}, {sum(r.summed for r in soft)}",
            str(sum(r.headers for r in soft))]
