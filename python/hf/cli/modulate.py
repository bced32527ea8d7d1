# SPDX-License-Identifier: GPL-3.0-or-later
"""hf modulate: octets to audio or to baseband samples."""
import re
import sys
from typing import Any, BinaryIO, Dict, Iterator, List, Tuple

import click
import numpy as np

from . import fail
from .. import hf_python as _hf
from .. import passband, recording

#: Baseband samples made at a time.
PIECE = 1 << 15


def parse_mode(context: click.Context, parameter: click.Parameter, value: str) -> Any:
    """A click callback: text to mode."""
    try:
        return _hf.mode(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _read(path: str) -> bytes:
    if path == "-":
        if sys.stdin.isatty():
            raise click.UsageError("there is no input: name a file or use a pipe")
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise fail(f"{path}: {error.strerror}") from None


def _baseband(mode: Any, octets: bytes, agc_blocks: int, lead: float, tail: float
              ) -> Iterator[np.ndarray]:
    """The transmission between its silences, in pieces."""
    yield from _silence(lead)
    modulator = _hf.modulator(mode, octets, agc_blocks)
    while len(piece := modulator.read(PIECE)):
        yield piece
    yield from _silence(tail)


def _silence(seconds: float) -> Iterator[np.ndarray]:
    left = round(seconds * passband.BASEBAND_RATE)
    while left:
        count = min(left, PIECE)
        yield np.zeros(count, np.complex64)
        left -= count


def _audio(baseband: Iterator[np.ndarray], rate: int, subcarrier: float) -> Iterator[np.ndarray]:
    converter = passband.Upconverter(rate, subcarrier)
    for piece in baseband:
        yield converter.push(piece)
    yield converter.finish()


def _measure(pieces: Iterator[np.ndarray]) -> Tuple[float, int]:
    """Largest magnitude and number of samples."""
    peak, count = 0.0, 0
    for piece in pieces:
        if len(piece):
            peak = max(peak, float(np.max(np.abs(piece))))
        count += len(piece)
    return peak, count


def _annotation(mode: Any, octets: int, lead: float, tail: float, count: int
                ) -> List[Dict[str, Any]]:
    begin = round(lead * passband.BASEBAND_RATE)
    return [{
        "core:sample_start": begin,
        "core:sample_count": count - begin - round(tail * passband.BASEBAND_RATE),
        "core:freq_lower_edge": -1500.0,
        "core:freq_upper_edge": 1500.0,
        "core:label": str(mode),
        "core:comment": f"{octets} octets, mode {mode}",
    }]


def _output(path: str) -> BinaryIO:
    if path == "-":
        return sys.stdout.buffer
    try:
        return open(path, "wb")
    except OSError as error:
        raise fail(f"{path}: {error.strerror}") from None


@click.command(short_help="Octets to samples.", options_metavar="--mode MODE [OPTIONS]")
@click.argument("paths", nargs=-1, metavar="[IN] OUT", type=click.Path(allow_dash=True))
@click.option("--mode", required=True, metavar="MODE", callback=parse_mode,
              help="Waveform, for example 4539-600S; hf info --modes lists all.")
@click.option("--complex", "sigmf", is_flag=True,
              help="Write complex baseband at 9600 samples/s as SigMF (OUT.sigmf-data, cf32, "
              "and OUT.sigmf-meta) instead of audio.")
@click.option("--sample-rate", type=click.IntRange(passband.MIN_RATE, passband.MAX_RATE),
              default=48000, show_default=True, help="Of the audio, samples/s.")
@click.option("--subcarrier", type=float, default=1800.0, show_default=True,
              help="Centre of the signal in the audio, Hz.")
@click.option("--level", type=click.FloatRange(-60, 0), default=-3.0, show_default=True,
              help="Highest peak, dB of full scale.")
@click.option("--agc-blocks", type=click.IntRange(0, 7), default=0, show_default=True,
              help="AGC training blocks ahead of the preamble (3200 bit/s and above).")
@click.option("--lead", type=click.FloatRange(0, 3600), default=0.5, show_default=True,
              help="Silence before the transmission, s.")
@click.option("--tail", type=click.FloatRange(0, 3600), default=0.5, show_default=True,
              help="Silence after it, s.")
def command(paths: Tuple[str, ...], mode: Any, sigmf: bool, sample_rate: int, subcarrier: float,
            level: float, agc_blocks: int, lead: float, tail: float) -> None:
    """Turn the octets of IN into one transmission and write its samples to OUT.

    IN is a file, or - (the default) for standard input. OUT is a WAV file (16 bits, mono),
    or - for standard output; a name that ends in .sigmf-data means --complex.

    \b
    Examples:
      hf modulate --mode 4539-600S message.txt message.wav
      hf modulate --mode 4539-9600VL - - < picture.jpg | hf demodulate - > copy.jpg
      hf modulate --mode 4539-75L --complex message.txt message
    """
    if not 1 <= len(paths) <= 2:
        raise click.UsageError("give [IN] OUT: a file of octets, if it is not standard input, "
                               "and where the samples go")
    source, target = ("-", *paths)[-2:]
    base = re.sub(r"\.sigmf(-data|-meta)?$", "", target)
    sigmf = sigmf or base != target
    if target == "-":
        if sigmf:
            raise click.UsageError("SigMF is two files: give OUT a name")
        if sys.stdout.isatty():
            raise click.UsageError("samples are not written to a terminal: name a file or use a "
                                   "pipe")
    octets = b""
    try:
        # What is wrong with the options must show before the input is read.
        _hf.modulator(mode, b"", agc_blocks)
        passband.Upconverter(sample_rate, subcarrier)
        octets = _read(source)
    except ValueError as error:
        raise click.UsageError(str(error)) from None

    def baseband() -> Iterator[np.ndarray]:
        return _baseband(mode, octets, agc_blocks, lead, tail)

    # The first pass finds the level and the length, the second one writes.
    if sigmf:
        peak, _ = _measure(baseband())
        gain = 10 ** (level / 20) / peak
        try:
            recording.write_sigmf(
                base, passband.BASEBAND_RATE, (piece * gain for piece in baseband()),
                f"HF data transmission, {mode}, {len(octets)} octets; complex baseband around "
                "the subcarrier",
                lambda count: _annotation(mode, len(octets), lead, tail, count))
        except OSError as error:
            raise fail(f"{error.filename or base}: {error.strerror}") from None
        return
    peak, count = _measure(_audio(baseband(), sample_rate, subcarrier))
    gain = 10 ** (level / 20) / peak
    pieces = (piece * gain for piece in _audio(baseband(), sample_rate, subcarrier))
    file = _output(target)
    try:
        recording.write_wav(file, sample_rate, count, pieces)
        file.flush()
    except recording.RecordingError as error:
        raise fail(f"{target}: {error}") from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise fail(f"{target}: {error.strerror}") from None
    finally:
        if target != "-":
            file.close()
