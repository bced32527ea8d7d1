# SPDX-License-Identifier: GPL-3.0-or-later
"""SMTPUTF8 (RFC 6531): addresses and headers with UTF-8, and servers that do not take them."""
import email
import smtplib

from gnuradio.hf.mail import bounce, hmtp, hmtp_carrier
from gnuradio.hf.mail.spool import Envelope
import mail_pair
import pytest
from test_hostile import Work

TEXT = mail_pair.text().replace(b"mail 1", "Grüße aus Köln".encode())
MAIL = hmtp.Mail("ärnst@ship.example", ["δοκιμή@shore.example", "b@shore.example"], TEXT, True)


def submit(gateway, mail, options=("SMTPUTF8", "BODY=8BITMIME")):
    with smtplib.SMTP("127.0.0.1", gateway.intake.bound_port(), "test", 20) as client:
        return client.sendmail(mail.sender, mail.recipients, mail.data, options)


@pytest.fixture
def stations(tmp_path):
    with mail_pair.Stations(tmp_path) as made:
        yield made


def test_a_mail_with_utf8_arrives_and_so_does_its_bounce(stations):
    for name in "AB":
        stations.start(name, stations.settings(name))
    stations.sinks["B"].refuse["δοκιμή@shore.example"] = "550 5.1.1 no such mailbox"
    assert not submit(stations.gateways["A"], MAIL)
    stations.sinks["B"].wait(1)
    sender, recipients, data = stations.sinks["B"].mails[0]
    assert (sender, recipients) == (MAIL.sender, ["b@shore.example"])
    assert mail_pair.without_trace(data) == TEXT
    stations.sinks["A"].wait(1)
    assert stations.sinks["A"].mails[0][1] == [MAIL.sender]


def test_a_server_without_smtputf8_at_either_end_gives_a_bounce(stations, monkeypatch):
    for name in "AB":
        stations.start(name, stations.settings(name))
    mail = MAIL._replace(sender="anna@ship.example")
    greet = hmtp.Session._greet
    monkeypatch.setattr(stations.sinks["B"]._server, "SMTP_kwargs",
                        {**stations.sinks["B"]._server.SMTP_kwargs, "enable_SMTPUTF8": False})
    submit(stations.gateways["A"], mail)
    stations.sinks["A"].wait(1)
    assert b"550 5.6.7 the mail server" in stations.sinks["A"].mails[0][2].replace(b"\n ", b" ")
    # The far gateway is one of another maker.
    monkeypatch.setattr(hmtp.Session, "_greet", lambda session, line: (
        greet(session, line), session._lines.pop(), session._say(250, "8BITMIME")))
    taken = []
    mail_in = hmtp.Session._mail
    monkeypatch.setattr(hmtp.Session, "_mail", lambda session, path: (
        taken.append(path.group()), mail_in(session, path)))
    for gateway in stations.gateways.values():
        next(c for c in gateway._carriers if c.protocol == "hmtp")._with_utf8.clear()
    submit(stations.gateways["A"], mail._replace(data=TEXT.replace(b"<1@", b"<2@")))
    stations.sinks["A"].wait(2)
    assert b"550 5.6.7 the far gateway" in stations.sinks["A"].mails[1][2].replace(b"\n ", b" ")
    assert not stations.sinks["B"].mails and not taken


def test_what_cannot_go_as_utf8_is_refused_at_the_intake(stations):
    near = stations.start("A", stations.settings("A"))
    plain = hmtp.Mail("anna@ship.example", ["bert@shore.example"], mail_pair.text())

    def reply(sender, recipient, parameter=" SMTPUTF8"):
        with smtplib.SMTP("127.0.0.1", near.intake.bound_port(), "test", 20) as client:
            client.ehlo()
            client.command_encoding = "utf-8"
            for command in (f"MAIL FROM:<{sender}>{parameter}", f"RCPT TO:<{recipient}>", "DATA"):
                code, text = client.docmd(command)
                if code >= 400:
                    return f"{code} {text.decode()}"[:9]
            client.send(b"Subject: x\r\n\r\n.\r\n")
            code, text = client.getreply()
            return f"{code} {text.decode()}"[:9]

    assert reply(*MAIL[:1], MAIL.recipients[0]) == "250 2.0.0"
    assert reply(plain.sender, MAIL.recipients[0], "") == "553 5.6.7"
    assert reply(MAIL.sender, "bert@shore.example", "") == "553 5.6.7"
    assert reply(plain.sender, "ü＠b@shore.example") == "553 5.1.3"
    assert reply("ü％b@ship.example", "bert@shore.example") == "553 5.1.7"
    near.settings.route[0].protocol = "cftp"
    assert reply(plain.sender, "bert@shore.example") == "550 5.6.7"
    assert reply(plain.sender, "bert@shore.example", "") == "250 2.0.0"


@pytest.mark.parametrize("parameter, sender, recipient, codes", [
    (" SMTPUTF8", "ü@b.c", "δ@ü.example", [b"250", b"250"]),
    (" BODY=8BITMIME smtputf8", "ü@b.c", "b@b.c", [b"250", b"250"]),
    ("", "ü@b.c", "b@b.c", [b"553", b"503"]),
    ("", "a@b.c", "δ@b.c", [b"250", b"553"]),
    (" SMTPUTF8", "a＠b@b.c", "b@b.c", [b"501", b"503"]),
    (" SMTPUTF8", "a@b.c", "ü％x@b.c", [b"250", b"501"]),
    (" SMTPUTF8", "a@b.c", "\u202eü@b.c", [b"250", b"501"]),
    (" SMTPUTF8", "a@b.c", "b@\u212a.example", [b"250", b"501"]),  # a "k" of another kind
    (" SMTPUTF8", "ü" * 158 + "@b.c", "ü" * 159 + "@b.c", [b"250", b"501"]),  # 320 octets
])
def test_a_session_takes_utf8_only_with_the_parameter(parameter, sender, recipient, codes):
    session = hmtp.Session("shore.example", lambda r: None, 1000)
    session.take(f"EHLO t.x\r\nMAIL FROM:<{sender}>{parameter}\r\nRCPT TO:<{recipient}>\r\n"
                 "DATA\r\nx\r\n.\r\nMAIL FROM:<ü@b.c>\r\nQUIT\r\n".encode())
    lines = session.answer().split(b"\r\n")
    assert lines[3] == b"250 SMTPUTF8"
    assert [line[:3] for line in lines[4:6]] == codes
    assert lines[-3].startswith(b"553 5.6.7")  # the parameter holds for one mail
    assert all(t.mail.utf8 == bool(parameter) for t in session.transactions)


def test_nothing_is_sent_to_a_server_before_it_has_offered_smtputf8():
    work, ends = Work(), []
    work.settled = lambda mail, outcome: ends.append((mail.id, outcome))
    made = hmtp_carrier.HmtpCarrier(work, "127.0.0.1:1")
    made.client = type("Client", (), {"mtu": 2048})
    mails = [Envelope(str(k), "a@b.c", ["b@b.c"], "1.2.0.2", "hmtp", 5, 1.0, utf8=k == 1)
             for k in range(2)]

    def answer(text):
        sent = b"".join(made.exchanges["1.2.0.2"][0].waiting)
        name = made.exchanges["1.2.0.2"][0].state.name
        made.arrived("1.2.0.2", text.format(name).encode())
        return sent

    offers, plain = "250-b {}\r\n250 smtputf8\r\n", "250-b {}\r\n250 8BITMIME\r\n"
    ok = "250 ok\r\n250 ok\r\n354 go\r\n250 ok\r\n"
    for ehlo, outcome in ((plain, {"b@b.c": hmtp_carrier._NO_UTF8}), ("500 {}\r\n", {})):
        made.start_exchange("1.2.0.2", mails)
        assert b"MAIL" not in answer(ehlo + "221 bye\r\n")
        assert ends == [("1", outcome)]
        ends.clear()
    made.start_exchange("1.2.0.2", mails)
    assert b"MAIL" not in answer(offers + "221 bye\r\n") and not ends
    made.start_exchange("1.2.0.2", mails)
    assert answer(offers + 2 * ok + "221 bye\r\n").count(b"SMTPUTF8") == 1
    assert [number for number, _ in ends] == ["0", "1"]
    # Another server answers there now.
    made.start_exchange("1.2.0.2", mails[:1])
    answer(plain + ok + "221 bye\r\n")
    made.start_exchange("1.2.0.2", mails)
    assert b"MAIL" not in answer(plain + "221 bye\r\n")


def test_a_bounce_names_utf8_addresses():
    failed = {MAIL.recipients[0]: hmtp.Reply(550, "5.1.1 no")}
    for sender, raw in (("anna@ship.example", False), (MAIL.sender, True)):
        made = bounce.notification("shore.example", MAIL._replace(sender=sender), failed)
        assert (made.recipients, made.utf8) == ([sender], raw)
        assert (f"To: {sender}\r\n".encode() in made.data) and made.data.isascii() != raw
        parts = list(email.message_from_bytes(made.data).walk())
        assert MAIL.recipients[0] in parts[1].get_payload(decode=True).decode()
        assert b"utf-8; \\x{3B4}\\x{3BF}" in made.data
