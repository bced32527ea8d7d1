# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenario files: all shipped ones, their error messages, tables and pictures."""
import csv
import json
import os
from pathlib import Path
import subprocess

import pytest

from gnuradio.hf.simulation import scenarios, simulator

SCENARIOS = Path(os.environ["HF_SOURCE_DIR"]) / "examples" / "scenarios"
#: Share of the durations and octets in this test; others run whole.
SHORT = {"fading": 0.1, "speeds": 0.5, "stations-8": 0.5}

TWO = """
[[station]]
name = "A"
[[station]]
name = "B"
[[traffic]]
from = "A"
to = "B"
octets = 20000
"""


def hf_sim(*arguments):
    return subprocess.run(["hf", "sim", *map(str, arguments)], capture_output=True, text=True,
                          timeout=300)


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.toml")), ids=lambda p: p.stem)
def test_every_scenario_meets_what_it_expects(path):
    runs = scenarios.load(str(path), SHORT.get(path.stem, 1.0))
    assert sum(len(r.expect) for r in runs) > 0
    for run in runs:
        result = run.scenario.run()
        assert scenarios.misses(run, result) == [], run.name
        assert all(f.u_pdus_delivered > 0 for f in result.flows), run.name


@pytest.mark.parametrize("change, words", [
    (("octets = 20000", "octet = 1"), ["[[traffic]] 1", "'octet' is unknown", "u_pdu"]),
    (("octets = 20000", "octets = \"many\""), ["octets = 'many'", "a whole number"]),
    (("octets = 20000", "octets = -5"), ["octets = -5"]),
    (("octets = 20000", "kind = \"flood\""), ["kind = 'flood'", "bulk, two-way, interactive"]),
    (("octets = 20000", "u_pdu = 5000"), ["traffic 1", "u_pdu 5000", "4 to 2048"]),
    (("to = \"B\"", "to = \"C\""), ["to 'C'", "there are A, B"]),
    (("name = \"B\"", "name = \"A\""), ["station 2", "name 'A'"]),
    (("name = \"B\"", "mode = \"4539-9600S\""), ["[[station]] 2", "'name' is missing"]),
    (("name = \"B\"", "name = \"B\"\nmode = \"4539-9601S\""), ["4539-9601S"]),
    (("name = \"B\"", "name = \"B\"\ndata_link = { window = 500 }"), ["window", "500", "128"]),
    (("", "duration_s = \"day\"\n"), ["duration_s = 'day'", "a number"]),
    (("", "[channel]\nber = 0.9\n"), ["ber 0.9", "0 to 0.5"]),
    (("", "[channel]\ncurves = \"tea\"\nsnr_db = 3\n"), ["curves = 'tea'", "awgn", "poor"]),
    (("", "[channel]\ncurves = \"poor\"\n"), ["need snr_db"]),
    (("", "[channel]\ntrace = \"none.csv\"\n"), ["none.csv"]),
    (("", "[channel]\nfading = { hz = 1 }\n"), ["'hz' is unknown", "fading_hz"]),
    (("", "[[fault]]\nkind = \"flood\"\n"), ["[[fault]] 1", "restart, deaf, noise"]),
    (("", "[expect]\nspeed = 3\n"), ["[expect]", "'speed'", "utilisation"]),
    (("", "[[run]]\nset = { \"traffic.speed\" = 3 }\n"), ["'speed' is unknown"]),
    (("", "x = = 3\n"), ["line 1"]),
    (("octets = 20000", "confirmation = \"maybe\""), ["'maybe'", "none, node, client"]),
])
def test_errors_name_key_value_and_what_is_allowed(change, words):
    old, new = change
    text = TWO.replace(old, new, 1) if old else new + TWO
    with pytest.raises(scenarios.ScenarioError) as error:
        scenarios.parse(text, "my.toml")
    said = str(error.value)
    assert "my.toml" in said or "none.csv" in said
    for word in words:
        assert word in said


def test_traces_come_from_files(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("time_s,snr_db\n" + "".join(f"{t},{25 if t < 60 else 8}\n"
                                                 for t in range(120)))
    text = TWO + '[channel]\ntrace = "trace.csv"\n'
    good, = scenarios.parse(text, folder=str(tmp_path))
    assert good.scenario.run().complete
    trace.write_text("time_s,snr_db\n0,3\n1,4\n5,4\n")
    with pytest.raises(scenarios.ScenarioError, match="line 3.*even steps"):
        scenarios.parse(text, folder=str(tmp_path))
    trace.write_text("time_s,snr_db\n0,3\n1,nan?\n")
    with pytest.raises(scenarios.ScenarioError, match="line 3"):
        scenarios.parse(text, folder=str(tmp_path))


def test_tables_and_pictures(tmp_path):
    picture, folder = tmp_path / "t.png", tmp_path / "results"
    r = hf_sim(SCENARIOS / "faults.toml", "--timeline", picture, "--csv", folder, "--json",
               "--window", 0, 400)
    assert r.returncode == 0, r.stderr
    said = json.loads(r.stdout)
    assert said["flows"][0]["octets_delivered"] == 400_000 and said["missed"] == []
    assert picture.read_bytes()[:4] == b"\x89PNG" and picture.stat().st_size > 20_000
    with open(folder / "transmissions.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["station"] for row in rows} == {"A", "B"}
    assert sum(int(row["data"]) for row in rows) > 400_000
    with open(folder / "flows.csv", newline="") as file:
        assert [row["kind"] for row in csv.DictReader(file)] == ["bulk"]


def test_fates_of_each_u_pdu(tmp_path):
    scenario = tmp_path / "two.toml"
    scenario.write_text(TWO.replace("octets = 20000", "octets = 8000\nu_pdu = 1000\n"
                                    "confirmation = \"client\"\npriority = 3") + """
[[traffic]]
kind = "interactive"
from = "B"
to = "A"
count = 3
interval_s = 5
answer = 20
confirmation = "none"
[[traffic]]
kind = "broadcast"
from = "A"
to = "all"
count = 2
""")
    fates = tmp_path / "fates.csv"
    r = hf_sim(scenario, "--fates", fates)
    assert r.returncode == 0, r.stderr
    with open(fates, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == scenarios.FATE_COLUMNS
    bulk = [row for row in rows if row["flow"] == "1"]
    assert [row["number"] for row in bulk] == [str(n) for n in range(8)]
    for row in bulk:
        assert float(row["submitted_s"]) < float(row["delivered_s"]) < float(row["confirmed_s"])
        assert (row["from"], row["to"], row["octets"], row["priority"], row["arq"]) == (
            "A", "B", "1000", "3", "1")
        assert row["rejected_s"] == row["reason"] == "" and row["deliveries"] == "1"
    answers = [row for row in rows if row["answer"] == "1"]
    assert len(answers) == 3
    assert all(row["from"] == "A" and row["delivered_s"] and not row["confirmed_s"]
               for row in answers)
    without_arq = [row for row in rows if row["arq"] == "0"]
    assert len(without_arq) == 2 and all(row["confirmation"] == "none" for row in without_arq)
    assert hf_sim("--fates", fates).returncode == 2


def test_fates_tell_what_is_rejected(tmp_path):
    run, = scenarios.parse(TWO + """
[channel]
loss = 1
""")
    run.scenario.fates = True
    fates = run.scenario.run().fates
    assert len(fates) == 10
    assert {(f.reason, f.delivered_s, f.confirmed_s) for f in fates} == {
        ("not_responding", None, None)}
    assert all(f.rejected_s > f.submitted_s for f in fates)


def test_the_same_file_gives_the_same_events():
    logs = [hf_sim(SCENARIOS / "faults.toml", "--scale", 0.2, "--log") for _ in range(2)]
    events = [[line for line in r.stderr.splitlines() if "times real time" not in line]
              for r in logs]
    assert len(events[0]) > 100 and events[0] == events[1]


def test_what_is_missed_fails(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(TWO + "[expect]\nutilisation = 0.999\n")
    r = hf_sim(path)
    assert r.returncode == 1 and "expected at least 0.999" in r.stderr


def test_options_that_do_not_go_together():
    for arguments in ([SCENARIOS / "faults.toml", "--octets", "5"], ["--timeline", "x.png"]):
        r = hf_sim(*arguments)
        assert r.returncode == 2 and "Traceback" not in r.stderr
    assert hf_sim("nothing.toml").returncode == 2


@pytest.mark.parametrize("mode, longest_s", [
    ("4539-1200S", 5), ("4539-1200S", 6), ("4539-600L", 5), ("4539-75S", 13), ("auto", 2)])
def test_transmissions_shorter_than_the_longest_segment_carry_data(mode, longest_s):
    done = simulator.simulate(mode, 3000, settings={"max_transmission_s": longest_s},
                              limit_s=4000)
    assert done["octets_delivered"] == 3000, done


@pytest.mark.parametrize("mode, longest_s", [("4539-75S", 5), ("4539-600L", 1)])
def test_transmissions_in_which_nothing_fits_are_refused(mode, longest_s):
    with pytest.raises(ValueError, match=f"max_transmission_s {longest_s}.* one D_PDU takes"):
        simulator.simulate(mode, 3000, settings={"max_transmission_s": longest_s})
