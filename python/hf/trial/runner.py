# SPDX-License-Identifier: GPL-3.0-or-later
"""A station of a trial: runs its slots on time, receives in those of others, stores the
results."""
from dataclasses import dataclass, field
import math
import os
import tempfile
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import station
from ..sis import console
from ..sis import s5066
from ..station import ale_view, running
from . import ale_record, cost, measure, page, pattern, store
from .desk import Client, Desk, Ended, TimeOver
from .plan import Plan, Slot

#: Longest sleep in station time before checking UTC again, since sample clocks drift; s.
_LOOK_S = 30.0
#: SAP of messages about turns. Annex F leaves it free, SLEP has 13 and the console 14.
TURNS_SAP = 15
#: Limit of recorded slots that were missed while the program did not run.
_MOST_MISSED = 10000
#: Longest wait for the end of our own transmission before the rig is set, s.
_SILENCE_S = 15.0


class RealTime:
    """UTC from the host's clock."""

    REAL = True

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def enter(self, slot: Slot) -> None:
        """Note the next slot. Needs nothing here."""

    def utc(self, station_time: Optional[float] = None) -> float:
        """UTC at a station time, by default now."""
        now = time.time()
        return now if station_time is None else now - (self._desk.now() - station_time)

    def station_time(self, utc: float) -> float:
        """Station time at a UTC time, as estimated now."""
        return self._desk.now() + utc - time.time()


class DryTime:
    """UTC of the plan in a dry run, where slots follow each other without gaps."""

    #: Time for receivers and data links to start, s.
    BEGIN_S = 1.0
    REAL = False

    def __init__(self) -> None:
        self._at = self.BEGIN_S
        self._slots: List[Tuple[float, float]] = []  # station time and UTC of each start

    def enter(self, slot: Slot) -> None:
        """Note the next slot."""
        self._slots.append((self._at, slot.begin))
        self._at += slot.length_s

    def utc(self, station_time: Optional[float] = None) -> float:
        """UTC at a station time, by default at the start of the latest slot."""
        if not self._slots:
            return 0.0
        at = self._slots[-1][0] if station_time is None else station_time
        begun = [s for s in self._slots if s[0] <= at] or self._slots[:1]
        return begun[-1][1] + at - begun[-1][0]

    def station_time(self, utc: float) -> float:
        """Station time at a UTC time within the current slot."""
        return self._slots[-1][0] + utc - self._slots[-1][1]


@dataclass
class Side:
    """The parts that a trial adds to a station before the flowgraph starts."""

    desk: Desk
    ear: pattern.Ear
    bench: measure.Bench
    page_server: Optional[page.Server]
    folder: tempfile.TemporaryDirectory
    meter: cost.Meter
    mode: str                   #: of the data, as in the station's file
    transmitting: Callable[[], bool]
    turns_client: Optional[Client]
    #: Channel of ALE, as of ale_view.view(); None without ALE.
    ale: Optional[Callable[[], Dict[str, Any]]] = None
    ale_ear: Optional[ale_record.AleEar] = None
    ale_frequencies_hz: List[float] = field(default_factory=list)

    def close(self) -> None:
        """Close after the flowgraph has ended."""
        self.desk.end()
        if self.page_server is not None:
            self.page_server.close()
        self.folder.cleanup()


def prepare(plan: Plan, number: int, d: station.Description) -> None:
    """Extend a station's description by the needs of the plan."""
    if any(t.kind == "page" for t in plan.test):
        page.prepare(plan, number, d)


def attach(plan: Plan, number: int, stations: running.Stations, s: station.Station) -> Side:
    """Connect clients, pattern and ear to a station. Raises OSError if the port of the pages is in
    use, ValueError for a station without its own modem and data link."""
    if s.modem is None or s.data_link is None:
        raise ValueError(f"station {s.description.name}: a trial needs its modem and its data "
                         "link in one program, without [modem_server] and [modem_client]")
    kinds = {t.kind for t in plan.test}
    tb, desk = stations.tb, Desk()
    talk, send = desk.client(console.SAP), desk.client(s5066.SAP_RCOP)
    tb.msg_connect(desk, "sis", s.data_link, "sis")
    tb.msg_connect(s.data_link, "sis", desk, "sis_in_step")
    port = None
    if "modes" in kinds:
        port = pattern.PatternPort()
        tb.msg_disconnect(s.modem, "modem", s.data_link, "modem")
        tb.msg_disconnect(s.data_link, "modem", s.modem, "modem")
        tb.msg_connect(s.modem, "modem", port, "modem")
        tb.msg_connect(port, "modem", s.modem, "modem")
        tb.msg_connect(s.data_link, "modem", port, "link")
        tb.msg_connect(port, "link", s.data_link, "modem")
    turns_client = desk.client(TURNS_SAP) if plan.by == "turns" else None
    ear = pattern.Ear()
    tb.msg_connect(s.modem, "status", ear, "status")
    server = page.Server(plan, number) if "page" in kinds else None
    folder = tempfile.TemporaryDirectory(prefix="hf-trial-")
    talk.listeners.append(console.Responder(talk).take)  # type: ignore[arg-type]
    send.listeners.append(measure.FileSink(send, folder.name).take)
    longest = max(t.slot_s for t in plan.test)
    bench = measure.Bench(plan, number, desk, s.data_link, port, talk, send,
                          lambda *_, **__: None, float(longest))
    meter = cost.Meter(tb, s.modem, s.data_link)
    desk.ticked = meter.tick
    side = Side(desk, ear, bench, server, folder, meter, s.description.mode,
                lambda: bool(s.modem.state().transmitting), turns_client)
    if s.description.ale is not None:
        _hear_ale(side, tb, s)
    return side


def _hear_ale(side: Side, tb: Any, s: station.Station) -> None:
    side.ale_frequencies_hz = frequencies_hz = s.description.ale.frequencies_hz
    side.ale = lambda: ale_view.view(s.ale.ale(), frequencies_hz)
    side.ale_ear = ale_record.AleEar(frequencies_hz)
    tb.msg_connect(s.ale, "ale", side.ale_ear, "ale")


class Runner:
    """Runs the slots of one station in its own thread."""

    def __init__(self, plan: Plan, kept: store.Store, side: Side, clock: Any,
                 say: Callable[[str], None], rig: Any = None) -> None:
        """clock: RealTime or DryTime. say: called with lines for the operator. rig: a radio.Rig,
        or None."""
        self.plan, self.kept, self.side, self.clock = plan, kept, side, clock
        self.address = plan.station[side.bench.number].address
        self.over = False           #: all slots of the plan are done
        self.failure = ""           #: why it ended early
        self.latest: Optional[Tuple[int, int]] = None  #: key of the last slot started
        self._say, self._rig = say, rig
        self._begun: List[Tuple[float, int]] = []  # station time and id of the last slots
        side.ear.heard = self._heard
        if side.ale_ear is not None:
            side.ale_ear.heard = self._heard_ale
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self, slots: Any) -> None:
        """Start the thread. slots: an iterator. Returns when it waits for the first slot, so that
        the flowgraph may start."""
        self._slots = slots
        self._thread.start()
        while not self.side.desk.waits() and not self.over and not self.failure:
            time.sleep(0.001)

    def join(self) -> None:
        """Wait for the end of the thread, after desk.end()."""
        self._thread.join()

    def _run(self) -> None:
        try:
            self._all()
            self.over = True
        except Ended:
            pass
        except Exception as error:  # report any error to the program
            self.failure = f"{self.address}: {type(error).__name__}: {error}"
        finally:
            self.side.desk.leave()

    def _all(self) -> None:
        for slot in self._slots:
            self.clock.enter(slot)
            self._play(slot)

    def _wait(self, utc: float) -> None:
        """Wait until a UTC time."""
        while True:
            at = self.clock.station_time(utc)
            now = self.side.desk.now()
            if at <= now:
                return
            self.side.desk.sleep_until(min(at, now + _LOOK_S))

    def _play(self, slot: Slot) -> None:
        desk = self.side.desk
        desk.deadline = math.inf
        self._wait(slot.begin)
        role = "sends" if slot.sender == self.address else \
            "receives" if slot.receiver in ("", self.address) else "hears"
        slot_id = self._begin(slot, role)
        outcome = self._prepared(slot)
        if slot.test.frequency_hz:
            self.kept.frequency(slot_id, self._frequency() or slot.test.frequency_hz)
        if outcome is None and role == "sends":
            self._wait(slot.begin + self.plan.guard_s)
            end = slot.begin + slot.length_s - self.plan.guard_s
            outcome = self._measured(slot, slot_id, self.clock.station_time(end))
        self._wait(slot.begin + slot.length_s - self.plan.guard_s / 2)
        self._restore(slot)
        self._end(slot, slot_id, role, outcome or measure.Outcome())

    def _begin(self, slot: Slot, role: str) -> int:
        """Record the start of a slot. Returns its id."""
        slot_id = self.kept.begin(slot, role, self._frequency() or slot.test.frequency_hz or None)
        self._begun = self._begun[-9:] + [(self.side.desk.now(), slot_id)]
        self.latest = slot.key
        return slot_id

    def _measured(self, slot: Slot, slot_id: int, end: float) -> measure.Outcome:
        """Run the test of a slot until a station time."""
        desk, bench = self.side.desk, self.side.bench
        bench.result = lambda at, **values: self.kept.result(
            slot_id, at=self.clock.utc(at), **_rounded(values))
        desk.deadline = end
        self.side.meter.begin()
        try:
            return measure.run(bench, slot)
        except TimeOver:
            return measure.Outcome("failed", None, "the slot was over")
        finally:
            desk.deadline = math.inf

    def _end(self, slot: Slot, slot_id: int, role: str, outcome: measure.Outcome) -> None:
        """Record and report the end of a slot."""
        self.kept.end(slot_id, self.clock.utc(self.side.desk.now()), outcome.state,
                      outcome.linked, outcome.why)
        # The last confirmation is counted with the sample after it, so not before the slot's end.
        parts_s = self.side.meter.parts_s() if role == "sends" else {}
        if parts_s and slot.test.kind != "modes":
            self.kept.cost(slot_id, _rounded(parts_s))
        ale = self.side.ale() if self.side.ale is not None else None
        if ale is not None and ale["peer"]:
            self.kept.frequency(slot_id, ale["frequency_hz"])
        if ale is not None:
            self._note_quality(slot, slot_id, ale)
        if role == "sends" or outcome.why:
            self._say(f"{store.utc_text(slot.begin)[:19]}Z {slot.title()}: {outcome.state}"
                      + (f", {outcome.why}" if outcome.why else "")
                      + (f"; ALE {ale['text']}" if ale is not None else ""))

    def _prepared(self, slot: Slot) -> Optional[measure.Outcome]:
        """Set station and rig for a slot. Returns an outcome if that failed."""
        test, link = slot.test, self.side.bench.data_link
        try:
            if test.frequency_hz or test.rig_mode:
                self._tune(test.frequency_hz, test.rig_mode)
            if test.kind == "modes":
                link.set_emcon(True)
                if slot.sender != self.address:
                    self.side.ear.expected = {m: pattern.size(m, test.seconds)[1]
                                              for m in test.modes}
            elif test.mode and slot.sender == self.address:
                link.set_mode(test.mode)
        except (RuntimeError, ValueError) as error:
            return measure.Outcome("failed", None, str(error))
        return None

    def _tune(self, frequency_hz: float, mode: str) -> None:
        """Set the rig after the end of our transmission. Raises RuntimeError."""
        if self._rig is None:
            if self.clock.REAL:
                raise RuntimeError("the plan sets frequency or mode of the rig, and the station's "
                                   "file has no [radio.rig]")
            return
        link, key = self.side.bench.data_link, self._rig.key
        link.set_emcon(True)
        try:
            self.side.desk.sleep(_SILENCE_S, lambda: not self.side.transmitting()
                                 and not (key is not None and key.down))
            found = self._rig.set(frequency_hz, mode)
        finally:
            link.set_emcon(False)
        self._say(f"rig: {found.text()}")

    def _frequency(self) -> float:
        """Dial frequency of the rig at its last read, Hz. 0: unknown."""
        return self._rig.known.frequency_hz if self._rig is not None and self._rig.known else 0.0

    def _restore(self, slot: Slot) -> None:
        link = self.side.bench.data_link
        self.side.ear.expected = {}
        if slot.test.kind == "modes":
            link.set_emcon(False)
        elif slot.test.mode and slot.sender == self.address:
            link.set_mode(self.side.mode)

    def _note_quality(self, slot: Slot, slot_id: int, view: Dict[str, Any]) -> None:
        """Store the channels that were measured within a slot."""
        now = self.clock.utc(self.side.desk.now())
        for row in ale_record.quality_rows(view, self.side.ale_frequencies_hz, slot.length_s):
            self.kept.ale(slot_id, at=now - row.pop("age_s"), **row)

    def _slot_at(self, at: float) -> Optional[int]:
        return next((k for begin, k in reversed(self._begun) if begin <= at), None)

    def _heard(self, row: Dict[str, Any]) -> None:
        at = row.pop("now")
        self.kept.reception(self._slot_at(at), at=self.clock.utc(at), **row)

    def _heard_ale(self, row: Dict[str, Any]) -> None:
        at = row.pop("now")
        self.kept.ale(self._slot_at(at), at=self.clock.utc(at), **row)


def _rounded(values: Dict[str, Any]) -> Dict[str, Any]:
    """Round times to the millisecond. A tick is 10 ms."""
    return {k: round(v, 3) if isinstance(v, float) else v for k, v in values.items()}


def due(plan: Plan, kept: store.Store, role_of: str, utc: float) -> Tuple[List[Slot], Any]:
    """Slots missed since the last run, if any, and an iterator of the slots after a UTC time."""
    done = kept.done()
    missed: List[Slot] = []
    if kept.last_seen is not None:
        for slot in plan.all_slots(plan.round_at(kept.last_seen)):
            if slot.begin > utc or len(missed) >= _MOST_MISSED:
                break
            if slot.begin > kept.last_seen and slot.key not in done:
                missed.append(slot)
    coming = (s for s in plan.all_slots(plan.round_at(utc))
              if s.begin > utc and s.key not in done)
    return [s for s in missed if role_of in (s.sender, s.receiver)], coming


def paths(folder: str, address: str) -> str:
    """Path of a station's database in the folder of a trial."""
    return os.path.join(folder, f"{address}.db")
