# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab bench combine: how the gain is read."""
from hflab.receiver import combining

MODE = "4539-3200S"


def row(snr_db, seed, combined, best):
    return combining.Trial(MODE, 4, 10, snr_db, seed, combined, best, 4 * best, 4)


def test_the_gain_is_read_where_a_tenth_of_the_blocks_is_bad():
    points = {4.0: [row(4, s, 2, 10) for s in range(4)], 6.0: [row(6, s, 0, 8) for s in range(4)],
              10.0: [row(10, s, 0, 2) for s in range(4)],
              12.0: [row(12, s, 0, 0) for s in range(4)]}
    assert 4 < combining.crossing(points, lambda r: r.combined) < 6
    assert 10 < combining.crossing(points, lambda r: r.best) < 12
    db, low, high = combining.gain(points)
    assert low <= db <= high and 5 < db < 7
    text = combining.report([r for rows in points.values() for r in rows])
    assert f"| {db:.1f} |" in text and "| 6 |" in text
    del points[12.0]
    assert combining.gain(points) is None


def test_blocks_count_wherever_they_are():
    sent = bytes(range(100))
    assert combining.bad_blocks(sent, 4, 200, sent) == 0
    assert combining.bad_blocks(sent, 4, 200, sent[50:]) == 2
    assert combining.bad_blocks(sent, 4, 200, b"") == 4


def test_a_short_measurement(hf):
    r = hf("bench", "combine", "--trials", "2", "--seconds", "2", "-j", "1", "--receivers", "3")
    assert r.status == 0 and "| 4539-3200S | 3 |" in r.out.decode()
    r = hf("bench", "combine", "--mode", "5069-12k-4800S")
    assert r.status == 2 and "modes of 3 kHz" in r.err
