# SPDX-License-Identifier: GPL-3.0-or-later
"""Stanzas as streams (XEP-0365 0.3): their octets, hostile ones, and two gateways whose streams
end at any time."""
import pathlib
import random
import zlib

from gnuradio.hf.station import xmpp_tables
from gnuradio.hf.xmpp import codec, journal, stanza, stream_codec, stream_exchange
import pytest

GOLDEN = pathlib.Path(__file__).parents[1] / "vectors" / "xmpp_stream.vec"
MESSAGE = b"<message from='a@ship.example' to='b@shore.example'><body>%s</body></message>"
NODES = {"ship": "1.2.0.1", "shore": "1.2.0.2"}
FAR = {"ship": "shore", "shore": "ship"}


def bodies(found):
    return [f.stanza.findtext(f"{{{stanza.SERVER}}}body") for f in found
            if isinstance(f, codec.Arrived) and f.stanza is not None]


def golden():
    """Records and octets of the groups of one stream."""
    lines = [line for line in GOLDEN.read_text().splitlines() if line and line[0] != "#"]
    groups, records = [], []
    for line in lines:
        if line[0] == "=":
            groups.append((records, bytes.fromhex(line[1:])))
            records = []
        else:
            records.append(line.encode())
    return groups


def test_the_golden_octets_are_read():
    groups = golden()
    assert len(groups) == 3
    reader = stream_codec.Reader(65536)
    numbers = []
    for records, octets in groups:
        found = list(reader.read(octets))
        texts = [stanza.write(f.stanza) for f in found if isinstance(f, codec.Arrived)]
        assert texts == [r for r in records if r[:1] == b"<"]
        numbers += [f[0] for f in found]
    assert numbers == [7, 8, 41, 20]


def test_the_golden_octets_need_no_code_of_ours():
    """The text of the layout is enough: lengths, zlib, ends of flushes, octets 0."""
    inflate = zlib.decompressobj(zdict=codec.DICTIONARY)
    for records, octets in golden():
        length, begin = octets[0] & 127, 1
        if octets[0] > 127:
            length, begin = length + 128 * octets[1], 2
        assert length == len(octets) - begin
        text = inflate.decompress(octets[begin:] + b"\x00\x00\xff\xff")
        assert text == b"".join(r + b"\x00" for r in records)


def test_octets_in_any_parts():
    writer, draw = stream_codec.Writer(), random.Random(1)
    octets = b"".join(writer.group(
        [stream_codec.started(5)] * (k == 0) +
        [MESSAGE % draw.randbytes(draw.randrange(900)).hex().encode() for _ in range(4)] +
        [stream_codec.acknowledged(k)]) for k in range(20))
    whole = list(stream_codec.Reader(65536).read(octets))
    assert len(whole) == 100 and whole[0].id == 5 and whole[-2].id == 84
    for limit in (1, 7, 3000):
        reader, found, rest = stream_codec.Reader(65536), [], octets
        while rest:
            size = draw.randint(1, limit)
            found += reader.read(rest[:size])
            rest = rest[size:]
        assert [f[0] for f in found] == [f[0] for f in whole] and bodies(found) == bodies(whole)


def test_a_stanza_is_there_before_its_group_has_ended():
    draw = random.Random(1)
    octets = stream_codec.Writer().group([stream_codec.started(0)] + [
        MESSAGE % draw.randbytes(600).hex().encode() for _ in range(6)])
    found = list(stream_codec.Reader(65536).read(octets[:len(octets) // 2]))
    assert len(found) in (2, 3)


def test_several_stanzas_in_a_group_are_shorter():
    """The reason for groups. 512 octets is what random hexadecimal text of 1024 has."""
    def octets(count):
        writer, draw = stream_codec.Writer(), random.Random(1)
        writer.group([stream_codec.started(0), MESSAGE % b"-"])
        return sum(len(writer.group([MESSAGE % draw.randbytes(512).hex().encode()
                                     for _ in range(count)])) for _ in range(28 // count)) / 28
    assert 540 < octets(1) < 556 and 515 < octets(7) < 530


HOSTILE = {
    "no zlib": b"\x05abcde",
    "end of zlib": b"\x08" + zlib.compress(b"")[:8],
    "length 0": b"\x00",
    "length of four octets": b"\xff\xff\xff\x01",
    "no number before a stanza": None,
}


@pytest.mark.parametrize("octets", HOSTILE.values(), ids=HOSTILE)
def test_octets_of_no_stream(octets):
    if octets is None:
        octets = stream_codec.Writer().group([MESSAGE % b"x"])
    with pytest.raises(stream_codec.Broken):
        list(stream_codec.Reader(65536).read(octets))


@pytest.mark.parametrize("record", [b"", b"x1", b"s", b"s-1", b"s01", b"a" + b"9" * 19, b"a 1",
                                    b"a" * 100_000])
def test_records_of_no_kind(record):
    octets = stream_codec.Writer().group([record])
    with pytest.raises(stream_codec.Broken, match="neither"):
        list(stream_codec.Reader(65536).read(octets))


def test_a_bomb_takes_no_memory(tmp_path):
    """10 MB of one record are refused, and later stanzas arrive."""
    writer, reader = stream_codec.Writer(), stream_codec.Reader(65536)
    bomb = writer.group([stream_codec.started(0), MESSAGE % (b"x" * 10_000_000)])
    assert len(bomb) < 20_000
    largest = 0
    found = []
    for k in range(0, len(bomb), 100):
        found += reader.read(bomb[k:k + 100])
        largest = max(largest, len(reader._record))
    assert largest <= 65536
    found += reader.read(writer.group([MESSAGE % b"good"]))
    assert [(f.id, f.why) for f in found] == [(0, "longer than 65536 octets"), (1, "")]


@pytest.mark.parametrize("bad", [
    b"<message><body>", b"<!DOCTYPE x><message/>", b"<message/><message/>", b"<body/>",
    b"<message>&lol;</message>", b"<message a='\xff'/>"])
def test_a_bad_stanza_does_not_end_the_stream(bad):
    octets = stream_codec.Writer().group([stream_codec.started(3), bad, MESSAGE % b"good"])
    found = list(stream_codec.Reader(65536).read(octets))
    assert [f.id for f in found] == [3, 4] and found[0].stanza is None and found[0].why
    assert bodies(found) == ["good"]


def test_random_octets_do_no_harm():
    draw, broken = random.Random(1), 0
    good = stream_codec.Writer().group([stream_codec.started(0), MESSAGE % b"x" * 3])
    for _ in range(2000):
        octets = bytearray(good)
        for _ in range(draw.randint(1, 4)):
            octets[draw.randrange(len(octets))] = draw.randrange(256)
        try:
            list(stream_codec.Reader(65536).read(bytes(octets)))
        except stream_codec.Broken:
            broken += 1
    assert broken > 1000


class Side:
    """One gateway's exchange, which can be killed: only its journal stays."""

    def __init__(self, name, folder):
        self.name, self.folder, self.arrived, self.lines = name, folder, [], []
        self.peer = xmpp_tables.XmppPeer(domains=[f"{FAR[name]}.example"], node=NODES[FAR[name]],
                                         version="slep")
        self.start()

    def start(self):
        self.journal = journal.Journal(str(self.folder), 1000, 10**7)
        self.exchange = stream_exchange.StreamExchange(
            self.peer, [f"{self.name}.example"], self.journal, 20000, 65536, self.take,
            self.lines.append)

    def kill(self):
        self.journal._db.rollback()
        self.journal._db.close()
        self.start()

    def take(self, s):
        self.journal.take("x", stanza.write(s))
        self.arrived.append(s.findtext(f"{{{stanza.SERVER}}}body"))

    def write(self, body, domain=""):
        text = MESSAGE.replace(b"ship", b"%s").replace(b"shore", b"%s") % (
            (domain or self.name).encode(), FAR[self.name].encode(), body.encode())
        self.journal.put(self.peer.node, "anna", 0, text, 1000.0)


class Link:
    """One stream between two sides, cut into octets, which ends when a side is killed."""

    def __init__(self, sides, seed=1):
        self.sides, self.draw, self.now = sides, random.Random(seed), 1000.0
        self.renew()

    def renew(self):
        """The stream has ended, and there is another one."""
        self.on_the_way = {name: b"" for name in self.sides}
        self.readers = {name: stream_codec.Reader(65536) for name in self.sides}
        for side in self.sides.values():
            side.exchange.ended(self)
            side.exchange.again()

    def step(self, name, most=10**6):
        """One side sends, and the other one takes some octets."""
        self.now += 1
        side, far = self.sides[name], FAR[name]
        octets = side.exchange.group(self.now, self.now)
        self.on_the_way[far] += octets
        part, self.on_the_way[far] = self.on_the_way[far][:most], self.on_the_way[far][most:]
        self.sides[far].exchange.take(self.readers[far].read(part), self, len(part), self.now)
        return bool(octets or part)

    def all(self):
        for _ in range(4 * int(stream_exchange.ACKNOWLEDGE_S)):
            for name in self.sides:
                self.step(name)


@pytest.fixture
def both(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "SCHEMA", "PRAGMA synchronous=OFF;" + journal.SCHEMA)
    made = Link({name: Side(name, tmp_path / name) for name in NODES})
    yield made
    for side in made.sides.values():
        side.journal.close()


def test_each_once_in_order_while_all_is_killed(both):
    ship, shore = both.sides.values()
    for k in range(150):
        ship.write(f"to shore {k}")
        if k % 3 == 0:
            shore.write(f"to ship {k}")
        for name in NODES:
            both.step(name, both.draw.choice([10, 30, 1000]))
        if both.draw.random() < 0.2:
            both.sides[both.draw.choice(list(NODES))].kill()
            both.renew()
        elif both.draw.random() < 0.1:
            both.renew()
    both.all()
    assert shore.arrived == [f"to shore {k}" for k in range(150)]
    assert ship.arrived == [f"to ship {k}" for k in range(0, 150, 3)]
    assert ship.journal.sizes()["outgoing"] == shore.journal.sizes()["outgoing"] == (0, 0)


def test_an_acknowledgement_waits_for_an_answer(both):
    ship, shore = both.sides.values()
    ship.write("question")
    both.step("ship")
    both.step("shore")
    assert shore.arrived == ["question"] and ship.exchange.is_waiting
    shore.write("answer")
    both.step("shore")
    assert not ship.exchange.is_waiting and ship.arrived == ["answer"]
    assert shore.exchange.is_waiting
    both.all()
    assert not shore.exchange.is_waiting, "without an answer after ACKNOWLEDGE_S"


def test_acknowledgements_of_many_do_not_wait(both):
    ship, shore = both.sides.values()
    for k in range(stream_exchange.CLIENT_EVERY):
        ship.write(f"{k}")
    both.step("ship")
    both.step("shore")
    assert len(shore.arrived) == stream_exchange.CLIENT_EVERY and not ship.exchange.is_waiting


def test_a_side_that_has_lost_its_journal(both):
    ship, shore = both.sides.values()
    for wiped in (ship, shore):
        for k in range(3):
            ship.write(f"{wiped.name} {k}")
        both.all()
        wiped.journal.close()
        (wiped.folder / "stanzas.db").unlink()
        wiped.start()
        both.renew()
        ship.write(f"{wiped.name} after")
        both.all()
    assert shore.arrived == [f"{name} {k}" for name in NODES for k in (0, 1, 2, "after")]
    assert ship.journal.sizes()["outgoing"] == (0, 0)


def test_a_forged_from_is_refused_and_the_others_arrive(both):
    ship, shore = both.sides.values()
    ship.write("forged", "shore")
    ship.write("good")
    both.all()
    assert shore.arrived == ["good"] and shore.exchange.counts["refused"] == 1
    assert ship.journal.sizes()["outgoing"] == (0, 0)


def test_the_window_limits_what_is_on_the_way(both):
    ship, _ = both.sides.values()
    for k in range(200):
        ship.write(random.Random(k).randbytes(500).hex())
    sent = 0
    while octets := ship.exchange.group(1000.0, 0.0):
        sent += len(octets)
    window = 20000 * stream_exchange.WINDOWS
    assert window <= sent < window + stream_exchange.GROUP_OCTETS
