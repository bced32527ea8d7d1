# SPDX-License-Identifier: GPL-3.0-or-later
"""Two gateways with streams on loopback: no station is between them, but what breaks a stream."""
import random
import socket
import threading
import time

from gnuradio.hf import station
from gnuradio.hf.station import pair, xmpp_tables
from gnuradio.hf.system import netns
from gnuradio.hf.xmpp import gateway, streams
import pytest
from xmpp_pair import DOMAINS, ShamServer

WRITERS = {"A": "anna@ship.example", "B": "bert@shore.example"}


class Relay:
    """Carries connections to a port, and ends each after 60, 300 or 900 octets."""

    def __init__(self, to, draw):
        self.to, self.draw, self.ended = to, draw, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.to))
            left = [self.draw.choice([60, 300, 900])]
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(*ends, left), daemon=True).start()

    def carry(self, source, sink, left):
        try:
            while octets := source.recv(64):
                sink.sendall(octets[:left[0]])
                left[0] -= len(octets)
                if left[0] <= 0:
                    self.ended += 1
                    break
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Linked:
    """Both gateways. through: makes the port that leads to a port."""

    def __init__(self, folder, through=lambda port: port):
        ports = dict(zip(pair.NAMES, netns.free_tcp_ports(2)))
        self.lines, self.gateways, self.servers, self.ports = [], {}, {}, ports
        for name in pair.NAMES:
            other = pair.OTHER[name]
            settings = station.Xmpp(
                folder=str(folder / name), secret="s", domains=[DOMAINS[name]],
                peer=[xmpp_tables.XmppPeer(domains=[DOMAINS[other]], node=pair.NODES[other],
                                           version="slep")], retry_s=0.1, retry_max_s=0.1)
            settings.check()
            node = pair.NODES[other]
            self.gateways[name] = gateway.Gateway(
                settings, "", 20000, "all", self.lines.append,
                streams.Streams("", {node: ports[name]}, 0.2), {node: through(ports[other])})
            self.servers[name] = ShamServer(self.gateways[name])

    def write(self, name, body):
        self.servers[name].write(f"<message from='{WRITERS[name]}' to='"
                                 f"{WRITERS[pair.OTHER[name]]}'><body>{body}</body></message>")

    def start(self):
        for made in self.gateways.values():
            made.start()

    def wait(self, condition, timeout=60):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, "\n".join(self.lines)
            time.sleep(0.02)

    def all_have_arrived(self):
        return all(g.journal.sizes()["outgoing"] == (0, 0) for g in self.gateways.values())

    def counts(self, name):
        return self.gateways[name].exchanges[0].counts

    def close(self):
        for made in self.gateways.values():
            made.close()


@pytest.fixture
def linked(tmp_path):
    made = Linked(tmp_path)
    yield made
    made.close()


def test_both_open_a_stream_at_the_same_time(linked):
    for k in range(20):
        for name in pair.NAMES:
            linked.write(name, f"{k}")
        if k == 0:
            linked.start()
    linked.wait(linked.all_have_arrived)
    for name in pair.NAMES:
        assert linked.servers[name].bodies() == [f"{k}" for k in range(20)]
        assert linked.gateways[name].status()["nodes"][pair.NODES[pair.OTHER[name]]]["link"] == \
            "reached"


def test_octets_of_no_stream_end_that_stream_alone(linked):
    linked.start()
    linked.write("A", "before")
    linked.wait(lambda: linked.servers["B"].bodies() == ["before"])
    with socket.create_connection(("127.0.0.1", linked.ports["B"])) as stranger:
        stranger.sendall(b"\x05abcde")
        assert stranger.recv(100) == b""
    assert linked.counts("B")["malformed"] == 1
    for name in pair.NAMES:
        linked.write(name, "after")
    linked.wait(linked.all_have_arrived)
    assert linked.servers["B"].bodies() == ["before", "after"]
    assert linked.servers["A"].bodies() == ["after"]


def test_many_connections_of_one_node_are_ended(linked):
    linked.start()
    linked.write("A", "before")
    linked.wait(lambda: linked.servers["B"].bodies() == ["before"])
    strangers = [socket.create_connection(("127.0.0.1", linked.ports["B"])) for _ in range(50)]
    for stranger in strangers[:-streams.MAX_STREAMS]:
        stranger.settimeout(20)
        assert stranger.recv(100) == b""
    linked.write("A", "after")
    linked.wait(lambda: linked.servers["B"].bodies() == ["before", "after"])
    for stranger in strangers:
        stranger.close()


def test_streams_that_end_at_any_octet_lose_and_double_nothing(tmp_path):
    draw, relays = random.Random(1), []

    def through(port):
        relays.append(Relay(port, draw))
        return relays[-1].port

    linked = Linked(tmp_path, through)
    linked.start()
    count = 0
    while count < 40 or (count < 400 and sum(r.ended for r in relays) <= 5):
        k, count = count, count + 1
        linked.write("A", f"{k} {draw.randbytes(30).hex()}")
        if k % 4 == 0:
            linked.write("B", f"{k}")
        linked.wait(lambda: len(linked.servers["B"].messages) >= k - 10)
    linked.wait(linked.all_have_arrived)
    assert [b.split()[0] for b in linked.servers["B"].bodies()] == [f"{k}" for k in range(count)]
    assert linked.servers["A"].bodies() == [f"{k}" for k in range(0, count, 4)]
    assert sum(r.ended for r in relays) > 5
    linked.close()
    for relay in relays:
        relay.listener.close()
