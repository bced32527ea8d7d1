# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenarios of the event simulator: TOML files, their allowed keys, and their results."""
import copy
import csv
import os
import tomllib
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from .. import hf_python as _hf
from . import block_errors, simulator

NUMBER = (int, float)
#: Allowed keys of each table, and their types.
CHANNEL: Dict[str, Any] = {
    "ber": NUMBER, "loss": NUMBER, "eom_loss": NUMBER, "snr_db": NUMBER, "delay_s": NUMBER,
    "duplicate": NUMBER, "reorder": NUMBER, "curves": str, "trace": str, "fading": dict}
FADING: Dict[str, Any] = {
    "mean_db": NUMBER, "swing_db": NUMBER, "period_s": NUMBER, "slow_db": NUMBER,
    "slow_s": NUMBER, "fading_hz": NUMBER}
STATIONS: Dict[str, Any] = {
    "mode": str, "ack_mode": str, "decode_delay_s": NUMBER, "data_link": dict}
STATION: Dict[str, Any] = {"name": str, "address": str, "groups": list, **STATIONS}
TRAFFIC: Dict[str, Any] = {
    "kind": str, "from": str, "to": str, "start_s": NUMBER, "stop_s": NUMBER, "octets": int,
    "u_pdu": int, "count": int, "rate_bps": NUMBER, "interval_s": NUMBER, "answer": int,
    "limit_s": NUMBER, "arq": bool, "in_order": bool, "repeats": int, "priority": int,
    "back_bps": NUMBER, "confirmation": str, "expedited": bool}
FAULT: Dict[str, Any] = {
    "kind": str, "station": str, "from": str, "at_s": NUMBER, "for_s": NUMBER,
    "step_s": NUMBER}
EXPECT: Dict[str, Any] = {
    "utilisation": NUMBER, "delivered": NUMBER, "fairness": NUMBER, "time_s": NUMBER,
    "first_time_s": NUMBER}
RUN: Dict[str, Any] = {"name": str, "set": dict}
TOP: Dict[str, Any] = {
    "title": str, "duration_s": NUMBER, "seed": int, "channel": dict, "path": list,
    "stations": dict, "station": list, "traffic": list, "fault": list, "expect": dict,
    "run": list}
TRAFFIC_KINDS = ["bulk", "two-way", "interactive", "ping", "broadcast"]
FAULT_KINDS = {"restart": "restart", "deaf": "deaf", "noise": "noise",
               "clock-step": "clock_step"}
#: Keys that --scale makes smaller.
SCALED = {"": ["duration_s"], "traffic": ["start_s", "stop_s", "octets", "count"],
          "fault": ["at_s", "for_s"]}


class ScenarioError(ValueError):
    """A scenario is wrong; the text names file, key, value and what is allowed."""


class Run(NamedTuple):
    """One run of a scenario file: name, simulation, and expected results."""

    name: str
    tables: Dict[str, Any]
    scenario: Any
    rate_bps: int
    expect: Dict[str, float]


def _check(table: Any, allowed: Dict[str, Any], where: str) -> None:
    if not isinstance(table, dict):
        raise ScenarioError(f"{where}: {table!r} is not a table")
    for key, value in table.items():
        if key not in allowed:
            raise ScenarioError(f"{where}: '{key}' is unknown; allowed are "
                                + ", ".join(sorted(allowed)))
        kind = allowed[key]
        if not isinstance(value, kind) or isinstance(value, bool) and kind is not bool:
            names = {NUMBER: "a number", str: "a text", int: "a whole number",
                     bool: "true or false", dict: "a table", list: "a list"}
            raise ScenarioError(f"{where}: {key} = {value!r}: allowed is {names[kind]}")


def _check_all(tables: Dict[str, Any], where: str) -> None:
    _check(tables, TOP, where)
    for name, allowed in (("channel", CHANNEL), ("stations", STATIONS), ("expect", EXPECT)):
        _check(tables.get(name, {}), allowed, f"{where} [{name}]")
    lists = {"path": {"from": str, "to": str, **CHANNEL}, "station": STATION,
             "traffic": TRAFFIC, "fault": FAULT, "run": RUN}
    for name, allowed in lists.items():
        for number, entry in enumerate(tables.get(name, []), 1):
            _check(entry, allowed, f"{where} [[{name}]] {number}")
    channels = [tables.get("channel", {}), *tables.get("path", [])]
    for channel in channels:
        _check(channel.get("fading", {}), FADING, f"{where} fading")


def read_trace(path: str) -> Any:
    """SNR over time from a CSV file with the columns time_s and snr_db, evenly spaced."""
    times: List[float] = []
    values: List[float] = []
    try:
        with open(path, newline="", encoding="utf-8") as file:
            for number, row in enumerate(csv.DictReader(file), 2):
                try:
                    times.append(float(row["time_s"]))
                    values.append(float(row["snr_db"]))
                except (KeyError, TypeError, ValueError):
                    raise ScenarioError(f"{path}, line {number}: needs numbers in the columns "
                                        "time_s and snr_db") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"trace {path}: {error}") from None
    if len(times) < 2:
        raise ScenarioError(f"{path}: {len(times)} values; a trace needs at least two")
    step = (times[-1] - times[0]) / (len(times) - 1)
    for number, (a, b) in enumerate(zip(times, times[1:]), 3):
        if not abs(b - a - step) <= 0.01 * step:
            raise ScenarioError(f"{path}, line {number}: time_s {b:g} is not {step:g} s after "
                                "the line before; allowed are even steps")
    return simulator.snr_trace(values, step)


def _curves(name: str, where: str) -> Any:
    path, channel = block_errors.PATH, name
    if ":" in name:
        path, channel = name.rsplit(":", 1)
    try:
        known = block_errors.read(path)
    except OSError as error:
        raise ScenarioError(f"{where}: curves = {name!r}: {error.strerror}") from None
    channels = sorted({c for c, _ in known})
    if channel not in channels:
        raise ScenarioError(f"{where}: curves = {name!r}: {os.path.basename(path)} has "
                            + ", ".join(channels))
    curves = simulator.block_error_curves()
    for (c, mode), points in known.items():
        if c == channel:
            curves.add(mode, [[p.snr_db, p.lost / p.trials, p.bad_blocks / max(p.blocks, 1)
                               if p.blocks else 1.0, p.ber_of_bad] for p in points])
    return curves


class _Builder:
    """Tables to what the engine takes."""

    def __init__(self, tables: Dict[str, Any], where: str, folder: str) -> None:
        self.tables, self.where, self.folder = tables, where, folder

    def _paths(self, table: Dict[str, Any], where: str, seed: int) -> Iterator[Any]:
        values = {k: v for k, v in table.items()
                  if k not in ("from", "to", "curves", "trace", "fading")}
        if sum(k in table for k in ("curves", "trace", "fading")) > 1:
            raise ScenarioError(f"{where}: only one of curves, trace and fading")
        if "ber" in table and ("curves" in table or "trace" in table or "fading" in table):
            raise ScenarioError(f"{where}: ber does not go with curves, trace or fading")
        if "curves" in table:
            if "snr_db" not in table:
                raise ScenarioError(f"{where}: curves need snr_db")
            values["curves"] = _curves(table["curves"], where)
        if "trace" in table:
            values["fading"] = read_trace(os.path.join(self.folder, table["trace"]))
        if "fading" not in table:
            yield simulator.scenario_path(from_=table.get("from", ""), to=table.get("to", ""),
                                          **values)
            return
        # Paths fade independently, so each pair and direction has a trace of its own.
        names = [s["name"] for s in self.tables.get("station", [])]
        duration = self.tables.get("duration_s", 3600)
        for a in [table["from"]] if "from" in table else names:
            for b in [table["to"]] if "to" in table else names:
                if a != b:
                    seed += 1
                    trace = simulator.snr_trace.make(**table["fading"], seed=seed,
                                                     duration_s=max(duration, 1))
                    yield simulator.scenario_path(from_=a, to=b, fading=trace, **values)

    def _stations(self) -> Iterator[Any]:
        default = self.tables.get("stations", {})
        for number, table in enumerate(self.tables.get("station", []), 1):
            s = simulator.scenario_station()
            both = {**default, **table,
                    "data_link": {**default.get("data_link", {}), **table.get("data_link", {})}}
            if "name" not in table:
                raise ScenarioError(f"{self.where} [[station]] {number}: 'name' is missing")
            self._set(s, both, f"{self.where} [[station]] {number}")
            yield s

    @staticmethod
    def _set(target: Any, table: Dict[str, Any], where: str) -> None:
        for key, value in table.items():
            try:
                setattr(target, "from_" if key == "from" else key, value)
            except (TypeError, OverflowError):
                raise ScenarioError(f"{where}: {key} = {value!r} is not allowed") from None
            except ValueError as error:
                raise ScenarioError(f"{where}: {error}") from None

    def _traffic(self) -> Iterator[Any]:
        for number, table in enumerate(self.tables.get("traffic", []), 1):
            where = f"{self.where} [[traffic]] {number}"
            kind = table.get("kind", "bulk")
            if kind not in TRAFFIC_KINDS:
                raise ScenarioError(f"{where}: kind = {kind!r}: allowed are "
                                    + ", ".join(TRAFFIC_KINDS))
            if "back_bps" in table and kind != "two-way":
                raise ScenarioError(f"{where}: back_bps belongs to kind = \"two-way\"")
            name = "bulk" if kind == "two-way" else kind
            values = {k: v for k, v in table.items() if k not in ("kind", "back_bps")}
            if kind == "broadcast":
                values.setdefault("arq", False)
            if kind == "ping":
                values.setdefault("u_pdu", 32)
                values.setdefault("interval_s", 10)
            ways = [values]
            if kind == "two-way":
                ways.append({**values, "from": values.get("to", ""),
                             "to": values.get("from", ""),
                             "rate_bps": table.get("back_bps", 0)})
            for way in ways:
                t = simulator.scenario_traffic()
                t.kind = getattr(simulator.traffic_kind, name)
                self._set(t, way, where)
                yield t

    def _faults(self) -> Iterator[Any]:
        for number, table in enumerate(self.tables.get("fault", []), 1):
            where = f"{self.where} [[fault]] {number}"
            kind = table.get("kind", "")
            if kind not in FAULT_KINDS:
                raise ScenarioError(f"{where}: kind = {kind!r}: allowed are "
                                    + ", ".join(FAULT_KINDS))
            f = simulator.scenario_fault()
            f.kind = getattr(simulator.fault_kind, FAULT_KINDS[kind])
            self._set(f, {k: v for k, v in table.items() if k != "kind"}, where)
            yield f

    def build(self) -> Tuple[Any, int]:
        """The scenario, and the fastest data rate in it."""
        s = simulator.scenario()
        seed = self.tables.get("seed", 1)
        self._set(s, {k: v for k, v in self.tables.items() if k in ("duration_s", "seed")},
                  self.where)
        try:
            s.stations = list(self._stations())
            rate = max((_hf.mode(_hf.fastest_mode(x.mode)).rate_bps for x in s.stations),
                       default=0)
            s.paths = [p for k, t in enumerate([self.tables.get("channel", {}),
                                                *self.tables.get("path", [])])
                       for p in self._paths(t, f"{self.where} channel", seed * 10000 + k * 1000)]
            s.traffic = list(self._traffic())
            s.faults = list(self._faults())
            s.validate()
        except ScenarioError:
            raise
        except ValueError as error:
            raise ScenarioError(f"{self.where}: {error}") from None
        return s, rate


def _override(tables: Dict[str, Any], settings: Dict[str, Any], where: str) -> None:
    for path, value in settings.items():
        *parents, key = path.split(".")
        targets = [tables]
        for name in parents:
            found: List[Dict[str, Any]] = []
            for target in targets:
                below = target.setdefault(name, {})
                found += below if isinstance(below, list) else [below]
            targets = found
        if not targets or not all(isinstance(t, dict) for t in targets):
            raise ScenarioError(f"{where}: '{path}' names no table of this file")
        for target in targets:
            target[key] = value


def _scale(tables: Dict[str, Any], scale: float) -> None:
    for name, keys in SCALED.items():
        for table in [tables] if name == "" else tables.get(name, []):
            for key in keys:
                if key in table and table[key] > 0:
                    scaled = table[key] * scale
                    table[key] = max(round(scaled), 1) if key in ("octets", "count") else scaled


def parse(text: str, where: str = "scenario", folder: str = ".",
          scale: float = 1.0) -> List[Run]:
    """The runs that a scenario file describes; raises ScenarioError.

    folder: where traces are looked for; scale: share of durations, octets and counts.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{where}: {error}") from None
    _check_all(tables, where)
    runs = []
    for entry in tables.pop("run", None) or [{}]:
        name = entry.get("name", "")
        here = f"{where} run '{name}'" if name else where
        one = copy.deepcopy(tables)
        _override(one, entry.get("set", {}), here)
        _scale(one, scale)
        _check_all(one, here)
        scenario, rate = _Builder(one, here, folder).build()
        runs.append(Run(name, one, scenario, rate, one.get("expect", {})))
    return runs


def load(path: str, scale: float = 1.0) -> List[Run]:
    """The runs of a scenario file; raises ScenarioError."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}") from None
    return parse(text, path, os.path.dirname(path), scale)


#: Columns of a table of fates (u_pdu_fate): a row for each U_PDU and receiver. A time is empty
#: where that never happened.
FATE_COLUMNS = (
    "run", "flow", "answer", "number", "from", "from_sap", "to", "to_sap", "octets", "priority",
    "arq", "expedited", "confirmation", "submitted_s", "delivered_s", "deliveries",
    "repeated_on_link", "confirmed_s", "rejected_s", "reason")


def fate_rows(run: Run, result: Any) -> Iterator[List[Any]]:
    """Fate of each U_PDU of a run, in the columns above. Flows count from 1."""
    for f in result.fates:
        row: List[Any] = [run.name, f.flow + 1]
        for column in FATE_COLUMNS[2:]:
            value = getattr(f, "from_" if column == "from" else column)
            if isinstance(value, bool):
                value = int(value)
            elif isinstance(value, float):
                value = round(value, 3)
            row.append("" if value is None else value)
        yield row


def mean(values: Sequence[float]) -> Optional[float]:
    """Mean, or None of nothing."""
    return sum(values) / len(values) if values else None


def measures(run: Run, result: Any) -> Dict[str, Optional[float]]:
    """Allowed keys of [expect]. time_s: mean of all but the first exchange of pings and
    answered messages, delay of the others; delivered: share of the U_PDUs submitted."""
    offered = sum(f.u_pdus_offered * f.receivers for f in result.flows)
    timed = [f.times for f in result.flows if f.times and f.kind != "bulk"]
    return {"utilisation": result.goodput_bps / run.rate_bps if run.rate_bps else None,
            "delivered": sum(f.u_pdus_delivered for f in result.flows) / max(offered, 1),
            "fairness": result.fairness,
            "time_s": mean([t for times in timed for t in (times[1:] or times)]),
            "first_time_s": mean([times[0] for times in timed])}


def misses(run: Run, result: Any) -> List[str]:
    """Expectations that were missed, and events that must never happen."""
    found = []
    reached = measures(run, result)
    for name, wanted in run.expect.items():
        value = reached[name]
        longest = name.endswith("time_s")
        if value is None or (value > wanted if longest else value < wanted):
            said = "nothing" if value is None else f"{value:.4g}"
            found.append(f"{name} {said}: expected at {'most' if longest else 'least'} "
                         f"{wanted:g}")
    altered = sum(f.altered for f in result.flows)
    if altered:
        found.append(f"{altered} U_PDUs altered")
    return found


def flow_row(run: Run, flow: Any) -> Dict[str, Any]:
    """Results of one flow of a run, as a row of flows.csv. Times in seconds."""
    return {"run": run.name, "kind": flow.kind, "from": flow.from_, "to": flow.to,
            "u_pdus_offered": flow.u_pdus_offered, "u_pdus_delivered": flow.u_pdus_delivered,
            "octets_delivered": flow.octets_delivered,
            "goodput_bps": round(flow.goodput_bps, 1),
            "utilisation": round(flow.goodput_bps / run.rate_bps, 4),
            "first_time_s": round(flow.times[0], 3) if flow.times else "",
            "mean_time_s": round(sum(flow.times) / len(flow.times), 3) if flow.times else "",
            "longest_time_s": round(max(flow.times), 3) if flow.times else "",
            "unanswered": flow.unanswered, "rejected": flow.rejected,
            "repeated": flow.repeated, "altered": flow.altered, "last_s": round(flow.last_s, 3)}


def fields(thing: Any) -> Dict[str, Any]:
    """The fields of one of the simulator's records, by name."""
    return {k: getattr(thing, k) for k in dir(thing) if not k.startswith("_")}
