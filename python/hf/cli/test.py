# SPDX-License-Identifier: GPL-3.0-or-later
"""hf test: builds and runs everything that ctest knows."""
from dataclasses import dataclass
import os
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


def ctest_command(build: str, junit: str, jobs: int, select: Optional[str], verbose: bool,
                  extra: List[str]) -> List[str]:
    """The command line of ctest."""
    command = ["ctest", "--test-dir", build, "--output-junit", junit, "-j", str(jobs),
               "--output-on-failure", "--no-tests=error"]
    if select:
        command += ["-R", select]
    if verbose:
        command.append("-V")
    return command + extra


#: Inputs of each fuzz target for every 1000 of all: engines are a hundred times slower than
#: parsers.
FUZZ_SHARES = {"node": 5, "pep": 5, "slep": 10, "dns": 10, "modem_sessions": 20, "d_pdu": 30,
               "ip": 40, "clients": 180, "modem_interface": 200, "sis": 200, "pdu": 300}


def fuzz(build: str, runs: int) -> bool:
    """Build the fuzz targets with sanitizers beside the build folder and run them.

    True if there were no findings. With Clang, libFuzzer mutates and keeps what it finds in
    FOLDER/found; otherwise the driver of the tests does, without keeping.
    """
    folder = os.path.join(build, "fuzz")
    source = ""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        for line in cache:
            if line.startswith("CMAKE_HOME_DIRECTORY"):
                source = line.rstrip("\n").split("=", 1)[1]
    clang = next((c for c in ("clang++", "clang++-14") if shutil.which(c)), None)
    configure = ["cmake", "-S", source, "-B", folder, "-DHF_FUZZ=ON", "-DHF_ENGINES_ONLY=ON",
                 "-DHF_WERROR=OFF"]
    if clang:
        configure.append(f"-DCMAKE_CXX_COMPILER={clang}")
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
        if clang:
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
@click.argument("ctest_options", nargs=-1, type=click.UNPROCESSED)
def command(select: Optional[str], verbose: bool, jobs: int, fuzz_runs: Optional[int],
            ctest_options: List[str]) -> None:
    """Build the source tree and run its tests; further options go to ctest.

    Progress and the output of failed tests go to standard error. The last line, on standard
    output, is "tests: N passed, M failed, K skipped". The exit status is 0 only if tests ran
    and none failed.
    """
    build = os.environ.get("HF_BUILD_DIR", "")
    if not build:
        raise click.UsageError("the tests are part of the source tree: run ./hf test there, or "
                               "build/run hf test")
    if not os.path.isfile(os.path.join(build, "CMakeCache.txt")):
        raise click.UsageError(f"HF_BUILD_DIR {build} is not a build directory")
    if fuzz_runs is not None:
        if not fuzz(build, fuzz_runs):
            sys.exit(1)
        return
    try:
        built = subprocess.run(["cmake", "--build", build, "--", f"-j{os.cpu_count() or 1}"],
                               stdout=sys.stderr)
        if built.returncode != 0:
            raise fail("the build failed")
        with tempfile.TemporaryDirectory() as scratch:
            junit = os.path.join(scratch, "junit.xml")
            ran = subprocess.run(
                ctest_command(build, junit, jobs, select, verbose, list(ctest_options)),
                stdout=sys.stderr)
            try:
                counts = count(junit)
            except (OSError, ValueError) as error:
                raise fail(f"ctest left no report: {error}") from None
    except OSError as error:
        raise fail(f"{error.filename}: {error.strerror}") from None
    sys.stderr.flush()
    click.echo(counts.summary())
    if ran.returncode != 0 or counts.failed or not counts.passed:
        sys.exit(1)
