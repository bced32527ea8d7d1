# SPDX-License-Identifier: GPL-3.0-or-later
"""How far measurements are."""
import os
import pty
import shutil
import subprocess
import sys
from typing import List

import pytest

from hflab import experiments, sweep
from hflab.channel import models, validation
from hflab.link import dissect
from hflab.receiver import ber


def rising(shares: List[float]) -> bool:
    """Whether shares never fall."""
    return shares == sorted(shares) and all(0 <= s <= 1 for s in shares)


def test_points_tell_how_far_they_are():
    shares: List[float] = []
    with sweep.Pool(1).open() as workers:
        ber.measure(ber.Point("4539-600S", "awgn snr=10", 5.0), ber.Stop(1, 18.0), workers,
                    ber.store(), progress=shares.append)
    assert len(shares) >= 3 and rising(shares) and shares[-1] == 1.0


def test_measurements_of_the_channel_tell_how_far_they_are():
    for measure in (validation.fading, validation.independence):
        shares: List[float] = []
        measure(2.0, 300.0, 1, shares.append)
        assert len(shares) > 1 and rising(shares) and shares[-1] == 1.0
    shares = []
    models.compare(2.0, 300.0, 1, shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.skipif(not shutil.which("tshark"), reason="the program tshark is missing")
def test_the_judgement_of_tshark_tells_how_far_it_is(tmp_path, monkeypatch):
    shares: List[float] = []
    dissect.run(str(tmp_path), 0.05, progress=shares.append)
    assert len(shares) >= 4 and rising(shares) and shares[-1] == 1.0
    told: List[float] = []
    experiments.simulate_mixed(*dissect.paths(str(tmp_path)), hours=40, progress=told.append)
    assert told and rising(told)


COMMAND = [sys.executable, "-c",
           "from gnuradio.hf.cli import _progress\nfrom hflab.cli import main\n"
           "_progress.DELAY_S = 0.0\nmain()",
           "ber", "run", "--mode", "4539-600S", "--channel", "awgn", "--snr", "0:6:2",
           "--seconds", "20", "--max-time", "60", "-j", "1"]


def test_a_command_draws_on_a_terminal_and_nowhere_else():
    quiet = subprocess.run(COMMAND, capture_output=True, text=True, check=True)
    assert "left" not in quiet.stderr and "\x1b" not in quiet.stderr
    ours, theirs = pty.openpty()
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=theirs,
                          env={**os.environ, "TERM": "xterm", "COLUMNS": "80"}) as shown:
        os.close(theirs)
        seen = b""
        while True:
            try:
                got = os.read(ours, 4096)
            except OSError:  # the terminal's other end is closed
                break
            seen += got
        assert shown.stdout is not None
        table = shown.stdout.read().decode()
    os.close(ours)
    assert shown.returncode == 0
    assert " left" in seen.decode() and "4539-600S awgn snr=6" in seen.decode()
    # Results are the same, and only results, but for the speed in the last column.
    assert [line.rsplit("|", 2)[0] for line in table.splitlines()] == \
        [line.rsplit("|", 2)[0] for line in quiet.stdout.splitlines()]
