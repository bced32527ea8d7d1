# SPDX-License-Identifier: GPL-3.0-or-later
"""hf tcp as a user runs it, over the loopback."""
import csv
import re
import subprocess

import pytest


@pytest.fixture
def server():
    process = subprocess.Popen(["hf", "tcp", "serve", "--port", "0"], stderr=subprocess.PIPE,
                               text=True)
    try:
        yield re.search(r"port (\d+)", process.stderr.readline()).group(1), process
    finally:
        process.terminate()
        process.communicate()


def test_transfers_table_csv_and_plot(server, tmp_path):
    port, process = server
    result = subprocess.run(
        ["hf", "tcp", "send", "127.0.0.1", "--port", port, "--size", "1", "--size", "250",
         "--bit-rate", "9600", "--csv", "t.csv", "--plot", "t.png"],
        cwd=tmp_path, text=True, capture_output=True, timeout=60)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == 4 and lines[3].startswith("| 250 |")
    with open(tmp_path / "t.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert max(int(r["octets_taken"]) for r in rows) == 250_000
    assert (tmp_path / "t.png").read_bytes()[:4] == b"\x89PNG"
    assert "1000 octets" in process.stderr.readline()


def test_failure_is_said(tmp_path):
    result = subprocess.run(["hf", "tcp", "send", "127.0.0.1", "--port", "1"], cwd=tmp_path,
                            text=True, capture_output=True)
    assert result.returncode == 1
    assert "refused" in result.stderr and "Traceback" not in result.stderr
