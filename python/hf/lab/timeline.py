# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of a simulated scenario: who transmits when and what, faults, and what arrives."""
from typing import Any, Dict, List, Optional, Tuple

from .. import output

#: Parts of a transmission, in the order in which they are drawn, and their colours.
PARTS = [("control", "link control, resets", "#7b5ea7"), ("acks", "acknowledgements", "#2a9d5c"),
         ("repeated", "data again", "#d1495b"), ("data", "new data", "#3a78c2"),
         ("non_arq", "data without ARQ", "#e8a33d")]
LOAD = "#c8ccd2"  # preamble, fill and end of message
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
                axis.plot([fault.at_s], [row], marker="v", color="black", markersize=9)
            else:
                axis.broken_barh([(fault.at_s, until - fault.at_s)], (row - 0.48, 0.96),
                                 facecolor="none", edgecolor="#aa3333", hatch="///",
                                 linewidth=0.8, zorder=0)
            axis.annotate(text, (fault.at_s, row - 0.40), fontsize=8, color="#aa3333",
                          clip_on=True)


def _bar(axis: Any, t: Any, row: int, named: bool) -> None:
    axis.broken_barh([(t.begin_s, t.end_s - t.begin_s)], (row - 0.3, 0.6), facecolor=LOAD)
    total = sum(getattr(t, name) for name, _, _ in PARTS)
    if total:
        # Parts by their share of octets; inside a transmission they may be mixed.
        at = t.begin_s
        for name, _, colour in PARTS:
            width = (t.end_s - t.begin_s) * getattr(t, name) / total
            if width > 0:
                # The outline keeps what is very short visible.
                axis.broken_barh([(at, width)], (row - 0.3, 0.5), facecolor=colour,
                                 edgecolor=colour, linewidth=0.7)
                at += width
    if t.collided or t.cut:
        axis.plot([(t.begin_s + t.end_s) / 2], [row], marker="x", color="black", markersize=8)
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
        axis.legend(fontsize=8, loc="upper left")


def draw(path: str, title: str, scenario: Any, result: Any,
         window: Optional[Tuple[float, float]] = None) -> None:
    """Write the picture; the format follows from the name. window: from and to, seconds.

    The scenario must have been run with record = True.
    """
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    begin, end = _window(result, window)
    rows = {s.name: k for k, s in enumerate(scenario.stations)}
    figure, (air, progress) = plt.subplots(
        2, 1, figsize=(13, 3.6 + 0.75 * len(rows)), sharex=True, layout="constrained",
        height_ratios=[0.9 * len(rows) + 0.6, 2.2])
    seen: List[Any] = [t for t in result.transmissions if t.end_s > begin and t.begin_s < end]
    for t in seen:
        _bar(air, t, t.station, t.end_s - t.begin_s >= NAMED * (end - begin))
    _faults(air, scenario, rows)
    air.set_yticks(range(len(rows)), list(rows))
    air.set_ylim(len(rows) - 0.4, -0.6)
    air.set_title(title, loc="left")
    used = [(label, colour) for name, label, colour in PARTS
            if any(getattr(t, name) for t in seen)]
    handles: List[Any] = [Patch(color=colour, label=label) for label, colour in used]
    handles.append(Patch(color=LOAD, label="on the air"))
    if any(t.collided or t.cut for t in seen):
        handles.append(Line2D([], [], color="black", marker="x", linestyle="",
                              label="collided or cut"))
    air.legend(handles=handles, fontsize=8, ncols=len(handles), loc="lower right",
               bbox_to_anchor=(1, 1), frameon=False)
    _delivered(progress, result, begin, end)
    output.save_figure(figure, path, dpi=110)
    plt.close(figure)
