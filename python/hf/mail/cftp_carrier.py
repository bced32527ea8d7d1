# SPDX-License-Identifier: GPL-3.0-or-later
"""CFTP at a node: a file for each mail, each until it is acknowledged."""
import time
from typing import Dict, List, Optional

from ..sis import s5066
from . import cftp
from .carrier import Carrier, Exchange
from .hmtp import Mail, Reply, Transaction
from .spool import Envelope

_DONE = Reply(250, "acknowledged")


class CftpCarrier(Carrier):
    """Sends and receives files of CFTP."""

    protocol = "cftp"
    sap = cftp.SAP

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self._assembler = cftp.Assembler(2 * self.work.settings.max_octets)

    def start_exchange(self, node: str, mails: List[Envelope]) -> None:
        """Send the files of mails, which the far node acknowledges each by its number."""
        if self.client is None:
            return
        numbers: Dict[int, Envelope] = {}
        u_pdus: List[bytes] = []
        for mail in mails:
            file = self._file(mail)
            if file is not None:
                number = self.work.file_number(node)
                numbers[number] = mail
                u_pdus += s5066.cftp_segments(0, number, mail.id.encode(), file, self.client.mtu)
        if numbers:
            self.begin(Exchange(node, list(numbers.values()), u_pdus, numbers))

    def _file(self, mail: Envelope) -> Optional[bytes]:
        data = self.work.data(mail)
        try:
            return None if data is None else cftp.file_of(
                mail.id, Mail(mail.sender, mail.recipients, data))
        except ValueError as error:
            refused = Reply(554, f"5.3.4 {error}")
            self.work.settled(mail, {r: refused for r in mail.recipients})
            return None

    def unsettled(self, exchange: Exchange) -> List[Envelope]:
        """The mails that are not acknowledged."""
        return list(exchange.state.values())

    def arrived(self, node: str, u_pdu: bytes) -> None:
        """An acknowledgement, or part of a file."""
        number = cftp.acknowledged(u_pdu)
        exchange = next(iter(self.exchanges.get(node, [])), None)
        if number is not None:
            mail = exchange.state.pop(number, None) if exchange is not None else None
            if exchange is not None and mail is not None:
                exchange.touched = time.monotonic()
                if not exchange.state:
                    self.finish(exchange)
                self.work.settled(mail, {r: _DONE for r in mail.recipients})
            elif exchange is not None:
                self.wrong_answer(exchange)
            return
        file = self._assembler.take(node, u_pdu, time.monotonic())
        if file is None:
            return
        mail_in = cftp.mail_of(file.file, self.work.settings.max_octets)
        if mail_in is None:
            self.work.say(f"cftp: file from {node} is damaged or too long; acknowledged and "
                          "dropped")
        elif not self._accepted(node, mail_in):
            return  # the sender repeats it
        self.submit(node, [s5066.cftp_acknowledgement(file.connection, file.u_pdu_id)], 0)

    def _accepted(self, node: str, mail: Mail) -> bool:
        """Give a mail to the gateway. CFTP cannot say what the mail server thinks of it."""
        refused = {r: reply for r in mail.recipients
                   if (reply := self.work.check(r)) is not None}
        accepted = [r for r in mail.recipients if r not in refused]
        if refused:
            self.work.bounce(mail, refused, node)
        if not accepted:
            return True
        found = Transaction(Mail(mail.sender, accepted, mail.data))
        self.work.receive(node, self.protocol, found)
        self.work.decide([found], 0.0)
        return all(reply.code < 400 or reply.code >= 500 for reply in found.outcome.values())
