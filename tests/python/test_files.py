# SPDX-License-Identifier: GPL-3.0-or-later
"""Files over a SIS server: only its own receipt, from where it went, ends a file."""
from collections import deque

from gnuradio.hf import sis
from gnuradio.hf.sis import files
from gnuradio.hf.sis import s5066
import pytest

NODE, OTHER = "1.2.0.2", "1.2.0.3"


class Server:
    """Replaces a bound client: accepts and confirms everything, then sends the given primitives.
    """

    sap, mtu, flow_on = s5066.SAP_RCOP, 2048, True

    def __init__(self, answers):
        self.answers, self.sent, self.waiting = answers, [], deque()
        self.confirmations = []

    def send(self, dst, u_pdu, sap, mode, timeout):
        self.sent.append(u_pdu)
        self.confirmations.append(mode.confirmation)
        confirm = s5066.s_unidata_request_confirm()
        confirm.dst, confirm.u_pdu = s5066.address(dst), u_pdu
        self.waiting.append(confirm)
        if len(self.sent) == 1:
            message = s5066.rcop_assembler().u_pdu_in(0.0, s5066.address(OTHER), self.sap, u_pdu)
            self.waiting.extend(self.answers(message.id if message else 0))
        return True

    def next(self, timeout):
        return self.waiting.popleft() if self.waiting else None


def receipt(number, source=NODE, connection=0, mode=s5066.transmission_mode.arq):
    p = s5066.s_unidata_indication()
    p.src, p.src_sap, p.mode = s5066.address(source), s5066.SAP_RCOP, mode
    p.u_pdu = s5066.bftp_receipt(connection, number, b"name", 5)
    return p


def send(answers):
    return files.send(Server(answers), NODE, "name", b"octet", timeout=0.3)


def test_its_own_receipt_ends_a_file():
    done = send(lambda n: [receipt(n)])
    assert done.receipt and not done.failure and done.confirmed == done.octets


@pytest.mark.parametrize("answers", [
    lambda n: [], lambda n: [receipt((n + 1) % 256)], lambda n: [receipt(n ^ 128)],
    lambda n: [receipt(n, connection=1)], lambda n: [receipt(n, OTHER)],
    lambda n: [receipt((n + k) % 256) for k in range(1, 256)],
    lambda n: [receipt(k, mode=s5066.transmission_mode.non_arq) for k in range(256)]])
def test_no_other_one_does(answers):
    done = send(answers)
    assert not done.receipt and done.failure == "no receipt"
    assert send(lambda n: answers(n) + [receipt(n)]).receipt


@pytest.mark.parametrize("receipt, wanted", [(True, "CNNC"), (False, "NNNN")])
def test_the_far_client_is_asked_for_at_both_ends_of_a_file(receipt, wanted):
    server = Server(lambda n: [])
    files.send(server, NODE, "name", bytes(7000), timeout=0.1, receipt=receipt)
    kinds = {s5066.delivery_confirmation.client: "C", s5066.delivery_confirmation.node: "N"}
    assert "".join(kinds[c] for c in server.confirmations) == wanted


def test_nobody_there_is_said_in_words():
    def answers(_):
        p = s5066.s_unidata_request_rejected()
        p.dst, p.dst_sap, p.reason = s5066.address(NODE), 6, sis.NOBODY_BOUND
        return [p]

    assert send(answers).failure == \
        "delivered to the node, nobody is bound to SAP 6 there"


def test_a_rejection_is_a_failure():
    def answers(_):
        p = s5066.s_unidata_request_rejected()
        p.dst, p.reason = s5066.address(NODE), 3
        return [p]

    assert send(answers).failure


class Node:
    """A bound client that keeps what it is given to send."""

    def __init__(self, sap):
        self.sap, self.sent, self.mtu = sap, [], 2048

    def send(self, dst, u_pdu, sap, mode, timeout):
        self.sent.append(u_pdu)


def arrive(receiver, name, octets, number):
    """Give a file to a receiver."""
    message = s5066.bftp_message(name, bytes(octets))
    for u_pdu in s5066.rcop_segments(0, number, s5066.APP_BFTP, message, 2048):
        p = s5066.s_unidata_indication()
        p.src, p.src_sap, p.u_pdu = s5066.address(NODE), receiver.client.sap, u_pdu
        found = receiver.take(p)
    return found


def test_received_files_have_a_limit_together(tmp_path):
    refused, room = [], files.Room(20_000)
    by_arq, other = (files.Receiver(Node(sap), str(tmp_path), room,
                                    lambda *file: refused.append(file))
                     for sap in (s5066.SAP_RCOP, s5066.SAP_UDOP))
    assert arrive(by_arq, b"a", 10_000, 1) and arrive(other, b"b", 1, 2)
    assert arrive(by_arq, b"c", 6_000, 3) is None
    assert arrive(by_arq, b"d", 5_000, 4) and arrive(by_arq, b"e", 0, 5) is None
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b", "d"]
    # A receipt for each that was kept, a refusal for each that was not.
    why = "no more room for files"
    assert len(by_arq.client.sent) == 4
    assert refused == [(NODE, 6_000, why), (NODE, 0, why)]


def test_the_name_of_a_received_file_is_no_option(tmp_path):
    receiver = files.Receiver(Node(s5066.SAP_UDOP), str(tmp_path))
    assert arrive(receiver, b"../-rf", 5, 1).path == str(tmp_path / "_rf")
