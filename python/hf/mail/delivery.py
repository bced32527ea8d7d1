# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands a mail to the mail server by SMTP, one command at a time: since 3.9 Postfix refuses
clients that do not wait for its greeting and its answer to EHLO."""
import smtplib
import socket
from typing import Callable, List, Tuple

from .hmtp import Outcome, Reply

#: Seconds that the mail server may take for each reply.
TIMEOUT_S = 60.0


def _reply(answer: Tuple[int, bytes]) -> Reply:
    code, text = answer
    words = " ".join(text.decode("ascii", "replace").split())[:200]
    # A server that closes the connection has code -1.
    return Reply(code, words) if 200 <= code <= 599 else Reply(451, "4.4.2 " + words)


def deliver(server: Tuple[str, int], name: str, sender: str, recipients: List[str], data: bytes,
            timeout: float = TIMEOUT_S,
            kept: Callable[[List[str]], None] = lambda recipients: None) -> Outcome:
    """Deliver a mail. Returns a reply for each recipient: 4xx if the server cannot be reached.
    Never raises. name: of this gateway in EHLO. kept: called at once when the server has said 250
    for the mail, with its recipients. The session ends after that."""
    outcome: Outcome = {}
    try:
        with smtplib.SMTP(server[0], server[1], name, timeout) as mta:
            _session(mta, sender, recipients, data, outcome, kept)
    except (smtplib.SMTPException, socket.error, ValueError) as error:
        code = getattr(error, "smtp_code", 0)
        words = " ".join(str(getattr(error, "strerror", None) or error).split())
        failed = Reply(code if 400 <= code <= 599 else 451,
                       f"4.4.1 mail server {server[0]}:{server[1]}: {words}"[:200])
        for recipient in recipients:
            outcome.setdefault(recipient, failed)
    return outcome


def _session(mta: smtplib.SMTP, sender: str, recipients: List[str], data: bytes,
             outcome: Outcome, kept: Callable[[List[str]], None]) -> None:
    mta.ehlo_or_helo_if_needed()
    options = []
    if mta.has_extn("8bitmime") and any(octet > 127 for octet in data):
        options.append("BODY=8BITMIME")
    if mta.has_extn("size"):
        options.append(f"SIZE={len(data)}")
    refused = _reply(mta.mail(sender, options))
    if refused.code >= 400:
        outcome.update({r: refused for r in recipients})
        return
    accepted = []
    for recipient in recipients:
        reply = _reply(mta.rcpt(recipient))
        if reply.code >= 400:
            outcome[recipient] = reply
        else:
            accepted.append(recipient)
    if not accepted:
        return
    reply = _reply(mta.data(data))
    outcome.update({r: reply for r in accepted})
    if reply.code < 400:
        kept(accepted)
