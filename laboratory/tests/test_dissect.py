# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab bench tshark, in short form: traffic of all kinds, read by Wireshark's own dissectors."""
import shutil
import subprocess

import pytest

from hflab.link import dissect

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="no tshark")


def test_a_quarter_of_an_hour_is_clean(tmp_path):
    result = dissect.run(str(tmp_path), 0.25)
    assert result.clean, dissect.report(result)
    assert {"DATA-ONLY", "ACK-ONLY", "DATA-ACK", "EXPEDITED-DATA-ONLY", "EXPEDITED-ACK-ONLY",
            "MANAGEMENT", "NON-ARQ-DATA", "EXPEDITED-NON-ARQ-DATA", "WARNING"} <= \
        set(result.d_pdus)
    assert len(result.primitives) >= 20 and result.hard_links > 0 and result.restarts > 0


def test_a_wrong_octet_is_found(tmp_path):
    dissect.run(str(tmp_path), 0.02)
    path = tmp_path / "d_pdus.pcap"
    octets = bytearray(path.read_bytes())
    octets[24 + 16 + 8] ^= 1  # in the first D_PDU's header, after the headers of file and record
    path.write_bytes(octets)
    assert dissect.read(str(tmp_path)).bad_crcs >= 1


def test_the_command_reports_and_succeeds(tmp_path):
    r = subprocess.run(["hf-lab", "bench", "tshark", "--hours", "0.05", "--out", str(tmp_path)],
                       capture_output=True, text=True, timeout=120)
    assert r.returncode == 0, r.stderr
    assert "| **CRCs: wrong** | **0** |" in r.stdout
    assert (tmp_path / "sis.pcap").stat().st_size > 1000
