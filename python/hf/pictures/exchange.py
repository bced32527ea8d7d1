# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of an exchange between stations."""
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from ..station.watch import Transmission
from . import style


@dataclass
class Progress:
    """Octets of user data delivered up to a station time in seconds."""

    time: float
    octets: int


def spectrogram(samples: np.ndarray, columns: int = 900, bins: int = 128) -> np.ndarray:
    """Power in dB, one row per frequency (from the lowest up), one column per time slice."""
    step = max(len(samples) // columns, bins)
    count = max(len(samples) // step, 1)
    window = np.hanning(bins)
    image = np.empty((bins, count))
    for k in range(count):
        piece = samples[k * step:(k + 1) * step]
        rows = [piece[i:i + bins] for i in range(0, max(len(piece) - bins, 0) + 1, bins)]
        rows = [r for r in rows if len(r) == bins][:16]
        if not rows:
            image[:, k] = 1e-12
            continue
        power = np.mean(np.abs(np.fft.fft(np.array(rows) * window, axis=1)) ** 2, axis=0)
        image[:, k] = np.fft.fftshift(power)
    return 10 * np.log10(image / window.sum() ** 2 + 1e-12)


def draw(path: str, title: str, stations: Dict[str, List[Transmission]],
         progress: Sequence[Progress], heard: Optional[Dict[str, np.ndarray]] = None,
         begin: float = 0.0, bandwidth_khz: int = 3) -> None:
    """Draw the exchange: who transmitted when in which mode, what was delivered, and the spectrum
    of what stations heard.

    stations: name to transmissions; heard: name to what it received from station time begin on,
    complex at 3200 samples/s for each kHz of bandwidth.
    """
    heard = {name: x for name, x in (heard or {}).items() if len(x)}
    end = max([t.end for ts in stations.values() for t in ts] + [begin + 1.0])
    heights = [1.2, 1.5] + [1.5] * len(heard)
    with style.figure(len(heights), height=1.2 + 1.5 * len(heights), sharex=True,
                      height_ratios=heights) as (figure, axes):
        figure.suptitle(title)
        _transmissions(axes[0], stations)
        axes[1].step([p.time for p in progress], [p.octets / 1000 for p in progress],
                     where="post")
        axes[1].set_ylabel("delivered, kB")
        axes[1].grid(True)
        for axis, (name, samples) in zip(axes[2:], heard.items()):
            _waterfall(axis, name, samples, begin, bandwidth_khz)
        axes[-1].set_xlabel("station time, s")
        axes[-1].set_xlim(begin, end)
        style.save(figure, path)


def _transmissions(axis: Any, stations: Dict[str, List[Transmission]]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    # A label with its own background: it covers bars of any colour, and is beside very short ones.
    mark = {"marker": "D", "linestyle": "", "markersize": 5, "markeredgewidth": 0.8,
            "color": axis.get_facecolor(), "markeredgecolor": style.foreground()}
    modes = sorted({t.mode for ts in stations.values() for t in ts})
    colours = dict(zip(modes, style.colours(len(modes))))
    hatches = dict(zip(modes, style.hatches(len(modes))))
    for row, transmissions in enumerate(stations.values()):
        for t in transmissions:
            axis.barh(row, t.end - t.begin, left=t.begin, height=0.7, color=colours[t.mode],
                      edgecolor=style.foreground(), linewidth=0.3, hatch=hatches[t.mode])
            if t.acknowledges:
                axis.plot((t.begin + t.end) / 2, row, **mark)
    axis.set_yticks(range(len(stations)), list(stations))
    axis.set_ylim(len(stations) - 0.5, -0.5)
    axis.set_ylabel("transmits")
    handles: List[Any] = [Patch(facecolor=colours[m], edgecolor=style.foreground(),
                                linewidth=0.3, hatch=hatches[m], label=m) for m in modes]
    if any(t.acknowledges for ts in stations.values() for t in ts):
        handles.append(Line2D([], [], **mark, label="acknowledges"))
    if handles:
        style.legend_beside(axis, handles=handles)


def _waterfall(axis: Any, name: str, samples: np.ndarray, begin: float,
               bandwidth_khz: int) -> None:
    rate = 3200 * bandwidth_khz
    # Bandwidths that fit into audio are shown as audio, on their subcarrier.
    middle, low, high_khz = ((1800, 0, 3.6) if bandwidth_khz == 3 else
                             (0, -0.6 * bandwidth_khz, 0.6 * bandwidth_khz))
    image = spectrogram(samples)
    high = image.max()
    axis.imshow(image, aspect="auto", origin="lower", cmap="viridis", vmin=high - 50, vmax=high,
                extent=(begin, begin + len(samples) / rate, (-rate / 2 + middle) / 1000,
                        (rate / 2 + middle) / 1000))
    axis.set_ylim(low, high_khz)
    axis.set_ylabel(f"{name} hears,\n{'audio' if middle else 'baseband'}, kHz")
