# SPDX-License-Identifier: GPL-3.0-or-later
"""The SNR that the receiver reports against the true one, which a simulated channel knows: that
of the power which its paths had during each interleaver block."""
from dataclasses import dataclass
from typing import List, NamedTuple, Optional, Sequence, Tuple

from .. import experiments
from ...options import option
from .. import sweep
from . import ber

#: Every mode of 3 kHz whose interleaver is announced on the air.
MODES = ([f"4539-{rate}{il}" for rate in (75, 150, 300, 600, 1200, 2400) for il in "SL"]
         + ["4539-2400V", "4539-4800N"]
         + [f"4539-{rate}{il}" for rate in (3200, 4800, 6400, 8000, 9600)
            for il in ("US", "VS", "S", "M", "L", "VL")]
         + ["4539-12800N"])
SNRS_DB = tuple(float(x) for x in range(-10, 41, 5))
LEADS_S = (0.2, 1.0, 3.0, 10.0)  #: what is heard before the transmission
#: True SNR, dB, and the largest error of the mean up to it, dB.
TARGETS = [(25.0, 1.0), (40.0, 2.0)]
#: Reports of a mode are worthless at an SNR at which preambles are found only by chance.
LEAST_FOUND = 0.5


class Case(NamedTuple):
    """Transmissions measured together: of one mode, over one channel, after one lead."""

    mode: str
    channel: str
    lead_s: float


class Error(NamedTuple):
    """Errors of the reports of blocks at one SNR, dB: reported less true."""

    snr_db: float
    mean: float
    rms: float
    blocks: int


def _blocks(case: Case, snr: float, seconds: float, seed: int
            ) -> Tuple[bool, List[Tuple[float, float]]]:
    t = experiments.ber_trial(case.mode, f"{case.channel} snr={snr:g}", seconds, seed,
                              lead_s=case.lead_s)
    return t["found"], [(b[0], b[1]) for b in t["reports"]]


def measure(case: Case, snr: float, seconds: float, seeds: Sequence[int],
            workers: sweep.Workers) -> Optional[Error]:
    """None: too few of the transmissions were found to tell."""
    done = list(sweep.run(_blocks, [(case, snr, seconds, seed) for seed in seeds], workers))
    errors = [reported - true for _, blocks in done for true, reported in blocks]
    if not errors or sum(found for found, _ in done) < LEAST_FOUND * len(seeds):
        return None
    n = len(errors)
    return Error(snr, sum(errors) / n, (sum(e * e for e in errors) / n) ** 0.5, n)


def allowed(snr_db: float) -> float:
    """The target at this SNR, dB."""
    return next(limit for up_to, limit in TARGETS if snr_db <= up_to + 1e-9)


def met(error: Error) -> bool:
    """Whether the mean is within its target."""
    return abs(error.mean) <= allowed(error.snr_db)


def header(snrs: Sequence[float]) -> str:
    """The head of the Markdown table."""
    return ("| mode | channel | lead s | " + " | ".join(f"{s:g} dB" for s in snrs)
            + " | blocks | |\n|---|---|---|" + "---|" * (len(snrs) + 2))


def row(case: Case, errors: Sequence[Optional[Error]]) -> str:
    """Mean error at each SNR, one that misses its target in bold."""
    cells = ["-" if e is None else f"{e.mean:+.1f}" if met(e) else f"**{e.mean:+.1f}**"
             for e in errors]
    there = [e for e in errors if e is not None]
    return (f"| {case.mode} | {case.channel} | {case.lead_s:g} | " + " | ".join(cells)
            + f" | {sum(e.blocks for e in there)} | "
            + ("met" if all(map(met, there)) else "missed") + " |")


@dataclass(frozen=True)
class Options:
    """Options of hf ber snr-report."""

    modes: Tuple[str, ...] = option((), "May be repeated.  [default: every mode]", flag="--mode",
                                    metavar="MODE")
    channels: Tuple[str, ...] = option(("awgn", "poor"), "Without its snr=; may be repeated.",
                                       flag="--channel", metavar="SPEC")
    snrs_db: Tuple[float, ...] = option(SNRS_DB, "True SNR, dB.  [default: -10:40:5]",
                                        flag="--snr", metavar="FIRST:LAST:STEP",
                                        parse=sweep.values)
    leads_s: Tuple[float, ...] = option(LEADS_S, "Seconds of noise before a transmission.  "
                                        "[default: 0.2,1,3,10]", flag="--lead", metavar="S,S...",
                                        parse=sweep.values)
    trials: int = option(3, "Transmissions of each figure.", least=1, metavar="N")
    seconds: float = option(6.0, "Length of one transmission.", least=0.1, most=3600)
    seed: int = option(1, "Seed of the first transmission; the others follow.", least=0)

    def __post_init__(self) -> None:
        for case in self.cases():
            ber.check(case.mode, case.channel)

    def cases(self) -> List[Case]:
        """A row of the table each."""
        return [Case(mode, channel, lead) for channel in self.channels
                for mode in self.modes or MODES for lead in self.leads_s]

    @property
    def seeds(self) -> Sequence[int]:
        """Errors of the transmissions of a figure."""
        return range(self.seed, self.seed + self.trials)
