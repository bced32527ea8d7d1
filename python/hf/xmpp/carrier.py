# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection to the SIS server for one SAP, and the exchanges over it, on a thread."""
from collections import deque
import threading
import time
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

from .. import sis
from ..sis import s5066
from ..station.xmpp_tables import Xmpp
from . import codec
from .exchange import Exchange, UPdu

#: Longest pause between attempts to reach the SIS server, s.
MAX_RECONNECT_S = 60.0
#: Seconds without a confirmation by the node, until its stanzas are submitted again. At 75 bit/s a
#: U_PDU takes four minutes.
STUCK_S = 3600.0
#: Longest sleep while nothing arrives, s. A pause ends, or the node takes more, without a word.
POLL_S = 0.1


class _Way:
    """What is submitted for one exchange."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.waiting: Deque[UPdu] = deque()
        #: Numbers by the marks of the U_PDU whose confirmation counts.
        self.expected: Dict[Tuple[int, ...], int] = {}
        self.touched = time.monotonic()
        self.failures, self.until = 0, 0.0

    def again(self) -> None:
        """Everything is submitted again."""
        self.waiting.clear()
        self.expected.clear()
        self.exchange.again()


class Carrier(threading.Thread):
    """Keeps the connection, submits U_PDUs as the node's flow control allows, and passes on what
    arrives."""

    def __init__(self, settings: Xmpp, sap: int, exchanges: List[Exchange], server: str,
                 tick: Callable[[], None], say: Callable[[str], None]) -> None:
        """tick: called several times a second, on the thread."""
        super().__init__(name=f"xmpp SAP {sap}", daemon=True)
        self._settings, self._sap, self._server = settings, sap, server
        self._ways = {e.node: _Way(e) for e in exchanges}
        self._tick, self._say = tick, say
        self._end = threading.Event()
        self._client: Optional[sis.Client] = None
        #: Whether the SAP is bound at the node.
        self.is_bound = False

    @property
    def nodes(self) -> List[str]:
        """The nodes of its exchanges."""
        return list(self._ways)

    def end(self) -> None:
        """End the thread, and wait for it."""
        self._end.set()
        if self.is_alive():
            self.join()

    def wake(self) -> None:
        """There are stanzas to send. From another thread."""
        client = self._client
        if client is not None:
            client.wake()

    def state(self, node: str) -> str:
        """The state of the link to a node, in words."""
        way = self._ways[node]
        if not self.is_bound:
            return "no SIS server"
        if way.failures:
            return f"not reached, again in {max(way.until - time.monotonic(), 0):.0f} s"
        return "reached" if way.exchange.counts["arrived"] or way.exchange.counts["received"] \
            else "not tried"

    def run(self) -> None:
        """Connect, work, and connect again after the connection was lost."""
        failures = 0
        while not self._end.is_set():
            try:
                with sis.Client(self._server) as client:
                    client.bind(self._sap, 0, sis.service("arq", order="in_order"), self._end)
                    failures, self.is_bound, self._client = 0, True, client
                    for way in self._ways.values():
                        way.again()
                        way.exchange.begin()
                    while not self._end.is_set():
                        self._step(client)
            except Exception as error:  # of whatever kind: chat must go on
                if self._end.is_set():
                    break
                failures += 1
                if failures == 1:
                    known = isinstance(error, (sis.SisError, OSError))
                    self._say(f"SAP {self._sap}: {error if known else repr(error)}")
                self._end.wait(min(2.0 ** min(failures, 10) / 2, MAX_RECONNECT_S))
            finally:
                self.is_bound, self._client = False, None

    def _step(self, client: sis.Client) -> None:
        for way in self._ways.values():
            self._submit(client, way)
        primitive = client.next(timeout=POLL_S)
        while primitive is not None:
            self._take(primitive)
            primitive = client.next(timeout=0.0)
        self._tick()

    def _submit(self, client: sis.Client, way: _Way) -> None:
        now = time.monotonic()
        if now < way.until:
            return
        if way.exchange.is_waiting and now - way.touched > STUCK_S:
            self._failed(way, f"not transferred within {STUCK_S:g} s")
            return
        while client.flow_on:
            if not way.waiting:
                way.waiting.extend(way.exchange.due(client.mtu, time.time()))
            if not way.waiting:
                return
            first = way.waiting[0]
            mode = sis.service("arq", first.confirmation, "in_order")
            if not client.send(way.exchange.node, first.octets, self._sap, mode, timeout=0.0):
                return
            way.waiting.popleft()
            way.touched = now
            s = codec.segment(first.octets)
            if first.last and s is not None:
                way.expected[_marks(s)] = first.number

    def _failed(self, way: _Way, why: str) -> None:
        way.again()
        way.failures += 1
        pause = min(self._settings.retry_s * 2.0 ** min(way.failures - 1, 30),
                    self._settings.retry_max_s)
        way.until = time.monotonic() + pause
        self._say(f"to {way.exchange.node}: {why}; again in {pause:.0f} s")

    def _take(self, p: Any) -> None:
        if isinstance(p, s5066.s_unidata_indication):
            way = self._ways.get(str(p.src))
            # Without ARQ anybody can send in the name of any node.
            if way is not None and p.src_sap == self._sap and \
                    p.mode == s5066.transmission_mode.arq:
                way.failures, way.until = 0, 0.0
                way.exchange.take(bytes(p.u_pdu), time.monotonic())
        elif isinstance(p, (s5066.s_unidata_request_confirm, s5066.s_unidata_request_rejected)):
            way = self._ways.get(str(p.dst))
            s = codec.segment(bytes(p.u_pdu))
            if way is None or s is None:
                return
            way.touched = time.monotonic()
            if isinstance(p, s5066.s_unidata_request_confirm):
                way.failures = 0
                number = way.expected.pop(_marks(s), None)
                if number is not None:
                    way.exchange.confirmed(number)
            elif (way.exchange.is_waiting or codec.as_notice(s)) and \
                    way.until <= time.monotonic():
                self._failed(way, sis.reason(p))


def _marks(s: codec.Segment) -> Tuple[int, ...]:
    """What tells a U_PDU from others that wait for a confirmation."""
    return (s.application, s.id, s.number, *(codec.as_notice(s) or ()))
