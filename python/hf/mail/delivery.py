# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands a mail to the mail server by SMTP, one command at a time: since 3.9 Postfix refuses
clients that do not wait for its greeting and its answer to EHLO.

smtplib reads an address as a header field, in which a comment can hide the domain. So its commands
MAIL and RCPT are not used: the mail server gets the address that the gateway has checked.
"""
import select
import smtplib
import socket
import threading
import time
from typing import Callable, List, Tuple

from ..plain_text import plain
from .hmtp import Outcome, Reply, stuffed, with_crlf

#: Seconds until the mail server has taken the connection.
CONNECT_S = 60.0
#: Seconds that the mail server may take for a reply, by command (RFC 5321 4.5.3.2). The dot
#: ends a mail: a client that gives up too early sends a copy of a mail that the server has.
REPLY_S = {"": 300.0, "mail": 300.0, "rcpt": 300.0, "data": 120.0, ".": 600.0, "quit": 30.0}
#: Octets of the mail that are sent at a time, and seconds for them.
BLOCK, BLOCK_S = 1 << 16, 180.0
#: Seconds between two looks at given_up.
LOOK_S = 0.2


class _Server(smtplib.SMTP):
    """A connection to the mail server that waits for replies as long as RFC 5321 demands."""

    def __init__(self, server: Tuple[str, int], name: str, given_up: threading.Event) -> None:
        self.command, self._given_up = "", given_up
        super().__init__(server[0], server[1], name, CONNECT_S)

    def putcmd(self, cmd: str, args: str = "") -> None:
        """Send a command."""
        self.command = cmd.lower()
        super().putcmd(cmd, args)

    def getreply(self) -> Tuple[int, bytes]:
        """The reply to the last command."""
        wait_s = REPLY_S.get(self.command, REPLY_S[""])
        end = time.monotonic() + wait_s
        while self.sock and not select.select([self.sock], [], [], LOOK_S)[0]:
            if self._given_up.is_set() or time.monotonic() > end:
                self.close()
                raise TimeoutError("the gateway ends" if self._given_up.is_set()
                                   else f"no reply within {wait_s:g} s")
        return super().getreply()

    def send_mail(self, data: bytes) -> Tuple[int, bytes]:
        """Send a mail with its dot, and wait for the reply."""
        self.sock.settimeout(BLOCK_S)
        text = stuffed(data)
        for at in range(0, len(text), BLOCK):
            self.send(text[at:at + BLOCK])
        self.command = "."
        return self.getreply()


def _reply(answer: Tuple[int, bytes]) -> Reply:
    code, text = answer
    words = plain(" ".join(text.decode("ascii", "replace").split()))[:200]
    # A server that closes the connection has code -1.
    return Reply(code, words) if 200 <= code <= 599 else Reply(451, "4.4.2 " + words)


def deliver(server: Tuple[str, int], name: str, sender: str, recipients: List[str], data: bytes,
            given_up: threading.Event, kept: Callable[[List[str]], None],
            utf8: bool = False) -> Outcome:
    """Deliver a mail. Returns a reply for each recipient: 4xx if the server cannot be reached.
    Never raises. name: of this gateway in EHLO. given_up: ends the wait for a reply. kept: called
    at once when the server has said 250 for the mail, with its recipients. The session ends after
    that. utf8: the mail needs SMTPUTF8."""
    outcome: Outcome = {}
    try:
        with _Server(server, name, given_up) as mta:
            mta.command_encoding = "utf-8" if utf8 else "ascii"
            _session(mta, sender, recipients, with_crlf(data), outcome, kept)
    except (smtplib.SMTPException, socket.error, ValueError) as error:
        code = getattr(error, "smtp_code", 0)
        words = " ".join(str(getattr(error, "strerror", None) or error).split())
        failed = Reply(code if 400 <= code <= 599 else 451,
                       f"4.4.1 mail server {server[0]}:{server[1]}: {words}"[:200])
        for recipient in recipients:
            outcome.setdefault(recipient, failed)
    return outcome


def _session(mta: _Server, sender: str, recipients: List[str], data: bytes,
             outcome: Outcome, kept: Callable[[List[str]], None]) -> None:
    mta.ehlo_or_helo_if_needed()
    options = ""
    if mta.command_encoding == "utf-8":
        if not mta.has_extn("smtputf8"):
            refused = Reply(550, "5.6.7 the mail server does not offer SMTPUTF8")
            outcome.update({r: refused for r in recipients})
            return
        options = " SMTPUTF8"
    if mta.has_extn("8bitmime") and any(octet > 127 for octet in data):
        options += " BODY=8BITMIME"
    if mta.has_extn("size"):
        options += f" SIZE={len(data)}"
    refused = _reply(mta.docmd("MAIL", f"FROM:<{sender}>{options}"))
    if refused.code >= 400:
        outcome.update({r: refused for r in recipients})
        return
    accepted = []
    for recipient in recipients:
        reply = _reply(mta.docmd("RCPT", f"TO:<{recipient}>"))
        if reply.code >= 400:
            outcome[recipient] = reply
        else:
            accepted.append(recipient)
    if not accepted:
        return
    ready = _reply(mta.docmd("DATA"))
    if ready.code != 354:
        failed = ready if ready.code >= 400 else Reply(451, f"4.5.0 reply to DATA: {ready}"[:200])
        outcome.update({r: failed for r in accepted})
        return
    reply = _reply(mta.send_mail(data))
    outcome.update({r: reply for r in accepted})
    if reply.code < 400:
        kept(accepted)
