# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a trial (TOML): stations, times and tests. Every station has the same plan."""
from dataclasses import dataclass, field
import datetime
import os
from typing import Any, Dict, Iterator, List, Optional

from .. import hf_python as _hf
from ..station import tables
from ..station import Description, Rig, load as load_station

KINDS = ("modes", "ping", "throughput", "file", "page")
#: Smallest U_PDU of the console, the size of its header.
_LEAST_OCTETS = 22
#: First TCP port that any user may listen on.
_FIRST_PORT = 1024


class PlanError(ValueError):
    """A plan is wrong. The text names the file, the value and what is allowed."""


def _number(default: int, least: int, most: int) -> Any:
    return field(default=default, metadata={"range": (least, most)})


def _real(default: float, least: float, most: float) -> Any:
    return field(default=default, metadata={"range": (least, most)})


@dataclass
class Member:
    """A station of the trial.

    address: STANAG 5066 address, as in its file.
    file: its station file, relative to the plan. Only the station that runs needs its file. A dry
    run needs none. A station without a file has the default mode.
    """

    address: str = ""
    file: str = ""


@dataclass
class Test:
    """A test, run in each round by each sender to each receiver, in a slot each.

    kind: modes (transmissions of a known pattern, in each of modes and of length seconds, which
    all others compare bit by bit), ping (count pings of octets), throughput (octets by ARQ), file
    (octets by BFTP with receipt), or page (a page of octets and this number of files of the same
    size, through HF-PEP).
    sender, receiver: addresses. Default: every station in turn.
    mode: of the sender's data. Default: the mode in its file.
    slot_s: length of a slot.
    frequency_hz (of the dial, whole Hz), rig_mode: setting of all stations' rigs before the test.
    0 and empty: unchanged. All stations need [radio.rig]. A dry run only stores the values.
    """

    kind: str = ""
    sender: str = ""
    receiver: str = ""
    mode: str = ""
    modes: List[str] = field(default_factory=list)
    seconds: float = _real(10, 0.5, 120)
    count: int = _number(5, 1, 1000)
    octets: int = _number(2000, _LEAST_OCTETS, 10000000)
    files: int = _number(4, 0, 100)
    slot_s: int = _number(120, 10, 21600)
    frequency_hz: float = _real(0, 0, 6e9)
    rig_mode: str = ""

    def check(self) -> None:
        """Raise ValueError for missing or contradictory values."""
        if self.kind not in KINDS:
            raise ValueError(f"kind = '{self.kind}': allowed are {', '.join(KINDS)}")
        if self.kind == "modes":
            if not self.modes:
                raise ValueError('kind = \'modes\' needs modes, for example ["4539-600S"]')
            for mode in self.modes:
                _hf.mode(mode)
            if self.receiver:
                raise ValueError(f"receiver = '{self.receiver}': not allowed with kind = 'modes', "
                                 "where all others receive")
        elif self.modes:
            raise ValueError(f"modes needs kind = 'modes', this is '{self.kind}'; use mode for "
                             "its data")
        if self.mode:
            _hf.mode(_hf.fastest_mode(self.mode))
        Rig(self.frequency_hz, self.rig_mode).check()
        if self.kind == "ping" and self.octets > 2048:
            raise ValueError(f"octets = {self.octets}: a ping has {_LEAST_OCTETS} to 2048")


@dataclass
class Air:
    """The simulated air of a dry run. channel: as in hf.channel. seed: of noise and fading."""

    channel: str = "poor snr=20"
    seed: int = _number(1, 0, 2 ** 31)


@dataclass
class Plan:
    """The plan: stations, times and tests.

    name: of the trial.
    by: utc (slots at fixed UTC times, the same at all stations) or turns (each station passes the
    turn to the next sender over the air, for stations whose clocks cannot be set).
    start: of the first round. Default: midnight of 1970-01-01, so that rounds start at multiples
    of period_s.
    period_s: from one round to the next, by UTC.
    rounds: their number, 0 for no end.
    guard_s: at the start and the end of a slot, for clock errors.
    patience_s: with turns, the first station starts again after this time without a turn.
    max_mb: limit of the database. Beyond it the oldest receptions are deleted.
    page_port: TCP port on the loopback, with 16 ports above for each station. 0: 20000 on the
    air, free ports in a dry run.
    station: [[station]], at least two. test: [[test]], at least one. air: [air].
    """

    name: str = "trial"
    by: str = "utc"
    start: Optional[datetime.datetime] = None
    period_s: int = _number(3600, 10, 86400)
    rounds: int = _number(0, 0, 1000000)
    guard_s: float = _real(2, 0, 60)
    patience_s: int = _number(600, 60, 86400)
    max_mb: int = _number(500, 1, 100000)
    page_port: int = _number(0, 0, 60000)
    station: List[Member] = field(default_factory=list)
    test: List[Test] = field(default_factory=list)
    air: Air = field(default_factory=Air)
    #: The source file, for messages.
    where: str = field(default="", init=False)

    def check(self) -> None:
        """Raise ValueError for missing or contradictory values."""
        if self.by not in ("utc", "turns"):
            raise ValueError(f"by = '{self.by}': allowed are utc and turns")
        if 0 < self.page_port < _FIRST_PORT:
            raise ValueError(f"page_port = {self.page_port}: allowed are 0 and {_FIRST_PORT} to "
                             "60000")
        _check_members(self.station)
        if not self.test:
            raise ValueError("no [[test]]; at least one is needed")
        known = [m.address for m in self.station]
        for number, test in enumerate(self.test, 1):
            try:
                test.check()
                for name in ("sender", "receiver"):
                    address = getattr(test, name)
                    if address and address not in known:
                        raise ValueError(f"{name} = '{address}': allowed are the addresses of "
                                         f"[[station]], {', '.join(known)}")
                if test.sender and test.sender == test.receiver:
                    raise ValueError(f"sender and receiver are both '{test.sender}'")
                if test.slot_s <= 2 * self.guard_s:
                    raise ValueError(f"slot_s = {test.slot_s}: allowed is more than twice "
                                     f"guard_s = {self.guard_s:g}")
                if self.by == "turns" and (test.frequency_hz or test.rig_mode):
                    raise ValueError("frequency_hz and rig_mode need by = 'utc': a station that "
                                     "missed a turn would not know where the others are")
            except ValueError as error:
                raise ValueError(f"[[test]] {number}: {error}") from None
        length = sum(s.length_s for s in self.slots(0))
        if self.by == "utc" and length > self.period_s:
            raise ValueError(f"period_s = {self.period_s}: the slots of a round take {length} s, "
                             "and must fit into it")
        _hf.channel_model(self.air.channel)

    def slots(self, round_: int) -> List["Slot"]:
        """Slots of a round, in order."""
        at = (self.start.timestamp() if self.start else 0.0) + round_ * self.period_s
        found: List[Slot] = []
        for number, test in enumerate(self.test):
            for sender in [m.address for m in self.station]:
                if test.sender not in ("", sender):
                    continue
                for receiver in self._receivers(test, sender):
                    found.append(Slot(round_, len(found), number, test, sender, receiver, at,
                                      test.slot_s))
                    at += test.slot_s
        return found

    def _receivers(self, test: Test, sender: str) -> List[str]:
        if test.kind == "modes":
            return [""]
        return [m.address for m in self.station
                if m.address != sender and test.receiver in ("", m.address)]

    def round_at(self, utc: float) -> int:
        """The round at a UTC time. Before the start it is the first."""
        begin = self.start.timestamp() if self.start else 0.0
        return max(0, int((utc - begin) // self.period_s))

    def all_slots(self, first_round: int = 0) -> Iterator["Slot"]:
        """Slots in order from a round to the end of the trial, endless if rounds is 0."""
        number = first_round
        while not self.rounds or number < self.rounds:
            yield from self.slots(number)
            number += 1

    def text(self) -> str:
        """Text that identifies the plan. Comments and station files do not matter."""
        return repr((self.name, self.by, str(self.start), self.period_s, self.rounds,
                     self.guard_s, [m.address for m in self.station], self.test))

    def number_of(self, address: str) -> int:
        """Index of a station in the list."""
        return [m.address for m in self.station].index(address)

    def describe(self, number: int) -> Description:
        """Description of a station, from its file if it has one. Raises PlanError or
        station.StationError."""
        member = self.station[number]
        if not member.file:
            return Description(address=member.address)
        path = os.path.join(os.path.dirname(self.where), member.file)
        d = load_station(path)
        if d.address != member.address:
            raise PlanError(f"{self.where}: station {member.address}: {path} has address = "
                            f"'{d.address}'")
        return d


@dataclass(frozen=True)
class Slot:
    """A test in a time slot. number: in its round. receiver: empty for all. begin: s since 1970,
    UTC."""

    round: int
    number: int
    test_number: int
    test: Test
    sender: str
    receiver: str
    begin: float
    length_s: int

    @property
    def key(self) -> "tuple[int, int]":
        """Identifies the slot at all stations."""
        return self.round, self.number

    def title(self) -> str:
        """The slot as text for the user."""
        to = f" to {self.receiver}" if self.receiver else ""
        return f"round {self.round} slot {self.number}: {self.test.kind} by {self.sender}{to}"


def _check_members(members: List[Member]) -> None:
    if not 2 <= len(members) <= 16:
        raise ValueError(f"{len(members)} [[station]]; allowed are 2 to 16")
    seen: Dict[str, int] = {}
    for number, member in enumerate(members, 1):
        if not member.address:
            raise ValueError(f"[[station]] {number} needs address, for example \"1.2.0.1\"")
        _hf.s5066.address(member.address)
        if member.address in seen:
            raise ValueError(f"[[station]] {number}: address = '{member.address}' is used by "
                             f"[[station]] {seen[member.address]}")
        seen[member.address] = number


PARTS: tables.Parts = {Plan: {"station": [Member], "test": [Test], "air": Air}}


def parse(text: str, where: str = "plan") -> Plan:
    """Read a plan from TOML text. Raises PlanError, whose text begins with where."""
    plan: Plan = tables.parse(Plan, text, where, PARTS, PlanError)
    return plan


def load(path: str) -> Plan:
    """Read a plan from a TOML file. Raises PlanError."""
    try:
        with open(path, "rb") as file:
            return parse(file.read().decode("utf-8", "replace"), path)
    except OSError as error:
        raise PlanError(f"{path}: {error.strerror}") from None
