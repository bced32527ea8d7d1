# SPDX-License-Identifier: GPL-3.0-or-later
"""Build and run the tests of a source tree: ctest, build variants, fuzzing."""
from dataclasses import dataclass
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple
import xml.etree.ElementTree as ElementTree


#: A run with more failures than this repeats none of them.
MAX_REPEATED = 3
#: A run with more flaky tests than this has failed.
MAX_FLAKY = 1


@dataclass
class Counts:
    """Test results, counted."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    #: Failed beside other tests, passed alone.
    flaky: int = 0

    def summary(self) -> str:
        """The last line of a run."""
        flaky = f", {self.flaky} flaky" if self.flaky else ""
        return f"tests: {self.passed} passed, {self.failed} failed, {self.skipped} skipped{flaky}"

    def good(self) -> bool:
        """Tests ran, none failed, and at most one was flaky."""
        return self.passed > 0 and self.failed == 0 and self.flaky <= MAX_FLAKY


class Report(NamedTuple):
    """What a run of ctest has left."""

    counts: Counts
    skipped: List[str]
    failed: List[str]
    reasons: List[str]
    slowest: List[Tuple[float, str]]


def report(junit: str) -> Report:
    """Read ctest's JUnit file. Raises OSError or ValueError if it is unusable."""
    return Report(count(junit), skips(junit), failures(junit), reasons(junit), slowest(junit))


def count(junit: str) -> Counts:
    """Read ctest's JUnit file. Raises OSError or ValueError if it is unusable.

    A test that could not be run (for example, its program is missing) has failed.
    """
    try:
        cases = ElementTree.parse(junit).getroot().iter("testcase")
    except ElementTree.ParseError as error:
        raise ValueError(str(error)) from None
    counts = Counts()
    for case in cases:
        status = case.get("status")
        skipped = case.find("skipped")
        if status == "run":
            counts.passed += 1
        elif status == "disabled" or (
                skipped is not None and "SKIP" in skipped.get("message", "")):
            counts.skipped += 1
        else:
            counts.failed += 1
    return counts


def failures(junit: str) -> List[str]:
    """Names of the tests that ran and failed."""
    return [case.get("name", "") for case in ElementTree.parse(junit).getroot().iter("testcase")
            if case.get("status") == "fail"]


def reasons(junit: str) -> List[str]:
    """What the failed tests say of themselves, as name and reason: the summary of pytest -rf, the
    lines of gtest with a file and a line, or else the last line."""
    found = []
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        if case.get("status") == "fail":
            said = case.findtext("system-out") or ""
            lines = re.findall(r"^FAILED \S+?::(.+)$|^\S+?([^/\s]+:\d+): Failure$", said,
                               re.MULTILINE)
            last = [line for line in said.splitlines() if line.strip()][-1:]
            for reason in [a or b for a, b in lines] or last or ["no output"]:
                found.append(f"{case.get('name')}: {reason.strip()[:300]}")
    return found


def slowest(junit: str, count: int = 10) -> List[Tuple[float, str]]:
    """Seconds and names of the tests that took longest, longest first."""
    cases = ElementTree.parse(junit).getroot().iter("testcase")
    times = ((float(case.get("time", "0")), case.get("name", "")) for case in cases)
    return sorted(times, reverse=True)[:count]


def run_alone(build: str, names: List[str]) -> List[str]:
    """Run failed tests once more, one at a time. Returns the flaky ones, which pass this time.

    A test that talks to the kernel, a sound server or another program in real time can fail while
    other tests use the processor.
    """
    with tempfile.TemporaryDirectory() as scratch:
        junit = os.path.join(scratch, "junit.xml")
        only = "^(" + "|".join(re.escape(n) for n in names) + ")$"
        subprocess.run(ctest_command(build, junit, 1, only, False, []), stdout=sys.stderr)
        try:
            still = set(failures(junit))
            ran = {case.get("name") for case in ElementTree.parse(junit).getroot().iter("testcase")
                   if case.get("status") == "run"}
        except (OSError, ElementTree.ParseError):
            return []
    return [n for n in names if n in ran and n not in still]


def skips(junit: str) -> List[str]:
    """Skipped tests and skipped parts of passed tests, as name and reason. Understands gtest,
    pytest -rs and scripts with exit status 77."""
    found = []
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        said = case.findtext("system-out") or ""
        reasons = re.findall(r"^SKIPPED \[\d+\] \S+?: (.+)$", said, re.MULTILINE)
        reasons += re.findall(r"^\S+:\d+: Skipped\n(.+)$", said, re.MULTILINE)
        if not reasons and case.find("skipped") is not None and case.get("status") != "run":
            lines = [line for line in said.splitlines() if line.strip()]
            if "SKIP" in case.find("skipped").get("message", ""):
                reasons = lines[-1:] or ["no reason given"]
        found += [f"{case.get('name')}: {reason.strip()}" for reason in dict.fromkeys(reasons)]
    return found


def long_tests(source: str) -> List[str]:
    """Regular expressions of the tests that only `hf test --all` runs: the first word of each line
    of tests/long.txt. Raises OSError."""
    with open(os.path.join(source, "tests", "long.txt"), encoding="utf-8") as file:
        return [line.split()[0] for line in file if line.strip() and not line.startswith("#")]


def ctest_command(build: str, junit: str, jobs: int, select: Optional[str], verbose: bool,
                  extra: List[str]) -> List[str]:
    """The command line of ctest."""
    command = ["ctest", "--test-dir", build, "--output-junit", junit, "-j", str(jobs),
               "--output-on-failure", "--no-tests=error", "--test-output-size-passed", "65536"]
    if select:
        command += ["-R", select]
    if verbose:
        command.append("-V")
    return command + extra


#: Share of each fuzz target in 1000 inputs. Engines are a hundred times slower than parsers.
FUZZ_SHARES = {"node": 5, "pep": 5, "slep": 10, "dns": 10, "modem_sessions": 20, "d_pdu": 30,
               "ip": 40, "ale": 50, "clients": 170, "modem_interface": 190, "sis": 190, "pdu": 250,
               "auth": 30}
#: A longer run is cut into so many parts, each counted when it ends.
FUZZ_PARTS = 20


def clang() -> Optional[str]:
    """The name of the Clang compiler, if installed."""
    return next((c for c in ("clang++", "clang++-14") if shutil.which(c)), None)


def fuzz(build: str, runs: int, say: Callable[[str], object],
         warn: Callable[[str], object]) -> bool:
    """Build the fuzz targets with sanitizers in a subfolder of the build folder and run them.

    Returns True without findings. A finding is kept in FOLDER/found. With Clang, libFuzzer mutates
    the inputs and keeps interesting ones there as well. Otherwise the driver of the tests mutates
    them, each run with other seeds. FOLDER/inputs.json counts the inputs of all runs.
    say: called with a line for each target, and one for all runs.
    warn: called with the output of a finding.
    Raises OSError, and RuntimeError if the targets do not build.
    """
    folder = os.path.join(build, "fuzz")
    source = source_of(build)
    compiler = clang()
    configure = ["cmake", "-S", source, "-B", folder, "-DHF_FUZZ=ON", "-DHF_ENGINES_ONLY=ON",
                 "-DHF_WERROR=OFF"]
    if compiler:
        configure.append(f"-DCMAKE_CXX_COMPILER={compiler}")
    targets = [f"fuzz_{name}" for name in FUZZ_SHARES]
    for step in (configure, ["cmake", "--build", folder, f"-j{os.cpu_count() or 1}", "--target",
                             *targets]):
        if subprocess.run(step, stdout=sys.stderr).returncode != 0:
            raise RuntimeError("the fuzz targets do not build")
    store = os.path.join(folder, "inputs.json")
    done: Dict[str, int] = {}
    if os.path.exists(store):
        with open(store, encoding="utf-8") as file:
            done = json.load(file)
    clean = True
    for name, share in FUZZ_SHARES.items():
        begin = time.monotonic()
        before = done.get(name, 0)
        outcome = "clean"
        for count in _parts(max(1, runs * share // 1000)):
            ended = _fuzz_part(folder, source, name, count, done.get(name, 0), bool(compiler))
            if ended.returncode != 0:
                outcome = "FINDING"
                warn(ended.stderr[-4000:])
                clean = False
                break
            done[name] = done.get(name, 0) + count
            _store(store, done)
        say(f"{name:16} {done.get(name, 0) - before:9} inputs {time.monotonic() - begin:7.0f} s  "
            f"{outcome}")
    say(f"inputs without a finding in all runs: {sum(done.values())}")
    return clean


def _store(path: str, counts: Dict[str, int]) -> None:
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(counts, file)
    os.replace(path + ".new", path)


def _parts(count: int) -> List[int]:
    """count in at most FUZZ_PARTS parts of nearly equal size."""
    parts = min(count, FUZZ_PARTS)
    return [count * (k + 1) // parts - count * k // parts for k in range(parts)]


def _fuzz_part(folder: str, source: str, name: str, count: int, before: int,
               with_clang: bool) -> "subprocess.CompletedProcess[str]":
    """Run one fuzz target for count inputs, after as many as before in earlier parts."""
    seeds = os.path.join(source, "tests", "fuzz", "corpus", name)
    found = os.path.join(folder, "found", name)
    os.makedirs(found, exist_ok=True)
    program = [os.path.join(folder, "tests", "fuzz", f"fuzz_{name}")]
    if with_clang:
        program += [f"-runs={count}", "-timeout=20", f"-artifact_prefix={found}/finding-",
                    found, seeds]
    else:
        program += [f"--runs={count}", f"--seed={before + 1}", f"--findings={found}", seeds]
    return subprocess.run(program, capture_output=True, text=True, errors="replace")


def _explorer(build: str) -> str:
    """Build the program that runs schedules of faults. Returns its path. Raises RuntimeError."""
    made = subprocess.run(["cmake", "--build", build, f"-j{os.cpu_count() or 1}", "--target",
                           "explore"], stdout=sys.stderr)
    if made.returncode != 0:
        raise RuntimeError("the explorer of schedules does not build")
    return os.path.join(build, "tests", "explore", "explore")


def explore(build: str, count: int, say: Callable[[str], object]) -> bool:
    """Run count more schedules of faults (tests/explore). Returns True if all invariants hold.

    The store in the build folder has the name of the program's digest, so a changed engine starts
    from scratch.
    say: called with each line of the results.
    Raises OSError, and RuntimeError if the program does not build.
    """
    program = _explorer(build)
    with open(program, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()[:12]
    store = os.path.join(build, f"explored-{digest}.txt")
    parts = os.cpu_count() or 1
    running = [subprocess.Popen([program, store, str(-(-count // parts)), str(part), str(parts)],
                                stdout=subprocess.PIPE, text=True) for part in range(parts)]
    reading = [threading.Thread(target=_pass_on, args=(p, say)) for p in running]
    for thread in reading:
        thread.start()
    for thread in reading:
        thread.join()
    whole = subprocess.run([program, store, "0"], capture_output=True, text=True)
    say(whole.stdout.splitlines()[-1])
    return whole.returncode == 0 and all(p.wait() in (0, 1) for p in running)


def _pass_on(process: "subprocess.Popen[str]", say: Callable[[str], object]) -> None:
    for line in process.stdout or ():
        if not line.startswith("explored:"):
            say(line.rstrip("\n"))


def replay(build: str, world: str, schedule: str) -> int:
    """Run one schedule of faults with its log on standard output. Returns the exit status.

    Raises RuntimeError if the program does not build.
    """
    return subprocess.run([_explorer(build), world, schedule]).returncode


#: CMake options of each build variant, by the argument of hf test --as.
VARIANTS = {
    "clang": [],
    # -Og, since without optimisation a receiver is slower than its signal.
    "debug": ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-Og -g -D_GLIBCXX_ASSERTIONS"],
    # Only the engines under GoogleTest. GNU Radio and Python are not instrumented.
    "address": ["-DHF_SANITIZE=address,undefined", "-DHF_ENGINES_ONLY=ON"],
    "thread": ["-DHF_SANITIZE=thread", "-DHF_ENGINES_ONLY=ON"],
    # -O1, or the receiver is ten times slower.
    "coverage": ["-DHF_ENGINES_ONLY=ON", "-DCMAKE_BUILD_TYPE=Debug",
                 "-DCMAKE_CXX_FLAGS_DEBUG=-O1 --coverage -fprofile-update=atomic"],
}


def configure_variant(build: str, name: str) -> str:
    """Configure the source tree of a build folder in a new folder below it. Returns that folder.

    Raises OSError, and RuntimeError if CMake refuses.
    """
    folder = os.path.join(build, f"as-{name}")
    options = list(VARIANTS[name])
    if name == "coverage" and not shutil.which("gcovr"):
        raise RuntimeError("gcovr is missing: install gcovr")
    if name == "clang":
        compiler = clang()
        if not compiler:
            raise RuntimeError("clang++ is missing: install clang")
        options.append(f"-DCMAKE_CXX_COMPILER={compiler}")
    step = ["cmake", "-G", "Ninja", "-S", source_of(build), "-B", folder, *options]
    if subprocess.run(step, stdout=sys.stderr).returncode != 0:
        raise RuntimeError(f"{folder} could not be configured")
    return folder


class Covered(NamedTuple):
    """Lines of code of a folder below lib/, and how many of them tests have run."""

    folder: str
    lines: int
    covered: int

    @property
    def share(self) -> float:
        """Covered share of the lines, 0 to 1."""
        return self.covered / self.lines if self.lines else 1.0


def coverage(folder: str) -> List[Covered]:
    """Line coverage by the tests that ran in a build folder of the variant coverage: each folder
    of lib/, and the total last.

    Raises OSError, and RuntimeError if gcovr finds nothing.
    """
    source = source_of(folder)
    command = ["gcovr", "--root", source, "--filter", os.path.join(source, "lib") + "/",
               "--gcov-ignore-parse-errors", "--json-summary", "-", folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError("gcovr failed")
    return by_folder(json.loads(done.stdout)["files"])


def forget_coverage(folder: str) -> None:
    """Remove what earlier runs of tests have counted below a build folder.

    gcov adds each run to the counts before, also to those of code that has changed since.
    """
    for path, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".gcda"):
                os.remove(os.path.join(path, name))


def by_folder(files: Sequence[Dict[str, Any]]) -> List[Covered]:
    """Sums of a summary of gcovr: each folder of lib/, and the total last."""
    found: Dict[str, Covered] = {}
    for file in files:
        name = "/".join(file["filename"].split("/")[:2])
        for key in (name, "total"):
            old = found.get(key, Covered(key, 0, 0))
            found[key] = Covered(key, old.lines + file["line_total"],
                                 old.covered + file["line_covered"])
    total = found.pop("total", None)
    if total is None:
        raise RuntimeError("gcovr found no file of lib/")
    return [found[name] for name in sorted(found)] + [total]


def source_of(build: str) -> str:
    """The source tree of a build folder. Raises OSError, and RuntimeError if the folder does not
    name it."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        for line in cache:
            if line.startswith("CMAKE_HOME_DIRECTORY"):
                return line.rstrip("\n").split("=", 1)[1]
    raise RuntimeError(f"{build}/CMakeCache.txt names no source tree")
