# SPDX-License-Identifier: GPL-3.0-or-later
"""hf send: sends a file by BFTP over a SIS server."""
from dataclasses import dataclass
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


def _coded(client: sis.Client, node: str, name: str, data: bytes,
           how: Tuple[float, int, float]) -> None:
    """Send a file in coded blocks. how: arguments of coded.send()."""
    begin = time.monotonic()
    message = s5066.bftp_message(os.fsencode(name), data)
    if not message:
        raise ValueError(f"'{name}' with {len(data)} octets: allowed are names of up to 255 "
                         "octets")
    with Progress(f"to {node}", lines=True) as bar:
        octets = coded.send(client, node, message, *how,
                            progress=lambda g, n: bar.at(g / n, f"part {g} of {n}"))
    print(f"{name}: {len(data)} octets submitted as {octets} in "
          f"{time.monotonic() - begin:.1f} s", flush=True)


@dataclass(frozen=True)
class _Way:
    """How files go: to a node by UDOP or RCOP, with these arguments of files.send()."""

    node: str
    udop: bool
    receipt: bool
    repeats: int
    timeout_s: float

    def send(self, client: sis.Client, name: str, data: bytes) -> None:
        """Send one file and print the result. Raises ClickException if it was not received."""
        begin = time.monotonic()
        silent = f"to {self.node}, nothing confirmed yet"

        def stage(s: files.Sending) -> str:
            if self.udop or 0 < s.confirmed < s.octets:
                return name
            # The node reports only what is confirmed. Data may be on the air before that.
            return f"receipt of {self.node}" if s.confirmed else silent

        with Progress(silent, len(data), lines=True) as bar:
            def progress(s: files.Sending) -> None:
                done = s.submitted if self.udop else s.confirmed
                bar.at(len(data) * done / max(s.octets, 1), stage(s))

            result = files.send(client, self.node, name, data, self.timeout_s, self.receipt,
                                self.repeats, progress)
        if result.failure:
            raise fail(f"{name}: not received: {result.failure}; {result.confirmed} of "
                       f"{result.octets} octets were confirmed")
        how = "submitted" if self.udop else "received there" if result.receipt else "confirmed"
        print(f"{name}: {len(data)} octets {how} in {time.monotonic() - begin:.1f} s", flush=True)


@click.command()
@click.argument("paths", metavar="FILE...", nargs=-1, required=True,
                type=click.Path(exists=True, dir_okay=False))
@click.option("--to", "node", required=True, type=NODE,
              help="Far node, or a group (always by UDOP).")
@click.option("--name", default=None,
              help="Name of a single FILE at the far side.  [default: its own]")
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
def command(paths: Tuple[str, ...], node: str, name: Optional[str], udop: bool,
            repeats: Optional[int], loss: Optional[float], interval: float, no_receipt: bool,
            timeout: float, server: str) -> None:
    """Send files, one after the other, to `hf receive`, or any other BFTP client, at a far node.

    The exit status is 0 only if the far client has acknowledged every file whole. The first
    failure ends it. By UDOP the status is 0 when all is submitted. Progress goes to standard
    error, a line every 15 s without a terminal.
    """
    udop = udop or s5066.address(node).is_group()
    if name is not None and len(paths) > 1:
        raise click.UsageError("--name is for a single FILE")
    if loss is not None and not udop:
        raise click.UsageError("--loss is for groups, or with --udop")
    way = _Way(node, udop, not no_receipt, 1 if repeats is None else repeats, timeout)
    try:
        with sis.Client(server) as client:
            client.bind(s5066.SAP_UDOP if udop else s5066.SAP_RCOP, 0,
                        sis.service("non_arq" if udop else "arq"))
            for path in paths:
                with open(path, "rb") as file:
                    data = file.read()
                called = name or os.path.basename(path)
                if loss is not None:
                    _coded(client, node, called, data, (loss / 100, (repeats or 0) + 1, interval))
                else:
                    way.send(client, called, data)
    except (sis.SisError, ValueError, RuntimeError, OSError) as error:
        raise fail(str(error)) from None
