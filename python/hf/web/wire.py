# SPDX-License-Identifier: GPL-3.0-or-later
"""The request and the answer as octets on a stream. This layout is our own.

A request is:

    1 octet    2 (the version) + 4 * mode (0 text, 1 pictures, 2 file)
               + 16 * method (0 GET, 1 POST)
               + 32 if the asker has a page to refer to + 64 if it has all pictures of that page
    varint     most octets of the answer, in units of 1000; 0: no limit
    8 octets   digest of the page to refer to, if there is one
    varint     length of what follows
    rest       brotli: the address, for a POST a zero octet and the form's octets

An answer is one brotli stream, flushed after each part. A part is one octet with its kind, a
varint with its length, and its octets:

    H   JSON: url (if it is not the one asked for), title, lang, rtl, status, cut, file (octets of
        a document that is no HTML)
    S   same: the page referred to is still right; nothing follows
    T   main text, R the rest: lines of markup (reduce.py), see encode_lines(); in several parts
    L   addresses of the links in T, M of those in R, as lines in the same way
    P   picture: varint number, varint width, varint height, WebP
    K   pictures kept: pairs of varints, the number here and in the page referred to
    F   octets of the document as it is, in several parts; the only ones between H and E
    E   end, JSON: pictures and octets that did not fit into the limit
    X   error: text for the reader

Varints are as in LEB128: 7 bits an octet, the least significant first.
"""
import hashlib
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

import brotli

VERSION = 2
#: Ways to read a page, and the document as it is.
MODES = ("text", "pictures", "file")
#: Longest request and part, and longest answer after decompression, octets.
MAX_REQUEST, MAX_PART, MAX_ANSWER = 65536, 4 << 20, 32 << 20
#: Longest part that is no text: of the head, the end or an error.
MAX_NOTE = 16384
#: Most lines and characters of a page, with its links and all lines that it takes from another
#: page. A part of 12 octets can name thousands of those.
MAX_LINES, MAX_CHARACTERS = 100_000, 4_000_000
#: Octets that are decompressed at once, since a few octets can grow to megabytes.
_SLICE = 16
#: First octet of a line that stands for lines of the page referred to.
_COPY = "\x01"


class WireError(ValueError):
    """Octets that no asker or shore side sends."""


class Request(NamedTuple):
    """What a reader asks for.

    url: address. form: octets of a POST, or None. mode: of MODES. budget: most octets of the
    answer in units of 1000, 0 without limit. reference: digest of a page that the asker has, or
    empty. complete: it has all pictures of that page, too.
    """

    url: str
    mode: str = "text"
    budget: int = 0
    reference: bytes = b""
    complete: bool = False
    form: Optional[bytes] = None


def varint(number: int) -> bytes:
    """A number from 0 as a varint."""
    octets = bytearray()
    while number > 127:
        octets.append(number & 127 | 128)
        number >>= 7
    octets.append(number)
    return bytes(octets)


def read_varint(data: bytes, at: int) -> Tuple[int, int]:
    """A varint at a place, and the place after it. Raises IndexError if it is cut, WireError if
    it is longer than 5 octets."""
    number = 0
    for shift in range(0, 35, 7):
        number |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return number, at
    raise WireError("a number has more than 5 octets")


def decompress(data: bytes, most: int) -> bytes:
    """Octets of a brotli stream. Raises WireError if it is none, is cut, or holds more."""
    out, stream = bytearray(), brotli.Decompressor()
    try:
        for at in range(0, len(data), _SLICE):
            out += stream.process(data[at:at + _SLICE])
            if len(out) > most:
                raise WireError(f"more than {most} octets")
        if not stream.is_finished():
            raise WireError("cut")
    except brotli.error:
        raise WireError("not brotli") from None
    return bytes(out)


def encode_request(request: Request) -> bytes:
    """A request as octets."""
    post = request.form is not None
    first = VERSION | MODES.index(request.mode) << 2 | post << 4 | \
        bool(request.reference) << 5 | request.complete << 6
    text = request.url.encode() + (b"\0" + request.form if request.form is not None else b"")
    packed = brotli.compress(text, mode=brotli.MODE_TEXT)
    return bytes([first]) + varint(request.budget) + request.reference + varint(len(packed)) + \
        packed


def decode_request(data: bytes) -> Optional[Request]:
    """The request at the start of a stream; None while it is incomplete. Raises WireError."""
    if not data:
        return None
    first = data[0]
    if first & 3 != VERSION or first >> 2 & 3 >= len(MODES) or first & 128:
        raise WireError("a request of another version")
    try:
        budget, at = read_varint(data, 1)
        reference = data[at:at + 8] if first & 32 else b""
        length, at = read_varint(data, at + len(reference))
    except IndexError:
        return None
    if length > MAX_REQUEST:
        raise WireError(f"a request of more than {MAX_REQUEST} octets")
    if len(data) < at + length:
        return None
    url, _, form = decompress(data[at:at + length], MAX_REQUEST).partition(b"\0")
    try:
        return Request(url.decode(), MODES[first >> 2 & 3], budget, reference, bool(first & 64),
                       form if first & 16 else None)
    except UnicodeDecodeError:
        raise WireError("an address that is not UTF-8") from None


def digest(sections: Dict[str, List[str]]) -> bytes:
    """What a page is referred to by: its text and links as they were sent."""
    text = "\0".join("\n".join(sections.get(kind, [])) for kind in "TLRM")
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8]


def encode_lines(lines: List[str], reference: List[str]) -> bytes:
    """Lines as octets. A run of lines that stands in the reference is written as octet 1, the
    number of its first line and its length, all in one line."""
    places: Dict[str, int] = {}
    for place, line in enumerate(reference):
        places.setdefault(line, place)
    out: List[str] = []
    at = 0
    while at < len(lines):
        place = places.get(lines[at])
        length = 0
        while place is not None and at + length < len(lines) and \
                lines[at + length:at + length + 1] == reference[place + length:place + length + 1]:
            length += 1
        copy = f"{_COPY}{place},{length}"
        if length and sum(map(len, lines[at:at + length])) + length > len(copy) + 1:
            out.append(copy)
            at += length
        else:
            out.append(lines[at].replace("\n", " ").replace(_COPY, ""))
            at += 1
    return "\n".join(out).encode("utf-8", "replace")


class Room:
    """What one page may still have: lines, and their characters with an end for each line."""

    def __init__(self) -> None:
        self.lines, self.characters = MAX_LINES, MAX_CHARACTERS

    def fits(self, lines: List[str]) -> bool:
        """Whether there is room for further lines. Then it is theirs."""
        size = sum(map(len, lines)) + len(lines)
        if len(lines) > self.lines or size > self.characters:
            return False
        self.lines -= len(lines)
        self.characters -= size
        return True

    def take(self, lines: List[str]) -> None:
        """Give room to further lines. Raises WireError if there is none."""
        if not self.fits(lines):
            raise WireError(f"a page of more than {MAX_LINES} lines or {MAX_CHARACTERS} "
                            "characters")


def decode_lines(data: bytes, reference: List[str], room: Room) -> List[str]:
    """Lines from octets. Raises WireError for lines that the reference does not have, or for which
    there is no room."""
    lines: List[str] = []
    if not data:
        return lines
    for line in data.decode("utf-8", "replace").split("\n"):
        if not line.startswith(_COPY):
            room.take([line])
            lines.append(line)
            continue
        try:
            place, length = (int(number) for number in line[1:].split(","))
        except ValueError:
            raise WireError("a copy of lines without their numbers") from None
        if place < 0 or length < 1 or place + length > len(reference):
            raise WireError("a copy of lines that the page referred to does not have")
        copied = reference[place:place + length]
        room.take(copied)
        lines += copied
    return lines


class Encoder:
    """Parts of an answer as octets."""

    def __init__(self) -> None:
        self._stream = brotli.Compressor(mode=brotli.MODE_TEXT)
        self.octets = 0

    def part(self, kind: str, data: bytes) -> bytes:
        """One part, so that the other side can use it when these octets are there."""
        out = self._stream.process(kind.encode() + varint(len(data)) + data)
        out += self._stream.flush()
        self.octets += len(out)
        return out

    def end(self) -> bytes:
        """The end of the answer."""
        out = self._stream.finish()
        self.octets += len(out)
        return out


class Decoder:
    """Octets of an answer to parts."""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()
        self._buffer = bytearray()
        self._total = 0

    def feed(self, data: bytes) -> Iterator[Tuple[str, bytes]]:
        """Parts that are complete with further octets. Raises WireError."""
        for at in range(0, len(data), _SLICE):
            piece = data[at:at + _SLICE]
            try:
                found = self._stream.process(piece)
            except brotli.error:
                raise WireError("the answer is not brotli") from None
            self._total += len(found)
            self._buffer += found
            if self._total > MAX_ANSWER:
                raise WireError(f"an answer of more than {MAX_ANSWER} octets")
            yield from self._parts()

    def _parts(self) -> Iterator[Tuple[str, bytes]]:
        while self._buffer:
            try:
                length, at = read_varint(self._buffer, 1)
            except IndexError:
                return
            if length > MAX_PART:
                raise WireError(f"a part of more than {MAX_PART} octets")
            if len(self._buffer) < at + length:
                return
            kind, data = chr(self._buffer[0]), bytes(self._buffer[at:at + length])
            del self._buffer[:at + length]
            yield kind, data

    @property
    def finished(self) -> bool:
        """Whether the end of the answer has arrived, and nothing is left over."""
        return self._stream.is_finished() and not self._buffer
