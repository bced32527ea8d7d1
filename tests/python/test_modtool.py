# SPDX-License-Identifier: GPL-3.0-or-later
"""Customs of GNU Radio modules: gr_modtool works in the tree, and what is installed can be
removed."""
import os
from pathlib import Path
import shutil
import subprocess
import sysconfig

import pytest
import yaml

SOURCE = Path(os.environ["HF_SOURCE_DIR"])
FOLDERS = ("cmake", "grc", "include", "lib", "python")


@pytest.fixture
def tree(tmp_path):
    """What gr_modtool reads and writes of the tree."""
    if shutil.which("gr_modtool") is None:
        pytest.skip("gr_modtool is not installed")
    for name in FOLDERS:
        shutil.copytree(SOURCE / name, tmp_path / "gr-hf" / name,
                        ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(SOURCE / "CMakeLists.txt", tmp_path / "gr-hf")
    return tmp_path / "gr-hf"


def modtool(tree, *words, answer="\n"):
    run = subprocess.run(["gr_modtool", *words], cwd=tree, input=answer, capture_output=True,
                         text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_info_knows_the_module():
    said = modtool(SOURCE, "info")
    assert "Module name: hf" in said and "post-3.10" in said


def test_a_block_is_added_where_the_build_finds_it(tree):
    modtool(tree, "add", "-t", "sync", "-l", "cpp", "--copyright", "gr-hf developers",
            "--argument-list", "int count = 3", "--add-cpp-qa", "twice", answer="n\n")
    bindings = tree / "python" / "hf" / "bindings"
    assert "hf_sources\n    twice_impl.cc)" in (tree / "lib" / "CMakeLists.txt").read_text()
    assert "twice_python.cc python_bindings.cc)" in (bindings / "CMakeLists.txt").read_text()
    made = (bindings / "python_bindings.cc").read_text()
    assert made.count("bind_twice(") == 2
    assert made.index("PROTOTYPES(") < made.index("void bind_twice") < made.index("PYBIND11")
    assert (bindings / "docstrings" / "twice_pydoc_template.h").exists()
    text = (tree / "lib" / "twice_impl.cc").read_text().replace("#pragma message", "//")
    (tree / "lib" / "twice_impl.cc").write_text(text)
    # The build copies the template to this name.
    shutil.copy(bindings / "docstrings" / "twice_pydoc_template.h", bindings / "twice_pydoc.h")
    compiled = subprocess.run(
        ["c++", "-std=c++17", "-fsyntax-only", f"-I{tree}/include", f"-I{tree}/include/gnuradio",
         f"-I{bindings}", f"-I{sysconfig.get_paths()['include']}",
         str(tree / "lib" / "twice_impl.cc"), str(bindings / "twice_python.cc")],
        capture_output=True, text=True, timeout=300)
    assert compiled.returncode == 0, compiled.stderr
    modtool(tree, "makeyaml", "-y", "twice")
    block = yaml.safe_load((tree / "grc" / "hf_twice.block.yml").read_text())
    assert block["id"] == "hf_twice" and [p["id"] for p in block["parameters"]] == ["count"]


def test_no_public_header_has_the_name_of_a_standard_one():
    """gr_modtool bind searches the folder of the headers first: time.h would be found there."""
    names = [p.name for p in (SOURCE / "include" / "gnuradio" / "hf").glob("*.h")]
    search = subprocess.run(["c++", "-xc++", "-E", "-v", "/dev/null"], capture_output=True,
                            text=True, check=True).stderr
    folders = search.partition("search starts here:")[2].partition("End of search")[0].split()
    folders = [Path(f) for f in folders if f.startswith("/")]
    assert len(names) > 40 and any((f / "time.h").exists() for f in folders)
    shadows = [n for n in names for f in folders for word in (n, n[:-2]) if (f / word).exists()]
    assert not shadows


def test_bindings_of_a_block_are_written(tree):
    if shutil.which("castxml") is None:
        pytest.skip("castxml is not installed")
    # Without this definition castxml 0.5 of Debian 12 does not read the C++ library of GCC 12.
    modtool(tree, "bind", "tx", "--addl_includes", str(tree / "include" / "gnuradio"),
            "-D", "__cpp_sized_deallocation=0")
    bindings = tree / "python" / "hf" / "bindings"
    assert not (bindings / "failed_conversions.txt").exists()
    made = (bindings / "tx_python.cc").read_text()
    for name in ("make", "transmissions", "dropped", "set_level"):
        assert f"&tx::{name}" in made, name
    shutil.copy(bindings / "docstrings" / "tx_pydoc_template.h", bindings / "tx_pydoc.h")
    compiled = subprocess.run(
        ["c++", "-std=c++17", "-fsyntax-only", f"-I{tree}/include", f"-I{tree}/include/gnuradio",
         f"-I{bindings}", f"-I{sysconfig.get_paths()['include']}", str(bindings / "tx_python.cc")],
        capture_output=True, text=True, timeout=300)
    assert compiled.returncode == 0, compiled.stderr


def test_what_was_installed_is_removed(tmp_path):
    (tmp_path / "one").write_text("")
    (tmp_path / "other").write_text("")
    (tmp_path / "install_manifest.txt").write_text(f"{tmp_path}/one\n")
    command = ["cmake", f"-DBUILD={tmp_path}", "-P", str(SOURCE / "cmake" / "uninstall.cmake")]
    subprocess.run(command, check=True, capture_output=True)
    assert not (tmp_path / "one").exists() and (tmp_path / "other").exists()
    (tmp_path / "install_manifest.txt").unlink()
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode != 0 and "nothing was installed" in said.stderr
