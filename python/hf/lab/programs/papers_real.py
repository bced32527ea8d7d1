# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of hf bench papers that runs cells with real programs, and the folder of its report."""
import glob
import os
from typing import Callable, Dict, List, Optional, Sequence

from ... import output
from ..link import papers
from ..link.papers import Cell, Row


def _name(cell: Cell) -> str:
    # A page looks the same at every data rate.
    words = [cell.table, cell.detail]
    if cell.table.startswith("IP"):
        words += [str(cell.bit_rate), f"{cell.octets // 1000}kB"]
        words += [f"{cell.ber:g}"] if cell.ber else []
    return "-".join("-".join(words).replace(",", "").lower().split()).replace("--", "-")


TITLE = "# The published tables, cell by cell"


def check(out: str, force: bool) -> None:
    """Make the folder and see that the report can go there; raises output.OutputError."""
    from . import real as runner
    output.make_folder(out)
    output.check(f"{out}/papers.md", force=force, first_line=TITLE)
    output.check(f"{out}/real.csv", force=force, first_line=output.first_line(runner.COLUMNS))


def rows(cells: Sequence[Cell], real: bool, with_long: bool, out: Optional[str],
         say: Callable[[str], None], progress: Callable[[float], object] = lambda _: None
         ) -> List[Row]:
    """Run the requested cells (real). The others are from earlier runs in the folder out.
    progress: called with the share of the time that is over, 0 to 1."""
    from . import real as runner
    store = runner.Store(f"{out}/real.csv") if out else None
    found: Dict[int, Row] = {c.number: r for c, r in (store.rows() if store else [])}
    asked = list(cells) if real else []
    length = [max(runner.duration_s(c), 10.0) if c.table in runner.MEASURES else 0.0
              for c in asked]
    for number, cell in enumerate(asked):
        progress(sum(length[:number]) / max(sum(length), 1.0))
        if cell.table not in runner.MEASURES or not papers.runs(cell):
            continue
        why = runner.why_not(cell.table)
        if why is None and not with_long and runner.duration_s(cell) > runner.LONG_S:
            why = "only with --long"
        if why is not None:
            say(f"left out: {cell.table}, {cell.bit_rate} bit/s, {cell.metric}: {why}")
            continue
        say(f"{cell.table}, {cell.bit_rate} bit/s, {cell.octets} octets, {cell.detail} "
            f"{cell.metric}: about {max(runner.duration_s(cell), 10):.0f} s")
        try:
            outcome = runner.measure(cell)
        except RuntimeError as error:
            outcome = runner.Outcome(None, str(error).splitlines()[0])
        found[cell.number] = Row(cell, outcome.value, f"{outcome.how}; {runner.today()}")
        if store and out:
            store.add(cell, outcome)
            path = f"{out}/{_name(cell)}.png"
            if outcome.picture:
                shrink(outcome.picture, path)
            elif cell.metric == "total time":
                runner.series_picture(path, cell)
    wanted = {c.number for c in cells}
    return [r for n, r in sorted(found.items()) if n in wanted]


def shrink(picture: bytes, path: str) -> None:
    """Keep a screenshot, half as wide and high and with few colours."""
    import io
    from PIL import Image
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image = image.resize((image.width // 2, image.height // 2))
    with output.replacing(path) as file:
        image.quantize(64).save(file, "PNG", optimize=True)


def pictures(out: Optional[str]) -> Dict[str, str]:
    """Markdown images by table, for the pictures in the folder."""
    result: Dict[str, str] = {}
    for path in sorted(glob.glob(f"{out}/*.png")) if out else []:
        name = os.path.basename(path)[:-4]
        tables = [c.table for c in papers.cells() if _name(c) == name]
        if tables:
            result[tables[0]] = result.get(tables[0], "") + f"![{name}]({name}.png)\n"
    return result


def write(out: str, text: str) -> None:
    """The report in the folder."""
    with output.replacing_text(f"{out}/papers.md") as file:
        file.write(f"{TITLE}\n\n"
                   "Written by `hf bench papers --waveforms --out`; rows with the kernel or real "
                   "programs by\n`hf bench papers --real --out`.\n\n" + text + "\n")
