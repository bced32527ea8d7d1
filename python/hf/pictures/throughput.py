# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of a throughput that the console measured."""
from typing import Any, List

from ..sis.console import Sample
from . import style


def draw(path: str, title: str, samples: List[Sample]) -> None:
    """Goodput over time as a picture."""
    with style.figure(2, height=6, sharex=True) as (figure, (upper, lower)):
        _panels(upper, lower, samples)
        upper.set_title(title)
        style.save(figure, path)


def _panels(upper: Any, lower: Any, samples: List[Sample]) -> None:
    times = [0.0] + [s.time for s in samples]
    there = [s.octets_out for s in samples]
    # Unconfirmed octets are known only until the station has accepted them.
    for name, values in (("submitted", [0] + [s.submitted for s in samples]),
                         ("there", [0] + there), ("here", [0] + [s.octets_in for s in samples])):
        if not any(values):
            continue
        upper.step(times, [v / 1000 for v in values], where="post", label=name)
        if name != "submitted" or not any(there):
            lower.plot(times[1:], [8 * v / max(t, 1e-9) for t, v in zip(times[1:], values[1:])],
                       label=name)
    after = [s for s in samples if s.octets_out]
    rates = [(s.time, 8 * (s.octets_out - after[0].octets_out) / (s.time - after[0].time))
             for s in after if s.time > after[0].time]
    if rates:
        lower.plot(*zip(*rates), linestyle="--", label="there, after the first confirmation")
    upper.set_ylabel("octets, kB")
    lower.set_ylabel("mean goodput, bit/s")
    lower.set_xlabel("time, s")
    for axes in (upper, lower):
        axes.grid(True, alpha=0.3)
        style.legend_beside(axes)
