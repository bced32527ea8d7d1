# SPDX-License-Identifier: GPL-3.0-or-later
"""The capacity beside the benches' figures."""
import math

import numpy as np
import pytest

from hflab.channel import capacity


@pytest.mark.parametrize("snr_db,bps", [(0, 3000.0), (10 * math.log10(3), 6000.0),
                                        (10 * math.log10(15), 12000.0)])
def test_without_fading_it_is_shannons_formula(snr_db, bps):
    assert capacity.capacity_bps(snr_db, False) == pytest.approx(bps)


@pytest.mark.parametrize("snr_db", [-10, 0, 10, 30])
def test_with_fading_it_is_the_mean_over_rayleigh_fading(snr_db):
    rng = np.random.default_rng(1)
    paths = rng.normal(size=(2, 2, 400_000)) / 2  # two paths of half the power, real and imaginary
    power = (paths.sum(axis=0) ** 2).sum(axis=0)
    mean = 3000 * np.log2(1 + 10 ** (snr_db / 10) * power).mean()
    assert capacity.capacity_bps(snr_db, True) == pytest.approx(mean, rel=0.01)


@pytest.mark.parametrize("fading", [False, True])
@pytest.mark.parametrize("snr_db", [-20, 0, 13, 35])
def test_a_goodput_at_capacity_has_no_gap(snr_db, fading):
    bps = capacity.capacity_bps(snr_db, fading)
    assert capacity.gap_db(bps, snr_db, fading) == pytest.approx(0, abs=1e-6)
    assert capacity.gap_db(bps, snr_db + 3, fading) == pytest.approx(3, abs=1e-6)


def test_no_goodput_has_no_gap():
    assert capacity.words(0, 10, True) == "-"
    assert capacity.words(3000, 6.66, False) == "6.7 dB"
