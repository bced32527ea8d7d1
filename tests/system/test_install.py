# SPDX-License-Identifier: GPL-3.0-or-later
"""Installed into a prefix, the module works without the build tree."""
import glob
import os
import subprocess

import pytest


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    path = tmp_path_factory.mktemp("prefix")
    # Configured anew for this prefix: the installed files carry its path.
    build = tmp_path_factory.mktemp("build")
    source = os.environ["HF_SOURCE_DIR"]
    subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", str(build),
                    f"-DCMAKE_INSTALL_PREFIX={path}", "-DBUILD_TESTING=OFF"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(build)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--install", str(build)], check=True, stdout=subprocess.DEVNULL)
    return path


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


def test_program(environment, prefix):
    result = subprocess.run([f"{prefix}/bin/hf", "--version"], env=environment, text=True,
                            capture_output=True)
    assert result.returncode == 0, result.stderr
    assert "hf" in result.stdout


def test_grcc_finds_the_blocks(environment, tmp_path):
    flowgraphs = glob.glob(os.path.join(os.environ["HF_SOURCE_DIR"], "examples", "*.grc"))
    assert flowgraphs
    result = subprocess.run(["grcc", "-o", str(tmp_path), flowgraphs[0]], env=environment,
                            text=True, capture_output=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert list(tmp_path.glob("*.py"))
