# SPDX-License-Identifier: GPL-3.0-or-later
"""What the packages of Debian and of conda, the launcher and MANIFEST.md say of the same things;
tests/packages/clean.sh builds and tries those of Debian."""
import os
import re
import shutil
import subprocess

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

#: What a package of Debian is called in conda-forge. None: nothing to ask for there, since another
#: package brings it or only Debian's own tools use it.
CONDA = {
    "cmake": "cmake", "debhelper-compat": None, "dh-sequence-python3": None,
    "gnuradio-dev": "gnuradio-core", "libboost-dev": "libboost-devel",
    "libboost-thread-dev": None, "libfftw3-dev": "fftw", "libliquid-dev": "liquid-dsp",
    "libsoapysdr-dev": "soapysdr", "libvolk2-dev": "volk",
    "ninja-build": "ninja", "pkg-config": "pkg-config",
    "pybind11-dev": "pybind11", "python3-aiohttp": "aiohttp", "python3-click": "click",
    "python3-click-man": None, "python3-dev": "python", "python3-numpy": "numpy",
    "python3-rich": "rich", "zlib1g-dev": "zlib", "gnuradio": "gnuradio-core",
    "python3-matplotlib": "matplotlib-base", "python3-scipy": "scipy", "curl": None,
    "libgnuradio-hf0.1": None}


def read(*path):
    with open(os.path.join(TREE, *path), encoding="utf-8") as file:
        return file.read()


def debian(field, package=""):
    """Names that a field of debian/control lists, of the source or of a binary package."""
    (paragraph,) = [p for p in read("debian", "control").split("\n\n")
                    if p.startswith(f"Package: {package}\n" if package else "Source: ")]
    text = re.search(rf"^{field}:((?:.*\n)(?: .*\n?)*)", paragraph, re.M)[1]
    return {re.match(r"[a-z0-9.+-]+", name.strip())[0] for name in text.split(",")
            if name.strip() and not name.strip().startswith("$")}


def conda(*sections):
    """Names below requirements in the recipe."""
    text = read("conda", "meta.yaml")
    requirements = text[text.index("\nrequirements:"):text.index("\ntest:")]
    found = set()
    for section in sections:
        below = re.search(rf"^  {section}:\n((?:    .*\n)+)", requirements, re.M)[1]
        found |= set(re.findall(r"^    - ([a-z0-9-]+)", below, re.M))
    return found


def test_one_version():
    version = re.search(r"project\(gr-hf VERSION ([0-9.]+)", read("CMakeLists.txt"))[1]
    assert re.match(r"gr-hf \(([^)]*)\)", read("debian", "changelog"))[1] == version
    assert re.search(r'set version = "([^"]*)"', read("conda", "meta.yaml"))[1] == version
    library = "libgnuradio-hf" + version.rpartition(".")[0]
    assert f"\nPackage: {library}\n" in read("debian", "control")
    assert os.path.exists(os.path.join(TREE, "debian", f"{library}.install"))


def test_conda_asks_for_what_debian_asks_for():
    building = {CONDA[name] for name in debian("Build-Depends")} - {None}
    assert building <= conda("build", "host"), building - conda("build", "host")
    running = {CONDA[name] for name in debian("Depends", "gr-hf")} - {None}
    assert conda("run") == running | {"python"}
    # What the compiler's package brings is named by a template, which is not a name.
    known = {name for name in CONDA.values() if name}
    assert conda("build", "host", "run") <= known, conda("build", "host", "run") - known


def test_the_launcher_installs_what_the_package_depends_on():
    packages = re.search(r'^packages="([^"]*)"', read("hf"), re.M)[1].split()
    mine = {name for name in debian("Depends", "gr-hf") if not name.startswith("libgnuradio-hf")}
    assert mine <= set(packages), mine - set(packages)


def test_all_say_which_gnuradio():
    assert 'gr_supported_version: "3.10"' in read("MANIFEST.md")
    assert "gnuradio (>= 3.10)" in read("debian", "control")
    assert read("conda", "meta.yaml").count("gnuradio-core >=3.10") == 2
    for name, of in (("license: GPL-3.0-or-later", "MANIFEST.md"),
                     ("license: GPL-3.0-or-later", "conda/meta.yaml"),
                     ("License: GPL-3.0-or-later", "debian/copyright")):
        assert name in read(*of.split("/")), of


def test_what_git_archive_makes_knows_its_commit(tmp_path):
    if not shutil.which("git") or not os.path.exists(os.path.join(TREE, ".git")):
        pytest.skip("this is no git checkout")
    git = ["git", "-C", TREE, "-c", f"safe.directory={TREE}"]
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, text=True,
                          capture_output=True).stdout.strip()
    archive = subprocess.run([*git, "archive", "--worktree-attributes", "HEAD", "cmake"],
                             check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", tmp_path], input=archive, check=True)
    out = tmp_path / "version.py"
    subprocess.run(["cmake", f"-DSOURCE={tmp_path}", "-DVERSION=1.2.3", f"-DOUT={out}", "-P",
                    tmp_path / "cmake" / "HfVersion.cmake"], check=True)
    assert f'__commit__ = "{head[:10]}"' in out.read_text()
