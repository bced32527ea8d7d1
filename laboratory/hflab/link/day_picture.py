# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of a simulated day: what each frequency could carry, who used which, what arrived."""
from typing import Any, Dict, List, Sequence

import numpy as np

from gnuradio.hf.pictures import style

#: Seconds of one column.
COLUMN_S = 300
#: Colours of the strategies that are no single frequency.
LINES = {"clock table": style.COLOURS[5], "ALE without trials": style.COLOURS[0],
         "ALE": style.COLOURS[1], "always the best": style.COLOURS[2]}


def draw(path: str, title: str, mhz: Sequence[float], could_bps: np.ndarray,
         channels: Dict[str, np.ndarray], arrived: Dict[str, List[Any]]) -> None:
    """could_bps: what each frequency could carry, frequencies x seconds. channels: by strategy,
    the number of the frequency at each second, -1 for none; of at most two strategies. arrived: by
    strategy, pairs of hour and octets so far."""
    with style.figure(2, height=7.5, sharex=True) as (figure, (upper, lower)):
        _frequencies(figure, upper, mhz, could_bps, channels)
        upper.set_title(title)
        for name, points in arrived.items():
            _sum(lower, name, points)
        lower.set_ylabel("octets delivered, MB")
        lower.set_xlabel("hour, UTC")
        lower.set_xlim(0, 24)
        lower.set_xticks(range(0, 25, 3))
        lower.set_ylim(bottom=0)
        lower.grid(True, alpha=0.3)
        lower.legend(loc="upper left")
        style.save(figure, path)


def _sum(axis: Any, name: str, points: List[Any]) -> None:
    hours, sums = [h for h, _ in points], [o / 1e6 for _, o in points]
    if not name.endswith(" MHz"):
        axis.plot(hours, sums, label=name, color=LINES[name], linewidth=2)
        return
    axis.plot(hours, sums, color=style.COLOURS[6], linewidth=1)
    axis.annotate(name, (24, sums[-1]), xytext=(3, 0), textcoords="offset points", fontsize=8,
                  color=style.COLOURS[6], va="center", annotation_clip=False)


def _frequencies(figure: Any, axis: Any, mhz: Sequence[float], could_bps: np.ndarray,
                 channels: Dict[str, np.ndarray]) -> None:
    could = could_bps.reshape(len(mhz), -1, COLUMN_S).mean(axis=2) / 1000
    image = axis.imshow(could, aspect="auto", origin="lower", cmap="gray", vmin=0,
                        interpolation="nearest",
                        extent=(0, 24, -0.5, len(mhz) - 0.5))
    figure.colorbar(image, ax=axis, label="could carry, kbit/s", pad=0.01)
    hours = np.arange(0, could_bps.shape[1], 10) / 3600
    for (name, channel), shift in zip(channels.items(), (-0.12, 0.12)):
        place = np.where(channel[::10] < 0, np.nan, channel[::10] + shift)
        axis.plot(hours, place, color=LINES[name], linewidth=2, label=name)
    axis.set_yticks(range(len(mhz)), [f"{f:g}" for f in mhz])
    axis.set_ylabel("MHz")
    axis.legend(loc="upper left", facecolor="#404040", labelcolor="#ffffff")
