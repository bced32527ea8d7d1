# SPDX-License-Identifier: GPL-3.0-or-later
"""hf test: builds and runs everything that ctest knows."""
from dataclasses import dataclass
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from typing import List, Optional
import xml.etree.ElementTree as ElementTree

import click

from . import fail


@dataclass
class Counts:
    """How tests ended."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def summary(self) -> str:
        """The line that a run ends with."""
        return f"tests: {self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def count(junit: str) -> Counts:
    """Read ctest's JUnit file. Raises OSError or ValueError if it is of no use.

    A test that could not be run (its program is missing, say) has failed.
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


def run_alone(build: str, names: List[str]) -> List[str]:
    """Run tests once more, one at a time; returns those that pass so.

    What talks to the kernel, to sound servers and to other programs in real time can fail beside
    other tests that take its processor. A test that fails alone has failed.
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


#: More failures than these are not bad luck, and are not run again.
MOST_RUN_ALONE = 3


def skips(junit: str) -> List[str]:
    """What was left out, whole tests and parts of tests that otherwise passed: name and reason,
    as gtest, pytest -rs and scripts that end with 77 tell it."""
    found = []
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        said = case.findtext("system-out") or ""
        reasons = re.findall(r"^SKIPPED \[\d+\] \S+?: (.+)$", said, re.MULTILINE)
        reasons += re.findall(r"^\S+:\d+: Skipped\n(.+)$", said, re.MULTILINE)
        if not reasons and case.find("skipped") is not None and case.get("status") != "run":
            lines = [line for line in said.splitlines() if line.strip()]
            if "SKIP" in case.find("skipped").get("message", ""):
                reasons = lines[-1:] or ["it says not why"]
        found += [f"{case.get('name')}: {reason.strip()}" for reason in dict.fromkeys(reasons)]
    return found


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


#: Inputs of each fuzz target for every 1000 of all: engines are a hundred times slower than
#: parsers.
FUZZ_SHARES = {"node": 5, "pep": 5, "slep": 10, "dns": 10, "modem_sessions": 20, "d_pdu": 30,
               "ip": 40, "clients": 180, "modem_interface": 200, "sis": 200, "pdu": 300}


def clang() -> Optional[str]:
    """The name of the Clang compiler, if there is one."""
    return next((c for c in ("clang++", "clang++-14") if shutil.which(c)), None)


def fuzz(build: str, runs: int) -> bool:
    """Build the fuzz targets with sanitizers beside the build folder and run them.

    True if there were no findings. With Clang, libFuzzer mutates and keeps what it finds in
    FOLDER/found; otherwise the driver of the tests does, without keeping.
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
            raise fail("the fuzz targets do not build")
    clean = True
    for name, share in FUZZ_SHARES.items():
        count = max(1, runs * share // 1000)
        seeds = os.path.join(source, "tests", "fuzz", "corpus", name)
        found = os.path.join(folder, "found", name)
        os.makedirs(found, exist_ok=True)
        program = [os.path.join(folder, "tests", "fuzz", f"fuzz_{name}")]
        if compiler:
            program += [f"-runs={count}", "-timeout=20", f"-artifact_prefix={found}/finding-",
                        found, seeds]
        else:
            program += [f"--runs={count}", seeds]
        begin = time.monotonic()
        ended = subprocess.run(program, capture_output=True, text=True, errors="replace")
        outcome = "clean" if ended.returncode == 0 else "FINDING"
        click.echo(f"{name:16} {count:9} inputs {time.monotonic() - begin:7.0f} s  {outcome}")
        if ended.returncode != 0:
            click.echo(ended.stderr[-4000:], err=True)
            clean = False
    return clean


#: Ways to build everything anew, by the name of hf test --as: what CMake is told.
VARIANTS = {
    "clang": [],
    "debug": ["-DCMAKE_BUILD_TYPE=Debug"],
    # What runs in one process under GoogleTest: GNU Radio and Python are not instrumented.
    "address": ["-DHF_SANITIZE=address,undefined", "-DHF_ENGINES_ONLY=ON"],
    "thread": ["-DHF_SANITIZE=thread", "-DHF_ENGINES_ONLY=ON"],
}


def configure_variant(build: str, name: str) -> str:
    """Configure the source tree of a build folder anew below it; returns the new folder.

    Raises OSError, or click.ClickException if CMake refuses.
    """
    folder = os.path.join(build, f"as-{name}")
    options = list(VARIANTS[name])
    if name == "clang":
        compiler = clang()
        if not compiler:
            raise fail("there is no clang++: install clang")
        options.append(f"-DCMAKE_CXX_COMPILER={compiler}")
    step = ["cmake", "-G", "Ninja", "-S", source_of(build), "-B", folder, *options]
    if subprocess.run(step, stdout=sys.stderr).returncode != 0:
        raise fail(f"{folder} could not be configured")
    return folder


def source_of(build: str) -> str:
    """The source tree that a build folder belongs to. Raises OSError."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        for line in cache:
            if line.startswith("CMAKE_HOME_DIRECTORY"):
                return line.rstrip("\n").split("=", 1)[1]
    raise fail(f"{build}/CMakeCache.txt names no source tree")


@click.command(short_help="Build and run all tests of the source tree.",
               context_settings={"ignore_unknown_options": True})
@click.option("-k", "select", metavar="REGEX",
              help="Only tests whose name matches (ctest -R); ctest -N lists the names.")
@click.option("-v", "--verbose", is_flag=True, help="The output of all tests, not of failures "
              "only.")
@click.option("-j", "--jobs", type=click.IntRange(1, 1024), default=os.cpu_count() or 1,
              show_default="number of processors", help="Tests at a time.")
@click.option("--fuzz", "fuzz_runs", type=click.IntRange(1000), metavar="INPUTS",
              help="Instead of the tests: so many inputs for all fuzz targets together, with "
              "sanitizers.")
@click.option("--as", "variant", type=click.Choice(sorted(VARIANTS)),
              help="Build everything anew so and run the tests there: with Clang, for "
              "debugging, or the engines with sanitizers of addresses and undefined "
              "behaviour, or of threads.")
@click.argument("ctest_options", nargs=-1, type=click.UNPROCESSED)
def command(select: Optional[str], verbose: bool, jobs: int, fuzz_runs: Optional[int],
            variant: Optional[str], ctest_options: List[str]) -> None:
    """Build the source tree and run its tests; further options go to ctest.

    Progress, the output of failed tests and what was skipped, with the reason, go to standard
    error, parts of tests included. Up to three tests that fail are run once more, alone; those
    that pass then are named and count as passed. The last line, on standard
    output, is "tests: N passed, M failed, K skipped". The exit status is 0 only if tests ran
    and none failed.
    """
    build = os.environ.get("HF_BUILD_DIR", "")
    if not build:
        raise click.UsageError("the tests are part of the source tree: run ./hf test there, or "
                               "build/run hf test")
    if not os.path.isfile(os.path.join(build, "CMakeCache.txt")):
        raise click.UsageError(f"HF_BUILD_DIR {build} is not a build directory")
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        if any(re.match("BUILD_TESTING:[A-Z]*=OFF", line) for line in cache):
            raise click.UsageError(f"{build} is configured without tests: run ./hf test, or cmake "
                                   f"-DBUILD_TESTING=ON {build}")
    if fuzz_runs is not None:
        if not fuzz(build, fuzz_runs):
            sys.exit(1)
        return
    try:
        if variant:
            build = configure_variant(build, variant)
        built = subprocess.run(["cmake", "--build", build, "--", f"-j{os.cpu_count() or 1}"],
                               stdout=sys.stderr)
        if built.returncode != 0:
            raise fail("the build failed")
        with tempfile.TemporaryDirectory() as scratch:
            junit = os.path.join(scratch, "junit.xml")
            ran = subprocess.run(
                ctest_command(build, junit, jobs, select, verbose, list(ctest_options)),
                stdout=sys.stderr, env={**os.environ, "PYTEST_ADDOPTS": "-rs"})
            try:
                counts, left_out, failed = count(junit), skips(junit), failures(junit)
            except (OSError, ValueError) as error:
                raise fail(f"ctest left no report: {error}") from None
        alone = []
        if 0 < len(failed) == counts.failed <= MOST_RUN_ALONE:
            alone = run_alone(build, failed)
            counts.passed += len(alone)
            counts.failed -= len(alone)
    except OSError as error:
        raise fail(f"{error.filename}: {error.strerror}") from None
    for line in left_out:
        click.echo(f"skipped: {line}", err=True)
    for name in alone:
        click.echo(f"failed beside others, passed alone: {name}", err=True)
    sys.stderr.flush()
    click.echo(counts.summary())
    if (ran.returncode != 0 and not alone) or counts.failed or not counts.passed:
        sys.exit(1)
