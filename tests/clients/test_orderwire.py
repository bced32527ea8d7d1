# SPDX-License-Identifier: GPL-3.0-or-later
"""HFCHAT: text beyond ASCII arrives as sent, or is refused before it is sent."""
from gnuradio.hf import sis
from gnuradio.hf.sis import orderwire
from gnuradio.hf.sis import s5066
from gnuradio.hf.sis.orderwire import ANSWER, ANSWER_S, QUESTION, Orderwire
import pytest


class Node:
    """Delivers U_PDUs between orderwires by their address."""

    def __init__(self):
        self.wires, self.now, self.on_air = {}, 0.0, []

    def add(self, address):
        wire = Orderwire(Client(self, address), clock=lambda: self.now)
        self.wires[address] = wire
        return wire

    def run(self):
        """Carry everything. Returns (receiver, source, text) of what was received."""
        found = []
        while self.on_air:
            source, dst, octets, mode = self.on_air.pop(0)
            far = self.wires.get(dst)
            if far is not None:
                said = far.take(indication(source, octets, mode))
                found += [(dst, *said)] if said else []
            if mode.mode == s5066.transmission_mode.arq:
                self.wires[source].take(result(dst, octets))
        return found


class Client:
    """As sis.Client, of one station of a Node."""

    flow_on, mtu = True, s5066.MTU

    def __init__(self, node, address):
        self.node, self.address, self.sent = node, address, []

    def send(self, dst, u_pdu, dst_sap, mode, priority, ttl_s, timeout):
        assert dst_sap == orderwire.SAP and timeout
        self.sent.append(u_pdu)
        self.node.on_air.append((self.address, dst, u_pdu, mode))
        return True


def indication(source, octets, mode=sis.service("arq")):
    p = s5066.s_unidata_indication()
    p.src, p.u_pdu, p.mode = s5066.address(source), octets, mode.mode
    return p


def result(dst, octets, kind=s5066.s_unidata_request_confirm):
    p = kind()
    p.dst, p.u_pdu = s5066.address(dst), octets
    return p


@pytest.mark.parametrize("text", ["Grüße", "你好", "Zażółć gęślą jaźń", "😀 73", "\xa0Ω"])
def test_a_peer_of_our_make_gets_the_text_as_it_was_written(text):
    node = Node()
    near, _ = node.add("1.2.0.1"), node.add("1.2.0.2")
    before, foreign = near.say("1.2.0.2", "QRV?"), near.say("1.2.0.2", text)
    after = near.say("1.2.0.2", "73")
    assert (before.state, foreign.state, after.state) == ("sending", "asking", "waiting")
    found = node.run()
    near.take(None)
    found += node.run()
    assert found == [("1.2.0.2", "1.2.0.1", t) for t in ("QRV?", text, "73")]
    assert {m.state for m in (before, foreign, after)} == {"delivered"} and not near.is_busy
    # Both know now: no more questions, in either direction.
    node.wires["1.2.0.2"].say("1.2.0.1", text)
    near.say("1.2.0.2", text)
    assert len(node.run()) == 2
    assert near.client.sent.count(QUESTION) == 1
    assert node.wires["1.2.0.2"].client.sent.count(QUESTION) == 0


def test_a_peer_that_does_not_answer_is_sent_nothing_that_it_may_not_read():
    node = Node()
    near = node.add("1.2.0.1")
    messages = [near.say("1.2.0.9", t) for t in ("Grüße", "plain", "Moin – 5 €", "你好")]
    node.run()
    node.now += ANSWER_S - 1
    near.take(None)
    assert messages[0].state == "asking"
    node.now += 2
    near.take(None)
    node.run()
    states = [m.state for m in messages]
    assert states[0].startswith("not sent: 1.2.0.9 may read only ASCII")
    assert states[0].endswith("for example: Grusse")
    assert states[1] == "delivered"
    assert states[2].endswith("for example: Moin - 5 EUR")
    assert states[3].endswith("write it in ASCII")
    assert near.client.sent == [QUESTION, b"plain\r\n"] and not near.is_busy
    # Somebody may have come since.
    assert near.say("1.2.0.9", "Grüße").state == "asking"


def test_a_group_cannot_agree():
    node = Node()
    near = node.add("1.2.0.1")
    assert "a group may read only ASCII" in near.say("31.255.255.255", "Grüße").state
    assert near.say("31.255.255.255", "hello").state == "sent"
    assert near.client.sent == [b"hello\r\n"]


def test_only_acknowledged_data_agree():
    """Anybody can send others in the name of a peer."""
    node = Node()
    near = node.add("1.2.0.1")
    for octets in (QUESTION, ANSWER):
        assert near.take(indication("1.2.0.2", octets, sis.service("non_arq"))) is None
    assert near.say("1.2.0.2", "Grüße").state == "asking"
    assert near.client.sent == [QUESTION]


def test_a_rejected_question_gives_the_reason():
    node = Node()
    near = node.add("1.2.0.1")
    message = near.say("1.2.0.2", "Grüße")
    rejected = result("1.2.0.2", QUESTION, s5066.s_unidata_request_rejected)
    rejected.reason = 3
    near.take(rejected)
    assert message.state == "not delivered: node does not respond" and not near.is_busy


def test_nothing_is_sent_while_the_node_wants_no_data():
    node = Node()
    near = node.add("1.2.0.1")
    near.client.flow_on = False
    message = near.say("1.2.0.2", "Grüße")
    assert message.state == "waiting" and not near.client.sent and near.is_busy
    near.client.flow_on = True
    near.take(None)
    assert near.client.sent == [QUESTION]


def test_a_line_is_one_u_pdu_and_characters_stay_whole():
    assert orderwire.u_pdus("QSL?\nGrüße\r\n\ttab\n\n") == \
        [b"QSL?\r\n", "Grüße\r\n".encode(), b" tab\r\n"]
    assert orderwire.u_pdus("") == orderwire.u_pdus(" \n") == orderwire.u_pdus("x", 2) == []
    for mtu in range(6, 13):
        parts = orderwire.u_pdus("aü€😀" * 9, mtu)
        assert max(map(len, parts)) <= mtu
        assert "".join(orderwire.decode(p) for p in parts) == "aü€😀" * 9
    # A user's blanks are never mistaken for a question.
    assert not {QUESTION, ANSWER} & set(orderwire.u_pdus("  \n \n x", 2048))


def test_anything_may_come():
    assert orderwire.decode("Grüße\r\n".encode()) == "Grüße"
    assert orderwire.decode("Grüße\r\n".encode("latin-1")) == "Gr??e"
    assert orderwire.decode(b"no end") is None and orderwire.decode(b"") is None
    assert orderwire.decode(b"\x1b[2J\r\n") == "?[2J"
    assert orderwire.decode("\u202eevil\r\n".encode()) == "?evil"


def test_what_waits_is_bounded():
    node = Node()
    near = node.add("1.2.0.1")
    states = [near.say("1.2.0.2", f"ü{k}").state for k in range(orderwire.MAX_HELD + 1)]
    assert states[-1] == f"not sent: {orderwire.MAX_HELD} texts wait already"
    for k in range(orderwire.MAX_PEERS + 10):
        near.take(indication(f"1.3.{k // 200}.{k % 200}", ANSWER))
    assert len(near._agreed) == orderwire.MAX_PEERS
    near.close("closed")
    assert not near.is_busy
