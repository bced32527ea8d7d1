# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests of a plan, each a plain sequence at the sender: it waits by the station's desk and
writes what it measures as it goes, so that nothing is lost if it is cut."""
from dataclasses import dataclass
import math
import os
from typing import Any, Callable, Dict, Optional

from .. import console, files, sis
from ..sis import s5066
from . import page, pattern
from .desk import Client, Desk, StationClock, TimeOver
from .plan import Plan, Slot

#: A transmission is keyed within this time, else the modem is taken; s.
_KEY_S = 10.0
#: From one pattern to the next, so that receivers have come to the end of the one before; s.
_GAP_S = 1.0
#: From the key to the end of a transmission it lasts at most so much longer than on the air: AGC
#: blocks, lead and tail of the key, a device's buffer; s.
_AROUND_S = 3.0


@dataclass
class Bench:
    """What a test has to work with: one station, running.

    result: takes the begin of a measurement (station time) and its columns.
    """

    plan: Plan
    number: int                   #: of the station in the plan
    desk: Desk
    data_link: Any
    pattern_port: Optional[pattern.PatternPort]
    console_client: Client
    file_client: Client
    result: Callable[..., None]
    host_limit_s: float           #: the longest that the host may take where kernel sockets wait


@dataclass
class Outcome:
    """Of a slot: state done or failed, with why; whether a call linked, None if there was none."""

    state: str = "done"
    linked: Optional[bool] = None
    why: str = ""


class Call:
    """Whether a link was called for, and made, since this object was."""

    def __init__(self, data_link: Any) -> None:
        self._data_link = data_link
        self._before = data_link.state().links  # those that are being called count, too
        self._stats = data_link.stats()

    def linked(self) -> Optional[bool]:
        """None: there was one before, or it has been called before, and neither was a new one made
        nor the call given up."""
        now = self._data_link.stats()
        if now["links_made"] > self._stats["links_made"]:
            return True
        given_up = now["links_failed"] > self._stats["links_failed"]
        return False if given_up or not self._before else None


def run(bench: Bench, slot: Slot) -> Outcome:
    """Do the test of a slot until it is complete or the desk's deadline. Raises desk.Ended."""
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


def least_slot_s(test: Any) -> float:
    """What the transmissions of a test of kind modes need of a slot without its guards; s."""
    return sum(pattern.duration(m, test.seconds) + _GAP_S for m in test.modes) + _AROUND_S


def _mode(bench: Bench, slot: Slot) -> str:
    """Of the data: as it was asked for, or as the link sends now."""
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
            why = "not sent: the slot is over before it; raise slot_s"
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
    told = 0

    def tell(end: bool = False) -> None:
        nonlocal told
        while told < len(tool.pings) and (end or tool.pings[told].over):
            p = tool.pings[told]
            told += 1
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
    """Of the file of a slot."""
    return f"trial-{slot.round}-{slot.number}"


class FileSink:
    """Takes the files of others and acknowledges them; what came is thrown away."""

    def __init__(self, client: Client, folder: str) -> None:
        self._receiver = files.Receiver(client, folder)

    def take(self, p: Any) -> None:
        """A primitive has come."""
        if isinstance(p, s5066.s_unidata_indication):
            found = self._receiver.take(p)
            if found is not None:
                os.unlink(found.path)
