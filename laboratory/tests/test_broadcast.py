# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab bench broadcast: its rows agree with theory, and its report names targets and misses."""
import pytest

from hflab.link import broadcast as measure

pytest.importorskip("zfec", reason="python3-zfec is not installed")


def test_repeats_deliver_as_independent_losses_do():
    row = measure.measure(measure.Job(500, 1, 10, 0.3, 60))
    # Four standard deviations of 600 U_PDUs.
    assert row.number == 600 and row.wanted == pytest.approx(0.91)
    assert abs(row.delivered - row.wanted) < 4 * (0.91 * 0.09 / 600) ** 0.5
    assert 2 < row.sent < 2.3


def test_late_receivers_get_the_file_in_the_second_round_only():
    late = measure.Job(0, 0, 4, 0.0, 0, True, 1, 2)
    row = measure.measure(late)
    assert row.delivered == 1 and row.number == 4 and row.wanted == 1
    text = measure.report([row, measure.measure(measure.Job(128, 0, 2, 0.0, 5))])
    assert "| 4 | 2 | 0% | 100.00%" in text and "| 2 | 0% | 128 | 0 | 100.0%" in text
    assert text.count("**no**") + text.count("| yes |") == 3
