# SPDX-License-Identifier: GPL-3.0-or-later
"""hf demodulate: finds every transmission in a recording."""
from contextlib import contextmanager
from dataclasses import asdict, dataclass
import json
import os
import sys
from typing import Any, BinaryIO, Dict, Iterator, List, Optional, Tuple

import click
import numpy as np

from .. import hf_python as _hf
from ..options import option
from ..recordings import dump, recording
from ..signals import demodulation
from ..system import output
from . import _combine, fail
from ._options import options
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
                   .format(**report)
                   + (f" (the first {report['sure_octets']} octets are sure)"
                      if report["sure_octets"] < report["octets"] else "")
                   + (", its start was missed" if report["joined"] else "")
                   + (f", sideband: {report['sideband']}" if "sideband" in report else "")
                   + (f", reading: {report['reading']}" if report["reading"] != "standard"
                      else "") + (f", channel: {report['channel']}" if "channel" in report
                                  else "") + _combine.receivers(report),
                   err=True)


#: Channels of a stereo recording.
SIDES = ["left", "right"]


@dataclass(frozen=True)
class Form:
    """Format of the samples of a recording."""

    sample_rate: Optional[float] = option(
        None, "Sample rate of raw samples, samples/s.", least=recording.MIN_COMPLEX,
        most=_hf.MAX_AUDIO_RATE)
    raw_format: Optional[str] = option(
        None, "IN holds raw samples: integers of 8 or 16 bits (u without sign) or floats, little "
        "endian, real or complex (c).", flag="--format", choices=sorted(recording.RAW_FORMATS))
    iq: bool = option(False, "The two channels of a sound file are I and Q.")
    channel: Optional[str] = option(None, "Read this channel of two, instead of the left one. hf "
                                          "demodulate tries the others if nothing is found.",
                                    choices=SIDES)

    def __post_init__(self) -> None:
        if self.raw_format is not None and self.sample_rate is None:
            raise ValueError("--format needs --sample-rate")
        if self.sample_rate is not None and self.raw_format is None:
            raise ValueError("--sample-rate is for raw samples and needs --format")
        if self.channel is not None and self.iq:
            raise ValueError("--channel and --iq exclude each other")

    @property
    def number(self) -> Optional[int]:
        """The chosen channel, counted from 0."""
        return None if self.channel is None else SIDES.index(self.channel)


@dataclass(frozen=True)
class Receiver:
    """Options of the receiver."""

    zero_interleaver: bool = option(False, "Treat the serial tone's short interleaver as none "
                                           "(Z). The waveform does not distinguish the two.")
    effort: int = option(1, "0 equalises and decodes once, 1 iterates between the two, 2 iterates "
                         "longer.", least=0, most=2)
    join: bool = option(True, "Join transmissions of 5069 whose preamble was missed, at the start "
                              "of their next Long block. The receiver finds their mode by trial "
                              "decoding.",
                        flag="--join/--no-join")


@dataclass(frozen=True)
class Reports:
    """Outputs besides the octets."""

    as_json: bool = option(False, "Report each transmission as one line of JSON on standard "
                           "error.", flag="--json")
    folder: Optional[str] = option(
        None, "Write intermediate results for transmission NNN as numpy arrays: NNN-blocks.npy "
              "(SNR, Doppler and other figures of each interleaver block), NNN-symbols.npy "
              "(equalised), NNN-llrs.npy, NNN-taps.npy, NNN-profile.npy.", flag="--dump",
        metavar="FOLDER", kind=click.Path(file_okay=False))
    force: bool = option(False, "Replace arrays in FOLDER.")
    quiet: bool = option(False, "Report errors only.", short="-q")

    @property
    def show_progress(self) -> bool:
        """Whether to show a progress bar. Octets on the same terminal would damage it."""
        return not self.quiet and not sys.stdout.isatty()

    def say(self, report: demodulation.Report) -> None:
        """Report a transmission."""
        if self.as_json or not self.quiet:
            _say(report, self.as_json)


class _Input:
    """The recordings of one or two antennas, opened again for each bandwidth."""

    def __init__(self, path: str, other: Optional[str], form: Form) -> None:
        self._path, self._other = path, other
        self._asked = (form.sample_rate, form.raw_format, form.iq), form.number
        self._form, self._channel = self._asked
        #: How the channels are read, if that is not as asked for.
        self.layout = ""
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

    def other_layouts(self) -> List[str]:
        """Other ways to read the two channels of a recording in which nothing was found."""
        asked = self._form[2] or self._channel is not None or self._other is not None
        known = self.source.channels == 2 and not self.source.complex_samples
        return [] if asked or not known or not self.source.differ else ["I/Q", "right"]

    def use(self, layout: str) -> None:
        """Read the channels in another way, from the next again() on. "": as asked for."""
        self.layout = layout
        self._form, self._channel = self._asked
        if layout:
            self._form = (*self._form[:2], layout == "I/Q")
            self._channel = 1 if layout == "right" else None

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
            if path == "-":
                raise recording.RecordingError("standard input: two antennas need two pipes, or "
                                               "both channels of a WAV file")
            first, second = (recording.open_recording(path, *form, channel, stdin)
                             for channel in (0, 1))
            return first, second
        return (recording.open_recording(path, *form, self._channel, stdin),
                recording.open_recording(other, *form, self._channel, stdin) if other else None)


class _Search:
    """Receives from one part of a recording after the other, until one has data."""

    def __init__(self, heard: _Input, subcarrier: Optional[float], bandwidth: Optional[int],
                 reports: Reports, how: Dict[str, Any]) -> None:
        """bandwidth: kHz, None for all that fit. how: options of demodulation.demodulate()."""
        self._heard, self._subcarrier, self._bandwidth = heard, subcarrier, bandwidth
        self._reports, self._how = reports, how
        self._fresh = True  # the input has not been read
        self._cut = False   # the input cannot be read again
        #: Reports of the first part that had transmissions, but no data.
        self._empty: List[demodulation.Report] = []
        self.seconds = 0.0
        #: Transmissions found, and those received from preamble to end-of-message mark.
        self.found = self.complete = 0
        #: What was looked at besides the recording as asked for.
        self.layouts: List[str] = []
        self.second = False

    def run(self) -> None:
        """Look as asked for, then at other layouts, then for offsets and inverted sidebands."""
        if self._any([demodulation.View(khz) for khz in self._bandwidths()]):
            return
        self.layouts = self._heard.other_layouts()
        for layout in self.layouts:
            self._heard.use(layout)
            if self._any([demodulation.View(khz) for khz in self._bandwidths()]):
                return
        for layout in ["", *self.layouts]:
            self._heard.use(layout)
            if self._any([view for khz in self._likely()
                          for view in demodulation.second_search(khz)]):
                return
            self.second = not self._cut
        for report in self._empty:
            self._say(report)
        self.found = len(self._empty)

    def _bandwidths(self) -> List[int]:
        return ([self._bandwidth] if self._bandwidth is not None
                else demodulation.bandwidths_of(self._heard.source, self._subcarrier))

    def _likely(self) -> List[int]:
        """Bandwidths of the second search. In all of them it would take minutes."""
        bandwidths = self._bandwidths()
        return [khz for khz in bandwidths if khz in (bandwidths[0], 3)]

    def _say(self, report: demodulation.Report) -> None:
        layout = self._heard.layout
        self._reports.say({**report, "channel": layout} if layout else report)

    def _any(self, views: List[demodulation.View]) -> bool:
        """Whether one of them has data."""
        for number, view in enumerate(views):
            if not self._fresh and not self._cut and not self._heard.again():
                self._cut = True
                self._warn(views[number:])
            if self._cut:
                return False
            if view.shift_hz and not demodulation.fits(self._heard.source, view,
                                                       self._subcarrier):
                continue
            self._fresh = False
            if self._one(view):
                return True
        return False

    def _warn(self, views: List[demodulation.View]) -> None:
        others = ", ".join(str(view.khz) for view in views if view == demodulation.View(view.khz))
        if others:
            click.echo(f"hf: warning: {self._heard.source.name}: cannot be read again in other "
                       f"bandwidths ({others} kHz): see --bandwidth", err=True)

    def _one(self, view: demodulation.View) -> bool:
        held: List[demodulation.Report] = []

        def say(report: demodulation.Report) -> None:
            held.append(report)
            while held and (reception.octets or reception.complete):
                self._say(held.pop(0))

        reception = demodulation.Reception(self._heard.write, say)
        source = self._heard.source
        with Progress(f"{source.name}, {view.khz} kHz",
                      shown=self._reports.show_progress) as progress:
            self.seconds = demodulation.demodulate(
                source, reception, demodulation.subcarrier_of(source, view.khz, self._subcarrier),
                view=view, second=self._heard.second, progress=progress.share, **self._how)
        self._empty = self._empty or held
        self.found, self.complete = reception.found, reception.complete
        return bool(reception.octets or reception.complete)


@click.command(short_help="Samples to octets.")
@click.argument("paths", metavar="[IN]...", nargs=-1, type=click.Path(allow_dash=True))
@options(Form, "form")
@click.option("--subcarrier", type=float,
              help="Centre of the signal, Hz.  [default: 1800 in 3 kHz, 300 + half of the "
              "bandwidth in others; 0 for complex samples]")
@click.option("--bandwidth", type=int, metavar="KHZ",
              help="Bandwidth of the channel, kHz: 3 (every waveform of 4539 and 5069), or 6 to "
                   "48 (5069).  [default: try the one named in a SigMF file, then all that fit "
                   "the sample rate, from 3 up, until one has data]")
@options(Receiver, "receiver")
@click.option("--diversity", "other", type=click.Path(), metavar="IN2|channels",
              help="Second recording from another antenna or receiver, started at the same time "
                   "(within a few ms). Both are decoded together. While one has no signal, the "
                   "other is decoded alone. channels: the two channels of IN (WAV or SigMF) are "
                   "two antennas.")
@click.option("--combine", is_flag=True,
              help="IN are 2 to 6 recordings of the same transmissions from different places, by "
                   "receivers with clocks of their own, started at most 3 s apart. Every "
                   "transmission is decoded from all of them.")
@options(Reports, "reports")
def command(paths: Tuple[str, ...], form: Form, subcarrier: Optional[float],
            bandwidth: Optional[int], receiver: Receiver, other: Optional[str], combine: bool,
            reports: Reports) -> None:
    """Find every transmission in IN and write its octets to standard output at once.

    IN is a WAV file, a SigMF recording (its .sigmf-meta or .sigmf-data), raw samples
    (--format and --sample-rate), or - (the default) for a WAV or raw samples on standard
    input. The receiver finds bandwidth, mode, frequency offset and level. It uses one bandwidth
    for the whole recording, the first that has data.

    The exit status is 0 if at least one transmission was received from its preamble to its
    end-of-message mark, 1 if none was, 2 for wrong use.

    If nothing is found within 75 Hz of the subcarrier, a second search looks up to 250 Hz off,
    and for an inverted spectrum (the other sideband, or I and Q exchanged). It looks in 3 kHz and
    in the bandwidth that was given or named.

    \b
    Keys of --json: mode, start_s, end_s (seconds of input), freq_offset_hz, snr_db (in
    the bandwidth, of the mean power), octets, sure_octets (those up to the last block at whose
    end the signal was still there; later ones may be noise), ended (eom; lost: no end-of-message
    mark; preempted: by a new preamble), joined (whether its start was missed), reading
    (standard, or reversed: scrambler and code as pdn-soundmodem sends them), doppler_hz
    (two-sigma spread), delay_spread_ms (two standard deviations), coded_ber (share of coded
    bits that the decoder corrected), sideband (only if inverted), channel (only of two channels
    that are not read as asked).

    With --combine, times are those of the first IN that took part, and snr_db is the sum over
    all of them. The key receivers lists each IN that took part: recording, start_s,
    freq_offset_hz, snr_db, blocks, joined.

    \b
    Examples:
      hf demodulate recording.wav > message.txt
      hf demodulate --format s16le --sample-rate 48000 recording.s16le
      hf demodulate recording.sigmf-meta > picture.jpg
      hf demodulate --bandwidth 12 --subcarrier 24000 if.wav > picture.jpg
      hf demodulate north.wav --diversity south.wav > message.txt
      hf demodulate both.wav --diversity channels > message.txt
      hf demodulate oslo.wav graz.wav porto.wav --combine > message.txt
      arecord -t wav -f S16_LE -r 48000 | hf demodulate --json -
    """
    if combine:
        _combine.check(paths, {"--diversity": other is not None,
                               "--dump": reports.folder is not None})
        with _failures(", ".join(paths)):
            _combine.run(paths, lambda: [_open(path, form) for path in paths], subcarrier,
                         bandwidth, reports.show_progress, reports.say, **asdict(receiver))
        return
    if len(paths) > 1:
        raise click.UsageError(f"{len(paths)} recordings ({', '.join(paths)}): more than one "
                               "need --combine")
    path = paths[0] if paths else "-"
    if path == "-" and sys.stdin.isatty():
        raise click.UsageError("no input: name a file or use a pipe")
    with _failures(path):
        _one(_Input(path, other, form), subcarrier, bandwidth, receiver, reports)


def _open(path: str, form: Form) -> recording.Recording:
    return recording.open_recording(path, form.sample_rate, form.raw_format, form.iq, form.number)


@contextmanager
def _failures(name: str) -> Iterator[None]:
    """Errors of reading and writing become errors of the command."""
    try:
        yield
    except recording.RecordingError as error:
        raise fail(str(error)) from None
    except ValueError as error:
        raise fail(f"{name}: {error}") from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise fail(f"standard output: {error.strerror}") from None


def _one(heard: _Input, subcarrier: Optional[float], bandwidth: Optional[int],
         receiver: Receiver, reports: Reports) -> None:
    """Receive from one recording, or from two antennas."""
    source, second = heard.source, heard.second
    if second is not None and second.complex_samples != source.complex_samples:
        raise recording.RecordingError(f"{second.name}: IN and IN2 must be both audio or both "
                                       "complex")
    with checked():
        output.check_stdout(source.paths + (second.paths if second else []))
        dumped = dump.Dump(reports.folder, reports.force) if reports.folder else None
    search = _Search(heard, subcarrier, bandwidth, reports,
                     {**asdict(receiver), "dumped": dumped})
    search.run()
    for warning in heard.source.warnings + (heard.second.warnings if heard.second else []):
        click.echo(f"hf: warning: {warning}", err=True)
    if search.complete == 0:
        if search.found == 0:
            where = ((", neither in its channels nor in both as I and Q" if search.layouts else "")
                     + (f", up to {demodulation.MAX_OFFSET_HZ:.0f} Hz off and in either sideband"
                        if search.second else ""))
            raise fail(f"{source.name}: no transmission found in {search.seconds:.1f} s{where}")
        raise fail(f"{source.name}: {search.found} transmission(s) found, none complete")
