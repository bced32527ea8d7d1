# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab bench interferers: what each interferer costs."""
import numpy as np
import pytest

from hflab.receiver import interferers


@pytest.mark.parametrize("kind", interferers.KINDS)
def test_weak_interferers_cost_nothing(kind):
    cost = interferers.measure("4539-3200S", kind, "-20", 3.0)
    assert cost.right == 1 and cost.speed > 0


@pytest.mark.parametrize("kind", interferers.CHANGES)
def test_mild_disturbances_cost_nothing(kind):
    mildest = next(iter(interferers.CHANGES[kind]))
    assert interferers.measure("4539-3200S", kind, mildest, 3.0).right == 1


def test_an_interferer_has_its_level_and_place():
    times = np.arange(96000) / interferers.RATE
    for kind, make in interferers.MADE.items():
        x = make(times, np.random.default_rng(1))
        hz = np.fft.fftfreq(len(x), 1 / interferers.RATE)
        power = np.abs(np.fft.fft(x)) ** 2
        inside = power[np.abs(hz) < 1700].sum() / power.sum()
        if kind in ("power line", "lightning"):  # they are wider than the channel
            assert 0.3 < inside < 0.4, kind
        elif kind == "next channel":
            assert inside < 0.02, kind
        else:
            assert inside > 0.97, kind


def test_speech_20_db_above_leaves_nothing():
    assert interferers.measure("4539-3200S", "speech", "+20", 5.0).right < 0.05


def test_the_tables_have_a_cell_for_each_level():
    rows = [interferers.Cost("4539-3200S", "hum", level, 0.5, 41.4) for level in ("+0", "+10")]
    rows += [interferers.Cost(mode, "AGC", "1 s", 1, 90) for mode in interferers.MODES]
    assert interferers.table(rows).splitlines() == [
        "| interferer | mode | +0 dB | +10 dB |", "|---|---|---|---|",
        "| hum | 4539-3200S | 50 %, 41 | 50 %, 41 |", "",
        "| disturbance | how much | 4539-3200S | 4539-9600S |", "|---|---|---|---|",
        "| AGC | 1 s | 100 %, 90 | 100 %, 90 |"]


def test_every_disturbance_is_a_row():
    cases = list(interferers.cases())
    assert len(cases) == len(set(cases))
    assert {kind for _, kind, _ in cases} == {*interferers.KINDS, *interferers.CHANGES}
