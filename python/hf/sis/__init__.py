# SPDX-License-Identifier: GPL-3.0-or-later
"""SIS client: use any STANAG 5066 node, ours or another maker's, from Python over TCP.

    from gnuradio.hf import sis
    with sis.Client("127.0.0.1:5066") as client:
        client.bind(sap=14, service=sis.service(confirmation="node"))
        client.send("1.2.0.2", b"hello", dst_sap=14)
        print(client.next(timeout=60))

The primitives are the classes of gnuradio.hf.sis.s5066, in the words of Annex A.
"""
import queue
import socket
import threading
import time
from typing import Any, Optional, Tuple, Union

from ..hf_python import s5066

#: Reason texts of rejections, by primitive and number (Annex A).
REASONS = {
    s5066.s_bind_rejected: {1: "not enough resources, or no connection", 2: "invalid SAP",
                            3: "SAP in use", 4: "no ARQ in a broadcast session"},
    s5066.s_unbind_indication: {1: "pre-empted by a higher rank", 2: "keep-alive not answered",
                                3: "too many invalid primitives",
                                4: "too many expedited requests",
                                5: "no ARQ in a broadcast session"},
    s5066.s_unidata_request_rejected: {1: "time to live over", 2: "nobody on the far SAP",
                                       3: "node does not respond", 4: "larger than the MTU",
                                       5: "no such transmission mode"},
}

#: Reason of an S_UNIDATA_REQUEST_REJECTED: the far node has the data, but no client is bound to
#: that SAP.
NOBODY_BOUND = 2

#: Primitives queued for next(). When the queue is full, the connection is not read.
MAX_WAITING = 10000


class SisError(Exception):
    """The node refused or cannot be reached. The text says why."""


def reason(primitive: Any) -> str:
    """The reason of a rejection in words."""
    return REASONS.get(type(primitive), {}).get(primitive.reason, f"reason {primitive.reason}")


def service(mode: str = "arq", confirmation: str = "none", order: str = "as_they_arrive",
            retransmissions: int = 0) -> Any:
    """A service type or delivery mode from words.

    mode: arq, non_arq or non_arq_with_errors.
    confirmation: none, node or client.
    order: in_order or as_they_arrive.
    """
    return s5066.delivery_mode(
        getattr(s5066.transmission_mode, mode),
        getattr(s5066.delivery_confirmation, confirmation),
        getattr(s5066.delivery_order, order), retransmissions)


def parse_server(text: str) -> Tuple[str, int]:
    """Host and port from HOST, HOST:PORT or [IPV6]:PORT. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, "5066"
    host = host.strip("[]")
    if not host or not port.isdigit() or not 1 <= int(port) <= 65535:
        raise ValueError(f"server {text!r}: allowed is HOST or HOST:PORT")
    return host, int(port)


class Client:
    """A connection to a node, for one SAP. Its thread handles keep-alive and flow control. All
    other primitives come from next(). A context manager."""

    def __init__(self, server: str = "127.0.0.1:5066", timeout: float = 10.0) -> None:
        host, port = parse_server(server)
        try:
            self._socket = socket.create_connection((host, port), timeout)
        except OSError as error:
            raise SisError(f"SIS server {server}: {error.strerror or error}") from None
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._timeout = timeout
        self._lock = threading.Lock()
        self._flow = threading.Event()
        self._flow.set()
        self._closed = threading.Event()
        self._waiting: "queue.Queue[Any]" = queue.Queue(MAX_WAITING)
        self.mtu = s5066.MTU
        self.sap: Optional[int] = None
        self._thread = threading.Thread(target=self._read, name="sis client", daemon=True)
        self._thread.start()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """True after the connection has ended."""
        return self._closed.is_set()

    @property
    def flow_on(self) -> bool:
        """False while the node asks us to send no data."""
        return self._flow.is_set()

    def bind(self, sap: int, rank: int = 0, service: Any = None,
             end: Optional[threading.Event] = None) -> int:
        """Bind a SAP, 0 to 15. Returns the MTU. Raises SisError if the node refuses, or does not
        answer before another thread sets end."""
        request = s5066.s_bind_request()
        request.sap, request.rank = sap, rank
        request.service = service if service is not None else _default_service()
        self._write(request)
        answer = self._wait_for((s5066.s_bind_accepted, s5066.s_bind_rejected), end)
        if answer is None:
            raise SisError(f"no answer to the bind of SAP {sap}")
        if isinstance(answer, s5066.s_bind_rejected):
            raise SisError(f"SAP {sap} not bound: {reason(answer)}")
        self.mtu, self.sap = answer.mtu, answer.sap
        return answer.mtu

    def send(self, dst: Union[str, Any], u_pdu: bytes, dst_sap: Optional[int] = None,
             mode: Any = None, priority: int = 0, ttl_s: float = 0, expedited: bool = False,
             timeout: Optional[float] = None) -> bool:
        """Submit one U_PDU. Waits while the node's flow control is off, at most timeout seconds,
        and then returns False. mode: delivery mode, by default that of the bind. ttl_s: 0 for
        the node's longest."""
        request = s5066.s_unidata_request()
        request.dst = s5066.address(dst) if isinstance(dst, str) else dst
        request.dst_sap = dst_sap if dst_sap is not None else self.sap
        request.mode = mode if mode is not None else service("default")
        request.priority, request.expedited = priority, expedited
        request.ttl = min(int(ttl_s / 2 + 0.5), 648000)
        request.u_pdu = u_pdu
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._flow.wait(0.2):
            if self.closed or (deadline is not None and time.monotonic() > deadline):
                break
        if not self.closed and not self._flow.is_set():
            return False
        self._write(request)
        return True

    def next(self, timeout: Optional[float] = None) -> Any:
        """The next primitive from the node, or None after timeout seconds. Raises SisError if the
        node has unbound the SAP, or the connection has ended and the queue is empty."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            wait = 0.2 if deadline is None else min(max(deadline - time.monotonic(), 0), 0.2)
            try:
                primitive = self._waiting.get(timeout=wait) if wait else \
                    self._waiting.get_nowait()
            except queue.Empty:
                if self.closed:
                    raise SisError("the connection to the SIS server is lost") from None
                if deadline is not None and time.monotonic() >= deadline:
                    return None
                continue
            if isinstance(primitive, s5066.s_unbind_indication):
                raise SisError(f"the node has unbound SAP {self.sap}: {reason(primitive)}")
            return primitive

    def wake(self) -> None:
        """Let next() return None now, on another thread."""
        try:
            self._waiting.put_nowait(None)
        except queue.Full:
            pass

    def close(self) -> None:
        """Unbind and disconnect."""
        if not self.closed and self.sap is not None:
            try:
                self._write(s5066.s_unbind_request())
            except SisError:
                pass
        self._closed.set()
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._thread.join()
        self._socket.close()

    def _write(self, primitive: Any) -> None:
        octets = s5066.encode(primitive)
        try:
            with self._lock:
                self._socket.sendall(octets)
        except OSError as error:
            self._closed.set()
            raise SisError(f"the connection to the SIS server is lost: "
                           f"{error.strerror or error}") from None

    def _wait_for(self, kinds: Tuple[type, ...], end: Optional[threading.Event]) -> Any:
        deadline = time.monotonic() + self._timeout
        while time.monotonic() < deadline and not (end and end.is_set()):
            primitive = self.next(timeout=min(max(deadline - time.monotonic(), 0), 0.2))
            if isinstance(primitive, kinds):
                return primitive
        return None

    def _read(self) -> None:
        deframer = s5066.deframer()
        while not self._closed.is_set():
            try:
                octets = self._socket.recv(65536)
            except OSError:
                break
            if not octets:
                break
            deframer.push(octets)
            whole = deframer.next()
            while whole is not None:
                primitive = s5066.decode(whole)
                if primitive is not None:
                    self._take(primitive)
                whole = deframer.next()
        self._closed.set()
        self._flow.set()

    def _take(self, primitive: Any) -> None:
        if isinstance(primitive, s5066.s_keep_alive):
            try:
                self._write(primitive)
            except SisError:
                pass
        elif isinstance(primitive, s5066.s_data_flow_off):
            self._flow.clear()
        elif isinstance(primitive, s5066.s_data_flow_on):
            self._flow.set()
        else:
            while not self._closed.is_set():
                try:
                    self._waiting.put(primitive, timeout=0.2)
                    break
                except queue.Full:
                    pass


def _default_service() -> Any:
    return service()
