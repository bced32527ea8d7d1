# SPDX-License-Identifier: GPL-3.0-or-later
"""Octets of pages to text, as browsers do it: the labels of the WHATWG Encoding Standard, and a
replacement character for what is wrong."""
import re
from typing import Optional
import zlib

#: Encodings that pages may have, by the names of Python, and their labels in the standard besides
#: those that differ only by hyphens, underscores and case.
_LABELS = {
    "utf-8": "unicode11utf8 unicode20utf8 utf8 xunicode20utf8",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": "csisolatin2 iso88592 isoir101 l2 latin2",
    "iso8859-3": "csisolatin3 iso88593 isoir109 l3 latin3",
    "iso8859-4": "csisolatin4 iso88594 isoir110 l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso88595 isoir144",
    "iso8859-6": "arabic asmo708 csisolatinarabic ecma114 iso88596 iso88596e iso88596i isoir127",
    "iso8859-7": "csisolatingreek ecma118 elot928 greek greek8 iso88597 isoir126 suneugreek",
    "iso8859-8": "csisolatinhebrew hebrew iso88598 iso88598e iso88598i isoir138 visual logical",
    "iso8859-10": "csisolatin6 iso885910 isoir157 l6 latin6",
    "iso8859-13": "iso885913", "iso8859-14": "iso885914", "iso8859-16": "iso885916",
    "iso8859-15": "csisolatin9 iso885915 l9",
    "koi8-r": "cskoi8r koi koi8 koi8r", "koi8-u": "koi8ru koi8u",
    "mac-roman": "csmacintosh mac macintosh xmacroman",
    "cp874": "dos874 iso885911 tis620 windows874",
    "cp1250": "cp1250 windows1250 xcp1250", "cp1251": "cp1251 windows1251 xcp1251",
    "cp1252": "ansix341968 ascii cp1252 cp819 csisolatin1 ibm819 iso88591 isoir100 l1 latin1"
              " usascii windows1252 xcp1252",
    "cp1253": "cp1253 windows1253 xcp1253",
    "cp1254": "cp1254 csisolatin5 iso88599 isoir148 l5 latin5 windows1254 xcp1254",
    "cp1255": "cp1255 windows1255 xcp1255", "cp1256": "cp1256 windows1256 xcp1256",
    "cp1257": "cp1257 windows1257 xcp1257", "cp1258": "cp1258 windows1258 xcp1258",
    "mac-cyrillic": "xmaccyrillic xmacukrainian",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb2312 gb231280 gbk isoir58 xgbk gb18030",
    "big5hkscs": "big5 big5hkscs cnbig5 csbig5 xxbig5",
    "euc-jp": "cseucpkdfmtjapanese eucjp xeucjp", "iso2022-jp": "csiso2022jp iso2022jp",
    "cp932": "csshiftjis ms932 mskanji shiftjis sjis windows31j xsjis",
    "cp949": "cseuckr csksc56011987 euckr isoir149 korean ksc5601 ksc56011987 ksc56011989"
             " windows949",
    "utf-16-be": "unicodefffe utf16be", "utf-16-le": "csunicode iso10646ucs2 ucs2 unicode"
                                                     " unicodefeff utf16 utf16le"}
_NAMES = {label: name for name, labels in _LABELS.items() for label in labels.split()}
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))
#: A declaration within a page, and where it counts, octets.
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_META_WITHIN = 1024


def encoding_of(label: Optional[str]) -> Optional[str]:
    """Python's name of an encoding. None: browsers do not know the label."""
    return _NAMES.get(re.sub(r"[-_:.\s]", "", (label or "").lower()))


def decode(octets: bytes, charset: Optional[str] = None, html: bool = True) -> str:
    """Text of a page. charset: of the HTTP header, if it has one. html: look for a declaration in
    the page. Raises nothing."""
    for mark, name in _MARKS:
        if octets.startswith(mark):
            return octets[len(mark):].decode(name, "replace")
    name_of_page = encoding_of(charset)
    if name_of_page is None and html:
        meta = _META.search(octets[:_META_WITHIN])
        name_of_page = encoding_of(meta[1].decode("ascii", "replace")) if meta else None
        if name_of_page is not None and name_of_page.startswith("utf-16"):
            name_of_page = "utf-8"  # it could not have been read as that
    if name_of_page is None:
        try:
            octets.decode("utf-8")
            name_of_page = "utf-8"
        except UnicodeDecodeError as error:
            # A page that is cut within a character is UTF-8 too.
            name_of_page = "utf-8" if error.reason == "unexpected end of data" else "cp1252"
    return octets.decode(name_of_page, "replace")


class Unpacker:
    """Uncompresses the body of an answer. Several members of gzip are one body."""

    def __init__(self, coding: str) -> None:
        """coding: gzip, x-gzip or deflate."""
        self._bits = 47 if "gzip" in coding else 15
        self._unpack = zlib.decompressobj(self._bits)
        self._members = 0
        self._begun = False  # a member has begun and not ended

    @property
    def is_whole(self) -> bool:
        """Whether the compressed body has ended where it may end."""
        return not self._begun

    def push(self, piece: bytes, most: int) -> bytes:
        """Uncompressed octets, at most this number. Raises zlib.error."""
        out = bytearray()
        while piece and len(out) < most:
            try:
                out += self._unpack.decompress(piece, most - len(out))
            except zlib.error:
                if self._members and not self._begun:
                    return bytes(out)  # what follows the last member is no part of the page
                raise
            self._begun = True
            if not self._unpack.eof:
                break
            self._members += 1
            self._begun, piece = False, self._unpack.unused_data
            if piece:
                self._unpack = zlib.decompressobj(self._bits)
        return bytes(out)
