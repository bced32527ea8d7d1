# SPDX-License-Identifier: GPL-3.0-or-later
"""What acquisition and noise gave, kept in CSV files over many runs of `hf ber`: counts of
transmissions of a condition that were found, and pieces of noise with what was found in them."""
import csv
import os
from typing import Dict, Generic, Iterable, List, NamedTuple, Optional, Tuple, TypeVar

from scipy.stats import gamma

from ... import output

#: Chance that a rate is above its upper bound.
BEYOND = 0.05


class Found(NamedTuple):
    """Of transmissions with seeds from first_seed on. snr_db: in the mode's bandwidth."""

    mode: str
    superframes: int
    channel: str
    snr_db: float
    first_seed: int
    trials: int
    found: int

    @property
    def key(self) -> Tuple[str, ...]:
        """What it is a measurement of."""
        return (self.mode, str(self.superframes), self.channel, f"{self.snr_db:g}",
                str(self.first_seed))


class Noise(NamedTuple):
    """A piece of noise. found: the modes of what was taken for transmissions, blanks between."""

    bandwidth_khz: int
    channel: str
    effort: int
    seconds: float
    seed: int
    found: str

    @property
    def key(self) -> Tuple[str, ...]:
        """What it is a measurement of."""
        return (str(self.bandwidth_khz), self.channel, str(self.effort), f"{self.seconds:g}",
                str(self.seed))


def found_of(row: Dict[str, str]) -> Found:
    """A row of a file."""
    return Found(row["mode"], int(row["superframes"]), row["channel"], float(row["snr_db"]),
                 int(row["first_seed"]), int(row["trials"]), int(row["found"]))


def noise_of(row: Dict[str, str]) -> Noise:
    """A row of a file."""
    return Noise(int(row["bandwidth_khz"]), row["channel"], int(row["effort"]),
                 float(row["seconds"]), int(row["seed"]), row["found"])


Kept = TypeVar("Kept", Found, Noise)


class Tally(Generic[Kept]):
    """Rows of one kind in a CSV file, written after each; without a file: in memory.

    Raises output.OutputError for a file that holds something else, and ValueError for a damaged
    row, with its line.
    """

    def __init__(self, kind: type, path: Optional[str] = None) -> None:
        self._fields, self._path = kind._fields, path  # type: ignore[attr-defined]
        self._rows: Dict[Tuple[str, ...], Kept] = {}
        if path is None:
            return
        output.check(path, first_line=output.first_line(self._fields))
        if os.path.exists(path):
            read = found_of if kind is Found else noise_of
            with open(path, newline="", encoding="utf-8", errors="replace") as file:
                for number, row in enumerate(csv.DictReader(file), 2):
                    try:
                        kept = read(row)
                    except (KeyError, TypeError, ValueError):
                        raise ValueError(f"{path}, line {number}: not a row of "
                                         + ", ".join(self._fields)) from None
                    self._rows[kept.key] = kept  # type: ignore[assignment]

    def get(self, wanted: Kept) -> Optional[Kept]:
        """The measurement of the same, if it was made before."""
        return self._rows.get(wanted.key)

    def add(self, row: Kept) -> None:
        """Keep a measurement; one of the same that is there is replaced."""
        self._rows[row.key] = row
        if self._path is not None:
            output.write_csv(self._path, self._fields, self._rows.values())

    def rows(self) -> List[Kept]:
        """All, in the order in which they were made."""
        return list(self._rows.values())


def most_a_day(found: int, hours: float) -> float:
    """Upper bound of the false starts in 24 h with a confidence of 95 %, of events that come by
    chance (Poisson)."""
    return float(gamma.ppf(1 - BEYOND, found + 1)) * 24 / hours


def noise_table(rows: Iterable[Noise]) -> str:
    """Hours and false starts of each bandwidth and channel as a Markdown table."""
    sums: Dict[Tuple[int, str], List[float]] = {}
    for r in rows:
        total = sums.setdefault((r.bandwidth_khz, r.channel), [0.0, 0])
        total[0] += r.seconds / 3600
        total[1] += len(r.found.split())
    lines = ["| bandwidth | noise | hours | false starts | in 24 h at most (95 %) |",
             "|---|---|---|---|---|"]
    for (bandwidth, channel), (hours, found) in sorted(sums.items()):
        lines.append(f"| {bandwidth} kHz | {channel} | {hours:.1f} | {found:g} | "
                     f"{most_a_day(round(found), hours):.2g} |")
    return "\n".join(lines)
