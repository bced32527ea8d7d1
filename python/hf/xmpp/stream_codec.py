# SPDX-License-Identifier: GPL-3.0-or-later
"""Stanzas as one stream of text (XEP-0365 0.3 over SLEP): one stanza after the other, without a
stream header (XEP-0361). What is between them is ours.

A stream has records, each with an octet 0 after it, which no XML has. A record that begins with <
is a stanza. Others are notices: a letter and a number in decimal digits.

    s NUMBER  the next stanza has this number, and each later one the next number
    a NUMBER  all stanzas up to this number, of the other direction, are on disk

Each direction is one zlib stream (RFC 1950) with codec.DICTIONARY, flushed after each group of
records. A group is the length of its octets, and the octets. The length has seven bits in an
octet, the lowest first, and the highest bit says that more follow. The four octets that end each
flush are not sent, as in RFC 7692 7.2.1.
"""
import re
from typing import Iterator, List, NamedTuple, Optional, Union
import zlib

from . import codec, stanza

#: Longest group, octets. A flush of the longest stanza has fewer.
MAX_GROUP = (1 << 21) - 1
#: Text that is taken out of the compressed stream at once.
_PIECE = 65536
_NUMBER = re.compile(rb"([sa])(0|[1-9][0-9]{0,17})")


class Broken(Exception):
    """The octets are no such stream. The text says why."""


class Acknowledged(NamedTuple):
    """All stanzas up to a number are on the far disk."""

    number: int


#: What a stream brings. The ID of Arrived is the whole number.
Found = Union[codec.Arrived, Acknowledged]


def started(number: int) -> bytes:
    """Record: the number of the next stanza."""
    return b"s%d" % number


def acknowledged(number: int) -> bytes:
    """Record: all up to a number have arrived."""
    return b"a%d" % number


class Writer:
    """The outgoing direction of one stream."""

    def __init__(self) -> None:
        self._coder = codec.Coder(codec.DICTIONARY)

    def group(self, records: List[bytes]) -> bytes:
        """The octets of records."""
        octets = self._coder.flushed(b"".join(record + b"\0" for record in records))
        return _length(len(octets)) + octets


def _length(number: int) -> bytes:
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes([*made, number])


class Reader:
    """The incoming direction of one stream, from octets as they arrive."""

    def __init__(self, max_octets: int) -> None:
        """max_octets: of a stanza."""
        self._max_octets = max_octets
        self._zlib = zlib.decompressobj(zdict=codec.DICTIONARY)
        self._length = self._shift = 0  # of the next group, as far as it has arrived
        self._left = 0  # octets of this group
        self._record = b""
        self._is_too_long = False
        self._number: Optional[int] = None

    def read(self, octets: bytes) -> Iterator[Found]:
        """What some octets complete. Raises Broken."""
        while octets:
            if self._left == 0:
                octets = self._begin(octets)
                continue
            part, octets = octets[:self._left], octets[self._left:]
            self._left -= len(part)
            yield from self._inflated(part if self._left else part + codec.FLUSH)

    def _begin(self, octets: bytes) -> bytes:
        """The length of a group."""
        self._length |= (octets[0] & 127) << self._shift
        self._shift += 7
        if octets[0] < 128:
            self._left, self._length, self._shift = self._length, 0, 0
        if self._length > MAX_GROUP or self._shift > 14 or octets[0] == 0:
            raise Broken("a group of this length is not allowed")
        return octets[1:]

    def _inflated(self, octets: bytes) -> Iterator[Found]:
        while octets:
            try:
                text = self._zlib.decompress(octets, _PIECE)
            except zlib.error as error:
                raise Broken(str(error)) from None
            if self._zlib.eof:
                raise Broken("the compressed stream has ended")
            octets = self._zlib.unconsumed_tail
            *whole, rest = text.split(b"\0")
            for part in whole:
                self._add(part)
                yield from self._taken()
            self._add(rest)

    def _add(self, part: bytes) -> None:
        if len(self._record) + len(part) > self._max_octets:
            self._record, self._is_too_long = self._record[:1] or part[:1], True
        elif not self._is_too_long:
            self._record += part

    def _taken(self) -> Iterator[Found]:
        record, is_too_long = self._record, self._is_too_long
        self._record, self._is_too_long = b"", False
        if record[:1] != b"<":
            found = None if is_too_long else _NUMBER.fullmatch(record)
            if found is None:
                raise Broken("neither a stanza nor a notice")
            if found.group(1) == b"s":
                self._number = int(found.group(2))
            else:
                yield Acknowledged(int(found.group(2)))
            return
        if self._number is None:
            raise Broken("a stanza without a number")
        number, self._number = self._number, self._number + 1
        if is_too_long:
            yield codec.Arrived(number, None, f"longer than {self._max_octets} octets")
            return
        try:
            yield codec.Arrived(number, stanza.read(record, self._max_octets))
        except stanza.StanzaError as error:
            yield codec.Arrived(number, None, str(error))
