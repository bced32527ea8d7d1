# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab bench hidden: fair shares, drawn nets, and a short run."""
import pytest

from hflab.link import hidden as measure


def _net(heard, flows):
    return measure._net("net", heard, flows)


@pytest.mark.parametrize("heard, flows, shares", [
    ("AB", "AB", [1.0]),
    ("AB BC CD", "AB BC CD DC", [0.25] * 4),
    ("AB BC CD", "AB CD", [0.5, 0.5]),
    # B and D do not hear each other.
    ("AB BC CD DE", "AB ED", [1.0, 1.0]),
    ("AB BC CD DE EF", "AB CD FE", [0.5, 0.5, 0.5]),
    ("AB BC CD DE EF", "AB BA CD FE", [1 / 3, 1 / 3, 1 / 3, 2 / 3]),
])
def test_the_fair_share_is_the_max_min_share_over_the_conflicts(heard, flows, shares):
    assert measure.fair_shares(_net(heard, flows)) == pytest.approx(shares)


def test_drawn_nets_are_connected_and_flows_have_neighbours():
    for seed in range(200):
        net = measure.draw(seed)
        reached = {0}
        for _ in range(net.stations):
            reached |= {b for a in reached for b in range(net.stations) if net.near(a, b)}
        assert reached == set(range(net.stations))
        assert 2 <= len(set(net.flows)) == len(net.flows) <= 8
        assert all(a != b and net.near(a, b) for a, b in net.flows)


def test_a_short_run_has_a_row_for_each_flow():
    rows = measure.measure(measure.NAMED[0], 0.5, 1)
    assert [r.flow for r in rows] == ["A>B", "B>C", "C>D", "D>C"]
    assert sum(r.bps for r in rows) > 500
    text = measure.report(rows)
    assert "| chain, seed 1 | A>B |" in text and "| all | 4 |" in text
