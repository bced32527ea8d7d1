# SPDX-License-Identifier: GPL-3.0-or-later
"""Every example script runs."""
import os
from pathlib import Path
import re
import subprocess

import pytest

EXAMPLES = Path(os.environ["HF_SOURCE_DIR"]) / "examples"


def run(name: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(["python3", str(EXAMPLES / f"{name}.py"), *arguments],
                          capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.stem)
def test_quick_run(path):
    r = run(path.stem, "--quick")
    assert r.returncode == 0, r.stdout + r.stderr
    assert r.stdout


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.stem)
def test_help_and_bad_arguments(path):
    assert "--quick" in run(path.stem, "--help").stdout
    option, wrong = ("--to", "J+E") if path.stem == "ale_call" else ("--mode", "4539-1S")
    r = run(path.stem, option, wrong)
    assert r.returncode == 2 and wrong in r.stderr and "Traceback" not in r.stderr


def test_full_station_says_goodput_and_is_the_same_every_time():
    runs = [run("full_station", "--octets", "5000", "--mode", "4539-2400S", "--channel",
                "moderate snr=18", "--seed", "3").stdout for _ in range(2)]
    found = [re.search(r"in ([\d.]+) s of station time.*\n.*goodput (\d+) bit/s", t)
             for t in runs]
    assert all(found) and found[0].groups() == found[1].groups()
    assert 500 < int(found[0][2]) < 2400


def test_full_station_fails_when_nothing_can_arrive():
    r = run("full_station", "--octets", "100", "--channel", "awgn snr=-30", "--limit", "60")
    assert r.returncode == 1 and "failed: 0 of 100 octets" in r.stderr
