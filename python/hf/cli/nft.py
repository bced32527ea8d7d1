# SPDX-License-Identifier: GPL-3.0-or-later
"""hf nft: the rules that bring TCP connections to HF-PEP."""
import subprocess
from typing import List, Optional, Tuple

import click

from .. import nftables
from . import fail


def run(command: List[str], text: Optional[str] = None) -> None:
    """One command; raises if it fails."""
    try:
        result = subprocess.run(command, input=text, capture_output=True, text=True)
    except OSError as error:
        raise fail(f"{command[0]}: {error.strerror}") from None
    if result.returncode != 0:
        raise fail(f"{' '.join(command)}: {result.stderr.strip()}")


@click.command()
@click.argument("action", type=click.Choice(["print", "add", "delete"]))
@click.option("--way", type=click.Choice(["redirect", "tproxy"]), default="redirect",
              show_default=True, help="As the listener of HF-PEP.")
@click.option("--port", default=3128, show_default=True, help="Of the listener.")
@click.option("--to", "prefixes", multiple=True, metavar="PREFIX", required=True,
              help="Destinations, IPv4 or IPv6; may be repeated.")
@click.option("--dport", "ports", multiple=True, metavar="PORT[-LAST]",
              help="Only these ports of the destination; may be repeated.")
@click.option("--own/--no-own", default=True, help="Connections of this host itself.")
@click.option("--forwarded/--no-forwarded", default=True,
              help="Connections that this host routes for others.")
def command(action: str, way: str, port: int, prefixes: Tuple[str, ...],
            ports: Tuple[str, ...], own: bool, forwarded: bool) -> None:
    """Print, set up or remove the rules that bring TCP connections to HF-PEP.

    Everything is in the nftables table inet hf_pep and, for tproxy, a rule and a route of
    routing table 5066. Adding again replaces what was there; delete takes the same options.
    """
    try:
        rules = nftables.Rules(way, port, list(prefixes), list(ports), own, forwarded)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if action == "print":
        print(rules.text(), end="")
        for line in rules.set_up():
            print("#", " ".join(line))
        return
    if action == "add":
        run(["nft", "-f", "-"], rules.text())
        for line in rules.set_up():
            run(line)
    else:
        for line in rules.take_down():
            run(line)
