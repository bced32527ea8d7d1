# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab day: a day on one frequency, by a clock table, and by ALE."""
import json
from typing import Any, Dict, List, Optional

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from gnuradio.hf.cli._output import checked, force_option
from gnuradio.hf.cli._progress import Progress
from gnuradio.hf.system import output
from ..link import day, day_picture as drawing, propagation

#: Asked of ALE: octets compared with the best single frequency, and with the clock table.
TARGETS = {"best single frequency": 2.0, "clock table": 1.1}


@click.command()
@click.option("--days", default=1, show_default=True, type=click.IntRange(1, 1000),
              help="Days with different weather.")
@click.option("--seed", default=1, show_default=True, help="Seed of the first day.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--plot", "picture", type=click.Path(dir_okay=False), metavar="PICTURE",
              help="Draw the first day, as PNG, SVG or PDF.")
@force_option
def command(days: int, seed: int, as_json: bool, picture: Optional[str], force: bool) -> None:
    """Bulk data between Oslo and the Azores for a day: on each of five frequencies, by a clock
    table, and by ALE. Prints the octets of each strategy.

    The SNR is predicted by VOACAP. Each day has its own weather.
    """
    if picture:
        with checked():
            output.check_picture(picture, [], force)
    octets: Dict[str, List[int]] = {}
    channels: Dict[str, Any] = {}
    arrived: Dict[str, List[Any]] = {}
    weather = None
    with Progress(f"{days} days", days) as progress:
        for number in range(days):
            w = day.weather(seed + number)
            all_strategies = day.strategies(w)
            for k, s in enumerate(all_strategies):
                progress.at(number + k / len(all_strategies), s.name)
                channel = s.choose(w, np.random.default_rng([seed + number, 2]))
                result = day.carry(day.course(w, channel), seed + number)
                octets.setdefault(s.name, []).append(result.flows[0].octets_delivered)
                if number == 0 and picture:
                    channels[s.name] = channel
                    arrived[s.name] = _sums(result, channel)
            weather = weather or w
    if as_json:
        print(json.dumps({"circuit": propagation.CIRCUIT, "first_seed": seed, "octets": octets}))
    else:
        _print(octets, days)
    if picture and weather:
        shown = {k: channels[k] for k in ("clock table", "ALE")}
        drawing.draw(picture, "One day, Oslo to the Azores, 1 kW", weather.mhz,
                     day.promise(weather.snr_db), shown, arrived)


def _sums(result: Any, channel: np.ndarray) -> List[Any]:
    """Hour and octets so far, each five minutes. channel: of each second; the time without one is
    not in the result."""
    linked = np.append(np.flatnonzero(channel >= 0), 86400)
    times = linked[[min(int(d.time_s), len(linked) - 1) for d in result.deliveries]]
    sums = np.concatenate([[0], np.cumsum([d.octets for d in result.deliveries])])
    grid = np.arange(0, 86401, 300)
    return list(zip(grid / 3600, sums[np.searchsorted(times, grid)]))


def _print(octets: Dict[str, List[int]], days: int) -> None:
    mean = {name: float(np.mean(v)) for name, v in octets.items()}
    single = max((n for n in mean if n.endswith(" MHz")), key=lambda n: mean[n])
    table = Table(title=f"Mean of {days} days, Oslo to the Azores")
    for column in ("strategy", "MB a day", "bit/s", f"of {single}", "of the clock table",
                   "least to most, MB"):
        table.add_column(column, justify="left" if column == "strategy" else "right")
    for name, value in mean.items():
        table.add_row(name, f"{value / 1e6:.1f}", f"{8 * value / 86400:.0f}",
                      f"{100 * value / mean[single]:.0f} %",
                      f"{100 * value / mean['clock table']:.0f} %",
                      f"{min(octets[name]) / 1e6:.1f} to {max(octets[name]) / 1e6:.1f}")
    Console().print(table)
    for other, base in (("best single frequency", mean[single]),
                        ("clock table", mean["clock table"])):
        click.echo(f"ALE, of the {other}: {mean['ALE'] / base:.2f}, target {TARGETS[other]:.1f}, "
                   f"bound {mean['always the best'] / base:.2f}")
