# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/reliability.md: each promise names a test that exists."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text()


def test_every_promise_has_its_test():
    tests = {f"{suite}.{name}" for folder in ("tests", "laboratory/tests")
             for path in (ROOT / folder).rglob("*.cc")
             for suite, name in re.findall(r"TEST(?:_[PF])?\((\w+),\s*(\w+)\)", path.read_text())}
    tests |= {f"{path.parent.name}.{path.stem[5:]}"
              for path in (ROOT / "tests").glob("*/test_*.py")}
    tests |= {f"lab.{path.stem[5:]}" for path in (ROOT / "laboratory/tests").glob("test_*.py")}
    rows = re.findall(r"^\| .* \| .* \| `([\w.]+)` \|$", PAGE, re.MULTILINE)
    named = set(re.findall(r"`(\w+\.[a-z]\w+)`", PAGE))
    assert len(rows) >= 12 and set(rows) <= named
    assert named <= tests, named - tests


def test_every_forgery_has_its_row():
    source = (ROOT / "tests" / "explore" / "attacker.cc").read_text()
    names = re.findall(r'"([^"]+)"', source[source.index("names[forgeries]"):].split(";")[0])
    assert len(names) == 8
    rows = PAGE[PAGE.index("| forged D_PDU"):]
    for name in names:
        assert f"| {name.replace('everything', 'everything sent')} |" in rows, name
