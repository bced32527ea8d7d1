# SPDX-License-Identifier: GPL-3.0-or-later
"""hf modulate: octets to audio or to baseband samples."""
from dataclasses import asdict, dataclass
import os
import sys
from typing import Any, Optional, Tuple

import click

from .. import hf_python as _hf
from ..options import option
from ..recordings import recording
from ..recordings.sigmf import sigmf_base, sigmf_files
from ..signals import modulation
from ..system import output
from . import fail
from ._options import options
from ._output import checked, force_option
from ._progress import Progress


def parse_mode(context: click.Context, parameter: click.Parameter, value: str) -> Any:
    """Click callback from text to mode."""
    try:
        return _hf.mode(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _read(path: str) -> bytes:
    if path == "-":
        if sys.stdin.isatty():
            raise click.UsageError("no input: name a file or use a pipe")
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise fail(f"{path}: {error.strerror}") from None


def _check_output(source: str, target: str, sigmf: bool, named: bool, force: bool) -> None:
    """Check the output before anything is read. named: IN was given."""
    if target == "-":
        if sigmf:
            raise click.UsageError("SigMF needs two files: OUT must be a name")
        if sys.stdout.isatty():
            raise click.UsageError("samples are not written to a terminal: name a file or use a "
                                   "pipe")
    with checked():
        if target == "-":
            output.check_stdout([source])
            return
        targets = sigmf_files(target) if sigmf else [target]
        if not named and not force and os.path.isfile(target) and os.path.getsize(target):
            # Even a file of ours: if OUT was forgotten, this name is IN.
            raise output.Refused(f"{target}: exists and is the only name given; give IN and OUT "
                                 "(- for standard input), or --force to replace it")
        output.check_all(targets, [source], force)


@dataclass(frozen=True)
class Signal:
    """Options of a transmission besides its mode and octets."""

    level_db: float = option(-3.0, "Highest peak, dB of full scale.", flag="--level",
                             least=-60, most=0)
    agc_blocks: int = option(0, "AGC (TLC) training blocks before the preamble: up to 7 in 4539 "
                                "modes of 3200 bit/s and above, up to 255 in 5069 modes.", least=0,
                             most=255)
    superframes: Optional[int] = option(None, "How often the preamble is sent (5069 modes).  "
                                              "[default: 1; waveform 0: 2, in 3 kHz 3; waveform 1 "
                                              "in 3 kHz: 2]", least=1, most=32)
    short_preamble: bool = option(False, "Short form of the preamble, with one super-frame only "
                                         "(5069 modes).")
    eot: bool = option(False, "Append an end-of-transmission signal (5069 modes).")
    lead_s: float = option(0.5, "Silence before the transmission, s.", flag="--lead", least=0,
                           most=3600)
    tail_s: float = option(0.5, "Silence after the transmission, s.",
                           flag="--tail", least=0, most=3600)


@click.command(short_help="Octets to samples.", options_metavar="--mode MODE [OPTIONS]")
@click.argument("paths", nargs=-1, metavar="[IN] OUT", type=click.Path(allow_dash=True))
@click.option("--mode", required=True, metavar="MODE", callback=parse_mode,
              help="Waveform, for example 4539-600S; hf info --modes lists all.")
@click.option("--complex", "sigmf", is_flag=True,
              help="Write complex baseband, 4 samples for each symbol (9600 samples/s in "
              "3 kHz), as SigMF (OUT.sigmf-data, cf32, and OUT.sigmf-meta) instead of audio.")
@click.option("--sample-rate", type=click.IntRange(_hf.MIN_AUDIO_RATE, _hf.MAX_AUDIO_RATE),
              default=48000, show_default=True, help="Sample rate of the audio, samples/s.")
@click.option("--subcarrier", type=float, default=1800.0, show_default=True,
              help="Centre of the signal in the audio, Hz.")
@options(Signal, "signal")
@force_option
def command(paths: Tuple[str, ...], mode: Any, sigmf: bool, sample_rate: int, subcarrier: float,
            signal: Signal, force: bool) -> None:
    """Turn the octets of IN into one transmission and write its samples to OUT.

    IN is a file, or - (the default) for standard input. OUT is a WAV file (16 bits, mono),
    or - for standard output. A name that ends in .sigmf-data means --complex. hf does not
    overwrite files that it has not written.

    \b
    Examples:
      hf modulate --mode 4539-600S message.txt message.wav
      hf modulate --mode 4539-9600VL - - < picture.jpg | hf demodulate - > copy.jpg
      hf modulate --mode 4539-75L --complex message.txt message
      hf modulate --mode 5069-48k-240000L --complex message.txt message
    """
    if not 1 <= len(paths) <= 2:
        raise click.UsageError("give [IN] OUT: the file with the octets, if it is not standard "
                               "input, and the file for the samples")
    source, target = ("-", *paths)[-2:]
    base = sigmf_base(target)
    sigmf = sigmf or base != target
    _check_output(source, target, sigmf, len(paths) == 2, force)
    try:
        # Report wrong options before the input is read.
        empty = modulation.Transmission(mode, b"", **asdict(signal))
        rate = empty.sample_rate()
        if not sigmf and rate != _hf.BASEBAND_RATE:
            raise ValueError(f"mode {mode} is {mode.bandwidth_hz // 1000} kHz wide, audio is "
                             "limited to 3 kHz: use --complex")
        _hf.baseband_to_audio(sample_rate, subcarrier)
        transmission = empty._replace(octets=_read(source))
    except ValueError as error:
        raise click.UsageError(str(error)) from None

    try:
        with Progress(f"{len(transmission.octets)} octets") as progress:
            if sigmf:
                modulation.write_sigmf(base, transmission, progress.share)
                return
            with output.replacing(target) as file:
                modulation.write_wav(file, transmission, sample_rate, subcarrier, progress.share)
    except recording.RecordingError as error:
        raise fail(f"{target}: {error}") from None
