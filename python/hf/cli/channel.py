# SPDX-License-Identifier: GPL-3.0-or-later
"""hf channel: what the simulated channel does, measured."""
from typing import Optional

import click

from . import fail


@click.command()
@click.option("--validate", is_flag=True, required=True,
              help="Measure fading, noise, delays and print them beside what they should be.")
@click.option("--spread", type=click.FloatRange(0.05, 30), default=1.0, show_default=True,
              help="Two-sigma Doppler spread, Hz.")
@click.option("--hours", type=click.FloatRange(0.01, 100), default=3.0, show_default=True,
              help="Of fading (the standard: 3).")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--plot", type=click.Path(dir_okay=False),
              help="Doppler spectrum and envelope as PNG, SVG or PDF.")
def command(validate: bool, spread: float, hours: float, seed: int,
            plot: Optional[str]) -> None:
    """Check the simulated channel as MIL-STD-188-110C E.7 asks, and beyond.

    The table is Markdown, on standard output; the exit status is 1 if a figure is off.
    """
    from ..measure import channel as measure
    seconds = 3600 * hours
    checks = measure.fading(spread, seconds, seed)
    checks += measure.independence(spread, min(seconds, 3600.0), seed)
    checks += measure.steady(min(60.0, seconds), seed)
    print(measure.table(checks))
    if plot:
        try:
            measure.draw(spread, seconds, seed, plot)
        except (OSError, ValueError) as error:
            raise fail(str(error)) from None
    bad = sum(not c.good for c in checks)
    if bad:
        raise fail(f"{bad} of {len(checks)} figures are off")
