# SPDX-License-Identifier: GPL-3.0-or-later
"""The TCP test of the published measurements, with the sockets of this host: connect, send
octets, wait for a short confirmation, close."""
import socket
import struct
import threading
import time
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

#: First octets of a transfer: how many octets follow.
HEAD = struct.Struct(">Q")
CONFIRMATION = b"HF received\n"
PIECE = 4096
MAX_OCTETS = 1 << 40


class Sample(NamedTuple):
    """Octets that the sending socket had taken at a time, seconds from the SYN."""

    time_s: float
    octets: int


class Times(NamedTuple):
    """One transfer; times in seconds from the SYN, close_s from close() to the end.

    accepted_s: the local TCP connection (through a proxy that accepts early this says nothing
    about the far side); handed_over_s: the last octet was taken by the local TCP; total_s:
    the confirmation of the far side came.
    """

    octets: int
    accepted_s: float
    handed_over_s: float
    total_s: float
    close_s: float
    samples: List[Sample]

    def utilisation(self, bit_rate: float) -> float:
        """In percent of a data rate."""
        return 100 * 8 * self.octets / (bit_rate * self.total_s)


def _read(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError("the other side closed early")
        data += part
    return data


def send(host: str, port: int, octets: int, limit_s: float,
         clock: Callable[[], float] = time.monotonic) -> Times:
    """Run one transfer; raises OSError if it does not complete. limit_s: of each step."""
    begin = clock()
    samples = []
    with socket.create_connection((host, port), limit_s) as connection:
        accepted = clock() - begin
        # Small: what the kernel holds is not on its way yet.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(HEAD.pack(octets))
        piece = bytes(range(256)) * (PIECE // 256)
        sent = 0
        while sent < octets:
            n = min(PIECE, octets - sent)
            connection.sendall(piece[:n])
            sent += n
            samples.append(Sample(clock() - begin, sent))
        handed_over = clock() - begin
        if _read(connection, len(CONFIRMATION)) != CONFIRMATION:
            raise ConnectionError("the confirmation is not that of hf tcp serve")
        total = clock() - begin
        closing = clock()
        connection.shutdown(socket.SHUT_WR)
        if connection.recv(1):
            raise ConnectionError("octets behind the confirmation")
        close = clock() - closing
    return Times(octets, accepted, handed_over, total, close, samples)


def serve_one(connection: socket.socket, limit_s: float) -> Dict[str, float]:
    """The server's side of one transfer; times in seconds from accept()."""
    begin = time.monotonic()
    with connection:
        connection.settimeout(limit_s)
        expected = HEAD.unpack(_read(connection, HEAD.size))[0]
        if expected > MAX_OCTETS:
            raise ConnectionError(f"{expected} octets announced, too many")
        first: Optional[float] = None
        got = 0
        while got < expected:
            part = connection.recv(min(65536, expected - got))
            if not part:
                raise ConnectionError(f"closed after {got} of {expected} octets")
            first = first or time.monotonic() - begin
            got += len(part)
        last = time.monotonic() - begin
        connection.sendall(CONFIRMATION)
        connection.recv(1)
        return {"octets": got, "first_s": first or 0.0, "last_s": last,
                "close_s": time.monotonic() - begin - last}


def serve(listener: socket.socket, limit_s: float,
          report: Callable[[Tuple[str, int], Optional[Dict[str, float]], str], None]) -> None:
    """Serve transfers, each on a thread, until the listener is closed."""
    def run(connection: socket.socket, peer: Tuple[str, int]) -> None:
        try:
            report(peer, serve_one(connection, limit_s), "")
        except OSError as error:
            report(peer, None, str(error))

    while True:
        try:
            connection, address = listener.accept()
        except OSError:
            return
        threading.Thread(target=run, args=(connection, address[:2]), daemon=True).start()


def plot(path: str, transfers: List[Times], bit_rate: Optional[float]) -> None:
    """Octets over time of each transfer, and the data rate as a slope."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(8, 4.5))
    for t in transfers:
        axes.plot([s.time_s for s in t.samples] + [t.total_s],
                  [s.octets / 1000 for s in t.samples] + [t.octets / 1000],
                  drawstyle="steps-post", label=f"{t.octets / 1000:g} kB")
    if bit_rate:
        longest = max(t.total_s for t in transfers)
        axes.plot([0, longest], [0, bit_rate * longest / 8000], "k:", label="data rate")
    axes.set_xlabel("s")
    axes.set_ylabel("kB taken by the sending TCP")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
