# SPDX-License-Identifier: GPL-3.0-or-later
"""Mail to a group of receivers that stay silent: application/batch-SMTP (RFC 2442) by UDOP, as
Annex F.5 proposes.

The MIME object is the file of a BFTP message (Annex F.10), which gives its length. It is sent
without ARQ, and repeated by the node as often as the route says. Receivers deliver it and answer
nothing. Copies are dropped by Message-ID. With the loss of its route a mail goes in erasure-coded
blocks instead (sis/coded.py), which only our receivers read.
"""
from collections import deque
import math
import time
from typing import Deque, List, Optional, Tuple

from .. import sis
from ..sis import coded, s5066
from . import hmtp
from .carrier import Carrier, Exchange
from .hmtp import Mail, Reply
from .spool import Envelope

TYPE = b"application/batch-SMTP"
_HEADER = b"Content-Type: " + TYPE + b"\r\n\r\n"
_SENT = Reply(250, "sent")


def object_of(name: str, mail: Mail) -> bytes:
    """The MIME object of a mail: a session of a client that waits for nothing."""
    return _HEADER + hmtp.block(name, [mail])


def session_of(octets: bytes) -> Optional[bytes]:
    """The session in a MIME object; None if the object is another."""
    header, gap, session = octets.partition(b"\r\n\r\n")
    kind = header.lower().partition(b"content-type:")[2].split(b"\r\n")[0].split(b";")[0].strip()
    return session if gap and kind == TYPE.lower() else None


class BroadcastCarrier(Carrier):
    """Sends and receives batch-SMTP by UDOP."""

    protocol = "broadcast"
    sap = s5066.SAP_UDOP
    mode = "non_arq"
    order = "as_they_arrive"

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self._assembler = s5066.rcop_assembler()
        self._blocks = coded.Collector(lambda node, octets, why: self.work.say(
            f"broadcast: mail of {octets} octets from {node}: {why}"))

    def start_exchange(self, node: str, mails: List[Envelope]) -> None:
        """Send mails to a group. They count as delivered when the node has them."""
        route = self.work.broadcast(node)
        coded_groups: Deque[Tuple[Envelope, List[bytes]]] = deque()
        for mail in mails:
            data = self.work.data(mail)
            if data is None or self.client is None:
                continue
            octets = object_of(self.work.name, Mail(mail.sender, mail.recipients, data))
            message = s5066.bftp_message(f"{mail.id}.bsmtp".encode(), octets)
            if route.loss > 0:
                try:
                    coded_groups.extend((mail, u_pdus) for u_pdus in coded.groups(
                        message, self.client.mtu, route.loss / 100))
                except (ValueError, RuntimeError) as error:
                    self.work.settled(mail, {r: Reply(552, str(error)) for r in mail.recipients})
                continue
            u_pdus = s5066.rcop_segments(0, self.work.file_number(node), s5066.APP_BFTP, message,
                                         self.client.mtu)
            self.repeats = route.repeats
            self.submit(node, u_pdus, mail.priority)
            self.work.settled(mail, {r: _SENT for r in mail.recipients})
        if coded_groups:
            left = list({mail.id: mail for mail, _ in coded_groups}.values())
            self.begin(Exchange(node, left, [], (coded_groups, -math.inf)))

    def tick(self, now: float) -> None:
        """Submit the coded groups that are due, each for a transmission of its own."""
        for exchange in self.all_begun():
            exchange.touched = now  # nobody answers
            groups, last = exchange.state
            if now - last < self.work.broadcast(exchange.node).interval_s:
                continue
            mail, u_pdus = groups.popleft()
            exchange.state = groups, now
            self.repeats = 0
            self.submit(exchange.node, u_pdus, mail.priority)
            if not groups or groups[0][0] is not mail:
                exchange.mails.remove(mail)
                self.work.settled(mail, {r: _SENT for r in mail.recipients})
            if not groups:
                self.finish(exchange)

    def delivery(self, asks: bool) -> object:
        """Delivery mode of a U_PDU: there is no confirmation."""
        return sis.service("non_arq", retransmissions=self.repeats)

    def arrived(self, node: str, u_pdu: bytes) -> None:
        """Part of a MIME object."""
        message = self._assembler.u_pdu_in(time.monotonic(), s5066.address(node), self.sap, u_pdu)
        data = None
        if message is not None and message.application == s5066.APP_BFTP:
            data = message.data
        elif message is not None and message.application == coded.APP_CODED:
            data = self._blocks.take(node, message.data)
        file = s5066.decode_bftp(data) if data is not None else None
        octets = session_of(file[2]) if file is not None else None
        if octets is None:
            return
        session = hmtp.Session(self.work.name, self.work.check, self.work.settings.max_octets)
        session.take(octets)
        for found in session.transactions:
            self.work.receive(node, self.protocol, found)
            self.work.decide([found], 0.0)
