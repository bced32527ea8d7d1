# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of an exchange between stations."""
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence

import numpy as np

from .. import output
from ..watch import Transmission


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


def exchange(path: str, title: str, stations: Dict[str, List[Transmission]],
             progress: Sequence[Progress], samples: Optional[np.ndarray] = None,
             begin: float = 0.0, bandwidth_khz: int = 3) -> None:
    """Draw the exchange: who transmitted when in which mode, what was delivered, and the
    spectrum of the channel.

    stations: name to transmissions; samples: the channel from station time begin on,
    complex at 3200 samples/s for each kHz of bandwidth.
    """
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    modes = sorted({t.mode for ts in stations.values() for t in ts})
    colours = dict(zip(modes, plt.get_cmap("tab10").colors * (len(modes) // 10 + 1)))
    end = max([t.end for ts in stations.values() for t in ts] + [begin + 1.0])
    heights = [1.2, 1.6] + ([2.2] if samples is not None else [])
    figure, axes = plt.subplots(len(heights), 1, sharex=True, figsize=(11, 2.2 * len(heights)),
                                gridspec_kw={"height_ratios": heights},
                                constrained_layout=True)
    figure.suptitle(title)

    names = list(stations)
    for row, name in enumerate(names):
        for t in stations[name]:
            axes[0].barh(row, t.end - t.begin, left=t.begin, height=0.7,
                         color=colours[t.mode], edgecolor="black", linewidth=0.3)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    axes[0].set_ylabel("transmits")
    if modes:
        axes[0].legend([plt.Rectangle((0, 0), 1, 1, color=colours[m]) for m in modes], modes,
                       loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")

    axes[1].step([p.time for p in progress], [p.octets / 1000 for p in progress], where="post")
    axes[1].set_ylabel("delivered, kB")
    axes[1].grid(alpha=0.3)

    if samples is not None:
        image = spectrogram(samples)
        high = image.max()
        rate = 3200 * bandwidth_khz
        # What fits into audio is shown as audio, on its subcarrier.
        middle, low, high_khz = ((1800, 0, 3.6) if bandwidth_khz == 3 else
                                 (0, -0.6 * bandwidth_khz, 0.6 * bandwidth_khz))
        axes[2].imshow(image, aspect="auto", origin="lower", cmap="viridis", vmin=high - 50,
                       vmax=high,
                       extent=(begin, begin + len(samples) / rate,
                               (-rate / 2 + middle) / 1000, (rate / 2 + middle) / 1000))
        axes[2].set_ylim(low, high_khz)
        axes[2].set_ylabel("audio, kHz" if middle else "baseband, kHz")
    axes[-1].set_xlabel("station time, s")
    axes[-1].set_xlim(begin, end)
    output.save_figure(figure, path, dpi=110)
    plt.close(figure)
