#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/conformance.md against the tests that exist: every row has its tests, none is missing.

Called with --write it writes the table anew from the tests; rows and their texts stay.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "conformance.md"
ROW = re.compile(r"^\| ([0-9X]+\.[0-9]+) \| (.*?) \| (.*?) \|$", re.M)


def rows_of_tests():
    """Names of the tests, by the row that they name; the rows of what Python tests."""
    rows = {}
    for path in sorted((ROOT / "tests").rglob("*.cc")):
        for name in re.findall(r"TEST\(Conformance,\s*(Row\w+)\)", path.read_text()):
            section, number = re.match(r"Row([0-9X]+)_([0-9]+)_", name).groups()
            rows.setdefault(f"{section}.{int(number)}", []).append(name)
    return rows


def others(cell):
    """Tests that are not of the suite Conformance: `file`."""
    return re.findall(r"`(tests/[^`]+)`", cell)


def write():
    rows = rows_of_tests()

    def line(m):
        names = ["`" + n.split("_", 2)[2] + "`" for n in rows.get(m[1], [])]
        names += ["`" + n + "`" for n in others(m[3])]
        return f"| {m[1]} | {m[2]} | {', '.join(names)} |"

    PAGE.write_text(ROW.sub(line, PAGE.read_text()))


def test_every_row_names_tests_that_exist():
    rows = rows_of_tests()
    page = {m[1]: m[3] for m in ROW.finditer(PAGE.read_text())}
    assert len(page) >= 89
    assert not set(rows) - set(page), "tests of rows that the page does not have"
    for row, cell in page.items():
        named = set(re.findall(r"`(\w+)`", cell))
        assert named == {n.split("_", 2)[2] for n in rows.get(row, [])}, row
        files = others(cell)
        assert named or files, f"row {row} has no test"
        for f in files:
            assert (ROOT / f).is_file(), f


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    write()
