# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab bench: measurements that print each figure beside its target."""
import os
import tempfile
from typing import Optional, Sequence, Tuple

import click

from gnuradio.hf.cli import fail
from gnuradio.hf.cli._options import options
from gnuradio.hf.cli._output import checked, force_option
from gnuradio.hf.cli._progress import Progress, watched
from gnuradio.hf.simulation.block_errors import Point, read
from gnuradio.hf.system import output
from .. import sweep
from ..link import adaptive as cells, faults as simulated_faults, hidden as hidden_stations
from ..link import published_rates
from ..programs import league as modem_league
from ..receiver import ale as ale_receiver, block_errors, combining
from . import _bench_programs
from ._workers import workers_of


@click.group()
def command() -> None:
    """Measure, and print each figure beside its target. Tables are Markdown, on stdout."""


for _command in _bench_programs.COMMANDS:
    command.add_command(_command)


@command.command()
@click.option("--quick", is_flag=True, help="A tenth of the octets and hours.")
@options(sweep.Pool, "pool")
def link(quick: bool, pool: sweep.Pool) -> None:
    """The data link on the event simulator, beside published figures, targets and limits.

    Bulk transfer by speed, U_PDU size and bit errors, without ARQ, two ways, with adaptive rate
    over fading channels, several stations on a channel, pings, and the simulator's own speed.
    Rows that missed their target come first.
    """
    from ..link import targets as measure
    jobs = measure.jobs(quick)
    with workers_of(pool, processes=True) as workers:
        parts = watched(measure.measure(jobs, workers), len(jobs),
                        lambda rows: "\n".join(f"{r.section}: {r.what}" for r in rows))
    print(measure.report([row for rows in parts for row in rows]))


@command.command()
@options(sweep.Pool, "pool")
def broadcast(pool: sweep.Pool) -> None:
    """Data without ARQ to many silent receivers, beside theory and targets.

    U_PDUs by size, repeats and number of receivers, and files in coded blocks (hf send --loss),
    on the event simulator. Each receiver loses transmissions at random.
    """
    from ..link import broadcast as measure
    with workers_of(pool, processes=True) as workers:
        rows = watched(sweep.run(measure.measure, [(job,) for job in measure.JOBS],
                                 workers), len(measure.JOBS))
    print(measure.report(rows))


@command.command()
@options(ale_receiver.Options, "wanted")
@options(sweep.Pool, "pool")
def ale(wanted: ale_receiver.Options, pool: sweep.Pool) -> None:
    """Handshakes of 2G ALE stations over simulated channels, and frames read where there is none.

    Two whole stations with default settings make a call to ten channels, the answer and the
    acknowledgement, through one realisation of the channel (Table A-II of MIL-STD-188-141B).
    Both know ten other stations. Then a station that waits for an answer hears noise and
    transmissions of data modems. Fails if a target is missed.
    """
    measure = ale_receiver
    jobs = len(wanted.points) + len(list(measure.quiet_jobs(wanted)))
    with workers_of(pool, processes=True) as workers:
        rows = list(watched(measure.measure(wanted, workers), jobs))
    linked = [row for row, _ in rows if row is not None]
    quiet = [row for _, row in rows if row is not None]
    print(measure.link_table(linked))
    if quiet:
        print(measure.quiet_table(quiet))
    if missed := measure.missed(linked, quiet):
        raise fail("; ".join(missed))


@command.command()
@options(simulated_faults.Options, "wanted")
@options(sweep.Pool, "pool")
def faults(wanted: simulated_faults.Options, pool: sweep.Pool) -> None:
    """Check that each U_PDU confirmed to its sender has arrived at its receiver.

    Three stations on the event simulator are switched off and on, over a channel with every
    fault it knows. Fails if a U_PDU is missing, or arrived twice on one link.
    """
    measure = simulated_faults
    with workers_of(pool, processes=True) as workers:
        trials = watched(measure.measure(wanted, workers), len(wanted.points()),
                         lambda trial: f"seed {trial.seed}")
    print(measure.table(trials))
    if missed := measure.failed(trials):
        raise fail("; ".join(missed))


@command.command()
@options(hidden_stations.Options, "wanted")
@options(sweep.Pool, "pool")
def hidden(wanted: hidden_stations.Options, pool: sweep.Pool) -> None:
    """What each flow carries in nets in which some stations do not hear each other.

    All flows always have data. Each is compared with its fair share: the max-min share of the
    time over the conflict graph. Fails if a flow misses a target.
    """
    measure = hidden_stations
    with workers_of(pool, processes=True) as workers:
        parts = list(watched(measure.measure_all(wanted, workers), len(wanted.points()),
                             lambda rows: rows[0].net))
    rows = [row for part in parts for row in part]
    print(measure.report(rows))
    if missed := measure.missed(rows):
        raise fail(f"{len(missed)} of {len(rows)} flows miss a target")


@command.command()
@click.option("--hours", default=2.0, show_default=True, help="Station time of each cell, h.")
@click.option("--seed", default=1, show_default=True)
@options(sweep.Pool, "pool")
def rules(hours: float, seed: int, pool: sweep.Pool) -> None:
    """Our rate adaptation beside two published rules (Trinder, RapidM), in the modes of 4539.

    The same data link, channel and oracle: the best fixed mode of each minute.
    """
    jobs = list(published_rates.jobs(hours, seed))
    with workers_of(pool, processes=True) as workers:
        found = watched(sweep.run(published_rates.measure, jobs, workers), len(jobs))
    print(published_rates.report(list(found)))


@command.command()
@click.option("--hours", default=1.0, show_default=True, help="Duration, h of station time.")
@click.option("--seed", default=1, show_default=True)
@click.option("--out", type=click.Path(file_okay=False), metavar="FOLDER",
              help="Keep d_pdus.pcap and sis.pcap in FOLDER, which is created if missing.")
@force_option
def tshark(hours: float, seed: int, out: Optional[str], force: bool) -> None:
    """Traffic of all kinds between simulated stations, judged by tshark.

    Fails if tshark finds a malformed frame or a wrong CRC.
    """
    from ..link import dissect
    if out:
        with checked():
            output.make_folder(out)
            output.check_all(dissect.paths(out), force=force)
    try:
        with tempfile.TemporaryDirectory() as folder, Progress("tshark") as progress:
            result = dissect.run(out or folder, hours, seed, progress.share)
    except FileNotFoundError:
        raise fail("tshark is missing: install it (Debian: tshark)") from None
    except ValueError as error:
        raise fail(str(error)) from None
    print(dissect.report(result))
    if not result.clean:
        raise fail("tshark found errors")


@command.command()
@click.option("--seconds", default=60.0, show_default=True, help="Duration of the signal for each "
                                                                 "mode, s.")
@click.option("--wideband", is_flag=True, help="Measure the fastest modes of 3, 12, 24 and 48 "
                                               "kHz.")
@click.option("--chain", is_flag=True, help="Measure the chains of blocks beside whole modems.")
def speed(seconds: float, wideband: bool, chain: bool) -> None:
    """Speed of modulator, receiver, two whole stations in lock step, and audio, as a multiple
    of real time.

    The last column is the processor time that audio of 48000 samples/s adds to the receiver in
    hf demodulate.
    """
    from ..receiver import chain_cost, speed as measure
    if chain:
        costs = watched((chain_cost.measure(mode, seconds) for mode in chain_cost.MODES),
                        len(chain_cost.MODES), lambda cost: cost.mode)
        print(chain_cost.table(costs))
        return
    if wideband:
        wide = watched((measure.measure_wideband(b, seconds) for b in measure.WIDEBAND),
                       len(measure.WIDEBAND), lambda row: f"{row.mode}")
        print(measure.wideband_table(wide))
        return
    rows = watched((measure.measure(mode, seconds) for mode in measure.MODES),
                   len(measure.MODES), lambda row: f"{row.mode}")
    print(measure.table(rows))


@command.command()
@click.option("--seconds", default=30.0, show_default=True, help="Duration of each signal, s.")
def interferers(seconds: float) -> None:
    """What interferers, radios and codecs cost 3200S at 12 dB and 9600S at 25 dB.

    Each cell has the share of octets that were right, and the speed of the receiver as a
    multiple of real time (processor time, 12 s of silence after the signal included).
    """
    from ..receiver import interferers as measure
    cases = list(measure.cases())
    rows = watched((measure.measure(*case, seconds) for case in cases), len(cases),
                   lambda row: f"{row.mode}, {row.kind} {row.level}")
    print(measure.table(rows))


@command.command()
@click.option("--table", "wanted", multiple=True, metavar="WORDS",
              help="Only tables whose name contains this; may be repeated.")
@click.option("--rate", "rates", multiple=True, type=int, metavar="BIT/S",
              help="Only this data rate; may be repeated.")
@click.option("--quick", is_flag=True, help="Leave out transfers of more than 100 kB.")
@click.option("--waveforms", is_flag=True,
              help="Also run HF-PEP over real waveforms, in one thread. 10 MB at 240 kbit/s takes "
                   "a minute, everything a quarter of an hour.")
@click.option("--out", metavar="FOLDER",
              help="Write the report (papers.md). Rows and pictures of real programs in this "
                   "folder (real.csv) are shown.")
@force_option
@options(sweep.Pool, "pool")
def papers(wanted: Tuple[str, ...], rates: Tuple[int, ...], quick: bool,
           waveforms: bool, out: Optional[str], force: bool, pool: sweep.Pool) -> None:
    """Every cell of the published tables beside our figure, misses first.

    STANAG 5066, IP client, HF-PEP and DNS run on the event simulator, hours of station time in
    seconds. --waveforms repeats HF-PEP by size and speed, with every sample modulated and
    received.
    """
    from ..link import papers as measure
    from ..link import papers_more, papers_report
    found = [c for c in measure.cells()
             if (not wanted or any(w.lower() in c.table.lower() for w in wanted))
             and (not rates or c.bit_rate in rates) and not (quick and c.octets > 100_000)]
    if not found:
        raise click.UsageError(f"no cell matches {', '.join(wanted)}; there are "
                               + ", ".join(measure.TITLES))
    if out:
        with checked():
            papers_report.check(out, force)
    groups = measure.groups(c for c in found if c.table in measure.MEASURES and measure.runs(c))
    with workers_of(pool, processes=True) as workers:
        parts = watched(sweep.run(measure.measure_all, groups, workers), len(groups))
    rows = [row for part in parts for row in part]
    if waveforms:
        with Progress("waveforms") as progress:
            rows += measure.all_over_waveforms(found, lambda t: click.echo(t, err=True),
                                               progress.share)
    rows += papers_report.rows(found, out)
    rows += papers_more.derived(found, rows)
    rows += papers_more.rest(found, rows)
    below = {"HF-PEP BER": measure.following_transfers(found), **papers_report.pictures(out)}
    text = measure.report(rows, below)
    print(text)
    if out:
        papers_report.write(out, text)


@command.command()
@click.option("--rate", "rates", multiple=True, type=int, metavar="BIT/S",
              help="Only this data rate; may be repeated.")
@click.option("--kernel", is_flag=True,
              help="Also measure HTTP with the kernel's TCP at 9600 bit/s. Needs root and takes a "
                   "minute.")
@options(sweep.Pool, "pool")
def interactive(rates: Tuple[int, ...], kernel: bool, pool: sweep.Pool) -> None:
    """A page, a remote shell and pings beside a bulk transfer through HF-PEP, both ways.

    Measures on the event simulator how long each waits, and how much it slows the bulk transfer.
    """
    from gnuradio.hf.system import netns
    from ..programs import interactive as measure
    unknown = set(rates) - set(measure.RATES)
    if unknown:
        raise click.UsageError(f"rate {unknown.pop()}: allowed are "
                               + ", ".join(map(str, measure.RATES)))
    runs = [(rate, upload) for rate in rates or measure.RATES for upload in (False, True)]
    with workers_of(pool, processes=True) as workers:
        rows = watched(sweep.run(measure.measure, runs, workers), len(runs))
    print(measure.report(rows))
    if kernel:
        why = netns.why_not()
        if why is not None:
            raise fail(f"kernel TCP: {why}")
        with Progress("kernel TCP"):
            line = measure.kernel_line(measure.with_kernel())
        print("\n" + line)


@command.command()
@options(cells.Options, "wanted")
@options(sweep.Pool, "pool")
@click.option("--csv", "path", type=click.Path(dir_okay=False), metavar="FILE",
              help="Keep every run here. The same command with the same file resumes an "
              "interrupted run.")
@click.option("--plot", "picture", type=click.Path(dir_okay=False), metavar="PICTURE",
              help="Draw the map as PNG, SVG or PDF.")
@force_option
def adaptive(wanted: cells.Options, pool: sweep.Pool, path: Optional[str],
             picture: Optional[str], force: bool) -> None:
    """Goodput of adaptive stations beside the best fixed mode, on real waveforms.

    Every cell is one channel at one SNR, with two stations in one thread and ARQ. All modes use
    the same realisations of the channel. The whole table takes some hours of processor time.
    """
    if picture:
        with checked():
            output.check_picture(picture, [path] if path else [], force)
    with workers_of(pool, processes=True) as workers, \
            cells.store(path, wanted.keeps, force) as kept:
        def line(new: Sequence[cells.Run]) -> str:
            return "\n".join(f"{r.channel} {r.snr_db:g} dB: {r.mode} {r.goodput_bps:.0f} bit/s"
                             for r in new)

        watched(cells.measure(wanted, workers, kept), len(wanted.cells()), line, "cells")
        found = cells.cells(filter(wanted.concerns, kept.rows()))
    print(cells.report(found))
    if picture:
        cells.draw(found, picture)


@command.command()
@options(combining.Options, "wanted")
@options(sweep.Pool, "pool")
@click.option("--csv", "path", type=click.Path(dir_okay=False), metavar="FILE",
              help="Keep every transmission here. The same command with the same file resumes an "
              "interrupted run.")
@force_option
def combine(wanted: combining.Options, pool: sweep.Pool, path: Optional[str], force: bool) -> None:
    """Gain of hf demodulate --combine: recordings on independent Poor channels, together and the
    best of them.

    Each transmission becomes audio files of different sample rates, start times, clocks and
    offsets. The SNR is stepped by 2 dB until a tenth of the blocks is bad. The best recording of
    a transmission is the one with the fewest bad blocks. Takes half an hour of processor time.
    """
    with workers_of(pool) as workers, combining.store(path, force) as kept, \
            Progress("SNRs"):
        rows = []
        for found in combining.measure(wanted, workers, kept):
            click.echo(f"{found[0].mode} {found[0].snr_db:g} dB: of "
                       f"{sum(r.blocks for r in found)} blocks {sum(r.combined for r in found)} "
                       f"bad, best one {sum(r.best for r in found)}", err=True)
            rows += found
    print(combining.report(rows))


@command.command()
@click.argument("path", metavar="FILE", type=click.Path(dir_okay=False))
@options(block_errors.Options, "wanted")
@click.option("--add", is_flag=True, help="Keep the other curves of FILE.")
@click.option("--trials", "store_path", type=click.Path(dir_okay=False), metavar="CSV",
              help="Keep every transmission here. The same command with the same file resumes an "
              "interrupted run.")
@force_option
@options(sweep.Pool, "pool")
def curves(path: str, wanted: block_errors.Options, add: bool, store_path: Optional[str],
           force: bool, pool: sweep.Pool) -> None:
    """Block errors of the receiver over SNR in the mode's bandwidth, as CSV. hf sim uses them as
    curves.

    The SNR of each curve is stepped by 2 dB, on AWGN by 1 dB, from no bad block in a hundred to
    nearly all bad.
    """
    from ..receiver import ber
    with checked():
        output.check(path, [store_path] if store_path else [], force,
                     output.first_line(Point._fields))
    pairs = wanted.pairs()
    with workers_of(pool) as workers, ber.store(store_path) as store, \
            Progress("curves", len(pairs)) as progress:
        def run(point: ber.Point, stop: ber.Stop) -> ber.Result:
            click.echo(f"{point.mode} {point.channel}", err=True)
            return ber.measure(point, stop, workers, store, one=ber.link_trial)

        kept = read(path) if add and os.path.exists(path) else {}
        for number, (channel, mode) in enumerate(pairs):
            progress.at(number, f"{mode} {channel}")
            kept[channel, mode] = list(block_errors.curve(mode, channel, run))
        block_errors.write([p for points in kept.values() for p in points], path)


@command.command()
@options(modem_league.Options, "wanted")
@options(sweep.Pool, "pool")
@click.option("--csv", "path", type=click.Path(dir_okay=False), metavar="FILE",
              help="Keep every message here. The same command with the same file resumes an "
              "interrupted run.")
@force_option
def league(wanted: modem_league.Options, pool: sweep.Pool, path: Optional[str], force: bool
           ) -> None:
    """Goodput of open modems over the same realisations of simulated channels.

    A message goes one way without ARQ, in frames with a CRC. Goodput is the payload of good
    frames over air time, in the best mode. Ours are the modes of 4539 with short and long
    interleaver, found by the receiver. codec2 (datac0, datac1, datac3 and newer ones) needs
    libcodec2 and knows its mode. /1 is a burst for each frame. ARDOP needs the program ardopcf
    in the PATH. It detects the mode by itself, and sends each frame alone.
    """
    measure = modem_league

    def line(cell: measure.Cell) -> str:
        return f"{cell.channel} {cell.snr_db:g} dB: " + ", ".join(
            f"{name} {best.goodput_bps:.0f} bit/s ({best.mode})"
            for name, best in cell.best.items() if best is not None)

    with workers_of(pool, processes=True) as workers, measure.store(path, force) as kept:
        found = watched(measure.measure(wanted, workers, kept), len(wanted.cells()), line)
    print(measure.report(found, wanted.octets, wanted.trials))
