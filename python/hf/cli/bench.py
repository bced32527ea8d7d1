# SPDX-License-Identifier: GPL-3.0-or-later
"""hf bench: measurements that print each figure beside its target."""
import click


@click.group()
def command() -> None:
    """Measure, and print each figure beside its target. Tables are Markdown, on stdout."""


@command.command()
@click.option("--quick", is_flag=True, help="Every tenth of the octets.")
def link(quick: bool) -> None:
    """Use of the data rate by the data link, beside published figures and the limit."""
    from ..measure import link as measure
    rows = []
    for case in measure.CASES:
        if quick:
            case = case._replace(octets=case.octets // 10)
        click.echo(f"{case.mode}, {case.octets} octets in U_PDUs of {case.u_pdu}", err=True)
        rows.append(measure.measure(case))
    print(measure.table(rows))


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
