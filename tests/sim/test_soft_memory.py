# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory for damaged copies of a segment: two whole stations on real waveforms, and its bench."""
from gnuradio.hf.lab import experiments
from gnuradio.hf.lab.link import soft_memory
import pytest


def transfer(memory, snr_db, limit_s=900.0):
    return experiments.simulate_real("4539-600S", 2000, soft_memory.U_PDU_OCTETS,
                                     channel=f"awgn snr={snr_db}", limit_s=limit_s,
                                     settings={"copy_memory": memory, **soft_memory.PATIENT})


def test_copies_that_cannot_be_read_are_delivered():
    # At -3 dB most segments of 600S have errors.
    soft = transfer(2, -3)
    assert soft["complete"] and soft["octets_altered"] == 0
    assert soft["segments_summed"] > 0
    assert soft["headers_recovered"] > 0
    hard = transfer(1, -3, soft["end_s"])
    assert hard["segments_summed"] == hard["headers_recovered"] == 0
    assert hard["octets_delivered"] < soft["octets_delivered"] == 2000


def test_nothing_changes_where_nothing_fails():
    soft, without = transfer(2, 15), transfer(0, 15)
    assert soft["complete"] and soft["segments_damaged"] == 0
    assert soft == without


def run(mode, memory, seed, octets):
    return soft_memory.Run(mode, -1.0, 1800.0, memory, seed, octets, 9, 8, 7, 6, 5)


def test_gains_have_an_interval_over_the_seeds():
    runs = [run("600L", memory, seed, octets) for seed, all_octets in
            enumerate([(100, 150, 300), (100, 250, 200), (100, 200, 250)], 1)
            for memory, octets in enumerate(all_octets)]
    value, least, most = soft_memory.gain(runs, 2, 0)
    assert value == 2.5 and 2 <= least < 2.5 < most <= 3
    assert soft_memory.gain(runs, 2, 1)[0] == pytest.approx(1.25)
    assert soft_memory.missed(runs) == []
    said = soft_memory.report(runs)
    assert "2.50 (2.00 to 3.00)" in said and "24" in said
    short = [run("75S", memory, 1, 100 + 10 * memory) for memory in range(3)]
    assert soft_memory.missed(runs + short) == ["75S at -1 dB"]
    assert "**1.20**" in soft_memory.report(short)
    nothing = [run("75S", memory, 1, 0) for memory in range(3)]
    assert soft_memory.missed(nothing) == ["75S at -1 dB"]


def test_points_are_3_db_below_the_threshold():
    points = soft_memory.Options(seeds=2).points()
    assert len(points) == 18
    assert {(mode, snr_db) for mode, snr_db, *_ in points} == {("600L", -1), ("75L", -11),
                                                               ("75S", -7)}
    with pytest.raises(ValueError, match="600S"):
        soft_memory.Options(modes=("600S",))
