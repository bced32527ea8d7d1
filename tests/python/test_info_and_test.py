# SPDX-License-Identifier: GPL-3.0-or-later
"""hf info, hf test and the help of everything."""
import json
import os
import re
import subprocess

import pytest

from gnuradio import gr, hf as module
from gnuradio.hf import testing

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


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
    # With an empty PATH nothing is found but what is in /usr/sbin, as nft; hf itself is started by
    # its full name.
    path = subprocess.run(["which", "hf"], capture_output=True, text=True).stdout.strip()
    r = subprocess.run(["/usr/bin/python3", path, "info", "--json"], capture_output=True,
                       env={**os.environ, "PATH": "/nonexistent"})
    report = json.loads(r.stdout)["capabilities"]
    for name in ("tshark", "curl"):
        assert not report[name]["available"] and "missing" in report[name]["why_not"]


def test_the_log_of_gnu_radio_begins_with_warnings():
    """Newer versions log at level info, on the first run, that no preferences exist."""
    path = subprocess.run(["which", "hf"], capture_output=True, text=True).stdout.strip()
    program = (f"import runpy, sys\nsys.argv = ['hf', '--version']\n"
               f"try:\n    runpy.run_path({path!r})\nexcept SystemExit:\n    pass\n"
               "from gnuradio import gr\nprint(gr.logging().default_level())\n")
    environment = {k: v for k, v in os.environ.items() if k != "GR_CONF_LOG_LOG_LEVEL"}
    r = subprocess.run(["/usr/bin/python3", "-c", program], capture_output=True, text=True,
                       env=environment)
    assert r.stdout.endswith("log_levels.warn\n"), r.stdout + r.stderr


def test_modes_table(hf):
    lines = hf("info", "--modes").out.decode().splitlines()
    assert len(lines) == 1 + len(module.mode.all())
    (row,) = [x.split() for x in lines if x.startswith("4539-9600VL ")]
    assert row[:3] == ["4539-9600VL", "9600", "VL"]
    # 110C C.5.2: a preamble of 287 symbols, 72 frames of 256 and 31 symbols.
    assert float(row[3]) == pytest.approx(287 / 2400, abs=1e-3)
    assert float(row[4]) == pytest.approx(72 * 287 / 2400, abs=1e-3)
    assert int(row[5]) == 10368
    (row,) = [x.split() for x in lines if x.startswith("4539-9600L ")]
    # The ideal receiver needs 18.4 dB on AWGN; the standard asks for 31 dB on Poor.
    assert 18 < float(row[8]) < 20.5 and float(row[8]) + 2 < float(row[9]) < 31
    assert row[10] == "4539-9600L"


def test_modes_of_a_bandwidth(hf):
    lines = hf("info", "--modes", "--bandwidth", 48).out.decode().splitlines()
    assert len(lines) == 1 + 2 * (13 * 4 - 1)  # waveform 0 has no UltraShort interleaver
    (row,) = [x.split() for x in lines if x.startswith("5069-48k-240000L ")]
    # 110D: 18 channel symbols of 512 chips and a probe of 192; 96 frames of 2880 and 192.
    assert float(row[3]) == pytest.approx((18 * 512 + 192) / 38400, abs=1e-3)
    assert float(row[4]) == pytest.approx(7.68)
    assert float(row[8]) == pytest.approx(26.2, abs=2) and row[10] == "5069-3k-16000L"
    assert hf("info", "--bandwidth", 48).status == 2
    assert hf("info", "--modes", "--bandwidth", 5).status == 2


@pytest.mark.parametrize("command", [[], ["modulate"], ["demodulate"], ["info"], ["test"]])
def test_help(hf, command):
    r = hf(*command, "--help")
    assert r.status == 0 and r.err == ""
    text = r.out.decode()
    assert text.startswith("Usage: hf") and max(map(len, text.splitlines())) < 100


PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(few NONE)
add_custom_target(programs)
add_custom_target(short_tests)
add_custom_target(others ALL COMMAND touch others_were_built)
enable_testing()
add_test(NAME fine COMMAND true)
add_test(NAME other_fine COMMAND true)
add_test(NAME skipped COMMAND sh -c "echo the tool is not installed; exit 77")
set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME broken COMMAND sh -c "echo what went wrong; exit 3")
add_test(NAME absent COMMAND /nonexistent)
"""


@pytest.fixture
def build(tmp_path):
    """A build directory with two good tests, a skipped one and two that fail."""
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "long.txt").write_text("# seconds\nother_f.*  12 of them\nbig  4\n")
    folder = tmp_path / "build"
    subprocess.run(["cmake", "-G", "Ninja", "-S", tmp_path, "-B", folder], check=True,
                   capture_output=True)
    return {"HF_BUILD_DIR": str(folder)}


def test_summary_and_output_of_failures(hf, build):
    r = hf("test", "--all", env=build)
    assert r.status == 1
    assert r.out == b"tests: 2 passed, 2 failed, 1 skipped\n"
    assert "what went wrong" in r.err and "other_fine" in r.err and "--all" not in r.err


def test_long_tests_run_and_are_built_when_asked_for(hf, build, tmp_path):
    others = tmp_path / "build" / "others_were_built"
    r = hf("test", env=build)
    assert r.out == b"tests: 1 passed, 2 failed, 1 skipped\n" and not others.exists()
    assert "other_fine" not in r.err and "./hf test --all" in r.err
    assert hf("test", "-k", "other_fine", env=build).out.startswith(b"tests: 1 passed")
    assert others.exists()


def test_every_line_of_long_tests_names_a_test():
    listed = subprocess.run(["ctest", "--test-dir", os.environ["HF_BUILD_DIR"], "-N"],
                            capture_output=True, text=True, check=True).stdout
    names = re.findall(r"Test +#[0-9]+: (.+)", listed)
    assert len(names) > 1000
    for expression in testing.long_tests(TREE):
        assert any(re.fullmatch(expression, name) for name in names), expression


def test_what_was_skipped_is_said_with_its_reason(hf, build, tmp_path):
    assert "skipped: skipped: the tool is not installed" in hf("test", "--all", env=build).err
    (tmp_path / "test_some.py").write_text(
        "import pytest\n\ndef test_good():\n    pass\n\ndef test_other():\n"
        "    pytest.skip('no recording x.wav')\n")
    gtest = "a.cc:7: Skipped\\nno recording y.wav\\n\\n[  SKIPPED ] a.b (0 ms)\\n"
    (tmp_path / "gtest.sh").write_text("#!/bin/sh\nprintf '%s'\n" % gtest)
    with open(tmp_path / "CMakeLists.txt", "a") as file:
        file.write(f"add_test(NAME part COMMAND /usr/bin/python3 -m pytest -q "
                   f"{tmp_path}/test_some.py)\n"
                   f"add_test(NAME a.b COMMAND sh {tmp_path}/gtest.sh)\n"
                   'set_tests_properties(a.b PROPERTIES SKIP_REGULAR_EXPRESSION '
                   '"\\\\[  SKIPPED \\\\]")\n')
    r = hf("test", "-k", "part|a.b", env=build)
    # If a test passed without one of its parts, that part is named all the same.
    assert r.out == b"tests: 1 passed, 0 failed, 1 skipped\n", r.err
    said = [line for line in r.err.splitlines() if line.startswith("skipped: ")]
    assert len(said) == 2 and "skipped: a.b: no recording y.wav" in said
    assert any(line.startswith("skipped: part: ") and "no recording x.wav" in line
               for line in said)


def test_failures_of_pytest_and_gtest_name_their_place(hf, build, tmp_path):
    (tmp_path / "test_wrong.py").write_text("def test_sum():\n    assert 1 + 1 == 3\n")
    with open(tmp_path / "CMakeLists.txt", "a") as file:
        file.write(f"add_test(NAME py COMMAND /usr/bin/python3 -m pytest -q "
                   f"{tmp_path}/test_wrong.py)\n"
                   'add_test(NAME g COMMAND sh -c "echo /x/test_a.cc:7: Failure; exit 1")\n')
    r = hf("test", "-k", "^py$|^g$", env=build)
    assert "failed: py: test_sum - assert (1 + 1) == 3" in r.err
    assert "failed: g: test_a.cc:7\n" in r.err


def test_a_flaky_test_is_reported_and_two_fail_the_run(hf, build, tmp_path):
    with open(tmp_path / "CMakeLists.txt", "a") as file:
        for name in ("moody", "second"):
            file.write(f'add_test(NAME {name} COMMAND sh -c "test -e {name} || '
                       f'{{ touch {name}; echo no luck; exit 1; }}")\n')
    r = hf("test", "-k", "fine|moody", env=build)
    assert r.status == 0 and r.out == b"tests: 2 passed, 0 failed, 0 skipped, 1 flaky\n"
    assert "failed: moody: no luck" in r.err and "flaky: moody failed beside others" in r.err
    (tmp_path / "build" / "moody").unlink()
    r = hf("test", "-k", "fine|moody|second", env=build)
    assert r.status == 1 and r.out == b"tests: 2 passed, 0 failed, 0 skipped, 2 flaky\n"
    r = hf("test", "-k", "fine|broken", env=build)
    assert r.status == 1 and r.out == b"tests: 2 passed, 1 failed, 0 skipped\n"
    assert r.err.count("what went wrong") == 3  # of both times, and the reason


def test_the_ten_slowest_tests_are_told(hf, build, tmp_path):
    with open(tmp_path / "CMakeLists.txt", "a") as file:
        for n in range(12):
            file.write(f'add_test(NAME many{n} COMMAND sleep {0.5 if n == 7 else 0})\n')
    err = hf("test", "-k", "many", env=build).err
    lines = err[err.index("slowest tests:"):].splitlines()[1:]
    assert len(lines) == 10 and lines[0].split() == [lines[0].split()[0], "s", "many7"]
    assert 0.5 <= float(lines[0].split()[0]) < 5
    assert "slowest tests:" not in hf("test", "-k", "fine", env=build).err


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
    r = hf("test", "--all", env=build)
    assert r.status == 1 and r.out == b"" and "the build failed" in r.err


@pytest.mark.parametrize("folder", ["", "/nonexistent"])
def test_without_a_source_tree(hf, folder):
    r = hf("test", env={"HF_BUILD_DIR": folder})
    assert r.status == 2 and r.out == b"" and r.err.strip()


def test_the_version_tells_the_commit(hf, tmp_path):
    said = hf("--version").out.decode()
    assert re.fullmatch(rf"hf, version {re.escape(module.__version__)}"
                        r"( \(commit [0-9a-f]{10,}(-dirty)?\))?\n", said), said

    def written(*options):
        out = tmp_path / "version.py"
        subprocess.run(["cmake", f"-DSOURCE={tmp_path}/tree", "-DVERSION=1.2.3", f"-DOUT={out}",
                        *options, "-P", os.path.join(TREE, "cmake", "HfVersion.cmake")],
                       check=True)
        values = {}
        exec(out.read_text(), values)
        assert values["__version__"] == "1.2.3"
        return values["__commit__"]

    tree = tmp_path / "tree"
    tree.mkdir()
    assert written() == ""
    git = ["git", "-C", str(tree), "-c", "user.name=x", "-c", "user.email=x@y"]
    subprocess.run([*git, "init", "-q"], check=True)
    (tree / "file").write_text("1")
    subprocess.run([*git, "add", "file"], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True,
                            check=True).stdout[:10]
    assert written() == commit
    assert written("-DGIT=") == commit  # without git
    (tree / "file").write_text("2")
    assert written() == commit + "-dirty"


def test_every_fuzz_target_has_a_share_of_the_inputs():
    text = open(os.path.join(TREE, "tests", "fuzz", "CMakeLists.txt"), encoding="utf-8").read()
    assert sorted(re.findall(r"^hf_fuzz\((\w+) ", text, re.M)) == sorted(testing.FUZZ_SHARES)
    assert sum(testing.FUZZ_SHARES.values()) == 1000


@pytest.mark.parametrize("count", [1, 19, 20, 21, 12345])
def test_a_fuzz_run_is_counted_in_parts(count):
    parts = testing._parts(count)
    assert sum(parts) == count and len(parts) <= testing.FUZZ_PARTS
    assert max(parts) - min(parts) <= 1 and min(parts) >= 1


def test_coverage_is_summed_by_folder():
    files = [{"filename": "lib/dns/a.cc", "line_total": 10, "line_covered": 9},
             {"filename": "lib/dns/in/b.h", "line_total": 30, "line_covered": 30},
             {"filename": "lib/ale/c.cc", "line_total": 60, "line_covered": 57}]
    rows = testing.by_folder(files)
    assert [tuple(row) for row in rows] == [("lib/ale", 60, 57), ("lib/dns", 40, 39),
                                            ("total", 100, 96)]
    assert rows[-1].share == 0.96
    with pytest.raises(RuntimeError, match="no file of lib/"):
        testing.by_folder([])


def test_counts_of_earlier_runs_are_forgotten(tmp_path):
    notes, counts = tmp_path / "lib" / "a.gcno", tmp_path / "lib" / "a.gcda"
    counts.parent.mkdir()
    for path in (notes, counts):
        path.touch()
    testing.forget_coverage(str(tmp_path))
    assert notes.exists() and not counts.exists()
