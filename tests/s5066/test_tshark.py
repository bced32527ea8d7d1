#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Output of the data link on the air and to clients, read by tshark's dissectors."""
import os
import shutil
import subprocess
from collections import Counter

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="no tshark")


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pcap")
    files = [str(folder / "d_pdus.pcap"), str(folder / "sis.pcap")]
    subprocess.run([os.environ["S5066_DUMP"], *files], check=True, timeout=60)
    return files


def tshark(path, *args):
    run = subprocess.run(["tshark", "-r", path, *args], check=True, timeout=120,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return run.stdout


def fields(path, name):
    return [line for line in tshark(path, "-T", "fields", "-e", name).splitlines() if line]


@pytest.mark.parametrize("which", [0, 1])
def test_nothing_is_malformed(captures, which):
    bad = tshark(captures[which], "-Y", '_ws.malformed || _ws.expert.severity == "Error"')
    assert bad == ""


def test_every_d_pdu_has_good_crcs(captures):
    text = tshark(captures[0], "-V")
    assert "Incorrect" not in text
    records = len(tshark(captures[0]).splitlines())
    assert records > 100
    assert text.count("CRC on header") == text.count("CRC on header: 0x") == records
    assert text.count("(Correct)") > records


def test_expected_d_pdu_types_are_there(captures):
    types = Counter(int(t, 0) for t in fields(captures[0], "s5066dts.type"))
    for wanted in (0, 1, 2, 7, 8, 15):
        assert types[wanted] > 0, types
    assert not set(types) - {0, 1, 2, 3, 7, 8, 15}, types


def test_addresses(captures):
    nodes = set(fields(captures[0], "s5066dts.src_addr"))
    assert len(nodes) == 2


def test_expected_primitives_are_there(captures):
    types = Counter(int(t, 0) for line in fields(captures[1], "s5066sis.type")
                    for t in line.split(","))
    # bind, unbind, accepted, keep alive, request, indication, confirm, rejected
    for wanted in (1, 2, 3, 17, 20, 21, 22, 23):
        assert types[wanted] > 0, types
    # 20 and a broadcast reach the other side, 20 come back
    assert types[21] == 41
    # 20, and two U_PDUs that reached the node but no client
    assert types[22] == 22
