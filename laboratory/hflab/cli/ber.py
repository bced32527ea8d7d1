# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab ber: bit error rates over simulated channels, and the standard's tables."""
from contextlib import contextmanager
from dataclasses import dataclass
import os
from typing import Callable, Iterator, List, Optional, Tuple

import click

from gnuradio.hf.cli import fail
from gnuradio.hf.cli._options import options
from gnuradio.hf.cli._output import checked, force_option
from gnuradio.hf.cli._progress import Progress
from gnuradio.hf.options import option
from gnuradio.hf.system import output
from .. import sweep
from ..receiver import acquisition as finding, ber
from ..receiver import standard as tables, tally


@click.group()
def command() -> None:
    """Measure the receiver over simulated channels.

    \b
    hf-lab ber run --mode 4539-9600VL --channel poor --snr 20:26:1 --plot poor.png
    hf-lab ber standard --row P14 --scale 0.02

    Every transmission is random octets through modulator, channel and receiver. The receiver
    detects mode, time and frequency by itself. A transmission that is not found counts with half
    of its bits wrong. The table is Markdown, on standard output. Equal seeds give equal figures
    on any number of processors.
    """


@contextmanager
def _failures() -> Iterator[None]:
    """Turn errors of a measurement into errors of the command."""
    try:
        with checked():
            yield
    except (OSError, ValueError) as error:
        raise fail(str(error)) from None


@dataclass(frozen=True)
class CsvFile:
    """File for rows."""

    csv_path: Optional[str] = option(
        None, "Keep every row here. The same command with the same file resumes an interrupted "
        "run.", flag="--csv", metavar="FILE")


@dataclass(frozen=True)
class Files(CsvFile):
    """Files for trials and for their curves."""

    plot: Optional[str] = option(None, "Draw the curves as PNG, SVG or PDF.", metavar="PICTURE")
    force: bool = option(False, "Replace files that hf has not written.")


class Bench:
    """Measures points, and keeps the results."""

    def __init__(self, workers: sweep.Workers, store: ber.Store) -> None:
        self._workers, self._store = workers, store
        self.results: List[ber.Result] = []
        #: Called with the share of a point that is done.
        self.progress: Callable[[float], object] = lambda _: None

    def measure(self, point: ber.Point, stop: ber.Stop, first_seed: int) -> ber.Result:
        """Measure one point. Its result goes to standard error and into results."""
        r = ber.measure(point, stop, self._workers, self._store, first_seed,
                        progress=lambda share: self.progress(share))
        click.echo(f"{point.name} {point.channel}: {r.bad_blocks} bad of {r.blocks} blocks, "
                   f"BER {r.ber:.1e}, lost {r.lost} of {r.trials}", err=True)
        self.results.append(r)
        return r


@contextmanager
def _bench(files: Files, pool: sweep.Pool) -> Iterator[Bench]:
    """A bench whose results are drawn at the end."""
    with _failures():
        if files.plot:
            output.check_picture(files.plot, [files.csv_path] if files.csv_path else [],
                                 files.force)
        with ber.store(files.csv_path, files.force) as store, pool.open() as workers:
            bench = Bench(workers, store)
            yield bench
        if files.plot:
            from ..receiver import curves
            curves.draw(bench.results, files.plot)


@command.command()
@options(ber.Options, "wanted")
@options(Files, "files")
@options(sweep.Pool, "pool")
def run(wanted: ber.Options, files: Files, pool: sweep.Pool) -> None:
    """Bit error rates of modes over channels and SNR.

    \b
    hf-lab ber run --mode 4539-9600VL --channel poor --snr 20:26:1 --plot poor.png
    hf-lab ber run --mode 4539-9600VL --channel poor --snr 20:24:1 --genie
    hf-lab ber run --mode 4539-9600VL --channel poor --snr 15:18:1 --diversity 2
    """
    points = wanted.points()
    with _bench(files, pool) as bench, Progress("bit error rates", len(points)) as progress:
        for number, point in enumerate(points):
            progress.at(number, f"{point.name} {point.channel}")
            bench.progress = lambda share, done=number: progress.at(done + share)
            bench.measure(point, wanted.stop, wanted.seed)
        print(ber.table(bench.results))


@command.command()
@options(tables.Options, "wanted")
@options(Files, "files")
@options(sweep.Pool, "pool")
def standard(wanted: tables.Options, files: Files, pool: sweep.Pool) -> None:
    """Every row of the standard's tables, or some of them.

    \b
    hf-lab ber standard --scale 0.02
    hf-lab ber standard --row "D12-*" --scale 0.01 --search
    hf-lab ber standard --row "D12-*" --scale 0.05 --at-target --csv kept.csv
    hf-lab ber standard --row "D12-*" --accept --csv kept.csv
    """
    rows, outcomes = wanted.rows(), []
    with _bench(files, pool) as bench, Progress("rows of the standard", len(rows)) as progress:
        for number, row in enumerate(rows):
            progress.at(number, f"{row.id} {row.mode}")
            if not wanted.search and not wanted.accept:  # both measure several points per row
                bench.progress = lambda share, done=number: progress.at(done + share)
            outcomes.append(wanted.measure(row, bench.measure))
        print(wanted.table(outcomes))


@command.command()
@options(finding.Options, "wanted")
@options(CsvFile, "kept")
@options(sweep.Pool, "pool")
def acquisition(wanted: finding.Options, kept: CsvFile, pool: sweep.Pool) -> None:
    """Share of transmissions that are found, each mode at the SNR that its data need.

    \b
    hf-lab ber acquisition --trials 1000
    hf-lab ber acquisition --bandwidth 12 --bandwidth 24 --trials 100 --csv found.csv
    """
    conditions, outcomes = wanted.conditions(), []
    with _failures(), tally.counts(kept.csv_path) as counts, pool.open() as workers, \
            Progress("acquisition", len(conditions)) as progress:
        for condition in conditions:
            name = f"{condition.mode} {condition.point.channel}"
            progress.add(0, name)
            outcomes.append(finding.measure(condition, wanted.trials, workers, wanted.seed,
                                            counts))
            click.echo(f"{name}: {outcomes[-1].found} of {outcomes[-1].trials}", err=True)
            progress.add(1)
    print(finding.table(outcomes))


@command.command()
@options(finding.NoiseOptions, "wanted")
@options(CsvFile, "kept")
@options(sweep.Pool, "pool")
def noise(wanted: finding.NoiseOptions, kept: CsvFile, pool: sweep.Pool) -> None:
    """How many transmissions are found in noise alone.

    \b
    hf-lab ber noise --hours 24 --bandwidth 12 --csv noise.csv
    hf-lab ber noise --hours 24 --channel awgn --channel "carriers=300:10 impulses=1:20"
    """
    cases: List[Tuple[int, str]] = [
        (bandwidth, channel if "snr=" in channel else f"{channel} snr=0")
        for bandwidth in wanted.bandwidths for channel in wanted.channels]
    with _failures(), tally.pieces(kept.csv_path) as pieces, pool.open() as workers:
        for bandwidth, channel in cases:
            with Progress(f"{bandwidth} kHz, {channel}") as progress:
                false = finding.noise(channel, wanted.hours, wanted, workers, bandwidth, pieces,
                                      progress.share)
            print(f"{bandwidth} kHz, {channel}: {len(false)} found in {wanted.hours:g} h of noise"
                  + (f": {', '.join(sorted(false))}" if false else ""), flush=True)


@command.command()
@click.argument("csv_path", metavar="FILE", type=click.Path(dir_okay=False))
@click.argument("picture", metavar="PICTURE", type=click.Path(dir_okay=False))
@force_option
def plot(csv_path: str, picture: str, force: bool) -> None:
    """Draw the rows in FILE, written by --csv, and print their table."""
    from ..receiver import curves
    with _failures():
        output.check_picture(picture, [csv_path], force)
        if not os.path.exists(csv_path):
            raise fail(f"{csv_path}: no such file")
        results = ber.results(sweep.read(ber.Trial, csv_path))
        if not results:
            raise fail(f"{csv_path}: holds no trials")
        print(ber.table(results))
        curves.draw(results, picture)
