# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of the chat gateway by themselves: stanzas, messages of RCOP, policy, journal."""
import pathlib
import random
import string
import time
import zlib

from gnuradio.hf import station
from gnuradio.hf.sis import s5066
from gnuradio.hf.station import xmpp_tables
from gnuradio.hf.xmpp import codec, ids, journal, policy, stanza
import pytest

VECTORS = pathlib.Path(__file__).parents[1] / "vectors" / "xmpp.vec"
MOST = 65536


def text(body="Hello", **more):
    attributes = {"from": "anna@ship.example/pc", "to": "bert@shore.example", "type": "chat",
                  **more}
    words = "".join(f' {k}="{v}"' for k, v in attributes.items())
    return f"<message{words}><body>{body}</body></message>".encode()


def vectors():
    lines = [line for line in VECTORS.read_text().splitlines() if not line.startswith("#")]
    for block in "\n".join(lines).strip().split("\n\n"):
        head, stanza_, *u_pdus = block.splitlines()
        name, *numbers = head.split()
        connection, id_, application, mtu = (int(n, b) for n, b in zip(numbers, (10, 10, 16, 10)))
        yield pytest.param(connection, id_, application, mtu, stanza_.encode(),
                           [bytes.fromhex(u) for u in u_pdus], id=name)


@pytest.mark.parametrize("connection, id_, application, mtu, plain, u_pdus", vectors())
def test_octets_are_those_of_the_file(connection, id_, application, mtu, plain, u_pdus):
    packed = codec.Packer(connection, False, application).pack(id_, plain, mtu)
    assert packed == u_pdus
    unpacker = codec.Unpacker(False, MOST)
    found = [unpacker.take(codec.segment(u)) for u in u_pdus]
    assert found[:-1] == [None] * (len(u_pdus) - 1)
    assert found[-1].id == id_ and stanza.write(found[-1].stanza) == plain


def test_a_stanza_keeps_its_namespaces_and_text():
    plain = (b'<iq from="a.example" to="b.example" type="set" id="x" xml:lang="de">'
             b'<query xmlns="urn:one" xmlns:n1="urn:two" b="&lt;&quot;" n1:a="1">'
             b'\xc3\xa4 &lt; &amp;<item xmlns="urn:three"/>t</query></iq>')
    once = stanza.write(stanza.read(plain, MOST))
    found = stanza.read(once, MOST)
    assert stanza.write(found) == once
    query = found[0]
    assert found.get("{http://www.w3.org/XML/1998/namespace}lang") == "de"
    assert query.tag == "{urn:one}query" and query.text == "\u00e4 < &"
    assert query.attrib == {"b": '<"', "{urn:two}a": "1"}
    assert query[0].tag == "{urn:three}item" and query[0].tail == "t"
    moved = stanza.moved(found, stanza.SERVER, stanza.COMPONENT)
    assert moved.tag == "{jabber:component:accept}iq"
    assert stanza.write(moved, stanza.COMPONENT) == once


@pytest.mark.parametrize("jid, domain", [
    ("anna@Ship.example/pc@a/b", "ship.example"), ("ship.example", "ship.example"),
    ("a@b@ship.example", ""), ("", ""), ("a@", ""), ("x" * 3072, ""),
    ("ship.example/a@other.example", "ship.example")])
def test_domain_of_an_address(jid, domain):
    assert stanza.domain(jid) == domain


def test_a_compressed_stream_over_several_stanzas():
    packer, unpacker = codec.Packer(0, True), codec.Unpacker(True, MOST)
    sizes = []
    for k in range(300):
        u_pdus = packer.pack(k, text(f"Message {k}", id=f"m{k}"), 2048)
        sizes.append(sum(map(len, u_pdus)))
        (found,) = [unpacker.take(codec.segment(u)) for u in u_pdus]
        assert found.id == k % 256 and found.stanza[0].text == f"Message {k}"
    assert max(sizes[1:]) < 50 and sizes[0] < len(text("Message 0", id="m0"))
    # Another implementation of zlib reads it: one stream, of which each part is flushed.
    packer = codec.Packer(0, True)
    parts = [packer.pack(k, text(str(k)), 2048)[0][6:] for k in range(3)]
    assert not any(part.endswith(codec.FLUSH) for part in parts)
    assert zlib.decompressobj().decompress(codec.FLUSH.join(parts)) == b"".join(
        text(str(k)) for k in range(3))
    # And it may send the end of each flush.
    unpacker = codec.Unpacker(True, MOST)
    for k, part in enumerate(parts):
        (u_pdu,) = s5066.rcop_segments(0, k, codec.APP_XMPP, part + codec.FLUSH, 2048)
        assert unpacker.take(codec.segment(u_pdu)).stanza[0].text == str(k)


def test_a_compressed_stream_begins_again():
    packer, unpacker = codec.Packer(0, True), codec.Unpacker(True, MOST)
    first = packer.pack(0, text("one"), 2048)[0]
    lost = packer.pack(1, text("two"), 2048)[0]
    after = packer.pack(2, text("three"), 2048)[0]
    with pytest.raises(codec.ContextLost):
        unpacker.take(codec.segment(lost))
    assert unpacker.take(codec.segment(first)).stanza[0].text == "one"
    assert lost[6:8] != b"\x78\xda"
    packer.reset()
    again = packer.pack(1, text("two"), 2048)[0]
    assert unpacker.take(codec.segment(again)).stanza[0].text == "two"
    with pytest.raises(codec.ContextLost):  # it refers to the stream before
        unpacker.take(codec.segment(after))
        raise AssertionError("understood")


def test_the_dictionary_of_a_new_stream():
    plain = codec.Packer(0, True).pack(0, text(), 2048)[0]
    packer = codec.Packer(0, True, dictionary=codec.DICTIONARY)
    (first,) = packer.pack(0, text(), 2048)
    assert len(first) < len(plain) - 30
    unpacker = codec.Unpacker(True, MOST)
    assert unpacker.take(codec.segment(first)).stanza[0].text == "Hello"
    assert zlib.adler32(codec.DICTIONARY) == 0x75551adb, "both sides need the same: never edited"


@pytest.mark.parametrize("compressed", [False, True])
def test_long_stanzas_in_segments(compressed):
    noise = "".join(random.Random(1).choices(string.ascii_letters, k=6000))
    u_pdus = codec.Packer(3, compressed).pack(7, text(noise), 500)
    assert len(u_pdus) > 5
    segments = [codec.segment(u) for u in u_pdus]
    assert {s.connection for s in segments} == {3}
    unpacker = codec.Unpacker(compressed, MOST)
    found = [unpacker.take(s) for s in segments]
    assert found[-1].stanza[0].text == noise and found[:-1] == [None] * (len(found) - 1)
    # A segment is missing: nothing comes out.
    unpacker = codec.Unpacker(compressed, MOST)
    try:
        assert [unpacker.take(s) for s in segments[:2] + segments[3:]] == \
            [None] * (len(segments) - 1)
        assert not compressed
    except codec.ContextLost:
        assert compressed


UUID = "358662971f0244348a8d1fa3e9526d2a"


def with_ids(own, inner="", kind="chat"):
    return stanza.read(f"<message id='{own}' type='{kind}'><replace id='{inner}'/></message>"
                       .encode(), MOST)


def test_short_ids(tmp_path):
    kept = journal.Journal(str(tmp_path), 5, 1000)
    first, second = with_ids(UUID), with_ids("an ID of another kind", UUID)
    ids.outward(first, kept)
    ids.outward(second, kept)
    assert len(first.get("id")) == len(kept.word) + 1 == 5
    assert second[0].get("id") == first.get("id") != second.get("id")
    again = with_ids(UUID)
    ids.outward(again, kept)
    assert again.get("id") == first.get("id"), "the copies of a room have one ID"
    kept.close()
    kept = journal.Journal(str(tmp_path), 5, 1000)
    ids.inward(second, kept)
    assert (second.get("id"), second[0].get("id")) == ("an ID of another kind", UUID)
    for id_, kind in (("m1", "chat"), ("unknown and long", "result"), ("unknown, too", "error")):
        plain = with_ids(id_, "inner, not known", kind)
        ids.outward(plain, kept)
        assert (plain.get("id"), plain[0].get("id")) == (id_, "inner, not known")
    answer = with_ids(UUID, kind="error")
    ids.outward(answer, kept)
    assert answer.get("id") == first.get("id"), "known"
    chosen = with_ids(kept.word + "a")  # by a client, like a short one
    ids.outward(chosen, kept)
    ids.inward(chosen, kept)
    assert chosen.get("id") == kept.word + "a"
    for digits in ("", "z", "\u00e4", "-" * 10, "_" * 11, "b" * 1000):
        unknown = with_ids(kept.word + digits)
        ids.inward(unknown, kept)
        assert unknown.get("id") == kept.word + digits
    kept.close()


def test_short_ids_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "MAX_IDS", 10)
    kept = journal.Journal(str(tmp_path), 5, 1000)
    numbers = [kept.id_number(f"ID {k}", True) for k in range(100)]
    assert numbers == sorted(set(numbers)), "none is used twice"
    assert [kept.id_of(n) for n in numbers[-12:]] == ["", ""] + [f"ID {k}" for k in range(90, 100)]
    assert [ids.number_of(ids.written(n)) for n in (0, 63, 64, 10**12)] == [0, 63, 64, 10**12]
    kept.close()


@pytest.mark.parametrize("children, left", [
    ("<active xmlns='http://jabber.org/protocol/chatstates'/>", None),
    ("<thread>7</thread><composing xmlns='http://jabber.org/protocol/chatstates'/>", None),
    ("<event xmlns='http://jabber.org/protocol/pubsub#event'><items/></event>", None),
    ("\n <body>a</body> <html xmlns='http://jabber.org/protocol/xhtml-im'>b</html>\n",
     "<body>a</body>"),
    ("<received xmlns='urn:xmpp:receipts' id='4'/>",
     '<received xmlns="urn:xmpp:receipts" id="4"/>'),
    ("<subject/>", "<subject/>")])
def test_what_brings_too_little_is_left_out(children, left):
    found = stanza.read(f"<message from='a@b' to='c@d'>{children}</message>".encode(), MOST)
    found = policy.reduced(found, xmpp_tables.DROPPED)
    assert (found is None) == (left is None)
    if left is not None:
        assert stanza.write(found) == f'<message from="a@b" to="c@d">{left}</message>'.encode()


@pytest.mark.parametrize("attributes, children, passes", [
    ("to='c@d'", "", (False, False, True)),
    ("to='c@d/e'", "", (False, True, True)),
    ("to='c@d' type='subscribe'", "", (False, True, True)),
    ("to='c@d' type='unavailable'", "", (False, False, True)),
    ("to='c@d' type='probe'", "", (False, False, False)),
    ("to='c@d'", "<x xmlns='http://jabber.org/protocol/muc'/>", (False, True, True))])
def test_presence_passes_as_set(attributes, children, passes):
    found = stanza.read(f"<presence from='a@b' {attributes}>{children}</presence>".encode(), MOST)
    assert tuple(policy.presence_passes(found, s) for s in ("none", "direct", "all")) == passes


def test_journal_over_restarts(tmp_path):
    kept = journal.Journal(str(tmp_path), 5, 1000)
    for k in range(3):
        kept.put("1.2.0.2", "anna", 0, b"%d" % k, 100.0 + k)
    with pytest.raises(journal.JournalError, match="locked"):
        journal.Journal(str(tmp_path), 5, 1000)
    first = kept.number("1.2.0.2", kept.heads("1.2.0.2")[0][2])
    assert (first.text, first.number) == (b"0", 0)
    kept.take("shore.example", b"in")
    assert kept.is_new("1.2.0.2", 7, b"x") and not kept.is_new("1.2.0.2", 7, b"x")
    kept.set_peer("1.2.0.2", 7, True)
    kept.close()
    kept = journal.Journal(str(tmp_path), 5, 1000)
    assert kept.sizes() == {"outgoing": (3, 3), "incoming": (1, 2)}
    assert kept.again("1.2.0.2", -1) == first, "sent, not confirmed"
    assert kept.peer("1.2.0.2") == {"next": 1, "last": 7, "ours": True, "new": False}
    assert not kept.is_new("1.2.0.2", 7, b"x")
    kept.arrived("1.2.0.2", 0)
    assert kept.again("1.2.0.2", -1) is None
    assert kept.rewind("1.2.0.2", -1) == 0 and kept.again("1.2.0.2", -1) == first
    assert [row.text for row in kept.expired("1.2.0.2", 101.5)] == [b"0", b"1"]
    for _ in range(2):
        kept.expire(first.id, [("shore.example", b"late")])
    assert [t for _, t in kept.incoming("shore.example", 0, 9)] == [b"in", b"late"]
    assert kept.delivered("shore.example", 1) == 1
    assert kept.sizes() == {"outgoing": (2, 2), "incoming": (1, 4)}
    kept.close()


def test_journal_is_bounded(tmp_path):
    kept = journal.Journal(str(tmp_path), 20, 100)
    kept.put("n", "anna", 0, bytes(60), 1.0)
    with pytest.raises(journal.JournalError, match="full"):
        kept.put("n", "anna", 0, bytes(60), 1.0)
    kept.close()
    kept = journal.Journal(str(tmp_path), 20, 10_000)
    for k in range(100):  # the newest presence of a person replaces the one that waits
        kept.put("n", "anna bert", 2, b"%d" % k, 1.0)
    assert kept.sizes()["outgoing"] == (2, 62)
    with pytest.raises(journal.JournalError):
        kept.put("n", "carl bert", 2, b"", 1.0)  # a tenth of 20 is taken
    kept.put("n", "anna", 0, b"chat goes on", time.time())
    for k in range(500):
        kept.number("n", kept.heads("n")[0][2]) if k < 3 else None
        kept.arrived("n", k)
        kept.is_new("m", k, b"")
    assert kept.sizes()["outgoing"] == (0, 0)
    kept.close()


GOOD = """address = "1.2.0.1"
[sis_server]
port = 0
[xmpp]
folder = "f"
secret = "s"
domains = ["Ship.example"]
[[xmpp.peer]]
domains = ["shore.example"]
node = "1.2.0.2"
"""


def test_a_station_file():
    found = station.parse(GOOD).xmpp
    assert found.domains == ["ship.example"] and found.peer[0].sap == 2
    assert (found.peer[0].connection, found.peer[0].presence) == (0, "auto")
    assert "http://jabber.org/protocol/chatstates" in found.peer[0].drop


@pytest.mark.parametrize("old, new, why", [
    ("folder = \"f\"", "", "needs folder"), ("secret = \"s\"", "", "needs secret"),
    ("domains = [\"Ship.example\"]", "", "needs domains"),
    ("[sis_server]\nport = 0", "", "needs .sis_server."),
    ("Ship.example", "shore.example", "named twice"), ("Ship.example", "a@b", "names of domains"),
    ("\"1.2.0.2\"", "\"31.255.255.255\"", "address of a node"),
    ("node = ", "sap = 16\nnode = ", "0 to 15"),
    ("node = ", "connection = 16\nnode = ", "0 to 15"),
    ("node = ", "compression = \"zip\"\nnode = ", "none, deflate"),
    ("node = ", "presence = \"some\"\nnode = ", "auto, none, direct, all"),
    ("node = ", "confirmation = \"no\"\nnode = ", "auto, client, node"),
    ("node = ", "application = 33634\nnode = ", "number of notices"),
    ("secret = ", "server = \"here\"\nsecret = ", "HOST:PORT"),
    ("address = ", "netns = \"x\"\naddress = ", "exclude each other")])
def test_a_wrong_station_file(old, new, why):
    with pytest.raises(station.StationError, match=why):
        station.parse(GOOD.replace(old, new))
