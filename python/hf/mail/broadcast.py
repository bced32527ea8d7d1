# SPDX-License-Identifier: GPL-3.0-or-later
"""Mail to a group of receivers that stay silent: application/batch-SMTP (RFC 2442) by UDOP, as
Annex F.5 proposes.

The MIME object is the file of a BFTP message (Annex F.10), which gives its length. It is sent
without ARQ, and repeated by the node as often as the route says. Receivers deliver it and answer
nothing. Copies are dropped by Message-ID.
"""
import time
from typing import List, Optional

from .. import sis
from ..sis import s5066
from . import hmtp
from .carrier import Carrier
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

    def start_exchange(self, node: str, mails: List[Envelope]) -> None:
        """Send mails to a group. They count as delivered when the node has them."""
        for mail in mails:
            data = self.work.data(mail)
            if data is None or self.client is None:
                continue
            octets = object_of(self.work.name, Mail(mail.sender, mail.recipients, data))
            message = s5066.bftp_message(f"{mail.id}.bsmtp".encode(), octets)
            u_pdus = s5066.rcop_segments(0, self.work.file_number(node), s5066.APP_BFTP, message,
                                         self.client.mtu)
            self.repeats = self.work.repeats(node)
            self.submit(node, u_pdus, mail.priority)
            self.work.settled(mail, {r: _SENT for r in mail.recipients})

    def delivery(self, asks: bool) -> object:
        """Delivery mode of a U_PDU: there is no confirmation."""
        return sis.service("non_arq", retransmissions=self.repeats)

    def arrived(self, node: str, u_pdu: bytes) -> None:
        """Part of a MIME object."""
        message = self._assembler.u_pdu_in(time.monotonic(), s5066.address(node), self.sap, u_pdu)
        file = s5066.decode_bftp(message.data) if message is not None \
            and message.application == s5066.APP_BFTP else None
        octets = session_of(file[2]) if file is not None else None
        if octets is None:
            return
        session = hmtp.Session(self.work.name, self.work.check, self.work.settings.max_octets)
        session.take(octets)
        for found in session.transactions:
            self.work.receive(node, self.protocol, found)
            self.work.decide([found], 0.0)
