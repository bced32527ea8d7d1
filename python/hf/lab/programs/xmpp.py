# SPDX-License-Identifier: GPL-3.0-or-later
"""XMPP between two servers with a prior agreement (XEP-0361): stanzas at once, no stream
negotiation, over a TCP connection from A to B. Stanzas are made and parsed by slixmpp.

The payload is hexadecimal noise as in the published tables: DEFLATE makes 51 % of it, and the
utilisation counts that.
"""
from importlib import util
import json
import socket
import subprocess
import sys
import time
from typing import Any, Iterator, List, NamedTuple, Optional
from xml.etree import ElementTree

from ... import pair
from ..link.papers import hexadecimal
from . import kernel

#: Server to server.
PORT = 5269
DOMAINS = {"A": "ship.example", "B": "shore.example"}
#: Share of hexadecimal noise that remains after DEFLATE.
COMPRESSED = 0.51
NAMESPACE = "jabber:server"
#: Stanzas that are larger are not ours.
MAX_STANZA = 1 << 20
#: HF-PEP's part of the agreement.
RULE = {"port": PORT, "compress": "on"}


def why_not() -> Optional[str]:
    """Why the exchange cannot be run here; None if it can."""
    if util.find_spec("slixmpp") is None:
        return "the library slixmpp is missing (Debian: python3-slixmpp)"
    return None


def stanza(sender: str, body: str, number: int) -> bytes:
    """A message from one domain to the other."""
    from slixmpp.stanza import Message
    message = Message()
    message.namespace = NAMESPACE
    message.xml.tag = f"{{{NAMESPACE}}}message"
    receiver = next(d for d in DOMAINS.values() if d != sender)
    message["from"], message["to"], message["id"] = sender, receiver, str(number)
    # slixmpp repeats the id in an element of its own.
    for element in list(message.xml):
        message.xml.remove(element)
    # A stanza without payload still needs the octets of its element.
    body_element = ElementTree.SubElement(message.xml, f"{{{NAMESPACE}}}body")
    body_element.text = body or None
    from slixmpp.xmlstream import tostring
    return tostring(message.xml, xmlns=NAMESPACE).encode()


class Reader:
    """Stanzas from a TCP connection; both sides behave as within an open stream."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.parser = ElementTree.XMLPullParser(["start", "end"])
        self.parser.feed(f"<stream xmlns='{NAMESPACE}'>")
        self.depth = 0
        self.root: Any = None
        self.since = 0

    def __iter__(self) -> Iterator[Any]:
        from slixmpp.stanza import Message
        while True:
            for event, element in self.parser.read_events():
                if event == "start":
                    self.root = element if self.depth == 0 else self.root
                    self.depth += 1
                    continue
                self.depth -= 1
                if self.depth == 1:
                    message = Message(xml=element)
                    message.namespace = NAMESPACE
                    self.root.remove(element)
                    self.since = 0
                    yield message
            octets = self.connection.recv(65536)
            self.since += len(octets)
            if not octets or self.since > MAX_STANZA:
                return
            self.parser.feed(octets)


def body(message: Any) -> str:
    """The text of the body."""
    return message.xml.findtext(f"{{{NAMESPACE}}}body") or ""


def serve(address: str) -> None:
    """The far server: answers each stanza whose id is even with one of the same body; of a
    burst (odd ids) only the one with the body "end", with the time it came."""
    listener = socket.create_server((address, PORT))
    print("listening", file=sys.stderr, flush=True)
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            octets = 0
            for message in Reader(connection):
                number = int(message["id"])
                octets += len(body(message))
                if number % 2 == 0:
                    connection.sendall(stanza(DOMAINS["B"], body(message), number))
                elif body(message) == "end":
                    answer = json.dumps([time.time(), octets - 3])
                    connection.sendall(stanza(DOMAINS["B"], answer, number))


def client(address: str, octets: int, count: int, gap_s: float, burst: int) -> None:
    """The near server: count round trips, then a burst; JSON on standard output."""
    with socket.create_connection((address, PORT), 7200) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answers = iter(Reader(connection))
        times = []
        for k in range(count):
            text = hexadecimal(octets, k)
            begin = time.time()
            connection.sendall(stanza(DOMAINS["A"], text, 2 * k))
            if body(next(answers)) != text:
                raise RuntimeError("another body came back")
            times.append(time.time() - begin)
            time.sleep(gap_s)
        burst_s = None
        if burst:
            begin = time.time()
            for k in range(burst):
                connection.sendall(stanza(DOMAINS["A"], hexadecimal(octets, 1000 + k), 2 * k + 1))
            connection.sendall(stanza(DOMAINS["A"], "end", 2 * burst + 1))
            end, arrived = json.loads(body(next(answers)))
            if arrived != burst * octets + count * octets:
                raise RuntimeError(f"{arrived} octets arrived")
            burst_s = end - begin
    print(json.dumps([times, burst_s]))


class Result(NamedTuple):
    """Round trips in seconds, the first with everything that begins a connection; use of the
    data rate by a burst, percent, the octets counted as the published tables do."""

    round_trips: List[float]
    utilisation: Optional[float]
    octets_over_hf: int

    @property
    def first(self) -> float:
        """The first round trip."""
        return self.round_trips[0]

    @property
    def average(self) -> float:
        """Mean of the later round trips."""
        later = self.round_trips[1:]
        return sum(later) / len(later)


def measure(setting: pair.Setting, octets: int, count: int = 6, gap_s: float = 0,
            burst: int = 0) -> Result:
    """Round trips of stanzas with a body of octets, gap_s after each other, then a burst; through
    HF-PEP, or through the IP client if setting.pep_ports is None. Raises RuntimeError."""
    setting.pep_rules = [RULE]
    call = "from gnuradio.hf.lab.programs import xmpp; xmpp."
    with pair.Pair(setting) as p:
        server = p.start("B", [sys.executable, "-c", f"{call}serve({pair.ADDRESSES['B']!r})"],
                         stderr=subprocess.PIPE, text=True)
        kernel.started(server, "listening", "the far XMPP server")
        near = p.start("A", [sys.executable, "-c",
                             f"{call}client({pair.ADDRESSES['B']!r}, {octets}, {count}, "
                             f"{gap_s / setting.speed}, {burst})"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        text, error = near.communicate()
        if near.returncode != 0:
            raise RuntimeError(f"XMPP: {error.strip().splitlines()[-1:]}")
        times, burst_s = json.loads(text)
        use = None
        if burst_s:
            use = 100 * 8 * burst * octets * COMPRESSED / (burst_s * setting.speed
                                                           * p.mode.rate_bps)
        return Result([t * setting.speed for t in times], use, p.octets_over_hf())
