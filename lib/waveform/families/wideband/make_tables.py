#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write tables.cc from the fact base of the wideband waveforms: make_tables.py FACTS OUT.

FACTS holds tables/ (MIL-STD-188-110C Appendix D, 3 to 24 kHz) and ext48/ (110D Appendix D,
30 to 48 kHz, from public transcriptions) as one CSV or JSON file for each table.
"""
import csv
import json
import pathlib
import sys
from typing import Any, Dict, List

KINDS = ("US", "S", "M", "L")
ABOUT = '''/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Written by make_tables.py, not by hand.
#include "waveform/families/wideband/tables.h"

namespace gr::hf::kernel::wideband {

// clang-format off
'''


def rows(path: pathlib.Path) -> List[Dict[str, str]]:
    with path.open(newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def waveforms(facts: pathlib.Path) -> List[str]:
    """One line for each bandwidth and waveform number, its four interleavers included."""
    interleavers = {(r["bw_khz"], r["wid"], r["interleaver"]): r
                    for r in rows(facts / "tables/d33_d50_interleaver.csv")
                    + rows(facts / "ext48/interleaver.csv")}
    lines = []
    for r in rows(facts / "tables/waveforms.csv") + rows(facts / "ext48/waveforms.csv"):
        own = [interleavers.get((r["bw_khz"], r["wid"], kind)) for kind in KINDS]
        frames = ", ".join(x["frames"] if x else "0" for x in own)
        increments = ", ".join(x["increment"] if x else "0" for x in own)
        lines.append("{ %s, %s, %s, %s, %s, %s, %s, { %s }, { %s } }" % (
            r["bw_khz"], r["wid"], r["bits_per_symbol"], r["data_rate_bps"],
            r["u_data"] or "32", r["k_probe"] or "0",
            r["code_rate"].replace("/", ", "), frames, increments))
    return lines


def codes(facts: pathlib.Path) -> List[str]:
    return ['{ %s, %s, { "%s", "%s" }, { "%s", "%s" } }' % (
        r["code_rate"].replace("/", ", "), r["repeat"], r["k7_t1"], r["k9_t1"], r["k7_t2"],
        r["k9_t2"])
        for r in rows(facts / "tables/d42_puncture.csv") + rows(facts / "ext48/puncture_extra.csv")]


def probes(facts: pathlib.Path) -> List[str]:
    """Lengths that stand in both tables have one line."""
    every = {int(r["probe_length"]): r
             for r in rows(facts / "tables/d21_miniprobe_lengths.csv")
             + rows(facts / "ext48/miniprobe_lengths.csv")}
    return ["{ %d, %s, %s }" % (n, every[n]["base_length"], every[n]["boundary_shift"])
            for n in sorted(every)]


def table(name: str, kind: str, lines: List[str], comment: str) -> str:
    """A table with one line for each entry."""
    body = ",\n".join("    " + line for line in lines)
    return f"// {comment}\nconst std::array<{kind}, {len(lines)}> {name}{{ {{\n{body}\n}} }};\n"


def numbers(name: str, values: List[int], comment: str) -> str:
    lines = ["    " + ", ".join(str(v) for v in values[i:i + 32]) + ","
             for i in range(0, len(values), 32)]
    return (f"// {comment}\nconst std::array<uint8_t, {len(values)}> {name}{{\n"
            + "\n".join(lines) + "\n};\n")


def main() -> None:
    facts, out = map(pathlib.Path, sys.argv[1:])
    pn: Dict[str, Any] = json.loads((facts / "tables/d18_d20_preamble_pn.json").read_text())
    preset = json.loads((facts / "tables/wid0_scrambler.json").read_text())["init"]
    parts = [
        table("waveforms", "waveform_row", waveforms(facts),
              "110C tables D-II, D-XI, D-XII, D-XLI, D-XXXIII to D-XL, D-XLIII to D-L; above 24 "
              "kHz 110D D-II,\n// D-XI, D-XII, D-XLIX, D-XLV to D-XLVIII, D-LIX to D-LXII."),
        table("codes", "code_row", codes(facts), "110C table D-XLII; 4/7: 110D table D-L."),
        table("probes", "probe_row", probes(facts), "110C table D-XXI, 110D table D-XXI."),
        numbers("fixed_pn", pn["fixedPN"], "110C table D-XVIII."),
        numbers("count_pn", pn["cntPN"], "110C table D-XIX."),
        numbers("wid_pn", pn["widPN"], "110C table D-XX."),
        numbers("chip_scrambler_preset", preset, "110C Appendix D, scrambler of waveform 0: b[0] first."),
    ]
    out.write_text(ABOUT + "\n".join(parts)
                   + "// clang-format on\n\n} // namespace gr::hf::kernel::wideband\n")


if __name__ == "__main__":
    main()
