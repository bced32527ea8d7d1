# SPDX-License-Identifier: GPL-3.0-or-later
"""Block errors of the receiver over SNR, by mode and channel. The event simulator uses them
instead of samples. The file in the tree is `lib/s5066/rate/block_errors.csv`, which is compiled
into the data link; a copy is installed with this package."""
import csv
import functools
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .. import hf_python as hf

PATH = str(Path(__file__).parents[1] / "block_errors.csv")


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


@functools.lru_cache(maxsize=None)
def _in_3_khz() -> Dict[Tuple[Any, Any, Any], str]:
    """The first mode in 3 kHz of each waveform, interleaver and constraint length."""
    found: Dict[Tuple[Any, Any, Any], str] = {}
    for m in hf.mode.all():
        if m.bandwidth_hz == 3000:
            found.setdefault((m.waveform, m.interleaver, m.constraint_length), str(m))
    return found


def threshold(mode: str, channel: str,
              curves: Dict[Tuple[str, str], List[Point]]) -> Optional[Threshold]:
    """The least SNR in the mode's bandwidth, dB, from which on one block of ten is lost at most:
    between two measured points on a line. Of a wideband mode that was not measured itself, that
    of its waveform in 3 kHz; none if that was not measured either, or never gets so far."""
    m = hf.mode(mode)
    source = mode
    if m.waveform is not None and (channel, mode) not in curves:
        source = _in_3_khz().get((m.waveform, m.interleaver, m.constraint_length), mode)
    points = curves.get((channel, source), [])
    for low, high in reversed(list(zip([None, *points[:-1]], points))):
        if _share(high) > LOST:
            return None
        if low is not None and _share(low) > LOST:
            part = (_share(low) - LOST) / (_share(low) - _share(high))
            return Threshold(round(low.snr_db + part * (high.snr_db - low.snr_db), 1), source)
    return None
