# SPDX-License-Identifier: GPL-3.0-or-later
"""hf web: a page through the web door, as text in a terminal."""
import asyncio
import codecs
import http.client
import json
import os
from typing import TYPE_CHECKING, Optional, Tuple
from urllib.parse import urlencode

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..plain_text import plain
from ..system import output
from . import fail
from ._progress import Progress, duration

if TYPE_CHECKING:
    from ..web import check as checking

#: Longest silence of the door, s. It gives up earlier.
SILENCE_S = 3600.0


@click.group()
def command() -> None:
    """Web pages through the door of a running station.

    The door itself is for browsers. hf run starts it for a station file with a table [web].
    """


@command.command()
@click.argument("url", metavar="URL")
@click.option("--door", default="127.0.0.1:8090", show_default=True, metavar="HOST:PORT",
              help="Where the door listens.")
@click.option("--budget", type=click.IntRange(0, 999_999), default=0, show_default=True,
              metavar="KB", help="Stop after this much. 0: no limit.")
@click.option("-o", "--output", "path", metavar="FILE", type=click.Path(dir_okay=False),
              help="Fetch the document as it is into this file, instead of printing text.")
def get(url: str, door: str, budget: int, path: Optional[str]) -> None:
    """Print the text of a web page as it arrives with its links, and then what it cost.

    Status 1 if the page does not arrive whole.
    """
    host, _, port = door.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise click.UsageError(f"--door {door}: allowed is HOST:PORT")
    if path is not None:
        output.check(path)
    connection = http.client.HTTPConnection(host.strip("[]"), int(port), timeout=SILENCE_S)
    query = urlencode({"url": url, "mode": "file" if path else "text", "budget": budget,
                       "again": 1})
    try:
        connection.request("GET", f"/{'page' if path else 'plain'}?{query}",
                           headers={"X-HF-Door": "1"})
        answer = connection.getresponse()
        if answer.status != 200:
            raise fail(f"{url}: {answer.read().decode('utf-8', 'replace').strip()}")
        whole = _print(answer) if path is None else _save(answer, path)
        words = _cost(host, int(port), answer.headers.get("X-HF-View", ""))
    except OSError as error:
        raise fail(f"door {door}: {error.strerror or error}") from None
    finally:
        connection.close()
    if not whole:
        raise fail(f"{url}: {words}")
    click.echo(plain(words), err=True)


@command.command()
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@click.argument("folder", metavar="FOLDER", type=click.Path(exists=True, file_okay=False))
@click.option("--allow", multiple=True, metavar="PREFIX",
              help="Fetch from these addresses though they are not public; may be repeated.")
def store(urls: Tuple[str, ...], folder: str, allow: Tuple[str, ...]) -> None:
    """Store web pages with their pictures in a folder, by the internet, for hf-lab bench web.

    Nothing goes over HF. A page that is stored already is an error.
    """
    from ..web import fetch
    from ..web import store as stored
    with Progress("pages", len(urls)) as progress:
        for done, url in enumerate(urls):
            try:
                name = asyncio.run(stored.store(url, folder, list(allow)))
            except (fetch.FetchError, ValueError) as error:
                raise fail(f"{url}: {error}") from None
            except OSError as error:
                raise fail(f"{url}: {error.filename or folder}: {error.strerror}") from None
            print(os.path.join(folder, name + ".html"))
            progress.at(done + 1)


@command.command()
@click.argument("path", metavar="FILE", type=click.Path(dir_okay=False))
@click.argument("name")
@click.option("--remove", is_flag=True, help="Remove the user.")
def user(path: str, name: str, remove: bool) -> None:
    """Set the password of a user of the door, for users = FILE in [web] of a station file.

    The password is asked for twice. FILE has names and hashed passwords, for its owner only. A
    door that runs reads it when it is started again.
    """
    from ..web import users
    try:
        users.save(path, name, None if remove else click.prompt(
            "password", hide_input=True, confirmation_prompt=True, err=True))
    except users.UsersError as error:
        raise fail(str(error)) from None


@command.command()
@click.argument("where", metavar="URL|FILE")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
def check(where: str, as_json: bool) -> None:
    """Report whether a web page is made for HF, what in it costs most, and how long it takes.

    URL is fetched directly, FILE (or a folder) is read: nothing goes over HF. From private
    addresses only the host that URL names is fetched. Nine rules are published, the others are
    ours.

    Status 1 if a rule is broken.
    """
    from ..web import check as checking
    from ..web import fetch
    try:
        found = asyncio.run(checking.check(where))
    except (fetch.FetchError, ValueError) as error:
        raise fail(str(error)) from None
    if as_json:
        click.echo(json.dumps(found.json(), indent=2))
    else:
        _print_report(found)
    broken = sum(v.passed is False for v in found.verdicts)
    if broken:
        raise fail(f"{broken} of {len(found.verdicts)} rules are broken")


def _print_report(report: "checking.Report") -> None:
    from ..web.check import RATES, seconds_of
    console = Console()
    table = Table(title=Text(plain(report.url)), title_justify="left")
    for column in ("rule", "from", "met", "measured"):
        table.add_column(column, overflow="fold")
    for v in report.verdicts:
        table.add_row(v.rule, "paper" if v.published else "ours",
                      "-" if v.passed is None else "yes" if v.passed else "NO",
                      Text(plain(v.measured)))
    console.print(table)
    for v in report.verdicts:
        if v.passed is False:
            console.print(Text(f"{v.rule}: {v.reason}"))
    costs = Table(title="What costs most", title_justify="left")
    ways = Table(title="How long it takes", title_justify="left")
    for one, first in ((costs, "thing"), (ways, "way")):
        one.add_column(first, overflow="fold")
        for column in ("octets", *(f"{rate} bit/s" for rate in RATES)):
            one.add_column(column, justify="right")
    for cost in report.costs[:3]:
        costs.add_row(Text(plain(cost.what)), str(cost.octets),
                      *(duration(s) for s in seconds_of(cost).values()))
    for way in report.ways:
        ways.add_row(way.name, str(way.octets), *(duration(s) for s in way.seconds.values()))
    console.print(costs, ways)
    for url, why in report.missing[:10]:
        click.echo(plain(f"not counted: {url}: {why}"), err=True)
    if len(report.missing) > 10:
        click.echo(f"not counted: {len(report.missing) - 10} more", err=True)


def _print(answer: http.client.HTTPResponse) -> bool:
    """Print an answer as it arrives. False: it was cut."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    try:
        while True:
            data = answer.read1(65536)
            click.echo(plain(decoder.decode(data, not data), "\n\t"), nl=False)
            if not data:
                return True
    except http.client.HTTPException:
        return False


def _save(answer: http.client.HTTPResponse, path: str) -> bool:
    """Write an answer to a file as it arrives. False: it was cut, and there is no file."""
    try:
        with output.replacing(path) as file, Progress("kB", (answer.length or 0) / 1000) as shown:
            done = 0
            while data := answer.read1(16384):
                file.write(data)
                done += len(data)
                shown.at(done / 1000)
            if answer.length:
                raise http.client.IncompleteRead(b"")
        return True
    except http.client.HTTPException:
        return False


def _cost(host: str, port: int, view: str) -> str:
    """The door's own line on a page that has ended."""
    again = http.client.HTTPConnection(host.strip("[]"), port, timeout=10)
    try:
        again.request("GET", f"/view/{view}/state")
        return str(json.loads(again.getresponse().read())["words"])
    except (OSError, ValueError, KeyError, http.client.HTTPException):
        return "the page was cut"
    finally:
        again.close()
