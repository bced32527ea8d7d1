# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs trials: one station on its radio, or all stations over a simulated air in lock step, as
fast as the CPU allows."""
from dataclasses import dataclass, field
import os
import time
from typing import Any, Callable, Dict, Iterator, List, Tuple

from .. import station
from ..station import running
from ..system import output
from . import measure, page, runner, store, turns
from .plan import Plan, PlanError, Slot

Say = Callable[[str], None]


@dataclass
class Session:
    """The stations of a trial in this program. A context manager."""

    stations: running.Stations
    sides: List[runner.Side]
    runners: List[runner.Runner]
    stores: List[store.Store]
    slots: List[Any]
    #: Keys of all slots to run. Empty if the number is unknown.
    keys: List[Tuple[int, int]] = field(default_factory=list)

    def __enter__(self) -> "Session":
        for r, slots in zip(self.runners, self.slots):
            r.start(slots)
        self.stations.__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, _: object) -> None:
        for side in self.sides:
            side.desk.end()
        for r in self.runners:
            r.join()
        self.stations.__exit__()
        done = all(r.over for r in self.runners)
        why = "complete" if done else self.failure() or "ended on request"
        _close(self.sides, self.stores, why)

    def over(self) -> bool:
        """Whether all slots are done and their receptions stored."""
        return all(r.over for r in self.runners) and all(
            side.ear.count >= s.modem.state().receptions - s.modem.state().receiving
            for side, s in zip(self.sides, self.stations.stations))

    def share(self) -> float:
        """Completed share of a dry run's slots, 0 to 1. Always 0 in a live run."""
        begun = [self.keys.index(r.latest) for r in self.runners if r.latest in self.keys]
        return max(begun, default=0) / max(len(self.keys), 1)

    def failure(self) -> str:
        """Why a station ended early. Empty if none did."""
        return next((r.failure for r in self.runners if r.failure), "")


def _close(sides: List[runner.Side], stores: List[store.Store], why: str) -> None:
    for side in sides:
        side.close()
    for kept in stores:
        kept.close(why)


def _open_stores(plan: Plan, folder: str, addresses: List[str], air: str = ""
                 ) -> List[store.Store]:
    """Open a database for each address. air: the simulated channel, or empty."""
    kind = f"over {air} seed {plan.air.seed}" if air else "on the air"
    output.make_folder(folder)
    opened: List[store.Store] = []
    try:
        for address in addresses:
            opened.append(store.Store(runner.paths(folder, address), address,
                                      f"{kind} {plan.text()}", plan.max_mb,
                                      {"name": plan.name, "air": air}))
    except BaseException:
        for kept in opened:
            kept.close()
        raise
    return opened


def check(plan: Plan) -> None:
    """Raise PlanError for slots that are too short for their transmissions."""
    for number, test in enumerate(plan.test, 1):
        least = measure.min_slot_s(test) + 2 * plan.guard_s
        if test.kind == "modes" and test.slot_s < least:
            raise PlanError(f"{plan.where}: [[test]] {number}: slot_s = {test.slot_s}: its modes "
                            f"need at least {least:.0f} s")


def dry_description(plan: Plan, number: int) -> station.Description:
    """Description of a station for a dry run, without radio, TUN device, servers and files."""
    d = plan.describe(number)
    plain = station.Description(address=d.address, mode=d.mode, ack_mode=d.ack_mode,
                                bandwidth=d.bandwidth, zero_interleaver=d.zero_interleaver,
                                data_link=dict(d.data_link), pep=None)
    plain.where = d.where
    runner.prepare(plan, number, plain)
    return plain


def dry(plan: Plan, folder: str, rounds: int, say: Say, speed: float = 0) -> Session:
    """All stations of the plan over its simulated air. Skips slots that are already in the folder.
    speed: multiple of real time, 0 for no limit. Raises ValueError, OSError or RuntimeError."""
    if any(t.kind == "page" for t in plan.test):
        page.take_free_ports(plan)
    descriptions = [dry_description(plan, k) for k in range(len(plan.station))]
    stores = _open_stores(plan, folder, [m.address for m in plan.station], plan.air.channel)
    sides: List[runner.Side] = []
    try:
        slots = _left(plan, stores, rounds) if plan.by == "utc" else []
        stations = running.Stations(descriptions, plan.air.channel, plan.air.seed, speed)
        for k, s in enumerate(stations.stations):
            sides.append(runner.attach(plan, k, stations, s))
        runners = [_dry_runner(plan, kept, side, say, rounds)
                   for kept, side in zip(stores, sides)]
    except BaseException:
        _close(sides, stores, "could not begin")
        raise
    return Session(stations, sides, runners, stores, [iter(slots) for _ in runners],
                   [s.key for s in slots or (s for r in range(rounds) for s in plan.slots(r))])


def _dry_runner(plan: Plan, kept: store.Store, side: runner.Side, say: Say, rounds: int
                ) -> runner.Runner:
    if plan.by == "utc":
        return runner.Runner(plan, kept, side, runner.DryTime(), say)
    begin = plan.start.timestamp() if plan.start else time.time()
    clock = turns.TurnTime(side.desk, max(begin, (kept.last_seen or 0) + 1))
    return turns.TurnRunner(plan, kept, side, clock, say, rounds=rounds)


def _left(plan: Plan, stores: List[store.Store], rounds: int) -> List[Slot]:
    """Slots that a dry run still has to run, the same at all stations."""
    begun = [kept.done() for kept in stores]
    anywhere = set().union(*begun)
    first = min((r for r, _ in anywhere), default=plan.round_at(time.time())
                if plan.start is None else 0)
    slots = [s for r in range(first, first + rounds) for s in plan.slots(r)]
    for slot in slots:
        if slot.key in anywhere:
            for kept, keys in zip(stores, begun):
                if slot.key not in keys and kept.address == slot.sender:
                    kept.begin(slot, "sends", None, "missed", "another station was cut before it")
    return [s for s in slots if s.key not in anywhere]


def live(plan: Plan, number: int, folder: str, say: Say, open_radio: Any) -> Session:
    """One station on its radio. Raises ValueError, OSError or RuntimeError."""
    d = plan.describe(number)
    if d.radio is None:
        raise PlanError(f"{d.where or plan.where}: station {d.address} has no [radio]; a trial "
                        "without one is a dry run (--dry)")
    if d.radio.recording or not d.radio.transmit:
        raise PlanError(f"{d.where}: station {d.address} never transmits; a trial needs its "
                        "answers")
    runner.prepare(plan, number, d)
    stores = _open_stores(plan, folder, [d.address])
    sides: List[runner.Side] = []
    stations = None
    try:
        stations = running.Stations([d], "clear", 1, 1, open_radio)
        sides.append(runner.attach(plan, number, stations, stations.stations[0]))
        clock = runner.RealTime(sides[0].desk)
        what = plan, stores[0], sides[0], clock, say, stations.radios[0].rig
        coming: Any = iter(())
        if plan.by == "utc":
            missed, coming = runner.due(plan, stores[0], d.address, time.time())
            for slot in missed:
                role = "sends" if slot.sender == d.address else "receives"
                stores[0].begin(slot, role, None, "missed", "the program did not run")
            one = runner.Runner(*what)
        else:
            one = turns.TurnRunner(*what, rounds=plan.rounds)
    except BaseException:
        if stations is not None:
            stations.close()
        _close(sides, stores, "could not begin")
        raise
    return Session(stations, sides, [one], stores, [coming])


def databases(places: List[str]) -> Iterator[str]:
    """Paths of databases. places: databases, or folders of them. Raises store.StoreError."""
    for place in places:
        if not os.path.isdir(place):
            yield place
            continue
        found = sorted(f for f in os.listdir(place) if f.endswith(".db"))
        if not found:
            raise store.StoreError(f"{place}: no database (ADDRESS.db) in this folder")
        yield from (os.path.join(place, f) for f in found)


def summary(path: str) -> Dict[str, Dict[str, int]]:
    """Number of a station's own slots, by kind and state."""
    reader = store.Reader(path)
    try:
        found: Dict[str, Dict[str, int]] = {}
        for kind, state, count in reader.rows(
                "SELECT kind, state, count(*) FROM slots WHERE role='sends' OR state='missed' "
                "GROUP BY kind, state"):
            found.setdefault(kind, {})[state] = count
        return found
    finally:
        reader.close()
