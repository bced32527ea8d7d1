# SPDX-License-Identifier: GPL-3.0-or-later
"""Mail from a mail server through two gateways and two stations to another mail server."""
import pathlib
import random
import shutil
import smtplib
import subprocess
import threading

from click.testing import CliRunner
from gnuradio.hf import sis, station
from gnuradio.hf.cli import hf as command
from gnuradio.hf.mail import delivery
from gnuradio.hf.station import pair
from gnuradio.hf.system import netns
import mail_pair
import pytest


def submit(gateway, sender, recipients, data):
    with smtplib.SMTP("127.0.0.1", gateway.intake.bound_port(), "test", 20) as client:
        return client.sendmail(sender, recipients, data, ["BODY=8BITMIME"])


@pytest.mark.parametrize("protocol", ["hmtp", "cftp"])
def test_mail_arrives_octet_for_octet(tmp_path, protocol):
    with mail_pair.Stations(tmp_path) as stations:
        for name in "AB":
            stations.start(name, stations.settings(name, protocol))
        sent = mail_pair.text()
        refused = submit(stations.gateways["A"], "anna@ship.example",
                         ["bert@shore.example", "carl@shore.example"], sent)
        assert not refused
        stations.sinks["B"].wait(1)
        sender, recipients, data = stations.sinks["B"].mails[0]
        assert sender == "anna@ship.example"
        assert recipients == ["bert@shore.example", "carl@shore.example"]
        assert mail_pair.without_trace(data) == sent
        stations.wait(lambda: stations.gateways["A"].counts["sent"] == 1)
        assert not stations.gateways["A"].spool.entries("out")


@pytest.fixture
def stations(tmp_path):
    with mail_pair.Stations(tmp_path) as made:
        yield made


def test_a_recipient_that_the_far_mail_server_refuses_is_bounced(stations):
    for name in "AB":
        stations.start(name, stations.settings(name))
    stations.sinks["B"].refuse["carl@shore.example"] = "550 5.1.1 no such mailbox"
    submit(stations.gateways["A"], "anna@ship.example",
           ["bert@shore.example", "carl@shore.example"], mail_pair.text())
    stations.sinks["B"].wait(1)
    stations.sinks["A"].wait(1)
    assert stations.sinks["B"].mails[0][1] == ["bert@shore.example"]
    sender, recipients, data = stations.sinks["A"].mails[0]
    assert (sender, recipients) == ("<>", ["anna@ship.example"])  # as aiosmtpd says it
    assert b"carl@shore.example" in data and b"550 5.1.1" in data
    assert b"Final-Recipient: rfc822; carl@shore.example" in data
    assert b"Final-Recipient: rfc822; bert@shore.example" not in data
    stations.wait(lambda: not any(stations.gateways[n].spool.entries(q)
                                  for n in "AB" for q in ("out", "in")))


def test_a_mail_waits_for_the_far_gateway_and_for_its_mail_server(stations):
    near = stations.start("A", stations.settings("A"))
    submit(near, "anna@ship.example", ["bert@shore.example"], mail_pair.text())
    stations.wait(lambda: "nobody" in near.status()["nodes"].get("1.2.0.2", ""))
    table = stations.settings("B")
    server, table.deliver = table.deliver, "127.0.0.1:1"
    far = stations.start("B", table)
    stations.wait(lambda: near.counts["sent"] == 1)
    assert [m.sender for m in far.spool.entries("in")] == ["anna@ship.example"]
    stations.wait(lambda: "4.4.1" in far.status()["mail_server"])
    table.deliver = server
    stations.sinks["B"].wait(1)
    stations.wait(lambda: not far.spool.entries("in"))


def test_a_second_copy_is_dropped_also_after_a_restart(stations):
    near = stations.start("A", stations.settings("A"))
    for restarted in (False, True):
        far = stations.start("B", stations.settings("B"))
        submit(near, "anna@ship.example", ["bert@shore.example"], mail_pair.text())
        stations.wait(lambda: near.counts["sent"] == 1 + restarted)
        assert far.counts["second_copies"] == restarted
        stations.sinks["B"].wait(1)
        if not restarted:
            stations.wait(lambda: far.counts["delivered"] == 1)
            far.close()
    assert len(stations.sinks["B"].mails) == 1


def test_a_gateway_killed_after_its_note_of_a_delivery_does_not_deliver_again(stations):
    near = stations.start("A", stations.settings("A"))
    table = stations.settings("B")
    server, table.deliver = table.deliver, "127.0.0.1:1"
    far = stations.start("B", table)
    submit(near, "anna@ship.example", ["bert@shore.example"], mail_pair.text())
    stations.wait(lambda: near.counts["sent"] == 1)
    queue = pathlib.Path(far.spool.folder, "in")
    before = {path: path.read_bytes() for path in queue.iterdir()}
    assert len(before) == 2
    table.deliver = server
    stations.sinks["B"].wait(1)
    stations.wait(lambda: not far.spool.entries("in"))
    far.close()
    for path, octets in before.items():  # killed before the mail left the spool
        path.write_bytes(octets)
    far = stations.start("B", table)
    stations.wait(lambda: not far.spool.entries("in"))
    assert len(stations.sinks["B"].mails) == 1 and far.counts["delivered"] == 0


def test_a_delivery_is_noted_before_the_session_ends():
    events = []

    class Server(mail_pair.Sink):
        async def handle_QUIT(self, server, session, envelope):
            events.append("QUIT")
            return "221 bye"

    sink = Server()
    sink.refuse["carl@shore.example"] = "550 5.1.1 no such mailbox"
    recipients = ["bert@shore.example", "carl@shore.example"]
    delivery.deliver(sis.parse_server(sink.address), "shore.example", "anna@ship.example",
                     recipients, mail_pair.text(), threading.Event(), events.append)
    sink.close()
    assert events == [["bert@shore.example"], "QUIT"]


def test_what_is_no_business_of_the_gateway_is_refused(stations):
    near = stations.start("A", stations.settings("A", max_octets=5000))
    stations.start("B", stations.settings("B"))

    def refused(recipient, data=mail_pair.text(), sender="anna@ship.example"):
        with pytest.raises((smtplib.SMTPRecipientsRefused, smtplib.SMTPResponseException)) as why:
            submit(near, sender, [recipient], data)
        return str(why.value)

    assert "5.7.1 no route" in refused("x@elsewhere.example")
    assert "5.4.6 a domain of this side" in refused("x@ship.example")
    assert "5.4.6 the mail loops" in refused("b@shore.example",
                                             b"Received: x\r\n" * 100 + mail_pair.text())
    assert "552" in refused("b@shore.example", mail_pair.text() + b"line\r\n" * 1000)
    assert "5.1.3" in refused('"a b"@shore.example')
    # Over HF, too: the route of A takes any domain, and B has only its own.
    near.settings.route[0].domain = "*"
    submit(near, "anna@ship.example", ["x@elsewhere.example"], mail_pair.text())
    stations.sinks["A"].wait(1)
    assert b"not a domain of this gateway" in stations.sinks["A"].mails[0][2]
    assert not stations.sinks["B"].mails


def test_a_full_spool_refuses_and_takes_mail_again(stations):
    near = stations.start("A", stations.settings("A", max_messages=2))
    for number in range(2):
        submit(near, "anna@ship.example", ["bert@shore.example"], mail_pair.text(number))
    with pytest.raises(smtplib.SMTPDataError, match="452"):
        submit(near, "anna@ship.example", ["bert@shore.example"], mail_pair.text(3))
    stations.start("B", stations.settings("B"))
    stations.sinks["B"].wait(2)
    stations.wait(lambda: not near.spool.entries("out"))
    submit(near, "anna@ship.example", ["bert@shore.example"], mail_pair.text(3))
    stations.sinks["B"].wait(3)


def test_lmtp_answers_for_each_recipient(stations):
    """One port for both protocols. The spool has room for the mail of one node only."""
    table = stations.settings("A", max_messages=1)
    table.route.append(station.MailRoute("port.example", "1.2.0.3", "hmtp"))
    near = stations.start("A", table)
    port = near.intake.bound_port()
    recipients = ["bert@shore.example", "dora@port.example", "carl@shore.example",
                  "bert@shore.example", "x@elsewhere.example"]
    with smtplib.LMTP("127.0.0.1", port) as client:
        assert client.ehlo("test")[0] == 250 and client.has_extn("pipelining")
        assert client.mail("anna@ship.example")[0] == 250
        assert [client.rcpt(r)[0] for r in recipients] == [250] * 4 + [550]
        assert client.docmd("DATA")[0] == 354
        client.send(mail_pair.text() + b".\r\n")
        assert [client.getreply()[0] for _ in range(4)] == [250, 452, 250, 250]
        assert client.noop()[0] == 250
    assert [m.recipients for m in near.spool.entries("out")] == \
        [["bert@shore.example", "carl@shore.example"]]
    with smtplib.SMTP("127.0.0.1", port) as client:
        assert client.ehlo("test")[0] == 250 and not client.has_extn("pipelining")
        assert client.docmd("LHLO", "test")[0] == client.docmd("EHLO", "test")[0] == 250
        with pytest.raises(smtplib.SMTPDataError, match="452"):
            client.sendmail("anna@ship.example", recipients[:2], mail_pair.text(2))


@pytest.mark.skipif(shutil.which("swaks") is None, reason="swaks is missing")
def test_swaks_hands_over_a_mail_by_lmtp(stations):
    for name in "AB":
        stations.start(name, stations.settings(name))
    port = stations.gateways["A"].intake.bound_port()
    found = subprocess.run(["swaks", "--protocol", "LMTP", "--server", f"127.0.0.1:{port}",
                            "--from", "anna@ship.example",
                            "--to", "bert@shore.example,carl@shore.example"],
                           capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stdout
    assert found.stdout.count("250 2.0.0 ok: out") == 2
    stations.sinks["B"].wait(1)
    assert stations.sinks["B"].mails[0][1] == ["bert@shore.example", "carl@shore.example"]


def test_what_waits_for_too_long_is_returned(stations):
    near = stations.start("A", stations.settings("A"))
    submit(near, "anna@ship.example", ["bert@shore.example"], mail_pair.text())
    near.settings.expire_days = 0.0
    stations.sinks["A"].wait(1)
    assert b"5.4.7 not delivered within 0 days" in stations.sinks["A"].mails[0][2]
    assert not near.spool.entries("out")


def test_bounces_to_this_side_may_have_a_mail_server_of_their_own(stations):
    near = stations.start("A", stations.settings("A", deliver="127.0.0.1:1",
                                                 bounces=stations.sinks["A"].address))
    near.settings.expire_days = 0.0
    submit(near, "guest@elsewhere.example", ["bert@shore.example"], mail_pair.text())
    stations.sinks["A"].wait(1)
    assert stations.sinks["A"].mails[0][1] == ["guest@elsewhere.example"]


def test_a_bounce_of_the_mail_server_goes_over_hf_and_is_not_bounced(stations):
    for name in "AB":
        stations.start(name, stations.settings(name))
    stations.sinks["B"].refuse["carl@shore.example"] = "550 5.1.1 no such mailbox"
    for recipient in ("bert@shore.example", "carl@shore.example"):
        submit(stations.gateways["A"], "", [recipient], mail_pair.text())
    stations.sinks["B"].wait(1)
    assert stations.sinks["B"].mails[0][0] == "<>"
    stations.wait(lambda: not stations.gateways["A"].spool.entries("out"))
    assert not stations.sinks["A"].mails and len(stations.sinks["B"].mails) == 1


@pytest.mark.parametrize("loss", [0, 20])
def test_a_broadcast_is_delivered_without_any_answer(stations, loss):
    if loss:
        pytest.importorskip("zfec", reason="zfec is missing (Debian: python3-zfec)")
    table = stations.settings("A", receive=[])
    table.route = [station.MailRoute("fleet.example", "31.255.255.255", "broadcast", repeats=1,
                                     loss=loss, interval_s=0.5)]
    near = stations.start("A", table)
    far = stations.settings("B", receive=["broadcast"])
    far.domains.append("fleet.example")
    stations.start("B", far)
    stations.pair.stations["B"].data_link.set_emcon(True)
    stations.wait(lambda: all(c.client for g in stations.gateways.values() for c in g._carriers))
    long = mail_pair.text(body=3000 * b"A line.\r\n")
    for number, mail in enumerate((mail_pair.text(), long)):
        submit(near, "anna@ship.example", ["all@fleet.example"], mail)
        stations.sinks["B"].wait(number + 1)
        assert mail_pair.without_trace(stations.sinks["B"].mails[-1][2]) == mail
    assert stations.pair.stations["B"].data_link.stats()["transmissions"] == 0


def test_a_long_mail_is_held_listed_and_released(stations):
    table = stations.settings("A", hold_octets=1000)
    near = stations.start("A", table)
    stations.start("B", stations.settings("B"))
    long = mail_pair.text(body=b"Much to read.\r\n" * 100)
    for number in range(2):
        submit(near, "anna@ship.example", ["bert@shore.example"],
               long.replace(b"<1@", b"<%d@" % number))
    place = near.spool.folder
    assert sum("more than hold_octets = 1000; hf mail release" in line
               for line in stations.lines) == 2

    def hf(*arguments, status=0):
        found = CliRunner().invoke(command, ["mail", *arguments])
        assert found.exit_code == status, found.output
        return found.output

    listed = [line.split() for line in hf("list", place).splitlines()]
    assert [words[1] for words in listed] == ["held", "held"]
    assert "bert@shore.example" in listed[0] and "hmtp" in listed[0]
    said = hf("status", place)
    assert "gateway: running" in said and "held: 2 mails" in said
    hf("release", place, listed[0][0])
    stations.sinks["B"].wait(1)
    hf("drop", place, listed[1][0])
    assert "is in no queue" in hf("drop", place, listed[1][0], status=1)
    assert "is not held" in hf("release", place, "nonsense", status=1)
    stations.wait(lambda: near.counts["sent"] == 1)
    assert hf("list", place, "--json") == ""


def test_random_u_pdus_do_not_stop_the_carriers(stations):
    draw = random.Random(7)
    for name in "AB":
        stations.start(name, stations.settings(name))
    near, far = stations.gateways["A"], stations.gateways["B"]
    stations.wait(lambda: all(c.client for g in (near, far) for c in g._carriers))
    good = [b"EHLO x.y\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<b@shore.example>\r\nDATA\r\n",
            b"250-shore.example a.ship.example\r\n", b"\x00\x01\x00\x00\x10\x02\x01a\0\0\0\x05",
            b".\r\nQUIT\r\n"]
    for carrier in far._carriers:
        for _ in range(2000):
            octets = bytearray(draw.choice(good) + draw.randbytes(draw.randrange(20)))
            for _ in range(draw.randrange(4)):
                octets[draw.randrange(len(octets))] = draw.randrange(256)
            carrier.submit = lambda *_, **__: None  # no answers to nobody
            carrier.arrived(f"1.2.3.{draw.randrange(40)}", bytes(octets))
        del carrier.submit
        assert carrier.is_alive()
    submit(near, "anna@ship.example", ["bert@shore.example"], mail_pair.text(99))
    stations.wait(lambda: near.counts["sent"] == 1)


def test_hf_run_starts_the_gateways_of_its_stations(tmp_path):
    sink = mail_pair.Sink()
    ports = netns.free_tcp_ports(2)
    files = []
    for name, port in zip("AB", ports):
        other = pair.OTHER[name]
        text = (f'address = "{pair.NODES[name]}"\nmode = "4539-9600S"\n[sis_server]\nport = 0\n'
                f'[mail]\nspool = "{tmp_path / name}"\nlisten = "127.0.0.1:{port}"\n'
                f'deliver = "{sink.address}"\ndomains = ["{mail_pair.DOMAINS[name]}"]\n'
                f'[[mail.route]]\ndomain = "{mail_pair.DOMAINS[other]}"\n'
                f'node = "{pair.NODES[other]}"\n')
        files.append(tmp_path / f"{name}.toml")
        files[-1].write_text(text)
    run = subprocess.Popen(["hf", "run", *map(str, files), "--speed", "20"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for line in run.stderr:
            if line.startswith("1.2.0.2  mail:"):
                break
        with smtplib.SMTP("127.0.0.1", ports[0], "test", 20) as client:
            client.sendmail("anna@ship.example", ["bert@shore.example"], mail_pair.text(body=b""))
        sink.wait(1)
        for line in run.stdout:
            if "mail: to 1.2.0.2: " in line and "sent" in line:
                break
    finally:
        run.terminate()
        run.communicate(timeout=20)
        sink.close()
    assert run.returncode == 0
    assert "gateway: not running" in subprocess.run(
        ["hf", "mail", "status", str(files[0])], capture_output=True, text=True).stdout
