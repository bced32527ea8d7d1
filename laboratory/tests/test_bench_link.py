# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab bench link: its short table, and the goal for pings."""
import re
import subprocess

import pytest

from hflab.link import targets


def test_every_row_is_printed_and_misses_come_first():
    r = subprocess.run(["hf-lab", "bench", "link", "--quick"], capture_output=True, text=True,
                       timeout=600)
    assert r.returncode == 0, r.stderr
    met, wanted = map(int, re.match(r"(\d+) of (\d+) targets met", r.stdout).groups())
    sections = re.findall(r"^### (.*)$", r.stdout, re.M)
    assert (sections[0] == "Missed") == (met < wanted)
    for name in ("Bulk ARQ, clear", "U_PDU size", "bit errors", "Non-ARQ", "Two-way", "Rate",
                 "Stations", "Simulator", "Ping"):
        assert any(name in s for s in sections), name
    for mode in targets.ping_modes():
        line = re.findall(rf"^\| {mode} \|.*$", r.stdout, re.M)[-1]
        assert line.endswith("| yes |"), line
    # Short runs contain the link set-up and half-full transmissions.
    figures = {what: float(ours) for what, ours in
               re.findall(r"^\| ([^|]*) \| [^|]* \| \*\*([\d.]+)\*\*", r.stdout, re.M)}
    assert figures["4539-9600S, U_PDUs of 2042"] > 93
    assert figures["4539-1200S, U_PDUs of 64"] > 60
    plain, large = (figures[f"4539-9600S, BER 0.0001, {name}"]
                    for name in ("plain Edition 3", "large windows"))
    assert 65 < plain < large


@pytest.mark.parametrize("mode, first, goal", [
    ("4539-75S", 29.2, 22.6), ("4539-300S", 8.8, 7.0), ("4539-1200S", 4.0, 3.4),
    ("4539-1200L", 19.6, 19.6), ("4539-9600S", 2.8, 2.8)])
def test_goals_are_those_of_the_published_model(mode, first, goal):
    assert targets.ping_goal(mode, True) == pytest.approx(first, abs=0.05)
    assert targets.ping_goal(mode, False) == pytest.approx(goal, abs=0.05)
