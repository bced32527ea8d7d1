# SPDX-License-Identifier: GPL-3.0-or-later
"""A line of characters that shows when a station was on the air."""
from typing import Any, Dict, List


def strip(spans: List[Dict[str, Any]], now: float, columns: int, step_s: float, marks: str) -> str:
    """Characters for a station that transmitted (first mark), received (second) or did neither
    (third).

    spans: from snapshot.StatusWatch. Each column stands for step_s seconds, and the last one ends
    now. A transmission takes precedence over a reception in the same column.
    """
    begin = now - columns * step_s
    shown = [marks[2]] * columns
    for s in spans:
        end = now if s["end"] is None else s["end"]
        mark = marks[0] if s["kind"] == "tx" else marks[1]
        first, last = (int((t - begin) / step_s) for t in (s["begin"], end))
        for k in range(max(0, first), min(columns, last + 1)):
            if end >= begin and shown[k] != marks[0]:
                shown[k] = mark
    return "".join(shown)
