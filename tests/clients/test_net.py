# SPDX-License-Identifier: GPL-3.0-or-later
"""hf console net: who answers, what is told, and what hostile questions and reports can do."""
import json
import random

from gnuradio.hf import station
from gnuradio.hf.sis import console, net, s5066
import pytest
import stations
from stations import hf
from test_web import ask, page, until

#: All that a station may tell.
FACTS = list(vars(net.Report()))


def question(source="1.2.0.1", dst=net.ALL, spread=60, limit=180, octets=None):
    p = s5066.s_unidata_indication()
    p.src, p.dst, p.src_sap = s5066.address(source), s5066.address(dst), net.SAP
    p.u_pdu = console.Message(console.ASK, 7, spread, limit).encode() if octets is None else octets
    return p


class Client:
    """Keeps what is sent."""

    def __init__(self):
        self.sent = []

    def send(self, dst, u_pdu, dst_sap, mode, priority=0, ttl_s=0, timeout=None):
        assert mode.mode == s5066.transmission_mode.non_arq
        self.sent.append((str(dst), dst_sap, ttl_s, console.decode(u_pdu)))


class Station:
    """A reporter with a clock of the test."""

    def __init__(self, peers=("1.2.0.1",), facts=FACTS):
        self.client, self.now = Client(), 0.0
        self.reporter = net.Reporter(
            self.client, peers, facts,
            lambda: net.Report("1.0", 5, 2, {"1.2.0.1": (12.4, 3.2)}), lambda: self.now)

    def after(self, seconds, p=None):
        self.now += seconds
        self.reporter.take(p)
        return self.client.sent


def test_two_answer_and_a_stranger_is_refused(tmp_path):
    tables = ['[net]\n', '[net]\npeers = ["1.2.0.1"]\n', '[net]\npeers = ["1.2.0.2"]\n',
              '[net]\npeers = ["1.2.0.1"]\nfacts = ["links", "heard"]\n']
    with stations.running(tmp_path, tables=tables) as servers:
        # A busy machine runs the air at less than stations.SPEED.
        arguments = ["console", "net", "--server", servers[0], "--clock-speed", "4",
                     "--spread", "20", "--limit"]
        first = hf(*arguments, "120", "--json")
        assert first.returncode == 0, first.stderr
        rows = {r["node"]: r for r in json.loads(first.stdout)}
        assert set(rows) == {"1.2.0.2", "1.2.0.4"}
        for row in rows.values():
            # The channel has 30 dB in both directions.
            assert 20 < row["hears_us"][0] < 40 and 20 < row["we_hear"][0] < 40
            assert row["we_hear"][1] >= 0
            assert row["links"] == 0
        assert rows["1.2.0.2"]["version"] and rows["1.2.0.2"]["queue"] == 0
        assert rows["1.2.0.4"]["version"] is None and rows["1.2.0.4"]["queue"] is None
        second = hf(*arguments, "60", "--to", "1.2.0.4")
        assert all(len(line) <= 80 for line in second.stdout.splitlines())
        assert "1.2.0.4" in second.stdout and "1.2.0.2" not in second.stdout


def test_the_page_asks(tmp_path):
    tables = ("[net]\n", '[net]\npeers = ["1.2.0.1"]\n')
    with page(tmp_path, "--control", speed=100, tables=tables) as (url, token, _, _):
        def order():
            return ask(url + "api/control", json.dumps({"station": "1.2.0.1", "action": "net"})
                       .encode(), X_HF_Token=token)[::2]

        def rows():
            return json.loads(ask(url + "api/state")[2])["stations"][0]["net"]

        assert rows() == [] and order() == (200, "done\n")
        assert "asked already" in order()[1]
        until(lambda: rows() and rows()[0]["we_hear"], 60)
        assert [r["node"] for r in rows()] == ["1.2.0.2"] and rows()[0]["hears_us"][0] > 20


def test_a_station_tells_nobody_by_default(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('address = "1.2.0.2"\n[sis_server]\n[net]\n')
    d = station.load(str(path))
    assert d.net.peers == [] and d.net.facts == FACTS
    s = Station(d.net.peers)
    s.after(0, question())
    assert s.after(1000) == []


@pytest.mark.parametrize("text, words", [
    ('peers = ["*"]', "allowed are addresses"), ('peers = ["31.255.255.255"]', "addresses"),
    ('facts = ["keys"]', "version, queue, links, heard")])
def test_wrong_tables_are_refused(tmp_path, text, words):
    path = tmp_path / "a.toml"
    path.write_text(f'address = "1.2.0.2"\n[sis_server]\n[net]\n{text}\n')
    with pytest.raises(station.StationError, match=words):
        station.load(str(path))


def test_answers_come_within_the_spread_and_the_limit():
    times = []
    for seed in range(50):
        random.seed(seed)
        s = Station()
        s.after(0, question(spread=60, limit=180))
        while not s.after(1):
            pass
        times.append(s.now)
        [(to, sap, ttl, message)] = s.client.sent
        assert (to, sap, ttl, message.session) == ("1.2.0.1", net.SAP, 180, 7)
        assert net.decode(message.body).heard == {"1.2.0.1": (12, 3)}
    assert max(times) <= 61 and max(times) - min(times) > 40


def test_many_questions_make_few_answers():
    s = Station()
    for _ in range(600):
        s.after(0.1, question(spread=0))
        s.after(0, question("1.2.0.9", spread=0))
    assert [to for to, *_ in s.client.sent] == ["1.2.0.1"] * 2


def test_only_the_facts_that_are_named():
    s = Station(facts=["links"])
    s.after(0, question(spread=0))
    assert json.loads(s.client.sent[0][3].body) == {"links": 2}


def test_a_program_of_the_station_itself_needs_no_permission():
    s = Station(peers=[])
    s.after(0, question("1.2.0.2", "1.2.0.2"))
    assert s.client.sent[0][0] == "1.2.0.2"


def test_hostile_numbers_are_limited():
    s = Station()
    s.after(0, question(spread=2**32 - 1, limit=2**64 - 1))
    s.after(net.MAX_SPREAD_S)
    assert s.client.sent[0][2] == net.MAX_LIMIT_S


GOOD = net.Report("0.2.0", 7, 1, {"1.2.0.1": (3, 4), "1.2.0.3": (-2, 900)}).encode(
    FACTS)


@pytest.mark.parametrize("body", [
    b"", b"[]", b"7", b"null", b"[" * 2000, b'{"heard":[1]}', b'{"heard":{"1.2.0.1":[1]}}',
    b'{"heard":{"x":[1,2]}}', b'{"heard":{"1.2.0.1":[NaN,2]}}', b'{"queue":Infinity}',
    b'{"queue":"7"}', b'{"links":1e300}', b"\xff\xfe", b'{"queue":' + b"9" * 5000 + b"}"])
def test_malformed_reports_are_refused(body):
    assert net.decode(body) is None


def test_a_version_cannot_write_to_the_terminal():
    assert net.decode(b'{"version":"\\u001b[2J' + b"x" * 999 + b'"}').version == \
        "?[2J" + "x" * (net.MAX_VERSION - 4)


def test_damaged_reports_and_questions_do_no_harm():
    assert net.decode(GOOD).heard == {"1.2.0.1": (3, 4), "1.2.0.3": (-2, 900)}
    draw = random.Random(1)
    asked = net.Question(Client(), lambda: 0.0)
    s = Station()
    read = 0
    for _ in range(20000):
        kind = draw.choice([console.ASK, console.TELL])
        octets = bytearray(console.Message(kind, asked._session, 0, 9, GOOD).encode())
        for _ in range(draw.randrange(1, 6)):
            octets[draw.randrange(len(octets))] = draw.choice([draw.randrange(256), 0x5b, 0x22])
        p = question(octets=bytes(octets[:draw.randrange(len(octets) + 1)]
                                  if draw.random() < 0.2 else octets), dst="1.2.0.2")
        asked._take(p)
        s.after(0.01, p)
        read += net.decode(bytes(octets[console.HEADER.size:])) is not None
    assert 1000 < read < 19000, "both damaged and readable reports"
    assert len(s.client.sent) <= 1 + 200 / net.PAUSE_S
    for row in asked.rows():
        assert len(net.words(row)) == len(net.HEADS)


def test_a_question_keeps_a_limited_number_of_reports():
    asked = net.Question(Client(), lambda: 0.0)
    for k in range(1000):
        p = question(f"1.2.{k // 250}.{k % 250 + 1}", "1.2.9.9",
                     octets=console.Message(console.TELL, asked._session, body=GOOD).encode())
        asked._take(p)
    assert len(asked.reports) == net.MAX_REPORTS


def test_reports_of_the_console_may_be_hostile_too():
    for body in (b'{"octets":Infinity,"seconds":1}', b"[" * 2000):
        assert console._parse_report(body) is None
