# SPDX-License-Identifier: GPL-3.0-or-later
"""Installed, the module works without the build tree, wherever its prefix is put."""
import configparser
import glob
import importlib.util
import os
import re
import subprocess

import pytest

SOURCE = os.environ["HF_SOURCE_DIR"]
BUILD = os.environ["HF_BUILD_DIR"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The prefix, and what the installation said.

    The build folder is configured for the usual prefix and installed into another one, as
    package builders do.
    """
    prefix = tmp_path_factory.mktemp("prefix")
    said = subprocess.run(["cmake", "--install", BUILD, "--prefix", str(prefix)],
                          check=True, capture_output=True, text=True)
    return prefix, said.stdout + said.stderr


@pytest.fixture(scope="module")
def prefix(installed):
    return installed[0]


@pytest.fixture(scope="module")
def environment(prefix):
    packages = glob.glob(f"{prefix}/lib/python3*/*-packages")
    assert len(packages) == 1
    return {"PATH": f"/usr/bin:/bin:{prefix}/bin", "PYTHONPATH": packages[0],
            "HOME": str(prefix), "LANG": "C.UTF-8",
            "GRC_BLOCKS_PATH": f"{prefix}/share/gnuradio/grc/blocks"}


def test_imports_and_runs(environment):
    code = ("from gnuradio import hf; import os;"
            "print(len(hf.modulate(hf.mode('4539-600S'), b'hello')), hf.__file__)")
    result = subprocess.run(["/usr/bin/python3", "-c", code], env=environment, text=True,
                            capture_output=True, check=True)
    count, path = result.stdout.split()
    assert int(count) > 9600
    assert path.startswith(environment["HOME"])


def test_completion_and_manual_pages_are_there(prefix):
    assert "complete -o" in (prefix / "share/bash-completion/completions/hf").read_text()
    if importlib.util.find_spec("click_man") is not None:
        page = (prefix / "share/man/man1/hf-modulate.1").read_text()
        assert "Highest peak, dB of full scale" in page


def test_program_needs_no_environment(environment, prefix):
    bare = {"PATH": "/usr/bin:/bin", "HOME": environment["HOME"], "LANG": "C.UTF-8"}
    result = subprocess.run([f"{prefix}/bin/hf", "info", "--modes"], env=bare, text=True,
                            capture_output=True)
    assert result.returncode == 0, result.stderr
    assert "4539-600S" in result.stdout


def test_says_what_else_to_set_in_an_unusual_prefix(installed, environment):
    prefix, said = installed
    assert f"export PYTHONPATH={environment['PYTHONPATH']}" in said
    assert f"export GRC_BLOCKS_PATH={environment['GRC_BLOCKS_PATH']}" in said


def test_grcc_finds_the_blocks(environment, prefix, tmp_path):
    flowgraphs = glob.glob(f"{prefix}/share/gnuradio/examples/hf/*.grc")
    assert len(flowgraphs) == len(glob.glob(f"{SOURCE}/examples/*.grc")) > 0
    loopback = next(path for path in flowgraphs if path.endswith("/loopback.grc"))
    result = subprocess.run(["grcc", "-o", str(tmp_path), loopback], env=environment,
                            text=True, capture_output=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert list(tmp_path.glob("*.py"))


def test_brings_documents_examples_and_unit(prefix):
    documents = f"{prefix}/share/doc/gr-hf"
    for name in ("COPYING", "README.md", "CHANGELOG.md", "user-guide.md", "measurements.md"):
        assert os.path.getsize(f"{documents}/{name}") > 0
    examples = f"{prefix}/share/gnuradio/examples/hf"
    for name in ("station_a.toml", "scenarios/faults.toml", "wireshark/hf_s5066.lua",
                 "full_station.py", "cpp/loopback.cc"):
        assert os.path.getsize(f"{examples}/{name}") > 0
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    assert unit.read(f"{prefix}/lib/systemd/system/hf-station.service")
    program = unit["Service"]["ExecStart"].split()[0]
    assert program == f"{prefix}/bin/hf"
    assert os.access(program, os.X_OK)
    assert unit["Unit"]["Documentation"] == "man:hf-run(1)"


def test_cpp_program_finds_the_package(environment, prefix, tmp_path):
    build = [f"{prefix}/share/gnuradio/examples/hf/cpp", "-B", str(tmp_path),
             f"-DCMAKE_PREFIX_PATH={prefix}", "-G", "Ninja"]
    configured = subprocess.run(["cmake", "-S", *build], capture_output=True, text=True)
    assert configured.returncode == 0, configured.stderr
    built = subprocess.run(["cmake", "--build", str(tmp_path)], capture_output=True, text=True)
    assert built.returncode == 0, built.stdout
    ran = subprocess.run([f"{tmp_path}/loopback", "one text"], env=environment,
                         capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    # In a new home GNU Radio 3.10.12 prints a line of its own before.
    assert re.fullmatch(r"4539-600S, SNR .* dB: one text", ran.stdout.splitlines()[-1])


def test_cpp_program_finds_it_by_pkg_config(environment, prefix, tmp_path):
    files = glob.glob(f"{prefix}/lib*/**/gnuradio-hf.pc", recursive=True)
    assert len(files) == 1
    tools = {**os.environ, "PKG_CONFIG_PATH": os.path.dirname(files[0])}
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "gnuradio-hf", "gnuradio-blocks"],
                           env=tools, capture_output=True, text=True)
    assert flags.returncode == 0, flags.stderr
    library = os.path.dirname(glob.glob(f"{prefix}/lib*/**/libgnuradio-hf.so",
                                        recursive=True)[0])
    built = subprocess.run(["c++", "-std=c++17", f"{SOURCE}/examples/cpp/loopback.cc", "-o",
                            str(tmp_path / "loopback"), *flags.stdout.split(),
                            f"-Wl,-rpath,{library}"], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([str(tmp_path / "loopback"), "one text"], env=environment,
                         capture_output=True, text=True)
    assert ran.stdout.endswith(" dB: one text\n"), ran.stderr


def test_package_of_another_minor_version_is_refused(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES CXX)\n"
        "find_package(gnuradio-hf 0.9 REQUIRED)\n", encoding="utf-8")
    configured = subprocess.run(["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "b"),
                                 "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"],
                                capture_output=True, text=True)
    assert configured.returncode != 0
    assert "0.2.0" in configured.stderr
