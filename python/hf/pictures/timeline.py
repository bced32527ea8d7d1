# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of a simulated scenario: who transmits when and what, faults, and what arrives."""
from typing import Any, Dict, List, Optional, Tuple

from . import style

#: Parts of a transmission, in the order in which they are drawn, and their colours.
PARTS = [("control", "link control, resets", style.COLOURS[3]),
         ("acks", "acknowledgements", style.COLOURS[2]),
         ("repeated", "data again", style.COLOURS[1]), ("data", "new data", style.COLOURS[0]),
         ("non_arq", "data without ARQ", style.COLOURS[4])]
LOAD = "#b4b9c2"  # preamble, fill and end of message
FAULT = "#dd4b39"
#: Bars are named that are at least this share of the picture wide.
NAMED = 0.035


def _window(result: Any, window: Optional[Tuple[float, float]]) -> Tuple[float, float]:
    begin, end = window or (0.0, result.end_s)
    return begin, max(end, begin + 0.1)


def _faults(axis: Any, scenario: Any, rows: Dict[str, int]) -> None:
    for fault in scenario.faults:
        kind = fault.kind.name
        where = [rows[fault.station]] if fault.station else list(rows.values())
        until = fault.at_s + fault.for_s
        text = {"restart": "off", "deaf": f"deaf to {fault.from_ or 'all'}", "noise": "noise",
                "clock_step": f"clock {fault.step_s:+g} s"}[kind]
        for row in where:
            if kind == "clock_step":
                axis.plot([fault.at_s], [row], marker="v", color=style.foreground(),
                          markersize=9)
            else:
                axis.broken_barh([(fault.at_s, until - fault.at_s)], (row - 0.48, 0.96),
                                 facecolor="none", edgecolor=FAULT, hatch="///",
                                 linewidth=0.8, zorder=0)
            # A label with its own background: it covers hatching and bars.
            axis.annotate(text, (fault.at_s, row - 0.40), fontsize=8, color=FAULT, clip_on=True,
                          zorder=4, bbox={"boxstyle": "square,pad=0.15", "linewidth": 0,
                                          "facecolor": axis.get_facecolor()})


def _bar(axis: Any, t: Any, row: int, named: bool) -> None:
    axis.broken_barh([(t.begin_s, t.end_s - t.begin_s)], (row - 0.3, 0.6), facecolor=LOAD)
    total = sum(getattr(t, name) for name, _, _ in PARTS)
    if total:
        # Parts by their share of octets; inside a transmission they may be mixed.
        at = t.begin_s
        for (name, _, colour), hatch in zip(PARTS, style.hatches(len(PARTS))):
            width = (t.end_s - t.begin_s) * getattr(t, name) / total
            if width > 0:
                # The outline keeps very short bars visible.
                axis.broken_barh([(at, width)], (row - 0.3, 0.5), facecolor=colour,
                                 edgecolor=style.foreground() if hatch else colour,
                                 linewidth=0.7, hatch=hatch)
                at += width
    if t.collided or t.cut:
        axis.plot([(t.begin_s + t.end_s) / 2], [row], marker="x", color=style.foreground(),
                  markersize=8)
    if named:
        axis.annotate(t.mode.replace("4539-", ""), (t.begin_s, row + 0.33), fontsize=7,
                      clip_on=True)


def _delivered(axis: Any, result: Any, begin: float, end: float) -> None:
    for k, flow in enumerate(result.flows):
        times, sums = [0.0], [0.0]
        for d in result.deliveries:
            if d.flow == k:
                times.append(d.time_s)
                sums.append(sums[-1] + d.octets / 1000)
        times.append(result.end_s)
        sums.append(sums[-1])
        axis.step(times, sums, where="post",
                  label=f"{flow.kind} {flow.from_} to {flow.to}")
    axis.set(xlabel="station time, s", ylabel="delivered, kB", xlim=(begin, end))
    axis.grid(True, alpha=0.3)
    if 0 < len(result.flows) <= 8:
        style.legend_beside(axis, fontsize=8)


def draw(path: str, title: str, scenario: Any, result: Any,
         window: Optional[Tuple[float, float]] = None) -> None:
    """Write the picture; the format follows from the name. window: from and to, seconds.

    The scenario must have been run with record = True.
    """
    begin, end = _window(result, window)
    rows = {s.name: k for k, s in enumerate(scenario.stations)}
    with style.figure(2, height=3.6 + 0.75 * len(rows), sharex=True,
                      height_ratios=[0.9 * len(rows) + 0.6, 2.2]) as (figure, (air, progress)):
        figure.suptitle(title)
        _on_the_air(air, scenario, result, rows, begin, end)
        _delivered(progress, result, begin, end)
        style.save(figure, path)


def _on_the_air(air: Any, scenario: Any, result: Any, rows: Dict[str, int], begin: float,
                end: float) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    seen: List[Any] = [t for t in result.transmissions if t.end_s > begin and t.begin_s < end]
    for t in seen:
        _bar(air, t, t.station, t.end_s - t.begin_s >= NAMED * (end - begin))
    _faults(air, scenario, rows)
    air.set_yticks(range(len(rows)), list(rows))
    air.set_ylim(len(rows) - 0.4, -0.6)
    air.set_ylabel("station")
    used = [(label, colour, hatch)
            for (name, label, colour), hatch in zip(PARTS, style.hatches(len(PARTS)))
            if any(getattr(t, name) for t in seen)]
    handles: List[Any] = [Patch(facecolor=colour, hatch=hatch, label=label,
                                edgecolor=style.foreground() if hatch else colour)
                          for label, colour, hatch in used]
    handles.append(Patch(color=LOAD, label="on the air"))
    if any(t.collided or t.cut for t in seen):
        handles.append(Line2D([], [], color=style.foreground(), marker="x", linestyle="",
                              label="collided or cut"))
    air.legend(handles=handles, fontsize=8, ncols=len(handles), loc="lower right",
               bbox_to_anchor=(1, 1), frameon=False, borderaxespad=0.1)
