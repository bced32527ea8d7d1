# SPDX-License-Identifier: GPL-3.0-or-later
"""hf send: sends a file by BFTP over a SIS server."""
import os
import time
from typing import Optional, Tuple

import click

from .. import sis
from ..sis import coded, files
from ..sis import s5066
from . import fail
from ._progress import Progress
from ._server import NODE, server_option


def _coded(server: str, node: str, name: str, data: bytes,
           how: Tuple[float, int, float]) -> None:
    """Send a file in coded blocks. how: arguments of coded.send()."""
    begin = time.monotonic()
    message = s5066.bftp_message(os.fsencode(name), data)
    if not message:
        raise fail(f"'{name}' with {len(data)} octets: allowed are names of up to 255 octets")
    try:
        with sis.Client(server) as client, Progress(f"to {node}", lines=True) as bar:
            client.bind(s5066.SAP_UDOP, 0, sis.service("non_arq"))
            octets = coded.send(client, node, message, *how,
                                progress=lambda g, n: bar.at(g / n, f"part {g} of {n}"))
    except (sis.SisError, ValueError, RuntimeError) as error:
        raise fail(str(error)) from None
    print(f"{len(data)} octets submitted as {octets} in {time.monotonic() - begin:.1f} s")


@click.command()
@click.argument("path", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.option("--to", "node", required=True, type=NODE,
              help="Far node, or a group (always by UDOP).")
@click.option("--name", default=None, help="Name at the far side.  [default: that of FILE]")
@click.option("--udop", is_flag=True, help="Send without acknowledgements, as for groups.")
@click.option("--repeats", default=None, type=click.IntRange(0, 15),
              help="UDOP: extra copies of each U_PDU; with --loss extra rounds for late joiners.  "
                   "[default: 1, with --loss 0]")
@click.option("--loss", default=None, type=click.FloatRange(0, 90), metavar="PERCENT",
              help="UDOP, to `hf receive` only: send coded blocks in transmissions of which this "
                   "share may be lost.")
@click.option("--interval", default=30.0, show_default=True, type=click.FloatRange(0),
              help="With --loss: time between transmissions, s.")
@click.option("--no-receipt", is_flag=True,
              help="Wait for the far node's confirmation only, not for the far client's.")
@click.option("--timeout", default=3600.0, show_default=True, type=click.FloatRange(0.1),
              help="Give up after this time without progress, s.")
@server_option
def command(path: str, node: str, name: Optional[str], udop: bool, repeats: Optional[int],
            loss: Optional[float], interval: float, no_receipt: bool, timeout: float,
            server: str) -> None:
    """Send a file to `hf receive`, or any other BFTP client, at a far node.

    The exit status is 0 only if the far client has acknowledged the whole file. By UDOP it is 0
    when all is submitted. Progress goes to standard error, a line every 15 s without a terminal.
    """
    udop = udop or s5066.address(node).is_group()
    with open(path, "rb") as file:
        data = file.read()
    name = name or os.path.basename(path)
    if loss is not None:
        if not udop:
            raise click.UsageError("--loss is for groups, or with --udop")
        _coded(server, node, name, data, (loss / 100, (repeats or 0) + 1, interval))
        return
    begin = time.monotonic()

    def stage(s: files.Sending) -> str:
        if udop or 0 < s.confirmed < s.octets:
            return os.path.basename(path)
        # The node reports only what is confirmed. Data may be on the air before that.
        return f"receipt of {node}" if s.confirmed else f"to {node}, nothing confirmed yet"

    try:
        with sis.Client(server) as client, Progress(
                f"to {node}, nothing confirmed yet", len(data), lines=True) as bar:
            client.bind(s5066.SAP_UDOP if udop else s5066.SAP_RCOP, 0,
                        sis.service("non_arq" if udop else "arq"))

            def progress(s: files.Sending) -> None:
                done = s.submitted if udop else s.confirmed
                bar.at(len(data) * done / max(s.octets, 1), stage(s))

            result = files.send(client, node, name, data, timeout, not no_receipt,
                                1 if repeats is None else repeats, progress)
    except (sis.SisError, ValueError) as error:
        raise fail(str(error)) from None
    seconds = time.monotonic() - begin
    if result.failure:
        raise fail(f"not received: {result.failure}; {result.confirmed} of {result.octets} "
                   f"octets were confirmed")
    how = "submitted" if udop else "received there" if result.receipt else "confirmed"
    print(f"{len(data)} octets {how} in {seconds:.1f} s")
