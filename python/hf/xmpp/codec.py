# SPDX-License-Identifier: GPL-3.0-or-later
"""Stanzas as messages of RCOP (XEP-0365 0.1): one stanza is one message, without a stream header.

A message has no mark for its end. The end tag of the stanza is the end.

With compression, the messages of one direction are one zlib stream (RFC 1950), flushed after each
stanza. The four octets that end each flush are the same, and are not sent, as in RFC 7692 7.2.1.
The two octets of header begin a new stream: no block that zlib writes begins with them.

Notices between two of our gateways are messages of another application, which others ignore. They
have two octets: the kind and the ID of a message.
"""
import re
from typing import Any, List, NamedTuple, Optional, Tuple
import zlib

from ..sis import s5066
from . import stanza

#: Application ID of stanzas, among those that are free. XEP-0365 names none, so none is asked for.
APP_XMPP = 0x8361
#: Application ID of notices.
APP_NOTICE = 0x8362
#: What a compressed stream may refer to from its first octet on, between two of our gateways: the
#: likely text is last. Never edited, since both sides need the same.
DICTIONARY = (
    b'<presence from="" to="" type="unavailable"><show>away</show><priority>0</priority><status>'
    b'</status><x xmlns="http://jabber.org/protocol/muc#user"><item affiliation="member" '
    b'role="participant"/></x></presence><presence from="" to="" type="subscribed"/>'
    b'<iq from="" to="" type="error" id="."><error type="cancel"><service-unavailable '
    b'xmlns="urn:ietf:params:xml:ns:xmpp-stanzas"/></error></iq><iq type="result"><query '
    b'xmlns="http://jabber.org/protocol/disco#info"/></iq><delay xmlns="urn:xmpp:delay" stamp="20'
    b'"/><thread></thread><message from="" to="" type="groupchat" id="."><body></body></message>'
    b'<message from="" to="" type="chat" id="."><received xmlns="urn:xmpp:receipts" id=".'
    b'"/></message><request xmlns="urn:xmpp:receipts"/></message>'
    b'<message from="@/" to="@" type="chat" xml:lang="en" id="."><body></body></message>')
#: A long text. In one of two ways to compress it has a block with a code of its own, and no short
#: repetitions: 1 kB of random digits take 558 octets instead of 665.
_BODY = re.compile(b"(?<=<body>)([^<]{100,})(?=</body>)")
#: The end of a flush.
FLUSH = b"\x00\x00\xff\xff"
#: The next message has this ID.
START = 0
#: The last message that has arrived has this ID. The later ones are to be sent again.
RESUME = 1
#: Messages before this ID are lost.
LOST = 2
#: No message has arrived since this side knows the other. All that are kept are to be sent again.
NOTHING = 3


class Segment(NamedTuple):
    """A received U_PDU of RCOP."""

    connection: int
    id: int
    number: int
    application: int
    data: bytes


class Arrived(NamedTuple):
    """A message that is complete. stanza is None if it was refused, and why says the reason."""

    id: int
    stanza: Optional[stanza.Element]
    why: str = ""


class ContextLost(Exception):
    """A message continues a compressed stream whose begin has not arrived."""


def segment(u_pdu: bytes) -> Optional[Segment]:
    """None if the U_PDU has no proper header."""
    found = s5066.decode_rcop(u_pdu)
    return Segment(*found) if found else None


def notice(connection: int, kind: int, id_: int) -> bytes:
    """U_PDU of a notice."""
    (u_pdu,) = s5066.rcop_segments(connection, id_ & 0xff, APP_NOTICE,
                                   bytes([kind, id_ & 0xff]))
    return u_pdu


def as_notice(s: Segment) -> Optional[Tuple[int, int]]:
    """Kind and ID of a notice."""
    if s.application != APP_NOTICE or len(s.data) != 2:
        return None
    return s.data[0], s.data[1]


class Coder:
    """A compressed stream, flushed after each part."""

    def __init__(self, dictionary: bytes) -> None:
        options = {"zdict": dictionary} if dictionary else {}
        strategies = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_FILTERED)
        self._coders = [zlib.compressobj(9, strategy=strategy, **options)  # type: ignore
                        for strategy in strategies]

    def flushed(self, text: bytes) -> bytes:
        """The shortest of several codings of a part, without the end of the flush. All coders have
        seen the same text, and a flushed block refers to the text before it, not to how that was
        coded."""
        whole, filtered, apart = self._coders
        parts = _BODY.split(text, maxsplit=1)
        coded = [coder.compress(text) + coder.flush(zlib.Z_SYNC_FLUSH)
                 for coder in (whole, filtered)]
        coded.append(b"".join(apart.compress(part) + apart.flush(
            zlib.Z_BLOCK if k + 1 < len(parts) else zlib.Z_SYNC_FLUSH)
            for k, part in enumerate(parts)))
        return min(coded, key=len)[:-len(FLUSH)]


class Packer:
    """The outgoing direction. reset() begins a new compressed stream."""

    def __init__(self, connection: int, compressed: bool, application: int = APP_XMPP,
                 dictionary: bytes = b"") -> None:
        self._connection, self._compressed = connection, compressed
        self._application, self._dictionary = application, dictionary
        self.reset()

    def reset(self) -> None:
        """The far side may have lost a message: do not refer to earlier ones."""
        self._coder = Coder(self._dictionary)

    def pack(self, id_: int, text: bytes, mtu: int) -> List[bytes]:
        """U_PDUs of a stanza."""
        if self._compressed:
            text = self._coder.flushed(text)
        return list(s5066.rcop_segments(self._connection, id_ & 0xff, self._application, text,
                                        mtu))


class Unpacker:
    """The incoming direction, from segments in order."""

    def __init__(self, compressed: bool, max_octets: int) -> None:
        self._compressed, self._max_octets = compressed, max_octets
        self._zlib: Any = None
        self._flush = b""  # to be added before the next message
        self._reader: Optional[stanza.Reader] = None
        self._at = (0, 0)
        self._has_dictionary = False
        #: A stanza has arrived in a stream with DICTIONARY: the far gateway is one of ours.
        self.is_ours = False

    def take(self, s: Segment) -> Optional[Arrived]:
        """The message that a segment completes. Raises ContextLost."""
        if s.number == 0:
            self._reader = stanza.Reader(self._max_octets)
            if self._compressed and s.data[:1] == b"\x78" and \
                    int.from_bytes(s.data[:2], "big") % 31 == 0:
                self._zlib, self._flush = zlib.decompressobj(zdict=DICTIONARY), b""
                self._has_dictionary = bool(s.data[1] & 0x20)
        elif self._reader is None or self._at != (s.id, s.number):
            self._lose()
            return None
        self._at = (s.id, s.number + 1)
        assert self._reader is not None
        try:
            found = self._reader.feed(self._inflate(s.data))
        except stanza.StanzaError as error:
            self._reader = None
            return Arrived(s.id, None, str(error))
        if found is None:
            return None
        self._reader = None
        self.is_ours = self.is_ours or self._has_dictionary
        self._flush = b"" if s.data.endswith(FLUSH) else FLUSH
        return Arrived(s.id, found)

    def _lose(self) -> None:
        """Drop what is incomplete. A compressed stream cannot go on without it."""
        self._reader = None
        if self._zlib is not None:
            self._zlib = None
            raise ContextLost()

    def _inflate(self, data: bytes) -> bytes:
        if not self._compressed:
            return data
        if self._zlib is None:
            self._reader = None
            raise ContextLost()
        try:
            text = self._zlib.decompress(self._flush + data, self._max_octets + 1)
            self._flush = b""
        except zlib.error:
            text, self._zlib = b"", None
            self._reader = None
        if self._zlib is None:
            raise ContextLost()
        if self._zlib.unconsumed_tail or self._zlib.eof or len(text) > self._max_octets:
            self._zlib = None
            raise stanza.StanzaError(f"longer than {self._max_octets} octets, or at the end of "
                                     "its compressed stream")
        return bytes(text)
