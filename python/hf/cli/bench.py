# SPDX-License-Identifier: GPL-3.0-or-later
"""hf bench: measurements that print each figure beside its target."""
import os
from typing import Optional, Tuple

import click

from . import fail


@click.group()
def command() -> None:
    """Measure, and print each figure beside its target. Tables are Markdown, on stdout."""


@command.command()
@click.option("--quick", is_flag=True, help="A tenth of the octets and hours.")
def link(quick: bool) -> None:
    """The data link on the event simulator, beside published figures, targets and limits.

    Bulk transfer by speed, U_PDU size and bit errors, without ARQ, two ways, with adaptive rate
    over fading channels, several stations on a channel, pings, and the simulator's own speed.
    What missed its target comes first.
    """
    from ..measure import link as measure
    rows = []
    for row in measure.measure(quick):
        click.echo(f"{row.section}: {row.what}", err=True)
        rows.append(row)
    print(measure.report(rows))


@command.command()
@click.option("--hours", default=1.0, show_default=True, help="Of station time.")
@click.option("--seed", default=1, show_default=True)
@click.option("--out", type=click.Path(exists=True, file_okay=False), metavar="FOLDER",
              help="Keep d_pdus.pcap and sis.pcap here.")
def tshark(hours: float, seed: int, out: Optional[str]) -> None:
    """Traffic of all kinds between simulated stations, judged by tshark.

    Fails if tshark finds a malformed frame or a wrong CRC.
    """
    import tempfile
    from ..measure import dissect
    try:
        with tempfile.TemporaryDirectory() as folder:
            result = dissect.run(out or folder, hours, seed)
    except FileNotFoundError:
        raise fail("tshark is not there: install it (Debian: tshark)") from None
    except ValueError as error:
        raise fail(str(error)) from None
    print(dissect.report(result))
    if not result.clean:
        raise fail("tshark found errors")


@command.command()
@click.option("--seconds", default=60.0, show_default=True, help="Of signal for each mode.")
def speed(seconds: float) -> None:
    """Times real time of modulator, receiver and of two whole stations in lock step."""
    from ..measure import speed as measure
    rows = []
    for mode in measure.MODES:
        click.echo(mode, err=True)
        rows.append(measure.measure(mode, seconds))
    print(measure.table(rows))


@command.command()
@click.option("--table", "wanted", multiple=True, metavar="WORDS",
              help="Only tables whose name contains this; may be repeated.")
@click.option("--rate", "rates", multiple=True, type=int, metavar="BIT/S",
              help="Only this data rate; may be repeated.")
@click.option("--quick", is_flag=True, help="Leave out transfers of more than 100 kB.")
@click.option("--real", is_flag=True,
              help="Kernel TCP, XMPP library and browser in namespaces, in real time where it "
              "matters: needs root, takes an hour.")
@click.option("--long", "with_long", is_flag=True,
              help="With --real: also cells of more than 20 minutes.")
@click.option("--out", metavar="FOLDER",
              help="Write the report (papers.md) with pictures; keeps what --real reached "
              "(real.csv) and shows it again.")
def papers(wanted: Tuple[str, ...], rates: Tuple[int, ...], quick: bool, real: bool,
           with_long: bool, out: Optional[str]) -> None:
    """Every cell of the published tables beside ours, misses first.

    STANAG 5066, IP client, HF-PEP and DNS on the event simulator, hours of station time in
    seconds. With --real TCP through the IP client, XMPP and web, and some of HF-PEP on
    waveforms, with the kernel and programs of this host.
    """
    from ..measure import papers as measure
    from ..measure import papers_real
    cells = [c for c in measure.cells()
             if (not wanted or any(w.lower() in c.table.lower() for w in wanted))
             and (not rates or c.bit_rate in rates) and not (quick and c.octets > 100_000)]
    if not cells:
        raise click.UsageError(f"no cell matches {', '.join(wanted)}; there are "
                               + ", ".join(measure.TITLES))
    rows = [measure.measure(c) for c in cells if c.table in measure.MEASURES]
    rows += papers_real.rows(cells, real, with_long, out, lambda t: click.echo(t, err=True))
    below = {"HF-PEP BER": measure.following_transfers(cells), **papers_real.pictures(out)}
    text = measure.report(rows, below)
    print(text)
    if out:
        papers_real.write(out, text)


@command.command()
def compression() -> None:
    """What DEFLATE gains through HF-PEP at 1200 bit/s: HTML, JSON, text, heads of HTTP, XMPP,
    and data that does not shrink."""
    from ..measure import compression as measure
    print(measure.table([measure.measure(content) for content in measure.contents()]))


@command.command()
@click.argument("path", metavar="FILE", type=click.Path(dir_okay=False))
@click.option("--mode", "modes", multiple=True, metavar="MODE",
              help="May be repeated.  [default: every rate, short and long interleaver]")
@click.option("--channel", "channels", multiple=True, metavar="SPEC",
              help="Without its snr=; may be repeated.  [default: awgn, moderate, poor]")
@click.option("--trials", "store_path", type=click.Path(dir_okay=False), metavar="CSV",
              help="Keep every transmission here, and go on where an earlier run stopped.")
def curves(path: str, modes: Tuple[str, ...], channels: Tuple[str, ...],
           store_path: Optional[str]) -> None:
    """Block errors of the receiver over SNR, as CSV: what hf sim calls curves.

    Each sweep finds its own SNR, every 2 dB from no bad block in a hundred to nearly all.
    """
    from concurrent.futures import ThreadPoolExecutor
    from ..measure import ber, block_errors as measure
    known = measure.modes()
    if set(modes) - set(known):
        raise click.UsageError(f"mode {modes[0]!r}: allowed are {', '.join(known)}")
    width = os.cpu_count() or 1
    try:
        store = ber.Store(store_path)
        with ThreadPoolExecutor(width) as executor:
            def run(point: ber.Point, stop: ber.Stop) -> ber.Result:
                click.echo(f"{point.mode} {point.channel}", err=True)
                return ber.measure(point, stop, executor, width, store)
            measure.write([p for c in channels or measure.CHANNELS for m in modes or known
                           for p in measure.sweep(m, c, run)], path)
        store.close()
    except (OSError, ValueError) as error:
        raise fail(str(error)) from None
