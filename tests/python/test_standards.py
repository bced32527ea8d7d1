# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of the standards: docs/standards agrees with the code made from it, and with itself."""
import csv
from fractions import Fraction
import math
from pathlib import Path
import subprocess
import sys
from typing import Dict, List

import pytest

TREE = Path(__file__).resolve().parents[2]
STANDARDS = TREE / "docs" / "standards"
WIDEBAND = TREE / "lib/waveform/families/wideband"
MARKS = {"standard": "110C App. D", "sourced": "110D App. D", "sourced-once": "110D App. D"}
FILES = sorted(STANDARDS.glob("*.csv"))


def rows(name: str) -> List[Dict[str, str]]:
    with (STANDARDS / f"{name}.csv").open(newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def test_the_code_is_made_from_the_tables(tmp_path):
    out = tmp_path / "tables.cc"
    subprocess.run([sys.executable, str(WIDEBAND / "make_tables.py"), str(out)], check=True)
    assert out.read_text() == (WIDEBAND / "tables.cc").read_text()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_row_has_clause_source_and_mark(path):
    page = (STANDARDS / "README.md").read_text()
    assert f"`{path.name}`" in page
    found = rows(path.stem)
    assert found and list(found[0])[-3:] == ["clause", "source", "confidence"]
    for row in found:
        assert row["clause"] and row["source"] == MARKS[row["confidence"]], row
        assert f"`{row['confidence']}`" in page and f"`{row['source']}`" in page


def test_no_row_stands_twice():
    keys = {"wideband_waveforms": 2, "wideband_interleavers": 3, "wideband_puncturing": 1,
            "wideband_miniprobes": 1, "wideband_preamble_pn": 1, "wideband_chip_scrambler": 1}
    assert set(keys) == {path.stem for path in FILES}
    for name, count in keys.items():
        found = [tuple(row.values())[:count] for row in rows(name)]
        assert len(set(found)) == len(found), name


def test_data_rates_follow_from_frame_and_code():
    """110C D.5: symbols 800/s for each kHz; waveform 0: 32 chips carry two coded bits."""
    for row in rows("wideband_waveforms"):
        rate = 800 * int(row["bw_khz"]) * int(row["bits_per_symbol"]) * Fraction(row["code_rate"])
        if row["wid"] == "0":
            rate /= 32
        else:
            rate *= Fraction(int(row["u_data"]), int(row["u_data"]) + int(row["k_probe"]))
        assert rate == int(row["data_rate_bps"]), row


def test_interleavers_fit_their_waveforms():
    waveforms = {(row["bw_khz"], row["wid"]): row for row in rows("wideband_waveforms")}
    found = rows("wideband_interleavers")
    assert len(found) == 608
    for row in found:
        waveform = waveforms[row["bw_khz"], row["wid"]]
        size, increment = int(row["size_bits"]), int(row["increment"])
        bits = int(waveform["bits_per_symbol"]) * int(waveform["u_data"] or 1)
        assert size == int(row["frames"]) * bits, row
        assert int(row["input_bits"]) == size * Fraction(waveform["code_rate"]), row
        assert int(row["input_bits"]) % 8 == 0
        assert increment < size and math.gcd(increment, size) == 1, row


def test_masks_make_the_code_rate():
    for row in rows("wideband_puncturing"):
        for kind in ("k7", "k9"):
            first, second = row[f"{kind}_t1"], row[f"{kind}_t2"]
            assert len(first) == len(second)
            sent = (first + second).count("1") * int(row["repeat"])
            assert Fraction(len(first), sent) == Fraction(row["code_rate"]), row
