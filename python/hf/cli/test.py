# SPDX-License-Identifier: GPL-3.0-or-later
"""hf test: builds and runs everything that ctest knows."""
from dataclasses import dataclass
import os
import subprocess
import sys
import tempfile
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


@click.command(short_help="Build and run all tests of the source tree.",
               context_settings={"ignore_unknown_options": True})
@click.option("-k", "select", metavar="REGEX",
              help="Only tests whose name matches (ctest -R); ctest -N lists the names.")
@click.option("-v", "--verbose", is_flag=True, help="The output of all tests, not of failures "
              "only.")
@click.option("-j", "--jobs", type=click.IntRange(1, 1024), default=os.cpu_count() or 1,
              show_default="number of processors", help="Tests at a time.")
@click.argument("ctest_options", nargs=-1, type=click.UNPROCESSED)
def command(select: Optional[str], verbose: bool, jobs: int, ctest_options: List[str]) -> None:
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
