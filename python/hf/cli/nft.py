# SPDX-License-Identifier: GPL-3.0-or-later
"""hf nft: rules that divert TCP connections to HF-PEP."""
import subprocess
from typing import List, Optional, Tuple

import click

from ..system import nftables
from . import fail


def run(command: List[str], text: Optional[str] = None) -> None:
    """Run a command. Raises if it fails."""
    try:
        result = subprocess.run(command, input=text, capture_output=True, text=True)
    except OSError as error:
        raise fail(f"{command[0]}: {error.strerror}") from None
    if result.returncode != 0:
        raise fail(f"{' '.join(command)}: {result.stderr.strip()}")


@click.command()
@click.argument("action", type=click.Choice(["print", "add", "delete"]))
@click.option("--way", type=click.Choice(["redirect", "tproxy"]), default="redirect",
              show_default=True, help="Type of HF-PEP's listener.")
@click.option("--port", default=3128, show_default=True, help="Port of HF-PEP's listener.")
@click.option("--to", "prefixes", multiple=True, metavar="PREFIX", required=True,
              help="Destinations, IPv4 or IPv6. May be repeated.")
@click.option("--dport", "ports", multiple=True, metavar="PORT[-LAST]",
              help="Only these destination ports. May be repeated.")
@click.option("--own/--no-own", default=True, help="Include connections of this host itself.")
@click.option("--forwarded/--no-forwarded", default=True,
              help="Include connections that this host routes for others.")
def command(action: str, way: str, port: int, prefixes: Tuple[str, ...],
            ports: Tuple[str, ...], own: bool, forwarded: bool) -> None:
    """Print, add or delete the rules that divert TCP connections to HF-PEP.

    The rules are in the nftables table inet hf_pep. For tproxy there is also a rule and a route
    of routing table 5066. add replaces earlier rules. delete takes the same options.
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
