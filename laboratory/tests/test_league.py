# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab bench league: the rule by which a frame counts, the search for a mode, the table, and
one cell with our modem."""
import subprocess

from hflab.programs import foreign_modems, league
import numpy as np
import pytest

MESSAGE = bytes(range(250)) * 2


def sent_by_us():
    return league.payloads(MESSAGE, league.FRAME - league.CRC)


def test_a_message_is_cut_into_frames_of_one_size():
    pieces = sent_by_us()
    assert [len(piece) for piece in pieces] == [124] * 4 + [4]
    assert b"".join(pieces) == MESSAGE


def test_frames_count_by_their_crc():
    stream = bytearray(b"".join(map(league.with_crc, sent_by_us())))
    assert league.accepted(sent_by_us(), league.good_frames(bytes(stream))) == len(MESSAGE)
    stream[130] ^= 1   # one bit of the second frame
    assert league.accepted(sent_by_us(), league.good_frames(bytes(stream))) == 500 - 124
    stream[127] ^= 1   # and one of the first CRC
    assert league.accepted(sent_by_us(), league.good_frames(bytes(stream))) == 500 - 248
    # The end is missing: the last frame is cut.
    assert league.accepted(sent_by_us(), league.good_frames(bytes(stream[:-1]))) == 248


@pytest.mark.parametrize("got, octets", [
    ([b"abc", b"abc"], 3), ([b"abc", b"de"], 5), ([b"de\0"], 2), ([b"dex"], 0), ([b"xyz"], 0),
    ([b"ab"], 0), ([], 0)])
def test_a_payload_counts_once_and_only_as_it_was_sent(got, octets):
    assert league.accepted([b"abc", b"de"], got) == octets


def test_interval_holds_the_mean_and_shrinks_with_trials():
    for share in (0.0, 0.3, 1.0):
        few, many = league.interval(share, 5), league.interval(share, 50)
        assert 0 <= few[0] <= many[0] <= share <= many[1] <= few[1] <= 1
    assert league.interval(1.0, 5)[0] == pytest.approx(0.566, abs=0.001)


def test_search_ends_when_no_mode_can_be_better(monkeypatch):
    bounds = {"fast": 1000.0, "middle": 500.0, "slow": 100.0}
    monkeypatch.setattr(league, "at_most", lambda name, mode, octets: bounds[mode])
    asked = []

    def run(points):
        mode = points[0][4]
        asked.append(mode)
        share = 0.2 if mode == "fast" else 1.0
        return [league.Trial(*point, int(share * point[2]), 8 * point[2] / bounds[mode])
                for point in points]

    modem = league.OURS._replace(modes=("slow", "fast", "middle"))
    found = league.best(modem, "awgn", 10.0, league.Options(trials=3), run)
    assert asked == ["fast", "middle"]
    assert found.mode == "middle" and found.goodput_bps == pytest.approx(500)
    assert league.best(modem._replace(modes=()), "awgn", 10.0, league.Options(), run) is None


def test_report_shows_the_best_of_the_others_and_what_misses_it():
    best = league.Best("4539-600S", 300.0, 200.0, 400.0)
    other = league.Best("datac3", 320.0, 250.0, 330.0)
    slower = other._replace(goodput_bps=250.0)
    cells = [league.Cell("poor", 0.0, {"gr-hf": best, "codec2": other, "ARDOP": slower}),
             league.Cell("poor", 0.0, {"gr-hf": best, "codec2": None, "ARDOP": None}),
             league.Cell("poor", 3.0, {"gr-hf": best, "codec2": None, "ARDOP": None})]
    first, second, third = league.report(cells, 1500, 5).splitlines()[2:5]
    assert first == ("| poor | 0 | 300 (200 to 400), 600S | 320 (250 to 330), datac3 "
                     "| 250 (250 to 330), datac3 | 232 | **320**, missed | 11.3 dB |")
    assert "not installed" in second and second.endswith("| 232 | 232 | 11.3 dB |")
    assert third.endswith("| - | - | 14.3 dB |")


def test_published_table_is_whole():
    found = league.published()
    assert set(found) == {(channel, snr_db) for channel in league.CHANNELS
                          for snr_db in (-10, 0, 10, 20, 30)}
    assert found["awgn", 30] == 5995 and found["poor", 20] == 2212


def test_one_message_of_ours_arrives():
    row = league.trial("awgn", 20.0, 300, "gr-hf", "4539-2400S", 1)
    assert row.accepted == 300
    assert row.goodput_bps == pytest.approx(league.at_most("gr-hf", "4539-2400S", 300))


def test_nothing_is_accepted_below_the_noise():
    assert league.trial("awgn", -15.0, 300, "gr-hf", "4539-9600S", 1).accepted == 0


def test_one_message_of_codec2_arrives():
    if not (modes := league.modems()[1].modes):
        pytest.skip("libcodec2 is not installed")
    assert {"datac1", "datac1/1", "datac3", "datac0"} <= set(modes)
    for mode in ("datac3", "datac3/1"):
        row = league.trial("awgn", 20.0, 300, "codec2", mode, 1)
        assert row.accepted == 300 and row.goodput_bps > 100


def test_one_message_of_ardop_arrives():
    if not league.modems()[2].modes:
        pytest.skip("ardopcf is not in the PATH")
    # Two frames, and one whose data end before its room.
    for mode, octets in (("4PSK.500.100", 300), ("16QAM.2000.100", 2100)):
        row = league.trial("awgn", 25.0, octets, "ARDOP", mode, 1)
        assert row.accepted == octets and row.goodput_bps > 150


# Pieces of what ardopcf 1.0.4.1.3 prints for a good frame, a bad one and another good one.
ARDOPCF = """#!/bin/sh
for last; do :; done
test "$last" = "CONSOLELOG 2" || exit 1
cat <<'END'
[DecodeFrame] Frame: 4PSK.500.100.E Decode PASS,  Quality= 83,  RS fixed 0 (of 128 max).
    [RXO FF] 3 bytes of data as hex values:
DD A6 00\x20
    [RXO FF] Data does not appear to be valid UTF-8 text.
[DecodeFrame] Frame: 4PSK.500.100.O Decode FAIL,  Quality= 40
    [RXO FF] 2 bytes of data as hex values:
41 42\x20
    [RXO FF] 2 bytes of data as UTF-8 text:
AB
END
"""


def test_frames_of_ardop_are_read_from_its_output(tmp_path, monkeypatch):
    program = tmp_path / "ardopcf"
    program.write_text(ARDOPCF)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    modem = foreign_modems.ardop()
    assert modem.modes and modem.frame("8PSK.2000.100") == 864
    heard = np.ones(9600, np.complex64)
    assert modem.receive("4PSK.500.100", 3, heard) == [bytes.fromhex("dda600"), b"AB"]
    program.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not foreign_modems.ardop().modes


def test_command_resumes(tmp_path):
    path = tmp_path / "league.csv"
    command = ["hf-lab", "bench", "league", "--channel", "awgn", "--snr", "25", "--octets", "300",
               "--trials", "1", "--csv", str(path)]
    first = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = path.read_text()
    assert "| awgn | 25 |" in first and rows.count("gr-hf") >= 1
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == first
    assert path.read_text() == rows
