# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab day: the table, the weather drawn from it, and the strategies."""
import json
import os
import subprocess

import numpy as np
import pytest

from hflab.link import day, propagation

# One hour of VOACAP's method 30: MUF first, then five frequencies.
VOACAP = """
   1.0 13.9  4.0  5.8  8.5 12.4 18.0  0.0  0.0  0.0  0.0  0.0  0.0 FREQ
        1F2  2F2  2F2  2F2  1F2  1F2   -    -    -    -    -    -  MODE
       0.50 1.00 0.97 0.67 0.69 0.09   -    -    -    -    -    -  MUFday
         46   38   43   44   50   25   -    -    -    -    -    -  SNR
       26.8 18.4 20.7 26.6 26.8 26.8   -    -    -    -    -    -  SNR LW
       14.2  7.8  7.9  9.4 10.1 25.7   -    -    -    -    -    -  SNR UP
"""


def test_an_output_of_voacap_is_read():
    found = propagation.parse(VOACAP)
    assert [p.mhz for p in found] == [4.0, 5.8, 8.5, 12.4, 18.0]
    p = found[3]
    assert (p.hour, p.low_db, p.high_db, p.muf_day, p.muf_mhz) == (1, 26.8, 10.1, 0.69, 13.9)
    assert p.snr_db == pytest.approx(50 - 34.8)


def test_the_table_has_every_hour_and_frequency():
    table = propagation.read()
    assert {(p.hour, p.mhz) for p in table} == {(h, f) for h in range(24) for f in propagation.MHZ}
    assert len(table) == 120 and all(p.low_db > 0 and p.high_db > 0 for p in table)


def test_days_differ_as_the_deciles_say():
    # At 20 h on 8.5 MHz: a tenth of the days is worse, a tenth better than the deciles.
    at = 20 * 3600 + 1800
    (p,) = [p for p in propagation.read() if (p.hour, p.mhz) == (20, 8.5)]
    snr = np.array([day.weather(seed).snr_db[2, at] for seed in range(1, 201)])
    assert np.median(snr) == pytest.approx(p.snr_db, abs=2.5)
    assert 10 <= np.sum(snr < p.snr_db - p.low_db) <= 32
    assert 10 <= np.sum(snr > p.snr_db + p.high_db) <= 32
    assert np.array_equal(day.weather(7).snr_db, day.weather(7).snr_db)


@pytest.fixture
def weather():
    """The first frequency is good until noon, the second after it, the third never."""
    snr = np.full((3, day.DAY_S), day.NOTHING_DB)
    snr[0, :day.DAY_S // 2] = snr[1, day.DAY_S // 2:] = 20
    return day.Weather((4.0, 8.0, 16.0), snr, snr)


def test_the_clock_table_changes_at_noon(weather):
    channel = day.clock_table(weather, np.random.default_rng(1))
    assert list(channel[[0, day.DAY_S // 2 - 1, day.DAY_S // 2, -1]]) == [0, 0, 1, 1]


@pytest.mark.parametrize("trials", [False, True])
def test_ale_links_where_a_call_arrives(weather, trials):
    channel = day.AlePair(weather, np.random.default_rng(1), trials).run()
    linked = channel >= 0
    assert not np.any(channel == 2)
    # Off a link: calls and trials. It takes two minutes until the loss at noon is believed.
    assert np.mean(linked) > 0.95
    snr = day.course(weather, channel)
    assert len(snr) == np.sum(linked)
    assert np.mean(snr < 0) < 200 / day.DAY_S


def moving_pair(until=day.DAY_S):
    """A pair on the first of two channels, which falls at 7200 s to a twentieth of what the other
    promises."""
    snr = np.full((2, day.DAY_S), 20.0)
    snr[0, 7200:until] = 0
    pair = day.AlePair(day.Weather((4.0, 8.0), snr, snr), np.random.default_rng(1), False)
    pair.t = 6500
    pair.known = {0: (0, 20.0), 1: (6000, 20.0)}
    return pair


def test_a_pair_moves_when_the_mean_of_two_minutes_falls_below_a_third():
    pair = moving_pair()
    assert pair.stay(0) == (1, 0)
    high, low = (float(day.promise(db)) for db in (20, 0))
    # x of 120 s at the low rate bring the mean to a third.
    x = 120 * (1 - 1 / day.BETTER) / (1 - low / high)
    assert pair.t == pytest.approx(7200 + x + day.TWAS_S, abs=2)
    assert pair.call(1) == 1
    assert np.all(pair.channel[6500:7200] == 0)


def test_a_short_dip_moves_nobody():
    pair = moving_pair(until=7260)
    assert pair.stay(0) == (None, 0) and not pair.moves


def test_the_next_move_is_ten_minutes_later():
    pair = moving_pair()
    assert pair.stay(0) == (1, 0)
    pair.known[1] = pair.t, 20.0
    assert pair.stay(0) == (1, 0)  # the channel is still the worse one
    assert pair.moves[1] - pair.moves[0] == day.STAY_S


def trying_pair(there_db):
    """A pair on a channel of 3 dB, in a link that began at 1000 s. Nothing is known of another
    channel."""
    snr = np.full((2, day.DAY_S), 3.0)
    snr[1] = there_db
    pair = day.AlePair(day.Weather((4.0, 8.0), snr, snr), np.random.default_rng(1), True)
    pair.t = 1000
    pair.known = {0: (1000, 3.0)}
    return pair


def test_a_trial_finds_a_better_channel():
    pair = trying_pair(20.0)
    there, min_bps = pair.stay(0)
    assert (there, min_bps) == (1, pytest.approx(day.TRIED * float(day.promise(3))))
    assert pair.t == pytest.approx(1000 + day.BETTER_S + day.TWAS_S, abs=1)
    assert pair.call(there, min_bps) == 1


@pytest.mark.parametrize("there_db", [3.0, -20.0])
def test_a_trial_of_a_channel_that_is_not_better_leads_back(there_db):
    pair = trying_pair(there_db)
    there, min_bps = pair.stay(0)
    began = pair.t
    assert pair.call(there, min_bps) == 0
    assert pair.t - began == pytest.approx(2 * day.CALL_S + day.REPORTS_S, abs=2)
    # An hour later it is tried again.
    began = pair.t
    assert pair.stay(0)[0] == 1
    assert pair.t - began == pytest.approx(day.KNOWN_S - day.CALL_S, abs=5)


def test_a_good_day_carries_what_the_link_can():
    result = day.carry(np.full(day.DAY_S, 35, dtype=np.float32), 1)
    (flow,) = result.flows
    assert flow.octets_delivered * 8 / day.DAY_S > 0.9 * 9600
    assert flow.altered == flow.repeated == 0


def hf(*arguments):
    return subprocess.run(["hf-lab", "day", *arguments], capture_output=True, text=True)


def test_the_command(tmp_path):
    picture = tmp_path / "day.svg"
    r = hf("--seed", "2", "--json", "--plot", str(picture))
    assert r.returncode == 0, r.stderr
    octets = {name: v[0] for name, v in json.loads(r.stdout)["octets"].items()}
    assert len(octets) == 9 and os.path.getsize(picture) > 10000
    assert all(o <= octets["always the best"] for o in octets.values())
    assert octets["ALE"] > max(o for n, o in octets.items() if n.endswith(" MHz"))


@pytest.mark.parametrize("arguments, said", [
    (["--days", "0"], "0"), (["--plot", "x.gif"], "x.gif")])
def test_wrong_use(arguments, said):
    r = hf(*arguments)
    assert r.returncode in (1, 2) and said in r.stderr
