# SPDX-License-Identifier: GPL-3.0-or-later
"""hf demodulate: finds every transmission in a recording."""
import json
import sys
from typing import Any, Dict, Iterable, List, Optional

import click
import numpy as np

from . import fail
from .. import hf_python as _hf
from .. import passband, recording

#: Silence after the end of the input, s: the receiver notices that a signal has gone.
FLUSH_S = 8.0

#: Of the channel, reported as the mean over the blocks: digits after the point.
CHANNEL_DIGITS = {"doppler_hz": 2, "delay_spread_ms": 2, "coded_ber": 4}


class Reporter:
    """Octets to standard output as they come, one report for each transmission."""

    def __init__(self, as_json: bool, quiet: bool) -> None:
        self._json, self._quiet = as_json, quiet
        self._current: Optional[Dict[str, Any]] = None
        self._snrs: List[float] = []
        self._channel: Dict[str, List[float]] = {}
        self.found = self.complete = 0

    def handle(self, events: Iterable[Dict[str, Any]]) -> None:
        """Take events of the receiver, in order."""
        for event in events:
            kind = event["type"]
            if kind == "start":
                self.found += 1
                self._snrs = []
                self._channel = {key: [] for key in CHANNEL_DIGITS}
                self._current = {
                    "mode": event["mode"],
                    "start_s": round(event["time"], 4),
                    "end_s": None,
                    "freq_offset_hz": round(event["freq_offset_hz"], 2),
                    "snr_db": round(event["snr_db"], 1),
                    "octets": 0,
                    "ended": None,
                }
            elif kind == "octets" and self._current is not None:
                self._current["octets"] += len(event["octets"])
                self._snrs.append(event["snr_db"])
                for key, values in self._channel.items():
                    if key in event:
                        values.append(event[key])
                sys.stdout.buffer.write(event["octets"])
                sys.stdout.buffer.flush()
            elif kind == "end":
                self._end(event["time"], event["reason"])

    def finish(self, time_s: float) -> None:
        """End a transmission that the end of the input cut off."""
        self._end(time_s, "lost")

    def _end(self, time_s: float, reason: str) -> None:
        report, self._current = self._current, None
        if report is None:
            return
        if self._snrs:
            report["snr_db"] = round(sum(self._snrs) / len(self._snrs), 1)
        for key, values in self._channel.items():
            report[key] = (round(sum(values) / len(values), CHANNEL_DIGITS[key])
                           if values else None)
        report["end_s"], report["ended"] = round(time_s, 4), reason
        self.complete += reason == "eom"
        if self._json:
            # What JSON has no number for becomes null.
            text = json.dumps({k: None if isinstance(v, float) and not np.isfinite(v) else v
                               for k, v in report.items()})
            click.echo(text, err=True)
        elif not self._quiet:
            click.echo("{mode} from {start_s:.2f} s to {end_s:.2f} s: {octets} octets, "
                       "SNR {snr_db:.1f} dB, offset {freq_offset_hz:+.1f} Hz, ended: {ended}"
                       .format(**report), err=True)


def demodulate(source: recording.Recording, subcarrier: float, zero_interleaver: bool,
               effort: int, reporter: Reporter) -> float:
    """Everything in the recording; gives its duration in seconds."""
    converter = passband.Downconverter(source.rate, subcarrier)
    receiver = _hf.receiver(zero_interleaver, effort=effort)
    samples = 0
    for piece in source.pieces():
        samples += len(piece)
        reporter.handle(receiver.push(converter.push(piece)))
    reporter.handle(receiver.push(converter.finish()))
    silence = np.zeros(round(FLUSH_S * passband.BASEBAND_RATE), np.complex64)
    reporter.handle(receiver.push(silence))
    reporter.finish(samples / source.rate)
    return samples / source.rate


@click.command(short_help="Samples to octets.")
@click.argument("path", metavar="[IN]", default="-", type=click.Path(allow_dash=True))
@click.option("--sample-rate", type=click.FloatRange(passband.MIN_RATE, passband.MAX_RATE),
              help="Of raw samples, samples/s.")
@click.option("--format", "raw_format", type=click.Choice(sorted(recording.RAW_FORMATS)),
              help="IN holds raw samples: 16-bit integers or floats, little endian, real or "
              "complex (c).")
@click.option("--subcarrier", type=float,
              help="Centre of the signal, Hz.  [default: 1800; 0 for complex samples]")
@click.option("--iq", is_flag=True, help="The two channels of a WAV file are I and Q.")
@click.option("--zero-interleaver", is_flag=True,
              help="Take the serial tone's short interleaver for none (Z): the waveform does not "
              "tell them apart.")
@click.option("--effort", type=click.IntRange(0, 2), default=1, show_default=True,
              help="0 equalises and decodes once, 1 iterates between the two, 2 iterates longer.")
@click.option("--json", "as_json", is_flag=True,
              help="Report each transmission as one line of JSON on standard error.")
@click.option("-q", "--quiet", is_flag=True, help="Report errors only.")
def command(path: str, sample_rate: Optional[float], raw_format: Optional[str],
            subcarrier: Optional[float], iq: bool, zero_interleaver: bool, effort: int,
            as_json: bool, quiet: bool) -> None:
    """Find every transmission in IN and write its octets to standard output as they come.

    IN is a WAV file, a SigMF recording (its .sigmf-meta or .sigmf-data), raw samples
    (--format and --sample-rate), or - (the default) for a WAV or raw samples on standard
    input. Mode, frequency offset and level are found by themselves.

    The exit status is 0 if at least one transmission was received up to its end-of-message
    mark, 1 if none was, 2 for wrong use.

    \b
    Keys of --json: mode, start_s, end_s (seconds of input), freq_offset_hz, snr_db (in
    3 kHz, mean over the blocks), octets, ended (eom; lost: no end-of-message mark came;
    preempted: by a new preamble), doppler_hz (two-sigma spread), delay_spread_ms (two
    standard deviations), coded_ber (share of coded bits that the decoder corrected).

    \b
    Examples:
      hf demodulate recording.wav > message.txt
      hf demodulate --format s16le --sample-rate 48000 recording.s16le
      arecord -t wav -f S16_LE -r 48000 | hf demodulate --json -
    """
    if raw_format is not None and sample_rate is None:
        raise click.UsageError("--format needs --sample-rate")
    if sample_rate is not None and raw_format is None:
        raise click.UsageError("--sample-rate is for raw samples and needs --format")
    if path == "-" and sys.stdin.isatty():
        raise click.UsageError("there is no input: name a file or use a pipe")
    reporter = Reporter(as_json, quiet)
    try:
        source = recording.open_recording(path, sample_rate, raw_format, iq)
        if subcarrier is None:
            subcarrier = 0.0 if source.complex_samples else 1800.0
        seconds = demodulate(source, subcarrier, zero_interleaver, effort, reporter)
    except recording.RecordingError as error:
        raise fail(str(error)) from None
    except ValueError as error:
        raise fail(f"{path}: {error}") from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise fail(f"standard output: {error.strerror}") from None
    for warning in source.warnings:
        click.echo(f"hf: warning: {warning}", err=True)
    if reporter.complete == 0:
        if reporter.found == 0:
            raise fail(f"{source.name}: no transmission found in {seconds:.1f} s")
        raise fail(f"{source.name}: {reporter.found} transmission(s) found, none complete")
