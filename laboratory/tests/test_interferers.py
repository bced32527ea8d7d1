# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab bench interferers: what each interferer costs."""
import numpy as np
import pytest

from hflab.receiver import interferers


@pytest.mark.parametrize("kind", interferers.KINDS)
def test_weak_interferers_cost_nothing(kind):
    cost = interferers.measure("4539-3200S", kind, -20.0, 3.0)
    assert cost.right == 1 and cost.speed > 0


def test_an_interferer_has_its_level_and_place():
    times = np.arange(96000) / interferers.RATE
    for kind, make in interferers.MADE.items():
        x = make(times, np.random.default_rng(1))
        hz = np.fft.fftfreq(len(x), 1 / interferers.RATE)
        power = np.abs(np.fft.fft(x)) ** 2
        assert power[np.abs(hz) < 1700].sum() > 0.99 * power.sum(), kind


def test_speech_20_db_above_leaves_nothing():
    assert interferers.measure("4539-3200S", "speech", 20.0, 5.0).right < 0.05


def test_the_table_has_a_cell_for_each_level():
    rows = [interferers.Cost("4539-3200S", "hum", level, 0.5, 41.4) for level in (0.0, 10.0)]
    assert interferers.table(rows).splitlines() == [
        "| mode | interferer | +0 dB | +10 dB |", "|---|---|---|---|",
        "| 4539-3200S | hum | 50 %, 41 | 50 %, 41 |"]
