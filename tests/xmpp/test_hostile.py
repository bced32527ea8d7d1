# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hostile station sends to the chat gateway: refused with counts, in bounded memory, and
the others go on."""
import tracemalloc
import zlib

from gnuradio.hf.sis import s5066
from gnuradio.hf.station import xmpp_tables
from gnuradio.hf.xmpp import codec, exchange, gateway, journal, stanza
import pytest

NODE = "1.2.0.2"
MOST = 65536
GOOD = "<message from='bert@shore.example' to='anna@ship.example'><body>good</body></message>"


class Shore:
    """What arrives at the ship from its only peer, as U_PDUs of a hostile shore."""

    def __init__(self, folder, compression="none"):
        self.journal = journal.Journal(str(folder), 1000, 10**7)
        self.lines, self.arrived, self.id = [], [], 0
        peer = xmpp_tables.XmppPeer(domains=["shore.example"], node=NODE, compression=compression)
        self.exchange = exchange.Exchange(peer, ["ship.example"], self.journal, 20000, MOST,
                                          self.arrived.append, self.lines.append)

    def send(self, octets, mtu=2048):
        for u_pdu in s5066.rcop_segments(0, self.id % 256, codec.APP_XMPP, octets, mtu):
            self.exchange.take(u_pdu, float(self.id))
        self.id += 1

    @property
    def refused(self):
        return self.exchange.counts["refused"]


@pytest.fixture
def shore(tmp_path):
    made = Shore(tmp_path)
    yield made
    made.journal.close()


@pytest.mark.parametrize("octets, why", [
    ("<message from='bert@other.example' to='anna@ship.example'/>", "no domain of this peer"),
    ("<message from='anna@ship.example' to='anna@ship.example'/>", "no domain of this peer"),
    ("<message to='anna@ship.example'/>", "no domain of this peer"),
    ("<message from='b@shore.example.evil.example' to='a@ship.example'/>", "no domain of this"),
    ("<message from='shore.example@evil.example/shore.example' to='a@ship.example'/>", "no dom"),
    ("<message from='b@shore.example' to='a@shore.example'/>", "no domain of ours"),
    ("<message from='b@shore.example' to='a@elsewhere.example'/>", "no domain of ours"),
    ("<message from='b@shore.example'/>", "no domain of ours"),
    ("<message from='b@shore.example' to='a@ship.example'><body>x</message>", "not well-formed"),
    ("<message from='b@shore.example' to='a@ship.example'><body>&bomb;</body></message>",
     "not well-formed"),
    ("<!DOCTYPE a [<!ENTITY b 'x'>]><message from='b@shore.example' to='a@ship.example'/>",
     "not well-formed"),
    ("<?xml version='1.0'?><message from='b@shore.example' to='a@ship.example'/>",
     "not well-formed"),
    ("<message from='b@shore.example' to='a@ship.example'><?php x?></message>", "instructions"),
    ("<message from='b@shore.example' to='a@ship.example'><!-- x --></message>", "comments"),
    ("<message from='b@shore.example' to='a@ship.example'/><message/>", "more than one"),
    ("<message from='b@shore.example' to='a@ship.example'/></stream>", "not well-formed"),
    ("</stream><message from='b@shore.example' to='a@ship.example'/>", "closed"),
    ("text<message from='b@shore.example' to='a@ship.example'/>", "more than one"),
    ("<message xmlns='jabber:client' from='b@shore.example' to='a@ship.example'/>", "no message"),
    ("<handshake/>", "no message"), ("<stream:error/>", "not well-formed"),
    ("<message from='b@shore.example' to='a@ship.example'>" + "<a>" * 40, "nested deeper"),
    ("<message from='b@shore.example' to='a@ship.example'>" + "<a>" * 20000, "nested deeper"),
    ("<message from='b@shore.example' from='c@shore.example' to='a@ship.example'/>",
     "not well-formed"),
    (b"<message from='b@shore.example' to='a@ship.example'><body>\xff\xfe</body></message>",
     "not well-formed"),
    ("<message from='b@shore.example' to='a@ship.example'><body>&#0;</body></message>",
     "not well-formed"),
    ("<message from='" + "x" * 5000 + "@shore.example' to='a@ship.example'/>", "no domain"),
])
def test_refused_with_the_reason(shore, octets, why):
    shore.send(octets if isinstance(octets, bytes) else octets.encode())
    assert shore.refused == 1 and shore.arrived == []
    assert why in shore.lines[0]
    shore.send(GOOD.encode())
    assert len(shore.arrived) == 1


def peak_of(work):
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_a_stanza_of_10_mb(shore):
    octets = GOOD[:-20].encode() + b"x" * 10_000_000
    assert peak_of(lambda: shore.send(octets)) < 40_000_000, "the test itself holds 20 MB"
    assert shore.refused == 1 and f"longer than {MOST}" in shore.lines[0]
    shore.send(GOOD.encode())
    assert len(shore.arrived) == 1


def test_an_inflate_bomb(tmp_path):
    shore = Shore(tmp_path, "deflate")
    bomb = zlib.compress(GOOD[:-20].encode() + b"x" * 200_000_000, 9)
    assert len(bomb) < 200_000
    assert peak_of(lambda: shore.send(bomb)) < 2_000_000
    assert shore.refused == 1 and f"longer than {MOST}" in shore.lines[0]
    packed = zlib.compressobj()
    for _ in range(2):
        shore.send(packed.compress(GOOD.encode()) + packed.flush(zlib.Z_SYNC_FLUSH))
    assert len(shore.arrived) == 2
    for octets in (b"\xff" * 100, zlib.compress(GOOD.encode()), b"", b"\x78\xda\xff\xff\xff"):
        shore.send(octets)  # damaged, and a stream that ends
    shore.send(zlib.compress(b""))
    packed = zlib.compressobj()
    shore.send(packed.compress(GOOD.encode()) + packed.flush(zlib.Z_SYNC_FLUSH))
    assert len(shore.arrived) == 3
    shore.journal.close()


def test_a_hundred_thousand_presences(tmp_path):
    """The chat server is slow or gone: they are dropped with a count, messages are kept."""
    settings = xmpp_tables.Xmpp(
        folder=str(tmp_path), secret="x", domains=["ship.example"],
        peer=[xmpp_tables.XmppPeer(domains=["shore.example"], node=NODE, compression="none")])
    settings.check()
    lines = []
    made = gateway.Gateway(settings, "127.0.0.1:1", 20000, "all", lines.append)
    (ex,) = made.exchanges

    def send(id_, plain):
        for u_pdu in s5066.rcop_segments(0, id_ % 256, codec.APP_XMPP, plain.encode(), 2048):
            ex.take(u_pdu, 0.0)

    def flood(first=80_000, last=100_000):
        for k in range(first, last):
            send(k, f"<presence from='p{k}@shore.example' to='anna@ship.example'/>")

    flood(0, 80_000)
    assert peak_of(flood) < 2_000_000
    send(100_000, GOOD)
    assert made.counts["dropped"] == 100_000
    assert len(made.journal.incoming("shore.example", 0, 10)) == 1
    assert lines == []
    made.close()


def test_requests_to_send_again_are_followed_ten_times_a_minute(tmp_path):
    shore = Shore(tmp_path)
    for k in range(50):
        shore.journal.put(NODE, "anna", 0, GOOD.encode(), 0.0)
        (u, *_) = [u for u in shore.exchange.due(2048, 0.0) if u.last]
        shore.exchange.confirmed(u.number)
    sent = shore.exchange.counts["sent"]
    for k in range(1000):
        shore.exchange.take(codec.notice(0, codec.RESUME, 0), k / 100)
        while u_pdus := shore.exchange.due(2048, 0.0):
            for u in u_pdus:
                shore.exchange.confirmed(u.number)
    assert shore.exchange.counts["sent"] - sent == 49 * exchange.MAX_FOLLOWED
    sent = shore.exchange.counts["sent"]
    for k in range(1000):
        shore.exchange.take(codec.notice(0, codec.RESUME, k % 256), 100.0)
        while u_pdus := shore.exchange.due(2048, 0.0):
            for u in u_pdus:
                shore.exchange.confirmed(u.number)
    assert shore.exchange.counts["sent"] - sent <= 50 * exchange.MAX_FOLLOWED
    shore.journal.close()


def test_octets_of_no_message(shore):
    for octets in (b"", b"\x00", b"\x00" * 5, b"\x01" + bytes(20), b"\xf0" + bytes(20),
                   bytes(6), bytes(6) + b"<", b"\x00\x00\x00\x05\x83\x61<a/>"):
        shore.exchange.take(octets, 0.0)
    assert shore.exchange.counts["malformed"] == 5 and shore.arrived == []
    for kind in range(256):
        shore.exchange.take(codec.notice(0, kind, 255 - kind), 0.0)
    shore.send(GOOD.encode())
    assert shore.arrived == [], "it asks for the messages that were announced"
    notices = shore.exchange.due(2048, 0.0)
    assert len(notices) <= exchange.MAX_NOTICES
    assert codec.as_notice(codec.segment(notices[-1].octets)) == \
        (codec.RESUME, shore.exchange._last % 256)
    shore.exchange.take(codec.notice(0, codec.LOST, shore.id), 0.0)
    shore.send(GOOD.encode())
    assert stanza.write(shore.arrived[0]).count(b"good") == 1
