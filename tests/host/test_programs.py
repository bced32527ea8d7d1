# SPDX-License-Identifier: GPL-3.0-or-later
"""Unmodified programs of others at the host ports. Those that are not installed are skipped."""
import shutil
import subprocess
import time

import pytest

from gnuradio.hf import pair
from gnuradio.hf.lab.programs import pat, sessions


@pytest.mark.parametrize("way", list(pat.WAYS))
def test_two_pats_pass_a_mail(way):
    if all(shutil.which(name) is None for name in pat.NAMES):
        pytest.skip("pat-winlink is not installed (Debian's package pat)")
    outcome = pat.measure(pat.Options(octets=500), way, *pat.LINKS[0], 60.0, pat.program())
    assert outcome.arrived, outcome.why


def test_kissutil_sends_a_frame():
    if shutil.which("kissutil") is None:
        pytest.skip("kissutil is not installed (Debian's package direwolf)")
    with sessions.Stations(pair.Setting(speed=10, pep_ports=None)) as stations:
        def start(side):
            return subprocess.Popen(
                ["kissutil", "-h", "127.0.0.1", "-p", str(stations.ports[side] + 5)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

        with start("A") as a, start("B") as b:
            try:
                time.sleep(1)  # it reports nothing when it is ready
                a.stdin.write("LA1AAA>APRS:hello hf\n")
                a.stdin.flush()
                line = next(x for x in b.stdout if "hello" in x)
                assert line.strip().endswith("LA1AAA>APRS:hello hf")
            finally:
                a.kill()
                b.kill()
