# SPDX-License-Identifier: GPL-3.0-or-later
"""hf ale: 2G ALE in recordings."""
import json
import sys
from typing import Optional, Tuple

import click

from .. import hf_python as _hf
from ..plain_text import plain
from ..recordings import recording
from ..signals import ale, demodulation
from ..system import output
from . import fail
from ._options import options
from ._output import checked, force_option
from ._progress import Progress
from .demodulate import Form


@click.group()
def command() -> None:
    """2G ALE (MIL-STD-188-141 Appendix A): decode recordings, and make frames."""


def _line(event: ale.Event) -> str:
    """A frame or a word as a line for a person."""
    text = event["text"] if event["type"] == "frame" else "  " + event["word"]
    return (f"{event['start_s']:9.2f} s  {event['snr_db']:5.1f} dB  "
            f"{event['freq_offset_hz']:+6.1f} Hz  {plain(text)}")


@command.command()
@click.argument("paths", metavar="FILE...", nargs=-1, required=True,
                type=click.Path(allow_dash=True))
@options(Form, "form")
@click.option("--subcarrier", type=float, metavar="HZ",
              help="Middle of the 3 kHz channel in the recording.  [default: 1800; for complex "
                   "samples 0]")
@click.option("--words", is_flag=True, help="Also print each word.")
@click.option("--json", "as_json", is_flag=True, help="Print lines of JSON.")
def decode(paths: Tuple[str, ...], form: Form, subcarrier: Optional[float], words: bool,
           as_json: bool) -> None:
    """Print every frame in the recordings: calls, answers, sounds and messages.

    FILE is a WAV file, a SigMF recording, raw samples (--format and --sample-rate), or - for
    standard input. Frequency offsets of up to 100 Hz are found.

    A line has the start in the recording, the mean SNR in 3 kHz, the frequency offset and the
    frame. Its form is TO JOE AMD "HELLO" TIS SAM: the called addresses, commands, and the
    sender. TIS wants an answer, TWAS does not. Three points stand for what was not read.

    \b
    Keys of --json: file, type (frame or word), start_s, end_s, snr_db, freq_offset_hz; of a
    frame: kind (call, close, sound, cut), text, to, from, quick_id, commands, answer_wanted,
    words, lost, bit_errors (mean of 48 votes that are not unanimous); of a word: word, votes
    (unanimous), score (correlation, up to 12.1).

    The exit status is 0 if a frame was found, 1 if none was, 2 for wrong use.

    \b
    Examples:
      hf ale decode recording.wav
      hf ale decode --json --words *.wav
      arecord -t wav -f S16_LE -r 8000 | hf ale decode -
    """
    found, bad = 0, []
    if "-" in paths and sys.stdin.isatty():
        raise click.UsageError("no input: name a file or use a pipe")
    for path in paths:
        try:
            source = recording.open_recording(path, form.sample_rate, form.raw_format, form.iq,
                                              form.number)
            middle = demodulation.subcarrier_of(source, 3, subcarrier)
            with Progress(source.name, shown=not sys.stdout.isatty()) as progress:
                for event in ale.decode(source, middle, progress.share):
                    frame = event["type"] == "frame"
                    found += frame
                    if not frame and not (words and event["type"] == "word"):
                        continue
                    if as_json:
                        click.echo(json.dumps({"file": path, **ale.rounded(event)}))
                    else:
                        click.echo((f"{path}: " if len(paths) > 1 else "") + _line(event))
            for warning in source.warnings:
                click.echo(f"hf: warning: {warning}", err=True)
        except ValueError as error:
            named = isinstance(error, recording.RecordingError)
            bad.append(str(error) if named else f"{path}: {error}")
            if len(paths) > 1:
                click.echo(f"hf: {bad[-1]}", err=True)
    if bad:
        raise fail(bad[0] if len(paths) == 1 else f"{len(bad)} of {len(paths)} recordings could "
                   "not be read")
    if not found:
        raise fail("no frame found")


@command.command()
@click.argument("path", metavar="OUT.wav", type=click.Path(allow_dash=True))
@options(ale.Frame, "frame")
@click.option("--sample-rate", type=click.IntRange(_hf.MIN_AUDIO_RATE, _hf.MAX_AUDIO_RATE),
              default=48000, show_default=True, help="Sample rate of the audio, samples/s.")
@click.option("--level", "level_db", type=click.FloatRange(-60, 0), default=-3.0,
              show_default=True, help="Peak, dB of full scale.")
@force_option
def encode(path: str, frame: ale.Frame, sample_rate: int, level_db: float, force: bool) -> None:
    """Write one frame as audio to OUT.wav (16 bits, mono; - is standard output), and print its
    words.

    \b
    Examples:
      hf ale encode --from SAM --to JOE call.wav
      hf ale encode --from SAM --to JOE --channels 10 --amd "QRV 14109" --lqa call.wav
      hf ale encode --from SAM --twas --sounds 10 sound.wav
    """
    try:
        words = frame.words()
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if path == "-" and sys.stdout.isatty():
        raise click.UsageError("samples are not written to a terminal: name a file or use a pipe")
    with checked():
        if path != "-":
            output.check(path, force=force)
        with output.replacing(path) as file:
            ale.write_wav(file, words, sample_rate, level_db)
    for word in words:
        click.echo(word, err=path == "-")
