# SPDX-License-Identifier: GPL-3.0-or-later
"""One copy for all occupants behind a far gateway of ours.

A room writes to each occupant. Stanzas that differ in "to" alone cross as one, to a domain of the
far gateway, with the occupants as hidden recipients of XEP-0033. The far gateway writes to each.
"""
import copy
import hashlib
from typing import List, Optional, Sequence, Tuple

from . import policy, stanza
from .stanza import Element

ADDRESS = "http://jabber.org/protocol/address"
MUC_USER = "http://jabber.org/protocol/muc#user"
#: Recipients of one stanza. A stanza of 64 kB makes 6 MB at the far side, one without a limit
#: made 40 MB.
MAX_OCCUPANTS = 100
#: Marks the name of a room among persons, for the journal. No address begins with it.
ROOM = "/"


def person(s: Element) -> str:
    """The name for the order of stanzas and for presence that replaces presence. For what a room
    writes to an occupant, it begins with ROOM."""
    sender, kind = s.get("from", ""), stanza.kind_of(s)
    room = ROOM if is_from_room(s) else ""
    if kind != "presence":
        return room + stanza.bare(sender)
    type_ = s.get("type", "")
    return f"{room}{sender}\n{s.get('to')}\n{'' if type_ == 'unavailable' else type_}"


def is_from_room(s: Element) -> bool:
    """Whether a room writes to one of its occupants."""
    if "/" not in s.get("to", "") or stanza.find(s, ADDRESS, "addresses") is not None:
        return False
    if stanza.kind_of(s) == "presence":
        return s.get("type") in (None, "unavailable") and \
            stanza.find(s, MUC_USER, "x") is not None
    return stanza.kind_of(s) == "message" and s.get("type") == "groupchat"


def alike(texts: Sequence[bytes]) -> Tuple[List[int], List[str]]:
    """Which of the stanzas that wait, the oldest first, are the first one to other occupants, and
    all occupants. One that would overtake another to the same occupant is left out."""
    found: List[int] = []
    to: List[str] = []
    others, first = set(), b""
    for number, text in enumerate(texts):
        s = stanza.read(text, 1 << 30)
        occupant = s.attrib.pop("to", "")
        digest = hashlib.sha256(stanza.write(s)).digest()
        first = first or digest
        if digest == first and occupant not in others and len(to) < MAX_OCCUPANTS:
            found.append(number)
            to.append(occupant)
        others.add(occupant)
    return found, to


def gathered(text: bytes, occupants: Sequence[str], domain: str) -> bytes:
    """One stanza for all of the occupants."""
    s = stanza.read(text, 1 << 30)
    s.set("to", domain)
    addresses = stanza.child(s, ADDRESS, "addresses")
    for jid in occupants:
        stanza.child(addresses, ADDRESS, "address", type="bcc", jid=jid)
    return stanza.write(s)


def spread(s: Element, ours: Sequence[str]) -> Optional[List[Element]]:
    """The stanza for each occupant. None: it is no such stanza. Recipients outside our domains
    are left out, and those after MAX_OCCUPANTS."""
    addresses = stanza.find(s, ADDRESS, "addresses")
    if addresses is None or not policy.is_for_domain(s) or stanza.kind_of(s) == "iq":
        return None
    jids = [a.get("jid", "") for a in addresses if a.get("type") == "bcc"]
    plain = copy.deepcopy(s)
    plain.remove(plain.findall(f"{{{ADDRESS}}}addresses")[0])
    found = []
    for jid in dict.fromkeys(jids[:MAX_OCCUPANTS]):
        if stanza.domain(jid) in ours:
            found.append(copy.deepcopy(plain))
            found[-1].set("to", jid)
    return found
