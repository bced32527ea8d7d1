# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of stations for people."""
import pytest

from gnuradio import hf
from gnuradio.hf import station
from gnuradio.hf.gui import messages, snapshot
from gnuradio.hf.station import names, running

FILE = """address = "1.2.0.1"
mode = "4539-9600S"
[names]
keel = "1.2.0.2"
mast = "1.2.0.02"
[host.calls]
LA1AAA = "1.2.0.1"
LA2BBB = "1.2.0.2"
LA3CCC = "1.2.0.3"
[ale]
addresses = ["SAM"]
frequencies_hz = [5000000]
[ale.peers]
"1.2.0.3" = "JOE"
"1.2.0.4" = "BOB"
"""


def test_where_a_name_comes_from():
    known = names.Names(station.parse(FILE))
    assert [known.of(f"1.2.0.{k}") for k in range(1, 6)] == [
        "LA1AAA (1.2.0.1)", "keel (1.2.0.2)", "LA3CCC (1.2.0.3)", "BOB (1.2.0.4)", "1.2.0.5"]
    typed = ("Keel", " mast", "la2bbb", "joe", "1.2.0.9", "x")
    assert [known.address(text) for text in typed] == [
        "1.2.0.2", "1.2.0.2", "1.2.0.2", "1.2.0.3", "1.2.0.9", "x"]
    assert names.Names().of("1.2.0.2") == "1.2.0.2"


@pytest.mark.parametrize("line, shown", [
    ("calling 1.2.0.2", "calling keel"),
    ("1.2.0.1 link with 1.2.0.2 ended: 9 octets", "LA1AAA link with keel ended: 9 octets"),
    ("1.2.0.1>1.2.0.22 DATA-ONLY", "LA1AAA>1.2.0.22 DATA-ONLY"),
    ("11.2.0.2 1.2.0.2.5 1.2.0.2.", "11.2.0.2 1.2.0.2.5 keel."),
    ("version 1.2.0 of 1.2.0.9", "version 1.2.0 of 1.2.0.9"),
    ("at 10.1.2.0.2", "at 10.1.2.0.2"),
])
def test_a_line_for_a_person(line, shown):
    assert names.Names(station.parse(FILE)).in_text(line) == shown


@pytest.mark.parametrize("entry, what", [
    ('"a b" = "1.2.0.2"', "'a b': allowed are 1 to 24 letters, digits and -"),
    ('"1.2.0.3" = "1.2.0.2"', "'1.2.0.3': allowed are"),
    (f'{"n" * 25} = "1.2.0.2"', "allowed are 1 to 24"),
    ('keel = "1.2.0.2.9"', "[names] keel: "),
    ('keel = "16.0.0.1"', "[names] keel = '16.0.0.1': is a group, allowed are stations"),
])
def test_a_wrong_table_is_told(entry, what):
    with pytest.raises(ValueError) as error:
        station.Station(None, station.parse(f'address = "1.2.0.1"\n[names]\n{entry}\n'))
    assert what in str(error.value)


def test_the_log_and_the_page_show_names():
    two = [station.Description(f"1.2.0.{k}", "4539-9600S", names={"keel": "1.2.0.2"})
           for k in (1, 2)]
    stations = running.Stations(two, "awgn snr=30", 1, 0, details=False)
    client = hf.traffic("1.2.0.2", 100)
    view = snapshot.StationView(stations.tb, stations.stations[0], None)
    stations.stations[0].add_client(stations.tb, client)
    lines = []
    with stations:
        while not any(line.endswith("keel link with 1.2.0.1 made") for line in lines):
            lines += stations.new_lines()
            assert len(lines) < 100
        seen = view.take()
    assert seen["glance"]["peer"] == "keel (1.2.0.2)" and "keel" in seen["glance"]["sentence"]
    assert seen["link"]["peer"] == "1.2.0.2", "programs see the address"
    assert any(line.endswith("calling keel") for line in seen["log"])
    assert any(line.endswith("1.2.0.1 calling keel") for line in lines), lines


def test_messages_go_to_a_name():
    box = messages.Messages("127.0.0.1:1", known=names.Names(station.parse(FILE)))
    assert [box._node(to) for to in ("keel", "la3ccc", "1.2.0.7")] == [
        "1.2.0.2", "1.2.0.3", "1.2.0.7"]
    with pytest.raises(ValueError, match="station 'nobody'"):
        box._node("nobody")
    entry = box.conversation.add("chat", "out", "1.2.0.2", "hello")
    assert (entry["peer"], entry["name"]) == ("1.2.0.2", "keel (1.2.0.2)")
