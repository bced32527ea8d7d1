# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab bench faults, in short."""
import subprocess


def test_faults_lose_nothing_that_was_confirmed():
    r = subprocess.run(["hf-lab", "bench", "faults", "--hours", "5", "--each", "5"],
                       capture_output=True, text=True, timeout=300)
    assert r.returncode == 0, r.stderr
    assert "| **of these missing at the other side** | 0 | 0 |" in r.stdout
