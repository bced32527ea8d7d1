# SPDX-License-Identifier: GPL-3.0-or-later
"""File transfer by BFTP on RCOP or UDOP (STANAG 5066 Annex F), over any SIS server.

Files by UDOP can also arrive as erasure-coded blocks (coded.py).
"""
from dataclasses import dataclass
import os
import random
import re
import time
from typing import Any, Callable, Optional

from .. import sis
from ..plain_text import plain
from . import coded, s5066


#: RCOP application of a refusal, among those that are free: why a file was not kept, in UTF-8,
#: with connection and U_PDU ID of the file. Clients of other makers ignore it.
APP_REFUSAL = 0x8F46
#: Longest reason, and longest name of a received file, octets.
MAX_REASON, MAX_NAME = 200, 200


@dataclass
class Sending:
    """Progress of a file being sent. Counts are octets of U_PDUs."""

    octets: int = 0
    submitted: int = 0
    confirmed: int = 0
    failure: str = ""
    receipt: bool = False


def send(client: sis.Client, dst: str, name: str, data: bytes, timeout: float = 3600.0,
         receipt: bool = True, repeats: int = 0,
         progress: Callable[[Sending], None] = lambda s: None,
         clock: Callable[[], float] = time.monotonic,
         other: Optional[Callable[[Any], None]] = None) -> Sending:
    """Send a file. The client must be bound to SAP_RCOP, or to SAP_UDOP for groups.

    By RCOP it returns when the far client has acknowledged the whole file (FRAP). With receipt
    False it returns when the far node has confirmed all of it. By UDOP it returns when all is
    submitted. other: gets every received U_PDU, so that files can arrive meanwhile. timeout: give
    up after this many seconds of clock without progress. Raises ValueError if name or file is too
    long.

    With a receipt, the first and the last U_PDU ask for the far client's confirmation. If no
    client is bound there, the far node reports so in its next transmission.
    """
    state = Sending()
    arq = client.sap == s5066.SAP_RCOP
    u_pdu_id = random.randrange(256)
    message = s5066.bftp_message(os.fsencode(name), data)
    u_pdus = s5066.rcop_segments(0, u_pdu_id, s5066.APP_BFTP, message, client.mtu) \
        if message else []
    if not u_pdus:
        raise ValueError(f"'{name}' with {len(data)} octets: allowed are names of up to 255 "
                         f"octets and files of up to {(client.mtu - 6) * 65536 - 260}")
    state.octets = sum(len(u) for u in u_pdus)
    mode = sis.service("arq", "node") if arq else \
        sis.service("non_arq", retransmissions=repeats)
    asking = sis.service("arq", "client") if arq and receipt else mode
    receipts = s5066.rcop_assembler()
    waiting = iter(u_pdus)
    u_pdu = next(waiting, None)
    last = clock()
    while not state.failure:
        asks = u_pdu is u_pdus[0] or u_pdu is u_pdus[-1]
        if u_pdu is not None and client.send(dst, u_pdu, client.sap, asking if asks else mode,
                                             timeout=0.0):
            state.submitted += len(u_pdu)
            u_pdu = next(waiting, None)
            last = clock()
        if u_pdu is None and not arq:
            break
        p = client.next(timeout=0.0 if u_pdu is not None and client.flow_on else 0.05)
        if p is not None:
            last = clock()
            _take(p, state, receipts, u_pdu_id, str(s5066.address(dst)))
            if other is not None and isinstance(p, s5066.s_unidata_indication):
                other(p)
        progress(state)
        if state.receipt or (not receipt and state.confirmed >= state.octets):
            break
        if clock() - last > timeout:
            state.failure = "no receipt" if state.confirmed >= state.octets else "no progress"
    progress(state)
    return state


def _take(p: Any, state: Sending, receipts: Any, u_pdu_id: int, dst: str) -> None:
    if isinstance(p, s5066.s_unidata_request_confirm):
        state.confirmed += len(p.u_pdu)
    elif isinstance(p, s5066.s_unidata_request_rejected):
        state.failure = sis.reason(p)
        if p.reason == sis.NOBODY_BOUND:
            state.failure = f"delivered to the node, nobody is bound to SAP {p.dst_sap} there"
    elif isinstance(p, s5066.s_unidata_indication) and str(p.dst) == str(p.src) == dst:
        state.failure = f"{dst} is the address of this station itself"
    elif isinstance(p, s5066.s_unidata_indication) and str(p.src) == dst and \
            p.mode == s5066.transmission_mode.arq:  # anybody can send others in this name
        m = receipts.u_pdu_in(time.monotonic(), p.src, p.src_sap, p.u_pdu)
        if m is not None and s5066.decode_receipt(m) == (0, u_pdu_id):
            state.receipt = True
        elif m is not None and m.application == APP_REFUSAL and (m.connection, m.id) == (
                0, u_pdu_id):
            reason = plain(bytes(m.data[:MAX_REASON]).decode("utf-8", "replace"))
            state.failure = f"the far program has not kept it: {reason}"


@dataclass
class Received:
    """A file that was received."""

    path: str
    source: str
    octets: int


class Room:
    """Octets that received files may still take on disk, for one or more receivers."""

    #: Octets that any file takes at least: a folder of empty files fills a disk, too.
    MIN_FILE = 4096

    def __init__(self, octets: int = 1 << 30) -> None:
        self.octets = octets

    def take(self, octets: int) -> bool:
        """Take the room of a file. False: there is not enough."""
        octets = max(octets, self.MIN_FILE)
        if octets > self.octets:
            return False
        self.octets -= octets
        return True

    def give_back(self, octets: int) -> None:
        """The file was not kept."""
        self.octets += max(octets, self.MIN_FILE)


def safe_name(name: bytes) -> str:
    """A file name that is safe to create in a folder, from a received one: what follows the last
    slash or backslash, without leading dots and control characters, of 200 octets at most."""
    text = name.decode("utf-8", "replace").replace("\ufffd", "_")
    text = re.split(r"[/\\]", text)[-1].lstrip(".")
    text = "".join("_" if plain(c) != c else c for c in text)
    text = text.encode()[:MAX_NAME].decode("utf-8", "ignore")
    return "unnamed" if not text else text if text[0].isalnum() else f"_{text[1:]}"


class Receiver:
    """Writes received files into a folder. Acknowledges those that came by RCOP.

    room: for files that stay. None: no limit.
    refused: called with the source, the octets, and the reason of a file that could not be kept:
    the room has no place for it, it could not be written, or too few of its coded blocks came. A
    refusal notifies the sender of a file by RCOP.
    """

    def __init__(self, client: sis.Client, folder: str, room: Optional[Room] = None,
                 refused: Callable[[str, int, str], None] = lambda source, octets, why: None
                 ) -> None:
        self.client, self.folder = client, folder
        self._room, self._refused = room, refused
        self._assembler = s5066.rcop_assembler()
        self._blocks = coded.Collector(refused)

    def finish(self) -> None:
        """No more will come: the files that are incomplete count as refused."""
        self._blocks.finish()

    def take(self, p: Any) -> Optional[Received]:
        """Process a received primitive. Returns the file that it completes and that is kept."""
        if not isinstance(p, s5066.s_unidata_indication):
            return None
        m = self._assembler.u_pdu_in(time.monotonic(), p.src, p.src_sap, p.u_pdu)
        if m is None:
            return None
        message = None
        if m.application == s5066.APP_BFTP:
            message = m.data
        elif m.application == coded.APP_CODED and self.client.sap == s5066.SAP_UDOP:
            message = self._blocks.take(str(p.src), m.data)
        file = s5066.decode_bftp(message) if message is not None else None
        if file is None:
            return None
        _, name, data = file
        if self._room is not None and not self._room.take(len(data)):
            self._refuse(p, m, len(data), "no more room for files")
            return None
        try:
            path = self._write(safe_name(name), data)
        except OSError as error:
            if self._room is not None:
                self._room.give_back(len(data))
            self._refuse(p, m, len(data), error.strerror or str(error))
            return None
        self._answer(p, s5066.bftp_receipt(m.connection, m.id, name, len(data)))
        return Received(path, str(p.src), len(data))

    def _refuse(self, p: Any, m: Any, octets: int, why: str) -> None:
        for u_pdu in s5066.rcop_segments(m.connection, m.id, APP_REFUSAL,
                                         why.encode()[:MAX_REASON], self.client.mtu):
            self._answer(p, u_pdu)
        self._refused(str(p.src), octets, why)

    def _answer(self, p: Any, u_pdu: bytes) -> None:
        if self.client.sap == s5066.SAP_RCOP:
            self.client.send(p.src, u_pdu, p.src_sap, sis.service("arq", "node"), timeout=60)

    def _write(self, name: str, data: bytes) -> str:
        partial = os.path.join(self.folder, f".{name}.{os.getpid()}.part")
        try:
            with open(partial, "xb") as file:
                file.write(data)
            # Never replace an existing file.
            for k in range(10000):
                path = os.path.join(self.folder, f"{name}.{k}" if k else name)
                try:
                    os.link(partial, path)
                    return path
                except FileExistsError:
                    continue
            raise FileExistsError(f"'{name}' and 9999 numbered copies exist")
        finally:
            if os.path.exists(partial):
                os.unlink(partial)
