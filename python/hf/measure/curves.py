# SPDX-License-Identifier: GPL-3.0-or-later
"""Bit-error curves as a picture, with the standard's limits and the ideal receiver."""
from typing import Dict, List, Tuple

from . import standard
from .ber import Result

FLOOR = 1e-7  # where points without errors are drawn


def split(channel: str) -> Tuple[str, float]:
    """The channel without its SNR, and the SNR."""
    items = channel.split()
    snr = [i for i in items if i.startswith("snr=")]
    return " ".join(i for i in items if i not in snr), float(snr[-1][4:])


def draw(results: List[Result], path: str) -> None:
    """One panel for each channel, one curve for each mode; the format follows from the name."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    panels: Dict[str, Dict[str, List[Tuple[float, Result]]]] = {}
    for r in results:
        channel, snr = split(r.point.channel)
        panels.setdefault(channel, {}).setdefault(r.point.mode, []).append((snr, r))
    figure, axes = plt.subplots(1, len(panels), squeeze=False,
                                figsize=(6.5 * len(panels), 5.5), layout="constrained")
    limits = standard.rows()
    for axis, (channel, curves) in zip(axes[0], panels.items()):
        for number, (mode, points) in enumerate(sorted(curves.items())):
            points.sort(key=lambda p: p[0])
            colour = f"C{number % 10}"
            x = [snr for snr, _ in points]
            y = [max(r.ber, FLOOR) for _, r in points]
            bars = [r.ber_interval() for _, r in points]
            axis.semilogy(x, y, "o-", color=colour, markersize=4, label=mode)
            axis.vlines(x, [max(low, FLOOR) for low, _ in bars], [high for _, high in bars],
                        color=colour, alpha=0.4)
            for row in limits:
                same = row.channel == channel or (channel == "poor"
                                                  and row.channel == "paths=0:0:1,2:0:1")
                if row.mode == mode and same and row.max_ber:
                    axis.plot(row.snr_db, row.max_ber, "v", color=colour, markersize=9)
            rate = int(mode.split("-")[1].rstrip("ZSLVUMN"))
            ideal = standard.ideal_awgn_db(rate) if channel == "awgn" else None
            if ideal is not None:
                axis.plot(ideal, 1e-5, "*", color=colour, markersize=10)
        axis.set(title=channel, xlabel="SNR in 3 kHz, dB", ylabel="bit error rate",
                 ylim=(FLOOR / 1.5, 1))
        axis.grid(True, which="major", alpha=0.4)
        axis.legend(fontsize="small", title="v: standard's limit, *: ideal receiver",
                    title_fontsize="x-small")
    figure.savefig(path)
    plt.close(figure)
