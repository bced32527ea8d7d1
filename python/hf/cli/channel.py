# SPDX-License-Identifier: GPL-3.0-or-later
"""hf channel: recordings through the simulated channel, and channels learned from recordings."""
import contextlib
from dataclasses import dataclass
import math
import time
from typing import List, Optional, Tuple

import click

from ..channels import impair
from ..options import option
from ..radio.live_channel import LiveChannel
from ..recordings import recording, sigmf
from ..system import output
from . import fail
from ._options import options
from ._output import checked
from ._progress import Progress
from .run import end_on_signals


@dataclass(frozen=True)
class Live:
    """Options of a live channel between sound devices."""

    live: bool = option(False, "IN and OUT are sound devices (hf radio list). The channel runs "
                               "between them in real time until Ctrl-C.")
    back: Optional[Tuple[str, str]] = option(None, "For --live: devices of the reverse direction.",
                                             metavar="IN OUT",
                                             kind=(str, str))
    signal: float = option(-9.0, "For --live: mean power of the signal in IN, dB of full scale. "
                                 "The SNR refers to it.", least=-60, most=0)
    duration: Optional[float] = option(None, "For --live: end after this time, s.", least=0.1)


@dataclass(frozen=True)
class Learning:
    """Options of a channel learned from a recording."""

    recorded: Optional[str] = option(
        None, "Estimate the channel of the longest transmission in this recording (WAV or SigMF), "
              "and write it to a channel file.", flag="--learn", metavar="RECORDING",
        kind=click.Path(dir_okay=False))
    out: Optional[str] = option(None, "For --learn: the channel file, SigMF.  [default: the name "
                                "of RECORDING with -channel]", metavar="FILE",
                                kind=click.Path(dir_okay=False))
    bandwidth: int = option(3, "For --learn: bandwidth of the transmission.", metavar="KHZ")

    def __post_init__(self) -> None:
        if self.out and self.recorded is None:
            raise ValueError("--out is for --learn")
        if self.recorded == "-":
            raise ValueError("RECORDING must be a file")


@dataclass(frozen=True)
class Common:
    """Options of more than one use."""

    seed: int = option(1, "Seed of noise and fading.", least=0)
    subcarrier: Optional[float] = option(None, "Centre of the signal in audio, Hz.  [default: "
                                               "1800; with --learn the usual one of the "
                                               "bandwidth]")
    level: float = option(-3.0, "Highest peak of the result, dB of full scale.", least=-60, most=0)
    plot: Optional[str] = option(
        None, "With --learn: draw the paths and their gains over time (PNG, SVG or PDF).",
        kind=click.Path(dir_okay=False))
    force: bool = option(False, "Replace files that hf has not written.")

    @property
    def centre_hz(self) -> float:
        """Centre of the signal in audio, Hz."""
        return 1800.0 if self.subcarrier is None else self.subcarrier


def _live(channel: str, ways: List[Tuple[str, str]], live: Live, common: Common) -> None:
    end_on_signals()
    duration = live.duration
    try:
        box = LiveChannel(channel, ways, common.seed, live.signal,
                          subcarrier_hz=common.centre_hz)
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


def _learn(path: str, learning: Learning, common: Common) -> None:
    from ..channels import learn
    target = learning.out or sigmf.sigmf_base(path) + "-channel.sigmf-meta"
    with checked(), Progress(path) as progress:
        got = learn.learn(path, target, common.subcarrier, learning.bandwidth, common.force,
                          progress.share)
    print(learn.table(got))
    if common.plot:
        learn.draw(got, common.plot)
    click.echo(f"{got.mode} from {got.start_s:.2f} s, {got.seconds:.1f} s long, "
               f"{100 * got.channel.used:.0f} % of it used: SNR {got.snr_db:.1f} dB, offset "
               f"{got.channel.offset_hz:+.2f} Hz, clock {got.channel.clock_ppm:+.1f} ppm; "
               f"replay it with learned={sigmf.sigmf_base(target)}.sigmf-meta", err=True)


@click.command(short_help="A recording through the simulated channel.")
@click.argument("channel", required=False, metavar="[CHANNEL")
@click.argument("source", required=False, metavar="IN", type=click.Path(dir_okay=False))
@click.argument("target", required=False, metavar="OUT]", type=click.Path(dir_okay=False))
@options(Common, "common")
@options(Live, "live")
@options(Learning, "learning")
def command(channel: Optional[str], source: Optional[str], target: Optional[str], common: Common,
            live: Live, learning: Learning) -> None:
    """Send the recording IN through a simulated HF channel and write OUT.

    IN is a WAV file, or a SigMF recording of complex samples. OUT has the same format. hf never
    overwrites IN, or a file that it has not written. The SNR refers to 3 kHz and to the mean
    power of the signal in IN.

    CHANNEL is one word or more: clear, awgn; good, moderate, poor, flutter (ITU-R F.520);
    low-, mid-, high- with quiet, moderate or disturbed, and nvis (ITU-R F.1487);
    paths=DELAY_MS:GAIN_DB:SPREAD_HZ,...; learned=FILE (written by --learn); snr=DB;
    offset=HZ drift=HZ_PER_S sweep=HZ_PER_S; clock=PPM; impulses=PER_S:DB[:MS];
    carriers=HZ:DB[:HZ_PER_S],...; morse=HZ:DB[:WPM]; rtty=HZ:DB[:BAUD:SHIFT_HZ];
    filter=fir|butterworth|elliptic:LOW_HZ:HIGH_HZ (from the middle of the channel); gain=DB;
    step=DB:S; agc=S.

    --learn decodes RECORDING, modulates the octets again, and compares the two signals to
    estimate how the paths changed. Frequency offset and clock error are estimated separately.
    The file holds no noise. A Markdown table goes to standard output.

    \b
    Examples:
      hf channel "poor snr=18 offset=40" clean.wav faded.wav
      hf channel "nvis snr=25 clock=50 impulses=2:20" clean.wav rough.wav
      hf channel --live "poor snr=18" plughw:CARD=A plughw:CARD=B --signal -12
      hf channel --learn heard.sigmf-meta --out tuesday
      hf channel "learned=tuesday.sigmf-meta snr=12" clean.wav as-on-tuesday.wav
    """
    named = [a for a in (channel, source, target) if a is not None]
    if len(named) != (0 if learning.recorded is not None else 3):
        raise click.UsageError("give CHANNEL IN OUT, or --learn")
    if live.live and len(named) != 3:
        raise click.UsageError("--live needs CHANNEL and two sound devices")
    if common.plot and not live.live:
        with checked():
            output.check_picture(common.plot, [learning.recorded] if learning.recorded else [],
                                 common.force)
    try:
        if learning.recorded is not None:
            _learn(learning.recorded, learning, common)
        else:
            assert channel is not None and source is not None and target is not None
            if live.live:
                _live(channel, [(source, target)] + ([live.back] if live.back else []), live,
                      common)
            else:
                _impair(channel, source, target, common)
    except ValueError as error:
        raise fail(str(error)) from None


def _impair(channel: str, source: str, target: str, common: Common) -> None:
    if source == "-":
        raise click.UsageError("IN is read more than once: give a file")
    with checked(), Progress(source) as progress:
        power = impair.impair(lambda: recording.open_recording(source), target, channel,
                              common.seed, common.centre_hz, common.level, common.force,
                              progress.share)
    click.echo(f"signal {10 * math.log10(power):.1f} dB of full scale", err=True)
