# SPDX-License-Identifier: GPL-3.0-or-later
"""hf channel: recordings through the simulated channel, and measurements of the channel."""
import contextlib
import math
import time
from typing import List, Optional, Tuple

import click

from . import fail
from .. import output, recording
from ..lab.channel import impair
from ..radio.live_channel import LiveChannel
from ._output import checked, force_option
from ._progress import Progress
from .run import end_when_told


def _validate(spread: float, hours: float, seed: int, plot: Optional[str]) -> None:
    from ..lab.channel import validation as measure
    seconds = 3600 * hours
    with Progress("one path") as progress:
        checks = measure.fading(spread, seconds, seed, progress.share)
    with Progress("two paths") as progress:
        checks += measure.independence(spread, min(seconds, 3600.0), seed, progress.share)
    with Progress("noise, delays and powers"):
        checks += measure.steady(min(60.0, seconds), seed)
    print(measure.table(checks))
    if plot:
        with Progress("the picture"):
            measure.draw(spread, seconds, seed, plot)
    bad = sum(not c.good for c in checks)
    if bad:
        raise fail(f"{bad} of {len(checks)} figures are off")


def _compare(spread: float, hours: float, seed: int, plot: Optional[str]) -> None:
    from ..lab.channel import models
    with Progress("models") as progress:
        table = models.compare(spread, 3600 * hours, seed, progress.share)
    print(table)
    if plot:
        with Progress("the picture"):
            models.draw(spread, 3600 * hours, seed, plot)


def _live(channel: str, ways: List[Tuple[str, str]], seed: int, signal: float,
          subcarrier: float, duration: Optional[float]) -> None:
    end_when_told()
    try:
        box = LiveChannel(channel, ways, seed, signal, subcarrier_hz=subcarrier)
    except RuntimeError as error:
        raise fail(str(error)) from None
    with box, contextlib.suppress(KeyboardInterrupt):
        begin = said = time.monotonic()
        while duration is None or time.monotonic() < begin + duration:
            time.sleep(0.1)
            for line in box.take_lines():
                click.echo(line, err=True)
            if time.monotonic() >= said + 5:
                said = time.monotonic()
                click.echo("input: " + "; ".join(
                    f"peak {peak:.1f} dB, mean {mean:.1f} dB" for peak, mean in box.levels()),
                    err=True)


def _learn(path: str, target: Optional[str], subcarrier: Optional[float], bandwidth: int,
           plot: Optional[str], force: bool) -> None:
    from .. import recording as recordings
    from ..lab.channel import learn
    target = target or recordings.sigmf_base(path) + "-channel.sigmf-meta"
    with checked(), Progress(path) as progress:
        got = learn.learn(path, target, subcarrier, bandwidth, force, progress.share)
    print(learn.table(got))
    if plot:
        learn.draw(got, plot)
    click.echo(f"{got.mode} from {got.start_s:.2f} s, {got.seconds:.1f} s long, "
               f"{100 * got.channel.used:.0f} % of it used: SNR {got.snr_db:.1f} dB, offset "
               f"{got.channel.offset_hz:+.2f} Hz, clock {got.channel.clock_ppm:+.1f} ppm; "
               f"replay it with learned={recordings.sigmf_base(target)}.sigmf-meta", err=True)


@click.command(short_help="A recording through the simulated channel.")
@click.argument("channel", required=False, metavar="[CHANNEL")
@click.argument("source", required=False, metavar="IN", type=click.Path(dir_okay=False))
@click.argument("target", required=False, metavar="OUT]", type=click.Path(dir_okay=False))
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--subcarrier", type=float,
              help="Centre of the signal in audio, Hz.  [default: 1800; with --learn the usual "
              "one of the bandwidth]")
@click.option("--level", type=click.FloatRange(-60, 0), default=-3.0, show_default=True,
              help="Highest peak of the result, dB of full scale.")
@click.option("--live", is_flag=True,
              help="IN and OUT are sound devices (hf radio list). The channel runs between them "
              "in real time until Ctrl-C.")
@click.option("--back", nargs=2, metavar="IN OUT", help="For --live: devices of the reverse "
              "direction.")
@click.option("--signal", type=click.FloatRange(-60, 0), default=-9.0, show_default=True,
              help="For --live: mean power of the signal in IN, dB of full scale. The SNR refers "
              "to it.")
@click.option("--duration", type=click.FloatRange(0.1), help="For --live: end after this time, "
              "s.")
@click.option("--learn", "recorded", metavar="RECORDING", type=click.Path(dir_okay=False),
              help="Estimate the channel of the longest transmission in this recording (WAV or "
              "SigMF), and write it to a channel file.")
@click.option("--out", metavar="FILE", type=click.Path(dir_okay=False),
              help="For --learn: the channel file, SigMF.  [default: the name of RECORDING with "
              "-channel]")
@click.option("--bandwidth", type=int, default=3, show_default=True, metavar="KHZ",
              help="For --learn: bandwidth of the transmission.")
@click.option("--validate", is_flag=True,
              help="Measure fading, noise and delays, and print them beside their nominal values.")
@click.option("--compare", is_flag=True,
              help="Print the same figures for GNU Radio's fading models and for ours.")
@click.option("--spread", type=click.FloatRange(0.05, 30), default=1.0, show_default=True,
              help="For --validate and --compare: two-sigma Doppler spread, Hz.")
@click.option("--hours", type=click.FloatRange(0.01, 100), default=3.0, show_default=True,
              help="For --validate and --compare: duration of fading (the standard: 3).")
@click.option("--plot", type=click.Path(dir_okay=False),
              help="Draw a picture (PNG, SVG or PDF). With --validate and --compare: Doppler "
              "spectrum and envelope. With --learn: the paths and their gains over time.")
@force_option
def command(channel: Optional[str], source: Optional[str], target: Optional[str], seed: int,
            subcarrier: Optional[float], level: float, live: bool, back: Optional[Tuple[str, str]],
            signal: float, duration: Optional[float], recorded: Optional[str],
            out: Optional[str], bandwidth: int, validate: bool, compare: bool,
            spread: float, hours: float, plot: Optional[str], force: bool) -> None:
    """Send the recording IN through a simulated HF channel and write OUT.

    IN is a WAV file, or a SigMF recording of complex samples. OUT has the same format. hf never
    overwrites IN, or a file that it has not written. The SNR refers to 3 kHz and to the mean
    power of the signal in IN.

    CHANNEL is one word or more: clear, awgn; good, moderate, poor, flutter (ITU-R F.520);
    low-, mid-, high- with quiet, moderate or disturbed, and nvis (ITU-R F.1487);
    paths=DELAY_MS:GAIN_DB:SPREAD_HZ,...; learned=FILE (written by --learn); snr=DB;
    offset=HZ drift=HZ_PER_S sweep=HZ_PER_S; clock=PPM; impulses=PER_S:DB[:MS];
    carriers=HZ:DB,...; morse=HZ:DB[:WPM];
    filter=fir|butterworth|elliptic:LOW_HZ:HIGH_HZ (from the middle of the channel); gain=DB;
    step=DB:S; agc=S.

    --learn decodes RECORDING, modulates the octets again, and compares the two signals to
    estimate how the paths changed. Frequency offset and clock error are estimated separately.
    The file holds no noise. A Markdown table goes to standard output.

    --validate checks the channel as required by MIL-STD-188-110C E.7, and more. A Markdown table
    goes to standard output. The exit status is 1 if a figure is off.

    \b
    Examples:
      hf channel "poor snr=18 offset=40" clean.wav faded.wav
      hf channel "nvis snr=25 clock=50 impulses=2:20" clean.wav rough.wav
      hf channel --live "poor snr=18" plughw:CARD=A plughw:CARD=B --signal -12
      hf channel --learn heard.sigmf-meta --out tuesday
      hf channel "learned=tuesday.sigmf-meta snr=12" clean.wav as-on-tuesday.wav
      hf channel --validate --plot spectrum.png
    """
    named = [a for a in (channel, source, target) if a is not None]
    kinds = (len(named) == 3) + validate + compare + (recorded is not None)
    if kinds != 1 or len(named) not in (0, 3):
        raise click.UsageError("give CHANNEL IN OUT, or --learn, or --validate, or --compare")
    if out and recorded is None:
        raise click.UsageError("--out is for --learn")
    if live and len(named) != 3:
        raise click.UsageError("--live needs CHANNEL and two sound devices")
    try:
        if recorded is not None:
            if recorded == "-":
                raise click.UsageError("RECORDING needs a name")
            if plot:
                with checked():
                    output.check_picture(plot, [recorded], force)
            _learn(recorded, out, subcarrier, bandwidth, plot, force)
            return
        subcarrier = 1800.0 if subcarrier is None else subcarrier
        if live:
            assert channel is not None and source is not None and target is not None
            _live(channel, [(source, target)] + ([back] if back else []), seed, signal,
                  subcarrier, duration)
            return
        if plot:
            with checked():
                output.check_picture(plot, force=force)
        if validate:
            _validate(spread, hours, seed, plot)
        elif compare:
            _compare(spread, hours, seed, plot)
        else:
            assert channel is not None and source is not None and target is not None
            if source == "-":
                raise click.UsageError("IN is read twice or more: give a file")
            with checked(), Progress(source) as progress:
                power = impair.impair(lambda: recording.open_recording(source), target, channel,
                                      seed, subcarrier, level, force, progress.share)
            click.echo(f"signal {10 * math.log10(power):.1f} dB of full scale", err=True)
    except ValueError as error:
        raise fail(str(error)) from None
