#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write tables.cc from docs/standards/: make_tables.py [OUT], OUT is tables.cc beside this file.

docs/standards/README.md describes the CSV files and where their numbers come from.
"""
import csv
import pathlib
import sys
from typing import Dict, List

HERE = pathlib.Path(__file__).resolve().parent
STANDARDS = HERE.parents[3] / "docs" / "standards"
KINDS = ("US", "S", "M", "L")
ABOUT = '''/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Written by make_tables.py, not by hand.
#include "waveform/families/wideband/tables.h"

namespace gr::hf::kernel::wideband {

// clang-format off
'''


def rows(name: str) -> List[Dict[str, str]]:
    """Rows of a table of docs/standards."""
    with (STANDARDS / f"{name}.csv").open(newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def waveforms() -> List[str]:
    """One line for each bandwidth and waveform number, its four interleavers included."""
    interleavers = {(r["bw_khz"], r["wid"], r["interleaver"]): r
                    for r in rows("wideband_interleavers")}
    lines = []
    for r in rows("wideband_waveforms"):
        own = [interleavers.get((r["bw_khz"], r["wid"], kind)) for kind in KINDS]
        frames = ", ".join(x["frames"] if x else "0" for x in own)
        increments = ", ".join(x["increment"] if x else "0" for x in own)
        lines.append("{ %s, %s, %s, %s, %s, %s, %s, { %s }, { %s } }" % (
            r["bw_khz"], r["wid"], r["bits_per_symbol"], r["data_rate_bps"],
            r["u_data"] or "32", r["k_probe"] or "0",
            r["code_rate"].replace("/", ", "), frames, increments))
    return lines


def codes() -> List[str]:
    return ['{ %s, %s, { "%s", "%s" }, { "%s", "%s" } }' % (
        r["code_rate"].replace("/", ", "), r["repeat"], r["k7_t1"], r["k9_t1"], r["k7_t2"],
        r["k9_t2"])
        for r in rows("wideband_puncturing")]


def probes() -> List[str]:
    """One line for each length, the shortest first."""
    return ["{ %s, %s, %s }" % (r["probe_length"], r["base_length"], r["boundary_shift"])
            for r in sorted(rows("wideband_miniprobes"), key=lambda r: int(r["probe_length"]))]


def table(name: str, kind: str, lines: List[str], comment: str) -> str:
    """A table with one line for each entry."""
    body = ",\n".join("    " + line for line in lines)
    return f"// {comment}\nconst std::array<{kind}, {len(lines)}> {name}{{ {{\n{body}\n}} }};\n"


def numbers(name: str, values: List[str], comment: str) -> str:
    """An array of numbers, 32 to a line."""
    lines = ["    " + ", ".join(values[i:i + 32]) + ","
             for i in range(0, len(values), 32)]
    return (f"// {comment}\nconst std::array<uint8_t, {len(values)}> {name}{{\n"
            + "\n".join(lines) + "\n};\n")


def main() -> None:
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "tables.cc"
    pn = rows("wideband_preamble_pn")
    preset = [r["bit"] for r in rows("wideband_chip_scrambler")]
    parts = [
        table("waveforms", "waveform_row", waveforms(),
              "110C tables D-II, D-XI, D-XII, D-XLI, D-XXXIII to D-XL, D-XLIII to D-L; above 24 "
              "kHz 110D D-II,\n// D-XI, D-XII, D-XLIX, D-XLV to D-XLVIII, D-LIX to D-LXII."),
        table("codes", "code_row", codes(), "110C table D-XLII; 4/7: 110D table D-L."),
        table("probes", "probe_row", probes(), "110C table D-XXI, 110D table D-XXI."),
        numbers("fixed_pn", [r["fixed"] for r in pn], "110C table D-XVIII."),
        numbers("count_pn", [r["count"] for r in pn], "110C table D-XIX."),
        numbers("wid_pn", [r["wid"] for r in pn], "110C table D-XX."),
        numbers("chip_scrambler_preset", preset, "110C Appendix D, scrambler of waveform 0: b[0] first."),
    ]
    out.write_text(ABOUT + "\n".join(parts)
                   + "// clang-format on\n\n} // namespace gr::hf::kernel::wideband\n")


if __name__ == "__main__":
    main()
