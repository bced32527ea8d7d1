# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of the published tables: files, and rows that real programs gave once.

Kernel TCP, XMPP libraries and browsers filled `real.csv` on the days and commits that it names.
"""
import csv
import glob
import os
from typing import Dict, List, Optional, Sequence

from gnuradio.hf.system import output
from . import papers
from .papers import Cell, Row

TITLE = "# The published tables, cell by cell"


def check(out: str, force: bool) -> None:
    """Make the folder and see that the report can go there; raises output.OutputError."""
    output.make_folder(out)
    output.check(f"{out}/papers.md", force=force, first_line=TITLE)


def rows(cells: Sequence[Cell], folder: Optional[str]) -> List[Row]:
    """The rows of real.csv in a folder. The last entry of a cell counts."""
    path = os.path.join(folder or "", "real.csv")
    if not folder or not os.path.exists(path):
        return []
    known = {c.number: c for c in cells}
    found: Dict[int, Row] = {}
    with open(path, newline="", encoding="utf-8") as file:
        for r in csv.DictReader(file):
            if (number := int(r["number"])) in known:
                found[number] = Row(known[number], float(r["ours"]) if r["ours"] else None,
                                    f"{r['how']}; {r['recorded']}")
    return [found[n] for n in sorted(found)]


def _name(cell: Cell) -> str:
    # A page looks the same at every data rate.
    words = [cell.table, cell.detail]
    if cell.table.startswith("IP"):
        words += [str(cell.bit_rate), f"{cell.octets // 1000}kB"]
        words += [f"{cell.ber:g}"] if cell.ber else []
    return "-".join("-".join(words).replace(",", "").lower().split()).replace("--", "-")


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
                   "Written by `hf-lab bench papers --waveforms --out`. Rows with the kernel or "
                   "real programs\nare of the day and commit that they name.\n\n" + text + "\n")
