# SPDX-License-Identifier: GPL-3.0-or-later
"""hf mail: the queues of a mail gateway, and the gateway beside another maker's node."""
import json
import os
import sys
import time
from typing import Any, Dict, Iterator, Tuple

import click

from .. import station
from ..mail import Spool, SpoolError
from ..mail.service import start_gateway
from ..mail.spool import QUEUES, STATES, Envelope
from ..plain_text import plain
from . import fail
from ._server import check_server
from .run import end_on_signals


def settings_of(path: str) -> Tuple[station.Mail, str]:
    """The table [mail] and the address of a station file."""
    try:
        found = station.load(path)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if found.mail is None:
        raise click.UsageError(f"{path}: has no table [mail]")
    return found.mail, found.address


def spool_of(place: str) -> Spool:
    """The spool of a station file, or of a folder."""
    folder = place if os.path.isdir(place) else settings_of(place)[0].spool
    if not os.path.isdir(os.path.join(folder, "out")):
        raise fail(f"spool {folder}: no gateway has used it yet")
    try:
        return Spool(folder)
    except SpoolError as error:
        raise fail(str(error)) from None


def mails(spool: Spool) -> Iterator[Tuple[str, Envelope]]:
    """All mails with their queues."""
    for queue in QUEUES:
        for mail in spool.entries(queue):
            yield queue, mail


def age(seconds: float) -> str:
    """A duration for a person: 45 s, 12 min, 3 h, 2 d."""
    for unit, size, next_size in (("s", 1, 120), ("min", 60, 7200), ("h", 3600, 172800)):
        if seconds < next_size:
            return f"{max(seconds, 0) / size:.0f} {unit}"
    return f"{seconds / 86400:.0f} d"


@click.group()
def command() -> None:
    """The mail gateway: its queues, and the gateway itself beside another maker's node.

    hf run starts the gateway of a station file with a table [mail]. PLACE is that file, or the
    folder of its spool.
    """


place_argument = click.argument("place", metavar="PLACE", type=click.Path(exists=True))
ids_argument = click.argument("ids", metavar="ID...", nargs=-1, required=True)


@command.command("list")
@place_argument
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each mail.")
def list_(place: str, as_json: bool) -> None:
    """List the mails that wait: ID, queue, size, age, way, sender, recipients, last failure.

    The gateway need not run.
    """
    now = time.time()
    for queue, mail in mails(spool_of(place)):
        if as_json:
            print(json.dumps({"queue": queue, **vars(mail)}))
            continue
        way = f"{mail.protocol} {mail.node}".strip()
        print(plain(
            f"{mail.id}  {STATES[queue]}  {mail.octets} octets  {age(now - mail.arrived)}  "
            f"{way}  <{mail.sender}> to {', '.join(mail.recipients)}"
            + (f"  ({mail.error})" if mail.error else "")))


@command.command()
@place_argument
@ids_argument
def release(place: str, ids: Tuple[str, ...]) -> None:
    """Send mails that are held because they are longer than hold_octets.

    They go with the next session to their node. hf mail list shows what is held.
    """
    spool = spool_of(place)
    _each(ids, lambda id_: "" if spool.find(id_) == "held" and spool.release(id_)
          else "is not held")


@command.command()
@place_argument
@ids_argument
def drop(place: str, ids: Tuple[str, ...]) -> None:
    """Remove mails for good, from any queue. Their senders are not notified.

    A mail that is on the air at this moment may still arrive.
    """
    spool = spool_of(place)

    def one(id_: str) -> str:
        queue = spool.find(id_)
        return "" if queue is not None and spool.remove(queue, id_) else "is in no queue"

    _each(ids, one)


def _each(ids: Tuple[str, ...], action: Any) -> None:
    missed = [f"{id_} {why}" for id_ in ids if (why := action(id_))]
    if missed:
        raise fail("; ".join(missed))


@command.command()
@place_argument
def status(place: str) -> None:
    """Print whether the gateway runs, what waits, and which nodes it can reach.

    Counts and nodes are those of the last second of a running gateway, or of the last one.
    """
    spool = spool_of(place)
    print(f"gateway: {'running' if spool.has_gateway() else 'not running'}")
    for queue in QUEUES:
        found = spool.entries(queue)
        oldest = f", the oldest for {age(time.time() - found[0].arrived)}" if found else ""
        print(f"{STATES[queue]}: {len(found)} mails, {sum(m.octets for m in found)} octets"
              + oldest)
    seen = _last_status(spool.folder)
    for name, words in {**seen.get("nodes", {}), "mail server": seen.get("mail_server", "")
                        }.items():
        if words:
            print(plain(f"{name}: {words}"))
    counts = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n
                       in seen.get("counts", {}).items())
    if counts:
        print(f"since its start: {counts}")


def _last_status(folder: str) -> Dict[str, Any]:
    """State that the gateway wrote last."""
    try:
        with open(os.path.join(folder, "status.json"), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@command.command()
@click.argument("path", metavar="FILE.toml", type=click.Path(exists=True, dir_okay=False))
@click.option("--server", default="127.0.0.1:5066", show_default=True, metavar="HOST[:PORT]",
              help="SIS server of the node, ours or another maker's.")
@click.option("--quiet", is_flag=True, help="Print no log lines.")
def run(path: str, server: str, quiet: bool) -> None:
    """Run the gateway of a station file at any SIS server, until Ctrl-C.

    Only the address and the table [mail] of the file are used.
    """
    end_on_signals()
    settings, address = settings_of(path)
    try:
        check_server(server)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    try:
        gateway = start_gateway(settings, address, server, (lambda text: None) if quiet else
                                lambda text: click.echo(plain(text), err=True))
    except RuntimeError as error:
        raise fail(str(error)) from None
    try:
        click.echo(f"mail gateway {gateway.name}: SMTP on {settings.listen.rpartition(':')[0]} "
                   f"port {gateway.intake.bound_port()}, node at {server}", err=True)
        while True:
            time.sleep(1)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        gateway.close()
