# SPDX-License-Identifier: GPL-3.0-or-later
"""First octets of a session between two stations.

The layout is our own choice. It claims no interoperability.

    caller -> called   VERSION | length, call sign of the caller | length, that of the called
    called -> caller   one octet, Answer

The data of each direction follow at once.
"""
import enum
from typing import NamedTuple, Optional

from ..station import callsigns

VERSION = 1
#: The longest greeting, octets: two call signs of ten characters.
LONGEST = 1 + 2 * (1 + 10)


class Answer(enum.IntEnum):
    """What the called station says."""

    ACCEPTED = 0
    NOBODY = 1  #: no program listens for the called call sign
    UNKNOWN = 2  #: the caller is not in the table of the called station
    BUSY = 3  #: the program is in another session
    VERSION = 4  #: the greeting is of another version or malformed


class Greeting(NamedTuple):
    """The two call signs of a session."""

    caller: str
    called: str


def encode(greeting: Greeting) -> bytes:
    """The octets of a greeting."""
    octets = bytearray([VERSION])
    for call in greeting:
        octets += bytes([len(call)]) + call.encode("ascii")
    return bytes(octets)


def length(octets: bytes) -> Optional[int]:
    """Length of the greeting at the start of octets. None: more octets are needed to know.

    At most LONGEST, also for octets that are no greeting.
    """
    end = 1
    for _ in range(2):
        if len(octets) <= end:
            return None
        end += 1 + octets[end]
        if end > LONGEST:
            return LONGEST
    return end


def decode(octets: bytes) -> Optional[Greeting]:
    """The greeting in octets. None: it is malformed or of another version."""
    if not octets or octets[0] != VERSION or length(octets) != len(octets):
        return None
    first = octets[2:2 + octets[1]]
    try:
        return Greeting(callsigns.normal(first.decode("ascii")),
                        callsigns.normal(octets[3 + octets[1]:].decode("ascii")))
    except (ValueError, IndexError):
        return None
