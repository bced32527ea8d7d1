# SPDX-License-Identifier: GPL-3.0-or-later
"""Published cells that another cell decides, and why some of ours are better than the limit.

published_more.csv has, beside the columns of published.csv, where our figure comes from: measure
(a run of its own), same:N (cell N), use:N (utilisation from the total time of N), rate:N (bit/s
from the utilisation of N), turn:N (seconds of a cycle that are not data, from it), plain:N (rate
before compression), paint:N (first paint of the page of N), none:why (nothing to run).
"""
import re
from typing import Dict, List, Optional

from .papers import Cell, Row, derivations

#: Duration of the longest transmission, as the papers count a cycle.
_CYCLE_S = 127.5
#: Waveforms without a tail to flush the decoder.
_HIGH_RATE_FROM_BPS = 3200
#: Share of a hexadecimal payload after compression, in the papers.
_COMPRESSED = 0.51


def _from(what: str, cell: Cell, source: Row) -> Optional[float]:
    ours = source.ours
    if what == "paint":
        found = re.search(r"first paint ([0-9.]+) s", source.how)
        return float(found.group(1)) if found else None
    if ours is None or what == "same":
        return ours
    if what == "use":
        return 100 * 8 * cell.octets / (cell.bit_rate * ours)
    if what == "rate":
        return ours / 100 * cell.bit_rate
    if what == "plain":
        return ours / 100 * cell.bit_rate / _COMPRESSED
    assert what == "turn", what
    overhead = 0.94 if "6 %" in cell.metric else 1.0
    return max(_CYCLE_S * (1 - ours / 100 / overhead), 0.0)


def derived(cells: List[Cell], rows: List[Row]) -> List[Row]:
    """Rows of the cells that need no run of their own, as far as the rows of those that decide
    them are there."""
    found: Dict[int, Row] = {}
    for r in rows:
        found.setdefault(r.cell.number, r)
    rules = derivations()
    result: List[Row] = []
    todo = [c for c in cells if c.number in rules and c.number not in found]
    for _ in range(3):  # a repeat of a repeat
        for cell in list(todo):
            what, _, more = rules[cell.number].partition(":")
            if what == "none":
                row = Row(cell, None, f"not run: {more}")
            elif what != "measure" and int(more) in found:
                source = found[int(more)]
                how = f"from cell {more}" + (", another site" if cell.table == "web, site" else "")
                row = Row(cell, _from(what, cell, source), how)
            else:
                continue
            found[cell.number] = row
            result.append(row)
            todo.remove(cell)
    return result


def rest(cells: List[Cell], rows: List[Row]) -> List[Row]:
    """Rows of the cells that have none yet: what only --real runs."""
    there = {r.cell.number for r in rows}
    return [Row(c, None, "not run: the drivers of real programs are closed") for c in cells
            if c.number not in there]


def why_better(row: Row) -> str:
    """Why a figure is better than the limit, which counts the published set-up: one
    acknowledgement D_PDU of its own, the same interleaver both ways, no compression."""
    table = row.cell.table
    if "XMPP" in table:
        return "compression, and stanzas that ride on acknowledgements"
    if table.startswith("web"):
        return "compression"
    if table.startswith("IP client TCP"):
        return "of the ACKs that wait only the newest goes"
    if table == "S5066 interleaver" and row.cell.detail == "L" and row.cell.unit != "s":
        return "acknowledgements in the short interleaver"
    if row.cell.bit_rate < _HIGH_RATE_FROM_BPS and row.cell.unit == "s":
        return "delivered when its own blocks are in, ahead of the 22 octets of the tail"
    return "acknowledgements in the ultra short interleaver, or on data D_PDUs"
