# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab bench papers: the cells of the published tables, run on the event simulator."""
import subprocess

from hflab.link import papers


def row(table, **wanted):
    found = [c for c in papers.cells() if c.table == table
             and all(getattr(c, k) == v for k, v in wanted.items())]
    assert len(found) == 1
    return papers.measure(found[0])


def test_quick_report_misses_nothing_of_size_and_speed():
    result = subprocess.run(["hf-lab", "bench", "papers", "--quick", "--table", "size and speed"],
                            text=True, capture_output=True, check=True)
    assert "55 of 55 published cells beaten" in result.stdout
    assert "### Missed" not in result.stdout


def test_gates_of_the_physical_limit():
    gates = {(9600, 1000, "total time"): 0.85, (9600, 100_000, "total time"): 0.95,
             (9600, 1_000_000, "total time"): 0.99, (1200, 10_000, "total time"): 0.95,
             (300, 10_000, "total time"): 0.95, (9600, 1000, "connect time"): 0.8,
             (300, 1000, "close time"): 0.8}
    for (rate, octets, metric), gate in gates.items():
        r = row("HF-PEP size and speed", bit_rate=rate, octets=octets, metric=metric)
        assert r.of_limit >= gate, r


def test_a_ping_works_where_it_failed():
    assert row("ping ARQ", bit_rate=75).ours < 40


def test_a_table_that_does_not_exist_is_named():
    result = subprocess.run(["hf-lab", "bench", "papers", "--table", "tea"], text=True,
                            capture_output=True)
    assert result.returncode == 2
    assert "tea" in result.stderr
