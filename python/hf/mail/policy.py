# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of the gateway: what passes, where to, how urgent it is, and when to try again."""
from email.message import Message
from email.parser import BytesHeaderParser
import random
import re
from typing import List, Optional, Sequence

from ..station.mail_tables import Mail as Settings
from ..station.mail_tables import MailRoute
from .hmtp import Reply, domain_of
from .spool import Envelope

#: Received lines of a mail until it counts as looping (RFC 5321 6.3), and those of this gateway.
MAX_RECEIVED, MAX_OWN_RECEIVED = 100, 3
#: Marks our Received lines.
MARK = "(hf mail)"
#: A mail of up to this many octets overtakes longer ones that wait for less than an hour.
SHORT_OCTETS, PATIENCE_S = 10_000, 3600
#: S5066 priority by MMHS-Primary-Precedence (RFC 6477): deferred, routine, priority, immediate,
#: flash, override. The steps are those of the IP client for precedence (Annex F.12).
PRECEDENCES = [0, 0, 2, 4, 6, 8]


def headers(data: bytes) -> Message:
    """The header of a mail. Never raises."""
    return BytesHeaderParser().parsebytes(data.partition(b"\r\n\r\n")[0][:1 << 20] + b"\r\n\r\n")


def fits(domain: str, pattern: str) -> bool:
    """Whether a domain is the pattern, ends in .PATTERN if that begins with a dot, or the pattern
    is *."""
    pattern = pattern.lower()
    return pattern == "*" or domain == pattern or (pattern.startswith(".")
                                                   and domain.endswith(pattern))


def route(settings: Settings, recipient: str) -> Optional[MailRoute]:
    """The route of a recipient, the first that fits; None: there is none."""
    domain = domain_of(recipient)
    return next((r for r in settings.route if fits(domain, r.domain)), None)


def refusal_from_hf(settings: Settings, recipient: str) -> Optional[Reply]:
    """The reply to a recipient that a node on HF names; None if it is accepted. Only the domains
    of this side are: the gateway is no relay."""
    if any(fits(domain_of(recipient), d) for d in settings.domains):
        return None
    return Reply(550, "5.7.1 not a domain of this gateway")


def loops(data: bytes, name: str) -> bool:
    """Whether a mail has passed too many relays, or this one too often."""
    lines = [str(line) for line in headers(data).get_all("Received", [])]
    own = re.compile(rf"\bby\s+{re.escape(name)}\s+{re.escape(MARK)}")
    return len(lines) >= MAX_RECEIVED or sum(bool(own.search(x)) for x in lines) \
        >= MAX_OWN_RECEIVED


def priority(data: bytes) -> int:
    """S5066 priority of a mail, from its header."""
    found = re.match(r"\s*([0-5])\b", str(headers(data).get("MMHS-Primary-Precedence", "")))
    return PRECEDENCES[int(found.group(1))] if found else 0


def in_order(mails: Sequence[Envelope], now: float) -> List[Envelope]:
    """Mails in the order to send them: by priority, short before long, old before new."""
    return sorted(mails, key=lambda e: (-e.priority, e.octets > SHORT_OCTETS
                                        and now - e.arrived < PATIENCE_S, e.arrived, e.id))


def batch(mails: Sequence[Envelope], now: float, max_mails: int, max_octets: int
          ) -> List[Envelope]:
    """The mails of the next session: of one priority, and not too many."""
    found: List[Envelope] = []
    for mail in in_order(mails, now):
        if found and (mail.priority != found[0].priority or len(found) >= max_mails
                      or sum(e.octets for e in found) + mail.octets > max_octets):
            break
        found.append(mail)
    return found


def pause(settings: Settings, attempts: int) -> float:
    """Seconds until the next attempt: twice the last pause, up to a limit, and a tenth of it at
    random, so that gateways that failed together do not call together."""
    longest = min(settings.retry_s * 2.0 ** min(max(attempts - 1, 0), 30), settings.retry_max_s)
    return longest * random.uniform(0.9, 1.0)


def received_line(envelope: Envelope, name: str, date: str) -> bytes:
    """Trace line for a mail that came over HF (RFC 5321 4.4)."""
    return (f"Received: from [{envelope.node}]\r\n\tby {name} {MARK} with "
            f"{envelope.protocol.upper()} id {envelope.id};\r\n\t{date}\r\n").encode()
