# SPDX-License-Identifier: GPL-3.0-or-later
"""Trials: plans that are wrong are refused, a dry run does every test and its report shows what
was measured, and a run that is killed goes on without doing anything twice."""
import contextlib
import csv
import dataclasses
import os
from pathlib import Path
import re
import signal
import socket
import sqlite3
import subprocess
import time
from types import SimpleNamespace

from click.testing import CliRunner
from gnuradio.hf.cli.trial import command
from gnuradio.hf.trial import (ale_record, cost, findings, page, pattern, plan as plans, report,
                               runner, store)
import pmt
import pytest

TREE = Path(__file__).resolve().parents[2]
STATIONS = '[[station]]\naddress = "1.2.0.1"\n[[station]]\naddress = "1.2.0.2"\n'
PING = '[[test]]\nkind = "ping"\n'
PAGE = '[[test]]\nkind = "page"\n'
#: Every kind of test, from one side, in a few seconds of the processor.
QUICK = ('name = "quick"\nstart = 2026-05-01T00:00:00Z\nguard_s = 1\n'
         + STATIONS + """
[[test]]
kind = "modes"
modes = ["4539-600S", "4539-9600S"]
seconds = 2
slot_s = 36
sender = "1.2.0.1"
[[test]]
kind = "ping"
count = 2
octets = 100
mode = "4539-2400S"
slot_s = 25
sender = "1.2.0.2"
[[test]]
kind = "throughput"
octets = 3000
mode = "4539-2400S"
slot_s = 30
sender = "1.2.0.1"
[[test]]
kind = "file"
octets = 1000
mode = "4539-2400S"
slot_s = 30
sender = "1.2.0.1"
[[test]]
kind = "page"
octets = 500
files = 2
mode = "4539-2400S"
slot_s = 60
sender = "1.2.0.1"
[[test]]
kind = "file"
octets = 100_000
mode = "4539-600S"
slot_s = 20
sender = "1.2.0.2"
[air]
channel = "awgn snr=12"
""")

WRONG = [
    ("name = 1", "name = 1: allowed is a text"),
    ("days = 1", "'days' is unknown; allowed are name"),
    ("page_port = 80", "page_port = 80: allowed are 0 and 1024 to 60000"),
    ('by = "moon"', "by = 'moon': allowed are utc and turns"),
    ("start = 2026-01-01T00:00:00", "allowed is a time of UTC"),
    ('start = "today"', "start = 'today': allowed is a time of UTC"),
    ("period_s = 5", "period_s = 5: allowed are 10 to 86400"),
    ("period_s = 200", "period_s = 200: the slots of a round take 240 s"),
    ("guard_s = 60", "[[test]] 1: slot_s = 120: allowed is more than twice guard_s = 60"),
    ('by = "turns"\n[[test]]\nkind = "ping"\nfrequency_hz = 7100000',
     "frequency_hz and rig_mode need by = 'utc'"),
    ("station = 3", "allowed are tables [[station]]"),
    ("[[station]]", "[[station]] 3 needs address"),
    ('[[station]]\naddress = "1.2"', "1.2"),
    ('[[station]]\naddress = "1.2.0.1"', "[[station]] 3: address = '1.2.0.1' is used by "
     "[[station]] 1"),
    ('[[test]]\nkind = "pong"', "[[test]] 2: kind = 'pong': allowed are modes, ping"),
    ('[[test]]\nkind = "modes"', "kind = 'modes' needs modes"),
    ('[[test]]\nkind = "modes"\nmodes = ["4539-1S"]', "4539-1S"),
    ('[[test]]\nkind = "ping"\nmodes = ["4539-600S"]', "modes needs kind = 'modes'"),
    ('[[test]]\nkind = "ping"\noctets = 5000', "octets = 5000: a ping has"),
    ('[[test]]\nkind = "file"\nmode = "600"', "600"),
    ('[[test]]\nkind = "ping"\nsender = "1.2.0.9"', "sender = '1.2.0.9': allowed are the"),
    ('[[test]]\nkind = "ping"\nsender = "1.2.0.1"\nreceiver = "1.2.0.1"', "are both '1.2.0.1'"),
    ('[[test]]\nkind = "modes"\nmodes = ["4539-600S"]\nreceiver = "1.2.0.2"', "all others"),
    ('[[test]]\nkind = "modes"\nmodes = ["4539-75L"]\nslot_s = 20',
     "[[test]] 2: slot_s = 20: its modes need at least "),
    ('[air]\nchannel = "bad"', "bad"),
    ("a = 1\n[", "column"),
]


def write(folder, text, name="plan.toml"):
    path = folder / name
    path.write_text(text)
    return str(path)


def call(*words):
    done = CliRunner(mix_stderr=False).invoke(command, [str(w) for w in words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.mark.parametrize("text, said", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_in_a_plan_is_named(tmp_path, text, said):
    first, tables, rest = text.partition("[[test]]") if text.startswith("by = \"turns") else \
        ("", "", text) if text.startswith("[") else (text, "", "")
    first, rest = first + "\n", tables + rest + "\n"
    body = (first if "station =" in first else first + STATIONS) + PING + rest
    path = write(tmp_path, body)
    done = call("check", path)
    error = done.stderr.strip().splitlines()[-1]
    assert done.exit_code == 2 and said in error and path in error, done.stderr


def test_every_key_of_a_plan_is_described():
    for kind in (plans.Plan, plans.Test, plans.Member, plans.Air):
        words = re.findall(r"\w+", kind.__doc__)
        keys = [f.name for f in dataclasses.fields(kind) if f.init]
        assert not set(keys) - set(words), kind


def test_too_few_stations_and_no_test():
    with pytest.raises(plans.PlanError, match="1 .*station.*allowed are 2 to 16"):
        plans.parse('[[station]]\naddress = "1.2.0.1"\n' + PING)
    with pytest.raises(plans.PlanError, match="at least one is needed"):
        plans.parse(STATIONS)


def test_slots_follow_each_other_and_rounds_the_period():
    plan = plans.parse("start = 2026-01-01T00:00:00Z\nperiod_s = 600\n" + STATIONS + PING)
    slots = plan.slots(2)
    assert [(s.sender, s.receiver) for s in slots] == [("1.2.0.1", "1.2.0.2"),
                                                       ("1.2.0.2", "1.2.0.1")]
    begin = plan.start.timestamp()
    assert [s.begin - begin for s in slots] == [1200, 1320]
    assert plan.round_at(begin + 1799) == 2 and plan.round_at(begin - 5) == 0
    # Without a start, rounds are at multiples of the period.
    assert plans.parse(STATIONS + PING).slots(3)[0].begin == 3 * 3600


def test_the_pattern_is_told_from_noise():
    count = pattern.size("4539-75S", 5)[1]
    good, noise = pattern.Judge(count), pattern.Judge(count)
    data = bytearray(pattern.octets(count))
    data[0] ^= 1
    for k in range(0, count, 6):
        good.take(bytes(data[k:k + 6]))
        noise.take(bytes(b ^ 0x5A for b in data[k:k + 6]))
    assert good.outcome() == {"pattern_blocks": -(-count // 6), "bad_blocks": 1,
                              "bits": 8 * count, "bit_errors": 1}
    assert noise.outcome()["bad_blocks"] is None


@pytest.fixture(scope="module")
def dry(tmp_path_factory):
    """A dry run of every test: its folder and output."""
    folder = tmp_path_factory.mktemp("trial")
    path = write(folder, QUICK)
    with contextlib.ExitStack() as taken:
        # As a station of a trial on the air does it.
        for host, port in (("127.0.0.1", 20001), ("127.66.0.1", 20000)):
            with contextlib.suppress(OSError):  # somebody else has it
                taken.enter_context(socket.create_server((host, port)))
        done = subprocess.run(["hf", "trial", "run", path, "--dry", "--folder", folder / "kept"],
                              capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done


def test_dry_runs_beside_each_other_take_other_ports():
    first, second = plans.parse(STATIONS + PAGE), plans.parse(STATIONS + PAGE)
    page.take_free_ports(first)
    with contextlib.closing(page.Server(first, 0)), \
            socket.create_server(("127.0.0.1", first.page_port + 1)):
        page.take_free_ports(second)
        assert abs(first.page_port - second.page_port) >= 32
        page.Server(second, 0).close()
    given = plans.parse(f"page_port = 30001\n{STATIONS}{PAGE}")
    page.take_free_ports(given)
    assert given.page_port == 30001


def test_a_dry_run_does_every_test(dry):
    folder, done = dry
    assert "times real time" in done.stderr and "1.2.0.1      page       1 done" in done.stdout
    with open(folder / "kept" / "1.2.0.1-results.csv", newline="") as file:
        rows = {r["kind"] + r["mode"]: r for r in csv.DictReader(file)}
    for kind, octets in (("throughput", 3000), ("file", 1000), ("page", 1500)):
        row = rows[kind + "4539-2400S"]
        assert row["state"] == "done" and int(row["octets"]) == octets
        assert 300 < float(row["goodput_bps"]) < 2400
    assert rows["throughput4539-2400S"]["linked"] in ("0", "1", "")
    with open(folder / "kept" / "1.2.0.2-results.csv", newline="") as file:
        far = list(csv.DictReader(file))
    pings = [r for r in far if r["kind"] == "ping"]
    assert len(pings) == 2 and all(r["ok"] == "1" and 1 < float(r["seconds"]) < 12 for r in pings)
    assert pings[0]["linked"] == "1"
    # A test that cannot be done in its slot gives a row with the reason and the part done.
    (cut,) = [r for r in far if r["kind"] == "file"]
    assert cut["state"] == "failed" and cut["ok"] == "0" and "no receipt in the slot" in cut["why"]


def test_block_errors_are_those_of_the_pattern(dry):
    folder, _ = dry
    f = findings.read([str(folder / "kept" / f"1.2.0.{k}.db") for k in (1, 2)])
    by_mode = {b.mode: b for b in f.blocks}
    good, bad = by_mode["4539-600S"], by_mode["4539-9600S"]
    assert (good.sender, good.receiver, good.transmissions) == ("1.2.0.1", "1.2.0.2", 1)
    assert good.sent == pattern.size("4539-600S", 2)[0] and good.bad + good.missing == 0
    assert good.bits == 8 * pattern.size("4539-600S", 2)[1] and good.bit_errors == 0
    # 12 dB are 10 dB too few for 9600 bit/s.
    assert bad.sent > 0 and bad.bad + bad.missing == bad.sent
    channel = [x for x in f.receptions if x["mode"] == "4539-600S" and x["bad_blocks"] == 0]
    assert channel and abs(channel[0]["snr_db"] - 12) < 3 and abs(channel[0]["freq_offset_hz"]) < 2


def test_the_report_is_one_page_with_what_was_measured(dry):
    folder, _ = dry
    path = folder / "report.html"
    done = call("report", folder / "kept", "-o", path)
    assert done.exit_code == 0 and f"{path}: report of 2 databases\n" in done.stderr
    text = path.read_text()
    assert text.startswith(report.FIRST_LINE) and "<title>quick: report" in text
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", text) and "@import" not in text
    for word in ("Dry run", "awgn snr=12", "SNR, dB", "Doppler spread, Hz", "delay spread, ms",
                 "frequency offset, Hz", "goodput, bit/s", "calls that linked", "4539-9600S",
                 "no receipt in the slot", "Slots not done", "exceed the bit rate of the mode"):
        assert word in text, word
    assert text.count("<svg") == 5
    # Bright, dark and paper have colours of their own, and nothing is drawn in any others'.
    names = set(re.findall(r"var\((--[a-z]+)\)", text))
    assert {"--grid", "--first"} <= names
    themes = re.findall(r":root \{([^}]*)\}", text)
    assert len(themes) == 3 and all(names <= set(re.findall(r"--[a-z]+", t)) for t in themes)
    assert "#0072b2" not in text.partition("</style>")[2]
    # Two stations differ without colours: their marks are of two shapes.
    first = text[text.index("<svg"):text.index("</svg>")]
    assert len({re.sub(r"[\d.-]+", "", m) for m in re.findall(r'<path id="[^"]*" d="([^"]*)"',
                                                              first)}) >= 3
    bad = findings.read([str(folder / "kept" / f"1.2.0.{k}.db") for k in (1, 2)]).blocks[-1]
    assert f">{bad.sent}</td><td>{bad.bad}</td><td>{bad.missing}</td>" in text
    # Our file is replaced, foreign ones stay.
    assert call("report", folder / "kept", "-o", path).exit_code == 0
    path.write_text("a letter")
    assert call("report", folder / "kept", "-o", path).exit_code == 2
    assert path.read_text() == "a letter"


def test_where_the_time_went_adds_up(dry):
    """3000 octets at 2400 bit/s are 10 s of data, whatever the rest of the slot was."""
    folder, _ = dry
    with open(folder / "kept" / "1.2.0.1-costs.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    (row,) = [r for r in rows if r["kind"] == "throughput"]
    parts = {name: float(row[f"{name}_s"]) for name in cost.PARTS}
    assert parts["data"] == pytest.approx(10, abs=0.5)
    assert parts["turnaround"] > 0.5 and parts["protocol"] > 0.1 and parts["loss"] == 0
    assert 11 < sum(parts.values()) < 28
    page = report.page([str(folder / "kept" / f"1.2.0.{k}.db") for k in (1, 2)])
    whole = sum(parts.values())
    assert (f"<td>{whole:.0f}</td><td>{100 * parts['data'] / whole:.0f}</td>"
            f"<td>{100 * parts['protocol'] / whole:.0f}</td>") in page


def test_done_is_done(dry):
    folder, _ = dry
    before = (folder / "kept" / "1.2.0.1-results.csv").read_text()
    done = call("run", folder / "plan.toml", "--dry", "--folder", folder / "kept")
    assert done.exit_code == 0
    assert (folder / "kept" / "1.2.0.1-results.csv").read_text() == before


def slots(folder, address):
    """Rows of a database that is being written."""
    path = folder / f"{address}.db"
    if not path.exists():
        return []
    db = sqlite3.connect(path, timeout=10)
    try:
        return db.execute("SELECT round, number, state, why, role FROM slots").fetchall()
    except sqlite3.Error:
        return []
    finally:
        db.close()


def test_a_run_that_is_killed_goes_on(tmp_path):
    path = write(tmp_path, STATIONS + '[[test]]\nkind = "ping"\ncount = 100\noctets = 50\n'
                 'mode = "4539-2400S"\nslot_s = 20\n'
                 + '[air]\nchannel = "awgn snr=20"\n')
    words = ["hf", "trial", "run", path, "--dry", "--rounds", "2", "--folder", tmp_path / "kept"]
    # Slow enough that the second run is refused within the slot.
    process = subprocess.Popen([*words, "--speed", "4"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 100
        while not [s for s in slots(tmp_path / "kept", "1.2.0.1") if s[2] == "running"
                   and s[1] == 1]:
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.01)
        # Meanwhile nobody else may write.
        second = subprocess.run(words, capture_output=True, text=True, timeout=60)
        assert second.returncode == 2 and f"process {process.pid}" in second.stderr
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    done = subprocess.run(words, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    for address in ("1.2.0.1", "1.2.0.2"):
        rows = slots(tmp_path / "kept", address)
        assert len({s[:2] for s in rows}) == len(rows) == 4
        states = {s[1]: s for s in rows if s[0] == min(r[0] for r in rows)}
        assert states[1][2] == "interrupted" and "ended within it" in states[1][3]
        others = [s for s in rows if s[2] != "interrupted"]
        assert len(others) == 3
        assert all(s[2] in ("done", "failed") for s in others)
    db = sqlite3.connect(tmp_path / "kept" / "1.2.0.1.db")
    assert [w for (w,) in db.execute("SELECT why FROM runs ORDER BY id")] == [
        "ended unexpectedly", "complete"]
    db.close()


TURNS = """
by = "turns"
patience_s = 60
""" + STATIONS + """
[[test]]
kind = "modes"
modes = ["4539-600S"]
seconds = 1
sender = "1.2.0.2"
slot_s = 20
[[test]]
kind = "ping"
count = 1
octets = 50
slot_s = 30
mode = "4539-2400S"
[air]
channel = "{channel}"
"""


def turns(folder, channel, rounds):
    path = write(folder, TURNS.format(channel=channel))
    done = subprocess.run(["hf", "trial", "run", path, "--dry", "--rounds", str(rounds),
                           "--folder", folder / "kept"], capture_output=True, text=True,
                          timeout=200)
    assert done.returncode == 0, done.stderr
    return findings.read([str(folder / "kept" / f"1.2.0.{k}.db") for k in (1, 2)])


def test_stations_take_turns_over_the_air(tmp_path):
    f = turns(tmp_path, "awgn snr=15", 1)
    assert {(r.kind, r.sender): r.states for r in f.rows} == {
        ("modes", "1.2.0.2"): {"done": 1}, ("ping", "1.2.0.1"): {"done": 1},
        ("ping", "1.2.0.2"): {"done": 1}}
    (blocks,) = f.blocks
    assert (blocks.receiver, blocks.lost, blocks.bad, blocks.missing) == ("1.2.0.1", 0, 0, 0)
    # In order, and nothing at the same time.
    begins = [s[1] for s in sorted(slots(tmp_path / "kept", "1.2.0.1"), key=lambda s: s[0])]
    assert begins == [0, 1, 2]
    # One more round continues where the last one ended.
    f = turns(tmp_path, "awgn snr=15", 2)
    assert all(r.states == {"done": 2} for r in f.rows)


def test_turns_that_nobody_hears_are_rows_too(tmp_path):
    f = turns(tmp_path, "awgn snr=-30", 1)
    rows = {(r.kind, r.sender): r for r in f.rows}
    ping = rows["ping", "1.2.0.1"]
    assert ping.states == {"failed": 1} and ping.linked == 0
    assert any("1.2.0.2 did not confirm that it begins" in t["why"] for t in f.troubles)
    (kept,) = [s for s in slots(tmp_path / "kept", "1.2.0.1") if s[1] == 0]
    assert kept[2] == "missed" and kept[3] == "1.2.0.2 did not take its turn"


def test_a_database_belongs_to_one_plan_and_is_bounded(tmp_path):
    plan = plans.parse(STATIONS + PING)
    path = str(tmp_path / "a.db")
    kept = store.Store(path, "1.2.0.1", plan.text(), 1)
    with pytest.raises(store.StoreError, match="a.db: in use by another hf trial run"):
        store.Store(path, "1.2.0.1", plan.text())
    for k, slot in enumerate(plan.slots(0) + plan.slots(1)):
        slot_id = kept.begin(slot, "sends", None)
        for n in range(4000):
            kept.reception(slot_id, at=1000.0 * k + n, mode="4539-600S", snr_db=1 / 3,
                           reason="eom" * 10)
        kept.result(slot_id, at=1.0, kind="ping", ok=1)
        kept.end(slot_id, 1.0, "done")
        assert kept._octets() <= 1000000
    kept.close()
    reader = store.Reader(path)
    assert reader.rows("SELECT count(*) FROM results")[0][0] == 4
    left = reader.rows("SELECT count(*), min(at) FROM receptions")[0]
    assert left[0] + int(reader.about["receptions_dropped"]) == 16000 and left[1] > 0
    reader.close()
    other = plans.parse(STATIONS + PING + 'octets = 100\n')
    with pytest.raises(store.StoreError, match="is of another plan"):
        store.Store(path, "1.2.0.1", other.text())
    with pytest.raises(store.StoreError, match="is of another station .1.2.0.1, this is 1.2.0.2"):
        store.Store(path, "1.2.0.2", plan.text())


def test_what_cannot_be_read_is_named(tmp_path):
    for place, said in ((tmp_path, "no database"), (tmp_path / "x.db", "does not exist"),
                        (write(tmp_path, "text", "y.txt"), "is no database of hf trial")):
        done = call("report", place, "-o", tmp_path / "r.html")
        assert done.exit_code == 2 and said in done.stderr
    path = write(tmp_path, STATIONS + PING)
    done = call("run", path)
    assert done.exit_code == 2 and "--as" in done.stderr
    done = call("run", path, "--as", "1.2.0.1")
    assert done.exit_code == 2 and "has no [radio]; a trial without" in done.stderr


def test_the_example_is_a_plan_with_its_stations():
    done = call("check", TREE / "examples" / "trial" / "plan.toml")
    assert done.exit_code == 0 and done.stdout.count("1.2.0.1 to 1.2.0.2") == 4
    assert "station 1.2.0.2: mode auto, radio audio" in done.stderr


def test_what_ale_does_is_kept(tmp_path):
    plan = plans.parse(STATIONS + PING)
    slot = plan.slots(0)[1]
    path = str(tmp_path / "1.2.0.1.db")
    kept = store.Store(path, "1.2.0.1", plan.text())
    ear = ale_record.AleEar([7.1e6, 10.1e6])
    view = {"peer": "JOE", "frequency_hz": 10.1e6, "text": "linked with JOE", "quality": [
        {"peer": "JOE", "channel": 1, "snr_db": 12.5, "age_s": 3},
        {"peer": "JOE", "channel": 0, "snr_db": 9.0, "age_s": slot.length_s + 1}]}
    side = SimpleNamespace(bench=SimpleNamespace(number=0), ear=pattern.Ear(), ale_ear=ear,
                           ale=lambda: view, ale_frequencies_hz=[7.1e6, 10.1e6],
                           desk=SimpleNamespace(now=lambda: 20.0))
    clock = SimpleNamespace(utc=lambda at=None: slot.begin + at)
    one = runner.Runner(plan, kept, side, clock, lambda line: None)
    slot_id = one._begin(slot, "hears")
    one._begun = [(1.0, slot_id)]
    for kind, text in (("tune", ""), ("linked", "JOE")):
        meta = pmt.make_dict()
        for key, value in (("type", pmt.intern(kind)), ("now", pmt.from_uint64(5 * 10**9)),
                           ("ale_channel", pmt.from_uint64(1))):
            meta = pmt.dict_add(meta, pmt.intern(key), value)
        ear._on_ale(pmt.cons(meta, pmt.init_u8vector(len(text), list(text.encode()))))
    one._end(slot, slot_id, "hears", runner.measure.Outcome())
    kept.close()
    (name,) = [n for n in store.write_csv(path) if n.endswith("-ale.csv")]
    rows = list(csv.DictReader(open(name, encoding="utf-8")))
    assert [(r["event"], r["channel"], float(r["frequency_hz"]), r["peer"], r["snr_db"], r["text"])
            for r in rows] == [("linked", "1", 10.1e6, "", "", "JOE"),
                               ("quality", "1", 10.1e6, "JOE", "12.5", "")]
    assert all(int(r["number"]) == slot.number for r in rows)
    assert rows[0]["at"] == store.utc_text(slot.begin + 5)
    assert rows[1]["at"] == store.utc_text(slot.begin + 17)
