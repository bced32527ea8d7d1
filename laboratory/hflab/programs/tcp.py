# SPDX-License-Identifier: GPL-3.0-or-later
"""The TCP test of the published measurements, with the sockets of this host: connect, send
octets, wait for a short confirmation, close.

Every block carries the time it was written, so the far side knows connect time, total time and
latency; it puts them into the confirmation. The two hosts' clocks must agree, or be the same.
"""
import hashlib
import random
import socket
import struct
import threading
import time
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

from gnuradio.hf.pictures import style

#: Head of each block: a mark, octets of the whole transfer, time of the SYN, time of this block.
HEAD = struct.Struct(">4sQdd")
MARK = b"HFt1"
#: A mark, and in seconds: connect, total, latency of the last block.
CONFIRMATION = struct.Struct(">4sddd")
CONFIRMED = b"HFok"
BLOCK = 1024
MIN_OCTETS = HEAD.size
MAX_OCTETS = 1 << 40
#: Octets that no proxy can compress; twice the window of DEFLATE.
NOISE = random.Random(5066).randbytes(1 << 16)


class Sample(NamedTuple):
    """Arrivals at the far side: time in seconds from the SYN, octets until then, latency of the
    last one."""

    time_s: float
    octets: int
    latency_s: float

    def utilisation(self, bit_rate: float) -> float:
        """Goodput until now, in percent of a data rate."""
        return 100 * 8 * self.octets / (bit_rate * max(self.time_s, 1e-9))


class Received(NamedTuple):
    """One transfer at the far side; times in seconds from the SYN of the near side.

    connect_s: accept() here; total_s: the last octet was read; latency_s: of the last block,
    from its write to its read; close_s: from the confirmation to the end of the connection.
    """

    octets: int
    connect_s: float
    total_s: float
    latency_s: float
    close_s: float
    samples: List[Sample]


class Times(NamedTuple):
    """One transfer at the near side; times in seconds from its SYN.

    connect_s, total_s, latency_s: as the far side measured them; accepted_s: the local TCP
    connection (through a proxy that accepts early it says nothing about the far side);
    handed_over_s: the last octet was taken by the local TCP; confirmed_s: the confirmation came;
    close_s: from close() to the FIN of the far side.
    """

    octets: int
    accepted_s: float
    handed_over_s: float
    connect_s: float
    total_s: float
    latency_s: float
    confirmed_s: float
    close_s: float

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


def _whitened(head: bytes, sent: int) -> bytes:
    """Head of the block after sent octets, turned into noise or back again, because equal heads
    would compress."""
    key = hashlib.shake_128(b"hf tcp %d" % sent).digest(len(head))
    return bytes(a ^ b for a, b in zip(head, key))


def _block(octets: int, syn: float, sent: int) -> bytes:
    size = min(BLOCK, octets - sent)
    at = sent % (len(NOISE) - BLOCK)
    head = _whitened(HEAD.pack(MARK, octets, syn, time.time()), sent)
    return (head + NOISE[at:at + BLOCK])[:size]


def _socket(host: str, port: int, limit_s: float, congestion: str) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port,
                                                            type=socket.SOCK_STREAM)[0]
    connection = socket.socket(family, kind, protocol)
    try:
        connection.settimeout(limit_s)
        if congestion:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        connection.connect(address)
    except OSError:
        connection.close()
        raise
    return connection


def send(host: str, port: int, octets: int, limit_s: float, congestion: str = "") -> Times:
    """Run one transfer; raises OSError if it does not complete. limit_s: of each step;
    congestion: control algorithm of the kernel, empty: this host's default."""
    if not MIN_OCTETS <= octets <= MAX_OCTETS:
        raise ValueError(f"{octets} octets: allowed are {MIN_OCTETS} to {MAX_OCTETS}")
    syn = time.time()
    with _socket(host, port, limit_s, congestion) as connection:
        accepted = time.time() - syn
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sent = 0
        while sent < octets:
            block = _block(octets, syn, sent)
            connection.sendall(block)
            sent += len(block)
        handed_over = time.time() - syn
        mark, *far = CONFIRMATION.unpack(_read(connection, CONFIRMATION.size))
        if mark != CONFIRMED:
            raise ConnectionError("the confirmation is not that of hf-lab tcp serve")
        confirmed = time.time() - syn
        closing = time.time()
        connection.shutdown(socket.SHUT_WR)
        if connection.recv(1):
            raise ConnectionError("octets behind the confirmation")
        close = time.time() - closing
    return Times(octets, accepted, handed_over, *far, confirmed, close)


def serve_one(connection: socket.socket, limit_s: float) -> Received:
    """The far side of one transfer."""
    accepted = time.time()
    samples: List[Sample] = []
    with connection:
        connection.settimeout(limit_s)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        got, expected, syn = 0, MIN_OCTETS, 0.0
        while got < expected:
            head = _read(connection, min(HEAD.size, expected - got))
            size = BLOCK
            if len(head) == HEAD.size:  # else a last block too small for one
                mark, announced, first, written = HEAD.unpack(_whitened(head, got))
                if mark != MARK or not MIN_OCTETS <= announced <= MAX_OCTETS \
                        or (got and announced != expected):
                    raise ConnectionError("the octets are not those of hf-lab tcp send")
                expected, syn = announced, first
                size = min(BLOCK, expected - got)
                _read(connection, size - len(head))
            else:
                size = len(head)
            got += size
            now = time.time()
            samples.append(Sample(now - syn, got, now - written))
        last = samples[-1]
        connection.sendall(CONFIRMATION.pack(CONFIRMED, accepted - syn, last.time_s,
                                             last.latency_s))
        confirmed = time.time()
        connection.recv(1)
        return Received(got, accepted - syn, last.time_s, last.latency_s,
                        time.time() - confirmed, samples)


def serve(listener: socket.socket, limit_s: float,
          report: Callable[[Tuple[str, int], Optional[Received], str], None]) -> None:
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


def thinned(samples: List[Sample], most: int = 2000) -> List[Sample]:
    """Evenly fewer samples, the last one among them."""
    step = -(-len(samples) // most)
    return samples[step - 1::step] + ([samples[-1]] if len(samples) % step else [])


def plot(path: str, title: str, samples: List[Sample], bit_rate: Optional[float]) -> None:
    """Octets, latency and use of the data rate over time, as seen by the far side."""
    count = 3 if bit_rate else 2
    with style.figure(count, height=2.2 * count, sharex=True) as (figure, axes):
        _panels(axes, samples, bit_rate)
        axes[0].set_title(title)
        style.save(figure, path)


def _panels(axes: Any, samples: List[Sample], bit_rate: Optional[float]) -> None:
    time_s = [s.time_s for s in samples]
    axes[0].plot(time_s, [s.octets / 1000 for s in samples], drawstyle="steps-post")
    axes[0].set_ylabel("received, kB")
    axes[1].plot(time_s, [s.latency_s for s in samples], drawstyle="steps-post")
    axes[1].set_ylabel("latency, s")
    if bit_rate:
        axes[0].plot([0, time_s[-1]], [0, bit_rate * time_s[-1] / 8000], ":",
                     color=style.foreground(), label="data rate")
        style.legend_beside(axes[0])
        axes[2].plot(time_s, [s.utilisation(bit_rate) for s in samples],
                     drawstyle="steps-post")
        axes[2].set_ylabel("use so far, %")
        axes[2].set_ylim(0, 100)
    for a in axes:
        a.grid(alpha=0.3)
    axes[-1].set_xlabel("time from the SYN, s")
