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
    assert sorted(c.exchanges[NODE][0].state) == [0, 1, 2, 3, 250, 251, 252, 253, 254, 255]
    assert len(c._submissions) == 10
    for number in (251, 250, 0):
        c._take(indication(cftp.SAP, s5066.cftp_acknowledgement(0, number)))
    assert work.outcomes == [(k, [250]) for k in ("1", "0", "6")]
    c._take(indication(cftp.SAP, s5066.cftp_acknowledgement(0, 250)))
    assert c.exchanges[NODE][0].wrong_answers == 1
    c.fail(c.exchanges[NODE][0], "the server has gone")
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
    assert [mail.id for mail in c.exchanges[NODE][0].mails] == ["0", "2"]


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
    c.finish(c.exchanges[NODE][0])
    assert len(c.batch(NODE, waiting)) == count
    assert len(c.batch("1.2.0.3", waiting)) == 5  # another node has its own rate


def test_the_rates_of_a_limited_number_of_nodes_are_kept():
    c, _ = made(CftpCarrier)
    for k in range(2 * carrier.MAX_NODES):
        node = f"1.2.0.{k}"
        c.begin(carrier.Exchange(node, mails(1), [], {}))
        c.finish(c.exchanges[node][0])
    assert len(c._batches) == carrier.MAX_NODES


# --- a session while the answer to the last one is awaited ------------------------------------

class Spool(Numbers):
    """A gateway with mails that wait."""

    def __init__(self, waiting):
        super().__init__()
        self.waiting = waiting

    def due(self, protocol, busy):
        found = [m for m in self.waiting if m.node not in busy]
        return {NODE: found} if found else {}

    def settled(self, mail, outcome):
        super().settled(mail, outcome)
        self.waiting.remove(mail)


def answer(exchange, tag=None, count=None):
    """The answer of our server to a session."""
    each = "250 ok\r\n250 ok\r\n354 go\r\n250 ok\r\n"
    count = len(exchange.mails) if count is None else count
    return f"250-shore.example {tag or exchange.state.name}\r\n250 8BITMIME\r\n" \
        f"{each * count}221 bye\r\n".encode()


def overlapping(waiting):
    """A carrier whose far server is known to repeat tags, with one session begun of some."""
    work = Spool(waiting)
    c = HmtpCarrier(work, "127.0.0.1:1")
    c.client = types.SimpleNamespace(mtu=2048)
    c._begin_due()
    c._take(indication(3, answer(c.exchanges[NODE][0])))
    work.outcomes.clear()
    c._begin_due()
    return c, work


def test_a_second_session_begins_when_the_node_has_the_first_and_a_third_waits():
    c, work = overlapping(mails(250))
    assert len(c.exchanges[NODE]) == 1
    c._begin_due()
    assert len(c.exchanges[NODE]) == 1  # its U_PDUs are not with the node yet
    for _ in range(3):
        c._submissions.clear()
        c._begin_due()
    first, second = c.exchanges[NODE]
    assert not {m.id for m in first.mails} & {m.id for m in second.mails}
    c._take(indication(3, answer(first)))
    assert c.exchanges[NODE] == [second]
    assert [k for k, _ in work.outcomes] == [m.id for m in first.mails]


def test_a_server_without_tags_has_one_session_at_a_time():
    c, work = overlapping(mails(250))
    c._with_tags.clear()
    c._submissions.clear()
    c._begin_due()
    assert len(c.exchanges[NODE]) == 1
    c._take(indication(3, answer(c.exchanges[NODE][0], tag="hello")))
    assert NODE not in c.exchanges and work.outcomes


def test_each_answer_goes_to_its_session_and_a_cut_one_to_none():
    c, work = overlapping(mails(250))
    c._submissions.clear()
    c._begin_due()
    first, second = c.exchanges[NODE]
    c._take(indication(3, answer(first, count=0)[:-9]))
    c._take(indication(3, answer(second)))
    assert c.exchanges[NODE] == [first]
    assert [k for k, _ in work.outcomes] == [m.id for m in second.mails]


def test_a_session_that_fails_takes_those_after_it_along_once():
    c, work = overlapping(mails(250))
    c._submissions.clear()
    c._begin_due()
    both = [m.id for e in c.exchanges[NODE] for m in e.mails]
    c.fail(c.exchanges[NODE][0], "the link is gone")
    assert work.failures == [both] and not c.exchanges and not c._submissions


def test_an_urgent_mail_does_not_come_into_a_session():
    waiting = mails(250)
    c, _ = overlapping(waiting)
    waiting[-1].priority = 6
    c._submissions.clear()
    c._begin_due()
    assert len(c.exchanges[NODE]) == 1
