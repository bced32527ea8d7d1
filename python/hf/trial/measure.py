# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests of a plan, each a plain sequence at the sender. A test waits on the station's desk and
stores each measurement at once, so that an interrupted test loses nothing."""
from dataclasses import dataclass
import math
import os
from typing import Any, Callable, Dict, Optional

from .. import sis
from ..sis import console, files
from ..sis import s5066
from . import page, pattern
from .desk import Client, Desk, StationClock, TimeOver
from .plan import Plan, Slot

#: Give up a transmission that the modem has not started within this time, s.
_KEY_S = 10.0
#: Gap between two patterns, s, in which receivers finish the first one.
_GAP_S = 1.0
#: Limit of a transmission's overhead, s: AGC blocks, lead and tail of the key, a device's buffer.
_AROUND_S = 3.0


@dataclass
class Bench:
    """The running station of a test.

    result: stores a measurement, given its start (station time) and its columns.
    """

    plan: Plan
    number: int                   #: index of the station in the plan
    desk: Desk
    data_link: Any
    pattern_port: Optional[pattern.PatternPort]
    console_client: Client
    file_client: Client
    result: Callable[..., None]
    host_limit_s: float           #: timeout of kernel sockets, s of the host's clock


@dataclass
class Outcome:
    """Result of a slot. state: done or failed. linked: whether a call made a link, None without
    a call. why: reason of a failure."""

    state: str = "done"
    linked: Optional[bool] = None
    why: str = ""


class Call:
    """Watches whether a link is called and made after its creation."""

    def __init__(self, data_link: Any) -> None:
        self._data_link = data_link
        self._before = data_link.state().links  # includes links that are being called
        self._stats = data_link.stats()

    def linked(self) -> Optional[bool]:
        """Whether a call made a link. None if a link or a call existed before, and since then no
        new link was made and no call failed."""
        now = self._data_link.stats()
        if now["links_made"] > self._stats["links_made"]:
            return True
        given_up = now["links_failed"] > self._stats["links_failed"]
        return False if given_up or not self._before else None


def run(bench: Bench, slot: Slot) -> Outcome:
    """Run the test of a slot, at most until the desk's deadline. Raises desk.Ended."""
    if slot.test.kind == "modes":
        return _modes(bench, slot)
    call = Call(bench.data_link)
    for client in (bench.console_client, bench.file_client):
        client.useless_after = bench.desk.deadline
    try:
        why = _TESTS[slot.test.kind](bench, slot)
    except (sis.SisError, OSError, RuntimeError, ValueError) as error:
        why = str(error)
        bench.result(bench.desk.now(), kind=slot.test.kind, mode=_mode(bench, slot), ok=0, why=why)
    finally:
        bench.desk.deadline = math.inf
        for client in (bench.console_client, bench.file_client):
            client.close()
            client.useless_after = math.inf
    return Outcome("failed" if why else "done", call.linked(), why)


def min_slot_s(test: Any) -> float:
    """Time that the transmissions of a test of kind modes need, without the slot's guards, s."""
    return sum(pattern.duration(m, test.seconds) + _GAP_S for m in test.modes) + _AROUND_S


def _mode(bench: Bench, slot: Slot) -> str:
    """Mode of the data: the requested one, or the link's current one."""
    mode = slot.test.mode
    return mode if mode and not mode.startswith("auto") else bench.data_link.state().tx_mode


def _modes(bench: Bench, slot: Slot) -> Outcome:
    port, desk, missing = bench.pattern_port, bench.desk, []
    assert port is not None
    for mode in slot.test.modes:
        blocks, octets = pattern.size(mode, slot.test.seconds)
        begin, lasts = desk.now(), pattern.duration(mode, slot.test.seconds) + _AROUND_S
        why = ""
        if begin + lasts > desk.deadline:
            why = "not sent: the slot is too short; raise slot_s"
        else:
            port.transmit(mode, octets)
            try:
                desk.sleep(_KEY_S, lambda: port.sent > 0 or port.ended)
                port.cancel()
                if port.sent:
                    desk.sleep(lasts, lambda: port.ended)
            except TimeOver:
                port.cancel()
            if port.sent < octets:
                why = f"{port.sent} of {octets} octets were sent" if port.sent else \
                    "not sent: the modem did not key"
        bench.result(begin, kind="modes", mode=mode, ok=int(not why), seconds=desk.now() - begin,
                     octets=octets, blocks=blocks, why=why)
        missing += [f"{mode}: {why}"] if why else []
        if not why:
            try:
                desk.sleep(_GAP_S)
            except TimeOver:
                pass
    desk.deadline = math.inf
    return Outcome("failed" if missing else "done", None, "; ".join(missing))


def _ping(bench: Bench, slot: Slot) -> str:
    test, client = slot.test, bench.console_client
    client.open()
    tool = console.Console(client, slot.receiver, console.SAP, sis.service("arq"),
                           clock=StationClock(bench.desk))
    reported = 0

    def tell(end: bool = False) -> None:
        nonlocal reported
        while reported < len(tool.pings) and (end or tool.pings[reported].over):
            p = tool.pings[reported]
            reported += 1
            bench.result(p.sent, kind="ping", mode=_mode(bench, slot), ok=int(p.rtt is not None),
                         seconds=p.rtt, octets=test.octets,
                         why="" if p.rtt is not None else p.failure or "no answer in the slot")

    try:
        tool.ping(test.count, 0, test.octets, math.inf, immediate=True, progress=tell)
    except TimeOver:
        pass
    tell(end=True)
    answered = sum(p.rtt is not None for p in tool.pings)
    for _ in range(test.count - len(tool.pings)):
        bench.result(bench.desk.now(), kind="ping", mode=_mode(bench, slot), ok=0,
                     octets=test.octets, why="not sent: the slot was over")
    return "" if answered == test.count else f"{answered} of {test.count} answered"


def _throughput(bench: Bench, slot: Slot) -> str:
    test, client = slot.test, bench.console_client
    client.open()
    tool = console.Console(client, slot.receiver, console.SAP, sis.service("arq"),
                           clock=StationClock(bench.desk))
    begin = bench.desk.now()
    try:
        tool.throughput(test.octets, min(client.mtu, 1000), timeout=math.inf)
    except TimeOver:
        pass
    r = tool.throughput_result
    complete = r.confirmed >= test.octets
    why = "" if complete else f"{r.confirmed} of {test.octets} octets confirmed in the slot"
    _transfer(bench, slot, complete, r.seconds if complete else bench.desk.now() - begin,
              r.confirmed, why)
    return why


def _file(bench: Bench, slot: Slot) -> str:
    test, client, state = slot.test, bench.file_client, files.Sending()
    client.open()
    begin = bench.desk.now()

    def progress(s: files.Sending) -> None:
        nonlocal state
        state = s

    try:
        files.send(client, slot.receiver, file_name(slot), pattern.octets(test.octets), math.inf,
                   progress=progress, clock=bench.desk.now)
    except TimeOver:
        pass
    why = ""
    if not state.receipt:
        why = state.failure or (f"no receipt in the slot; {state.confirmed} of {state.octets} "
                                "octets confirmed")
    _transfer(bench, slot, not why, bench.desk.now() - begin,
              test.octets if not why else state.confirmed, why)
    return why


def _page(bench: Bench, slot: Slot) -> str:
    test, desk = slot.test, bench.desk
    begin = desk.now()
    fetch = page.Fetch(bench.plan, bench.number, bench.plan.number_of(slot.receiver), test.octets,
                       test.files, bench.host_limit_s)
    try:
        desk.sleep(math.inf, lambda: fetch.done)
    except TimeOver:
        pass
    finally:
        fetch.stop()
    wanted = test.files + 1
    why = "" if fetch.complete == wanted else \
        f"{fetch.complete} of {wanted} files in the slot" + (f"; {fetch.why}" if fetch.why else "")
    _transfer(bench, slot, not why, desk.now() - begin, fetch.octets, why)
    return why


def _transfer(bench: Bench, slot: Slot, ok: bool, seconds: float, octets: int, why: str) -> None:
    bench.result(bench.desk.now() - seconds, kind=slot.test.kind, mode=_mode(bench, slot),
                 ok=int(ok), seconds=seconds, octets=octets,
                 goodput_bps=8 * octets / max(seconds, 1e-9), why=why)


_TESTS: Dict[str, Callable[[Bench, Slot], str]] = {
    "ping": _ping, "throughput": _throughput, "file": _file, "page": _page}


def file_name(slot: Slot) -> str:
    """Name of the file sent in a slot."""
    return f"trial-{slot.round}-{slot.number}"


class FileSink:
    """Receives and acknowledges files, and deletes them."""

    def __init__(self, client: Client, folder: str) -> None:
        self._receiver = files.Receiver(client, folder)

    def take(self, p: Any) -> None:
        """Process a received primitive."""
        if isinstance(p, s5066.s_unidata_indication):
            found = self._receiver.take(p)
            if found is not None:
                os.unlink(found.path)
