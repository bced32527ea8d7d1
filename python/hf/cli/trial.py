# SPDX-License-Identifier: GPL-3.0-or-later
"""hf trial: runs timed tests between stations, for days, and reports the results."""
import os
import sys
import time
from typing import Any, List, Optional, Tuple

import click

from .. import radio
from ..system import output
from ..trial import plan as plans, session, store
from . import fail
from ._output import checked, force_option
from ._progress import Progress
from .run import end_on_signals


@click.group()
def command() -> None:
    """Field trials: timed tests between stations, stored in SQLite, and their report."""


def _loaded(path: str) -> plans.Plan:
    try:
        plan = plans.load(path)
        session.check(plan)
        return plan
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _folder(path: str, folder: Optional[str]) -> str:
    return folder or os.path.splitext(path)[0]


@command.command(short_help="Print the slots of a plan.")
@click.argument("path", metavar="PLAN.toml")
def check(path: str) -> None:
    """Read a plan and its station files, and print the slots of a round with start, length, test
    and stations. Nothing is opened or transmitted."""
    plan = _loaded(path)
    for number, member in enumerate(plan.station):
        if member.file and not os.path.exists(os.path.join(os.path.dirname(path), member.file)):
            click.echo(f"station {member.address}: {member.file} does not exist here", err=True)
            continue
        try:
            d = plan.describe(number)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        click.echo(f"station {member.address}: mode {d.mode}, "
                   + (f"radio {d.radio.type}" if d.radio else "no radio"), err=True)
    slots = plan.slots(plan.round_at(time.time()) if plan.by == "utc" else 0)
    for slot in slots:
        when = f"+{slot.begin - slots[0].begin:5.0f} s  {slot.length_s:5d} s"
        click.echo(f"{when}  {_what(slot)}")
    if plan.by == "utc":
        click.echo(f"every {plan.period_s} s, next at {_next(plan)}", err=True)


def _next(plan: plans.Plan) -> str:
    now = time.time()
    return next((store.utc_text(s.begin)[:19] + "Z" for s in plan.all_slots(plan.round_at(now))
                 if s.begin > now), "no time any more")


def _what(slot: plans.Slot) -> str:
    test = slot.test
    text = f"{test.kind:10} {slot.sender} to {slot.receiver or 'all'}"
    text += f", {', '.join(test.modes)}" if test.modes else f", {test.octets} octets"
    text += f", {test.mode}" if test.mode else ""
    return text + (f", {test.frequency_hz / 1e6:g} MHz" if test.frequency_hz else "")


@command.command(short_help="Run the tests of a plan.")
@click.argument("path", metavar="PLAN.toml")
@click.option("--as", "address", metavar="ADDRESS", help="Station of the plan to run. Needed if "
              "several of its station files are here.")
@click.option("--folder", type=click.Path(file_okay=False), help="Folder for databases and CSV.  "
              "[default: the plan's name without .toml]")
@click.option("--dry", is_flag=True, help="Run all stations over the plan's simulated air, faster "
              "than real time.")
@click.option("--rounds", type=click.IntRange(1), help="Dry run: number of rounds.  [default: as "
              "in the plan, or 1]")
@click.option("--speed", default=0.0, type=click.FloatRange(0, 1000), help="Dry run: speed limit, "
              "as a multiple of real time. 0: no limit.")
@click.option("--quiet", is_flag=True, help="Print no line for each slot.")
def run(path: str, address: Optional[str], folder: Optional[str], dry: bool,
        rounds: Optional[int], speed: float, quiet: bool) -> None:
    """Run the tests of a plan and receive those of the other stations, until all rounds are done
    or Ctrl-C.

    Each measurement is stored at once in FOLDER/ADDRESS.db (SQLite), and exported to CSV files at
    the end. After a restart the run continues with the next slot that is due. Slots cut off are
    marked as interrupted, slots not run as missed.
    """
    end_on_signals()
    plan = _loaded(path)
    where = _folder(path, folder)
    lines: List[str] = []
    try:
        if dry:
            running = session.dry(plan, where, rounds or plan.rounds or 1, lines.append, speed)
        else:
            number = _which(plan, address)
            running = session.live(plan, number, where, lines.append, radio.open_radio)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except (OSError, RuntimeError) as error:
        raise fail(str(error)) from None
    begin = time.monotonic()
    try:
        with running, Progress("dry run" if dry else "trial") as progress:
            _watch(running, lines, quiet, dry, progress)
            seconds = running.stations.now()
    finally:
        for kept in running.stores:
            store.write_csv(kept.path)
    if running.failure():
        raise fail(running.failure())
    if dry:
        pace = seconds / max(time.monotonic() - begin, 1e-9)
        click.echo(f"{seconds:.0f} s of station time, {pace:.1f} times real time", err=True)
    _summarise([kept.path for kept in running.stores])


def _which(plan: plans.Plan, address: Optional[str]) -> int:
    known = [m.address for m in plan.station]
    if address is not None:
        if address not in known:
            raise click.UsageError(f"--as {address}: allowed are {', '.join(known)}")
        return known.index(address)
    here = [k for k, m in enumerate(plan.station) if m.file and os.path.exists(
        os.path.join(os.path.dirname(plan.where), m.file))]
    if len(here) != 1:
        raise click.UsageError(f"the files of {len(here)} stations of the plan are here: select "
                               f"one with --as, allowed are {', '.join(known)}")
    return here[0]


def _watch(running: Any, lines: List[str], quiet: bool, dry: bool, progress: Progress) -> None:
    try:
        while not running.over() and not running.failure():
            time.sleep(0.05 if dry else 0.5)
            progress.at(running.share())
            for line in [lines.pop(0) for _ in range(len(lines))]:
                if not quiet:
                    click.echo(line, err=True)
            radios = running.stations.new_lines()
            for line in [] if quiet or dry else radios:
                click.echo(line, err=True)
    except KeyboardInterrupt:
        sys.exit(130)
    except RuntimeError as error:
        raise fail(str(error)) from None


def _summarise(paths: List[str]) -> None:
    for path in paths:
        name = os.path.splitext(os.path.basename(path))[0]
        for kind, states in session.summary(path).items():
            click.echo(f"{name:12} {kind:10} "
                       + ", ".join(f"{count} {state}" for state, count in states.items()))


@command.command(short_help="Make an HTML page of the results.")
@click.argument("places", nargs=-1, required=True, metavar="FOLDER_OR_DB...")
@click.option("-o", "--output", "path", default="report.html", show_default=True,
              help="File for the page. -: standard output.")
@force_option
def report(places: Tuple[str, ...], path: str, force: bool) -> None:
    """Make one self-contained page with a summary and plots from the databases of one or more
    stations. A run may continue meanwhile."""
    from ..trial import report as reports
    with checked():
        if path != "-":
            output.check(path, force=force, first_line=reports.FIRST_LINE)
    try:
        found = list(session.databases(list(places)))
        with Progress("report") as progress:
            text = reports.page(found, progress.share)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    with output.replacing_text(path) as file:
        file.write(text)
    where = "" if path == "-" else f"{os.path.abspath(path)}: "
    count = f"{len(found)} database" + ("s" if len(found) != 1 else "")
    click.echo(f"{where}report of {count}", err=True)
