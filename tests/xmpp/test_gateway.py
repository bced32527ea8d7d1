# SPDX-License-Identifier: GPL-3.0-or-later
"""Two chat gateways at stations on emulated air, each with a sham chat server."""
from gnuradio.hf import sis
from gnuradio.hf.station import pair
from gnuradio.hf.xmpp import codec, stanza
import pytest
from xmpp_pair import Stations

PING = "<ping xmlns='urn:xmpp:ping'/>"
VERSION = "<query xmlns='jabber:iq:version'/>"
DISCO = "<query xmlns='http://jabber.org/protocol/disco#info'/>"


def message(k, to="bert@shore.example", sender="anna@ship.example/pc", inside=""):
    return (f"<message from='{sender}' to='{to}' type='chat' id='m{k}'><body>{k}</body>{inside}"
            "</message>")


def iq(id_, to, payload, kind="get", sender="anna@ship.example/pc"):
    return f"<iq from='{sender}' to='{to}' type='{kind}' id='{id_}'>{payload}</iq>"


@pytest.fixture(params=["rcop", "slep"])
def both(tmp_path, request):
    with Stations(tmp_path, version=request.param) as made:
        yield made


def condition(s):
    return [e.tag.rpartition("}")[2] for e in s.find(f"{{{stanza.SERVER}}}error")][0]


def test_messages_both_ways_and_what_is_left_out(both):
    ship, shore = both.start("A"), both.start("B")
    ship.write(message(1, inside="<active xmlns='http://jabber.org/protocol/chatstates'/>"
                                 "<request xmlns='urn:xmpp:receipts'/>"))
    ship.write("<message from='anna@ship.example/pc' to='bert@shore.example'>"
               "<composing xmlns='http://jabber.org/protocol/chatstates'/></message>")
    both.wait(lambda: len(shore.messages) == 1)
    shore.write(message(2, "anna@ship.example/pc", "bert@shore.example/phone"))
    both.wait(lambda: len(ship.messages) == 1)
    assert [c.tag for c in shore.messages[0]] == ["{jabber:server}body",
                                                  "{urn:xmpp:receipts}request"]
    assert both.gateways["A"].counts["held_back"] == 1
    both.wait(lambda: both.gateways["A"].status()["for_hf"] == (0, 0))
    status = both.gateways["A"].status()
    assert status["nodes"][pair.NODES["B"]]["link"] == "reached"
    assert status["nodes"][pair.NODES["B"]]["received"] == 1


def test_ids_are_short_on_hf_and_answers_have_those_of_the_client(both):
    ship, shore = both.start("A"), both.start("B")
    uuid = "358662971f0244348a8d1fa3e9526d2a"
    receipt = "<received xmlns='urn:xmpp:receipts' id='{}'/>"
    ship.write(message(1).replace("'m1'", f"'{uuid}'"))
    both.wait(lambda: shore.messages)
    short = shore.messages[0].get("id")
    assert len(short) < 8
    both.stop("A")
    ship = both.start("A")
    shore.write("<message from='bert@shore.example/phone' to='anna@ship.example/pc'>"
                f"{receipt.format(short)}</message>")
    shore.write("<message from='bert@shore.example' to='anna@ship.example/pc' type='error' "
                f"id='{short}'><error type='cancel'/></message>")
    both.wait(lambda: len(ship.messages) == 2)
    assert (ship.messages[0][0].get("id"), ship.messages[1].get("id")) == (uuid, uuid)
    ship.write("<message from='anna@ship.example/pc' to='bert@shore.example'><body>2</body>"
               f"<replace xmlns='urn:xmpp:message-correct:0' id='{uuid}'/></message>")
    both.wait(lambda: len(shore.messages) == 2)
    assert shore.messages[1][1].get("id") == short
    ship.write(iq("a question with a long ID", "bert@shore.example/phone", DISCO))
    both.wait(lambda: shore.passed)
    shore.write(iq(shore.passed[0].get("id"), "anna@ship.example/pc", "", "result",
                   "bert@shore.example/phone"))
    both.wait(lambda: ship.passed)
    assert ship.passed[0].get("id") == "a question with a long ID"


def test_presence_as_set(both):
    ship, shore = both.start("A", presence="direct"), both.start("B")
    for to, kind in (("bert@shore.example", ""), ("bert@shore.example/phone", ""),
                     ("bert@shore.example", "type='subscribe'"),
                     ("bert@shore.example", "type='probe'")):
        ship.write(f"<presence from='anna@ship.example/pc' to='{to}' {kind}/>")
    ship.write(message(1))
    both.wait(lambda: shore.bodies() == ["1"] and len(shore.passed) == 2)
    assert [p.get("type") for p in shore.passed] == [None, "subscribe"]
    assert ship.passed == [], "what is held back is not invented"


def test_questions(both):
    ship, shore = both.start("A", answer_s=3.0), both.start("B")
    ship.write(iq("p1", "shore.example", PING))
    assert ship.passed[-1].attrib == {"type": "result", "from": "shore.example",
                                      "to": "anna@ship.example/pc", "id": "p1"}
    ship.write(iq("p2", "bert@shore.example/phone", PING))
    assert condition(ship.passed[-1]) == "service-unavailable"
    for k in range(2):
        ship.write(iq(f"v{k}", "shore.example", VERSION))
        if k == 0:
            both.wait(lambda: shore.passed)
            shore.write(iq("v0", "anna@ship.example/pc",
                           "<query xmlns='jabber:iq:version'><name>Prosody</name></query>",
                           "result", "shore.example"))
        both.wait(lambda: len(ship.passed) == 3 + k)
        assert ship.passed[-1].get("id") == f"v{k}"
        assert "".join(ship.passed[-1].itertext()) == "Prosody"
    assert len(shore.passed) == 1, "the second answer is from the cache"
    ship.write(iq("d", "bert@shore.example/phone", DISCO))
    both.wait(lambda: len(ship.passed) == 5)
    assert ship.passed[-1].get("id") == "d" and condition(ship.passed[-1]) == \
        "remote-server-timeout"
    shore.write(iq("d", "anna@ship.example/pc", "", "result", "bert@shore.example/phone"))
    both.wait(lambda: both.gateways["A"].counts["unasked_answers"] == 1)
    assert len(ship.passed) == 5


def test_a_stanza_that_cannot_go(both):
    ship = both.start("A", max_messages=3, max_stanza=1000)
    ship.write(message(1, "x@elsewhere.example"))
    assert condition(ship.passed[-1]) == "item-not-found"
    ship.write(message("x" * 2000))
    assert condition(ship.passed[-1]) == "policy-violation"
    for k in range(4):
        ship.write(message(k))
    assert condition(ship.passed[-1]) == "resource-constraint"
    assert ship.passed[-1].get("id") == "m3"
    assert both.gateways["A"].status()["for_hf"][0] == 3
    before = len(ship.passed)
    ship.write("<message from='anna@ship.example' to='x@elsewhere.example' type='error'/>")
    assert len(ship.passed) == before, "an error is not answered"


def test_an_expired_message_comes_back_once(both):
    ship = both.start("A", expire_hours=1 / 3600)
    ship.write(message(1))
    both.wait(lambda: ship.messages)
    ship.write(message(2))  # it expires later
    both.wait(lambda: len(ship.messages) == 2)
    error, later = ship.messages
    assert later.get("id") == "m2"
    assert error.attrib == {"type": "error", "from": "bert@shore.example",
                            "to": "anna@ship.example/pc", "id": "m1"}
    assert condition(error) == "remote-server-timeout"
    assert both.gateways["A"].status()["for_hf"] == (0, 0)


@pytest.mark.parametrize("both, confirmation", [
    ("rcop", "auto"), ("rcop", "client"), ("rcop", "node"), ("slep", "auto")], indirect=["both"])
def test_messages_wait_for_the_far_gateway(both, confirmation):
    peer = {"peer": {"confirmation": confirmation}}
    ship, shore = both.start("A", **peer), both.start("B", **peer)
    ship.write(message(0))
    both.wait(lambda: shore.bodies() == ["0"])
    both.stop("B")
    for k in range(1, 6):
        ship.write(message(k))
    both.wait(lambda: both.gateways["A"].status()["nodes"][pair.NODES["B"]].get("sent", 0) > 1)
    both.stop("A")
    ship, shore_again = both.start("A", **peer), both.start("B", **peer)
    shore_again.on = True
    both.wait(lambda: len(shore_again.messages) == 5)
    ship.write(message(6))
    both.wait(lambda: len(shore_again.messages) == 6)
    assert shore_again.bodies() == [str(k) for k in range(1, 7)]


def test_messages_wait_for_the_chat_server(both):
    ship, shore = both.start("A"), both.start("B")
    shore.on = False
    ship.write(message(0))
    both.wait(lambda: both.gateways["B"].status()["for_the_server"][0] == 1)
    shore.on = True
    ship.write(message(1))
    both.wait(lambda: shore.bodies() == ["0", "1"])


@pytest.mark.parametrize("both", ["rcop"], indirect=True)
def test_nobody_else_is_heard(both):
    """Messages without ARQ, and from another SAP."""
    ship = both.start("A")
    shore = both.start("B", peer={"extensions": False})
    forged = message(9, "anna@ship.example", "bert@shore.example").encode()
    (u_pdu,) = codec.Packer(0, False).pack(0, forged, 2048)
    with sis.Client(both.sis("B")) as client:
        client.bind(9)
        client.send(pair.NODES["A"], u_pdu, 2, sis.service("non_arq"))
        client.send(pair.NODES["A"], u_pdu, 2, sis.service("arq"))  # from another SAP
    shore.write(message(1, "anna@ship.example", "bert@shore.example"))
    both.wait(lambda: ship.messages)
    shore.write(message(2, "anna@ship.example", "bert@shore.example"))  # after the forged ones
    both.wait(lambda: "2" in ship.bodies())
    assert ship.bodies() == ["1", "2"]
