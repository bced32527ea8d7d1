# SPDX-License-Identifier: GPL-3.0-or-later
"""tests/mutate.py: which faults it draws, and a whole run on a sham tree of two functions."""
import importlib.util
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("mutate", ROOT / "tests" / "mutate.py")
assert spec is not None and spec.loader is not None
mutate = importlib.util.module_from_spec(spec)
sys.modules["mutate"] = mutate
spec.loader.exec_module(mutate)

ENGINE = """\
/* a < b in a comment */
#include "limits.h"

namespace limits {

// if (a > b) is no code here
bool above(int a)
{
    const char* text = "1 + 2 && 3";
    return text[0] == '1' && a > 7;
}

int untested(int a)
{
    if (a > 3) {
        a += 1'000;
    }
    return a;
}

} // namespace limits
"""

HEADER = """\
#pragma once
namespace limits {
bool above(int a);
int untested(int a);
} // namespace limits
"""

TEST = """\
#include "limits.h"
int main() { return limits::above(8) && !limits::above(7) && !limits::above(0) ? 0 : 1; }
"""

CMAKE = """\
cmake_minimum_required(VERSION 3.22)
project(sham LANGUAGES CXX)
function(hf_gtest name)
  add_executable(test_${name} ${ARGN})
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/lib/${name})
endfunction()
foreach(part limits)
  add_subdirectory(tests/${part})
endforeach()
"""


def tree(folder):
    files = {"CMakeLists.txt": CMAKE, "lib/limits/limits.cc": ENGINE,
             "lib/limits/limits.h": HEADER, "tests/limits/test_limits.cc": TEST,
             "tests/limits/CMakeLists.txt":
                 "hf_gtest(limits test_limits.cc ../../lib/limits/limits.cc)\n"}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return files


def test_a_file_has_these_faults():
    found = mutate.mutants_of("lib/limits/limits.cc", ENGINE)
    assert [(m.line, m.kind, m.old, m.new) for m in found] == [
        (10, "constant", "0", "1"),
        (10, "equality", "==", "!="),
        (10, "logic", "&&", "||"),
        (10, "limit", ">", ">="),
        (10, "constant", "7", "8"),
        (15, "condition", "a > 3", "!(a > 3)"),
        (15, "limit", ">", ">="),
        (15, "constant", "3", "4"),
        (16, "statement", "a += 1'000", ""),
        (16, "arithmetic", "+=", "-="),
        (16, "constant", "1'000", "1001")]
    assert mutate.mutants_of("lib/limits/limits.h", HEADER) == []


def test_functions_return_early_and_declarations_stay():
    text = ("void part::work()\n{\n    int n = 3;\n    call(n);\n    d_list.push_back(n);\n"
            "    return;\n}\n\nbool part::due() const\n{\n    return d_due;\n}\n")
    found = mutate.mutants_of("part.cc", text)
    assert [m.line for m in found if m.kind == "early return"] == [3, 11]
    assert [m.old for m in found if m.kind == "statement"] == ["call(n)", "d_list.push_back(n)"]
    early = next(m for m in found if m.kind == "early return")
    assert mutate.applied(text, early).startswith("void part::work()\n{\n    return;\n    int n")
    last = [m for m in found if m.kind == "early return"][-1]
    assert "{\n    return false;\n    return d_due;" in mutate.applied(text, last)


@pytest.mark.parametrize("folder", ["lib/dns", "lib/s5066/access", "lib/slep"])
def test_a_seed_always_draws_the_same_and_each_fault_changes_its_place_only(folder):
    texts = {str(p.relative_to(ROOT)): p.read_text()
             for p in sorted((ROOT / folder).rglob("*")) if p.suffix in (".cc", ".h")}
    found = [m for name, text in texts.items() for m in mutate.mutants_of(name, text)]
    assert len(found) > 100
    first = mutate.draw(found, 30, 5)
    assert first == mutate.draw(found, 30, 5) and len(set(first)) == 30
    assert first != mutate.draw(found, 30, 6)
    assert mutate.draw(found, 10, 5) == first[:10]
    assert len({m.kind for m in first}) >= 7
    for m in found:
        text, changed = texts[m.file], mutate.applied(texts[m.file], m)
        assert text[m.begin:m.end] == m.old and m.old != m.new, m.name()
        assert changed[:m.begin] == text[:m.begin], m.name()
        assert changed.endswith(text[m.end:]), m.name()
        # Never within a comment, a string or a preprocessor line.
        assert mutate.blank(text)[m.begin:m.begin + 1] == m.old[:1] or not m.old, m.name()
        assert changed.count("{") == text.count("{") and changed.count("(") >= text.count("(") - \
            m.old.count("("), m.name()


def test_a_run_tells_what_survived_goes_on_and_leaves_the_tree(tmp_path, capsys):
    files = tree(tmp_path / "tree")
    words = ["limits", "100", "--source", str(tmp_path / "tree"), "--work", str(tmp_path / "work")]
    assert mutate.main([*words[:1], "4", *words[2:]]) == 1
    four = capsys.readouterr().out
    assert mutate.main(words) == 1
    said = capsys.readouterr().out
    assert said.startswith(four.split("lib/limits,")[0])
    assert "lib/limits, seed 1: 11 mutants: 5 killed, 6 survived, 0 did not build. Score 45 %" \
        in said
    survivors = [line for line in said.splitlines() if line.startswith("survived: ")]
    assert len(survivors) == 6
    assert all(line.split(":")[2].split()[0] in ("15", "16") for line in survivors)
    # All results are known: nothing is built.
    (tmp_path / "work" / "build" / "CMakeCache.txt").unlink()
    assert mutate.main(words) == 1
    assert capsys.readouterr().out == said
    for place in ("tree", "work/source"):
        for name, text in files.items():
            assert (tmp_path / place / name).read_text() == text


def test_what_cannot_be_done_is_said(tmp_path, capsys):
    tree(tmp_path)
    words = ["--source", str(tmp_path), "--work", str(tmp_path / "work")]
    assert mutate.main(["nowhere", "1", *words]) == 2
    assert "folder 'nowhere' below lib: none" in capsys.readouterr().err
    (tmp_path / "tests/limits/test_limits.cc").write_text("int main() { return 1; }\n")
    assert mutate.main(["limits", "1", *words]) == 2
    assert "test_limits fails without a fault" in capsys.readouterr().err


def test_a_test_that_hangs_is_ended_with_its_processes():
    status, _ = mutate.run(["sh", "-c", "sleep 60 & wait"], 0.2)
    assert status is None
    assert mutate.run(["sh", "-c", "echo said; exit 3"], 10) == (3, "said\n")
