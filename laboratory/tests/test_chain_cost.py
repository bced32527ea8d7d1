# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab bench speed --chain: its figures are of what was asked."""
from hflab.receiver import chain_cost


def test_a_chain_costs_more_than_the_whole_modem_but_not_much():
    cost = chain_cost.measure("4539-9600S", 5)
    assert 0 < cost.tx < cost.tx_chain < 100 and 0 < cost.rx < cost.rx_chain < 1000
    row = chain_cost.table([cost]).splitlines()[-1]
    ratio = cost.rx_chain / cost.rx
    assert row.startswith("| 4539-9600S |") and row.endswith(f"| {ratio:.1f} | 3 |")
    assert ratio < 6  # the target is 3, on a machine that does nothing else
