# SPDX-License-Identifier: GPL-3.0-or-later
"""Files over a SIS server: only its own receipt, from where it went, ends a file."""
from collections import deque

from gnuradio.hf import files
from gnuradio.hf.sis import s5066
import pytest

NODE, OTHER = "1.2.0.2", "1.2.0.3"


class Server:
    """Stands for a bound client: takes all, confirms all, and then says what it is told to."""

    sap, mtu, flow_on = s5066.SAP_RCOP, 2048, True

    def __init__(self, answers):
        self.answers, self.sent, self.waiting = answers, [], deque()

    def send(self, dst, u_pdu, sap, mode, timeout):
        self.sent.append(u_pdu)
        confirm = s5066.s_unidata_request_confirm()
        confirm.dst, confirm.u_pdu = s5066.address(dst), u_pdu
        self.waiting.append(confirm)
        if len(self.sent) == 1:
            message = s5066.rcop_assembler().u_pdu_in(0.0, s5066.address(OTHER), self.sap, u_pdu)
            self.waiting.extend(self.answers(message.id))
        return True

    def next(self, timeout):
        return self.waiting.popleft() if self.waiting else None


def receipt(number, source=NODE, connection=0):
    p = s5066.s_unidata_indication()
    p.src, p.src_sap = s5066.address(source), s5066.SAP_RCOP
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
    lambda n: [receipt((n + k) % 256) for k in range(1, 256)]])
def test_no_other_one_does(answers):
    done = send(answers)
    assert not done.receipt and done.failure == "no receipt"
    assert send(lambda n: answers(n) + [receipt(n)]).receipt


def test_a_rejection_is_a_failure():
    def answers(_):
        p = s5066.s_unidata_request_rejected()
        p.dst, p.reason = s5066.address(NODE), 3
        return [p]

    assert send(answers).failure
