# SPDX-License-Identifier: GPL-3.0-or-later
"""What every picture must have."""
from typing import Any


def inspect_figure(figure: Any) -> None:
    """Elements that every picture must have."""
    figure.canvas.draw()
    panels = [a for a in figure.axes if a.get_label() != "<colorbar>"]
    assert (figure._suptitle and figure._suptitle.get_text()) or any(
        a.get_title() or a.get_title("left") for a in panels)
    edge = figure.bbox
    for axis in panels:
        assert axis.get_ylabel()
        assert axis.get_xlabel() or axis.get_shared_x_axes().get_siblings(axis) != [axis]
        legend = axis.get_legend()
        if legend is None:
            continue
        box = legend.get_window_extent()
        assert box.x0 >= edge.x0 - 1 and box.x1 <= edge.x1 + 1, "legend is cut"
        for line in axis.lines:
            # Lines in coordinates of data alone; lines across the panel have no points to hide.
            if line.get_transform() == axis.transData:
                inside = box.count_contains(axis.transData.transform(line.get_xydata()))
                assert inside == 0, f"legend covers {inside} points of {line.get_label()}"
