# SPDX-License-Identifier: GPL-3.0-or-later
"""HMTP at a node: our client and our server share SAP 3.

U_PDUs of a node arrive in order, and each side submits a session or an answer as a whole. So a
U_PDU that arrives continues what its node has begun, or begins a session or an answer.
"""
from dataclasses import dataclass
import secrets
import time
from typing import Dict, List, Optional, Set

from . import hmtp
from .carrier import MAX_NODES, Carrier, Exchange
from .spool import Envelope

#: Our sessions with one node at a time: one on its way while the answer to another is awaited.
MAX_BEGUN = 2
#: Sessions of other nodes at a time.
MAX_SESSIONS = 16
#: Seconds without a U_PDU until a session is answered as far as it goes, or is dropped.
QUIET_S, FORGET_S = 60.0, 6 * 3600.0
#: Seconds that the reply to QUIT may be missing after all others.
QUIT_S = 10.0
#: Seconds that an answer waits for what the mail server says. A node begins to transmit 0.1 to
#: 0.2 s after a reception: a later answer needs a turn more, which costs more than a rare bounce.
VERDICT_S = 0.12

_NO_UTF8 = hmtp.Reply(550, "5.6.7 the far gateway does not offer SMTPUTF8")


@dataclass
class _Served:
    """A session of another node. handed: mails that the gateway has."""

    session: hmtp.Session
    touched: float
    handed: int = 0


class HmtpCarrier(Carrier):
    """Client and server of HMTP."""

    protocol = "hmtp"
    sap = hmtp.SAP

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self._served: Dict[str, _Served] = {}
        #: Nodes whose server repeats tags, the newest last.
        self._with_tags: Dict[str, None] = {}
        #: Nodes whose server has offered SMTPUTF8.
        self._with_utf8: Set[str] = set()

    # --- client ---------------------------------------------------------------------------------

    def start_exchange(self, node: str, mails: List[Envelope]) -> None:
        """Send mails to a node in one session. Whether its server takes SMTPUTF8 is asked before,
        in a session without a mail."""
        found = [(e, self.work.data(e)) for e in mails]
        sent = [(e, hmtp.Mail(e.sender, e.recipients, data, e.utf8)) for e, data in found
                if data is not None]
        if not sent or self.client is None:
            return
        name = f"{secrets.token_hex(3)}.{self.work.name}"
        mails_sent = [mail for _, mail in sent]
        if node not in self._with_utf8 and any(mail.utf8 for mail in mails_sent):
            sent, mails_sent = [(e, mail) for e, mail in sent if mail.utf8], []
        u_pdus = hmtp.u_pdus(hmtp.block(name, mails_sent), self.client.mtu)
        self.begin(Exchange(node, [e for e, _ in sent], u_pdus, hmtp.Answer(name, mails_sent)))

    def may_begin(self, node: str) -> bool:
        """Whether a session may begin: a second one when the node has the whole of the first, and
        the far server repeats tags. An answer could belong to either, otherwise."""
        begun = self.exchanges.get(node, [])
        return not begun or (len(begun) < MAX_BEGUN and node in self._with_tags
                             and not any(s.node == node for s in self._submissions))

    def _answered(self, exchange: Exchange) -> None:
        """The answer to a session is complete."""
        self.finish(exchange)
        utf8, outcomes = exchange.state.utf8, exchange.state.outcomes
        if utf8:
            self._with_utf8.add(exchange.node)
        elif utf8 is not None:
            self._with_utf8.discard(exchange.node)
        if not outcomes and not utf8:  # only asked for SMTPUTF8
            outcomes = [{} if utf8 is None else {r: _NO_UTF8 for r in e.recipients}
                        for e in exchange.mails]
        for envelope, outcome in zip(exchange.mails, outcomes):
            self.work.settled(envelope, outcome)

    # --- both -----------------------------------------------------------------------------------

    def arrived(self, node: str, u_pdu: bytes) -> None:
        """Part of a session or of an answer."""
        begins = hmtp.SESSION_START.match(u_pdu)
        exchange = None if begins else self._answered_by(node, u_pdu)
        if exchange is not None:
            exchange.touched = time.monotonic()
            exchange.state.take(u_pdu)
            if exchange.state.complete:
                self._answered(exchange)
        elif node in self._served and not begins:
            self._serve(node, self._served[node], u_pdu)
        elif hmtp.REPLIES.match(u_pdu):
            if node in self.exchanges:
                self.wrong_answer(self.exchanges[node][0])
        else:
            session = hmtp.Session(self.work.name, self.work.check,
                                   self.work.settings.max_octets)
            self._serve(node, _Served(session, time.monotonic()), u_pdu)

    def _answered_by(self, node: str, u_pdu: bytes) -> Optional[Exchange]:
        """The exchange with a node whose answer begins or goes on with a U_PDU."""
        begun = self.exchanges.get(node, [])
        replies = hmtp.REPLIES.match(u_pdu)
        tagged = [e for e in begun if e.state.is_mine(u_pdu)] if replies else []
        if tagged:
            self._with_tags[node] = None
            if len(self._with_tags) > MAX_NODES:
                del self._with_tags[next(iter(self._with_tags))]
            return tagged[0]
        for exchange in begun:
            if exchange.state.begun:
                return exchange
        # A server of another maker repeats no tag.
        untagged = replies and begun and begun[0].state.is_mine(u_pdu) is None
        return begun[0] if untagged and node not in self._served else None

    # --- server ---------------------------------------------------------------------------------

    def _serve(self, node: str, served: _Served, u_pdu: bytes) -> None:
        self._served.pop(node, None)
        self._served[node] = served  # the last one is the newest
        while len(self._served) > MAX_SESSIONS:
            del self._served[next(iter(self._served))]
        served.touched = time.monotonic()
        session = served.session
        session.take(u_pdu)
        for found in session.transactions[served.handed:]:
            self.work.receive(node, self.protocol, found)
        served.handed = len(session.transactions)
        if session.over:
            self.work.decide(session.transactions, VERDICT_S)
            self._answer(node, served)

    def _answer(self, node: str, served: _Served) -> None:
        """Send all replies of a session that are not sent yet."""
        assert self.client is not None
        self.submit(node, hmtp.u_pdus(served.session.answer(), self.client.mtu), 0)
        if served.session.over:
            del self._served[node]

    def tick(self, now: float) -> None:
        """Answer sessions that do not go on, and forget them. Settle one of ours whose server
        does not send the last reply."""
        for exchange in self.all_begun():
            if exchange.state.enough and now - exchange.touched > QUIT_S:
                self._answered(exchange)
        for node, served in list(self._served.items()):
            quiet = now - served.touched
            if quiet > FORGET_S:
                del self._served[node]
            elif quiet > QUIET_S and not served.session.inside_mail:
                self.work.decide(served.session.transactions, 0.0)
                self._answer(node, served)
