# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab tcp: the TCP test of the published measurements, over any network."""
import socket
import sys
import threading
from typing import List, Optional, Tuple

import click

from gnuradio.hf.cli import fail
from gnuradio.hf.cli._output import checked, force_option
from gnuradio.hf.system import output
from ..programs import tcp as measure


@click.group()
def command() -> None:
    """Test TCP over HF: connect, send octets, wait for a short confirmation, close."""


SERIES_COLUMNS = ["time_s", "octets", "latency_s", "utilisation_percent"]


def _write_series(path: str, received: measure.Received, bit_rate: Optional[float]) -> None:
    output.write_csv(path, SERIES_COLUMNS,
                     ([f"{s.time_s:.4f}", s.octets, f"{s.latency_s:.4f}",
                       f"{s.utilisation(bit_rate):.2f}" if bit_rate else ""]
                      for s in received.samples))


def _check_series(csv_path: Optional[str], plot: Optional[str], number: int,
                  force: bool) -> None:
    if csv_path:
        output.check(output.numbered(csv_path, number), force=force,
                     first_line=output.first_line(SERIES_COLUMNS))
    if plot:
        output.check_picture(output.numbered(plot, number),
                             [output.numbered(csv_path, number)] if csv_path else [], force)


@command.command()
@click.option("--address", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=5050, show_default=True, type=click.IntRange(0, 65535),
              help="Port to listen on. 0: any free port.")
@click.option("--limit", default=3600.0, show_default=True, metavar="S",
              help="Give up a transfer after this time without octets.")
@click.option("--bit-rate", type=click.FloatRange(1), metavar="BIT/S",
              help="Bit rate of the link, to compute its utilisation.")
@click.option("--csv", "csv_path", metavar="FILE",
              help="Write octets, latency and utilisation over time. Later transfers go to FILE-2 "
              "and so on.")
@click.option("--plot", metavar="FILE.png", help="Draw the same values.")
@force_option
def serve(address: str, port: int, limit: float, bit_rate: Optional[float],
          csv_path: Optional[str], plot: Optional[str], force: bool) -> None:
    """The far side: receives transfers and confirms them, until interrupted.

    Connect, total and latency count from the near side's timestamps in the octets. The clocks of
    the two hosts must agree.
    """
    with checked():
        _check_series(csv_path, plot, 1, force)
    try:
        listener = socket.create_server((address, port),
                                        family=socket.AF_INET6 if ":" in address
                                        else socket.AF_INET)
    except OSError as error:
        raise fail(f"cannot listen on {address} port {port}: {error}") from None
    count = 0
    lock = threading.Lock()

    def report(peer: Tuple[str, int], r: Optional[measure.Received], why: str) -> None:
        nonlocal count
        with lock:
            if r is None:
                click.echo(f"{peer[0]} port {peer[1]}: failed: {why}", err=True)
                return
            count += 1
            try:
                _check_series(csv_path, plot, count, force)
                if csv_path:
                    _write_series(output.numbered(csv_path, count), r, bit_rate)
                if plot:
                    measure.plot(output.numbered(plot, count),
                                 f"{r.octets / 1000:g} kB from {peer[0]}",
                                 measure.thinned(r.samples), bit_rate)
            except output.OutputError as error:
                click.echo(str(error), err=True)
            click.echo(f"{peer[0]} port {peer[1]}: {r.octets} octets, connect "
                       f"{r.connect_s:.2f} s, total {r.total_s:.2f} s, latency of the last "
                       f"{r.latency_s:.2f} s, close {r.close_s:.2f} s", err=True)

    click.echo(f"listening on {address} port {listener.getsockname()[1]}", err=True)
    with listener:
        measure.serve(listener, limit, report)


@command.command()
@click.argument("host")
@click.option("--port", default=5050, show_default=True, type=click.IntRange(1, 65535))
@click.option("--size", "sizes", multiple=True, default=(1.0,), show_default=True, metavar="KB",
              type=click.FloatRange(0.1, 1e6),
              help="Size of a transfer, 1 kB is 1000 octets. May be repeated.")
@click.option("--bit-rate", type=click.FloatRange(1), metavar="BIT/S",
              help="Bit rate of the link, to compute its utilisation.")
@click.option("--limit", default=3600.0, show_default=True, metavar="S",
              help="Timeout of each step of a transfer.")
@click.option("--congestion", default="", metavar="NAME",
              help="Congestion control, for example cubic or bbr.  [default: that of this host]")
@click.option("--csv", "csv_path", metavar="FILE", help="Write the table as CSV.")
@force_option
def send(host: str, port: int, sizes: Tuple[float, ...], bit_rate: Optional[float],
         limit: float, congestion: str, csv_path: Optional[str], force: bool) -> None:
    """Send transfers to hf-lab tcp serve at HOST, one after the other, and print a Markdown table.

    Seconds from the SYN: connect (accept() at the far side), total (last octet at the far side),
    confirmed (its answer at this side). latency: of the last octets. close: from close() to the
    far side's FIN. The octets cannot be compressed.
    """
    if csv_path:
        with checked():
            output.check(csv_path, force=force,
                         first_line=output.first_line(measure.Times._fields))
    transfers: List[measure.Times] = []
    print("| kB | connect s | total s | use | latency s | confirmed s | close s |")
    print("|---|---|---|---|---|---|---|")
    for size in sizes:
        octets = int(round(size * 1000))
        try:
            t = measure.send(host, port, octets, limit, congestion)
        except OSError as error:
            raise fail(f"{octets} octets to {host} port {port}: {error}") from None
        transfers.append(t)
        use = f"{t.utilisation(bit_rate):.1f} %" if bit_rate else "-"
        print(f"| {size:g} | {t.connect_s:.2f} | {t.total_s:.2f} | {use} | {t.latency_s:.2f} | "
              f"{t.confirmed_s:.2f} | {t.close_s:.2f} |")
        sys.stdout.flush()
    if csv_path:
        output.write_csv(csv_path, measure.Times._fields,
                         ([t.octets, *(f"{x:.4f}" for x in t[1:])] for t in transfers))
