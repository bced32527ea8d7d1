# SPDX-License-Identifier: GPL-3.0-or-later
"""A client of a node for one SAP: what HMTP, CFTP and UDOP have in common.

A thread keeps the connection to the SIS server, submits U_PDUs as the node's flow control allows,
and passes on what arrives. Exchanges with one node happen one after the other, or the next begins
while the answer to the last one is awaited. Those with different nodes happen at the same time.
"""
from collections import OrderedDict, deque
from dataclasses import dataclass, field
import threading
import time
from typing import Any, Deque, Dict, List, Optional

from .. import sis
from ..sis import s5066
from ..station.mail_tables import Mail as Settings, MailRoute
from . import policy
from .hmtp import Mail, Outcome, Reply, Transaction
from .spool import Envelope

#: Longest pause between attempts to reach the SIS server, s.
MAX_RECONNECT_S = 60.0
#: Seconds without a confirmation by the node, until an exchange has failed. At 75 bit/s a U_PDU
#: takes four minutes.
STUCK_S = 3600.0
#: Mails in one exchange, and their octets: as many as the exchange before took BATCH_S for, s,
#: between these limits. A longer mail is alone. Short exchanges waste turns: with 10 kB each,
#: mails of 2 kB used 73 % of 1200 bit/s. In long ones an urgent mail waits for the others.
BATCH_MAILS, BATCH_S, MIN_BATCH_OCTETS, MAX_BATCH_OCTETS = 100, 30.0, 10_000, 1_000_000
#: Answers of a node that belong to no exchange, after which the present one has failed. One may be
#: late. More are guesses of its tag or number.
MAX_WRONG_ANSWERS = 2
#: Nodes whose last exchange is remembered.
MAX_NODES = 100
#: U_PDUs that may wait for the node's flow control. More answers are dropped: their clients ask
#: again.
MAX_WAITING = 10_000


@dataclass(eq=False)
class Exchange:
    """Mails on their way to a node.

    waiting: U_PDUs that the node has not confirmed.
    begun: time of the start, or of the end of the exchange before. touched: of the start, or of
        the last confirmation.
    state: what the protocol keeps, for example the answer so far.
    wrong_answers: from the node since the start, for another exchange or for none.
    """

    node: str
    mails: List[Envelope]
    waiting: List[bytes]
    state: Any = None
    begun: float = field(default_factory=time.monotonic)
    touched: float = field(default_factory=time.monotonic)
    wrong_answers: int = 0


@dataclass
class _Submission:
    node: str
    u_pdu: bytes
    priority: int
    mode: Any


class Work:
    """What a carrier asks of the gateway, which implements it."""

    settings: Settings
    name = ""

    def due(self, protocol: str, busy: List[str]) -> Dict[str, List[Envelope]]:
        """Mails that may be sent now, by node, without those of busy nodes."""
        raise NotImplementedError

    def data(self, mail: Envelope) -> Optional[bytes]:
        """Octets of a mail to send; None if an operator has dropped it."""
        raise NotImplementedError

    def settled(self, mail: Envelope, outcome: Outcome) -> None:
        """What has become of each recipient of a mail."""
        raise NotImplementedError

    def failed(self, node: str, mails: List[Envelope], why: str) -> None:
        """The node could not be reached, or did not answer: try later."""
        raise NotImplementedError

    def check(self, recipient: str) -> Optional[Reply]:
        """Reply that refuses a recipient from HF; None: accepted."""
        raise NotImplementedError

    def receive(self, node: str, protocol: str, arrived: Transaction) -> None:
        """Take a mail from HF. Sets its outcome now or later, on another thread."""
        raise NotImplementedError

    def decide(self, arrived: List[Transaction], wait_s: float) -> None:
        """Wait for the mail server, but no longer than wait_s: then the gateway itself answers
        for the mails."""
        raise NotImplementedError

    def bounce(self, mail: Mail, failed: Outcome, node: str) -> None:
        """Tell the sender of a mail from a node what failed, if mail for it goes to this node."""
        raise NotImplementedError

    def file_number(self, node: str) -> int:
        """Number of the next file for a node, 0 to 255. They follow each other also after a
        restart: a late acknowledgement is not mistaken for one of another file."""
        raise NotImplementedError

    def broadcast(self, node: str) -> MailRoute:
        """The route of a broadcast."""
        raise NotImplementedError

    def reached(self, node: str) -> None:
        """Something has arrived from a node: it can be reached."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Log a line."""
        raise NotImplementedError


class Carrier(threading.Thread):
    """Base of the carriers. A subclass names its protocol and SAP, and implements
    start_exchange() and arrived()."""

    protocol = ""
    sap = 0
    mode = "arq"
    order = "in_order"

    def __init__(self, work: Work, server: str, rank: int = 0) -> None:
        super().__init__(name=f"mail {self.protocol}", daemon=True)
        self.work, self.server, self.rank = work, server, rank
        self.client: Optional[sis.Client] = None
        #: Exchanges that have begun, by node, the oldest first. No list is empty.
        self.exchanges: Dict[str, List[Exchange]] = {}
        #: Octets that took BATCH_S in the last exchange, by node.
        self._batches: "OrderedDict[str, int]" = OrderedDict()
        self._submissions: Deque[_Submission] = deque()
        self._end = threading.Event()

    # --- for subclasses -------------------------------------------------------------------------

    def start_exchange(self, node: str, mails: List[Envelope]) -> None:
        """Begin to send mails to a node: begin() an Exchange."""
        raise NotImplementedError

    def may_begin(self, node: str) -> bool:
        """Whether an exchange with a node may begin now."""
        return node not in self.exchanges

    def arrived(self, node: str, u_pdu: bytes) -> None:
        """A U_PDU has arrived from a node."""
        raise NotImplementedError

    def tick(self, now: float) -> None:
        """Called several times a second."""

    def batch(self, node: str, mails: List[Envelope]) -> List[Envelope]:
        """The mails of the next exchange with a node."""
        octets = min(max(self._batches.get(node, 0), MIN_BATCH_OCTETS), MAX_BATCH_OCTETS)
        return policy.batch(mails, time.time(), BATCH_MAILS, octets)

    def begin(self, exchange: Exchange) -> None:
        """Keep an exchange that begins, and submit its U_PDUs."""
        self.exchanges.setdefault(exchange.node, []).append(exchange)
        self.submit(exchange.node, exchange.waiting, exchange.mails[0].priority, asks=True)

    def all_begun(self) -> List[Exchange]:
        """The exchanges with all nodes that have begun."""
        return [exchange for begun in self.exchanges.values() for exchange in begun]

    def submit(self, node: str, u_pdus: List[bytes], priority: int, asks: bool = False) -> None:
        """Submit U_PDUs when the node takes them. asks: the last one asks for the far client's
        confirmation, with which the far node says so if no client is bound there. That takes a
        D_PDU more, which an answer saves."""
        for u_pdu in u_pdus if len(self._submissions) < MAX_WAITING else []:
            self._submissions.append(_Submission(node, u_pdu, priority,
                                                 self.delivery(asks and u_pdu is u_pdus[-1])))

    def delivery(self, asks: bool) -> Any:
        """Delivery mode of a U_PDU. asks: for the far client's confirmation."""
        return sis.service(self.mode, "client" if asks else "node", self.order)

    def finish(self, exchange: Exchange) -> None:
        """End an exchange. The subclass has said what became of its mails."""
        begun = self.exchanges.get(exchange.node, [])
        if exchange in begun:
            begun.remove(exchange)
            now = time.monotonic()
            octets = sum(mail.octets for mail in exchange.mails)
            time_s = max(now - exchange.begun, 1e-3)
            self._batches[exchange.node] = int(BATCH_S * octets / time_s)
            for later in begun:
                later.begun = now
            if not begun:
                del self.exchanges[exchange.node]
            self._batches.move_to_end(exchange.node)
            if len(self._batches) > MAX_NODES:
                self._batches.popitem(last=False)
        self._submissions = deque(s for s in self._submissions
                                  if s.node != exchange.node
                                  or not any(s.u_pdu is u for u in exchange.waiting))

    def fail(self, exchange: Exchange, why: str) -> None:
        """End an exchange that is to be repeated, and those with its node that began after it."""
        begun = self.exchanges.get(exchange.node, [])
        if exchange not in begun:
            return  # it failed with one before it
        failed = begun[begun.index(exchange):]
        mails = [mail for each in failed for mail in self.unsettled(each)]
        for each in failed:
            self.finish(each)
        self.work.failed(exchange.node, mails, why)

    def unsettled(self, exchange: Exchange) -> List[Envelope]:
        """The mails of an exchange of which nobody knows yet what has become."""
        return exchange.mails

    def wrong_answer(self, exchange: Exchange) -> None:
        """The node has sent an answer that belongs to another exchange, or to none."""
        exchange.wrong_answers += 1
        if exchange.wrong_answers >= MAX_WRONG_ANSWERS:
            self.fail(exchange, f"{MAX_WRONG_ANSWERS} answers that belong to no exchange")

    # --- the thread -----------------------------------------------------------------------------

    def end(self) -> None:
        """End the thread, and wait for it."""
        self._end.set()
        self.join()

    def run(self) -> None:
        """Connect, work, and connect again after the connection was lost."""
        failures = 0
        while not self._end.is_set():
            try:
                with sis.Client(self.server) as client:
                    self.client = client
                    client.bind(self.sap, self.rank, sis.service(self.mode, order=self.order),
                                self._end)
                    failures = 0
                    while not self._end.is_set():
                        self._step(client)
            except Exception as error:  # of whatever kind: mail must go on
                if self._end.is_set():
                    break
                failures += 1
                known = isinstance(error, (sis.SisError, OSError))
                self._lost(str(error) if known else repr(error), failures)
                self._end.wait(min(2.0 ** min(failures, 10) / 2, MAX_RECONNECT_S))
            finally:
                self.client = None

    def _lost(self, why: str, failures: int) -> None:
        if failures == 1:
            self.work.say(f"{self.protocol}: {why}")
        self._submissions.clear()
        for begun in list(self.exchanges.values()):
            self.fail(begun[0], why)

    def _step(self, client: sis.Client) -> None:
        while self._submissions:
            first = self._submissions[0]
            if not client.send(first.node, first.u_pdu, self.sap, first.mode, first.priority,
                               timeout=0.0):
                break
            self._submissions.popleft()
        primitive = client.next(timeout=0.05)
        while primitive is not None:
            self._take(primitive)
            primitive = client.next(timeout=0.0)
        now = time.monotonic()
        self.tick(now)
        self._check_times(now)
        self._begin_due()

    def _begin_due(self) -> None:
        busy = [node for node in self.exchanges if not self.may_begin(node)]
        for node, mails in self.work.due(self.protocol, busy).items():
            begun = self.exchanges.get(node, [])
            held = {mail.id for exchange in begun for mail in exchange.mails}
            mails = [mail for mail in mails if mail.id not in held]
            # The node sends the urgent first, and an exchange must not come into another.
            if mails and begun and max(m.priority for m in mails) != begun[-1].mails[0].priority:
                continue
            if mails:
                self.start_exchange(node, self.batch(node, mails))

    def _take(self, p: Any) -> None:
        if isinstance(p, s5066.s_unidata_indication):
            # Without ARQ anybody can send one U_PDU in the name of any node.
            if p.src_sap == self.sap and (self.mode != "arq"
                                          or p.mode == s5066.transmission_mode.arq):
                node = str(p.src)
                if not self.work.settings.hears(node):
                    return
                self.work.reached(node)
                self.arrived(node, p.u_pdu)
        elif isinstance(p, (s5066.s_unidata_request_confirm, s5066.s_unidata_request_rejected)):
            # A node may shorten the U_PDU in its confirmation.
            found = next(((e, u) for e in self.exchanges.get(str(p.dst), []) for u in e.waiting
                          if p.u_pdu and u.startswith(p.u_pdu)), None)
            if found is None:
                return  # an answer of ours: its client asks again
            exchange, u_pdu = found
            if isinstance(p, s5066.s_unidata_request_rejected):
                self.fail(exchange, sis.reason(p))
            else:
                exchange.waiting = [u for u in exchange.waiting if u is not u_pdu]
                exchange.touched = time.monotonic()

    def _check_times(self, now: float) -> None:
        answer_s = self.work.settings.answer_s
        for exchange in self.all_begun():
            quiet = now - exchange.touched
            if not exchange.waiting and quiet > answer_s:
                self.fail(exchange, f"no answer within {answer_s:g} s")
            elif exchange.waiting and quiet > STUCK_S:
                self.fail(exchange, f"not transferred within {STUCK_S:g} s")
