# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab tcp as a user runs it, over the loopback."""
import csv
import re
import socket
import subprocess

import pytest


@pytest.fixture
def server(tmp_path):
    process = subprocess.Popen(["hf-lab", "tcp", "serve", "--port", "0", "--bit-rate", "9600",
                                "--csv", "far.csv", "--plot", "far.png"], cwd=tmp_path,
                               stderr=subprocess.PIPE, text=True)
    try:
        yield int(re.search(r"port (\d+)", process.stderr.readline()).group(1)), process
    finally:
        process.terminate()
        process.communicate()


def test_transfers_tables_series_and_plots(server, tmp_path):
    port, process = server
    result = subprocess.run(
        ["hf-lab", "tcp", "send", "127.0.0.1", "--port", str(port), "--size", "0.1", "--size",
         "250",
         "--bit-rate", "9600", "--csv", "near.csv"],
        cwd=tmp_path, text=True, capture_output=True, timeout=60)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == 4 and lines[3].startswith("| 250 |")
    with open(tmp_path / "near.csv", newline="", encoding="utf-8") as file:
        near = list(csv.DictReader(file))
    assert [int(r["octets"]) for r in near] == [100, 250_000]
    for r in near:
        connect, total, confirmed = (float(r[k]) for k in ("connect_s", "total_s",
                                                           "confirmed_s"))
        assert 0 <= connect <= total <= confirmed and 0 <= float(r["latency_s"]) <= total
    assert process.stderr.readline().startswith("127.0.0.1 port ")
    assert "250000 octets, connect " in process.stderr.readline()
    with open(tmp_path / "far-2.csv", newline="", encoding="utf-8") as file:
        far = list(csv.DictReader(file))
    assert int(far[-1]["octets"]) == 250_000 and len(far) == 245
    assert [float(r["time_s"]) for r in far] == sorted(float(r["time_s"]) for r in far)
    assert float(far[-1]["utilisation_percent"]) > 0
    for name in ("far.png", "far-2.png"):
        assert (tmp_path / name).read_bytes()[:4] == b"\x89PNG"


def test_a_stranger_is_refused_and_the_server_lives_on(server):
    port, process = server
    with socket.create_connection(("127.0.0.1", port), 10) as stranger:
        stranger.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        assert "not those of hf-lab tcp send" in process.stderr.readline()
    result = subprocess.run(["hf-lab", "tcp", "send", "127.0.0.1", "--port", str(port)],
                            timeout=60,
                            text=True, capture_output=True)
    assert result.returncode == 0, result.stderr


def test_failure_is_said(tmp_path):
    result = subprocess.run(["hf-lab", "tcp", "send", "127.0.0.1", "--port", "1"], cwd=tmp_path,
                            text=True, capture_output=True)
    assert result.returncode == 1
    assert "refused" in result.stderr and "Traceback" not in result.stderr
