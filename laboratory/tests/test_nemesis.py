# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole stations under fire for half a minute: hf-lab bench nemesis runs for hours."""
import re
import subprocess

from hflab.programs import nemesis
import pytest


@pytest.fixture(scope="module", name="report")
def under_fire():
    done = subprocess.run(["hf-lab", "bench", "nemesis", "--runs", "1", "--minutes", "0.5"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def count(report, what):
    """The number in one row of the table."""
    return int(re.search(rf"^\| {re.escape(what)} \| (\d+) \|", report, re.MULTILINE)[1])


def test_every_promise_is_kept(report):
    for text in nemesis.FAILURES.values():
        assert count(report, text) == 0


def test_something_happened(report):
    assert count(report, "faults") > 0
    assert count(report, "of these whole at both ends") >= 4  # one each way, before and after


def test_wrong_octets_and_untrue_ends_are_noticed():
    flow = nemesis.Flow(7, 100, 100)
    end = flow.serve()
    end.got += end.expects[:99]
    assert not list(flow.problems())
    end.over = "eof"
    assert [kind for kind, _ in flow.problems()] == ["untrue_ends"]
    end.got += b"\0" + end.expects
    assert [kind for kind, _ in flow.problems()] == ["wrong"]
