# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames without a session: non-ARQ U_PDUs to all stations, through the station's SIS server.

A U_PDU has one octet with the kind of the frame, and the frame. The layout is our own choice.
"""
import enum
import queue
import threading
from typing import Callable, Optional, Tuple

from .. import sis
from ..sis import s5066
from ..system import netns

#: SAP of the frames, of those that are free (13 to 15).
SAP = 15
#: The group that all nodes are members of.
ALL = "31.255.255.255"
#: Frames that may wait for the node.
WAITING_MAX = 32
#: A frame that has waited this long is out of date, s.
OLDEST_S = 120.0
#: Pause before another try to reach the SIS server, s.
RETRY_S = 5.0


class Kind(enum.IntEnum):
    """Kinds of frames."""

    AX25 = 1  #: an AX.25 frame, without flags and check sequence
    TEXT = 2  #: data of an ARDOP host in its FEC mode
    CQ = 3  #: a call to all of a VARA host


class Frames:
    """Sends and receives frames on threads of its own, until close()."""

    def __init__(self, server: str, heard: Callable[[Kind, bytes], None],
                 say: Callable[[str], None], namespace: str = "") -> None:
        """server: HOST:PORT, in a network namespace. heard, say: called on the thread of the
        frames."""
        self._namespace = namespace
        self._server, self._heard, self._say = server, heard, say
        self._waiting: "queue.Queue[Tuple[Kind, bytes]]" = queue.Queue(WAITING_MAX)
        self._client: Optional[sis.Client] = None
        self._closed = threading.Event()
        self._threads = [threading.Thread(target=work, name="host frames", daemon=True)
                         for work in (self._receive, self._send)]
        for thread in self._threads:
            thread.start()

    def send(self, kind: Kind, data: bytes) -> bool:
        """Send a frame to all stations. False: it is dropped, too many wait or it is too long."""
        if not 0 < len(data) < s5066.MTU:
            return False
        try:
            self._waiting.put_nowait((kind, data))
        except queue.Full:
            return False
        return True

    def close(self) -> None:
        """End the threads."""
        self._closed.set()
        client = self._client
        if client is not None:
            client.close()
        for thread in self._threads:
            thread.join(5)

    def _receive(self) -> None:
        netns.enter(self._namespace)
        last = ""
        while not self._closed.is_set():
            try:
                with sis.Client(self._server) as client:
                    client.bind(SAP, service=sis.service("non_arq"), end=self._closed)
                    self._client, last = client, ""
                    while not self._closed.is_set():
                        self._take(client.next(0.5))
            except sis.SisError as error:
                if str(error) != last and not self._closed.is_set():
                    self._say(f"host: frames: {error}")
                last = str(error)
            self._client = None
            self._closed.wait(RETRY_S)

    def _take(self, primitive: object) -> None:
        if not isinstance(primitive, s5066.s_unidata_indication):
            return
        data = bytes(primitive.u_pdu)
        if len(data) > 1 and data[0] in list(Kind):
            self._heard(Kind(data[0]), data[1:])

    def _send(self) -> None:
        while not self._closed.is_set():
            try:
                kind, data = self._waiting.get(timeout=0.5)
            except queue.Empty:
                continue
            client = self._client
            try:
                if client is None or not client.send(
                        ALL, bytes([kind]) + data, mode=sis.service("non_arq"), ttl_s=OLDEST_S,
                        timeout=OLDEST_S):
                    self._say("host: a frame was dropped: the data link takes none")
            except sis.SisError as error:
                self._say(f"host: a frame was dropped: {error}")
