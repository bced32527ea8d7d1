# SPDX-License-Identifier: GPL-3.0-or-later
"""Many mails at once: how many go in one exchange, and several files of CFTP in flight."""
import time
import types

from gnuradio.hf.mail import carrier, cftp
from gnuradio.hf.mail.cftp_carrier import CftpCarrier
from gnuradio.hf.mail.hmtp_carrier import HmtpCarrier
from gnuradio.hf.mail.spool import Envelope
from gnuradio.hf.sis import s5066
import pytest
from test_hostile import Work, indication

NODE = "1.2.0.2"


class Numbers(Work):
    """A gateway that numbers files one after the other, from 250 on."""

    number = 249

    def file_number(self, node):
        self.number = (self.number + 1) % 256
        return self.number

    def settled(self, mail, outcome):
        self.outcomes.append((mail.id, [reply.code for reply in outcome.values()]))

    def failed(self, node, mails, why):
        self.failures.append([mail.id for mail in mails])


def mails(count, octets=2000):
    return [Envelope(str(k), "a@ship.example", ["b@shore.example"], NODE, "cftp", octets,
                     1000.0 + k) for k in range(count)]


def made(kind):
    work = Numbers()
    found = kind(work, "127.0.0.1:1")
    found.client = types.SimpleNamespace(mtu=2048)
    return found, work


def test_each_file_is_settled_by_its_own_acknowledgement():
    c, work = made(CftpCarrier)
    c.start_exchange(NODE, mails(10))
    assert sorted(c.exchanges[NODE].state) == [0, 1, 2, 3, 250, 251, 252, 253, 254, 255]
    assert len(c._submissions) == 10
    for number in (251, 250, 0):
        c._take(indication(cftp.SAP, s5066.cftp_acknowledgement(0, number)))
    assert work.outcomes == [(k, [250]) for k in ("1", "0", "6")]
    c._take(indication(cftp.SAP, s5066.cftp_acknowledgement(0, 250)))
    assert c.exchanges[NODE].wrong_answers == 1
    c.fail(c.exchanges[NODE], "the server has gone")
    assert work.failures == [["2", "3", "4", "5", "7", "8", "9"]] and not c.exchanges


def test_the_last_acknowledgement_ends_the_exchange():
    c, work = made(CftpCarrier)
    c.start_exchange(NODE, mails(2))
    for number in (250, 251):
        c._take(indication(cftp.SAP, s5066.cftp_acknowledgement(0, number)))
    assert not c.exchanges and len(work.outcomes) == 2 and not work.failures


def test_a_mail_that_no_file_can_carry_is_refused_and_the_others_go():
    c, work = made(CftpCarrier)
    three = mails(3)
    three[1].recipients[0] = "r" * 12000 + "@x.y"
    c.start_exchange(NODE, three)
    assert [code for _, codes in work.outcomes for code in codes] == [554]
    assert [mail.id for mail in c.exchanges[NODE].mails] == ["0", "2"]


@pytest.mark.parametrize("kind", [HmtpCarrier, CftpCarrier])
@pytest.mark.parametrize("seconds, count", [(0.5, 100), (10, 15), (100, 5)])
def test_an_exchange_holds_what_30_s_carry(monkeypatch, kind, seconds, count):
    c, _ = made(kind)
    waiting = mails(150)
    first = c.batch(NODE, waiting)
    assert len(first) == carrier.MIN_BATCH_OCTETS // 2000
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    c.start_exchange(NODE, first)
    now += seconds
    c.finish(c.exchanges[NODE])
    assert len(c.batch(NODE, waiting)) == count
    assert len(c.batch("1.2.0.3", waiting)) == 5  # another node has its own rate


def test_the_rates_of_a_limited_number_of_nodes_are_kept():
    c, _ = made(CftpCarrier)
    for k in range(2 * carrier.MAX_NODES):
        node = f"1.2.0.{k}"
        c.exchanges[node] = carrier.Exchange(node, mails(1), [], {})
        c.finish(c.exchanges[node])
    assert len(c._batches) == carrier.MAX_NODES
