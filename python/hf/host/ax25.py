# SPDX-License-Identifier: GPL-3.0-or-later
"""UI frames of AX.25 2.2 without flags and check sequence, and their KISS framing."""
from typing import List, NamedTuple, Optional

from ..station import callsigns

#: Longest frame, octets: ten addresses and 1024 octets.
FRAME_MAX = 70 + 2 + 1024
FEND, FESC, TFEND, TFESC = 0xC0, 0xDB, 0xDC, 0xDD
#: Command of KISS: data that the TNC confirms by two octets of the program, as G8BPQ defines it.
ACKMODE = 0x0C


class Ui(NamedTuple):
    """A UI frame. via: digipeaters."""

    source: str
    to: str
    via: List[str]
    pid: int
    data: bytes


def _address(call: str, last: bool) -> bytes:
    name, _, suffix = call.partition("-")
    number = int(suffix or 0)
    if not 0 <= number <= 15 or not 1 <= len(name) <= 6 or not name.isalnum():
        raise ValueError(f"{call}: allowed are six letters and digits, and -0 to -15")
    return bytes(ord(c) << 1 for c in name.ljust(6)) + bytes([0x60 | number << 1 | last])


def encode(frame: Ui) -> bytes:
    """The octets of a UI frame. Raises ValueError for call signs that AX.25 has no room for."""
    calls = [frame.to, frame.source] + frame.via
    octets = b"".join(_address(c.upper(), c is calls[-1] and k == len(calls) - 1)
                      for k, c in enumerate(calls))
    return octets + bytes([0x03, frame.pid]) + frame.data


def decode(octets: bytes) -> Optional[Ui]:
    """The UI frame in octets. None: it is malformed or another kind of frame."""
    calls: List[str] = []
    end = 0
    while len(calls) < 10:
        part = octets[7 * len(calls):7 * len(calls) + 7]
        if len(part) < 7 or any(c & 1 for c in part[:6]):
            return None
        name = bytes(c >> 1 for c in part[:6]).decode("ascii", "replace").rstrip()
        if not name.isalnum() or not name.isascii():
            return None
        number = part[6] >> 1 & 15
        calls.append(f"{name}-{number}" if number else name)
        if part[6] & 1:
            end = 7 * len(calls)
            break
    if len(calls) < 2 or not end or len(octets) < end + 2 or octets[end] & 0xEF != 0x03 \
            or len(octets) > FRAME_MAX:
        return None
    return Ui(calls[1], calls[0], calls[2:], octets[end + 1], octets[end + 2:])


def kiss(frame: bytes, command: bytes = b"\0") -> bytes:
    """A frame for a program. command: by default data for KISS port 0."""
    body = (command + frame).replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc")
    return b"\xc0" + body + b"\xc0"


class Kiss(NamedTuple):
    """A KISS frame with data. mark: what answers it when it was sent, empty for none."""

    data: bytes
    mark: bytes = b""


def unkiss(octets: bytes) -> Optional[Kiss]:
    """The frame of data between two FEND, without or with a mark (ACKMODE). None: it is a command,
    empty or malformed."""
    body = bytearray()
    escaped = False
    for octet in octets:
        if escaped:
            if octet not in (TFEND, TFESC):
                return None
            body.append(FEND if octet == TFEND else FESC)
            escaped = False
        elif octet == FESC:
            escaped = True
        else:
            body.append(octet)
    if escaped or len(body) < 2:
        return None
    if body[0] & 0x0F == ACKMODE and len(body) > 3:
        return Kiss(bytes(body[3:]), bytes(body[:3]))
    return None if body[0] & 0x0F else Kiss(bytes(body[1:]))


def plain(call: str) -> str:
    """A call sign as AX.25 can have it. Raises ValueError."""
    call = callsigns.normal(call)
    _address(call, False)
    return call
