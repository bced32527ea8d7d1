# SPDX-License-Identifier: GPL-3.0-or-later
"""The longer lessons. The others: test_first_lessons.py."""
from flowgraph import EXAMPLES, run_lesson
import pytest
from test_first_lessons import FIRST

LESSONS = sorted((EXAMPLES / "lessons").glob("*.py"))


def test_there_are_eight():
    assert [p.name[0] for p in LESSONS] == list("12345678")


@pytest.mark.parametrize("path", [p for p in LESSONS if p.stem not in FIRST], ids=lambda p: p.stem)
def test_lesson(path, tmp_path):
    run_lesson(path, tmp_path)
