# SPDX-License-Identifier: GPL-3.0-or-later
"""The golden vectors of sealed U_PDUs are those that their program makes."""
import os
from pathlib import Path
import shutil
import subprocess
import sys

import pytest

VECTORS = Path(__file__).parent.parent / "vectors"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="the openssl command is missing")
def test_the_table_is_made_by_its_program() -> None:
    made = subprocess.run([sys.executable, os.fspath(VECTORS / "auth_make.py")], check=True,
                          capture_output=True, text=True).stdout
    assert made == (VECTORS / "auth.csv").read_text(encoding="ascii")
    assert made.count("\n") == 7
