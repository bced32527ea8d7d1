# SPDX-License-Identifier: GPL-3.0-or-later
"""A D_PDU type is added as docs/where-to-put-things.md says: here is type 14, which no edition of
the standard has. Copies of the files that the guide names are edited. Everything that includes
one of them is compiled again without optimisation (30 s of CPU), and sham_d_pdu.cc is linked to
it. No other file changes."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
from typing import List, Set

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIB = ROOT / "lib"
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)

#: Of each file: the text before which lines are added, and these lines. The name is replaced.
EDITS = {
    "s5066/pdu/d_pdu.h": [
        ("    warning = 15,", "    sham = 14,\n"),
        ("//! Type 15.", "struct sham_header {\n    uint16_t number = 0;\n};\n\n"),
        ("    warning_header warning;", "    sham_header sham;\n"),
    ],
    "s5066/pdu/d_pdu.cc": [
        ("    case t::management:\n        return 2;", "    case t::sham:\n"),
        ("    case t::warning:\n        return fixed_part(type);", "    case t::sham:\n"),
        ("    case t::warning:\n        return fixed_part(d.type);", "    case t::sham:\n"),
        ("    case t::warning:\n        w.u8(",
         "    case t::sham:\n        w.u16(d.sham.number);\n        break;\n"),
        ("    case t::warning: {",
         "    case t::sham:\n        d.sham.number = r.u16();\n        break;\n"),
    ],
    "s5066/pdu/d_pdu_type.cc": [('"TYPE-14"', "")],
    "s5066/pdu/d_pdu_text.cc": [
        ("    if (d.type == t::warning) {",
         "    if (d.type == t::sham) {\n"
         "        s += \" number \" + std::to_string(d.sham.number);\n    }\n"),
    ],
    "s5066/node/d_pdu_dispatcher.cc": [
        ("    case d_pdu_type::warning:\n        on_warning",
         "    case d_pdu_type::sham: {\n"
         "        d_pdu answer = d_maker.make(p, d_pdu_type::sham);\n"
         "        answer.sham.number = static_cast<uint16_t>(d.sham.number + 1);\n"
         "        p.control.push(answer);\n        break;\n    }\n"),
    ],
}


def edited(file: str) -> str:
    """The text of a file with its edits; each place has to be there once."""
    text = (LIB / file).read_text()
    for before, lines in EDITS[file]:
        assert text.count(before) == 1, f"{file}: {before}"
        text = text.replace(before, lines + before)
    return text.replace('"TYPE-14"', '"SHAM"')


def affected() -> List[str]:
    """Sources below lib/s5066 that are edited, or include what is, at any depth."""
    files = {str(path.relative_to(LIB)): set(INCLUDE.findall(path.read_text()))
             for path in (LIB / "s5066").rglob("*") if path.suffix in (".h", ".cc")}
    found: Set[str] = set(EDITS)
    while True:
        more = {file for file, headers in files.items() if headers & found} - found
        if not more:
            return sorted(file for file in found if file.endswith(".cc")
                          and not file.startswith("s5066/clients/"))
        found |= more


def test_only_files_that_the_guide_names_are_edited():
    guide = (ROOT / "docs" / "where-to-put-things.md").read_text()
    section = guide.split("## A D_PDU type")[1].split("\n## ")[0]
    folder, named = pathlib.PurePath(), set()
    for word in re.findall(r"`([\w./]+\.(?:h|cc))`", section):
        path = pathlib.PurePath(word)
        folder = path.parent if "/" in word else folder
        named.add(str((folder / path.name)))
    assert {f"lib/{file}" for file in EDITS} <= named


def test_a_node_answers_it(tmp_path):
    for file in EDITS:
        (tmp_path / "lib" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lib" / file).write_text(edited(file))
    compiler = [os.environ.get("CXX", "c++"), "-std=c++17", "-O0", f"-I{tmp_path / 'lib'}",
                f"-I{LIB}", f"-I{ROOT / 'include' / 'gnuradio'}", f"-I{ROOT / 'tests'}"]
    sources = [LIB / file for file in affected()] + [ROOT / "tests" / "s5066" / "sham_d_pdu.cc"]
    assert len(sources) > 30

    def built(source: pathlib.Path) -> str:
        file = tmp_path / "lib" / source.relative_to(ROOT).relative_to(
            "lib" if LIB in source.parents else "tests")
        target = str(tmp_path / f"{source.stem}.o")
        run = subprocess.run([*compiler, "-c", str(file if file.exists() else source), "-o",
                              target], capture_output=True, text=True, timeout=300, check=False)
        assert run.returncode == 0, run.stderr
        return target

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(built, sources))
    program = str(tmp_path / "sham_d_pdu")
    subprocess.run([compiler[0], *objects, *os.environ["S5066_LIBRARIES"].split(":"), "-o",
                    program], check=True, timeout=60)
    run = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout == "SHAM number 42 eot 0.5\n"
