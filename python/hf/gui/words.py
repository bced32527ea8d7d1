# SPDX-License-Identifier: GPL-3.0-or-later
"""Amounts, times and rates as a person says them."""
import re
from typing import Optional


def amount(octets: float) -> str:
    """Octets, as "1.2 kB"."""
    for unit, name in ((1e6, "MB"), (1e3, "kB")):
        if octets >= unit:
            return f"{octets / unit:.{0 if octets >= 10 * unit else 1}f} {name}"
    return f"{octets:.0f} octets"


def part(done: float, total: float) -> str:
    """The done part of a total, both in the unit of the total: "34 of 80 kB"."""
    for unit, name in ((1e6, "MB"), (1e3, "kB")):
        if total >= unit:
            digits = 0 if total >= 10 * unit else 1
            return f"{done / unit:.{digits}f} of {total / unit:.{digits}f} {name}"
    return f"{done:.0f} of {total:.0f} octets"


def duration(seconds: float) -> str:
    """A time, rounded up so that it is seldom too short, by a sixth at most above 30 s."""
    if seconds <= 55:
        return f"{max(5, -(-int(seconds) // 5) * 5)} s"
    if seconds <= 300:
        minutes, rest = divmod(-(-int(seconds) // 10) * 10, 60)
        return f"{minutes} min" + (f" {rest} s" if rest else "")
    if seconds <= 59 * 60:
        return f"{-(-int(seconds) // 60)} min"
    if seconds < 86400:
        hours, minutes = divmod(-(-int(seconds) // 60), 60)
        return f"{hours} h {minutes} min" if hours < 10 else f"{hours} h"
    return "more than a day"


def ago(seconds: float) -> str:
    """How long ago something was."""
    return "just now" if seconds < 60 else f"{duration(seconds)} ago"


def rate(bps: float) -> str:
    """A goodput for people, and in the unit of modems."""
    if bps < 1:
        return "nothing"
    bits = f"{bps / 1000:.1f} kbit/s" if bps >= 1000 else f"{bps:.0f} bit/s"
    return f"{amount(bps * 60 / 8)} a minute ({bits})"


def mode_bps(mode: str) -> Optional[int]:
    """The data rate in the name of a mode, as 4539-4800L. None if it has none."""
    found = re.search(r"-(?:\d+k-)?(\d+)[A-Z]*(?:-k\d)?$", mode)
    return int(found[1]) if found else None
