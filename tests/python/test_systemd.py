# SPDX-License-Identifier: GPL-3.0-or-later
"""The systemd unit: systemd accepts it, and it leaves little exposed."""
import os
import re
import shutil
import subprocess

import pytest

UNIT = os.path.join(os.path.dirname(__file__), "../../examples/systemd/hf-station.service")
#: Exposure of 10 at most. With the two capabilities it is 2.0.
EXPOSURE_MAX = 2.5

pytestmark = pytest.mark.skipif(shutil.which("systemd-analyze") is None,
                                reason="systemd-analyze is not installed")


def test_systemd_accepts_it(tmp_path):
    with open(UNIT, encoding="ascii") as file:
        text = file.read()
    unit = tmp_path / "hf-station.service"
    # Whether hf and its manual pages are installed is another matter.
    unit.write_text(text.replace("/usr/bin/hf", "/bin/true").replace("man:hf-run(1)",
                                                                     "man:true(1)"))
    result = subprocess.run(["systemd-analyze", "verify", str(unit)], text=True,
                            capture_output=True)
    assert "hf-station" not in result.stderr, result.stderr


def test_little_is_exposed():
    result = subprocess.run(["systemd-analyze", "security", "--offline=true", UNIT], text=True,
                            capture_output=True)
    level = re.search(r"exposure level for hf-station.service: ([0-9.]+)", result.stdout)
    if level is None:
        pytest.skip(f"this systemd-analyze cannot: {result.stderr.strip()}")
    assert float(level.group(1)) <= EXPOSURE_MAX


def test_a_mistake_in_the_file_is_not_tried_again(tmp_path):
    """The exit status of wrong use is the one in the unit file."""
    with open(UNIT, encoding="ascii") as file:
        prevented = re.search(r"^RestartPreventExitStatus=(\d+)$", file.read(), re.MULTILINE)
    assert prevented is not None
    wrong = tmp_path / "station.toml"
    wrong.write_text("adress = '1.2.0.1'\n", encoding="utf-8")
    result = subprocess.run(["hf", "run", "--quiet", str(wrong)], capture_output=True, text=True)
    assert result.returncode == int(prevented.group(1)), result.stderr
    assert "adress" in result.stderr
