# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for stanzas: which pass over HF, which are left out, and which are answered here."""
import copy
import datetime
from typing import Iterable, Optional, Sequence

from . import stanza
from .stanza import Element

MUC = "http://jabber.org/protocol/muc"
PING, VERSION = "urn:xmpp:ping", "jabber:iq:version"
DISCO = "http://jabber.org/protocol/disco#info"
DELAY = "urn:xmpp:delay"
_SUBSCRIPTIONS = ("subscribe", "subscribed", "unsubscribe", "unsubscribed")


def reduced(s: Element, drop: Sequence[str]) -> Optional[Element]:
    """A stanza without what brings too little. None: nothing is left. The stanza is changed."""
    if stanza.kind_of(s) == "iq":
        return s
    had = len(s)
    for child in list(s):
        if child.tag.startswith("{") and child.tag[1:].partition("}")[0] in drop:
            s.remove(child)
        child.tail = None
    s.text = None
    if stanza.kind_of(s) == "message" and len(s) == 0 and had:
        return None
    only_thread = len(s) == 1 and s[0].tag == f"{{{stanza.SERVER}}}thread"
    return None if only_thread and had > 1 else s


def presence_passes(s: Element, setting: str) -> bool:
    """Whether a presence stanza may cross. A server broadcasts to bare addresses, and addresses
    occupants and directed presence in full."""
    if setting == "all":
        return s.get("type") != "probe"
    if setting == "none" or s.get("type") == "probe":
        return False
    return "/" in s.get("to", "") or s.get("type") in (*_SUBSCRIPTIONS, "error") \
        or stanza.find(s, MUC, "x") is not None


def rank(s: Element) -> int:
    """Order among stanzas that wait: chat first, presence last."""
    return {"message": 0, "iq": 1}.get(stanza.kind_of(s), 2)


def is_for_domain(s: Element) -> bool:
    """Whether a stanza is for a server, and not for one of its users."""
    to = s.get("to", "")
    return "@" not in to and "/" not in to


def query(s: Element) -> str:
    """Namespace of the question of an IQ get. Empty: another stanza."""
    if stanza.kind_of(s) != "iq" or s.get("type") != "get" or not len(s):
        return ""
    return str(s[0].tag[1:].partition("}")[0])


def cacheable(s: Element) -> str:
    """Key of a question to a server whose answer seldom changes. Empty: other stanzas."""
    of = query(s)
    if of not in (DISCO, VERSION) or not is_for_domain(s):
        return ""
    return f"{of} {s.get('to', '')} {s[0].get('node', '')}"


def answer(s: Element, payload: Iterable[Element] = ()) -> Element:
    """The result of an IQ."""
    result = stanza.made("iq", {"type": "result", "from": s.get("to", ""),
                                "to": s.get("from", ""), "id": s.get("id", "")})
    result.extend(payload)
    return result


def stamp(s: Element, written: float, by: str) -> None:
    """Say when a message was written (XEP-0203), unless it says so already."""
    if stanza.kind_of(s) == "message" and stanza.find(s, DELAY, "delay") is None:
        at = datetime.datetime.fromtimestamp(written, datetime.timezone.utc)
        child = stanza.child(s, DELAY, "delay", stamp=at.strftime("%Y-%m-%dT%H:%M:%SZ"))
        child.set("from", by)


def unstamped(s: Element) -> bytes:
    """The text by which two copies of a stanza are compared: the later one may have a stamp."""
    found = copy.deepcopy(s)
    for child in found.findall(f"{{{DELAY}}}delay"):
        found.remove(child)
    return stanza.write(found)


def refusal(s: Element, theirs: Sequence[str], ours: Sequence[str]) -> str:
    """Why a stanza from the air may not pass. theirs: domains of that peer. Empty: it may."""
    if stanza.domain(s.get("from", "")) not in theirs:
        return f"from '{s.get('from', '')[:100]}' is in no domain of this peer"
    if stanza.domain(s.get("to", "")) not in ours:
        return f"to '{s.get('to', '')[:100]}' is in no domain of ours"
    return ""
