# SPDX-License-Identifier: GPL-3.0-or-later
"""A running gateway as an operator sees it on the page: its mails, and a new one to send."""
from email import policy as email_policy
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
import time
from typing import Any, Dict, List

from . import policy
from .gateway import Gateway
from .hmtp import Mail, domain_of
from .spool import QUEUES, STATES

#: Longest text of a mail from the page, octets of UTF-8, longest subject, characters, and most
#: recipients.
MAX_TEXT, MAX_SUBJECT, MAX_RECIPIENTS = 10_000, 200, 20
#: Waiting mails that are listed, the oldest. The rest is only counted.
MAX_LISTED = 50


class Desk:
    """Any thread may use it."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def take(self) -> Dict[str, Any]:
        """For JSON. sender: proposed for new mails. waiting: as in hf mail list, the oldest first.
        more: waiting mails that are not listed. done: mails that have left, the newest first."""
        now, waiting = time.time(), []  # type: float, List[Dict[str, Any]]
        for queue in QUEUES:
            for mail in self._gateway.spool.entries(queue):
                waiting.append({
                    "id": mail.id, "state": STATES[queue], "octets": mail.octets,
                    "age_s": round(max(now - mail.arrived, 0)), "error": mail.error,
                    "way": f"{mail.protocol} {mail.node}".strip(), "sender": mail.sender,
                    "recipients": list(mail.recipients)})
        domain = next((d for d in self._gateway.settings.domains if not d.startswith(".")), "")
        return {"sender": f"operator@{domain}" if domain else "",
                "domains": [r.domain for r in self._gateway.settings.route],
                "waiting": waiting[:MAX_LISTED], "more": len(waiting[MAX_LISTED:]),
                "done": self._gateway.recent()}

    def send(self, sender: Any, to: Any, subject: Any, text: Any) -> None:
        """Accept a new mail. to: addresses, with commas between them. Raises ValueError that names
        what is allowed, or why the gateway refuses the mail."""
        recipients = [r.strip() for r in str(to)[:10_000].split(",") if r.strip()]
        if not isinstance(text, str) or not 1 <= len(text.strip().encode()) <= MAX_TEXT:
            raise ValueError(f"mail: allowed are 1 to {MAX_TEXT} octets of text")
        if not isinstance(subject, str) or len(subject) > MAX_SUBJECT:
            raise ValueError(f"subject: allowed are up to {MAX_SUBJECT} characters")
        if not 1 <= len(recipients) <= MAX_RECIPIENTS:
            raise ValueError(f"recipients: allowed are 1 to {MAX_RECIPIENTS} addresses")
        domains = self._gateway.settings.domains
        if not isinstance(sender, str) or \
                not any(policy.fits(domain_of(sender), d) for d in domains):
            allowed = ", ".join(domains) or "no domain"
            raise ValueError(f"sender: allowed are addresses of {allowed} (domains in [mail])")
        for recipient in recipients:
            refusal = self._gateway.check_for_hf(recipient)
            if refusal is not None:
                raise ValueError(f"{recipient[:320]}: {refusal.text}")
        reply = self._gateway.accept(Mail(sender, list(dict.fromkeys(recipients)),
                                          _octets(sender, recipients, subject, text)))
        if reply.code >= 300:
            raise ValueError(str(reply))


def _octets(sender: str, recipients: List[str], subject: str, text: str) -> bytes:
    mail = EmailMessage(policy=email_policy.SMTP)
    try:
        mail["From"] = sender
        mail["To"] = ", ".join(recipients)
        mail["Subject"] = " ".join(subject.split())
    except Exception as error:  # the parser of addresses raises many kinds
        raise ValueError(f"header of the mail: {error}") from None
    mail["Date"] = formatdate(localtime=False)
    mail["Message-ID"] = make_msgid(domain=domain_of(sender))
    mail.set_content(text.strip() + "\n")
    return mail.as_bytes()
