# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab channel: the simulated channel measured."""
from dataclasses import dataclass
from typing import Optional

import click

from gnuradio.hf.cli import fail
from gnuradio.hf.cli._options import options
from gnuradio.hf.cli._output import checked
from gnuradio.hf.cli._progress import Progress
from gnuradio.hf.options import option
from gnuradio.hf.system import output
from ..channel import models, validation


@dataclass(frozen=True)
class Figures:
    """Options of measurements of the channel."""

    spread: float = option(1.0, "Two-sigma Doppler spread, Hz.", least=0.05, most=30)
    hours: float = option(3.0, "Duration of fading (the standard: 3).", least=0.01, most=100)
    seed: int = option(1, "Seed of noise and fading.", least=0)
    plot: Optional[str] = option(None, "Draw Doppler spectrum and envelope (PNG, SVG or PDF).",
                                 metavar="PICTURE")
    force: bool = option(False, "Replace files that hf has not written.")

    @property
    def seconds(self) -> float:
        """Duration of fading, s."""
        return 3600 * self.hours

    def check(self) -> None:
        """Whether the picture may be written. Raises ClickException."""
        if self.plot:
            with checked():
                output.check_picture(self.plot, [], self.force)


@click.group()
def command() -> None:
    """The simulated channel beside its nominal values. Tables are Markdown, on stdout."""


@command.command()
@options(Figures, "figures")
def validate(figures: Figures) -> None:
    """Fading, noise and delays, as required by MIL-STD-188-110C E.7, and more.

    Fails if a figure is off.
    """
    figures.check()
    spread, seconds, seed = figures.spread, figures.seconds, figures.seed
    with Progress("one path") as progress:
        checks = validation.fading(spread, seconds, seed, progress.share)
    with Progress("two paths") as progress:
        checks += validation.independence(spread, min(seconds, 3600.0), seed, progress.share)
    with Progress("noise, delays and powers"):
        checks += validation.steady(min(60.0, seconds), seed)
    print(validation.table(checks))
    if figures.plot:
        with Progress("the picture"):
            validation.draw(spread, seconds, seed, figures.plot)
    bad = sum(not c.good for c in checks)
    if bad:
        raise fail(f"{bad} of {len(checks)} figures are off")


@command.command()
@options(Figures, "figures")
def compare(figures: Figures) -> None:
    """The same figures for GNU Radio's fading models and for ours."""
    figures.check()
    with Progress("models") as progress:
        table = models.compare(figures.spread, figures.seconds, figures.seed, progress.share)
    print(table)
    if figures.plot:
        with Progress("the picture"):
            models.draw(figures.spread, figures.seconds, figures.seed, figures.plot)
