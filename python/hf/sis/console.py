# SPDX-License-Identifier: GPL-3.0-or-later
"""STANAG 5066 console over any SIS server: ping, throughput, and the responder at the far end.

The U_PDU format of the console is our own: `HFC1`, kind (1 octet), 0 (1), session (4), sequence
(4), value (8), then padding up to the requested size. Multi-octet fields are big-endian. Other
makers' consoles do not understand it, but any node carries it.
"""
from collections import OrderedDict
from dataclasses import dataclass, field
import json
import random
import struct
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import sis
from . import s5066

#: Default SAP of the console. Annex F leaves it free. SLEP uses 13.
SAP = 14

HEADER = struct.Struct(">4sBBIIQ")
MAGIC = b"HFC1"
PING, PONG, LOAD, QUERY, REPORT, START = range(1, 7)
#: Question and report of a net (net.py).
ASK, TELL = 7, 8

Progress = Callable[[], None]


@dataclass
class Message:
    """Content of one console U_PDU."""

    kind: int
    session: int
    sequence: int = 0
    value: int = 0
    body: bytes = b""

    def encode(self, size: int = 0) -> bytes:
        """The U_PDU, padded to size octets."""
        head = HEADER.pack(MAGIC, self.kind, 0, self.session, self.sequence, self.value)
        return (head + self.body).ljust(size, b"\x55")


def decode(u_pdu: bytes) -> Optional[Message]:
    """The message in a U_PDU. None if it is not a console message."""
    if len(u_pdu) < HEADER.size:
        return None
    magic, kind, _, session, sequence, value = HEADER.unpack_from(u_pdu)
    if magic != MAGIC or not PING <= kind <= TELL:
        return None
    return Message(kind, session, sequence, value, u_pdu[HEADER.size:])


class Clock:
    """Station time in seconds. Stations on a simulated air may run at another speed than the
    host."""

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._begin = time.monotonic()

    def now(self) -> float:
        """Station time in seconds since this clock was created."""
        return (time.monotonic() - self._begin) * self.speed

    def host(self, seconds: float) -> float:
        """Host time in seconds for a span of station time."""
        return seconds / self.speed


@dataclass
class Ping:
    """A ping, with its send time and round-trip time in seconds."""

    sequence: int
    sent: float
    rtt: Optional[float] = None
    failure: str = ""

    @property
    def over(self) -> bool:
        """Whether the ping was answered or has failed."""
        return self.rtt is not None or bool(self.failure)

    def result(self) -> str:
        """Round-trip time or the failure, as text for the user."""
        return f"{self.rtt:.2f} s" if self.rtt is not None else self.failure or "..."


@dataclass
class Sample:
    """Octets up to a time: confirmed at the far end (out), received here (in), and submitted to
    the local station."""

    time: float
    octets_out: int
    octets_in: int
    submitted: int = 0


@dataclass
class Throughput:
    """Result of a throughput measurement. Times in seconds since the first U_PDU."""

    submitted: int = 0
    confirmed: int = 0
    rejected: int = 0
    received: int = 0          #: octets received here, two-way only
    seconds: float = 0.0       #: until the last confirmation or U_PDU
    far_octets: Optional[int] = None   #: octets received, as the far console reports
    far_seconds: Optional[float] = None
    far_age: float = 0.0       #: time at the far end from its last octet to our query
    samples: List[Sample] = field(default_factory=list)

    def out_bps(self) -> float:
        """Goodput to the far end: confirmed octets, else those that the far console counted."""
        return 8 * (self.confirmed or self.far_octets or 0) / max(self.seconds, 1e-9)

    def steady_bps(self) -> Optional[float]:
        """Goodput from the first confirmation to the last, so without the time in which the
        queue fills and the link is made. None without two confirmations."""
        there = [s for s in self.samples if s.octets_out]
        if not there or there[-1].octets_out == there[0].octets_out:
            return None
        return 8 * (there[-1].octets_out - there[0].octets_out) / (there[-1].time - there[0].time)

    def in_bps(self) -> float:
        """Goodput from the far end, two-way only."""
        return 8 * self.received / max(self.seconds, 1e-9)


class Console:
    """Measures through a bound SIS client."""

    def __init__(self, client: sis.Client, dst: str, dst_sap: int, mode: Any, priority: int = 0,
                 clock: Optional[Clock] = None) -> None:
        self.client, self.mode, self.priority = client, mode, priority
        self.dst, self.dst_sap = s5066.address(dst), dst_sap
        self.clock = clock or Clock()
        self.session = random.getrandbits(32)
        self.pings: List[Ping] = []
        self.throughput_result = Throughput()

    def _send(self, message: Message, size: int = 0, mode: Any = None,
              timeout: Optional[float] = None) -> bool:
        return self.client.send(self.dst, message.encode(size), self.dst_sap, mode or self.mode,
                                self.priority, timeout=timeout)

    def ping(self, count: int, interval: float, size: int, timeout: float,
             immediate: bool = False, progress: Progress = lambda: None) -> List[Ping]:
        """Send count pings of size octets and wait for all answers.

        A ping follows interval seconds after the previous one. immediate: it follows the previous
        answer. After an interrupt self.pings keeps the results so far.
        """
        next_at = self.clock.now()
        while True:
            now = self.clock.now()
            for p in self.pings:
                if not p.over and now - p.sent >= timeout:
                    p.failure = f"no answer within {timeout:g} s"
            under_way = not all(p.over for p in self.pings)
            due = len(self.pings) < count and now >= next_at
            if due and not (immediate and under_way):
                self.pings.append(Ping(len(self.pings), now))
                if not self._send(Message(PING, self.session, self.pings[-1].sequence), size,
                                  timeout=self.clock.host(timeout)):
                    self.pings[-1].failure = "the node accepts no data"
                next_at = now if immediate else now + interval
            elif len(self.pings) >= count and not under_way:
                return self.pings
            self._take_ping(self.client.next(timeout=0.02))
            progress()

    def _take_ping(self, p: Any) -> None:
        rejected = isinstance(p, s5066.s_unidata_request_rejected)
        if not rejected and not isinstance(p, s5066.s_unidata_indication):
            return
        m = decode(p.u_pdu)
        if m is None or m.session != self.session or m.sequence >= len(self.pings):
            return
        ping = self.pings[m.sequence]
        if ping.over:
            return
        if rejected:
            ping.failure = sis.reason(p)
        elif m.kind == PONG:
            ping.rtt = self.clock.now() - ping.sent

    def throughput(self, octets: int, size: int, acknowledged: bool = True,
                   two_way: int = 0, timeout: float = 3600.0,
                   progress: Progress = lambda: None) -> Throughput:
        """Send octets in U_PDUs of size octets.

        acknowledged: ask for node confirmation and wait until all are confirmed. Otherwise query
        the far console, if any, at the end.
        two_way: octets that the far console is asked to send at the same time.
        timeout: give up after this many seconds without progress.
        """
        r = self.throughput_result = Throughput()
        begin = last = self.clock.now()
        if two_way:
            self._send(Message(START, self.session, size, two_way), mode=sis.service("arq"))
        mode = sis.service("arq", "node") if acknowledged else self.mode
        sequence = asked = 0
        asked_at = begin
        while True:
            now = self.clock.now()
            before = (r.submitted, r.confirmed, r.rejected, r.received)
            if r.submitted < octets and self.client.flow_on:
                n = max(min(size, octets - r.submitted), HEADER.size)
                if self._send(Message(LOAD, self.session, sequence), n, mode, 1.0):
                    sequence, r.submitted = sequence + 1, r.submitted + n
            self._take_load(self.client.next(timeout=0.0 if r.submitted < octets and
                                             self.client.flow_on else 0.02), r)
            now = self.clock.now()
            if before != (r.submitted, r.confirmed, r.rejected, r.received):
                last = now
            news = before[1:] != (r.confirmed, r.rejected, r.received)
            if news:
                r.seconds = now - begin
            if news or (not acknowledged and before[0] != r.submitted):
                r.samples.append(Sample(now - begin, r.confirmed, r.received, r.submitted))
            progress()
            done = r.submitted >= octets and r.received >= two_way
            if done and acknowledged and r.confirmed + r.rejected >= r.submitted:
                break
            if done and not acknowledged:
                # Sent as the data are, so that the query arrives after them: data with and
                # without ARQ overtake each other.
                if asked == 0 or now - last > timeout / 4 * asked:
                    asked, asked_at = asked + 1, now
                    self._send(Message(QUERY, self.session, asked), mode=self.mode,
                               timeout=self.clock.host(timeout))
                if r.far_octets is not None:
                    back = self._way_back(now - asked_at, progress)
                    r.seconds = max(now - begin - r.far_age - back, r.far_seconds or 0.0)
                    break
            if now - last > timeout:
                break
        r.seconds = r.seconds or self.clock.now() - begin
        return r

    def _way_back(self, exchange: float, progress: Progress) -> float:
        """Travel time of the far console's report: half of a ping's round trip. Without an
        answer to the ping, half of the exchange of query and report."""
        self.pings = []
        answered = self.ping(1, 0, 0, 2 * exchange + 5, True, progress)[0].rtt
        return (exchange if answered is None else answered) / 2

    def _take_load(self, p: Any, r: Throughput) -> None:
        if isinstance(p, s5066.s_unidata_request_confirm):
            r.confirmed += _load_octets(p.u_pdu, self.session)
        elif isinstance(p, s5066.s_unidata_request_rejected):
            r.rejected += _load_octets(p.u_pdu, self.session)
        elif isinstance(p, s5066.s_unidata_indication):
            m = decode(p.u_pdu)
            if m is None or m.session != self.session:
                return
            if m.kind == LOAD:
                r.received += len(p.u_pdu)
            elif m.kind == REPORT:
                report = _parse_report(m.body)
                if report is not None:
                    r.far_octets, r.far_seconds, r.far_age = report

    def broadcast(self, count: int, interval: float, size: int, repeats: int,
                  progress: Progress = lambda: None) -> int:
        """Send count U_PDUs without ARQ, each 1 + repeats times. Returns count."""
        mode = sis.service("non_arq", retransmissions=repeats)
        sent = 0
        while sent < count:
            begin = self.clock.now()
            self._send(Message(LOAD, self.session, sent), max(size, HEADER.size), mode)
            sent += 1
            progress()
            while sent < count and self.clock.now() - begin < interval:
                self.client.next(timeout=0.02)
        return sent


def _load_octets(u_pdu: bytes, session: int) -> int:
    m = decode(u_pdu)
    return len(u_pdu) if m is not None and m.kind == LOAD and m.session == session else 0


def _parse_report(body: bytes) -> Optional[Tuple[int, float, float]]:
    try:
        report = json.loads(body.rstrip(b"\x55"))
        return int(report["octets"]), float(report["seconds"]), float(report.get("age", 0.0))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


@dataclass
class Heard:
    """Load received from one session of a far console. first, last: station time in seconds."""

    source: str
    octets: int = 0
    u_pdus: int = 0
    first: float = 0.0
    last: float = 0.0


class Responder:
    """Serves the console at the other end: answers pings, reports load, and returns load."""

    MAX_SESSIONS = 64

    def __init__(self, client: sis.Client, clock: Optional[Clock] = None) -> None:
        self.client = client
        self.clock = clock or Clock()
        self.pings = 0
        self.sessions: "OrderedDict[Tuple[str, int], Heard]" = OrderedDict()
        self._returning: Dict[Tuple[str, int], threading.Thread] = {}
        self._stop = threading.Event()

    def close(self) -> None:
        """Stop all return load."""
        self._stop.set()
        for thread in self._returning.values():
            thread.join()

    def run(self, seconds: Optional[float] = None, progress: Progress = lambda: None) -> None:
        """Answer until the connection ends, or for this many seconds of station time."""
        begin = self.clock.now()
        while seconds is None or self.clock.now() - begin < seconds:
            self.take(self.client.next(timeout=0.1))
            progress()

    def take(self, p: Any) -> None:
        """Process a received primitive."""
        m = decode(p.u_pdu) if isinstance(p, s5066.s_unidata_indication) else None
        if m is None or (m.kind != LOAD and str(p.src) == str(p.dst)):
            return
        name = (str(p.src), m.session)
        if m.kind == PING:
            self.pings += 1
            self._answer(p, Message(PONG, m.session, m.sequence), len(p.u_pdu))
        elif m.kind == LOAD:
            now = self.clock.now()
            heard = self.sessions.setdefault(name, Heard(name[0], first=now))
            heard.octets, heard.u_pdus, heard.last = \
                heard.octets + len(p.u_pdu), heard.u_pdus + 1, now
            while len(self.sessions) > self.MAX_SESSIONS:
                self.sessions.popitem(last=False)
        elif m.kind == QUERY:
            heard = self.sessions.get(name, Heard(name[0]))
            body = json.dumps({"octets": heard.octets, "u_pdus": heard.u_pdus,
                               "age": round(self.clock.now() - heard.last, 3),
                               "seconds": round(heard.last - heard.first, 3)}).encode()
            self._answer(p, Message(REPORT, m.session, m.sequence, heard.octets, body), 0)
        elif m.kind == START and name not in self._returning:
            self._returning = {k: t for k, t in self._returning.items() if t.is_alive()}
            if len(self._returning) < 4:
                size = min(max(m.sequence, HEADER.size), self.client.mtu)
                thread = threading.Thread(target=self._load, daemon=True,
                                          args=(p.src, p.src_sap, m.session, m.value, size))
                self._returning[name] = thread
                thread.start()

    def _answer(self, p: Any, message: Message, size: int) -> None:
        arq = p.mode == s5066.transmission_mode.arq
        self.client.send(p.src, message.encode(size), p.src_sap,
                         sis.service("arq" if arq else "non_arq"), p.priority, timeout=10)

    def _load(self, dst: Any, dst_sap: int, session: int, octets: int, size: int) -> None:
        sent = sequence = 0
        try:
            while sent < octets and not self._stop.is_set() and not self.client.closed:
                n = max(min(size, octets - sent), HEADER.size)
                if self.client.send(dst, Message(LOAD, session, sequence).encode(n), dst_sap,
                                    sis.service("arq"), timeout=0.5):
                    sent, sequence = sent + n, sequence + 1
        except sis.SisError:
            pass


def ping_lines(node: str, pings: List[Ping]) -> List[str]:
    """Summary lines in the style of ping."""
    times = [p.rtt for p in pings if p.rtt is not None]
    lines = [f"{node}: {len(pings)} sent, {len(times)} answered"]
    if times:
        mean = sum(times) / len(times)
        lines.append(f"round trip min {min(times):.2f} s, mean {mean:.2f} s, max "
                     f"{max(times):.2f} s; first {times[0]:.2f} s")
    return lines


def describe(p: Any) -> str:
    """One line of text for an S_primitive."""
    name = type(p).__name__.upper()
    if isinstance(p, s5066.s_unidata_indication):
        m = decode(p.u_pdu)
        what = f"console {m.kind} session {m.session:08x} sequence {m.sequence}" \
            if m is not None else p.u_pdu[:24].hex(" ")
        errors = f", {len(p.errored)} parts damaged, {len(p.missing)} missing" \
            if p.errored or p.missing else ""
        return (f"{name} {p.src}/{p.src_sap} to {p.dst}/{p.dst_sap} {p.mode.name} priority "
                f"{p.priority}, {len(p.u_pdu)} octets: {what}{errors}")
    if isinstance(p, s5066.s_subnet_availability):
        return f"{name} status {p.status} reason {p.reason}"
    return name
