# SPDX-License-Identifier: GPL-3.0-or-later
"""Short IDs of stanzas on HF, between two of our gateways.

Clients choose UUIDs, which compress badly: they are most of a short message. A stanza crosses with
a word of the gateway and a number instead. The far side sees that ID, and answers with it: in
receipts, errors, results, corrections and what a room reflects. This side puts the ID of the
client back.
"""
import string
from typing import Protocol

from .stanza import Element

#: IDs up to this length stay. A short one is not longer, so no second gateway changes it.
LONGEST_KEPT = 10
_DIGITS = string.ascii_letters + string.digits + "-_"


class Table(Protocol):
    """IDs of clients and their numbers, such as a journal."""

    word: str

    def id_number(self, original: str, new: bool) -> int:
        """Number of an ID: a new one if it has none and new is true, or -1."""

    def id_of(self, number: int) -> str:
        """The ID with a number. Empty if it is not known."""


def outward(s: Element, table: Table) -> None:
    """Put short IDs in a stanza for HF. What answers has the ID of what it answers."""
    asks = s.get("type") not in ("result", "error")
    for element in s.iter():
        id_ = element.get("id", "")
        is_long = len(id_) > LONGEST_KEPT or id_.startswith(table.word)
        number = table.id_number(id_, asks and element is s and is_long) if id_ else -1
        if number >= 0:
            element.set("id", table.word + written(number))


def inward(s: Element, table: Table) -> None:
    """Put the IDs of this side's clients back in a stanza."""
    for element in s.iter():
        id_ = element.get("id", "")
        if id_.startswith(table.word) and 0 < len(id_) - len(table.word) <= 10:
            original = table.id_of(number_of(id_[len(table.word):]))
            if original:
                element.set("id", original)


def written(number: int) -> str:
    """A number in few characters."""
    digits = ""
    while number or not digits:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits


def number_of(digits: str) -> int:
    """The number of such characters. -1: others are among them."""
    number = 0
    for digit in digits:
        if digit not in _DIGITS:
            return -1
        number = number * len(_DIGITS) + _DIGITS.index(digit)
    return number
