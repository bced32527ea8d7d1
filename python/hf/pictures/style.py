# SPDX-License-Identifier: GPL-3.0-or-later
"""How all pictures look: 1000 pixels wide, one palette, for bright and dark screens and for paper.

The variable HF_PICTURES chooses: light (the default), dark, or print (twice the pixels, and lines
that differ without colours)."""
from contextlib import contextmanager
import io
import os
from typing import Any, Dict, Iterator, List, Tuple

from ..system import output

#: Inches, and pixels for each of them on a screen: 1000 pixels.
WIDTH, DPI = 10.0, 100
#: Colours that differ for every kind of eye (Okabe and Ito, Color Universal Design, 2008); yellow,
#: which is not seen on white, is left out.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a"]
#: Background, panels, text and lines of the grid.
THEMES = {"light": ("#ffffff", "#ffffff", "#1a1a1a", "#b8bcc4"),
          "dark": ("#15181d", "#1d2229", "#e6e8eb", "#4a515c"),
          "print": ("#ffffff", "#ffffff", "#000000", "#a0a0a0")}


def theme() -> str:
    """The theme that HF_PICTURES names. Raises OutputError for an unknown one."""
    chosen = os.environ.get("HF_PICTURES") or "light"
    if chosen not in THEMES:
        raise output.OutputError(f"HF_PICTURES={chosen}: allowed are {', '.join(THEMES)}")
    return chosen


def foreground(of: str = "") -> str:
    """Colour of text and marks that belong to no curve; of: another theme than the chosen one."""
    return THEMES[of or theme()][2]


def colours(count: int) -> List[Any]:
    """This many different colours. Beyond the palette neighbours are alike."""
    if count <= len(COLOURS):
        return list(COLOURS[:count])
    from matplotlib import colormaps
    return [colormaps["turbo"](0.05 + 0.9 * k / (count - 1)) for k in range(count)]


#: Patterns of bars on paper, besides their colours. The first has none.
HATCHES = ["", "///", "...", "\\\\\\", "xxx", "---", "ooo", "+++", "||", "**"]


def hatches(count: int) -> List[str]:
    """Patterns of this many kinds of bars, for the theme print. Other themes have none: colours
    are enough. Beyond the list patterns repeat."""
    if theme() != "print":
        return [""] * count
    return [HATCHES[k % len(HATCHES)] for k in range(count)]


def _parameters(name: str) -> Dict[str, Any]:
    from cycler import cycler
    back, panel, text, grid = THEMES[name]
    cycle = cycler(color=COLOURS)
    if name == "print":
        cycle += cycler(linestyle=["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)),
                                   (0, (1, 1))])
    return {"figure.facecolor": back, "savefig.facecolor": back, "axes.facecolor": panel,
            "text.color": text, "axes.labelcolor": text, "axes.edgecolor": text,
            "axes.titlecolor": text, "xtick.color": text, "ytick.color": text,
            "grid.color": grid, "grid.alpha": 0.6, "axes.axisbelow": True,
            "legend.facecolor": panel, "legend.edgecolor": grid, "legend.framealpha": 1.0,
            "font.size": 11, "axes.titlesize": 12, "legend.fontsize": 9,
            "axes.prop_cycle": cycle, "hatch.linewidth": 0.6}


@contextmanager
def figure(rows: int = 1, columns: int = 1, height: float = 6.0, width: float = WIDTH,
           of: str = "", **options: Any) -> Iterator[Tuple[Any, Any]]:
    """A figure and its axes, as of pyplot.subplots(), which takes the options too. height, width:
    in inches; of: a theme other than the one that was chosen."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    with matplotlib.rc_context(_parameters(of or theme())):
        made, axes = pyplot.subplots(rows, columns, figsize=(width, height),
                                     layout="constrained", **options)
        try:
            yield made, axes
        finally:
            pyplot.close(made)


def legend_beside(axis: Any, **options: Any) -> None:
    """The legend at the right of the panel, where it covers no data."""
    if options.get("handles") or axis.get_legend_handles_labels()[0]:
        axis.legend(**{"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.3,
                       **options})


def time_axis(axis: Any) -> None:
    """Times of UTC along the x axis (datetime), few and short, whatever they span."""
    from matplotlib import dates
    locator = dates.AutoDateLocator(minticks=3, maxticks=7)
    axis.xaxis.set_major_locator(locator)
    axis.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    axis.set_xlabel("UTC")


def inline(made: Any) -> str:
    """The figure (of the theme light) as SVG for a page of HTML: text and grid have the page's
    colours (currentColor, --grid), the background is the page's; the first colour of the palette,
    too dim on a dark page, is its --first."""
    import matplotlib
    drawn = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        made.savefig(drawn, format="svg", transparent=True, dpi=2 * DPI, metadata={"Date": None})
    text = drawn.getvalue()
    text = text[text.index("<svg"):]
    back, _, ink, grid = THEMES["light"]
    for colour, name in ((ink, "currentColor"), (grid, "var(--grid)"), (back, "var(--back)"),
                         (COLOURS[0], "var(--first)")):
        text = text.replace(colour, name)
    return text


def save(made: Any, path: str) -> None:
    """Write the figure; the format follows from the name. Raises OutputError."""
    output.save_figure(made, path, dpi=2 * DPI if theme() == "print" else DPI)
