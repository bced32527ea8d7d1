# SPDX-License-Identifier: GPL-3.0-or-later
"""hf receive: files by BFTP over a SIS server, into a folder."""
from contextlib import ExitStack
import signal
import time
from typing import Optional

import click

from .. import files, output, sis
from ..sis import s5066
from . import fail
from ._output import checked
from ._server import server_options


@click.command()
@click.argument("folder", metavar="DIR",
                type=click.Path(file_okay=False))
@click.option("--count", default=None, type=click.IntRange(1), help="End after so many files.")
@click.option("--timeout", default=None, type=click.FloatRange(0),
              help="End after so many seconds.")
@server_options
def command(folder: str, count: Optional[int], timeout: Optional[float], server: str,
            rank: int) -> None:
    """Write files that come by RCOP or UDOP into a folder until Ctrl-C; it is made if missing.

    Those by RCOP are acknowledged (FRAPv2) when they are written. Names lose everything that
    leads out of the folder; files that exist are never replaced. With --count or --timeout
    the exit status is 0 only if so many files have come, or at least one.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with checked():
        output.make_folder(folder)
    begin = time.monotonic()
    received = 0
    try:
        with ExitStack() as stack:
            receivers = []
            for sap, mode in ((s5066.SAP_RCOP, "arq"), (s5066.SAP_UDOP, "non_arq")):
                client = stack.enter_context(sis.Client(server))
                client.bind(sap, rank, sis.service(mode))
                receivers.append(files.Receiver(client, folder))
            click.echo(f"bound SAPs {s5066.SAP_RCOP} and {s5066.SAP_UDOP} at {server}", err=True)
            while (count is None or received < count) and \
                    (timeout is None or time.monotonic() - begin < timeout):
                for r in receivers:
                    file = r.take(r.client.next(timeout=0.05))
                    if file is not None:
                        received += 1
                        print(f"{file.path} {file.octets} octets from {file.source}",
                              flush=True)
            # The receipt is not yet on the air; it does not need the client any more.
    except KeyboardInterrupt:
        pass
    except (sis.SisError, OSError) as error:
        raise fail(str(error)) from None
    if received < (count or (1 if timeout is not None else 0)):
        raise fail(f"{received} files received")
