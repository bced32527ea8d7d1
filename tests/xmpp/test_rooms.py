# SPDX-License-Identifier: GPL-3.0-or-later
"""What a room writes to its occupants behind one far gateway crosses once."""
from gnuradio.hf.station import pair
from gnuradio.hf.xmpp import codec, flow, rooms, stanza
import pytest
from xmpp_pair import Stations

ROOM = "watch@rooms.shore.example"
USER = "<x xmlns='http://jabber.org/protocol/muc#user'><item role='participant'/></x>"
SHIP = [f"{name}@ship.example/{k}" for k, name in enumerate(("anna", "carl", "dora"))]


def read(text):
    return stanza.read(text.encode(), 1 << 20)


def said(body, to, nick="bert"):
    return (f"<message from='{ROOM}/{nick}' to='{to}' type='groupchat' id='{body}'>"
            f"<body>{body}</body></message>")


def is_here(nick, to, kind=""):
    return f"<presence from='{ROOM}/{nick}' to='{to}' {kind}>{USER}</presence>"


@pytest.fixture
def both(tmp_path, monkeypatch):
    monkeypatch.setattr(flow, "GATHER_S", 1.0)  # the machine of a test may be slow
    with Stations(tmp_path) as made:
        yield made


def counts(both, name):
    return both.gateways[name].status()["nodes"][pair.NODES[pair.OTHER[name]]]


def test_a_message_crosses_once_for_all_occupants(both):
    ship, shore = both.start("A"), both.start("B")
    for body in ("one", "two"):
        for to in SHIP:
            shore.write(said(body, to))
    both.wait(lambda: len(ship.messages) == 6)
    assert [(m.get("to"), m.get("id")) for m in ship.messages] == [
        (to, body) for body in ("one", "two") for to in SHIP]
    assert {m.get("from") for m in ship.messages} == {f"{ROOM}/bert"}
    assert [[c.tag for c in m] for m in ship.messages] == 6 * [["{jabber:server}body"]]
    both.wait(lambda: counts(both, "B").get("arrived") == 2)
    assert (counts(both, "B")["sent"], counts(both, "A")["received"]) == (2, 2)
    assert both.gateways["B"].status()["for_hf"] == (0, 0)


def test_presence_of_an_occupant_crosses_once(both):
    ship, shore = both.start("A"), both.start("B")
    for to in SHIP:
        shore.write(is_here("bert", to))
    both.wait(lambda: len(ship.passed) == 3)
    for to in SHIP:
        shore.write(is_here("bert", to, "type='unavailable'"))
    both.wait(lambda: len(ship.passed) == 6)
    assert [p.get("to") for p in ship.passed] == 2 * SHIP
    assert [p.get("type") for p in ship.passed] == 3 * [None] + 3 * ["unavailable"]
    assert counts(both, "B")["sent"] == 2


def test_a_gateway_of_another_maker_gets_each(both):
    peer = {"peer": {"extensions": False, "compression": "none"}}
    ship, shore = both.start("A", **peer), both.start("B", **peer)
    for to in SHIP:
        shore.write(said("one", to))
    both.wait(lambda: len(ship.messages) == 3)
    assert counts(both, "B")["sent"] == 3 and [m.get("to") for m in ship.messages] == SHIP
    (u_pdu,) = codec.Packer(0, False).pack(3, rooms.gathered(
        said("two", SHIP[0]).encode(), SHIP, "ship.example"), 2048)
    both.gateways["A"].exchanges[0].take(u_pdu, 0.0)
    assert [m.get("to") for m in ship.messages[3:]] == ["ship.example"], "not for us to read"


def test_each_occupant_gets_an_error_for_a_message_that_expires(both):
    shore = both.start("B", expire_hours=1 / 3600)
    for to in SHIP:
        shore.write(said("one", to))
    both.wait(lambda: len(shore.messages) == 3)
    assert [(m.get("from"), m.get("to"), m.get("type")) for m in shore.messages] == [
        (to, f"{ROOM}/bert", "error") for to in SHIP]
    assert both.gateways["B"].status()["for_hf"] == (0, 0)


def test_no_message_overtakes_another_to_the_same_occupant():
    waiting = [said(body, SHIP[k]).encode() for body, k in (
        ("1", 0), ("2", 1), ("1", 1), ("1", 2), ("1", 0))]
    assert rooms.alike(waiting) == ([0, 3], [SHIP[0], SHIP[2]])
    assert rooms.alike([said("1", f"a@b/{k}").encode() for k in range(200)])[0] == \
        list(range(rooms.MAX_OCCUPANTS))


@pytest.mark.parametrize("text, is_one", [
    (said("1", SHIP[0]), True), (is_here("bert", SHIP[0]), True),
    (said("1", "anna@ship.example"), False), (said("1", SHIP[0]).replace("groupchat", "chat"),
                                              False),
    (is_here("bert", SHIP[0], "type='subscribe'"), False),
    (is_here("bert", SHIP[0]).replace("muc#user", "muc"), False),
    (f"<iq from='{ROOM}/b' to='{SHIP[0]}' type='get' id='1'>{USER}</iq>", False),
    (said("1", SHIP[0]).replace("<body>", f"<addresses xmlns='{rooms.ADDRESS}'/><body>"), False)])
def test_what_a_room_writes_to_an_occupant(text, is_one):
    assert rooms.is_from_room(read(text)) == is_one
    assert rooms.person(read(text)).startswith(rooms.ROOM) == is_one


def test_recipients_from_the_air_are_checked():
    def spread(jids, text=said("1", SHIP[0])):
        made = rooms.gathered(text.encode(), jids, "ship.example")
        found = rooms.spread(stanza.read(made, 1 << 20), ["ship.example"])
        return [m.get("to") for m in found]

    assert spread([SHIP[0], "x@elsewhere.example", "", SHIP[1], SHIP[0]]) == SHIP[:2]
    assert len(spread([f"a@ship.example/{k}" for k in range(1000)])) == rooms.MAX_OCCUPANTS
    assert rooms.spread(read(said("1", SHIP[0])), ["ship.example"]) is None
    visible = rooms.gathered(said("1", SHIP[0]).encode(), SHIP, "ship.example").replace(
        b'"bcc"', b'"to"')
    assert rooms.spread(stanza.read(visible, 1 << 20), ["ship.example"]) == []
