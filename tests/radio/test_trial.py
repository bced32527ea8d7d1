# SPDX-License-Identifier: GPL-3.0-or-later
"""A trial on the air: two programs, two databases, sound cables between them, by the clock."""
import datetime
import os
import subprocess
import time

from gnuradio.hf.trial import findings
import pytest
from rig import Rig
import sound

#: From the start of the programs to the first slot: devices open, modems listen; s.
BEGIN_S = 8
PLAN = """
name = "cables"
start = {start}
period_s = 80
rounds = 1
guard_s = 1
[[station]]
address = "1.2.0.1"
file = "station_1.toml"
[[station]]
address = "1.2.0.2"
file = "station_2.toml"
[[test]]
kind = "modes"
modes = ["4539-1200S"]
seconds = 2
sender = "1.2.0.1"
slot_s = 12
frequency_hz = 14102000
rig_mode = "USB"
[[test]]
kind = "ping"
count = 1
octets = 50
sender = "1.2.0.2"
slot_s = 20
[[test]]
kind = "file"
octets = 500
sender = "1.2.0.1"
slot_s = 25
frequency_hz = 7103000
"""
STATION = """
address = "1.2.0.{number}"
mode = "4539-2400S"
[radio]
capture = "{hears}_out"
playback = "{speaks}_in"
[radio.ptt]
way = "rigctld"
port = {port}
[radio.rig]
"""


@pytest.fixture
def rigs():
    found = [Rig(), Rig()]
    yield found
    for rig in found:
        rig.close()


def test_two_stations_by_the_clock(tmp_path, rigs):
    start = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=BEGIN_S)
    (tmp_path / "plan.toml").write_text(PLAN.format(start=start.strftime("%Y-%m-%dT%H:%M:%SZ")))
    for number, ends in ((1, ("east", "west")), (2, ("west", "east"))):
        (tmp_path / f"station_{number}.toml").write_text(STATION.format(
            number=number, hears=ends[0], speaks=ends[1], port=rigs[number - 1].port))
    rigs[1].step_hz = 2000  # takes 7103000 not
    with sound.cables(tmp_path) as environment:
        programs = [subprocess.Popen(
            ["hf", "trial", "run", str(tmp_path / "plan.toml"), "--as", f"1.2.0.{number}",
             "--folder", str(tmp_path / "kept")], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE) for number in (1, 2)]
        end = time.monotonic() + 150
        said = [p.communicate(timeout=end - time.monotonic()) for p in programs]
    assert [p.returncode for p in programs] == [0, 0], said
    paths = [str(tmp_path / "kept" / f"1.2.0.{k}.db") for k in (1, 2)]
    f = findings.read(paths)
    (blocks,) = f.blocks
    assert (blocks.mode, blocks.transmissions, blocks.lost) == ("4539-1200S", 1, 0)
    assert blocks.sent > 0 and blocks.bad + blocks.missing == 0
    rows = {r.kind: r for r in f.rows}
    assert rows["ping"].states == {"done": 1} and rows["ping"].linked == rows["ping"].calls == 1
    assert 0.5 < rows["ping"].round_trips[0] < 12
    # Both rigs were asked. The one on another frequency is reported with both values.
    assert rigs[0].frequency == 7103000 and rigs[1].frequency == 7102000
    assert rigs[0].mode[0] == rigs[1].mode[0] == "USB"
    assert rigs[0].set_while_keyed == rigs[1].set_while_keyed == 0
    assert "frequency_hz = 7103000: the rig went to 7102000 Hz" in said[1][1]
    assert not rigs[0].keyed and not rigs[1].keyed
    assert max(abs(x["at"] - start.timestamp()) for x in f.receptions) < 80


TURNS = """
name = "one frequency"
by = "turns"
patience_s = 160
rounds = 1
[[station]]
address = "1.2.0.1"
file = "station_1.toml"
[[station]]
address = "1.2.0.2"
file = "station_2.toml"
[[station]]
address = "1.2.0.3"
file = "station_3.toml"
[[test]]
kind = "ping"
count = 1
octets = 50
sender = "1.2.0.1"
receiver = "1.2.0.3"
slot_s = 40
[[test]]
kind = "modes"
modes = ["4539-1200S"]
seconds = 2
sender = "1.2.0.2"
slot_s = 25
[[test]]
kind = "file"
octets = 500
sender = "1.2.0.3"
receiver = "1.2.0.2"
slot_s = 60
"""


@pytest.mark.skipif("HF_LIVE" not in os.environ, reason="minutes of real time: HF_LIVE=1")
def test_three_stations_take_turns_on_one_cable(tmp_path):
    (tmp_path / "plan.toml").write_text(TURNS)
    for number in (1, 2, 3):
        (tmp_path / f"station_{number}.toml").write_text(
            f'address = "1.2.0.{number}"\nmode = "4539-2400S"\n'
            '[radio]\ncapture = "air_out"\nplayback = "air_in"\n')
    with sound.cables(tmp_path, ("air",)) as environment:
        programs = [subprocess.Popen(
            ["hf", "trial", "run", str(tmp_path / "plan.toml"), "--as", f"1.2.0.{number}",
             "--folder", str(tmp_path / "kept")], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE) for number in (1, 2, 3)]
        end = time.monotonic() + 500
        try:
            said = [p.communicate(timeout=end - time.monotonic()) for p in programs]
        finally:
            for p in programs:
                p.kill()
    assert [p.returncode for p in programs] == [0, 0, 0], said
    f = findings.read([str(tmp_path / "kept" / f"1.2.0.{k}.db") for k in (1, 2, 3)])
    assert {(r.kind, r.sender): r.states for r in f.rows} == {
        ("ping", "1.2.0.1"): {"done": 1}, ("modes", "1.2.0.2"): {"done": 1},
        ("file", "1.2.0.3"): {"done": 1}}, said
    assert sorted((b.receiver, b.lost, b.bad, b.missing) for b in f.blocks) == [
        ("1.2.0.1", 0, 0, 0), ("1.2.0.3", 0, 0, 0)]
