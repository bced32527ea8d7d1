# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of the mail gateway by themselves: HMTP, CFTP, batch-SMTP, spool, memory, policy, bounces.
Every parser gets damaged input as well."""
import email
import gzip
import json
import os
import random
import subprocess
import types

from gnuradio.hf import station
from gnuradio.hf.mail import bounce, broadcast, carrier, cftp, desk, hmtp, policy, seen
from gnuradio.hf.mail.spool import Envelope, Spool, SpoolError, parse
from gnuradio.hf.sis import s5066
import pytest

MAIL = hmtp.Mail("a@ship.example", ["b@shore.example", "c@shore.example"],
                 b"Subject: x\r\n\r\n.dot\r\n..two\r\n\xff\r\n")
REFUSED = hmtp.Reply(550, "5.1.1 unknown")


def serve(octets, check=lambda recipient: None, outcome=None, max_octets=10000, step=7):
    """A server session that reads a block in pieces; its answer, and the mails it has got."""
    session = hmtp.Session("shore.example", check, max_octets)
    for at in range(0, len(octets), step):
        session.take(octets[at:at + step])
    for transaction in session.transactions:
        transaction.outcome = outcome or {r: hmtp.Reply(250, "ok")
                                          for r in transaction.mail.recipients}
    return session, session.answer()


# --- HMTP ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("step", [1, 7, 2048])
def test_a_session_arrives_and_its_answer_settles_each_recipient(step):
    other = hmtp.Mail("", ["d@shore.example"], b"Subject: y\r\n\r\nz\r\n")
    octets = hmtp.block("t4g.ship.example", [MAIL, other])
    session, answer = serve(octets, step=step)
    assert session.over and [t.mail for t in session.transactions] == [MAIL, other]
    found = hmtp.Answer("t4g.ship.example", [MAIL, other])
    assert found.is_mine(answer)
    for at in range(0, len(answer), step):
        found.take(answer[at:at + step])
    assert found.complete
    assert [{r: x.code for r, x in o.items()} for o in found.outcomes] == [
        {"b@shore.example": 250, "c@shore.example": 250}, {"d@shore.example": 250}]
    assert len(answer) < 250


def test_what_the_mail_server_thinks_of_a_recipient_is_in_the_reply_to_rcpt():
    octets = hmtp.block("t.ship.example", [MAIL])
    _, answer = serve(octets, outcome={"b@shore.example": hmtp.Reply(250, "ok"),
                                       "c@shore.example": REFUSED})
    found = hmtp.Answer("t.ship.example", [MAIL])
    found.take(answer)
    assert {r: x.code for r, x in found.outcomes[0].items()} == {"b@shore.example": 250,
                                                                 "c@shore.example": 550}


def test_without_a_recipient_the_mail_is_not_read_as_commands():
    tricky = MAIL._replace(data=b"Subject: x\r\n\r\nMAIL FROM:<x@y>\r\nQUIT\r\n")
    session, answer = serve(hmtp.block("t.ship.example", [tricky]), check=lambda r: REFUSED)
    assert not session.transactions and session.over
    assert [line[:3] for line in answer.split(b"\r\n")[4:-1]] == [
        b"250", b"550", b"550", b"354", b"554", b"221"]


def test_an_answer_whose_data_was_refused_is_not_counted_further():
    found = hmtp.Answer("t.ship.example", [MAIL, MAIL])
    found.take(b"220 greeting\r\n250 shore\r\n250 ok\r\n550 no\r\n550 no\r\n503 no rcpt\r\n"
               b"500 what\r\n250 ok\r\n")
    assert found.complete and found.outcomes[1] == {}
    assert [x.code for x in found.outcomes[0].values()] == [550, 550]
    # The reply to DATA counts for recipients that were accepted, too.
    found = hmtp.Answer("t.ship.example", [MAIL])
    found.take(b"250 shore\r\n250 ok\r\n250 ok\r\n250 ok\r\n451 disk\r\n")
    assert found.complete and {x.code for x in found.outcomes[0].values()} == {451}


def test_precedences_are_priorities_of_the_data_link():
    assert [policy.priority(b"MMHS-Primary-Precedence: %d\r\n\r\n" % k)
            for k in (0, 1, 2, 3, 4, 5, 6)] == [0, 0, 2, 4, 6, 8, 0]


def test_limits_of_a_mail_from_the_page():
    taken = []
    settings = types.SimpleNamespace(domains=["ship.example"])
    gateway = types.SimpleNamespace(settings=settings, check_for_hf=lambda r: None, accept=lambda
                                    mail: taken.append(mail) or hmtp.Reply(250, "ok"))
    made = desk.Desk(gateway)
    many = ", ".join(f"{k}@shore.example" for k in range(desk.MAX_RECIPIENTS))
    made.send("a@ship.example", many, "s" * desk.MAX_SUBJECT, "t" * desk.MAX_TEXT)
    assert len(taken) == 1 and len(taken[0].recipients) == desk.MAX_RECIPIENTS
    for to, subject, text, wrong in (
            (many + ", x@y.z", "s", "t", "recipients"), ("", "s", "t", "recipients"),
            (many, "s" * (desk.MAX_SUBJECT + 1), "t", "subject"),
            (many, "s", "t" * (desk.MAX_TEXT + 1), "mail"), (many, "s", " ", "mail")):
        with pytest.raises(ValueError, match=wrong):
            made.send("a@ship.example", to, subject, text)
    assert len(taken) == 1


def test_a_server_that_does_not_reply_to_everything_is_understood():
    found = hmtp.Answer("t.ship.example", [MAIL])
    found.take(b"250-t.ship.example Hello\r\n250-PIPELINING\r\n250 8BITMIME\r\n250 source\r\n"
               b"250 destination\r\n250 destination\r\n250 DATA OK\r\n")
    assert not found.enough
    found.take(b"250 OK\r\n")
    assert found.enough and not found.complete
    assert {x.code for x in found.outcomes[0].values()} == {250}


def test_a_stale_answer_is_known_by_its_tag_and_a_foreign_one_has_none():
    found = hmtp.Answer("aaa.ship.example", [MAIL])
    assert found.is_mine(b"250-shore.example bbb.ship.example\r\n") is False
    assert found.is_mine(b"250-shore.example aaa.ship.example\r\n") is True
    assert found.is_mine(b"250-mx.shore.example\r\n250 PIPELINING\r\n") is None


def test_limits_of_a_session():
    many = MAIL._replace(recipients=[f"r{k}@shore.example" for k in range(101)])
    _, answer = serve(hmtp.block("t.s", [many]), max_octets=1 << 20)
    assert answer.count(b"452 4.5.3") == 1
    _, answer = serve(hmtp.block("t.s", [MAIL._replace(data=b"xxx\r\n" * 1000)]), max_octets=1000)
    assert b"552 5.3.4" in answer
    session, _ = serve(b"x" * 200000, max_octets=10000, step=2000)
    assert session.over
    _, answer = serve(b"NONSENSE\r\n" * 1000)
    assert answer.count(b"500") == hmtp.MAX_ERRORS
    for wrong in ("a b@c", "a@", "@b", "a@b..<", "a" * 400 + "@b", "ü@b"):
        assert not hmtp.good_path(wrong), wrong
    assert hmtp.good_path("", empty=True) and not hmtp.good_path("")


def test_no_u_pdu_inside_a_session_looks_like_the_start_of_one():
    inner = hmtp.block("x.example", [MAIL])
    octets = hmtp.block("t.ship.example", [MAIL._replace(data=b"Subject: x\r\n\r\n" + inner)])
    for mtu in range(60, 400):
        pieces = hmtp.u_pdus(octets, mtu)
        assert b"".join(pieces) == octets and max(map(len, pieces)) <= mtu
        assert not any(hmtp.SESSION_START.match(p) for p in pieces[1:])


def damaged(good, draw):
    """Octets with some changed, removed, repeated or added."""
    octets = bytearray(good)
    for _ in range(draw.randrange(1, 8)):
        at = draw.randrange(len(octets) + 1)
        kind = draw.randrange(4)
        if kind == 0 and at < len(octets):
            octets[at] = draw.randrange(256)
        elif kind == 1:
            del octets[at:at + draw.randrange(1, 30)]
        elif kind == 2:
            octets[at:at] = octets[at:at + draw.randrange(1, 60)]
        else:
            octets[at:at] = draw.choice([b"\r\n", b".\r\n", b"\0", b"DATA\r\n", b"QUIT\r\n",
                                         b"250-", b"999 x\r\n", b"\xff" * 9])
    return bytes(octets)


def test_damaged_sessions_and_answers():
    draw = random.Random(1)
    block = hmtp.block("t.ship.example", [MAIL, MAIL])
    _, answer = serve(block)
    for _ in range(3000):
        session, _ = serve(damaged(block, draw), step=draw.choice([3, 50, 2048]))
        for t in session.transactions:
            assert t.mail.recipients and hmtp.good_path(t.mail.sender, empty=True)
            assert all(map(hmtp.good_path, t.mail.recipients)) and len(t.mail.data) <= 10000
        found = hmtp.Answer("t.ship.example", [MAIL, MAIL])
        text = damaged(answer, draw)
        found.is_mine(text)
        found.take(text)
        for mail, outcome in zip([MAIL, MAIL], found.outcomes):
            assert set(outcome) <= set(mail.recipients)


# --- CFTP and broadcasts ------------------------------------------------------------------------


class BroadcastWork:
    """What a carrier of broadcasts asks of its gateway."""

    name = "ship.example"
    settings = station.Mail(max_octets=10000)

    def __init__(self, route):
        self.route, self.arrived, self.done, self.lines = route, [], {}, []

    def broadcast(self, node):
        assert node == self.route.node
        return self.route

    def data(self, mail):
        return MAIL.data * 40

    def settled(self, mail, outcome):
        self.done[mail.id] = outcome

    def check(self, recipient):
        return None

    def receive(self, node, protocol, arrived):
        self.arrived.append(arrived.mail)

    def decide(self, arrived, wait_s):
        pass

    def file_number(self, node):
        return 1

    def say(self, text):
        self.lines.append(text)


class UdopClient:
    mtu = s5066.MTU


def sent_broadcast(route, mails):
    """What a carrier submits at each interval of 30 s."""
    work = BroadcastWork(route)
    near = broadcast.BroadcastCarrier(work, "127.0.0.1:1")
    near.client = UdopClient()
    near.start_exchange(route.node, mails)
    found = []
    for k in range(1000):
        if near._submissions:
            assert {s.mode.retransmissions for s in near._submissions} == {
                0 if route.loss else route.repeats}
            found.append([s.u_pdu for s in near._submissions])
            near._submissions.clear()
        near.tick(30.0 * k)
    assert not near.exchanges
    return work, found


def envelopes(count):
    return [Envelope(f"m{k}", "a@ship.example", ["all@fleet.example"], "31.255.255.255",
                     "broadcast", 400, 0.0) for k in range(count)]


def test_a_mail_to_all_arrives_at_three_receivers_of_which_each_loses_a_fifth():
    pytest.importorskip("zfec", reason="zfec is missing (Debian: python3-zfec)")
    route = station.MailRoute("fleet.example", "31.255.255.255", "broadcast", loss=20)
    draw, lost = random.Random(1), 0
    for _ in range(100):
        work, groups = sent_broadcast(route, envelopes(2))
        assert set(work.done) == {"m0", "m1"} and len(groups) == 2 * 17
        for _ in range(3):
            far = BroadcastWork(route)
            receiver = broadcast.BroadcastCarrier(far, "127.0.0.1:1")
            for u_pdus in groups:
                if draw.random() >= 0.2:
                    for u_pdu in u_pdus:
                        receiver.arrived("1.2.0.1", u_pdu)
            lost += 2 - len(far.arrived)
            assert all(m.data == MAIL.data * 40 for m in far.arrived)
    # 99.9 % are promised: 600 mails lose more than 4 with a probability of 0.0004.
    assert lost <= 4, f"{lost} of 600 mails are missing"


def test_a_long_pause_between_coded_blocks_is_no_missing_answer():
    pytest.importorskip("zfec", reason="zfec is missing (Debian: python3-zfec)")
    route = station.MailRoute("fleet.example", "31.255.255.255", "broadcast", loss=20,
                              interval_s=3600.0)
    work = BroadcastWork(route)
    near = broadcast.BroadcastCarrier(work, "127.0.0.1:1")
    near.client = UdopClient()
    near.start_exchange(route.node, envelopes(1))
    assert route.interval_s > work.settings.answer_s
    begin = near.exchanges[route.node][0].begun
    for k in range(17 * 6 + 1):
        near.tick(begin + 600.0 * k)
        near._check_times(begin + 600.0 * k + 0.5)  # a failure would call work.failed()
    assert list(work.done) == ["m0"] and not near.exchanges


def test_mails_that_cannot_be_coded_are_returned():
    pytest.importorskip("zfec", reason="zfec is missing (Debian: python3-zfec)")
    route = station.MailRoute("fleet.example", "31.255.255.255", "broadcast", loss=90)
    work = BroadcastWork(route)
    work.data = lambda mail: b"x" * 1_000_000
    near = broadcast.BroadcastCarrier(work, "127.0.0.1:1")
    near.client = UdopClient()
    near.start_exchange(route.node, envelopes(1))
    assert [r.code for r in work.done["m0"].values()] == [552] and not near.exchanges


def test_without_loss_a_broadcast_has_copies():
    route = station.MailRoute("fleet.example", "31.255.255.255", "broadcast", repeats=3)
    work, groups = sent_broadcast(route, envelopes(1))
    assert len(groups) == 1 and set(work.done) == {"m0"}


def test_cftp_has_the_fields_of_f_14_5():
    file = cftp.file_of("abc1", MAIL)
    assert gzip.decompress(file) == (
        b"abc1\na@ship.example,b@shore.example,c@shore.example\n35\n"
        b"Subject: x\r\n\r\n..dot\r\n...two\r\n\xff\r\n.\r\n")
    assert cftp.mail_of(file, 1000) == MAIL
    bounced = MAIL._replace(sender="")
    assert cftp.mail_of(cftp.file_of("1", bounced), 1000) == bounced
    empty = gzip.compress(b"1\n ,b@c.d\n3\n.\r\n")
    assert cftp.mail_of(empty, 10) == hmtp.Mail("", ["b@c.d"], b"")
    with pytest.raises(ValueError, match="10239"):
        cftp.file_of("1", MAIL._replace(recipients=["r" * 300 + "@x.y"] * 40))


def test_cftp_refuses_what_is_too_long_without_unpacking_it():
    bomb = gzip.compress(b"1\na@b.c,d@e.f\n30000003\n" + b"x" * 30_000_000 + b".\r\n", 1)
    assert cftp.mail_of(bomb, 100_000) is None


def test_cftp_files_in_segments_of_many_nodes():
    draw = random.Random(2)
    mail = MAIL._replace(data=b"Subject: x\r\n\r\n" + draw.randbytes(6000).hex().encode()
                         + b"\r\n")
    file = cftp.file_of("1", mail)
    segments = s5066.cftp_segments(0, 9, b"1", file)
    assert len(segments) >= 3
    assembler = cftp.Assembler(100_000)
    assert assembler.take("1.2.0.1", segments[1], 0) is None
    assert assembler.take("1.2.0.2", segments[0], 0) is None
    assert assembler.take("1.2.0.1", segments[0], 0) is None
    found = [assembler.take("1.2.0.1", s, 0) for s in segments[2:]]
    assert found[-1] == (0, 9, file)
    for k in range(50):
        assembler.take(f"1.2.1.{k % 16}", s5066.cftp_segments(0, k, b"1", file)[0], k)
    assert len(assembler) <= cftp.MAX_PARTIAL
    assert cftp.acknowledged(s5066.cftp_acknowledgement(0, 9)) == 9
    assert cftp.acknowledged(segments[0]) is None


def test_damaged_files():
    draw = random.Random(3)
    file = cftp.file_of("1", MAIL)
    plain = gzip.decompress(file)
    segment = s5066.cftp_segments(0, 1, b"1", file)[0]
    assembler = cftp.Assembler(10000)
    for k in range(3000):
        for octets in (damaged(file, draw), gzip.compress(damaged(plain, draw), 1)):
            mail = cftp.mail_of(octets, 1000)
            assert mail is None or (mail.recipients and len(mail.data) <= 1000)
        assembler.take("1.2.0.1", damaged(segment, draw), k)
        cftp.acknowledged(damaged(s5066.cftp_acknowledgement(0, 1), draw))
    assert len(assembler) <= cftp.MAX_PARTIAL


def test_batch_smtp_objects():
    octets = broadcast.object_of("ship.example", MAIL)
    session, _ = serve(broadcast.session_of(octets))
    assert [t.mail for t in session.transactions] == [MAIL]
    assert broadcast.session_of(b"Content-Type: text/plain\r\n\r\nEHLO x") is None
    draw = random.Random(4)
    for _ in range(1000):
        found = broadcast.session_of(damaged(octets, draw))
        assert found is None or isinstance(serve(found)[1], bytes)


# --- spool --------------------------------------------------------------------------------------

def envelope(spool, **more):
    return Envelope(**{"id": spool.new_id(), "sender": "a@b.c", "recipients": ["d@e.f"],
                       "node": "1.2.0.2", "protocol": "hmtp", "octets": 5, "arrived": 1.0,
                       **more})


def test_mails_survive_and_half_ones_are_swept(tmp_path):
    spool = Spool(str(tmp_path))
    spool.start()
    kept = envelope(spool)
    spool.add("out", kept, b"hello")
    spool.close()
    (tmp_path / "tmp" / "half.eml").write_bytes(b"x")
    (tmp_path / "out" / "lone.eml").write_bytes(b"x")
    (tmp_path / "in" / "lone.json").write_bytes(b"{}")
    again = Spool(str(tmp_path))
    again.start()
    assert again.entries("out") == [kept] and again.data("out", kept.id) == b"hello"
    assert not os.listdir(tmp_path / "tmp") and not again.entries("in")
    assert len(os.listdir(tmp_path / "out")) == 2 and not os.listdir(tmp_path / "in")
    with pytest.raises(SpoolError, match="another gateway"):
        Spool(str(tmp_path)).start()
    assert Spool(str(tmp_path)).has_gateway()


def test_held_mails_are_released_once_by_another_process(tmp_path):
    spool, other = Spool(str(tmp_path)), Spool(str(tmp_path))
    mail = envelope(spool)
    spool.add("held", mail, b"hello")
    assert other.find(mail.id) == "held" and other.release(mail.id)
    assert not other.release(mail.id) and not other.release("nosuchmail")
    assert spool.entries("out") == [mail] and not spool.entries("held")
    assert other.remove("out", mail.id) and not other.remove("out", mail.id)
    spool.update("out", mail)  # of a mail that an operator has dropped
    assert spool.find(mail.id) is None and other.find("../" + mail.id) is None


def test_the_spool_is_bounded(tmp_path):
    spool = Spool(str(tmp_path), max_messages=2, max_octets=12)
    spool.add("out", envelope(spool), b"hello")
    with pytest.raises(SpoolError, match="full, 12 octets"):
        spool.add("in", envelope(spool), b"longer mail")
    spool.add("in", envelope(spool), b"hello")
    with pytest.raises(SpoolError, match="full, 2 mails"):
        spool.add("held", envelope(spool), b"")


def test_a_full_disk_keeps_nothing_half(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)],
                          capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no right to mount a small disk: {made.stderr.strip()}")
    try:
        spool = Spool(str(folder))
        spool.start()
        stored = 0
        with pytest.raises(SpoolError, match="No space left"):
            for stored in range(100):
                spool.add("out", envelope(spool, octets=9000), b"x" * 9000)
        assert 2 <= stored == len(spool.entries("out")) == len(os.listdir(folder / "out")) // 2
        assert not os.listdir(folder / "tmp")
        spool.remove("out", spool.entries("out")[0].id)
        spool.add("out", envelope(spool), b"hello")  # there is room again
        spool.close()
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_damaged_envelopes(tmp_path):
    spool = Spool(str(tmp_path))
    good = json.dumps(vars(envelope(spool))).encode()
    assert parse(good) is not None
    draw = random.Random(5)
    for _ in range(5000):
        found = parse(damaged(good, draw))
        assert found is None or all(isinstance(r, str) for r in found.recipients)
    for wrong in (b"", b"[]", b"null", b'{"id": 1}', b"[" * 100000,
                  good.replace(b'["d@e.f"]', b'"d@e.f"'), good.replace(b"1.0", b'"x"')):
        assert parse(wrong) is None


# --- memory, policy, bounces --------------------------------------------------------------------

def test_second_copies_are_known_for_a_week_by_message_id_body_and_recipient(tmp_path):
    data = b"Received: from x\r\nMessage-ID: <1@x>\r\n\r\nbody\r\n"
    key = seen.key(data, "a@b.c", "d@e.f")
    assert key == seen.key(data.replace(b"from x", b"from y"), "a@b.c", "D@e.f")
    for other in (seen.key(data, "a@b.c", "x@e.f"),
                  seen.key(data.replace(b"<1@", b"<2@"), "a@b.c", "d@e.f"),
                  seen.key(data.replace(b"body", b"text"), "a@b.c", "d@e.f")):
        assert other != key
    path = str(tmp_path / "seen")
    memory = seen.Seen(path, 1e9)
    memory.add([key], 1e9)
    with open(path, "a", encoding="ascii") as file:
        file.write("1000000000 cut off")  # a kill in the middle of a line
    assert key in seen.Seen(path, 1e9 + seen.WEEK_S - 1)
    assert key not in seen.Seen(path, 1e9 + seen.WEEK_S + 1)
    draw = random.Random(6)
    with open(path, "wb") as file:
        file.write(damaged(b"1000000000 " + b"a" * 40 + b"\n", draw) * 50)
    assert len(seen.Seen(path, 1e9)) <= 50


def test_routes_loops_and_order():
    made = station.parse("""address = "1.2.0.1"
[sis_server]
[mail]
spool = "/tmp/x"
domains = ["Ship.example"]
[[mail.route]]
domain = "shore.example"
node = "1.2.0.2"
[[mail.route]]
domain = ".fleet.example"
node = "1.2.0.3"
protocol = "cftp"
[[mail.route]]
domain = "*"
node = "1.2.0.4"
""").mail
    nodes = [policy.route(made, r).node for r in ("a@SHORE.example", "a@b.fleet.example",
                                                  "a@fleet.example")]
    assert nodes == ["1.2.0.2", "1.2.0.3", "1.2.0.4"]
    assert policy.refusal_from_hf(made, "a@ship.example") is None
    assert policy.refusal_from_hf(made, "a@b.ship.example").code == 550
    line = b"Received: from y\r\n\tby ship.example (hf mail) with HMTP id 1;\r\n\tdate\r\n"
    assert not policy.loops(2 * line + b"\r\n", "ship.example")
    assert policy.loops(3 * line + b"\r\n", "ship.example")
    assert policy.loops(b"Received: x\r\n" * 100 + b"\r\n", "other")
    mails = [Envelope(str(k), "", ["x@y"], "n", "hmtp", octets, 100.0 + k, priority)
             for k, (octets, priority) in enumerate([(50000, 0), (100, 0), (100, 4), (200, 0)])]
    assert [m.id for m in policy.in_order(mails, 200)] == ["2", "1", "3", "0"]
    assert [m.id for m in policy.in_order(mails, 9999)] == ["2", "0", "1", "3"]
    assert [m.id for m in policy.batch(mails[1::2], 200, 20, 250)] == ["1"]
    assert policy.priority(b"MMHS-Primary-Precedence: 4\r\n\r\n") == 6
    waits = [policy.pause(made, k) for k in range(1, 400)]
    assert 54 <= waits[0] <= 60 and 3240 <= max(waits) <= 3600


@pytest.mark.parametrize("text, wrong", [
    ("", "spool"), ('spool = "x"', "domains"),
    ('spool = "x"\ndomains = ["*"]', "open relay"),
    ('spool = "x"\ndomains = ["a.b"]\nlisten = "0.0.0.0:25"', "loopback"),
    ('spool = "x"\ndomains = ["a.b"]\ndeliver = "mx"', "HOST:PORT"),
    ('spool = "x"\ndomains = ["a.b"]\nbounces = "mx:0"', "bounces = 'mx:0'"),
    ('spool = "x"\ndomains = ["a.b"]\nreceive = ["smtp"]', "'smtp'"),
    ('spool = "x"\n[[mail.route]]\ndomain = "a.b"', "needs node"),
    ('spool = "x"\n[[mail.route]]\ndomain = "a.b"\nnode = "1.2.0.2"\nprotocol = "uucp"', "uucp"),
    ('spool = "x"\n[[mail.route]]\ndomain = "a.b"\nnode = "1.2.0.2"\nprotocol = "broadcast"',
     "group")])
def test_wrong_tables_are_refused(text, wrong):
    with pytest.raises(station.StationError, match=wrong):
        station.parse(f'address = "1.2.0.1"\n[sis_server]\n[mail]\n{text}\n')


def test_mail_needs_a_sis_server():
    with pytest.raises(station.StationError, match=r"\[sis_server\]"):
        station.parse('address = "1.2.0.1"\n[mail]\nspool = "x"\ndomains = ["a.b"]\n')


def test_a_bounce_says_what_failed_to_people_and_programs():
    notice = bounce.notification("ship.example", MAIL, {"c@shore.example": REFUSED})
    assert notice.sender == "" and notice.recipients == ["a@ship.example"]
    message = email.message_from_bytes(notice.data)
    assert message.get_content_type() == "multipart/report" and message["Message-ID"]
    people, status, header = message.get_payload()
    assert "c@shore.example" in people.get_payload() and "550" in people.get_payload()
    assert status.get_payload()[1]["Status"] == "5.1.1"
    assert header.get_payload().startswith("Subject: x")
    assert all(len(line) < 998 and line.isascii() for line in notice.data.split(b"\r\n"))


@pytest.mark.parametrize("peers, heard", [
    ([], ["1.2.0.2", "1.2.0.3", "1.2.0.4"]), (["*"], ["1.2.0.2", "1.2.0.3", "1.2.0.4"]),
    (["1.2.0.3"], ["1.2.0.2", "1.2.0.3"])])
def test_only_peers_and_nodes_of_routes_are_heard(peers, heard):
    found = []

    class Work(carrier.Work):
        settings = station.Mail(spool="x", domains=["a.example"], peers=peers,
                                route=[station.MailRoute("b.example", "1.2.0.2")])

        def reached(self, node):
            found.append(node)

    class Carrier(carrier.Carrier):
        sap = 3

        def arrived(self, node, u_pdu):
            found.append(u_pdu)

    Work.settings.check()
    made = Carrier(Work(), "127.0.0.1:1")
    for node in ("1.2.0.2", "1.2.0.3", "1.2.0.4"):
        indication = s5066.s_unidata_indication()
        indication.src, indication.src_sap, indication.u_pdu = s5066.address(node), 3, b"x"
        made._take(indication)
    assert [node for node in found if node != b"x"] == heard and found.count(b"x") == len(heard)


def test_peers_are_nodes():
    for bad in ("x", "31.255.255.255", "", "*"):
        made = station.Mail(spool="x", domains=["a.example"], peers=["1.2.0.1", bad])
        with pytest.raises(station.StationError, match="peers"):
            made.check()
