# SPDX-License-Identifier: GPL-3.0-or-later
"""hf demodulate: finds every transmission in a recording."""
import json
import os
import sys
from typing import Any, BinaryIO, Dict, List, Optional, Tuple

import click
import numpy as np

from . import fail
from .. import hf_python as _hf
from .. import demodulation, dump, output, recording
from ._output import checked
from ._progress import Progress


def _say(report: demodulation.Report, as_json: bool) -> None:
    if as_json:
        # JSON has no NaN or infinity: write null.
        text = json.dumps({k: None if isinstance(v, float) and not np.isfinite(v) else v
                           for k, v in report.items()})
        click.echo(text, err=True)
    else:
        click.echo("{mode} from {start_s:.2f} s to {end_s:.2f} s: {octets} octets, "
                   "SNR {snr_db:.1f} dB, offset {freq_offset_hz:+.1f} Hz, ended: {ended}"
                   .format(**report) + (", its start was missed" if report["joined"] else ""),
                   err=True)


class _Input:
    """The recordings of one or two antennas, opened again for each bandwidth."""

    def __init__(self, path: str, other: Optional[str], sample_rate: Optional[float],
                 raw_format: Optional[str], iq: bool) -> None:
        self._path, self._other = path, other
        self._form = sample_rate, raw_format, iq
        self.pipe = recording.KeptInput(sys.stdin.buffer) if "-" in (path, other) else None
        self.source, self.second = self._open(self.pipe)

    def again(self) -> bool:
        """Reopen from the start. Returns False if a pipe has given too much to be kept."""
        kept = self.pipe.again() if self.pipe is not None else None
        paths = self.source.paths + (self.second.paths if self.second else [])
        if not all(kept is not None if name == "-" else os.path.isfile(name) for name in paths):
            return False
        self.source, self.second = self._open(kept)
        return True

    def forget(self) -> None:
        """Keep no input for another reading."""
        if self.pipe is not None:
            self.pipe.forget()

    def write(self, octets: bytes) -> None:
        """Write received octets. The bandwidth is then known, and the input no longer kept."""
        self.forget()
        sys.stdout.buffer.write(octets)
        sys.stdout.buffer.flush()

    def _open(self, stdin: Optional[BinaryIO]
              ) -> Tuple[recording.Recording, Optional[recording.Recording]]:
        path, other, form = self._path, self._other, self._form
        if other == "channels":
            first, second = (recording.open_recording(path, *form, channel, stdin)
                             for channel in (0, 1))
            return first, second
        return (recording.open_recording(path, *form, stdin=stdin),
                recording.open_recording(other, *form, stdin=stdin) if other else None)


def _try_all(heard: _Input, tried: List[int], subcarrier: Optional[float],
             reception: demodulation.Reception, show: bool, options: Dict[str, Any]) -> float:
    """Receive in one bandwidth (kHz) after the other, until one has data. Returns the duration,
    s."""
    if len(tried) == 1:
        heard.forget()
    seconds = 0.0
    for khz in tried:
        source = heard.source
        if khz != tried[0] and not heard.again():
            others = ", ".join(str(k) for k in tried[tried.index(khz):])
            click.echo(f"hf: warning: {source.name}: cannot be read again in other bandwidths "
                       f"({others} kHz): see --bandwidth", err=True)
            break
        with Progress(f"{source.name}, {khz} kHz", shown=show) as progress:
            seconds = demodulation.demodulate(
                heard.source, reception, demodulation.subcarrier_of(source, khz, subcarrier),
                bandwidth=khz, second=heard.second, progress=progress.share, **options)
        if reception.octets or reception.complete:
            break
    return seconds


@click.command(short_help="Samples to octets.")
@click.argument("path", metavar="[IN]", default="-", type=click.Path(allow_dash=True))
@click.option("--sample-rate", type=click.FloatRange(_hf.MIN_AUDIO_RATE, _hf.MAX_AUDIO_RATE),
              help="Sample rate of raw samples, samples/s.")
@click.option("--format", "raw_format", type=click.Choice(sorted(recording.RAW_FORMATS)),
              help="IN holds raw samples: 16-bit integers or floats, little endian, real or "
              "complex (c).")
@click.option("--subcarrier", type=float,
              help="Centre of the signal, Hz.  [default: 1800 in 3 kHz, 300 + half of the "
              "bandwidth in others; 0 for complex samples]")
@click.option("--bandwidth", type=int, metavar="KHZ",
              help="Bandwidth of the channel, kHz: 3 (every waveform of 4539 and 5069), or 6 to "
              "48 (5069).  [default: try the one named in a SigMF file, then all that fit the "
              "sample rate, from 3 up, until one has data]")
@click.option("--iq", is_flag=True, help="The two channels of a WAV file are I and Q.")
@click.option("--zero-interleaver", is_flag=True,
              help="Treat the serial tone's short interleaver as none (Z). The waveform does not "
              "distinguish the two.")
@click.option("--effort", type=click.IntRange(0, 2), default=1, show_default=True,
              help="0 equalises and decodes once, 1 iterates between the two, 2 iterates longer.")
@click.option("--join/--no-join", default=True, show_default=True,
              help="Join transmissions of 5069 whose preamble was missed, at the start of their "
              "next Long block. The receiver finds their mode by trial decoding.")
@click.option("--json", "as_json", is_flag=True,
              help="Report each transmission as one line of JSON on standard error.")
@click.option("--diversity", "other", type=click.Path(), metavar="IN2|channels",
              help="Second recording from another antenna or receiver, started at the same time "
              "(within a few ms). Both are decoded together. While one has no signal, the other "
              "is decoded alone. channels: the two channels of IN (WAV or SigMF) are two "
              "antennas.")
@click.option("--dump", "folder", type=click.Path(file_okay=False), metavar="FOLDER",
              help="Write intermediate results for transmission NNN as numpy arrays: "
              "NNN-blocks.npy (SNR, Doppler and other figures of each interleaver block), "
              "NNN-symbols.npy (equalised), NNN-llrs.npy, NNN-taps.npy, NNN-profile.npy.")
@click.option("--force", is_flag=True, help="Replace arrays in FOLDER.")
@click.option("-q", "--quiet", is_flag=True, help="Report errors only.")
def command(path: str, sample_rate: Optional[float], raw_format: Optional[str],
            subcarrier: Optional[float], bandwidth: Optional[int], iq: bool,
            zero_interleaver: bool, effort: int, join: bool, as_json: bool, other: Optional[str],
            folder: Optional[str], force: bool, quiet: bool) -> None:
    """Find every transmission in IN and write its octets to standard output at once.

    IN is a WAV file, a SigMF recording (its .sigmf-meta or .sigmf-data), raw samples
    (--format and --sample-rate), or - (the default) for a WAV or raw samples on standard
    input. The receiver finds bandwidth, mode, frequency offset and level. It uses one bandwidth
    for the whole recording, the first that has data.

    The exit status is 0 if at least one transmission was received from its preamble to its
    end-of-message mark, 1 if none was, 2 for wrong use.

    \b
    Keys of --json: mode, start_s, end_s (seconds of input), freq_offset_hz, snr_db (in
    the bandwidth, of the mean power), octets, ended (eom; lost: no end-of-message mark;
    preempted: by a new preamble), joined (whether its start was missed), doppler_hz
    (two-sigma spread), delay_spread_ms (two standard deviations), coded_ber (share of coded
    bits that the decoder corrected).

    \b
    Examples:
      hf demodulate recording.wav > message.txt
      hf demodulate --format s16le --sample-rate 48000 recording.s16le
      hf demodulate recording.sigmf-meta > picture.jpg
      hf demodulate --bandwidth 12 --subcarrier 24000 if.wav > picture.jpg
      hf demodulate north.wav --diversity south.wav > message.txt
      hf demodulate both.wav --diversity channels > message.txt
      arecord -t wav -f S16_LE -r 48000 | hf demodulate --json -
    """
    if raw_format is not None and sample_rate is None:
        raise click.UsageError("--format needs --sample-rate")
    if sample_rate is not None and raw_format is None:
        raise click.UsageError("--sample-rate is for raw samples and needs --format")
    if path == "-" and sys.stdin.isatty():
        raise click.UsageError("no input: name a file or use a pipe")
    try:
        heard = _Input(path, other, sample_rate, raw_format, iq)
        reception = demodulation.Reception(
            heard.write, lambda report: None if quiet and not as_json else _say(report, as_json))
        source, second = heard.source, heard.second
        if second is not None and second.complex_samples != source.complex_samples:
            raise recording.RecordingError(f"{second.name}: IN and IN2 must be both audio or both "
                                           "complex")
        with checked():
            output.check_stdout(source.paths + (second.paths if second else []))
            dumped = dump.Dump(folder, force) if folder else None
        # Octets on the same terminal would damage the progress bar.
        show = not quiet and not sys.stdout.isatty()
        tried = ([bandwidth] if bandwidth is not None
                 else demodulation.bandwidths_of(source, subcarrier))
        options: Dict[str, Any] = {"zero_interleaver": zero_interleaver, "effort": effort,
                                   "dumped": dumped, "join": join}
        seconds = _try_all(heard, tried, subcarrier, reception, show, options)
    except recording.RecordingError as error:
        raise fail(str(error)) from None
    except ValueError as error:
        raise fail(f"{path}: {error}") from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise fail(f"standard output: {error.strerror}") from None
    for warning in heard.source.warnings + (heard.second.warnings if heard.second else []):
        click.echo(f"hf: warning: {warning}", err=True)
    if reception.complete == 0:
        if reception.found == 0:
            raise fail(f"{source.name}: no transmission found in {seconds:.1f} s")
        raise fail(f"{source.name}: {reception.found} transmission(s) found, none complete")
