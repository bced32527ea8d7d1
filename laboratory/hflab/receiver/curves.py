# SPDX-License-Identifier: GPL-3.0-or-later
"""Bit-error curves as a picture, with the standard's limits, the ideal receiver's curves and the
bounds with a known channel."""
import math
from typing import Any, Dict, List, Tuple

from gnuradio.hf.pictures import style
from . import standard
from .ber import Receiver, Result

FLOOR = 1e-7  # the lower edge of the picture
#: Curves differ on paper, too, and for who sees no colours; the standard's limits have "v".
MARKERS = "osD^PX<>p*"


def split(channel: str) -> Tuple[str, float]:
    """The channel without its SNR, and the SNR."""
    items = channel.split()
    snr = [i for i in items if i.startswith("snr=")]
    return " ".join(i for i in items if i not in snr), float(snr[-1][4:])


def rate_of(mode: str) -> int:
    """bit/s of a mode's name."""
    return int(mode.split("-")[1].rstrip("ZSLVUMN"))


def bound_db(mode: str) -> float:
    """SNR in 3 kHz below which no code carries the mode's rate on AWGN (Shannon)."""
    rate = rate_of(mode)
    return 10 * math.log10((2 ** (rate / 2400) - 1) * 2400 / 3000)


#: Line of each receiver, by its number; dotted is the ideal receiver.
LINES = ("-", "--", "-.")


def _curve(axis: Any, points: List[Tuple[float, Result]], colour: str, marker: str, receiver: int,
           label: str) -> None:
    ours = receiver == Receiver.HF
    points.sort(key=lambda p: p[0])
    errors = [(snr, r) for snr, r in points if r.ber > 0]
    axis.semilogy([snr for snr, _ in errors], [max(r.ber, FLOOR) for _, r in errors],
                  linestyle=LINES[receiver], marker=marker if ours else None,
                  color=colour, markersize=5, label=label if ours else None)
    for snr, r in points:
        low, high = r.ber_interval()
        if r.ber == 0:
            # No error seen: the rate is below the upper bound.
            axis.annotate("", (snr, max(high / 3, FLOOR)), (snr, high), annotation_clip=True,
                          arrowprops={"arrowstyle": "->", "color": colour,
                                      "linestyle": LINES[receiver]})
            axis.plot([snr], [high], "_", color=colour, markersize=7)
        elif ours:
            axis.vlines([snr], [max(low, FLOOR)], [high], color=colour, alpha=0.4)


def _panel(axis: Any, channel: str, curves: Dict[str, Dict[int, List[Tuple[float, Result]]]]
           ) -> None:
    chosen = style.colours(len(curves))
    # Elements of this panel besides the curves.
    marks = {"triangle: standard's limit": False,
             "arrow down: no error seen,\nfrom the upper bound": False,
             "dashed: channel known": False, "dash-dotted: bound": False,
             "dotted: ideal receiver": channel == "awgn",
             "tick below: Shannon": channel == "awgn"}
    for number, (mode, kinds) in enumerate(sorted(curves.items(),
                                                  key=lambda c: rate_of(c[0]))):
        colour = chosen[number]
        for receiver, points in kinds.items():
            _curve(axis, points, colour, MARKERS[number % len(MARKERS)], receiver, mode)
            marks["dashed: channel known"] |= receiver == Receiver.GENIE
            marks["dash-dotted: bound"] |= receiver == Receiver.BOUND
            marks["arrow down: no error seen,\nfrom the upper bound"] |= any(
                r.ber == 0 for _, r in points)
        for row in standard.narrowband_rows():
            same = row.channel == channel or (channel == "poor"
                                              and row.channel == "paths=0:0:1,2:0:1")
            if row.mode == mode and same and row.max_ber:
                axis.plot(row.snr_db, row.max_ber, "v", color=colour, markersize=9)
                marks["triangle: standard's limit"] = True
        if channel == "awgn":
            ideal = [(s, b) for s, b in standard.ideal_awgn(rate_of(mode)) if b > 0]
            axis.plot([s for s, _ in ideal], [b for _, b in ideal], ":", color=colour)
            axis.axvline(bound_db(mode), 0, 0.05, color=colour)
    axis.set(title=f"channel: {channel}", xlabel="SNR in 3 kHz, dB", ylabel="bit error rate",
             ylim=(FLOOR / 1.5, 1))
    axis.grid(True, which="major")
    style.legend_beside(axis, title="\n".join(words for words, there in marks.items() if there),
                        title_fontsize="small", alignment="left")


def draw(results: List[Result], path: str) -> None:
    """One panel for each channel, one curve for each mode; the format follows from the name."""
    panels: Dict[str, Dict[str, Dict[int, List[Tuple[float, Result]]]]] = {}
    for r in results:
        channel, snr = split(r.point.channel)
        kinds = panels.setdefault(channel, {}).setdefault(r.point.mode, {})
        kinds.setdefault(r.point.receiver, []).append((snr, r))
    with style.figure(len(panels), height=6.0 * len(panels), squeeze=False) as (figure, axes):
        figure.suptitle("Bit error rates; the receiver detects the mode by itself")
        for axis, (channel, curves) in zip(axes[:, 0], panels.items()):
            _panel(axis, channel, curves)
        style.save(figure, path)
