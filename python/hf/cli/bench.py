# SPDX-License-Identifier: GPL-3.0-or-later
"""hf bench: measurements that print each figure beside its target."""
import math
import os
from typing import Optional, Tuple

import click

from .. import machine, output
from . import fail
from ._output import checked, force_option
from ._progress import Progress, watched


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
    from ..lab.link import targets as measure
    rows = watched(measure.measure(quick), measure.count(),
                   lambda row: f"{row.section}: {row.what}")
    print(measure.report(rows))


@command.command()
@click.option("--hours", type=click.FloatRange(1, 1e5), default=1000.0, show_default=True,
              help="Of station time, altogether.")
@click.option("--each", type=click.FloatRange(1, 200), default=10.0, show_default=True,
              help="Hours of a run, each with a seed of its own.")
@click.option("--seed", default=1, show_default=True, help="Of the first run.")
def faults(hours: float, each: float, seed: int) -> None:
    """Whether a U_PDU that was confirmed to a client is ever missing at the other.

    Three stations that are switched off and on, on a channel with every fault there is, on the
    event simulator. Fails if one is missing, or came twice on one link.
    """
    from ..lab.link import faults as measure
    trials = watched(measure.measure(hours, each, seed), math.ceil(hours / each),
                     lambda trial: f"seed {trial.seed}")
    print(measure.table(trials))
    if missed := measure.failed(trials):
        raise fail("; ".join(missed))


@command.command()
@click.option("--hours", default=1.0, show_default=True, help="Of station time.")
@click.option("--seed", default=1, show_default=True)
@click.option("--out", type=click.Path(file_okay=False), metavar="FOLDER",
              help="Keep d_pdus.pcap and sis.pcap here; made if it is missing.")
@force_option
def tshark(hours: float, seed: int, out: Optional[str], force: bool) -> None:
    """Traffic of all kinds between simulated stations, judged by tshark.

    Fails if tshark finds a malformed frame or a wrong CRC.
    """
    import tempfile
    from ..lab.link import dissect
    if out:
        with checked():
            output.make_folder(out)
            output.check_all(dissect.paths(out), force=force)
    try:
        with tempfile.TemporaryDirectory() as folder, Progress("tshark") as progress:
            result = dissect.run(out or folder, hours, seed, progress.share)
    except FileNotFoundError:
        raise fail("tshark is not there: install it (Debian: tshark)") from None
    except ValueError as error:
        raise fail(str(error)) from None
    print(dissect.report(result))
    if not result.clean:
        raise fail("tshark found errors")


@command.command()
@click.option("--seconds", default=60.0, show_default=True, help="Of signal for each mode.")
@click.option("--wideband", is_flag=True, help="The fastest modes of 3, 12, 24 and 48 kHz.")
def speed(seconds: float, wideband: bool) -> None:
    """Times real time of modulator, receiver, of two whole stations in lock step, and of audio.

    The last column is what audio of 48000 samples/s costs hf demodulate in processor time on
    top of the receiver.
    """
    from ..lab.receiver import speed as measure
    if wideband:
        wide = watched((measure.measure_wideband(b, seconds) for b in measure.WIDEBAND),
                       len(measure.WIDEBAND), lambda row: f"{row.mode}")
        print(measure.wideband_table(wide))
        return
    rows = watched((measure.measure(mode, seconds) for mode in measure.MODES),
                   len(measure.MODES), lambda row: f"{row.mode}")
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
@click.option("--waveforms", is_flag=True,
              help="HF-PEP also over real waveforms, in one thread: 10 MB at 240 kbit/s takes a "
              "minute, everything a quarter of an hour.")
@click.option("--long", "with_long", is_flag=True,
              help="With --real: also cells of more than 20 minutes.")
@click.option("--out", metavar="FOLDER",
              help="Write the report (papers.md) with pictures; keeps what --real reached "
              "(real.csv) and shows it again.")
@force_option
def papers(wanted: Tuple[str, ...], rates: Tuple[int, ...], quick: bool, real: bool,
           waveforms: bool, with_long: bool, out: Optional[str], force: bool) -> None:
    """Every cell of the published tables beside ours, misses first.

    STANAG 5066, IP client, HF-PEP and DNS on the event simulator, hours of station time in
    seconds. With --real TCP through the IP client, XMPP and web, and some of HF-PEP on
    waveforms, with the kernel and programs of this host; with --waveforms HF-PEP by size and
    speed again, every sample made and received.
    """
    from ..lab.link import papers as measure
    from ..lab.link import papers_more
    from ..lab.programs import papers_real
    cells = [c for c in measure.cells()
             if (not wanted or any(w.lower() in c.table.lower() for w in wanted))
             and (not rates or c.bit_rate in rates) and not (quick and c.octets > 100_000)]
    if not cells:
        raise click.UsageError(f"no cell matches {', '.join(wanted)}; there are "
                               + ", ".join(measure.TITLES))
    if out:
        with checked():
            papers_real.check(out, force)
    chosen = [c for c in cells if c.table in measure.MEASURES and measure.runs(c)]
    rows = watched((measure.measure(c) for c in chosen), len(chosen))
    if waveforms:
        with Progress("waveforms") as progress:
            rows += measure.all_over_waveforms(cells, lambda t: click.echo(t, err=True),
                                               progress.share)
    with Progress("real programs") as progress:
        rows += papers_real.rows(cells, real, with_long, out,
                                 lambda t: click.echo(t, err=True), progress.share)
    rows += papers_more.derived(cells, rows)
    rows += papers_more.rest(cells, rows)
    below = {"HF-PEP BER": measure.following_transfers(cells), **papers_real.pictures(out)}
    text = measure.report(rows, below)
    print(text)
    if out:
        papers_real.write(out, text)


@command.command()
@click.option("--rate", "rates", multiple=True, type=int, metavar="BIT/S",
              help="Only this data rate; may be repeated.")
@click.option("--kernel", is_flag=True,
              help="Also HTTP with the kernel's TCP at 9600 bit/s: needs root, takes a minute.")
def interactive(rates: Tuple[int, ...], kernel: bool) -> None:
    """A page, a remote shell and pings beside a bulk transfer through HF-PEP, both ways.

    On the event simulator: how long each waits, and what it costs the bulk.
    """
    from .. import netns
    from ..lab.programs import interactive as measure
    unknown = set(rates) - set(measure.RATES)
    if unknown:
        raise click.UsageError(f"rate {unknown.pop()}: allowed are "
                               + ", ".join(map(str, measure.RATES)))
    runs = [(rate, upload) for rate in rates or measure.RATES for upload in (False, True)]
    rows = watched((measure.measure(*run) for run in runs), len(runs))
    print(measure.report(rows))
    if kernel:
        why = netns.why_not()
        if why is not None:
            raise fail(f"kernel TCP: {why}")
        with Progress("kernel TCP"):
            line = measure.kernel_line(measure.with_kernel())
        print("\n" + line)


@command.command()
@click.option("--seconds", default=600.0, show_default=True, type=click.FloatRange(30, 86400),
              help="Station time of each run.")
@click.option("--seeds", default=4, show_default=True, type=click.IntRange(1, 1000),
              help="Runs of each mode in a cell, with seeds from 1 on.")
@click.option("--channel", "channels", multiple=True, metavar="NAME",
              help="Only this channel of the table; may be repeated.")
@click.option("--snr", "snrs_db", multiple=True, type=float, metavar="DB",
              help="Only this SNR in 3 kHz; may be repeated.")
@click.option("--jobs", default=0, type=click.IntRange(0, 1024),
              help="Processes.  [default: number of processors]")
@click.option("--csv", "path", type=click.Path(dir_okay=False), metavar="FILE",
              help="Keep every run here, and go on where an earlier one stopped.")
@click.option("--plot", "picture", type=click.Path(dir_okay=False), metavar="PICTURE",
              help="The map as PNG, SVG or PDF.")
@click.option("--again", is_flag=True,
              help="Measure the adaptive runs of the file anew, after a change of the adaptation.")
@force_option
def adaptive(seconds: float, seeds: int, channels: Tuple[str, ...], snrs_db: Tuple[float, ...],
             jobs: int, path: Optional[str], picture: Optional[str], again: bool,
             force: bool) -> None:
    """Goodput of adaptive stations beside the best fixed mode, on real waveforms.

    Every cell is one channel at one SNR: two stations in one thread, ARQ, all modes over the same
    realisations of the channel. The whole table takes some hours of processor time.
    """
    from ..lab.link import adaptive as measure
    unknown = set(channels) - set(measure.CHANNELS)
    if unknown:
        raise click.UsageError(f"channel {unknown.pop()!r}: allowed are "
                               + ", ".join(measure.CHANNELS))
    with checked():
        if path:
            output.check(path, [], force, output.first_line(measure.COLUMNS))
        if picture:
            output.check_picture(picture, [], force)
    try:
        runs = measure.load(path) if path and os.path.exists(path) else []
    except (OSError, ValueError, KeyError) as error:
        raise fail(f"{path}: {error}") from None
    wanted = channels or tuple(measure.CHANNELS), snrs_db or measure.SNRS_DB
    if again:
        runs = [r for r in runs if r.mode != measure.ADAPTIVE
                or r.channel not in wanted[0] or r.snr_db not in wanted[1]]
    with Progress("cells", len(wanted[0]) * len(wanted[1])) as progress:
        for new in measure.measure(*wanted, seconds, range(1, seeds + 1), jobs, runs):
            runs += new
            for r in new:
                click.echo(f"{r.channel} {r.snr_db:g} dB: {r.mode} {r.goodput_bps:.0f} bit/s",
                           err=True)
            if path:
                measure.save(path, runs)
            progress.add(1)
    cells = measure.cells(r for r in runs if r.seconds == seconds and r.seed <= seeds)
    print(measure.report(cells))
    if picture:
        measure.draw(cells, picture)


@command.command()
def compression() -> None:
    """What DEFLATE gains through HF-PEP at 1200 bit/s: HTML, JSON, text, heads of HTTP, XMPP,
    and data that does not shrink."""
    from ..lab.link import compression as measure
    contents = list(measure.contents())
    print(measure.table(watched((measure.measure(c) for c in contents), len(contents))))


@command.command()
@click.argument("path", metavar="FILE", type=click.Path(dir_okay=False))
@click.option("--mode", "modes", multiple=True, metavar="MODE",
              help="May be repeated.  [default: every rate, short and long interleaver]")
@click.option("--bandwidth", type=click.Choice([str(khz) for khz in machine.BANDWIDTHS_KHZ]),
              help="The waveforms of 5069 in so many kHz.  [default: those of 4539]")
@click.option("--add", is_flag=True, help="Keep the other curves of FILE.")
@click.option("--channel", "channels", multiple=True, metavar="SPEC",
              help="Without its snr=; may be repeated.  [default: awgn, moderate, poor, "
                   "high-moderate]")
@click.option("--trials", "store_path", type=click.Path(dir_okay=False), metavar="CSV",
              help="Keep every transmission here, and go on where an earlier run stopped.")
@force_option
def curves(path: str, modes: Tuple[str, ...], bandwidth: Optional[str], add: bool,
           channels: Tuple[str, ...], store_path: Optional[str], force: bool) -> None:
    """Block errors of the receiver over SNR in the mode's bandwidth, as CSV: what hf sim calls
    curves.

    Each sweep finds its own SNR, every 2 dB from no bad block in a hundred to nearly all.
    """
    from concurrent.futures import ThreadPoolExecutor
    from ..lab.receiver import ber, block_errors as measure
    known = measure.modes(int(bandwidth) if bandwidth else None)
    if set(modes) - set(known):
        raise click.UsageError(f"mode {modes[0]!r}: allowed are {', '.join(known)}")
    width = os.cpu_count() or 1
    with checked():
        output.check(path, [store_path] if store_path else [], force,
                     output.first_line(measure.Point._fields))
    try:
        with checked():
            store = ber.Store(store_path)
        kept = measure.read(path) if add and os.path.exists(path) else {}
        with ThreadPoolExecutor(width) as executor:
            def run(point: ber.Point, stop: ber.Stop) -> ber.Result:
                click.echo(f"{point.mode} {point.channel}", err=True)
                return ber.measure(point, stop, executor, width, store, one=ber.link_trial)
            pairs = [(c, m) for c in channels or measure.CHANNELS for m in modes or known]
            with Progress("curves", len(pairs)) as progress:
                for c, m in pairs:
                    progress.add(0, f"{m} {c}")
                    kept[c, m] = list(measure.sweep(m, c, run))
                    progress.add(1)
        measure.write([p for points in kept.values() for p in points], path)
        store.close()
    except (OSError, ValueError) as error:
        raise fail(str(error)) from None


@command.command()
@click.option("--channel", "channels", multiple=True, metavar="SPEC",
              help="May be repeated.  [default: good, moderate, poor]")
@click.option("--mode", "modes", multiple=True, metavar="MODE",
              help="May be repeated.  [default: 4539-2400S, 4539-6400S, 4539-9600S]")
@click.option("--trials", type=click.IntRange(1), default=8, show_default=True,
              help="Transmissions of 30 s at each SNR.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True,
              help="Of the fading.")
def learned(channels: Tuple[str, ...], modes: Tuple[str, ...], trials: int, seed: int) -> None:
    """How near hf channel --learn comes: modes over a learned channel and the true one.

    A transmission of 45 s goes through each channel, with noise, offset and clock error; its
    recording is learned from. Then each mode is tried on what the paths truly did and on what was
    learned, with other noise, for the SNR at which one bit in a thousand is wrong.
    """
    import tempfile
    from concurrent.futures import ThreadPoolExecutor
    from ..lab.channel import learned as measure
    on, tried = list(channels) or measure.CHANNELS, list(modes) or measure.MODES
    try:
        with tempfile.TemporaryDirectory() as folder, \
                ThreadPoolExecutor(os.cpu_count() or 1) as executor:
            rows = watched(measure.measure(on, tried, seed, trials, folder, executor),
                           len(on) * len(tried),
                           lambda row: f"{row.channel} {row.mode}: {row.difference_db:+.2f} dB")
    except ValueError as error:
        raise fail(str(error)) from None
    print(measure.table(rows))


@command.command("late-entry")
@click.option("--bandwidth", type=int, default=3, show_default=True, metavar="KHZ")
@click.option("--waveform", "waveforms", type=click.IntRange(1, 13), multiple=True,
              help="Only this one; may be repeated.")
@click.option("--interleaver", "interleavers", type=click.Choice(["US", "S", "M", "L"]),
              multiple=True, default=["S"], show_default=True, help="May be repeated.")
@click.option("--trials", type=click.IntRange(1), default=10, show_default=True,
              help="Transmissions of each mode and channel.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True,
              help="Of the first of them.")
@click.option("-j", "--jobs", type=click.IntRange(0), default=0, help="At once.  [default: "
              "as many as processors]")
def late_entry(bandwidth: int, waveforms: Tuple[int, ...], interleavers: Tuple[str, ...],
               trials: int, seed: int, jobs: int) -> None:
    """How surely transmissions of 5069 are joined whose first two seconds were missed.

    Each of three Long blocks, with an offset of up to 75 Hz, on AWGN at the SNR that its data are
    wanted to need and on Poor at the standard's limit; the receiver is told the bandwidth alone.
    """
    from concurrent.futures import ThreadPoolExecutor
    from ..lab.receiver import late_entry as measure
    wanted = measure.conditions(bandwidth, waveforms, interleavers)
    if not wanted:
        raise click.UsageError(f"bandwidth {bandwidth} has none of these waveforms")
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as executor:
        rows = watched(measure.measure(wanted, trials, seed, executor), len(wanted),
                       lambda row: f"{row.condition.mode} {row.condition.channel}")
    print(measure.table(rows))
