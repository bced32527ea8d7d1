# SPDX-License-Identifier: GPL-3.0-or-later
"""A trial by turns, for stations whose clocks cannot be set. Messages over the air pass the turn
and announce the start of a slot.

The U_PDU format is our own: `HFT1`, kind (1 octet), 0 (1), number of the slot in its round (2),
round (4), big-endian. They are sent by ARQ with the node's confirmation.
"""
from dataclasses import replace
import struct
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from .. import sis
from ..sis import s5066
from . import measure
from .desk import Desk
from .plan import Slot
from .runner import Runner

HEADER = struct.Struct(">4sBBHI")
MAGIC = b"HFT1"
BEGIN, TURN, END = 1, 2, 3
#: Timeout of a message, as a share of the plan's patience.
_TELL = 0.25
#: Time after a confirmed BEGIN for the last acknowledgement, before the silence of patterns; s.
_LISTEN_S = 6.0
#: Delay before the first station starts, s, in which devices open and modems listen.
_FIRST_S = 5.0


class Message(NamedTuple):
    """A message about turns."""

    kind: int
    key: Tuple[int, int]  #: round and number of a slot
    source: str

    def encode(self) -> bytes:
        """The U_PDU."""
        return HEADER.pack(MAGIC, self.kind, 0, self.key[1], self.key[0])


def decode(u_pdu: bytes, source: str) -> Optional[Message]:
    """The message in a U_PDU. None if it is not a message about turns."""
    if len(u_pdu) != HEADER.size:
        return None
    magic, kind, _, number, round_ = HEADER.unpack(u_pdu)
    if magic != MAGIC or not BEGIN <= kind <= END:
        return None
    return Message(kind, (round_, number), source)


class TurnTime:
    """UTC of a dry run by turns: station time since a start."""

    REAL = False

    def __init__(self, desk: Desk, begin: float) -> None:
        self._desk, self._begin = desk, begin

    def enter(self, slot: Slot) -> None:
        """Note the next slot. Needs nothing here."""

    def utc(self, station_time: Optional[float] = None) -> float:
        """UTC at a station time, by default now."""
        return self._begin + (self._desk.now() if station_time is None else station_time)

    def station_time(self, utc: float) -> float:
        """Station time at a UTC time."""
        return utc - self._begin


class TurnRunner(Runner):
    """Runs the slots of one station when it has the turn."""

    def __init__(self, *arguments: Any, rounds: int) -> None:
        """See Runner. rounds: their number, 0 for no end."""
        super().__init__(*arguments)
        assert self.side.turns_client is not None
        self._client, self._rounds = self.side.turns_client, rounds
        self._inbox: List[Message] = []
        self._client.listeners.append(self._take)
        self._done = self.kept.done()
        self._last: Optional[Tuple[int, int]] = max(self._done, default=None)

    def _take(self, p: Any) -> None:
        if isinstance(p, s5066.s_unidata_indication):
            m = decode(p.u_pdu, str(p.src))
            if m is not None and m.key[1] < len(self.plan.slots(0)):
                self._inbox.append(m)

    # --- whose turn it is

    def _all(self) -> None:
        mine = self.plan.number_of(self.address)
        # The first station starts. The others start if they receive no message.
        self.side.desk.sleep_until(_FIRST_S)
        if mine == 0:
            self._hold(self._after(self._last))
        while not self.over:
            if not self._await(self.plan.patience_s * (1 + mine)):
                own = self._after(self._last, self.address)
                self._miss(own)
                self._hold(own)
                continue
            m = self._inbox.pop(0)
            slot = self._slot(m.key)
            if m.kind == END or slot is None:
                self._let_go_out()  # otherwise the others call a station that is gone
                self.over = True
            elif m.kind == TURN and slot.sender == self.address:
                self._miss(slot)
                self._hold(slot)
            elif m.kind == BEGIN and slot.key not in self._done:
                self._listen(slot)

    def _await(self, seconds: float) -> bool:
        return self.side.desk.sleep(seconds, lambda: bool(self._inbox))

    def _hold(self, slot: Optional[Slot]) -> None:
        """Run slots with the turn at this station, until another station's slot starts."""
        while slot is not None and not self._inbox:
            if slot.key in self._done:
                slot = self._after(slot.key)
                continue
            if slot.sender == self.address:
                self._send(slot)
            elif self._tell(TURN, slot.key, [slot.sender]):
                return
            else:
                self._note(slot, "hears", f"{slot.sender} did not take its turn")
            slot = self._after(slot.key)
        if slot is None:
            last = (self._rounds, 0)
            for m in self.plan.station:
                if m.address != self.address:
                    self._tell(END, last, [m.address])
            self.over = True

    # --- slots

    def _slot(self, key: Tuple[int, int]) -> Optional[Slot]:
        if self._rounds and key[0] >= self._rounds:
            return None
        return self.plan.slots(key[0])[key[1]]

    def _after(self, key: Optional[Tuple[int, int]], sender: str = "") -> Optional[Slot]:
        """The next slot after key, or the next one of a sender."""
        round_, number = key if key is not None else (0, -1)
        count = len(self.plan.slots(0))
        for _ in range(2 * count):
            number += 1
            if number == count:
                round_, number = round_ + 1, 0
            slot = self._slot((round_, number))
            if slot is None or sender in ("", slot.sender):
                return slot
        return None

    def _miss(self, until: Optional[Slot]) -> None:
        """Record our own slots before a due one as missed."""
        slot = self._after(self._last, self.address)
        while until is not None and slot is not None and slot.key < until.key:
            if slot.key not in self._done:
                self._note(slot, "sends", "no turn came")
            slot = self._after(slot.key, self.address)

    def _note(self, slot: Slot, role: str, why: str) -> None:
        self.kept.begin(self._now(slot), role, None, "missed", why)
        self._passed(slot)

    def _now(self, slot: Slot) -> Slot:
        return replace(slot, begin=self.clock.utc(self.side.desk.now()))

    def _passed(self, slot: Slot) -> None:
        self._done.add(slot.key)
        self._last = max(self._last or slot.key, slot.key)

    def _send(self, slot: Slot) -> None:
        others = [slot.receiver] if slot.receiver else [
            m.address for m in self.plan.station if m.address != self.address]
        now = self._now(slot)
        slot_id = self._begin(now, "sends")
        # Without a link, the message makes it. This is the call to be counted.
        call = measure.Call(self.side.bench.data_link)
        if not self._tell(BEGIN, slot.key, others):
            outcome = measure.Outcome("failed", None,
                                      f"{', '.join(others)} did not confirm that it begins")
        else:
            begun = self.side.desk.now()
            failed = self._prepared(slot)
            if slot.test.kind == "modes":
                self.side.desk.sleep(_LISTEN_S)
            outcome = failed or self._measured(slot, slot_id,
                                               begun + slot.length_s - self.plan.guard_s)
            if slot.test.kind == "modes":  # the others listen until then
                self.side.desk.sleep_until(begun + slot.length_s)
            self._restore(slot)
        outcome.linked = call.linked()
        self._end(now, slot_id, "sends", outcome)
        self._passed(slot)

    def _listen(self, slot: Slot) -> None:
        begun, now = self.side.desk.now(), self._now(slot)
        slot_id = self._begin(now, "receives")
        if slot.test.kind == "modes":
            self._let_go_out()
            self._prepared(slot)
            self.side.desk.sleep_until(begun + slot.length_s - self.plan.guard_s / 2)
            self._restore(slot)
        else:
            self._await(slot.length_s)
        self._end(now, slot_id, "receives", measure.Outcome())
        self._passed(slot)

    def _let_go_out(self) -> None:
        """Wait until our acknowledgement of a message was sent."""
        self.side.desk.sleep(_LISTEN_S / 2)
        self.side.desk.sleep(_LISTEN_S / 2, lambda: not self.side.transmitting())

    def _tell(self, kind: int, key: Tuple[int, int], to: Sequence[str]) -> bool:
        """Send a message to stations. Returns whether all have confirmed it in time."""
        desk, limit_s = self.side.desk, _TELL * self.plan.patience_s
        data = Message(kind, key, "").encode()
        for address in to:
            self._client.open()
            try:
                self._client.useless_after = until = desk.now() + limit_s
                if not self._client.send(address, data, mode=sis.service("arq", "node"),
                                         timeout=limit_s):
                    return False
                p = None
                while not isinstance(p, s5066.s_unidata_request_confirm):
                    p = self._client.next(until - desk.now()) if desk.now() < until else None
                    if p is None or isinstance(p, s5066.s_unidata_request_rejected):
                        return False
            finally:
                self._client.close()
        return True
