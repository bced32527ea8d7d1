# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of a throughput that the console measured."""
from typing import List

from .. import output
from ..console import Sample


def draw(path: str, title: str, samples: List[Sample]) -> None:
    """Goodput over time as a picture."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, (upper, lower) = pyplot.subplots(2, 1, sharex=True, figsize=(9, 6))
    times = [0.0] + [s.time for s in samples]
    there = [s.octets_out for s in samples]
    # What nobody confirms is known only as far as the station has taken it.
    out = ("there", there) if any(there) else ("submitted", [s.submitted for s in samples])
    for name, values in ((out[0], [0] + out[1]),
                         ("here", [0] + [s.octets_in for s in samples])):
        if not any(values):
            continue
        upper.step(times, [v / 1000 for v in values], where="post", label=name)
        lower.plot(times[1:], [8 * v / max(t, 1e-9) for t, v in zip(times[1:], values[1:])],
                   label=name)
    upper.set_ylabel("octets / 1000")
    upper.set_title(title)
    lower.set_ylabel("mean goodput / bit/s")
    lower.set_xlabel("time / s")
    for axes in (upper, lower):
        axes.grid(True, alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend()
    figure.tight_layout()
    output.save_figure(figure, path)
    pyplot.close(figure)
