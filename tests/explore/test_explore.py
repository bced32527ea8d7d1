# SPDX-License-Identifier: GPL-3.0-or-later
"""The program behind hf test --explore: its store, and what it prints."""
import os
from pathlib import Path
import re
import subprocess
import sys

PROGRAM = os.environ["EXPLORE"]


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120)


def total(said):
    return int(re.search(r"^explored: (\d+) schedules, 0 failures", said, re.MULTILINE).group(1))


def test_a_search_goes_on_where_it_ended(tmp_path):
    store = str(tmp_path / "store.txt")
    first = run(store, "1")
    assert first.returncode == 0 and total(first.stdout) > 500
    assert total(run(store, "0").stdout) == total(first.stdout)
    second = run(store, "1")
    units = [line.split()[1] for line in (tmp_path / "store.txt").read_text().splitlines()]
    assert len(units) == len(set(units)) == 2
    assert total(second.stdout) > total(first.stdout)


def test_a_store_with_a_failure_fails(tmp_path):
    store = tmp_path / "store.txt"
    store.write_text("in-order 0L 1000 1 20\n")
    assert run(str(store), "0").returncode == 1
    assert run("/nonexistent/store", "1").returncode == 2


def test_a_replay_shows_each_transmission():
    said = run("in-order", "0L").stdout
    assert "no answer from" in said and "transmission 1 of station 1: EXPEDITED" in said


def test_bad_words_are_refused():
    assert "allowed are in-order," in run("nowhere", "0L").stderr
    assert "schedule '2Z'" in run("in-order", "2Z").stderr
    assert run().returncode == 2


def test_each_rule_that_the_explorer_must_not_miss_is_still_in_the_code():
    sys.path.insert(0, str(Path(__file__).parent))
    import rules
    found = rules.rules()
    assert found
    for rule in found:
        made = rules.fault(rule, rules.ROOT)
        assert made.old != made.new and rule["rule"] and rule["clause"]
        assert rules.violation(Path(PROGRAM), rule) == "", rule["rule"]
