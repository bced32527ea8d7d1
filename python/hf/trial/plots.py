# SPDX-License-Identifier: GPL-3.0-or-later
"""Plots of a trial's report, as SVG."""
import datetime
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ..pictures import style
from .findings import Findings, mode_order

#: Inches. Text stays readable on a phone, which shows the whole width.
WIDTH = 6.6
CHANNEL = (("snr_db", "SNR, dB"), ("doppler_hz", "Doppler spread, Hz"),
           ("delay_spread_ms", "delay spread, ms"), ("freq_offset_hz", "frequency offset, Hz"))
#: Markers of stations, so that they differ by more than colour in print.
MARKERS = "o^sDvP<>"
#: Hatches of bars, for the same reason. "///" marks blocks that were not received.
HATCHES = ["", "...", "---", "ooo"]
#: Rasterise plots with more points than this.
_MANY = 300


def _time(at: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(at, datetime.timezone.utc)


def _values(receptions: Sequence[Dict[str, Any]], key: str) -> List[Tuple[float, float]]:
    # A spread of exactly 0 means that the transmission was too short to measure it.
    spread = key in ("doppler_hz", "delay_spread_ms")
    return [(x["at"], x[key]) for x in receptions
            if x[key] is not None and not (spread and x[key] == 0)]


def channel(f: Findings) -> str:
    """SNR, Doppler spread, delay spread and frequency offset over time, at each receiver."""
    with style.figure(4, height=8.5, width=WIDTH, of="light", sharex=True) as (figure, axes):
        for axis, (key, label) in zip(axes, CHANNEL):
            for k, (name, colour) in enumerate(zip(f.names, style.colours(len(f.names)))):
                found = _values([x for x in f.receptions if x["station"] == name], key)
                axis.plot([_time(at) for at, _ in found], [v for _, v in found],
                          MARKERS[k % len(MARKERS)], markersize=3.5, color=colour, alpha=0.7,
                          label=f"at {name}",
                          rasterized=len(found) > _MANY)
            axis.set_ylabel(label)
            axis.grid(True)
        axes[0].legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncol=3, frameon=False,
                       markerscale=2)
        style.time_axis(axes[-1])
        return style.inline(figure)


def _boxes(groups: Dict[Any, List[float]], names: List[str], labels: Tuple[str, str],
           positions: Optional[List[float]] = None, limits: Optional[Tuple[float, float]] = None
           ) -> str:
    """Quartiles as boxes, and each value as a point."""
    places = positions or [float(k) for k in range(len(groups))]
    with style.figure(height=3.6, width=WIDTH, of="light") as (figure, axis):
        line = {"color": style.foreground("light")}
        axis.boxplot(list(groups.values()), positions=places, widths=0.5, showfliers=False,
                     boxprops=line, whiskerprops=line, capprops=line,
                     medianprops={"color": style.COLOURS[1], "linewidth": 2})
        spread = np.random.default_rng(1)
        for place, values in zip(places, groups.values()):
            axis.plot(place + spread.uniform(-0.18, 0.18, len(values)), values, "o", markersize=3,
                      color=style.COLOURS[0], alpha=0.6, rasterized=len(values) > _MANY)
        axis.set_xticks(places)
        axis.set_xticklabels(names)
        if len(names) > 6 and positions is None:
            axis.tick_params(axis="x", labelrotation=60)
        axis.set(xlabel=labels[0], ylabel=labels[1])
        axis.set_ylim(bottom=0)
        if limits:
            axis.set_xlim(*limits)
        axis.grid(True, axis="y")
        return style.inline(figure)


def _grouped(rows: Sequence[Dict[str, Any]], key: Callable[[Dict[str, Any]], Any],
             order: Callable[[Any], Any]) -> Dict[Any, List[float]]:
    groups: Dict[Any, List[float]] = {}
    for x in rows:
        groups.setdefault(key(x), []).append(x["goodput_bps"])
    return {k: groups[k] for k in sorted(groups, key=order)}


def goodput_by_mode(f: Findings) -> str:
    """Goodput of transfers by mode of their data."""
    groups = _grouped(f.transfers, lambda x: x["mode"] or "-", mode_order)
    return _boxes(groups, [k.removeprefix("4539-") for k in groups],
                  ("mode (STANAG 4539 unless named)", "goodput, bit/s"))


def goodput_by_hour(f: Findings) -> str:
    """Goodput of transfers by UTC hour of their start."""
    groups = _grouped(f.transfers, lambda x: _time(x["at"]).hour, lambda h: h)
    return _boxes(groups, [str(h) for h in groups], ("hour of the day, UTC", "goodput, bit/s"),
                  [float(h) for h in groups], (-0.7, 23.7))


def linked_by_hour(f: Findings) -> str:
    """Share of calls that made a link, by UTC hour."""
    groups: Dict[int, List[int]] = {}
    for s in f.calls:
        groups.setdefault(_time(s["begin"]).hour, []).append(s["linked"])
    with style.figure(height=3.0, width=WIDTH, of="light") as (figure, axis):
        shares = {h: 100 * sum(v) / len(v) for h, v in sorted(groups.items())}
        axis.bar(list(shares), list(shares.values()), width=0.7)
        for hour, share in shares.items():
            axis.annotate(f"{sum(groups[hour])}/{len(groups[hour])}", (hour, share), ha="center",
                          xytext=(0, 3), textcoords="offset points", fontsize=8, rotation=90)
        axis.set(xlabel="hour of the day, UTC", ylabel="calls that linked, %", ylim=(0, 130),
                 xlim=(-0.7, 23.7), yticks=range(0, 101, 25), xticks=range(0, 24, 3))
        axis.grid(True, axis="y")
        return style.inline(figure)


def block_errors(f: Findings) -> str:
    """Share of pattern blocks with errors and share not received, by mode and direction."""
    modes = sorted({b.mode for b in f.blocks}, key=mode_order)
    ways = sorted({(b.sender, b.receiver) for b in f.blocks})
    height = 0.9 + 0.32 * len(modes) * len(ways)
    with style.figure(height=max(2.2, height), width=WIDTH, of="light") as (figure, axis):
        for k, (way, colour) in enumerate(zip(ways, style.colours(len(ways)))):
            for b in f.blocks:
                if (b.sender, b.receiver) == way:
                    _bar(axis, modes.index(b.mode) + (k - (len(ways) - 1) / 2) * 0.8 / len(ways),
                         0.75 / len(ways), b, _look(k, colour))
        handles = [axis.barh([0], [0], label=f"{a} to {b}", **_look(k, c))
                   for k, ((a, b), c) in enumerate(zip(ways, style.colours(len(ways))))]
        handles.append(axis.barh([0], [0], color="none", edgecolor=style.foreground("light"),
                                 hatch="///", label="not received"))
        axis.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), ncol=2,
                    frameon=False)
        axis.set(yticks=range(len(modes)), xlabel="blocks, % of those sent", xlim=(0, 118))
        axis.set_xticks(range(0, 101, 20))
        axis.set_yticklabels(modes)
        axis.invert_yaxis()
        axis.grid(True, axis="x")
        return style.inline(figure)


def _look(number: int, colour: Any) -> Dict[str, Any]:
    return {"facecolor": colour, "hatch": HATCHES[number % len(HATCHES)],
            "edgecolor": style.foreground("light"), "linewidth": 0.3}


def _bar(axis: Any, place: float, width: float, b: Any, look: Dict[str, Any]) -> None:
    bad, missing = 100 * b.bad / b.sent, 100 * b.missing / b.sent
    axis.barh([place], [bad], width, **look)
    axis.barh([place], [missing], width, left=[bad], color="none", edgecolor=look["facecolor"],
              hatch="///")
    axis.annotate(f"{b.bad + b.missing}/{b.sent}", (bad + missing, place), va="center",
                  xytext=(4, 0), textcoords="offset points", fontsize=8)
