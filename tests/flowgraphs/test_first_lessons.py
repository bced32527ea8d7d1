# SPDX-License-Identifier: GPL-3.0-or-later
"""The two fastest lessons."""
from flowgraph import EXAMPLES, run_lesson
import pytest

FIRST = ["1_symbol_and_pulse", "3_preamble"]


@pytest.mark.parametrize("name", FIRST)
def test_lesson(name, tmp_path):
    run_lesson(EXAMPLES / "lessons" / f"{name}.py", tmp_path)
