# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages of Debian and of conda, the launcher and MANIFEST.md agree with each other.
tests/packages/clean.sh builds and tries those of Debian."""
import importlib
import os
import re
import shutil
import subprocess
import sys

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

#: Name of a Debian package in conda-forge. None: not needed there, since another
#: package brings it or only Debian's own tools use it.
CONDA = {
    "cmake": "cmake", "debhelper-compat": None, "dh-sequence-python3": None,
    "gnuradio-dev": "gnuradio-core", "libboost-dev": "libboost-devel",
    "libboost-thread-dev": None, "libfftw3-dev": "fftw", "libliquid-dev": "liquid-dsp",
    "libsoapysdr-dev": "soapysdr", "libuhd-dev": "uhd", "libvolk-dev": "volk",
    "ninja-build": "ninja", "pkgconf": "pkg-config",
    "pybind11-dev": "pybind11", "python3-aiohttp": "aiohttp", "python3-aiosmtpd": "aiosmtpd",
    "python3-brotli": "brotli-python", "python3-lxml": "lxml", "python3-pil": "pillow",
    "python3-click": "click",
    "python3-click-man": None, "python3-dev": "python", "python3-numpy": "numpy",
    "python3-setuptools": None,
    "python3-rich": "rich", "libssl-dev": "openssl",
    "zlib1g-dev": "zlib", "gnuradio": "gnuradio-core",
    "python3-matplotlib": "matplotlib-base", "python3-scipy": "scipy", "curl": None,
    "python3-soundfile": "pysoundfile",
    "libgnuradio-hf0.2": None}


#: Packages that only the recipe needs, and why Debian does not.
CONDA_MORE = {
    "alsa-lib": "Debian's GNU Radio brings it", "git": "tells the commit; dpkg has a changelog",
    "gmp": "CMake asks for it with conda-forge's GNU Radio, whose headers use it"}


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


def depends():
    """Packages that the programs need for all their functions."""
    return debian("Depends", "gr-hf") | {
        "python3-matplotlib", "python3-scipy", "python3-soundfile"}


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
    running = {CONDA[name] for name in depends()} - {None}
    assert conda("run") == running | {"python"}
    # Parts of the compiler's package are named by a template, which is not a name.
    known = {name for name in CONDA.values() if name} | set(CONDA_MORE)
    assert conda("build", "host", "run") <= known, conda("build", "host", "run") - known


def recipe():
    """The recipe as conda-build reads it on Linux."""
    missing = "reading the recipe needs the library (Debian: python3-jinja2 python3-yaml)"
    jinja2 = pytest.importorskip("jinja2", reason=missing)
    yaml = pytest.importorskip("yaml", reason=missing)
    lines = []
    for line in read("conda", "meta.yaml").splitlines():
        selector = re.search(r"# \[(.*)\]\s*$", line)
        if not selector or selector[1] == "linux":
            lines.append(line)
        else:
            assert selector[1] == "not linux", line
    text = jinja2.Template("\n".join(lines), undefined=jinja2.StrictUndefined).render(
        compiler=lambda of: f"{of}_compiler", stdlib=lambda of: f"{of}_stdlib")
    return yaml.safe_load(text)


#: Keys of conda-build's meta.yaml, by section.
KEYS = {"package": {"name", "version"}, "source": {"path"}, "build": {"number", "skip", "script"},
        "requirements": {"build", "host", "run"}, "test": {"imports", "commands"},
        "about": {"summary", "description", "license", "license_family", "license_file"}}


def test_the_recipe_is_one_of_conda_build():
    meta = recipe()
    assert meta.keys() == KEYS.keys()
    for section, found in meta.items():
        assert found.keys() <= KEYS[section], section
    assert "skip" not in meta["build"]
    names = [n for part in meta["requirements"].values() for n in part]
    assert all(re.fullmatch(r"[a-z0-9_-]+( >=[0-9.]+)?", name) for name in names), names
    assert os.path.exists(os.path.join(TREE, meta["about"]["license_file"]))
    assert os.path.exists(os.path.join(TREE, "conda", meta["source"]["path"], "CMakeLists.txt"))
    tools = {words[0] for line in meta["build"]["script"] for words in [line.split()]}
    assert tools == {"cmake"}


def test_what_is_searched_for_has_a_package_in_the_recipe():
    """Libraries that CMake demands, by the package that brings them."""
    brings = {"volk": "volk", "fftw3f": "fftw", "fftw3f_threads": "fftw", "liquid": "liquid-dsp",
              "SoapySDR": "soapysdr", "OpenSSL": "openssl",
              "ZLIB": "zlib", "Boost": "libboost-devel",
              "libasound.so.2": "alsa-lib", "Gnuradio": "gnuradio-core", "pybind11": "pybind11",
              "PkgConfig": "pkg-config", "Threads": None, "Python": "python",
              "PythonInterp": "python", "PythonLibs": "python"}
    asked = {name.split()[0] for name in sum(recipe()["requirements"].values(), [])}
    found = set()
    for folder in ("", "lib", "cmake", "python", "apps"):
        for root, _, names in os.walk(os.path.join(TREE, folder)) if folder else [
                (TREE, [], ["CMakeLists.txt"])]:
            for name in names:
                if name == "CMakeLists.txt" or name.endswith(".cmake"):
                    text = read(os.path.relpath(os.path.join(root, name), TREE))
                    found |= set(re.findall(r"find_package\((\S+?)[ )]", text))
                    found |= set(re.findall(r"find_library\(\S+ (?:NAMES )?(\S+?)[ )]", text))
                    found |= set(re.findall(r"IMPORTED_TARGET (\S+?)\)", text))
    assert "libasound.so.2" in found
    missing = {name for name in found if brings.get(name, name) not in {None, *asked}}
    assert missing == set()


def test_the_commands_of_the_recipe_exist(tmp_path):
    """CMake accepts every option of the recipe. The installed tree has all files that the
    package tests look for."""
    meta = recipe()
    tree, prefix = tmp_path / "tree", tmp_path / "prefix"
    os.mkdir(tree)
    for name in os.listdir(TREE):
        if not name.startswith((".", "build")):
            os.symlink(os.path.join(TREE, name), tree / name)
    here = {**os.environ, "PREFIX": str(prefix), "PYTHON": "/usr/bin/python3", "CPU_COUNT": "2",
            "PY_VER": f"{sys.version_info.major}.{sys.version_info.minor}", "CMAKE_ARGS": ""}
    said = subprocess.run(["bash", "-euc", meta["build"]["script"][0]], cwd=tree, env=here,
                          capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr
    assert "not used by the project" not in said.stderr
    cache = (tree / "build-conda" / "CMakeCache.txt").read_text()
    assert f"CMAKE_INSTALL_PREFIX:PATH={prefix}" in cache
    subprocess.run(["cmake", "--install", os.environ["HF_BUILD_DIR"], "--prefix", prefix],
                   check=True, stdout=subprocess.DEVNULL)
    there = {(p.parent.name, p.name) for p in prefix.rglob("*")}
    for line in meta["test"]["commands"]:
        if line.startswith("test -f "):
            path = line.split("/")
            assert (path[-2], path[-1]) in there or (path[-2] == "lib" and any(
                name == path[-1] for _, name in there)), line
        else:
            assert subprocess.run(line.split(), capture_output=True).returncode == 0, line
    for module in meta["test"]["imports"]:
        importlib.import_module(module)


def test_the_launcher_installs_what_the_package_depends_on():
    packages = re.search(r'^packages="([^"]*)"', read("hf"), re.M)[1].split()
    mine = {name for name in depends() if not name.startswith("libgnuradio-hf")}
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


def test_warnings_are_errors_in_ci_only():
    """A user's compiler may know warnings that ours does not."""
    assert re.search(r"option\(HF_WERROR .* OFF\)", read("CMakeLists.txt"))
    assert "export HF_CMAKE_FLAGS=-DHF_WERROR=ON\n" in read(".ci", "run")
    # Only scripts that look for warnings turn them on.
    said = subprocess.run(["git", "-C", TREE, "-c", f"safe.directory={TREE}", "grep", "-l",
                           "HF_WERROR=ON"], capture_output=True, text=True)
    if said.returncode == 128:
        pytest.skip("this is no git checkout")
    assert set(said.stdout.split()) <= {
        ".ci/run", "cmake/HfTargets.cmake", "tests/packages/systems.sh",
        "tests/python/test_packages.py", "docs/where-to-put-things.md"}


def test_the_recipe_of_pybombs():
    yaml = pytest.importorskip("yaml", reason="reading the recipe needs python3-yaml")
    recipe = yaml.safe_load(read("packaging", "gr-hf.lwr"))
    assert recipe.keys() == {"category", "depends", "description", "gitbranch", "inherit",
                             "satisfy", "source"}
    # Every library that a recipe exists for, by its name there.
    assert set(recipe["depends"]) == {"gnuradio", "boost", "fftw", "pybind11", "soapysdr", "uhd"}
    assert recipe["inherit"] == "cmake" and recipe["source"].startswith("git+https://")


def test_the_container_installs_the_packages_of_the_tree():
    text = read("Containerfile")
    for package in ("gr-hf_", "libgnuradio-hf"):
        assert re.search(rf"COPY --from=build .*/src/{package}", text)
    # Packages that are only recommended, and that the demo uses.
    assert debian("Recommends", "gr-hf") <= set(text.split())
    assert 'CMD ["hf", "demo", "--stay"]' in text


HIDE_LAB = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if (name + ".").startswith(("hflab.", "scipy.", "matplotlib.")):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
from gnuradio.hf.station import running, watch
from gnuradio.hf.cli import main
main()
"""


@pytest.mark.parametrize("command", ["run", "top", "send", "receive", "chat", "console", "radio",
                                     "monitor", "nft", "modulate", "demodulate", "sim", "demo",
                                     "channel", "trial"])
def test_a_station_needs_nothing_of_the_lab(command):
    """Every command starts without the laboratory, and without the libraries of pictures."""
    ran = subprocess.run([sys.executable, "-c", HIDE_LAB, command, "--help"],
                         capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout.startswith("Usage:"), ran.stderr


def test_the_lab_is_in_a_package_of_its_own():
    program, lab = read("debian", "gr-hf-lab.install").split()
    assert program == "usr/bin/hf-lab" and lab.endswith("/dist-packages/hflab")
    assert "usr/lib/python3/dist-packages/gnuradio\n" in read("debian", "gr-hf.install")
    assert not {"python3-scipy", "python3-matplotlib"} & debian("Depends", "gr-hf")
