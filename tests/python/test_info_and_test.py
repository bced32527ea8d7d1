# SPDX-License-Identifier: GPL-3.0-or-later
"""hf info, hf test and the help of everything."""
import json
import os
import subprocess

import pytest

from gnuradio import gr, hf as module


def test_versions_and_capabilities(hf):
    r = hf("info")
    text = r.out.decode()
    assert r.status == 0
    assert module.__version__ in text and gr.version() in text and "VOLK machine" in text
    for name in ("tun", "namespaces", "nft", "tshark", "curl"):
        (line,) = [x for x in text.splitlines() if x.startswith(name)]
        answer = line.split()[1]
        assert answer == "yes" or (answer == "no" and ":" in line)


def test_json(hf):
    report = json.loads(hf("info", "--json").out)
    assert report["versions"]["gr-hf"] == module.__version__
    for capability in report["capabilities"].values():
        assert capability["available"] == (capability["why_not"] is None)
    assert [m["mode"] for m in report["modes"]] == [str(m) for m in module.mode.all()]


def test_a_missing_program_is_said(hf):
    # With an empty PATH nothing is found; hf itself is started by its full name.
    path = subprocess.run(["which", "hf"], capture_output=True, text=True).stdout.strip()
    r = subprocess.run(["/usr/bin/python3", path, "info", "--json"], capture_output=True,
                       env={**os.environ, "PATH": "/nonexistent"})
    report = json.loads(r.stdout)["capabilities"]
    for name in ("nft", "tshark", "curl"):
        assert not report[name]["available"] and "missing" in report[name]["why_not"]


def test_modes_table(hf):
    lines = hf("info", "--modes").out.decode().splitlines()
    assert len(lines) == 1 + len(module.mode.all())
    (row,) = [x.split() for x in lines if x.startswith("4539-9600VL ")]
    assert row[:3] == ["4539-9600VL", "9600", "VL"]
    # 110C C.5.2: a preamble of 287 symbols, 72 frames of 256 and 31 symbols.
    assert float(row[3]) == pytest.approx(287 / 2400, abs=1e-3)
    assert float(row[4]) == pytest.approx(72 * 287 / 2400, abs=1e-3)
    assert int(row[5]) == 10368


@pytest.mark.parametrize("command", [[], ["modulate"], ["demodulate"], ["info"], ["test"]])
def test_help(hf, command):
    r = hf(*command, "--help")
    assert r.status == 0 and r.err == ""
    text = r.out.decode()
    assert text.startswith("Usage: hf") and max(map(len, text.splitlines())) < 100


PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(few NONE)
enable_testing()
add_test(NAME fine COMMAND true)
add_test(NAME other_fine COMMAND true)
add_test(NAME skipped COMMAND sh -c "exit 77")
set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME broken COMMAND sh -c "echo what went wrong; exit 3")
add_test(NAME absent COMMAND /nonexistent)
"""


@pytest.fixture
def build(tmp_path):
    """A build directory with two good tests, a skipped one and two that fail."""
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    folder = tmp_path / "build"
    subprocess.run(["cmake", "-G", "Ninja", "-S", tmp_path, "-B", folder], check=True,
                   capture_output=True)
    return {"HF_BUILD_DIR": str(folder)}


def test_summary_and_output_of_failures(hf, build):
    r = hf("test", env=build)
    assert r.status == 1
    assert r.out == b"tests: 2 passed, 2 failed, 1 skipped\n"
    assert "what went wrong" in r.err and "other_fine" in r.err


@pytest.mark.parametrize("select, summary, status", [
    ("fine", "tests: 2 passed, 0 failed, 0 skipped", 0),
    ("^fine", "tests: 1 passed, 0 failed, 0 skipped", 0),
    ("skipped", "tests: 0 passed, 0 failed, 1 skipped", 1),
    ("nothing_like_it", "tests: 0 passed, 0 failed, 0 skipped", 1),
])
def test_filter(hf, build, select, summary, status):
    r = hf("test", "-k", select, env=build)
    assert r.out.decode().splitlines() == [summary] and r.status == status


def test_options_go_to_ctest(hf, build):
    assert hf("test", "-E", "broken|absent", env=build).out.startswith(b"tests: 2 passed, 0 f")
    assert "sh" in hf("test", "-v", "-k", "broken", env=build).err


def test_a_failing_build_runs_no_tests(hf, build, tmp_path):
    with open(tmp_path / "CMakeLists.txt", "a") as file:
        file.write("add_custom_target(never ALL COMMAND false)\n")
    r = hf("test", env=build)
    assert r.status == 1 and r.out == b"" and "the build failed" in r.err


@pytest.mark.parametrize("folder", ["", "/nonexistent"])
def test_without_a_source_tree(hf, folder):
    r = hf("test", env={"HF_BUILD_DIR": folder})
    assert r.status == 2 and r.out == b"" and r.err.strip()
