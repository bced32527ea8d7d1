# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of hf-lab bench that try whole programs: mail, web, foreign programs, and
stations under fire."""
import importlib
import itertools
import os
from typing import Any, Iterable, List, Optional, Tuple

import click

from .. import sweep
from ..programs import nemesis as nemesis_
from gnuradio.hf.cli import fail
from gnuradio.hf.cli._options import options
from gnuradio.hf.cli._output import checked, force_option
from gnuradio.hf.cli._progress import Progress, watched
from gnuradio.hf.station import xmpp_tables
from ._workers import workers_of


@click.command()
@options(nemesis_.Options, "wanted")
@options(sweep.Pool, "pool")
@click.option("--csv", "path", type=click.Path(dir_okay=False), metavar="FILE",
              help="Keep every run here. The same command with the same file resumes an "
              "interrupted run.")
@force_option
def nemesis(wanted: nemesis_.Options, pool: sweep.Pool, path: Optional[str], force: bool) -> None:
    """Whole stations under fire: connections through HF-PEP while processes are killed, stopped,
    and left without descriptors, memory or disk.

    Two stations and their modems are three processes, in real time at 9600 bit/s. Fails if a
    connection has wrong octets, ends too early or never, if a station does not work again, or if
    a process ends by itself. Runs go in parallel: try --jobs 8.
    """
    measure = nemesis_
    seeds = range(wanted.first, wanted.first + wanted.runs)
    with workers_of(pool, processes=True) as workers, checked(), \
            measure.store(path, force) as kept:
        runs = []
        for run in watched(sweep.run(measure.one, ((k, wanted.minutes) for k in seeds), workers,
                                     kept.get), wanted.runs, lambda run: run.notes):
            kept.add(run)
            runs.append(run)
    print(measure.report(runs))
    if any(map(measure.failed, runs)):
        raise fail("not every promise was kept")


@click.command("mail")
@click.option("--protocol", "protocols", multiple=True, type=click.Choice(["hmtp", "cftp"]),
              help="Only this protocol; may be repeated.")
@click.option("--mails", default=200, show_default=True, type=click.IntRange(0, 100000),
              help="Mails over the bad link. 0: leave that part out.")
@click.option("--kills", default=20, show_default=True, type=click.IntRange(0, 1000),
              help="How often a gateway is killed meanwhile.")
@click.option("--seed", default=1, show_default=True)
@click.option("--waveforms", is_flag=True, help="Short mails over real waveforms, in real time, "
                                                "instead of emulated modems.")
@click.option("--bulk", "rates", multiple=True, type=click.Choice(["75", "300", "1200", "9600"]),
              help="Only 10 mails of 100 kB and 200 of 2 kB at this bit rate; may be repeated. "
                   "Each rate takes a quarter of an hour for each protocol.")
def mail_(protocols: Tuple[str, ...], mails: int, kills: int, seed: int, waveforms: bool,
          rates: Tuple[str, ...]) -> None:
    """Mail through two gateways at 9600 bit/s: time and turns of a short mail between two
    Postfix, then many mails over a link that is down 30 % of the time.

    Fails if a mail is lost, arrives twice or is altered. The first part needs root for Postfix.
    Without root, a message names the part that was left out. Takes two minutes for each protocol.
    """
    from ..programs import mail as measure
    from ..programs import postfix
    wanted = protocols or ("hmtp", "cftp")
    why = postfix.why_not()
    if rates and why is None:
        _bulk(wanted, [int(rate) for rate in rates], seed)
        return
    try:
        if why is None:
            channel = "awgn snr=30" if waveforms else None
            rows = [row for p in wanted for row in measure.short_mails(p, channel)]
            print(measure.short_table(rows))
        else:
            click.echo(f"short mails left out: {why}", err=True)
        found = []
        for protocol in wanted if mails else ():
            with Progress(f"{protocol}, bad link") as progress:
                found.append(measure.bad_link(protocol, mails, kills, seed,
                                              progress=progress.share))
    except RuntimeError as error:
        raise fail(str(error)) from None
    if found:
        print("\n" + measure.bad_table(found))
    if any(row.lost or row.twice or row.altered for row in found):
        raise fail("not every mail has arrived once and whole")


def _bulk(protocols: Iterable[str], rates: Iterable[int], seed: int) -> None:
    from ..programs import bulk_mail as measure
    rows = []
    try:
        for protocol, rate, load in itertools.product(protocols, rates, measure.LOADS):
            with Progress(f"{protocol}, {rate} bit/s, {load[0]} mails") as progress:
                rows.append(measure.run(protocol, rate, *load, seed, progress.share))
    except RuntimeError as error:
        raise fail(str(error)) from None
    finally:
        print(measure.table(rows))


@click.command("xmpp")
@click.option("--version", default="rcop", show_default=True,
              type=click.Choice(xmpp_tables.VERSIONS), help="Version of XEP-0365.")
@click.option("--count", default=10, show_default=True, type=click.IntRange(1, 1000),
              help="Later round trips of each row.")
@click.option("--messages", default=300, show_default=True, type=click.IntRange(0, 100000),
              help="Messages over the bad link. 0: leave that part out.")
@click.option("--kills", default=20, show_default=True, type=click.IntRange(0, 1000),
              help="How often a gateway or a server is killed meanwhile.")
@click.option("--seed", default=1, show_default=True)
def xmpp_(version: str, count: int, messages: int, kills: int, seed: int) -> None:
    """Chat between two Prosody with stock clients, on emulated modems, beside published figures.

    Round trips by rate, payload and typing delay, throughput, octets beyond the text. Then
    messages over a link that is down 30 % of the time. As root, Prosody runs as the user prosody.
    Takes about ten minutes. Fails if a target is missed, or if a message is lost or arrives twice.
    """
    from ..programs import prosody
    if why := prosody.why_not():
        raise fail(why)
    from ..programs import chat
    try:
        found = list(watched(chat.rows(count, version), chat.ROWS,
                             lambda row: f"{row.what}: {row.measured:.1f} {row.unit}"))
        bad = chat.bad_link(messages, kills, seed, {"version": version}) if messages else None
    except RuntimeError as error:
        raise fail(str(error)) from None
    print(chat.table(found))
    if bad is not None:
        print(f"\n{bad.messages} messages, link down {100 * bad.down_share:.0f} %, {bad.kills} "
              f"kills: {bad.once} once, {bad.lost} lost, {bad.twice} twice, "
              f"{bad.again} handed over again after a kill, "
              f"{'in order' if bad.in_order else 'not in order'}")
    if bad is not None and bad.once + bad.again < bad.messages:
        raise fail("not every message has arrived once")
    if any(row.is_missed for row in found):
        raise fail("not every target was reached")


@click.command("web")
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False))
@click.option("--article", "articles", multiple=True, metavar="NAME",
              help="Stored page NAME.html as an article; may be repeated.")
@click.option("--news", multiple=True, metavar="NAME",
              help="Stored page NAME.html of a news or company site; may be repeated.")
@click.option("--rate", "rates", multiple=True, type=click.Choice(["9600", "57600", "240000"]),
              help="Only this rate, bit/s; may be repeated.")
@click.option("--recorded", metavar="FOLDER", type=click.Path(exists=True, file_okay=False),
              help="With real.csv of the published tables, to show the loads as they are as well.")
def web_(folder: Optional[str], articles: Tuple[str, ...], news: Tuple[str, ...],
         rates: Tuple[str, ...], recorded: Optional[str]) -> None:
    """Stored web pages through the web door, on emulated modems.

    FOLDER holds HTML documents NAME.html, as hf web store makes them. All of them are reduced, and
    their text is compared by trafilatura, if that is installed. The pages named are loaded.
    Pictures that are not stored are replaced by generated ones.

    Without FOLDER: the made-up site of the published tables, beside each of their cells.
    """
    from ..programs import door
    chosen = tuple(map(int, rates)) or (9600, 57600, 240000)
    try:
        if folder is None:
            with Progress("loads", lines=True):
                rows = list(door.published_site(recorded, chosen))
        else:
            rows = _stored_pages(folder, list(articles), list(news), chosen)
    except RuntimeError as error:
        raise fail(str(error)) from None
    print(door.table(rows))


def _stored_pages(folder: str, articles: List[str], news: List[str], rates: Tuple[int, ...]
                  ) -> List[Any]:
    from ..programs import door
    found = door.names(folder)
    if not found:
        raise click.UsageError(f"{folder}: no *.html of 30 kB or more")
    for name in (*articles, *news):
        if name not in found:
            raise click.UsageError(f"{name}: not in {folder}; there are {', '.join(found[:9])}")
    try:
        judge: Any = importlib.import_module("trafilatura")
    except ImportError:
        judge = None
        click.echo("text is not compared: trafilatura is missing (pip)", err=True)
    with Progress("pages", len(found)) as progress:
        pages = []
        for name in found:
            pages.append(door.reduced(folder, name, judge))
            progress.at(len(pages))
    rows = list(door.text_rows(pages))
    with Progress("loads", lines=True):
        rows += door.loads(folder, {"article": articles, "news": news}, rates)
        median = sorted(pages, key=lambda page: page.all)[len(pages) // 2].name
        for first in [*articles, *news][:1]:
            rows += door.later_visits(folder, first)
            rows += door.slow_text(folder, median)
    return rows


@click.command("site")
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False))
@click.option("--pages", type=click.IntRange(1, 1000), default=45, show_default=True,
              help="With FOLDER: this many pages, the first by name.")
@click.option("--rate", "rates", multiple=True, type=click.Choice(["9600", "1200"]),
              help="Only this rate, bit/s; may be repeated.")
def site_(folder: Optional[str], pages: int, rates: Tuple[str, ...]) -> None:
    """The seconds that hf web check tells, beside those of a load on emulated modems.

    With FOLDER of stored pages: their text through the door. Without: made-up sites as they are
    through HF-PEP, loaded by Chromium.
    """
    from ..programs import door, site_check
    chosen = tuple(map(int, rates)) or (9600, 1200)
    rows = []
    with Progress("loads", lines=True):
        try:
            for row in site_check.as_it_is(chosen) if folder is None else \
                    site_check.texts(folder, door.names(folder)[:pages], chosen):
                rows.append(row)
        except RuntimeError as error:
            raise fail(str(error)) from None
    print(door.table(rows))


@click.command("ship")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--users", "count", type=click.IntRange(2, 8), default=5, show_default=True,
              help="Users, a stored page for each: the first by name.")
def ship_(folder: str, count: int) -> None:
    """Users of one web door at 9600 bit/s on emulated modems: a page for each at once, and then
    the first page for all.

    FOLDER holds HTML documents NAME.html, as hf web store makes them.
    """
    from ..programs import door, ship
    with Progress("loads", lines=True):
        try:
            rows = list(ship.users(folder, door.names(folder)[:count]))
        except RuntimeError as error:
            raise fail(str(error)) from None
    print(door.table(rows))


@click.command("interop")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
def interop_(folder: str) -> None:
    """Foreign programs and recordings beside ours.

    FOLDER holds clones of their repositories, named as these: pennington_m110a_demod,
    pdn-soundmodem, rds-5066. Those that are missing are left out. Ends with status 1 if something
    does not work.
    """
    from ..programs import interop
    cells = []
    with Progress("cells", lines=True):
        cells += interop.matrix(os.path.abspath(folder))
    print(interop.table(cells))
    if any(cell.good is False for cell in cells):
        raise fail("not every cell works")


COMMANDS = [nemesis, mail_, xmpp_, web_, site_, ship_, interop_]
