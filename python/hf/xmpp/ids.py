# SPDX-License-Identifier: GPL-3.0-or-later
"""Random IDs in fewer octets, between two of our gateways.

Clients choose UUIDs, whose 32 or 36 characters compress badly: they are most of a short message.
Base64 needs 22, and the far gateway makes the same ID again, so that receipts fit. An ID that
begins with a mark by chance has a mark added.
"""
import base64
import re
from typing import Callable

from .stanza import Element

_HEX = re.compile("[0-9a-f]{32}")
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SHORT = re.compile("[A-Za-z0-9_-]{22}")
#: Marks of 32 digits, of a UUID with its dashes, and of an ID that begins with a mark.
HEX, UUID, MARKED = ".", ":", "!"


def shorter(id_: str) -> str:
    """An ID as it is sent."""
    mark = HEX if _HEX.fullmatch(id_) else UUID if _UUID.fullmatch(id_) else ""
    if mark:
        octets = bytes.fromhex(id_.replace("-", ""))
        return mark + base64.urlsafe_b64encode(octets).decode().rstrip("=")
    return MARKED + id_ if id_[:1] in (HEX, UUID, MARKED) and id_ else id_


def longer(id_: str) -> str:
    """The ID of what was sent."""
    mark, rest = id_[:1], id_[1:]
    if mark == MARKED:
        return rest
    if mark in (HEX, UUID) and _SHORT.fullmatch(rest):
        d = base64.urlsafe_b64decode(rest + "==").hex()
        return d if mark == HEX else f"{d[:8]}-{d[8:12]}-{d[12:16]}-{d[16:20]}-{d[20:]}"
    return id_


def change(s: Element, by: Callable[[str], str]) -> None:
    """Change all IDs of a stanza, also those that refer to others, as in receipts."""
    for element in s.iter():
        if "id" in element.attrib:
            element.set("id", by(element.attrib["id"]))
