# SPDX-License-Identifier: GPL-3.0-or-later
"""CFTP (STANAG 5066 Annex F.14): each mail as a compressed file, acknowledged by its receiver.

The file is gzip of four fields, each but the last with a line feed after it: an ID, addresses with
commas between them of which the first is the sender, the octets of the last field, and the mail as
text of SMTP's DATA with its dot.
"""
import gzip
import io
import re
from typing import Dict, NamedTuple, Optional, Tuple
import zlib

from ..sis import s5066
from .hmtp import MAX_RECIPIENTS, Mail, good_path, stuffed, unstuffed

SAP = s5066.SAP_CFTP
#: Longest list of addresses, and of ID and size (F.14.5).
MAX_LIST, MAX_ID, MAX_SIZE_DIGITS = 10239, 255, 10
#: Files that are incomplete at a time, and seconds until one without a new segment is dropped.
MAX_PARTIAL, FORGET_S = 16, 6 * 3600.0


def file_of(id_: str, mail: Mail) -> bytes:
    """The compressed file of a mail. Raises ValueError if its addresses are too long."""
    addresses = ",".join([mail.sender, *mail.recipients])
    if len(addresses) > MAX_LIST:
        raise ValueError(f"{len(addresses)} octets of addresses: allowed are {MAX_LIST}")
    text = stuffed(mail.data)
    plain = f"{id_}\n{addresses}\n{len(text)}\n".encode() + text
    return gzip.compress(plain, 9, mtime=0)


def mail_of(file: bytes, max_octets: int) -> Optional[Mail]:
    """The mail of a compressed file; None if the file is damaged, or the mail longer than
    max_octets."""
    # Text of DATA may be twice as long as the mail, if all of it is dots.
    limit = 2 * max_octets + MAX_LIST + MAX_ID + MAX_SIZE_DIGITS + 16
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(file)) as packed:
            plain = packed.read(limit + 1)
    except (OSError, EOFError, zlib.error):
        return None
    fields = plain.split(b"\n", 3)
    if len(plain) > limit or len(fields) < 4:
        return None
    id_, addresses, size, text = fields
    if len(id_) > MAX_ID or len(addresses) > MAX_LIST or \
            not re.fullmatch(rb"[0-9]{1,10}", size.strip()) or int(size) > len(text):
        return None
    text = text[:int(size)]
    if text != b".\r\n" and not text.endswith(b"\r\n.\r\n"):
        return None
    sender, *recipients = [a.strip() for a in addresses.decode("ascii", "replace").split(",")]
    if not good_path(sender, empty=True) or not 0 < len(recipients) <= MAX_RECIPIENTS \
            or not all(map(good_path, recipients)):
        return None
    data = unstuffed(text[:-3])
    return Mail(sender, recipients, data) if len(data) <= max_octets else None


class Arrived(NamedTuple):
    """A file that is complete, with what its acknowledgement must repeat."""

    connection: int
    u_pdu_id: int
    file: bytes


class Assembler:
    """Files from the segments of all nodes."""

    def __init__(self, max_octets: int) -> None:
        self.max_octets = max_octets
        self._partial: Dict[Tuple[str, int, int], Dict[int, bytes]] = {}
        self._touched: Dict[Tuple[str, int, int], float] = {}

    def __len__(self) -> int:
        return len(self._partial)

    def take(self, source: str, u_pdu: bytes, now: float) -> Optional[Arrived]:
        """Process a segment. Returns the file that it completes."""
        segment = s5066.decode_cftp(u_pdu)
        if segment is None:
            return None
        connection, u_pdu_id, number, data = segment
        key = (source, connection, u_pdu_id)
        parts = self._partial.get(key, {})
        if number == 0 and 0 in parts and parts[0] != data:
            parts = {}  # another file under the same number
        parts[number] = data
        self._partial[key], self._touched[key] = parts, now
        octets = s5066.cftp_octets(parts.get(0, b""))
        if 0 in parts and octets is None or sum(map(len, parts.values())) > self.max_octets:
            self._forget(key)
            return None
        whole = b"".join(parts.get(k, b"") for k in range(len(parts)))
        if octets is not None and len(whole) >= octets:
            self._forget(key)
            file = s5066.decode_cftp_file(whole[:octets])
            return Arrived(connection, u_pdu_id, file) if file is not None else None
        self._make_room(now)
        return None

    def _forget(self, key: Tuple[str, int, int]) -> None:
        del self._partial[key], self._touched[key]

    def _make_room(self, now: float) -> None:
        for key in sorted(self._touched, key=lambda k: self._touched[k]):
            if len(self._partial) <= MAX_PARTIAL and now - self._touched[key] < FORGET_S:
                break
            self._forget(key)


def acknowledged(u_pdu: bytes) -> Optional[int]:
    """The U_PDU ID that an acknowledgement names; None if this is none, or of another
    connection than 0."""
    segment = s5066.decode_cftp(u_pdu)
    if segment is None or segment[0] != 0 or \
            u_pdu != s5066.cftp_acknowledgement(0, segment[1]):
        return None
    return segment[1]
