# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hostile station, and a slow mail server, may do to the gateway."""
import asyncio
import os
import smtplib
import stat
import threading
import time
import types

from gnuradio.hf import sis, station
from gnuradio.hf.mail import carrier, cftp, delivery, gateway, hmtp, intake, seen, spool
from gnuradio.hf.mail.cftp_carrier import CftpCarrier
from gnuradio.hf.mail.hmtp_carrier import HmtpCarrier
from gnuradio.hf.mail.spool import Envelope
from gnuradio.hf.sis import s5066
import mail_pair
import pytest

#: Recipients that a mail server of this machine would send on to another domain.
RELAYED = ["evil@other.org(@ship.example", "evil%other.org@ship.example",
           "other.org!evil@ship.example", '"evil@other.org"@ship.example',
           "evil@other.org@ship.example", "@relay.example:evil@ship.example",
           "-oQ/tmp@ship.example", "|sh@ship.example"]


class Work(carrier.Work):
    """A gateway that keeps what carriers report."""

    def __init__(self, **more):
        self.settings = station.Mail(spool="x", domains=["ship.example"], **more)
        self.name = "ship.example"
        self.mails, self.outcomes, self.failures, self.bounces = [], [], [], []

    def due(self, protocol, busy):
        return {}

    def data(self, mail):
        return b"Subject: x\r\n\r\nbody\r\n"

    def settled(self, mail, outcome):
        self.outcomes.append({r: reply.code for r, reply in outcome.items()})

    def failed(self, node, mails, why):
        self.failures.append(why)

    def check(self, recipient):
        return None if recipient.endswith("@ship.example") else hmtp.Reply(550, "5.7.1 no")

    def receive(self, node, protocol, arrived):
        self.mails.append(arrived.mail)
        arrived.outcome.update({r: hmtp.Reply(250, "ok") for r in arrived.mail.recipients})

    def decide(self, arrived, wait_s):
        pass

    def bounce(self, mail, failed, node):
        self.bounces.append((mail.sender, node))

    def file_number(self, node):
        return 7

    def reached(self, node):
        pass

    def say(self, text):
        pass


def waiting_carrier(kind, node="1.2.0.2"):
    """A carrier whose node has all U_PDUs of an exchange, and what it reports to."""
    work = Work()
    made = kind(work, "127.0.0.1:1")
    made.client = types.SimpleNamespace(mtu=2048)
    mail = Envelope("1", "a@ship.example", ["b@shore.example"], node, kind.protocol, 5, 1.0)
    made.start_exchange(node, [mail])
    return made, work


def indication(sap, u_pdu, mode=s5066.transmission_mode.arq, source="1.2.0.2"):
    p = s5066.s_unidata_indication()
    p.src, p.src_sap, p.dst_sap, p.mode, p.u_pdu = s5066.address(source), sap, sap, mode, u_pdu
    return p


def answers_of(made):
    """What ends the exchange of a carrier, and the same for another exchange."""
    if made.protocol == "cftp":
        return [s5066.cftp_acknowledgement(0, number) for number in (7, 8)]
    text = "250-shore.example {}\r\n250 8BITMIME\r\n250 ok\r\n250 ok\r\n354 go\r\n250 ok\r\n" \
           "221 bye\r\n"
    return [text.format(name).encode() for name in
            (made.exchanges["1.2.0.2"][0].state.name, "aaa.ship.example")]


# --- no open relay ------------------------------------------------------------------------------

@pytest.mark.parametrize("recipient", RELAYED)
def test_no_recipient_that_a_mail_server_would_relay_passes(recipient):
    session = hmtp.Session("ship.example", lambda r: None, 10000)
    session.take(hmtp.block("t.evil.example", [hmtp.Mail("a@b.c", [recipient], b"x\r\n")]))
    assert session.over and not session.transactions
    assert b"501 5.1.3" in session.answer()
    assert cftp.mail_of(cftp.file_of("1", hmtp.Mail("a@b.c", [recipient], b"x\r\n")), 100) is None
    with_sender = hmtp.Mail(recipient, ["b@ship.example"], b"x\r\n")
    assert cftp.mail_of(cftp.file_of("1", with_sender), 100) is None


@pytest.mark.parametrize("recipient", ["anna@ship.example", "a.b+c=d~e_f-1@ship.example",
                                       "7@ship.example"])
def test_plain_recipients_pass(recipient):
    assert hmtp.good_path(recipient)


def deliver(sink, sender, recipients, data, given_up=None, kept=lambda r: None):
    return delivery.deliver(sis.parse_server(sink.address), "ship.example", sender, recipients,
                            data, given_up or threading.Event(), kept)


def test_the_mail_server_gets_addresses_as_they_were_checked(monkeypatch):
    sent, send = [], smtplib.SMTP.send

    def record(client, octets):
        sent.append(octets if isinstance(octets, bytes) else octets.encode())
        send(client, octets)

    monkeypatch.setattr(smtplib.SMTP, "send", record)
    sink = mail_pair.Sink()
    odd = "evil@other.org(@ship.example"
    try:
        deliver(sink, "x=y+z@b.example", [odd], b"Subject: x\r\n\r\n.\n..\ra\r\n")
    finally:
        sink.close()
    assert [line for line in sent if line.startswith((b"MAIL", b"RCPT"))] == [
        b"MAIL FROM:<x=y+z@b.example> SIZE=24\r\n", b"RCPT TO:<%b>\r\n" % odd.encode()]
    # No server may read a line end that the gateway has not written as one.
    assert sink.mails[0][2] == b"Subject: x\r\n\r\n.\r\n..\r\na\r\n"


# --- no backscatter -----------------------------------------------------------------------------

def gateway_at(folder, **more):
    table = station.Mail(spool=str(folder), listen="127.0.0.1:0", domains=["ship.example"], route=[
        station.MailRoute("shore.example", "1.2.0.2"),
        station.MailRoute("port.example", "1.2.0.3"),
        station.MailRoute("all.example", "31.255.255.255", "broadcast")], **more)
    table.check()
    return gateway.Gateway(table, "1.2.0.1", "127.0.0.1:1")


def queued(made):
    return [(m.recipients[0], m.node) for q in ("out", "in") for m in made.spool.entries(q)]


@pytest.mark.parametrize("sender, bounced", [
    ("a@shore.example", [("a@shore.example", "1.2.0.2")]), ("victim@other.org", []),
    ("victim@ship.example", []), ("victim@port.example", []), ("victim@all.example", [])])
def test_a_mail_from_a_node_is_bounced_to_that_node_only(tmp_path, sender, bounced):
    made = gateway_at(tmp_path)
    refused = {"x@elsewhere.example": hmtp.Reply(550, "5.7.1 no")}
    made.bounce(hmtp.Mail(sender, list(refused), b"Subject: x\r\n\r\n"), refused, "1.2.0.2")
    assert queued(made) == bounced
    mail = Envelope("1", sender, list(refused), "1.2.0.2", "hmtp", 5, time.time())
    made.spool.add("in", mail, b"Subject: x\r\n\r\n")
    made._bounce_spooled("in", mail, refused)
    made.spool.remove("in", "1")
    assert queued(made) == 2 * bounced


def test_a_node_gets_few_bounces_in_an_hour_and_little_of_a_mail(tmp_path, monkeypatch):
    clock = [1000.0]
    stopped = types.SimpleNamespace(monotonic=lambda: clock[0], time=time.time)
    monkeypatch.setattr(gateway, "time", stopped)
    made = gateway_at(tmp_path)
    refused = {"x@elsewhere.example": hmtp.Reply(550, "5.7.1 no")}
    mail = hmtp.Mail("a@shore.example", list(refused), b"X: " + 20000 * b"spam " + b"\r\n\r\n")
    for _ in range(gateway.MAX_BOUNCES + 5):
        made.bounce(mail, refused, "1.2.0.2")
    assert len(queued(made)) == gateway.MAX_BOUNCES
    assert all(m.octets < 3500 for m in made.spool.entries("out"))
    clock[0] += 3601
    made.bounce(mail, refused, "1.2.0.2")
    assert len(queued(made)) == gateway.MAX_BOUNCES + 1


def test_a_file_of_cftp_names_the_node_of_its_bounce():
    made, work = waiting_carrier(CftpCarrier)
    file = cftp.file_of("1", hmtp.Mail("victim@other.org", ["x@elsewhere.example"], b"x\r\n"))
    for u_pdu in s5066.cftp_segments(0, 1, b"1", file, 2048):
        made._take(indication(cftp.SAP, u_pdu, source="1.2.0.9"))
    assert work.bounces == [("victim@other.org", "1.2.0.9")]


# --- no forged answers --------------------------------------------------------------------------

@pytest.mark.parametrize("kind", [CftpCarrier, HmtpCarrier])
def test_only_an_answer_by_arq_counts(kind):
    made, work = waiting_carrier(kind)
    right, _ = answers_of(made)
    for mode in (s5066.transmission_mode.non_arq, s5066.transmission_mode.non_arq_with_errors):
        made._take(indication(made.sap, right, mode))
    assert not work.outcomes and made.exchanges
    made._take(indication(made.sap, right))
    assert work.outcomes == [{"b@shore.example": 250}] and not made.exchanges


@pytest.mark.parametrize("kind", [CftpCarrier, HmtpCarrier])
def test_two_wrong_answers_end_an_exchange_and_one_does_not(kind):
    made, work = waiting_carrier(kind)
    right, wrong = answers_of(made)
    made._take(indication(made.sap, wrong))
    assert made.exchanges and not work.failures
    made._take(indication(made.sap, wrong))
    assert not made.exchanges and len(work.failures) == 1
    made._take(indication(made.sap, right))
    assert not work.outcomes


def test_numbers_of_files_start_at_random(tmp_path):
    first = {gateway_at(tmp_path / str(k)).file_number("1.2.0.2") for k in range(12)}
    assert len(first) > 4


# --- a slow mail server -------------------------------------------------------------------------

class Slow(mail_pair.Sink):
    """A mail server that takes its time for the last reply, on a clock of its own."""

    def __init__(self, monkeypatch, seconds):
        self.now, self.looks, self.seconds = 1000.0, threading.Semaphore(0), seconds
        monkeypatch.setattr(delivery, "time", types.SimpleNamespace(monotonic=self._clock))
        monkeypatch.setattr(delivery, "LOOK_S", 0.001)
        super().__init__()

    def _clock(self):
        self.looks.release()
        return self.now

    def _take_time(self):
        while self.looks.acquire(blocking=False):
            pass
        for _ in ("its wait for the reply begins", "it waits"):
            assert self.looks.acquire(timeout=20)
        self.now += self.seconds
        while self.looks.acquire(blocking=False):
            pass
        assert self.looks.acquire(timeout=20)  # it has seen the new time

    async def handle_DATA(self, server, session, envelope):
        await server.loop.run_in_executor(None, self._take_time)
        return await super().handle_DATA(server, session, envelope)


@pytest.mark.parametrize("seconds, code", [(75, 250), (599, 250), (601, 451)])
def test_a_mail_server_may_take_ten_minutes_for_the_last_reply(monkeypatch, seconds, code):
    sink, kept = Slow(monkeypatch, seconds), []
    try:
        outcome = deliver(sink, "a@b.c", ["anna@ship.example"], mail_pair.text(), kept=kept.append)
    finally:
        sink.close()
    assert outcome["anna@ship.example"].code == code
    assert kept == ([["anna@ship.example"]] if code == 250 else [])


def test_the_waits_are_those_of_rfc_5321():
    assert {k: s for k, s in delivery.REPLY_S.items() if k != "quit"} == {
        "": 300, "mail": 300, "rcpt": 300, "data": 120, ".": 600}
    assert delivery.BLOCK_S == 180


def test_a_gateway_that_ends_waits_no_longer():
    given_up = threading.Event()

    class Silent(mail_pair.Sink):
        """A mail server that answers to the mail when the client has gone."""

        async def handle_DATA(self, server, session, envelope):
            given_up.set()
            while not server.transport.is_closing():
                await server.loop.run_in_executor(None, gone.wait, 20)
            return "250 ok"

    gone, sink = threading.Event(), Silent()
    try:
        outcome = deliver(sink, "a@b.c", ["anna@ship.example"], mail_pair.text(), given_up)
    finally:
        gone.set()
        sink.close()
    assert outcome["anna@ship.example"].code == 451
    assert "the gateway ends" in outcome["anna@ship.example"].text


def test_the_spool_is_for_its_owner_only(tmp_path):
    (tmp_path / "old").mkdir(mode=0o755)
    before = os.umask(0o022)
    try:
        for name in ("old", "new"):
            spool.Spool(str(tmp_path / name)).close()
            assert stat.S_IMODE(os.stat(tmp_path / name).st_mode) == 0o700
    finally:
        os.umask(before)


# --- from the mail server -----------------------------------------------------------------------

def test_the_intake_takes_a_hundred_recipients():
    made = intake.Handler(lambda address, utf8: None, None, None)
    envelope = types.SimpleNamespace(rcpt_tos=[], smtp_utf8=False)

    async def name(count):
        return [await made.handle_RCPT(None, None, envelope, f"r{k}@shore.example", [])
                for k in range(count)]

    replies = asyncio.run(name(102))
    assert {reply[:3] for reply in replies[:100]} == {"250"}
    assert {reply[:9] for reply in replies[100:]} == {"452 4.5.3"}
    assert len(envelope.rcpt_tos) == 100


# --- bounds that a mutation had survived --------------------------------------------------------

def test_the_memory_of_second_copies_keeps_the_newest(tmp_path, monkeypatch):
    monkeypatch.setattr(seen, "MAX_KEYS", 100)
    memory = seen.Seen(str(tmp_path / "seen"), 1e9)
    for hour in range(12):
        newest = [f"{100 * hour + k:040x}" for k in range(100)]
        memory.add(newest, 1e9 + 3600 * hour)
    assert all(key in memory for key in newest)
    again = seen.Seen(str(tmp_path / "seen"), 1e9 + 43200)
    assert len(again) == 100 and all(key in again for key in newest)


def test_one_incomplete_file_is_bounded():
    assembler = cftp.Assembler(10_000)
    segments = s5066.cftp_segments(0, 9, b"1", bytes(60_000), 2048)
    assert len(segments) > 20
    for segment in segments[1:]:
        assert assembler.take("1.2.0.1", segment, 0) is None
        assert sum(map(len, next(iter(assembler._partial.values()), {}).values())) <= 10_000
