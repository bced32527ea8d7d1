# SPDX-License-Identifier: GPL-3.0-or-later
"""SNR that each mode needs on the ten channels of ITU-R F.1487, Annex 3: two paths of equal mean
power with a delay between them and a Doppler spread."""
from dataclasses import dataclass
from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple

from ...options import option
from .. import sweep
from .ber import Point, Reception, Result, Stop, check
from .block_errors import MIDDLE_DB

PROFILES = ["low-quiet", "low-moderate", "low-disturbed", "mid-quiet", "mid-moderate",
            "mid-disturbed", "nvis", "high-quiet", "high-moderate", "high-disturbed"]
#: Each rate with its longest interleaver.
MODES = [f"4539-{rate}L" for rate in (75, 150, 300, 600, 1200, 2400)] + [
    f"4539-{rate}VL" for rate in (3200, 4800, 6400, 8000, 9600)]
LOWEST_DB, HIGHEST_DB = -20.0, 40.0
STEP_DB = 2.0
ABOVE_AWGN_DB = 6.0  #: where a search begins

Run = Callable[[Point, Stop], Result]


class Need(NamedTuple):
    """The least SNR at which no block of a point was bad; None: some are at 40 dB as well.
    result: of that point, or of the one at 40 dB."""

    mode: str
    profile: str
    snr_db: Optional[float]
    result: Result

    @property
    def text(self) -> str:
        """A cell: the SNR and the blocks it rests on, or the error rate that is left."""
        r = self.result
        if self.snr_db is None:
            return f"- ({r.ber:.0e})"
        return f"{self.snr_db:g} ({r.blocks})"


def find(mode: str, profile: str, air_s: float, effort: int, run: Run) -> Need:
    """Search in steps of 2 dB; each point is \\p air_s of signal, or ends with a bad block."""
    def at(snr: float) -> Result:
        return run(Point(mode, f"{profile} snr={snr:g}", air_s, effort), Stop(1, air_s))

    first = snr = MIDDLE_DB[int(mode[5:].rstrip("LV"))] + ABOVE_AWGN_DB
    while True:  # upwards until one is good
        good = at(snr)
        if good.bad_blocks == 0 and good.lost == 0:
            break
        if snr >= HIGHEST_DB:
            return Need(mode, profile, None, good)
        # A mode that fails 8 dB above the first SNR mostly fails everywhere.
        snr = min(snr + 2 * STEP_DB, HIGHEST_DB) if snr < first + 8 else HIGHEST_DB
    good_db = snr
    while good_db - STEP_DB >= LOWEST_DB:
        result = at(good_db - STEP_DB)
        if result.bad_blocks > 0 or result.lost > 0:
            break
        good, good_db = result, good_db - STEP_DB
    return Need(mode, profile, good_db, good)


def table(needs: Sequence[Need], profiles: Sequence[str]) -> str:
    """Markdown, a row per mode."""
    cells = {(n.mode, n.profile): n.text for n in needs}
    return sweep.table(["mode", *profiles], (
        [mode, *(cells.get((mode, p), "") for p in profiles)]
        for mode in dict.fromkeys(n.mode for n in needs)))


@dataclass(frozen=True)
class Options(Reception):
    """Options of hf ber f1487."""

    modes: Tuple[str, ...] = option((), "May be repeated.  [default: each rate with its longest "
                                    "interleaver]", flag="--mode", metavar="MODE")
    channels: Tuple[str, ...] = option((), "May be repeated.  [default: the ten of F.1487]",
                                       flag="--channel", metavar="SPEC")
    max_time: float = option(120.0, "Seconds of signal of each point.", least=0.1)

    def __post_init__(self) -> None:
        for mode, profile in self.pairs():
            check(mode, profile)

    @property
    def profiles(self) -> Sequence[str]:
        """Columns of the table."""
        return self.channels or PROFILES

    def pairs(self) -> List[Tuple[str, str]]:
        """Modes and channels to measure."""
        return [(mode, profile) for profile in self.profiles for mode in self.modes or MODES]
