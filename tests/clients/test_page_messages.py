# SPDX-License-Identifier: GPL-3.0-or-later
"""Chat, files and mail on the page: who may send them, their bounds, and their way."""
import json
import random
import time

from gnuradio.hf import sis
from gnuradio.hf.gui import messages
from gnuradio.hf.sis import coded, s5066
from gnuradio.hf.system import netns
import pytest
from test_web import ask, chromium, live, page, tab, until


@pytest.fixture(name="two", scope="module")
def two_stations(tmp_path_factory):
    folder = tmp_path_factory.mktemp("messages")
    with page(folder, "--control", "--inbox", str(folder / "inbox")) as (url, token, _, _):
        yield url, token, folder / "inbox"


def order(two, action, value, station="1.2.0.1", **headers):
    body = json.dumps({"station": station, "action": action, "value": value}).encode()
    return ask(two[0] + "api/control", body, **{"X_HF_Token": two[1], **headers})[::2]


def upload(two, data, query="station=1.2.0.1&to=1.2.0.2&name=plan.pdf", **headers):
    return ask(f"{two[0]}api/file?{query}", data, **{"X_HF_Token": two[1], **headers})[::2]


def conversation(two, station):
    status, _, text = ask(f"{two[0]}api/messages?station={station}", X_HF_Token=two[1])
    assert status == 200
    return json.loads(text)


def test_only_the_page_itself_sends(two):
    """Another origin, another host, or no token: nothing is sent and nothing can be read."""
    for headers in ({"X_HF_Token": "wrong"}, {"X_HF_Token": ""}, {"X_HF_Token": "ÿ\x80"},
                    {"Origin": "http://evil.example"}, {"Origin": "null"},
                    {"Host": "evil.example"}):
        assert order(two, "messages", True, **headers)[0] == 403
        assert order(two, "chat", {"to": "1.2.0.2", "text": "x"}, **headers)[0] == 403
        assert upload(two, b"x", **headers)[0] == 403
        assert ask(two[0] + "api/messages?station=1.2.0.1",
                   **{"X_HF_Token": two[1], **headers})[0] == 403
    assert not conversation(two, "1.2.0.1")["list"]
    # Messages are private: the state, which needs no token, does not have them.
    assert "messages" not in json.loads(ask(two[0] + "api/state")[2])["stations"][0]


def test_a_coded_file_arrives_and_one_that_stays_incomplete_is_reported(tmp_path):
    pytest.importorskip("zfec", reason="zfec is missing (Debian: python3-zfec)")
    with page(tmp_path, "--control", "--inbox", str(tmp_path / "inbox")) as (url, token, at, _):
        here = url, token
        assert order(here, "messages", True, "1.2.0.2") == (200, "done\n")
        with sis.Client(at[0]) as client:
            client.bind(s5066.SAP_UDOP, 0, sis.service("non_arq"))
            whole = s5066.bftp_message(b"plan.txt", b"a" * 4000)
            coded.send(client, "31.255.255.255", whole, 0.0, interval=0)
            until(lambda: [m["state"] for m in conversation(here, "1.2.0.2")["list"]] ==
                  ["received"], 60)
            some = list(coded.groups(s5066.bftp_message(b"part.txt", b"b" * 4000), client.mtu, 0))
            for u_pdu in some[0] + some[1]:
                client.send("31.255.255.255", u_pdu, s5066.SAP_UDOP, sis.service("non_arq"))
            with sis.Client(at[1]) as last:  # arrives after the blocks
                last.bind(0, 0, sis.service("non_arq"))
                client.send("31.255.255.255", b"end", 0, sis.service("non_arq"))
                assert last.next(timeout=60) is not None
        assert order(here, "messages", False, "1.2.0.2") == (200, "done\n")
        said = conversation(here, "1.2.0.2")["list"][-1]
        assert "not written: incomplete, 2 of 8 blocks arrived" == said["state"]
        assert said["peer"] == "1.2.0.1"


def test_a_chat_and_a_file_cross_two_stations(two):
    assert "open them first" in order(two, "chat", {"to": "1.2.0.2", "text": "x"})[1]
    for station in ("1.2.0.1", "1.2.0.2"):
        assert order(two, "messages", True, station) == (200, "done\n")
    data = random.Random(1).randbytes(2000)
    assert order(two, "chat", {"to": "1.2.0.2", "text": "Good morning <b>all</b>"})[0] == 200
    assert upload(two, data) == (200, "done\n")
    until(lambda: [m["state"] for m in conversation(two, "1.2.0.1")["list"]] ==
          ["delivered"] * 2, 100)
    far = {m["kind"]: m for m in conversation(two, "1.2.0.2")["list"]}
    assert far["chat"]["text"] == "Good morning <b>all</b>"
    assert far["chat"]["peer"] == far["file"]["peer"] == "1.2.0.1"
    assert (two[2] / "plan.pdf").read_bytes() == data
    with chromium(400, 1600) as browser:
        browser.get(f"{two[0]}#{two[1]}")
        live(browser)
        tab(browser, "Messages")
        shown = ".station:nth-child(2) .conversation li"
        until(lambda: len(browser.find_elements("css selector", shown)) == 2)
        assert "Good morning <b>all</b>" in browser.find_element("css selector", shown).text
        field = browser.find_element("css selector", ".station form.chat input[name=text]")
        field.send_keys("From the page\n")
        until(lambda: any(m["text"] == "From the page" for m in
                          conversation(two, "1.2.0.2")["list"]), 60)
        until(lambda: field.get_property("value") == "")


@pytest.fixture(name="mailing", scope="module")
def two_stations_with_mail(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mail")
    ports = netns.free_tcp_ports(2)
    tables = [f'[mail]\nspool = "{folder}/{near}"\nlisten = "127.0.0.1:{port}"\n'
              f'deliver = "127.0.0.1:1"\ndomains = ["{near}.example"]\nhold_octets = 3000\n'
              f'[[mail.route]]\ndomain = "{far}.example"\nnode = "1.2.0.{node}"\n'
              for near, far, node, port in zip(("ship", "shore"), ("shore", "ship"), (2, 1),
                                               ports)]
    with page(folder, "--control", tables=tables) as (url, token, _, _):
        yield url, token


def mails(two, station="1.2.0.1"):
    until(lambda: conversation(two, station)["mail"], 60)
    return conversation(two, station)["mail"]


def new_mail(**changed):
    return {"sender": "operator@ship.example", "to": "bert@shore.example", "subject": "Weather",
            "text": "Gale warning.", **changed}


def test_a_mail_from_the_page_is_listed_until_it_has_left(mailing):
    assert mails(mailing)["sender"] == "operator@ship.example"
    with chromium(400, 2000) as browser:
        browser.get(f"{mailing[0]}#{mailing[1]}")
        live(browser)
        tab(browser, "Messages")
        until(lambda: browser.find_element("css selector", ".has-mail").is_displayed())
        for name, text in (("to", "bert@shore.example"), ("subject", "Weather <b>"),
                           ("text", "Gale warning.")):
            browser.find_element("css selector", f"form.mail [name={name}]").send_keys(text)
        browser.find_element("css selector", "form.mail button").click()
        until(lambda: "sent" in [m["state"] for m in mails(mailing)["done"]], 60)
        until(lambda: "waits for the mail server" in
              [m["state"] for m in mails(mailing, "1.2.0.2")["waiting"]], 60)
        shown = ".station:nth-child(2) .mails li"
        until(lambda: len(browser.find_elements("css selector", shown)) == 1)
        assert "waits for the mail server" in browser.find_element("css selector", shown).text
    listed = mails(mailing, "1.2.0.2")["waiting"][0]
    assert listed["recipients"] == ["bert@shore.example"] and listed["way"] == "hmtp 1.2.0.1"
    until(lambda: "127.0.0.1:1" in mails(mailing, "1.2.0.2")["waiting"][0]["error"])
    assert not mails(mailing)["waiting"]
    # Longer than hold_octets: it waits for an operator.
    assert order(mailing, "mail", new_mail(text="Line.\n" * 1000))[0] == 200
    until(lambda: [m["state"] for m in mails(mailing)["waiting"]] == ["held"])


def test_mails_from_the_page_are_checked(mailing, two):
    mails(mailing)
    for changed, allowed in (({"text": " "}, "1 to 10000 octets"),
                             ({"text": "x" * 10001}, "1 to 10000 octets"),
                             ({"text": 1}, "1 to 10000 octets"),
                             ({"subject": "x" * 201}, "up to 200"),
                             ({"to": ""}, "1 to 20 addresses"),
                             ({"to": ",".join("abcdefghijklmnopqrstu")}, "1 to 20 addresses"),
                             ({"to": "x@elsewhere.example"}, "no route"),
                             ({"to": "x@ship.example"}, "a domain of this side"),
                             ({"to": "a@shore.example\r\nBcc: x@shore.example"}, "before the @"),
                             ({"sender": "x@elsewhere.example"}, "ship.example"),
                             ({"sender": "x y@ship.example"}, "before the @"),
                             ({"sender": None}, "ship.example")):
        status, text = order(mailing, "mail", new_mail(**changed))
        assert status == 400 and allowed in text, (changed, text)
    assert order(mailing, "mail", new_mail(), X_HF_Token="wrong")[0] == 403
    assert order(mailing, "mail", {"to": "x"})[1] == "malformed request\n"
    assert "no [mail]" in order(two, "mail", new_mail())[1]
    assert conversation(two, "1.2.0.1")["mail"] is None


def test_what_is_sent_is_bounded(two):
    order(two, "messages", True)
    for value, allowed in (({"to": "1.2.0.2", "text": ""}, "1 to 1000"),
                           ({"to": "1.2.0.2", "text": "ä" * 501}, "1 to 1000"),
                           ({"to": "1.2.0.2", "text": ["x"]}, "1 to 1000"),
                           ({"to": "no-one", "text": "x"}, "w.x.y.z"),
                           ({"text": "x"}, "malformed"), ("x", "malformed")):
        status, text = order(two, "chat", value)
        assert status == 400 and allowed in text
    assert order(two, "messages", "yes")[0] == 400
    assert order(two, "file", {"to": "1.2.0.2", "name": "a", "data": "x"})[0] == 400
    assert upload(two, b"")[0] == 400
    assert upload(two, bytes(messages.MAX_FILE + 1))[0] == 413
    assert upload(two, b"x", "station=1.2.0.1&to=1.2.0.2&name=" + "n" * 101)[0] == 400
    assert "allowed are 1.2.0.1" in upload(two, b"x", "station=9&to=1.2.0.2&name=n")[1]
    assert ask(two[0] + "api/messages?station=9", X_HF_Token=two[1])[0] == 404
    assert order(two, "chat", {"to": "1.2.0.2", "text": "x" * 50000})[0] == 413


def test_any_request_is_answered(two):
    """Seeded random bodies, whole and cut: each is refused, and the page goes on."""
    rng = random.Random(2)
    whole = json.dumps({"station": "1.2.0.1", "action": "chat",
                        "value": {"to": "1.2.0.2", "text": 1}}).encode()
    for _ in range(100):
        body = bytearray(whole[:rng.randrange(1, len(whole) + 1)])
        for _ in range(rng.randrange(4)):
            body[rng.randrange(len(body))] = rng.randrange(256)
        assert ask(two[0] + "api/control", bytes(body), X_HF_Token=two[1])[0] == 400
    assert ask(two[0] + "api/state")[0] == 200


def test_queues_and_history_are_bounded():
    box = messages.Conversation()
    for k in range(3 * messages.MAX_ENTRIES):
        box.add("chat", "in", "1.2.0.2", str(k))
    assert [e["text"] for e in box.take()][-1] == str(3 * messages.MAX_ENTRIES - 1)
    assert len(box.take()) == messages.MAX_ENTRIES


def test_a_station_without_a_server_says_so():
    box = messages.Messages("")
    with pytest.raises(ValueError, match="sis_server"):
        box.open()
    assert box.take() == {"open": False, "inbox": False, "list": [], "mail": None,
                          "failure": "this station has no [sis_server] in its file"}
    box = messages.Messages("127.0.0.1:1")
    begin = time.monotonic()
    with pytest.raises(ValueError, match="127.0.0.1:1"):
        box.open()
    assert time.monotonic() - begin < 15 and not box.is_open
