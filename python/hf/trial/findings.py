# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluation of all databases of a trial."""
from dataclasses import dataclass, field
import json
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .. import hf_python as _hf
from .cost import PARTS
from .store import Reader, StoreError

#: Kinds of tests with a goodput.
TRANSFERS = ("throughput", "file", "page")


class Row(NamedTuple):
    """Row of the summary: all slots of one kind from one station to another."""

    kind: str
    sender: str
    receiver: str
    states: Dict[str, int]
    calls: int                     #: slots that started without a link
    linked: int                    #: calls that made a link
    goodputs: List[float]          #: bit/s, of complete and cut transfers
    round_trips: List[float]       #: s
    cost_s: Dict[str, float]       #: where the time of sending went, s, by cost.PARTS


class Blocks(NamedTuple):
    """Blocks of the pattern in one mode, from one station to another."""

    mode: str
    sender: str
    receiver: str
    transmissions: int
    lost: int        #: transmissions without any recognised block
    sent: int        #: blocks sent
    bad: int         #: blocks received with errors
    missing: int     #: blocks not received, in lost transmissions or after a loss of signal
    bits: int        #: bits received
    bit_errors: int

    @property
    def share(self) -> float:
        """Share of blocks that were bad or missing."""
        return (self.bad + self.missing) / max(self.sent, 1)


@dataclass
class Findings:
    """Content of a report. Times in s since 1970, UTC."""

    names: List[str] = field(default_factory=list)          #: stations with a database
    rows: List[Row] = field(default_factory=list)
    blocks: List[Blocks] = field(default_factory=list)
    transfers: List[Dict[str, Any]] = field(default_factory=list)
    calls: List[Dict[str, Any]] = field(default_factory=list)
    receptions: List[Dict[str, Any]] = field(default_factory=list)
    troubles: List[Dict[str, Any]] = field(default_factory=list)
    runs: List[Dict[str, Any]] = field(default_factory=list)
    notes: List[str] = field(default_factory=list)
    begin: Optional[float] = None
    end: Optional[float] = None
    name: str = "trial"
    dry: str = ""            #: the channel of a dry run


def read(paths: Sequence[str]) -> Findings:
    """Read the databases of one trial. Raises StoreError for databases of different trials, or two
    of one station."""
    readers: List[Reader] = []
    try:
        for path in paths:
            readers.append(Reader(path))
        _check(readers)
        return _read(readers)
    finally:
        for reader in readers:
            reader.close()


def _check(readers: List[Reader]) -> None:
    for k, r in enumerate(readers):
        if r.about["plan"] != readers[0].about["plan"]:
            raise StoreError(f"{r.path}: is of another plan than {readers[0].path}")
        for other in readers[:k]:
            if other.address == r.address:
                raise StoreError(f"{r.path}: is of station {r.address}, and so is {other.path}")


def _read(readers: List[Reader]) -> Findings:
    f = Findings(names=[r.address for r in readers])
    title = json.loads(readers[0].about.get("title", "{}"))
    f.name, f.dry = title.get("name", "trial"), title.get("air", "")
    slots: Dict[Tuple[str, int], Dict[str, Any]] = {}
    sent: Dict[Tuple[int, int], List[Dict[str, Any]]] = {}
    for r in readers:
        for row in r.rows("SELECT * FROM slots"):
            slots[r.address, row["id"]] = dict(row)
        for row in r.rows("SELECT * FROM receptions ORDER BY at"):
            f.receptions.append({**dict(row), "station": r.address,
                                 "in": slots.get((r.address, row["slot"]))})
        f.runs += [{**dict(row), "station": r.address} for row in r.rows("SELECT * FROM runs")]
        dropped = r.about.get("receptions_dropped")
        if dropped:
            f.notes.append(f"{r.address}: the {dropped} oldest receptions were dropped, since the "
                           "database was full (max_mb)")
    for r in readers:
        own = {k: s for (a, k), s in slots.items() if a == r.address and s["role"] == "sends"}
        results: Dict[int, List[Dict[str, Any]]] = {}
        for row in r.rows("SELECT * FROM results ORDER BY id"):
            results.setdefault(row["slot"], []).append(dict(row))
        _add_slots(f, own, results)
        _add_costs(f, r)
        for k, s in own.items():
            if s["kind"] == "modes":
                sent[s["round"], s["number"]] = [x for x in results.get(k, []) if x["ok"]]
    _add_blocks(f, sent, slots)
    times = [s["begin"] for s in slots.values()] + [x["at"] for x in f.receptions]
    f.begin, f.end = (min(times), max(times)) if times else (None, None)
    return f


def _add_slots(f: Findings, own: Dict[int, Dict[str, Any]],
               results: Dict[int, List[Dict[str, Any]]]) -> None:
    rows: Dict[Tuple[str, str, str], Row] = {}
    for k, s in own.items():
        key = s["kind"], s["sender"], s["receiver"]
        row = rows.setdefault(key, Row(*key, {}, 0, 0, [], [], {}))
        row.states[s["state"]] = row.states.get(s["state"], 0) + 1
        if s["linked"] is not None:
            rows[key] = row = row._replace(calls=row.calls + 1, linked=row.linked + s["linked"])
            f.calls.append(s)
        for x in results.get(k, []):
            if x["goodput_bps"] is not None:
                row.goodputs.append(x["goodput_bps"])
                f.transfers.append({**x, "sender": s["sender"], "receiver": s["receiver"]})
            if s["kind"] == "ping" and x["ok"]:
                row.round_trips.append(x["seconds"])
        if s["state"] != "done":
            f.troubles.append(s)
    f.rows += sorted(rows.values(), key=lambda r: (r.kind, r.sender, r.receiver))


def _add_costs(f: Findings, r: Reader) -> None:
    rows = {(row.kind, row.sender, row.receiver): row for row in f.rows}
    for s in r.costs():
        total_s = rows[s["kind"], s["sender"], s["receiver"]].cost_s
        for name in PARTS:
            total_s[name] = total_s.get(name, 0.0) + s[f"{name}_s"]


def _add_blocks(f: Findings, sent: Dict[Tuple[int, int], List[Dict[str, Any]]],
                slots: Dict[Tuple[str, int], Dict[str, Any]]) -> None:
    """Match each transmission of a pattern with its receptions at the other stations. Within a
    slot, mode and order identify a transmission."""
    heard: Dict[Tuple[str, int, int, str], List[Dict[str, Any]]] = {}
    for x in f.receptions:
        if x["in"] is not None and x["in"]["kind"] == "modes" and x["bad_blocks"] is not None:
            key = x["station"], x["in"]["round"], x["in"]["number"], x["mode"]
            heard.setdefault(key, []).append(x)
    found: Dict[Tuple[str, str, str], List[int]] = {}
    listened = {(a, s["round"], s["number"]): s for (a, _), s in slots.items()
                if s["kind"] == "modes" and s["role"] == "receives" and s["state"] == "done"}
    for (station, round_, number), s in listened.items():
        for x in sent.get((round_, number), []):
            those = heard.get((station, round_, number, x["mode"]), [])
            y = those.pop(0) if those else None
            row = found.setdefault((x["mode"], s["sender"], station), [0] * 7)
            values = [1, 0 if y else 1, x["blocks"], y["bad_blocks"] if y else 0,
                      x["blocks"] - (min(y["pattern_blocks"], x["blocks"]) if y else 0),
                      y["bits"] if y else 0, y["bit_errors"] if y else 0]
            found[x["mode"], s["sender"], station] = [a + b for a, b in zip(row, values)]
    f.blocks = [Blocks(*key, *values) for key, values in sorted(
        found.items(), key=lambda item: (*mode_order(item[0][0]), *item[0][1:]))]
    unmatched = {s["sender"] for s in listened.values()} - set(f.names)
    if unmatched:
        f.notes.append("Block errors of " + ", ".join(sorted(unmatched))
                       + " are missing, since the report was made without its database.")


def mode_order(mode: str) -> Tuple[float, str]:
    """Sort key that puts slow modes first."""
    try:
        return float(_hf.mode(mode).rate_bps), mode
    except ValueError:
        return 0.0, mode


def quartiles(values: Sequence[float]) -> Optional[Tuple[float, float, float]]:
    """First quartile, median and third quartile. None without values."""
    if not values:
        return None
    a, b, c = np.percentile(np.asarray(values, float), [25, 50, 75])
    return float(a), float(b), float(c)
