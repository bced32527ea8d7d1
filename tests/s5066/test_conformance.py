#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/conformance.md against the existing tests: every row has its tests and its clause of the
standard, none is missing, and gaps of the implementation are listed.

With --write it rewrites the table from the tests; rows and their texts stay.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "conformance.md"
ROW = re.compile(r"^\| ([0-9X]+\.[0-9]+) \| (.*?) \| (.*?) \| (.*?) \|$", re.M)
#: Clauses of the standard, one or several; rows of our own have none.
CLAUSE = re.compile(r"[A-F]\.\d+(\.\d+)*((,| to) [A-F]\.\d+(\.\d+)*)*")
GAP = re.compile(r"^\| ((?:[A-F]\.\d|Annex|Edition).*?) \| (.*?) \| (.*?) \|$", re.M)


def rows_of_tests():
    """Names of the tests by their row, and the rows that Python tests."""
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
        names += ["`" + n + "`" for n in others(m[4])]
        return f"| {m[1]} | {m[2]} | {m[3]} | {', '.join(names)} |"

    PAGE.write_text(ROW.sub(line, PAGE.read_text()))


def test_every_row_names_tests_that_exist():
    rows = rows_of_tests()
    page = {m[1]: m[4] for m in ROW.finditer(PAGE.read_text())}
    assert len(page) >= 89
    assert not set(rows) - set(page), "tests of rows that the page does not have"
    for row, cell in page.items():
        named = set(re.findall(r"`(\w+)`", cell))
        assert named == {n.split("_", 2)[2] for n in rows.get(row, [])}, row
        files = others(cell)
        assert named or files, f"row {row} has no test"
        for f in files:
            assert (ROOT / f).is_file(), f


def test_every_row_has_its_clause():
    rows = list(ROW.finditer(PAGE.read_text()))
    for m in rows:
        if m[1].startswith("X."):
            assert m[2] == "ours", m[0]
        else:
            assert CLAUSE.fullmatch(m[2]), m[0]
    # Every part of the standard that the page is about is named.
    named = {letter for m in rows for letter in re.findall(r"([A-F])\.\d", m[2])}
    assert named >= {"A", "B", "C"}


def test_gaps_are_listed():
    part = PAGE.read_text().split("\n## Not implemented\n")
    assert len(part) == 2
    gaps = GAP.findall(part[1])
    assert len(gaps) >= 10
    assert all(what and here for _, what, here in gaps)


def test_pages_and_files_that_are_named_exist():
    for name in re.findall(r"`([\w./-]+\.(?:md|py|cc|h|toml))`", PAGE.read_text()):
        assert (ROOT / name).is_file() or (ROOT / "docs" / name).is_file(), name


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    write()
