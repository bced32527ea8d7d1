# SPDX-License-Identifier: GPL-3.0-or-later
"""hf monitor: all channels of one wide recording, or of an SDR."""
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
import json
import os
import signal
import time
from typing import Any, Dict, List, Optional, Tuple

import click
import numpy as np

from .. import hf_python as _hf
from .. import radio, station
from ..options import option
from ..recordings import recording
from ..signals import ale, demodulation
from ..system import output
from . import fail
from ._options import options
from ._output import checked
from ._progress import Progress

#: Raw formats of complex samples.
COMPLEX = [name for name, (_, iq) in recording.RAW_FORMATS.items() if iq]
#: Length of the pieces of the wide recording given to the receivers, s.
STEP_S = 1.0


class Channel:
    """One channel with its receiver."""

    def __init__(self, hz: float, effort: int) -> None:
        self.hz = hz
        # Searching for transmissions without preamble would cost at least a fifth more CPU.
        self.receiver = _hf.receiver(effort=effort, join=False)
        self.payload = bytearray()
        self.reports: List[Tuple[Dict[str, Any], bytes]] = []
        self.reception = demodulation.Reception(self.payload.extend, self._report)

    @property
    def found(self) -> int:
        """Number of transmissions so far."""
        return self.reception.found

    def _report(self, report: Dict[str, Any]) -> None:
        self.reports.append((report, bytes(self.payload)))
        self.payload.clear()

    def push(self, x: np.ndarray) -> None:
        """Process baseband of this channel."""
        self.reception.handle(self.receiver.push(x))

    def finish(self, seconds: float) -> None:
        """End the reception at the end of the recording."""
        self.push(demodulation.silence())
        self.reception.finish(seconds)


class AleChannel:
    """One channel with its receiver of 2G ALE, with the interface of Channel."""

    def __init__(self, hz: float) -> None:
        self.hz, self.found = hz, 0
        self.receiver = _hf.ale_receiver()
        self.reports: List[Tuple[Dict[str, Any], bytes]] = []

    def push(self, x: np.ndarray) -> None:
        """Process baseband of this channel."""
        self._take(self.receiver.push(x))

    def finish(self, seconds: float) -> None:
        """End the reception at the end of the recording."""
        self.push(np.zeros(round(ale.FLUSH_S * _hf.BASEBAND_RATE), np.complex64))
        self._take(self.receiver.finish())

    def _take(self, events: List[Dict[str, Any]]) -> None:
        frames = [(ale.rounded(e), b"") for e in events if e["type"] == "frame"]
        self.found += len(frames)
        self.reports += frames


def numbers(_: Any, __: Any, text: Optional[str]) -> Optional[List[float]]:
    """Click callback for numbers separated by commas."""
    if text is None:
        return None
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"'{text}': allowed are numbers separated by commas") from None


@dataclass(frozen=True)
class Device:
    """An SDR instead of a recording."""

    soapy: Optional[str] = option(None, "Instead of FILE: an SDR through SoapySDR, for example "
                                        "driver=lime, until Ctrl-C.", metavar="ARGS")
    uhd: Optional[str] = option(None, "Instead of FILE: an SDR through UHD, for example "
                                      "serial=30AD123, until Ctrl-C.", metavar="ARGS")
    frequency: Optional[float] = option(None, "SDR: centre of the received band.",
                                        least=0, most=6e9, metavar="HZ")
    gain: float = option(20.0, "SDR: receive gain, dB.", least=-200, most=200)
    antenna: str = option("", "SDR: antenna by name.")
    seconds: Optional[float] = option(None, "SDR: end after this time, s.", least=0.1)

    @property
    def kinds(self) -> List[str]:
        """The kinds of SDR that the options name."""
        return [kind for kind in ("soapy", "uhd") if getattr(self, kind) is not None]

    def open(self, sample_rate: Optional[float]) -> radio.WideReceiver:
        """The SDR with the interface of a recording. SIGINT and SIGTERM end it like the end of
        a file. Raises ValueError, RuntimeError."""
        kind, = self.kinds
        if not self.frequency or not sample_rate:
            raise click.UsageError(f"--{kind} needs --frequency and --sample-rate")
        sdr = station.Sdr(args=getattr(self, kind), frequency_hz=self.frequency,
                          sample_rate=sample_rate, rx_gain_db=self.gain, rx_antenna=self.antenna)
        sdr.check(kind)
        found = radio.WideReceiver(station.Radio(type=kind, sdr=sdr, transmit=False),
                                   lambda line: click.echo(line, err=True), self.seconds)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: found.stop())
        return found


@click.command(short_help="All channels of one wide recording, or of an SDR.")
@click.argument("path", metavar="FILE", required=False)
@options(Device, "device")
@click.option("--channels", callback=numbers, metavar="HZ,...",
              help="Centres of the channels, Hz from the middle of the recording.")
@click.option("--grid", type=click.FloatRange(100), metavar="HZ",
              help="Instead of --channels: a channel every HZ over the whole recording.")
@click.option("--sample-rate", type=float,
              help="Sample rate of raw samples or of the SDR, samples/s.")
@click.option("--format", "raw_format", type=click.Choice(COMPLEX),
              help="FILE holds raw complex samples.")
@click.option("--ale", "with_ale", is_flag=True,
              help="Instead of data modems: receive 2G ALE in every channel.")
@click.option("--effort", type=click.IntRange(0, 2), default=1, show_default=True,
              help="Effort of each receiver, as in hf demodulate.")
@click.option("--payload", metavar="FOLDER", help="Write the octets of each transmission to a "
                                                  "file CHANNEL-START.bin in FOLDER.")
def command(path: Optional[str], device: Device, channels: Optional[List[float]],
            grid: Optional[float], sample_rate: Optional[float], raw_format: Optional[str],
            with_ale: bool, effort: int, payload: Optional[str]) -> None:
    """Receive every 3 kHz channel of one wide complex recording (SigMF, raw, or a sound file
    with I and Q), or of an SDR.

    Prints a line of JSON for each transmission when it ends: channel_hz (centre of the channel,
    relative to the middle of the recording or the SDR's band) and the keys of hf demodulate
    --json. With --ale a line for each frame of 2G ALE, with the keys of hf ale decode --json. The
    centre of a channel is 1800 Hz above the dial frequency of its stations.

    \b
    Examples:
      hf monitor --grid 3000 band.sigmf-meta
      hf monitor --channels -42000,1500,27000 band.sigmf-meta --payload heard
      hf monitor --ale --channels -41200,1800,26800 band.sigmf-meta
      hf monitor --grid 3000 --soapy driver=lime --frequency 7.1e6 --sample-rate 200000
    """
    if (channels is None) == (grid is None):
        raise click.UsageError("give --channels or --grid")
    if (path is not None) + len(device.kinds) != 1:
        raise click.UsageError("give one of FILE, --soapy and --uhd")
    if with_ale and payload:
        raise click.UsageError("--payload is for data modems, not for --ale")
    if path is not None and (sample_rate is None) != (raw_format is None):
        raise click.UsageError("--format and --sample-rate belong together")
    try:
        if path is None:
            source: Any = device.open(sample_rate)
        else:
            source = recording.open_recording(path, sample_rate, raw_format, iq=True)
        if not source.complex_samples:
            raise fail(f"{path}: holds real samples; allowed are complex ones (I and Q)")
        centres = channels or _hf.channeliser.grid(source.rate, grid)
        cutter = _hf.channeliser(source.rate, centres)
    except (ValueError, RuntimeError) as error:
        raise fail(str(error)) from None
    if payload:
        with checked():
            output.make_folder(payload)
    listening: List[Any] = [AleChannel(hz) if with_ale else Channel(hz, effort) for hz in centres]
    begin, worked = time.monotonic(), time.process_time()
    try:
        with Progress(source.name) as progress:
            heard_s = receive(source, cutter, listening, payload, progress)
    except (recording.RecordingError, RuntimeError) as error:
        raise fail(str(error)) from None
    for warning in source.warnings:
        click.echo(f"hf: warning: {warning}", err=True)
    found = sum(c.found for c in listening)
    pace = heard_s / max(time.monotonic() - begin, 1e-9)
    at_once = len(centres) * heard_s / max(time.process_time() - worked, 1e-9)
    what = "frames" if with_ale else "transmissions"
    click.echo(f"{found} {what} in {len(centres)} channels, {heard_s:.1f} s, {pace:.1f} "
               f"times real time, {at_once:.0f} channels in real time per processor", err=True)


def receive(source: Any, cutter: _hf.channeliser,
            listening: List[Any], payload: Optional[str], progress: Progress) -> float:
    """Receive all channels of a recording or a radio.WideReceiver. Returns its duration, s."""
    samples, waiting, count = 0, [], 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        def hand_out() -> None:
            # Receivers release the GIL, so threads use all processors.
            parts = cutter.push(np.concatenate(waiting))
            list(pool.map(lambda pair: pair[0].push(pair[1]), zip(listening, parts)))
            waiting.clear()
            say(listening, cutter.delay_s, payload)

        for piece in source.pieces():
            progress.share(source.share())
            waiting.append(piece)
            samples += len(piece)
            count += len(piece)
            if count >= STEP_S * source.rate:
                hand_out()
                count = 0
        waiting.append(np.zeros(round(cutter.block_s * source.rate), np.complex64))
        hand_out()
        seconds = samples / source.rate
        list(pool.map(lambda c: c.finish(seconds), listening))
    say(listening, cutter.delay_s, payload)
    return seconds


def say(listening: List[Any], delay_s: float, payload: Optional[str]) -> None:
    """Print ended transmissions, channel by channel, and write their payloads."""
    for channel in listening:
        for report, octets in channel.reports:
            report["start_s"] = round(report["start_s"] - delay_s, 4)
            click.echo(json.dumps({"channel_hz": channel.hz, **report}))
            if payload and octets:
                name = f"{channel.hz:+.0f}-{report['start_s']:.2f}.bin"
                with checked(), output.replacing(os.path.join(payload, name)) as file:
                    file.write(octets)
        channel.reports.clear()
