# SPDX-License-Identifier: GPL-3.0-or-later
"""hf bench adaptive: the search for the best fixed mode, the table, the file, the map."""
from gnuradio.hf.lab import adaptive
import pytest


@pytest.mark.parametrize("best", ["4539-75L", "4539-600S", "4539-2400L", "4539-9600S"])
@pytest.mark.parametrize("near_bps", [0, 500, 3000, 9000])
def test_search_finds_the_peak_from_anywhere(monkeypatch, best, near_bps):
    peak = adaptive.RATES.index(int(best[5:-1]))

    def goodput(mode, *_):
        rate = int(mode[5:-1])
        k = adaptive.RATES.index(rate)
        if k > peak:
            return 0.0
        return rate * (0.9 if mode[-1] == best[-1] else 0.8)

    monkeypatch.setattr(adaptive, "goodput", goodput)
    found = adaptive.best_fixed("AWGN", 10, 100, 1, near_bps)
    assert found == (pytest.approx(0.9 * int(best[5:-1])), best)


def cells():
    return [adaptive.Cell("AWGN", 10, 600, 1, 2280, 2400, "4539-2400S"),
            adaptive.Cell("ITU-R Poor", 10, 600, 1, 940, 1000, "4539-1200L"),
            adaptive.Cell("ITU-R Poor", 0, 600, 1, 0, 0, "none")]


def test_report_counts_what_meets_the_target():
    text = adaptive.report(cells())
    assert "| AWGN | - | 95 %: 2280 of 2400 (2400S) |" in text
    assert "| ITU-R Poor | no mode | **94 %**: 940 of 1000 (1200L) |" in text
    assert "1 of 2 cells reach 95 % of the best fixed mode." in text


def test_file_gives_back_what_was_saved(tmp_path):
    path = str(tmp_path / "cells.csv")
    adaptive.save(path, cells()[::-1])
    assert set(adaptive.load(path)) == set(cells())
    assert list(adaptive.measure(["AWGN"], [10], 600, 1, 1, adaptive.load(path))) == []


def test_map_is_a_picture(tmp_path):
    path = tmp_path / "map.png"
    adaptive.draw(cells(), str(path))
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_goodput_on_a_good_channel_is_near_the_rate():
    assert 0.7 * 1200 < adaptive.goodput("4539-1200S", "AWGN", 20, 60, 1) < 1200
