# SPDX-License-Identifier: GPL-3.0-or-later
"""hf ber: bit error rates over simulated channels, and the standard's tables."""
import os
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Any, Callable, List, Optional, Tuple

import click

from .. import hf_python as hf
from .. import machine, output
from . import fail
from ._output import checked, force_option
from ._progress import Progress


def _executor(jobs: int, scheduler: Optional[str]) -> Tuple[Executor, int]:
    """Where trials run, and how many at once."""
    if scheduler is None:
        jobs = jobs or os.cpu_count() or 1
        return ThreadPoolExecutor(jobs), jobs
    try:
        from distributed import Client  # type: ignore[import]
    except ImportError:
        raise fail("--scheduler needs Dask: install python3-distributed") from None
    try:
        client = Client(scheduler, timeout=10)
    except OSError as error:
        raise fail(f"scheduler {scheduler}: {error}") from None
    return client.get_executor(), jobs or 2 * max(1, sum(client.nthreads().values()))


def _range(text: str, option: str = "--snr") -> List[float]:
    """A:B:STEP or values with commas."""
    try:
        if ":" in text:
            first, last, step = (float(x) for x in text.split(":"))
            if not 0 < step or not first <= last or (last - first) / step > 1000:
                raise ValueError
            return [round(first + i * step, 6) for i in range(int((last - first) / step + 1.5))
                    if first + i * step <= last + 1e-9]
        return [float(x) for x in text.split(",")]
    except ValueError:
        raise click.BadParameter(f'"{text}": allowed are FIRST:LAST:STEP and A,B,C',
                                 param_hint=option) from None


def _check(mode: str, channel: str) -> None:
    try:
        hf.mode(mode)
        hf.channel_model(channel)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _part(progress: Progress, number: int, share: float) -> None:
    """A share of the part with this number is done."""
    progress.at(number + share)


def _acquire(finding: Any, conditions: List[Any], trials: int, executor: Executor, width: int,
             store: Any, seed: int, counts: Any) -> None:
    outcomes = []
    with Progress("acquisition", len(conditions)) as progress:
        for condition in conditions:
            outcomes.append(finding.counted(condition, trials, executor, width, store, seed,
                                            counts))
            said = f"{condition.mode} {condition.point.channel}"
            click.echo(f"{said}: {outcomes[-1].found} of {trials}", err=True)
            progress.add(1, said)
    print(finding.table(outcomes))


def _silence(finding: Any, channels: Tuple[str, ...], bandwidths: List[int], hours: float,
             effort: int, executor: Executor, seed: int, pieces: Any) -> None:
    for bandwidth in bandwidths:
        for channel in channels:
            noise = channel if "snr=" in channel else f"{channel} snr=0"
            with Progress(f"{bandwidth} kHz, {noise}") as progress:
                false = finding.silence(noise, hours, effort, executor, seed, bandwidth,
                                        progress.share, pieces)
            print(f"{bandwidth} kHz, {noise}: {len(false)} found in {hours:g} h of noise"
                  + (f": {', '.join(sorted(false))}" if false else ""), flush=True)


def _snr_report(modes: Tuple[str, ...], channels: List[str], snrs: List[float],
                leads: List[float], seconds: float, trials: int, executor: Executor,
                seed: int) -> None:
    from ..lab.receiver import snr_report as reports
    print(reports.header(snrs))
    cases = [reports.Case(mode, channel, lead)
             for channel in channels for mode in modes for lead in leads]
    with Progress("reported SNR", len(cases) * len(snrs)) as progress:
        for case in cases:
            errors = []
            for snr in snrs:
                progress.add(0, f"{case.mode} {case.channel} {snr:g} dB")
                errors.append(reports.measure(case, snr, seconds, trials, executor, seed))
                progress.add(1)
            print(reports.row(case, errors), flush=True)


def _draw(ber: Any, csv_path: str, plot: str) -> None:
    """The table and the curves of what is in a file."""
    from ..lab.receiver import curves
    if not os.path.exists(csv_path):
        raise fail(f"{csv_path}: there is no such file")
    store = ber.Store(csv_path)
    results = store.results()
    store.close()
    if not results:
        raise fail(f"{csv_path}: it holds no trials")
    print(ber.table(results))
    curves.draw(results, plot)


@click.command()
@click.option("--mode", "modes", multiple=True, metavar="MODE", help="May be repeated.")
@click.option("--channel", "channels", multiple=True, metavar="SPEC", default=["awgn"],
              show_default=True, help="Without its snr=; may be repeated.")
@click.option("--snr", metavar="FIRST:LAST:STEP",
              help="dB in the mode's bandwidth, or values with commas.")
@click.option("--standard", is_flag=True,
              help="Every row of the standard's tables instead of a sweep.")
@click.option("--row", "wanted", multiple=True, metavar="ID",
              help="With --standard: only this row (P01 to P35; D<kHz>-<waveform>-AWGN, -POOR, "
                   "-STATIC, -UP75, -DOWN75 or -SWEEP) or these (D12-*, D*-POOR); may be "
                   "repeated.")
@click.option("--scale", type=click.FloatRange(0.001, 10), default=1.0, show_default=True,
              help="With --standard: share of the durations that it asks for.")
@click.option("--search", is_flag=True,
              help="With --standard: also find the SNR that is enough, to 0.5 dB; of wideband "
                   "rows also a table of the dB below the limit.")
@click.option("--at-target", is_flag=True,
              help="With --standard: each wideband row not at its limit but at the SNR that we "
                   "want it to need: 0.7 dB above the ideal receiver on AWGN, 3 to 7.5 dB below "
                   "the limit on Poor.")
@click.option("--accept", is_flag=True,
              help="With --standard: the SNR from --at-target's on, in steps of 0.5 dB, at which "
                   "each wideband row is shown: 600 s and 3 million bits, half of them with seeds "
                   "of their own, nothing lost, and the bit error rate below the limit with "
                   "97.5 % (Poisson).")
@click.option("--acquisition", is_flag=True,
              help="How surely transmissions are found, each mode at the SNR its data need.")
@click.option("--snr-report", "report", is_flag=True,
              help="The SNR that the receiver reports against the true one: every mode (or each "
                   "--mode), -10 to 40 dB (or --snr), AWGN and Poor (or each --channel).")
@click.option("--f1487", is_flag=True,
              help="The SNR that each mode (or each --mode) needs on the ten channels of ITU-R "
                   "F.1487 (or each --channel), in steps of 2 dB, of --max-time each.")
@click.option("--lead", "leads", metavar="S,S...",
              help="With --snr-report: seconds of noise heard before a transmission.  "
                   "[default: 0.2,1,3,10]")
@click.option("--trials", type=click.IntRange(1), metavar="N",
              help="With --acquisition: transmissions of each mode and channel [default: 400]; "
                   "with --snr-report: of each figure [default: 3].")
@click.option("--bandwidth", "bandwidths", multiple=True, metavar="KHZ", default=["3"],
              show_default=True, type=click.Choice([str(khz) for khz in machine.BANDWIDTHS_KHZ]),
              help="With --silence: in which the receiver listens; with --acquisition: the "
                   "wideband waveforms of it; may be repeated.")
@click.option("--superframes", type=click.IntRange(1, 32),
              help="With --acquisition and --bandwidth: of the preamble.  [default: each mode's "
                   "own]")
@click.option("--waveform", "waveforms", type=click.IntRange(0, 13), multiple=True,
              help="With --acquisition and --bandwidth: only this one; may be repeated.")
@click.option("--silence", type=click.FloatRange(0.01, 1000), metavar="HOURS",
              help="How many transmissions are found in so many hours of noise alone.")
@click.option("--seconds", type=click.FloatRange(0.1, 3600), default=26.0, show_default=True,
              help="Of one transmission.")
@click.option("--max-bad", type=click.IntRange(1), default=20, show_default=True,
              help="A point ends after so many blocks with errors.")
@click.option("--max-time", type=click.FloatRange(0.1), default=600.0, show_default=True,
              help="A point ends after so many seconds of signal.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True,
              help="Of the first transmission; the others follow.")
@click.option("--effort", type=click.IntRange(0, 2), default=1, show_default=True,
              help="Of the receiver.")
@click.option("--genie", is_flag=True,
              help="With --mode: also with the channel known, which no receiver can beat by "
                   "estimating it.")
@click.option("--diversity", "antennas", type=click.IntRange(1, 2), default=1, show_default=True,
              help="With --mode: antennas, each of which fades by itself.")
@click.option("--csv", "csv_path", type=click.Path(dir_okay=False),
              help="Keep every transmission here (of --acquisition with --bandwidth counts, of "
                   "--silence pieces of ten minutes), and go on where an earlier run stopped.")
@click.option("--wideband-page", "page_of", metavar="FOLDER",
              type=click.Path(exists=True, file_okay=False),
              help="The page of what the files wideband-margins.csv, -codes.csv, "
                   "-acquisition.csv and -noise.csv in FOLDER hold; nothing is measured.")
@click.option("--plot", type=click.Path(dir_okay=False), help="Curves as PNG, SVG or PDF.")
@click.option("-j", "--jobs", type=click.IntRange(0), default=0,
              help="Transmissions at once.  [default: one per processor]")
@click.option("--scheduler", metavar="ADDRESS", help="Of a Dask cluster: tcp://host:8786.")
@force_option
def command(modes: Tuple[str, ...], channels: Tuple[str, ...], snr: Optional[str],
            standard: bool, wanted: Tuple[str, ...], scale: float, search: bool,
            at_target: bool, accept: bool, acquisition: bool, report: bool, f1487: bool,
            leads: Optional[str],
            trials: Optional[int], bandwidths: Tuple[str, ...], superframes: Optional[int],
            waveforms: Tuple[int, ...], silence: Optional[float], seconds: float,
            max_bad: int, max_time: float, seed: int, effort: int, genie: bool,
            antennas: int, csv_path: Optional[str], page_of: Optional[str],
            plot: Optional[str], jobs: int, scheduler: Optional[str], force: bool) -> None:
    """Measure bit error rates.

    \b
    hf ber --mode 4539-9600VL --channel poor --snr 20:26:1 --plot poor.png
    hf ber --mode 4539-9600VL --channel poor --snr 20:24:1 --genie
    hf ber --mode 4539-9600VL --channel poor --snr 15:18:1 --diversity 2
    hf ber --standard --scale 0.02
    hf ber --standard --row "D12-*" --scale 0.01 --search
    hf ber --standard --row "D12-*" --scale 0.05 --at-target --csv kept.csv
    hf ber --standard --row "D12-*" --accept --csv kept.csv
    hf ber --acquisition --trials 1000
    hf ber --snr-report --mode 4539-600S --lead 0.2,5 --seconds 5
    hf ber --f1487 --channel high-moderate --max-time 60
    hf ber --acquisition --silence 1 --bandwidth 12 --bandwidth 24 --trials 100
    hf ber --silence 24 --bandwidth 12 --csv noise.csv
    hf ber --wideband-page docs/measurements
    hf ber --silence 24 --channel awgn --channel "carriers=300:10 impulses=1:20"

    Every transmission is random octets through modulator, channel and receiver, which is told
    nothing; one that is not found counts with half of its bits wrong. The table is Markdown, on
    standard output. Equal seeds give equal figures on any number of processors.
    """
    from ..lab.receiver import acquisition as finding, ber, standard as tables, tally
    if page_of is not None:
        from ..lab.receiver import wideband_page
        try:
            with checked():
                print(wideband_page.page(page_of), end="")
        except (OSError, ValueError) as error:
            raise fail(str(error)) from None
        return
    if plot:
        with checked():
            output.check_picture(plot, [csv_path] if csv_path else [], force)
    kinds = (standard + bool(modes and not report and not f1487) + acquisition + report + f1487
             + (silence is not None and not acquisition))
    if kinds == 0 and csv_path and plot:
        _draw(ber, csv_path, plot)
        return
    if kinds != 1:
        raise click.UsageError("either --standard, or --acquisition, or --snr-report, or "
                               "--f1487, or --silence, or at least "
                               "one --mode with --snr; or --csv with --plot, to draw what it "
                               "holds")
    source = click.get_current_context().get_parameter_source
    wideband = source("bandwidths") != click.core.ParameterSource.DEFAULT
    counted = acquisition and wideband
    if counted and silence is not None and csv_path:
        raise click.UsageError("--csv keeps what --acquisition finds of a --bandwidth or what "
                               "--silence finds, not both")
    if genie and not modes:
        raise click.UsageError("--genie needs --mode")
    if modes and snr is None and not report and not f1487:
        raise click.UsageError("--mode needs --snr")
    if antennas > 1 and (genie or not modes):
        raise click.UsageError("--diversity is for --mode, without --genie")
    points = [ber.Point(m, " | ".join([f"{c} snr={s:g}"] * antennas), seconds, effort, known)
              for c in channels for m in modes for known in ([False, True] if genie else [False])
              for s in _range(snr or "0")]
    for point in points:
        _check(point.mode, point.channel.split("|")[0])
    for channel in channels:
        _check("4539-75S", channel)
    rows = tables.rows(wanted) if standard else []
    if at_target:
        rows = [r for r in rows if r.target_db is not None]
    if accept:
        rows = [r for r in rows if r.target_db is not None and r.max_ber is not None]
    if standard and not rows:
        raise click.UsageError(f"no row {', '.join(wanted)}; there are P01 to P35 and D3-0-AWGN "
                               "to D48-12-STATIC")
    try:
        with checked():
            pieces = tally.Tally(tally.Noise, csv_path if silence is not None else None)
            counts = tally.Tally(tally.Found, csv_path if counted else None)
            store = ber.Store(None if counted or silence is not None else csv_path)
    except (OSError, ValueError) as error:
        raise fail(f"{csv_path}: {error}") from None
    if at_target and (search or not standard):
        raise click.UsageError("--at-target is for --standard, without --search")
    if accept and (at_target or search or not standard
                   or any(source(name) != click.core.ParameterSource.DEFAULT
                          for name in ("scale", "seed"))):
        raise click.UsageError("--accept is for --standard, without --at-target, --search, "
                               "--scale or --seed: its seeds are given")
    executor, width = _executor(jobs, scheduler)
    results: List[Any] = []
    widths = [int(b) for b in bandwidths]
    told: Callable[[float], None] = lambda _: None  # takes the share of a point that is done

    def run(point: ber.Point, stop: ber.Stop, first: int = seed) -> ber.Result:
        result = ber.measure(point, stop, executor, width, store, first,
                             progress=lambda share: told(share))
        click.echo(f"{point.name} {point.channel}: {result.bad_blocks} bad of {result.blocks} "
                   f"blocks, BER {result.ber:.1e}, lost {result.lost} of {result.trials}",
                   err=True)
        results.append(result)
        return result

    try:
        if standard:
            outcomes = []
            with Progress("rows of the standard", len(rows)) as progress:
                for number, row in enumerate(rows):
                    progress.at(number, f"{row.id} {row.mode}")
                    if not search and not accept:  # several measurements a row
                        told = partial(_part, progress, number)
                    outcomes.append(
                        tables.accept(row, effort, run) if accept else
                        tables.check(row, scale, effort, search, run, at_target))
            print(tables.table(outcomes))
            if (search or at_target or accept) and any(r.id.startswith("D") for r in rows):
                print("\n" + tables.margins(outcomes))
        elif acquisition or silence is not None:
            if acquisition:
                _acquire(finding, [c for b in (widths if wideband else [None])
                                   for c in finding.conditions(b, superframes, waveforms)],
                         trials or 400, executor, width, store, seed, counts)
            if silence is not None:
                _silence(finding, channels, widths, silence, effort, executor, seed, pieces)
        elif f1487:
            from ..lab.receiver import f1487 as profiles
            given = click.get_current_context().get_parameter_source
            default = click.core.ParameterSource.DEFAULT
            wanted_profiles = (profiles.PROFILES if given("channels") == default
                               else list(channels))
            air_s = 120.0 if given("max_time") == default else max_time
            pairs = [(m, p) for p in wanted_profiles for m in modes or profiles.MODES]
            needs = []
            with Progress("F.1487", len(pairs)) as progress:
                for mode, profile in pairs:
                    progress.add(0, f"{mode} {profile}")
                    needs.append(profiles.find(mode, profile, air_s, effort, run))
                    progress.add(1)
            print(profiles.table(needs, wanted_profiles))
        elif report:
            from ..lab.receiver import snr_report as reports
            given = click.get_current_context().get_parameter_source
            default = click.core.ParameterSource.DEFAULT
            _snr_report(modes or tuple(reports.MODES),
                        reports.CHANNELS if given("channels") == default else list(channels),
                        _range(snr) if snr else reports.SNRS_DB,
                        _range(leads, "--lead") if leads else reports.LEADS_S,
                        min(seconds, 6.0) if given("seconds") == default else seconds,
                        trials or 3, executor, seed)
        else:
            with Progress("bit error rates", len(points)) as progress:
                for number, point in enumerate(points):
                    progress.at(number, f"{point.name} {point.channel}")
                    told = partial(_part, progress, number)
                    run(point, ber.Stop(max_bad, max_time))
            print(ber.table(results))
        if plot:
            from ..lab.receiver import curves
            curves.draw(results, plot)
    except (OSError, ValueError) as error:
        raise fail(str(error)) from None
    finally:
        executor.shutdown(wait=True)
        store.close()
