# SPDX-License-Identifier: GPL-3.0-or-later
"""hf tcp: the TCP test of the published measurements, through whatever lies between."""
import csv
import socket
import sys
from typing import Dict, List, Optional, Tuple

import click

from ..measure import tcp as measure
from . import fail


@click.group()
def command() -> None:
    """Test TCP over HF: connect, send octets, wait for a short confirmation, close."""


@command.command()
@click.option("--address", default="127.0.0.1", show_default=True, help="To listen on.")
@click.option("--port", default=5050, show_default=True, type=click.IntRange(0, 65535),
              help="0: a free one.")
@click.option("--limit", default=3600.0, show_default=True, metavar="S",
              help="Give a transfer up after so many seconds without octets.")
def serve(address: str, port: int, limit: float) -> None:
    """The far side: takes transfers and confirms them, until interrupted."""
    try:
        listener = socket.create_server((address, port),
                                        family=socket.AF_INET6 if ":" in address
                                        else socket.AF_INET)
    except OSError as error:
        raise fail(f"cannot listen on {address} port {port}: {error}") from None

    def report(peer: Tuple[str, int], times: Optional[Dict[str, float]], why: str) -> None:
        if times is None:
            click.echo(f"{peer[0]} port {peer[1]}: failed: {why}", err=True)
        else:
            click.echo(f"{peer[0]} port {peer[1]}: {times['octets']:.0f} octets, first after "
                       f"{times['first_s']:.2f} s, last after {times['last_s']:.2f} s", err=True)

    click.echo(f"listening on {address} port {listener.getsockname()[1]}", err=True)
    with listener:
        measure.serve(listener, limit, report)


@command.command()
@click.argument("host")
@click.option("--port", default=5050, show_default=True, type=click.IntRange(1, 65535))
@click.option("--size", "sizes", multiple=True, default=(1.0,), show_default=True, metavar="KB",
              type=click.FloatRange(0.001, 1e6), help="1 kB is 1000 octets; may be repeated.")
@click.option("--bit-rate", type=click.FloatRange(1), metavar="BIT/S",
              help="Of the link: prints the use of it.")
@click.option("--limit", default=3600.0, show_default=True, metavar="S",
              help="Of each step of a transfer.")
@click.option("--csv", "csv_path", metavar="FILE", help="The octets over time, for each size.")
@click.option("--plot", metavar="FILE.png", help="The same as a picture.")
def send(host: str, port: int, sizes: Tuple[float, ...], bit_rate: Optional[float],
         limit: float, csv_path: Optional[str], plot: Optional[str]) -> None:
    """Send transfers to hf tcp serve at HOST, one after the other; a Markdown table.

    Through a proxy that accepts early, "accepted" says nothing about the far side; "total"
    always does.
    """
    transfers: List[measure.Times] = []
    print("| kB | accepted s | handed over s | total s | close s | use |")
    print("|---|---|---|---|---|---|")
    for size in sizes:
        octets = max(int(round(size * 1000)), 1)
        try:
            t = measure.send(host, port, octets, limit)
        except OSError as error:
            raise fail(f"{octets} octets to {host} port {port}: {error}") from None
        transfers.append(t)
        use = f"{t.utilisation(bit_rate):.1f} %" if bit_rate else "-"
        print(f"| {size:g} | {t.accepted_s:.2f} | {t.handed_over_s:.2f} | {t.total_s:.2f} | "
              f"{t.close_s:.2f} | {use} |")
        sys.stdout.flush()
    try:
        if csv_path:
            with open(csv_path, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(["octets", "time_s", "octets_taken"])
                for t in transfers:
                    writer.writerows((t.octets, f"{s.time_s:.4f}", s.octets)
                                     for s in t.samples)
        if plot:
            measure.plot(plot, transfers, bit_rate)
    except OSError as error:
        raise fail(f"{error.filename}: {error.strerror}") from None
