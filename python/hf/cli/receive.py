# SPDX-License-Identifier: GPL-3.0-or-later
"""hf receive: receives files by BFTP over a SIS server into a folder."""
from contextlib import ExitStack
import signal
import time
from typing import Optional

import click

from .. import sis
from ..plain_text import plain
from ..sis import files
from ..sis import s5066
from ..system import output
from . import fail
from ._output import checked
from ._server import server_option


def _refused(source: str, octets: int, why: str) -> None:
    click.echo(f"file of {octets} octets from {source}: not written: {why}", err=True)


@click.command()
@click.argument("folder", metavar="DIR",
                type=click.Path(file_okay=False))
@click.option("--count", default=None, type=click.IntRange(1),
              help="End after this number of files.")
@click.option("--timeout", default=None, type=click.FloatRange(0),
              help="End after this time, s.")
@click.option("--most", "max_octets", default=1_000_000_000, show_default=True,
              type=click.IntRange(1), metavar="OCTETS",
              help="Octets of all files together. Files beyond them are not written, "
                   "and their sender is notified. A file counts as 4096 octets or more.")
@server_option
def command(folder: str, count: Optional[int], timeout: Optional[float], max_octets: int,
            server: str) -> None:
    """Receive files by RCOP or UDOP into DIR until Ctrl-C. DIR is created if missing.

    Files by RCOP are acknowledged (FRAPv2) after they are written. A file that cannot be written
    is refused, and the next ones are received. Names cannot lead out of the folder, and existing
    files are never replaced. With --count the exit status is 0 only if that number of files
    arrived, with --timeout only if at least one arrived.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with checked():
        output.make_folder(folder)
    begin = time.monotonic()
    received = 0
    receivers, room = [], files.Room(max_octets)
    try:
        with ExitStack() as stack:
            for sap, mode in ((s5066.SAP_RCOP, "arq"), (s5066.SAP_UDOP, "non_arq")):
                client = stack.enter_context(sis.Client(server))
                client.bind(sap, 0, sis.service(mode))
                receivers.append(files.Receiver(client, folder, room, _refused))
            click.echo(f"bound SAPs {s5066.SAP_RCOP} and {s5066.SAP_UDOP} at {server}", err=True)
            while (count is None or received < count) and \
                    (timeout is None or time.monotonic() - begin < timeout):
                for r in receivers:
                    file = r.take(r.client.next(timeout=0.05))
                    if file is not None:
                        received += 1
                        print(f"{plain(file.path)} {file.octets} octets from {file.source}",
                              flush=True)
            # The last receipt may not be on the air yet. The node sends it without this client.
    except KeyboardInterrupt:
        pass
    except (sis.SisError, OSError) as error:
        raise fail(str(error)) from None
    for r in receivers:
        r.finish()
    if received < (count or (1 if timeout is not None else 0)):
        raise fail(f"{received} files received")
