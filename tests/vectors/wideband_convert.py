#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collect the golden vectors of the wideband waveforms: wideband_convert.py FACTS OUT.

FACTS is a folder with the archives (golden) and the tables to 24 kHz (tables) and above (ext48).
Written to OUT:

    wideband.npz            preamble, fetched, data and shifted of every vector, as they are; what
                            the vectors have as complex numbers is covered by wideband.json
    wideband.json           the parameters of every vector and the SHA-256 of all its symbols
    wideband_digests.csv    as it is: one block of every waveform, interleaver and code
    wb_*.csv                tables for the tests of single numbers

Nothing is computed here: arrays are stored with compression, tables are joined.
"""
import csv
import json
import pathlib
import shutil
import sys
from typing import Dict, List

import numpy as np

SETS = ("a_all_waveforms", "b_k9_short_eom_eot", "c_misc", "d_30_48")
TABLES = {"wb_wid_dibits": ["tables/wid_dibits.csv"],
          "wb_count_dibits": ["tables/count_dibits.csv"],
          "wb_waveforms": ["tables/waveforms.csv", "ext48/waveforms.csv"],
          "wb_256qam": ["tables/d10_256qam.csv"],
          "wb_interleavers": ["tables/d33_d50_interleaver.csv", "ext48/interleaver.csv"],
          "wb_timing_power": ["tables/timing_power.csv"],
          "wb_probes": ["tables/d21_miniprobe_lengths.csv", "ext48/miniprobe_lengths.csv"],
          "wb_base_sequences": ["tables/base_sequences_ideal.csv"]}
#: Left out: the closed form of a base sequence as numbers is enough.
DROPPED = ("source", "basis", "i", "q")


def join(facts: pathlib.Path, parts: List[str], target: pathlib.Path, drop: bool) -> None:
    rows: List[Dict[str, str]] = []
    for part in parts:
        with (facts / part).open(newline="", encoding="ascii") as file:
            rows += csv.DictReader(file)
    names = [n for n in rows[0] if not (drop and n in DROPPED)]
    with target.open("w", newline="", encoding="ascii") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    facts, out = map(pathlib.Path, sys.argv[1:])
    vectors, arrays = [], {}
    for name in SETS:
        vectors += json.loads((facts / f"golden/set_{name}.json").read_text())
        stored = np.load(facts / f"golden/set_{name}.npz")
        arrays.update({key: stored[key] for key in stored if ".iq_" not in key})
    np.savez_compressed(out / "wideband.npz", **arrays)
    (out / "wideband.json").write_text("[\n" + ",\n".join(map(json.dumps, vectors)) + "\n]\n")
    shutil.copyfile(facts / "golden/digests.csv", out / "wideband_digests.csv")
    for name, parts in TABLES.items():
        join(facts, parts, out / f"{name}.csv", name != "wb_256qam")
    print(f"{len(vectors)} vectors, {len(arrays)} arrays, {len(TABLES)} tables")


if __name__ == "__main__":
    main()
