# SPDX-License-Identifier: GPL-3.0-or-later
"""Delivery status notifications (RFC 3464): mails that tell a sender what failed."""
from email import policy as email_policy
from email.message import Message
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.mime.text import MIMEText
from email.utils import formatdate, make_msgid
import re
from typing import Dict

from .hmtp import Mail, Outcome, Reply

#: Longest part of a failed mail in a bounce, octets of its header.
MAX_HEADER = 1000


def _status(reply: Reply) -> str:
    """Enhanced status code of a reply (RFC 3463)."""
    found = re.match(r"([245]\.\d{1,3}\.\d{1,3})\b", reply.text)
    return found.group(1) if found else f"{reply.code // 100}.0.0"


def notification(name: str, mail: Mail, failed: Outcome) -> Mail:
    """The mail for the sender of a mail that failed for some recipients. name: of this
    gateway. The start of the mail's header goes along, its body does not: the sender has it, and
    a bounce must not carry a forger's text to others."""
    report = MIMEMultipart("report", report_type="delivery-status")
    report["From"] = f"Mail over HF <MAILER-DAEMON@{name}>"
    report["To"] = mail.sender
    report["Subject"] = "Mail could not be delivered"
    report["Date"] = formatdate(localtime=False)
    report["Message-ID"] = make_msgid(domain=name)
    report["Auto-Submitted"] = "auto-replied"
    lines = [f"The mail gateway {name} could not deliver your mail to:", ""]
    lines += [f"  {recipient}\n    {reply}" for recipient, reply in failed.items()]
    text = "\n".join(lines) + "\n"
    report.attach(MIMEText(text, "plain", "us-ascii" if text.isascii() else "utf-8"))
    report.attach(_machine_part(name, failed))
    header = MIMENonMultipart("text", "rfc822-headers")
    start = mail.data.partition(b"\r\n\r\n")[0][:MAX_HEADER]
    header.set_payload(start.decode("ascii", "replace").replace("\ufffd", "?")
                       .replace("\r\n", "\n") + "\n")
    report.attach(header)
    utf8 = not mail.sender.isascii()
    data = report.as_bytes(policy=email_policy.SMTPUTF8 if utf8 else email_policy.SMTP)
    return Mail("", [mail.sender], data, utf8)


def _machine_part(name: str, failed: Outcome) -> Message:
    """message/delivery-status: a group of fields for the gateway, one for each recipient."""
    groups = [_fields({"Reporting-MTA": f"dns; {name}"})]
    groups += [_fields({"Final-Recipient": _recipient(recipient), "Action": "failed",
                        "Status": _status(reply), "Diagnostic-Code": f"smtp; {reply}"})
               for recipient, reply in failed.items()]
    part = MIMEMessage(groups[0], "delivery-status")
    part.set_payload(groups)
    return part


def _recipient(address: str) -> str:
    """An address with its type, in ASCII (RFC 6533 3)."""
    if address.isascii():
        return f"rfc822; {address}"
    return "utf-8; " + re.sub(r"[^ -~]", lambda m: f"\\x{{{ord(m.group()):X}}}", address)


def _fields(values: Dict[str, str]) -> Message:
    group = Message()
    for name, value in values.items():
        group[name] = re.sub(r"[^ -~]", "?", value)
    return group
