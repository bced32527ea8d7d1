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
@click.option("--quick", is_flag=True, help="Leave out transfers of more than 100 kB.")
def papers(wanted: Tuple[str, ...], quick: bool) -> None:
    """Every cell of the published tables that the waveforms can do, beside ours.

    HF-PEP by size and speed and with bit errors, pings through the IP client and over the
    data link: on the event simulator, hours of station time in seconds.
    """
    from ..measure import papers as measure
    rows = []
    left_out = 0
    for cell in measure.cells():
        if wanted and not any(w.lower() in cell.table.lower() for w in wanted):
            continue
        if not measure.possible(cell):
            left_out += 1
            continue
        if quick and cell.octets > 100_000:
            continue
        rows.append(measure.measure(cell))
    if not rows:
        raise click.UsageError(f"no table matches {', '.join(wanted)}; there are "
                               + ", ".join(measure.TITLES))
    print(measure.report(rows))
    if left_out:
        print(f"{left_out} cells at data rates without a waveform here are left out.")


@command.command()
def compression() -> None:
    """What DEFLATE gains through HF-PEP at 1200 bit/s: HTML, JSON, text, compressed data."""
    from ..measure import compression as measure
    print(measure.table([measure.measure(kind, data)
                         for kind, data in measure.contents().items()]))


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
