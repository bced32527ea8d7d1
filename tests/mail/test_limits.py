# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway without a station: what it decides about each mail, and the limits of its parts."""
import smtplib
import time
import types

from gnuradio.hf import mail, station
from gnuradio.hf.mail import bounce, carrier, cftp, desk, gateway as parts, hmtp, policy, seen
import mail_pair
import pytest
from test_hostile import Work

OK, LATER, NO = hmtp.Reply(250, "ok"), hmtp.Reply(451, "4.3.0 later"), hmtp.Reply(550, "5.1.1 no")
ROUTES = [("shore.example", "1.2.0.2", "hmtp"), ("port.example", "1.2.0.3", "hmtp"),
          ("files.example", "1.2.0.2", "cftp"), ("fleet.example", "31.255.255.255", "broadcast")]


class Quiet(mail.Gateway):
    """A gateway whose thread of delivery waits for a call of _deliver_all()."""

    def _run(self):
        pass


def made(folder, kind=Quiet, **settings):
    lines = []
    table = station.Mail(spool=str(folder / "spool"), listen="127.0.0.1:0",
                         domains=["ship.example"], receive=["hmtp"],
                         route=[station.MailRoute(*route) for route in ROUTES],
                         **{"deliver": "127.0.0.1:1", "retry_s": 100.0, "retry_max_s": 1000.0,
                            **settings})
    gateway = kind(table, "1.2.0.1", "127.0.0.1:1", lines.append)
    gateway._carriers, gateway.lines = [], lines
    gateway.start()
    return gateway


@pytest.fixture
def near(tmp_path):
    gateway = made(tmp_path)
    yield gateway
    gateway.close()


@pytest.fixture
def sink():
    server = mail_pair.Sink()
    yield server
    server.close()


def mail_to(*recipients, sender="a@ship.example", data=None, number=1):
    return hmtp.Mail(sender, list(recipients), data or mail_pair.text(number))


def arrived(gateway, *recipients, node="1.2.0.2", sender="x@shore.example", **more):
    found = hmtp.Transaction(mail_to(*recipients, sender=sender, **more))
    gateway.receive(node, "hmtp", found)
    return found


def codes(found):
    return {r: reply.code for r, reply in found.outcome.items()}


def test_what_it_says_of_each_recipient_and_sender(near):
    for recipient, code in (("b@shore.example", None), ("b@SHORE.example", None),
                            ("b@x.shore.example", 550), ("b@ship.example", 550),
                            ("b@else.example", 550), ("a b@shore.example", 553), ("b", 553)):
        reply = near.check_for_hf(recipient)
        assert (reply and reply.code) == code, recipient
    for sender, code in (("a@ship.example", 250), ("", 250), ("a b@ship.example", 553)):
        assert near.accept(mail_to("b@shore.example", sender=sender)).code == code
    assert near.accept(mail_to("b@else.example")).code == 550
    assert near.counts["accepted"] == 2
    for hops, code in ((99, 250), (100, 554)):
        looping = b"Received: x\r\n" * hops + mail_pair.text()
        assert near.accept(mail_to("b@shore.example", data=looping)).code == code
        assert codes(arrived(near, "b@ship.example", data=looping)) == (
            {} if code == 250 else {"b@ship.example": 554})
    assert len(near.spool.entries("in")) == 1


def test_a_mail_has_a_copy_for_each_node_and_protocol_or_none(tmp_path):
    near = made(tmp_path, max_messages=2, hold_octets=len(mail_pair.text()))
    some = ["b@shore.example", "c@port.example", "d@shore.example", "e@files.example"]
    reply = near.accept(mail_to(*some))
    assert reply.code == 452 and not near.spool.entries("out")  # three copies, room for two
    assert near.accept(mail_to(*some[:3])).text.startswith("2.0.0 ok: out ")
    assert [(e.node, e.recipients) for e in near.spool.entries("out")] == [
        ("1.2.0.2", ["b@shore.example", "d@shore.example"]), ("1.2.0.3", ["c@port.example"])]
    for entry in near.spool.entries("out"):
        near.spool.remove("out", entry.id)
    assert " held " in near.accept(mail_to(some[0], data=mail_pair.text() + b"x")).text
    replies = near.accept_each(mail_to(*some))
    assert sorted(r.code for r in replies.values()) == [250, 250, 452, 452]
    assert replies[some[0]] == replies[some[2]]
    near.close()


def test_what_is_due_and_what_becomes_of_it(near):
    near.accept(mail_to("b@shore.example", "c@shore.example", "d@shore.example"))
    (entry,) = near.due("hmtp", [])["1.2.0.2"]
    assert near.due("cftp", []) == near.due("hmtp", ["1.2.0.2"]) == {}
    near.settled(entry, {"b@shore.example": OK, "c@shore.example": LATER, "d@shore.example": NO})
    assert (entry.recipients, entry.error, entry.attempts) == (["c@shore.example"], str(LATER), 1)
    assert 85 < entry.next_try - time.time() <= 100 and near.due("hmtp", []) == {}
    (notice,) = near.spool.entries("in")
    assert (notice.recipients, notice.protocol) == (["a@ship.example"], "local")
    states = [(m["way"], m["state"], m["recipients"]) for m in near.recent()]
    assert states == [("out", "sent", ["b@shore.example"]),
                      ("out", f"not delivered: {NO}", ["d@shore.example"])]
    near.settled(entry, {})
    assert (entry.error, entry.attempts) == ("no reply", 2)
    assert 175 < entry.next_try - time.time() <= 200
    near.settled(entry, {"c@shore.example": OK})
    assert not near.spool.entries("out") and near.counts["sent"] == 2
    near.accept(mail_to("b@shore.example"))
    near.failed("1.2.0.2", [], "nobody")
    assert near.due("hmtp", []) == {}
    assert near.status()["nodes"]["1.2.0.2"].startswith("nobody; attempt 2 in ")
    near.reached("1.2.0.2")
    assert near.status()["nodes"]["1.2.0.2"] == "reached" and len(near.due("hmtp", [])) == 1


def test_numbers_of_files_go_on_after_a_restart(tmp_path):
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "number").write_text("254")
    for expected in ([255, 0], [1]):
        near = made(tmp_path)
        assert [near.file_number("1.2.0.2") for _ in expected] == expected
        near.close()


def test_copies_from_hf_are_kept_once(near, sink):
    first = arrived(near, "b@ship.example", "c@ship.example")
    assert not first.decided and near.counts["received"] == 1
    second = arrived(near, "b@ship.example", "d@ship.example")
    assert first.decided and codes(first) == {"b@ship.example": 250, "c@ship.example": 250}
    assert codes(second) == {"b@ship.example": 250} and not second.decided
    whole = arrived(near, "c@ship.example", "d@ship.example")
    assert whole.decided and second.decided and near.counts["second_copies"] == 2
    near.settings.deliver = sink.address
    near._deliver_all()
    assert [m[1] for m in sink.mails] == [["b@ship.example", "c@ship.example"], ["d@ship.example"]]
    assert near.counts["delivered"] == 2 and not near.spool.entries("in")
    assert {m["state"] for m in near.recent()} == {"delivered to the mail server"}
    assert arrived(near, "d@ship.example").decided and near.counts["second_copies"] == 3
    near.settings.max_messages = near.spool.max_messages = 0
    full = arrived(near, "b@ship.example", number=2)
    assert full.decided and codes(full) == {"b@ship.example": 452}


def test_the_answer_says_what_the_mail_server_says_in_time_and_a_bounce_says_it_later(near, sink):
    near.settings.deliver = sink.address
    sink.refuse = {"b@ship.example": "550 5.1.1 no", "c@ship.example": "451 4.3.0 later"}
    early = arrived(near, "b@ship.example", "d@ship.example")
    near._deliver_all()
    near.decide([early], 0.0)
    assert codes(early) == {"b@ship.example": 550, "d@ship.example": 250}
    assert not near.spool.entries("out")
    late = arrived(near, "b@ship.example", "c@ship.example", number=2)
    near.decide([late], 0.0)
    assert codes(late) == {"b@ship.example": 250, "c@ship.example": 250}
    near._deliver_all()
    (notice,) = near.spool.entries("out")
    assert (notice.node, notice.recipients, notice.sender) == ("1.2.0.2", ["x@shore.example"], "")
    (kept,) = near.spool.entries("in")
    assert kept.recipients == ["c@ship.example"] and kept.attempts == 1
    assert 85 < kept.next_try - time.time() <= 100
    near._deliver_all()  # not before its time
    assert near.spool.entries("in")[0].attempts == 1


def test_a_mail_server_that_cannot_be_reached_is_left_alone_for_a_while(near, sink):
    arrived(near, "b@ship.example")
    near._deliver_all()
    assert "4.4.1" in near.status()["mail_server"]
    waits = arrived(near, "b@ship.example", number=2)
    assert waits.decided and codes(waits) == {"b@ship.example": 250}
    near._deliver_all()
    assert [e.attempts for e in near.spool.entries("in")] == [1, 0]
    near.settings.deliver, near._mta._until = sink.address, 0.0
    near._deliver_all()  # the second mail, since the first has its own pause
    assert near.status()["mail_server"] == "reached" and len(sink.mails) == 1


def test_bounces_go_only_to_the_node_of_the_mail_and_not_without_end(near):
    def bounced(sender, node, failed="b@ship.example"):
        before = near.counts["bounced"]
        near.bounce(mail_to(failed, sender=sender), {failed: NO}, node)
        return near.counts["bounced"] - before

    assert not bounced("", "1.2.0.2") and not bounced("", "")
    for sender in ("x@port.example", "x@else.example", "x@ship.example", "x@fleet.example"):
        assert not bounced(sender, "1.2.0.2"), sender
    assert not bounced("x@fleet.example", "31.255.255.255")
    assert [bounced("x@shore.example", "1.2.0.2") for _ in range(parts.MAX_BOUNCES + 1)] == \
        [1] * parts.MAX_BOUNCES + [0]
    assert bounced("x@port.example", "1.2.0.3")
    # Of this side's own mail there is no limit, and what no route has goes to the mail server.
    assert bounced("x@fleet.example", "") and bounced("x@else.example", "")
    assert {e.protocol for e in near.spool.entries("in")} == {"local"}


def test_what_is_too_old_is_returned_once(near):
    near.accept(mail_to("b@shore.example"))
    near._expire()
    (entry,) = near.spool.entries("out")
    entry.arrived -= near.settings.expire_days * 86400
    near.spool.update("out", entry)
    near._expire()
    assert not near.spool.entries("out") and near.counts["bounced"] == 1
    assert b"5.4.7 not delivered within" in near.spool.data("in", near.spool.entries("in")[0].id)


def test_the_page_keeps_the_last_mails(near):
    for number in range(parts.MAX_RECENT + 1):
        near._note("out", types.SimpleNamespace(id=str(number), node="", octets=1, sender=""), "s",
                   [])
    assert len(near.recent()) == parts.MAX_RECENT == 50 and near.recent()[0]["id"] == "50"


def test_it_works_by_itself_and_writes_its_state(tmp_path, sink):
    near = made(tmp_path, mail.Gateway, deliver=sink.address)
    assert not arrived(near, "b@ship.example").decided
    sink.wait(1)
    with smtplib.SMTP("127.0.0.1", near.intake.bound_port(), "test", 20) as client:
        assert client.sendmail("a@ship.example", ["b@shore.example"], mail_pair.text()) == {}
    near.close()
    assert not near._thread.is_alive() and len(sink.mails) == 1


# --- limits of the parts ------------------------------------------------------------------------

def test_carriers_keep_answers_and_batches_of_a_limited_number(monkeypatch):
    one = carrier.Carrier(Work(), "127.0.0.1:1")
    monkeypatch.setattr(carrier, "MAX_WAITING", 3)
    one.submit("1.2.0.2", [b"1", b"2"], 0)
    one.submit("1.2.0.2", [b"3", b"4"], 0, asks=True)  # whole blocks
    one.submit("1.2.0.2", [b"5"], 0)
    assert [s.u_pdu for s in one._submissions] == [b"1", b"2", b"3", b"4"]
    node, client = (getattr(carrier.s5066.delivery_confirmation, w) for w in ("node", "client"))
    assert [s.mode.confirmation for s in one._submissions] == [node, node, node, client]
    entry = types.SimpleNamespace(priority=7, octets=5)
    begun = carrier.Carrier(Work(), "127.0.0.1:1")
    begun.begin(carrier.Exchange("1.2.0.2", [entry], [b"1", b"2"]))
    assert [(s.mode.confirmation, s.priority) for s in begun._submissions] == [(node, 7),
                                                                               (client, 7)]
    monkeypatch.setattr(carrier, "MAX_NODES", 2)
    for k in range(3):
        exchange = carrier.Exchange(f"1.2.0.{k}", [types.SimpleNamespace(octets=5)], [])
        one.exchanges[exchange.node] = [exchange]
        assert not one.may_begin(exchange.node)
        one.finish(exchange)
        assert one.may_begin(exchange.node)
    assert list(one._batches) == ["1.2.0.1", "1.2.0.2"]  # the oldest is forgotten


def test_a_lost_node_is_asked_again_after_a_growing_pause(monkeypatch):
    waits, one = [], carrier.Carrier(Work(), "127.0.0.1:1")
    monkeypatch.setattr(carrier.sis, "Client", lambda server: (_ for _ in ()).throw(OSError("x")))
    one._end = types.SimpleNamespace(is_set=lambda: len(waits) > 11, wait=waits.append)
    one.run()
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0] + [60.0] * 6


def test_seen_keeps_the_newest_keys(tmp_path, monkeypatch):
    monkeypatch.setattr(seen, "MAX_KEYS", 5)
    kept = seen.Seen(str(tmp_path / "seen"), 0.0)
    kept.add([f"{k:040x}" for k in range(1005)], 1.0)
    assert f"{0:040x}" in kept
    kept.add([f"{1005:040x}"], 2.0)
    assert [f"{k:040x}" in kept for k in (0, 1000, 1001, 1005)] == [False, False, True, True]


def test_limits_of_a_file_of_cftp_and_of_the_desk():
    dots = b"." * 4000
    file = cftp.file_of("1", mail_to("b@c.d", data=dots))
    assert cftp.mail_of(file, 4002).data == dots + b"\r\n" and cftp.mail_of(file, 4001) is None
    assert (desk.MAX_TEXT, desk.MAX_SUBJECT, desk.MAX_RECIPIENTS) == (10_000, 200, 20)


def test_a_session_begins_each_mail_without_the_recipients_of_the_last():
    def after(*between):
        session = hmtp.Session("s", lambda r: None, 1000)
        session.take("\r\n".join(("EHLO t.x", "MAIL FROM:<a@b.c>", "RCPT TO:<r@b.c>", *between,
                                  "DATA", "x", ".", "QUIT", "")).encode())
        return [t.mail.recipients for t in session.transactions]

    assert after() == [["r@b.c"]]
    assert after("NOOP") == [["r@b.c"]]
    assert after("RSET") == after("EHLO t.x") == []
    assert after("MAIL FROM:<a@b.c>") == []
    assert after("MAIL FROM:<a@b.c>", "RCPT TO:<s@b.c>") == [["s@b.c"]]
    assert after("DATA", "y", ".") == [["r@b.c"]]  # and no second mail


def test_a_session_has_a_limited_number_of_mails(monkeypatch):
    monkeypatch.setattr(hmtp, "MAX_MAILS", 2)
    session = hmtp.Session("s", lambda r: None, 1000)
    session.take(hmtp.block("t.x", [mail_to("b@c.d", data=b"x\r\n")] * 3))
    assert len(session.transactions) == 2 and session.over
    assert session.answer().count(b"452 4.5.3 too many mails") == 1


def test_pauses_grow_to_a_limit_and_mails_have_an_order():
    table = station.Mail(spool="x", retry_s=10.0, retry_max_s=75.0)
    for attempts, longest in ((0, 10), (1, 10), (2, 20), (3, 40), (4, 75), (99, 75)):
        assert 0.9 * longest <= policy.pause(table, attempts) <= longest
    waits = [types.SimpleNamespace(priority=p, octets=o, arrived=a, id=i) for p, o, a, i in (
        (0, 10_001, 3599, "long"), (0, 10_000, 3599, "short"), (2, 10_001, 3599, "urgent"),
        (0, 10_001, 0, "old"), (0, 5, 2, "later"))]
    assert [m.id for m in policy.in_order(waits, 3600.0)] == ["urgent", "old", "later", "short",
                                                              "long"]
    assert [m.id for m in policy.batch(waits[:1] + waits[3:], 3600.0, 2, 10_006)] == ["old",
                                                                                      "later"]
    assert len(policy.batch(waits[3:], 3600.0, 2, 10_005)) == 1
    assert len(policy.batch(waits[3:], 3600.0, 1, 99_999)) == 1


def test_a_bounce_shows_the_start_of_the_header_only():
    data = b"Subject: " + b"s" * bounce.MAX_HEADER + b"\r\n\r\nbody\r\n"
    text = bounce.notification("g.example", mail_to("b@c.d", data=data), {"b@c.d": NO}).data
    assert b"body" not in text and text.count(b"s" * 60) > 10
    assert text.count(b"s") < bounce.MAX_HEADER + 300
    assert b"Status: 5.1.1" in text
    text = bounce.notification("g.example", mail_to("b@c.d"), {"b@c.d": hmtp.Reply(554, "x")}).data
    assert b"Status: 5.0.0" in text
