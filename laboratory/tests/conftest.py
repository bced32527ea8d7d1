# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs hf and hf-lab as a user runs them."""
import json
import os
import subprocess
from typing import Any, Dict, List

import pytest


class Result:
    """Status and output of a command."""

    def __init__(self, status: int, out: bytes, err: bytes) -> None:
        self.status, self.out, self.err = status, out, err.decode()
        # Whatever goes wrong, a user never sees the inside of the program.
        assert "Traceback" not in self.err, self.err

    def reports(self) -> List[Dict[str, Any]]:
        """The JSON objects on standard error."""
        return [json.loads(line) for line in self.err.splitlines() if line.startswith("{")]


#: Commands of hf-lab.
LAB = ("bench", "ber", "channel", "day", "tcp")


@pytest.fixture
def hf(tmp_path):
    """Runs hf, or hf-lab for its commands, in an empty folder:
    hf("ber", "run", ..., input=b"...")."""

    def run(*arguments: str, input: bytes = b"", env: Dict[str, str] = {}) -> Result:
        program = "hf-lab" if arguments[0] in LAB else "hf"
        result = subprocess.run([program, *map(str, arguments)], input=input, capture_output=True,
                                cwd=tmp_path, timeout=120, env={**os.environ, **env})
        return Result(result.returncode, result.stdout, result.stderr)

    return run
