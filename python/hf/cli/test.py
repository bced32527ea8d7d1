# SPDX-License-Identifier: GPL-3.0-or-later
"""hf test: builds and runs the tests of the source tree."""
import os
import re
import subprocess
import sys
import tempfile
from typing import Callable, List, Optional, Tuple

import click

from . import fail
from .. import testing


@click.command(short_help="Build and run the tests of the source tree.",
               context_settings={"ignore_unknown_options": True})
@click.option("--all", "every", is_flag=True,
              help="Run the long tests, too: those of tests/long.txt. It takes half an hour.")
@click.option("-k", "select", metavar="REGEX",
              help="Only tests whose name matches (ctest -R), long ones included; ctest -N lists "
              "the names.")
@click.option("-v", "--verbose", is_flag=True, help="Show the output of passed tests, too.")
@click.option("-j", "--jobs", type=click.IntRange(1, 1024), default=os.cpu_count() or 1,
              show_default="number of processors", help="Tests at a time.")
@click.option("--fuzz", "fuzz_runs", type=click.IntRange(1000), metavar="INPUTS",
              help="Run the fuzz targets with sanitizers instead, with this number of inputs in "
              "total.")
@click.option("--explore", "schedules", type=click.IntRange(1), metavar="SCHEDULES",
              help="Run that many more schedules of faults on the data link instead, on all "
              "processors. Results are kept in the build folder, so that the next run goes on.")
@click.option("--replay", nargs=2, metavar="WORLD SCHEDULE",
              help="Repeat one schedule that --explore or a test has named, with the log of all "
              "stations.")
@click.option("--as", "variant", type=click.Choice(sorted(testing.VARIANTS)),
              help="Build a variant in another folder and run its tests. clang: with Clang; "
              "debug: for debugging; address: engines with the address and undefined behaviour "
              "sanitizers; thread: engines with the thread sanitizer; coverage: engines, and "
              "the share of their lines that the tests run (needs gcovr).")
@click.argument("ctest_options", nargs=-1, type=click.UNPROCESSED)
def command(every: bool, select: Optional[str], verbose: bool, jobs: int, fuzz_runs: Optional[int],
            schedules: Optional[int], replay: Optional[Tuple[str, str]], variant: Optional[str],
            ctest_options: List[str]) -> None:
    """Build the source tree and run its tests, those that take a few minutes in all.

    Options that are not listed are passed to ctest; all tests are built then.

    Progress, the output of failed tests, the ten slowest tests, and the reason of each skip and
    failure go to standard error. If at most three tests fail, each is repeated alone. A test that
    passes this time is reported as flaky. The last line, on standard output, is "tests: N passed,
    M failed, K skipped", with the number of flaky tests if there are any. The exit status is 0
    only if tests passed, none failed and at most one was flaky.
    """
    build = _build_folder()
    try:
        if fuzz_runs is not None:
            clean = testing.fuzz(build, fuzz_runs, click.echo,
                                 lambda text: click.echo(text, err=True))
            sys.exit(0 if clean else 1)
        if schedules is not None:
            sys.exit(0 if testing.explore(build, schedules, click.echo) else 1)
        if replay is not None:
            sys.exit(testing.replay(build, *replay))
    except RuntimeError as error:
        raise fail(str(error)) from None
    try:
        if variant:
            build = testing.configure_variant(build, variant)
        every = every or bool(select or variant or ctest_options)
        _build(build, every)
        if variant == "coverage":
            testing.forget_coverage(build)
        options = list(ctest_options)
        if not every:
            options += ["-E", f"^({'|'.join(testing.long_tests(testing.source_of(build)))})$"]
        status, report = _run(lambda junit: testing.ctest_command(build, junit, jobs, select,
                                                                  verbose, options))
        counts, flaky = report.counts, []
        if 0 < len(report.failed) == counts.failed <= testing.MAX_REPEATED:
            flaky = testing.run_alone(build, report.failed)
            counts.flaky = len(flaky)
            counts.failed -= len(flaky)
    except RuntimeError as error:
        raise fail(str(error)) from None
    except OSError as error:
        raise fail(f"{error.filename}: {error.strerror}") from None
    _print_report(report, flaky)
    sys.stderr.flush()
    if not every:
        click.echo("the long tests did not run: ./hf test --all runs them, too", err=True)
    click.echo(counts.summary())
    if variant == "coverage":
        _print_coverage(build)
    if (status != 0 and not flaky) or not counts.good():
        sys.exit(1)


def _build(build: str, every: bool) -> None:
    targets = [] if every else ["--target", "programs", "short_tests"]
    built = subprocess.run(["cmake", "--build", build, *targets, "--",
                            f"-j{os.cpu_count() or 1}"], stdout=sys.stderr)
    if built.returncode != 0:
        raise fail("the build failed")


def _run(command_for: Callable[[str], List[str]]) -> Tuple[int, testing.Report]:
    """Exit status and report of ctest. command_for: gives its command for a JUnit file."""
    with tempfile.TemporaryDirectory() as scratch:
        junit = os.path.join(scratch, "junit.xml")
        # Tests in real time take the niceness back (tests/CMakeLists.txt) if the system lets them.
        ran = subprocess.run(command_for(junit), stdout=sys.stderr,
                             env={**os.environ, "PYTEST_ADDOPTS": "-rsf"},
                             preexec_fn=lambda: os.nice(10))
        try:
            return ran.returncode, testing.report(junit)
        except (OSError, ValueError) as error:
            raise fail(f"ctest left no report: {error}") from None


def _print_report(report: testing.Report, flaky: List[str]) -> None:
    if report.counts.passed + report.counts.failed > len(report.slowest):
        click.echo("slowest tests:", err=True)
        for seconds, name in report.slowest:
            click.echo(f"{seconds:8.1f} s  {name}", err=True)
    for line in report.skipped:
        click.echo(f"skipped: {line}", err=True)
    for line in report.reasons:
        click.echo(f"failed: {line}", err=True)
    for name in flaky:
        click.echo(f"flaky: {name} failed beside others and passed alone", err=True)


def _print_coverage(build: str) -> None:
    try:
        rows = testing.coverage(build)
    except (OSError, RuntimeError) as error:
        raise fail(str(error)) from None
    click.echo("\n| folder | lines | covered |\n|---|---|---|")
    for row in rows:
        click.echo(f"| {row.folder} | {row.lines} | {100 * row.share:.1f} % |")


def _build_folder() -> str:
    build = os.environ.get("HF_BUILD_DIR", "")
    if not build:
        raise click.UsageError("tests need the source tree: run ./hf test or build/run hf test "
                               "there")
    if not os.path.isfile(os.path.join(build, "CMakeCache.txt")):
        raise click.UsageError(f"HF_BUILD_DIR {build} is not a build directory")
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        if any(re.match("BUILD_TESTING:[A-Z]*=OFF", line) for line in cache):
            raise click.UsageError(f"{build} is configured without tests: run ./hf test, or cmake "
                                   f"-DBUILD_TESTING=ON {build}")
    return build
