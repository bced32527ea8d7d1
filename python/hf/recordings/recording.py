# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings as WAV, SigMF, raw samples and all that libsndfile or ffmpeg reads, read in pieces,
also through pipes."""
import io
from typing import BinaryIO, Dict, Iterator, Optional, Tuple

import numpy as np

from .. import hf_python as _hf
from . import sigmf, sound_file, wav
from .samples import Recording, RecordingError, must_have_two, open_file, raw

#: Raw formats by name: numpy type of one number, and whether two numbers form a complex sample.
RAW_FORMATS: Dict[str, Tuple[str, bool]] = {
    "u8": ("u1", False),
    "s8": ("i1", False),
    "s16le": ("<i2", False),
    "f32le": ("<f4", False),
    "cu8": ("u1", True),
    "cs8": ("i1", True),
    "cs16le": ("<i2", True),
    "cf32le": ("<f4", True),
}

#: Least samples/s of audio and of complex samples. The symbols of all modes in 3 kHz, 2400 a
#: second, need 1200 Hz to either side of 1800 Hz.
MIN_AUDIO, MIN_COMPLEX = 6000, 2400


class KeptInput(io.RawIOBase):
    """A pipe that can be read again from the start while at most KEPT octets were read."""

    #: Octets kept in memory: 11 minutes of audio, 55 s of 48 kHz baseband.
    KEPT = 64 << 20

    def __init__(self, pipe: BinaryIO) -> None:
        super().__init__()
        self._pipe = pipe
        self._kept: Optional[bytearray] = bytearray()

    def readable(self) -> bool:
        """Always True."""
        return True

    def fileno(self) -> int:
        """Descriptor of the pipe."""
        return self._pipe.fileno()

    def tell(self) -> int:
        """Position in the pipe."""
        return self._pipe.tell()

    def read(self, size: int = -1) -> bytes:
        """Read size octets, fewer only at the end."""
        return self._take(self._pipe.read(size))

    def read1(self, size: int = -1) -> bytes:
        """Read available octets, at most size."""
        return self._take(getattr(self._pipe, "read1", self._pipe.read)(size))

    def _take(self, data: bytes) -> bytes:
        if self._kept is not None:
            self._kept += data
            if len(self._kept) > self.KEPT:
                self.forget()
        return data

    def forget(self) -> None:
        """Drop the kept octets, and keep no more."""
        self._kept = None

    def again(self) -> Optional[BinaryIO]:
        """Everything read so far, from the start. None if that was more than KEPT octets."""
        return None if self._kept is None else io.BytesIO(self._kept)


def open_recording(path: str, rate: Optional[float] = None, raw_format: Optional[str] = None,
                   iq: bool = False, channel: Optional[int] = None,
                   stdin: Optional[BinaryIO] = None) -> Recording:
    """Open a recording. Raises RecordingError.

    path: a sound file, a file or an archive of a SigMF recording, raw samples, or - for WAV or raw
    samples on standard input.
    rate: samples/s of raw samples.
    raw_format: of raw samples, a key of RAW_FORMATS.
    iq: the two channels of a sound file are I and Q.
    channel: 0 or 1 to read one channel of a sound file or SigMF recording, which must have two.
    stdin: read for "-" instead of standard input.
    """
    if sigmf.is_sigmf(path):
        recording = sigmf.open_sigmf(path, channel)
    elif channel is not None and (raw_format is not None or iq):
        raise RecordingError(f"{path}: two channels are those of a sound file, not I and Q, or of "
                             "a SigMF recording")
    else:
        recording = _open_plain(path, rate, raw_format, iq, channel, stdin)
        recording.paths = [path]
    _raise_rate(recording)
    return recording


def _open_plain(path: str, rate: Optional[float], raw_format: Optional[str], iq: bool,
                channel: Optional[int] = None,
                stdin: Optional[BinaryIO] = None) -> Recording:
    file, name = open_file(path, stdin)
    if raw_format is not None:
        if rate is None:
            raise RecordingError(f"{name}: raw samples need a sample rate")
        return raw(file, name, rate, *RAW_FORMATS[raw_format])
    head = file.read(12)
    if not head:
        raise RecordingError(f"{name}: is empty")
    wrong: Optional[RecordingError] = None
    if len(head) == 12 and head[:4] in (b"RIFF", b"RF64", b"BW64") and head[8:] == b"WAVE":
        try:
            return wav.open_wav(file, name, iq, channel)
        except wav.UnknownFormat as error:
            wrong = error
    if path == "-":
        raise wrong or RecordingError(
            f"{name}: is not WAV. Other sound formats are read from files only; for raw samples "
            "give their format and rate")
    file.close()
    return _open_sound(path, iq, channel, wrong)


def _open_sound(path: str, iq: bool, channel: Optional[int], wrong: Optional[RecordingError]
                ) -> Recording:
    """A file that is no plain WAV. wrong: why our reader of WAV refuses it."""
    try:
        sound = sound_file.SoundFile(path)
    except sound_file.SoundError as error:
        converted = sound_file.by_ffmpeg(path)
        if converted is not None and converted.read(12)[8:] == b"WAVE":
            return wav.open_wav(converted, path, iq, channel)
        raise wrong or RecordingError(
            f"{path}: is neither WAV nor SigMF, and no other sound format that can be read here "
            f"({error}); for raw samples give their format and rate") from None
    if iq and sound.channels != 2:
        raise RecordingError(f"{path}: I and Q need two channels, not {sound.channels}")
    if channel is not None:
        must_have_two(path, sound.channels)
    recording = Recording(path, sound.rate, iq, channels=sound.channels)

    def pieces() -> Iterator[np.ndarray]:
        for piece in sound.pieces():
            recording.note_channels(piece)
            yield piece.view(np.complex64).ravel() if iq else piece[:, channel or 0].copy()
        if sound.broken:
            recording.warnings.append(f"{path}: ends early: {sound.broken}")

    recording.source, recording.read_share = pieces, sound.share
    recording.say_channels(channel)
    return recording


def _raise_rate(recording: Recording) -> None:
    """Sample a recording of a low rate more often: the converters need 8000 samples/s."""
    rate = recording.rate
    if not 0 < rate < _hf.MIN_AUDIO_RATE:
        return
    least = MIN_COMPLEX if recording.complex_samples else MIN_AUDIO
    if rate < least:
        raise RecordingError(f"{recording.name}: sample rate {rate:.7g}: allowed are "
                             f"{least:.0f} samples/s or more, as a channel is 3 kHz wide")
    times = int(-(-_hf.MIN_AUDIO_RATE // rate))
    inner = recording.source
    recording.rate = rate * times
    recording.source = lambda: _more_often(inner(), times)


def _more_often(pieces: Iterator[np.ndarray], times: int) -> Iterator[np.ndarray]:
    """Samples at a multiple of their rate, without delay."""
    # A windowed sinc of 64 zero crossings: flat to 0.95 of the old band.
    half = 32 * times
    at = np.arange(-half, half + 1) / times
    taps = (np.sinc(at) * np.kaiser(2 * half + 1, 8.0)).astype(np.float32)
    history, delay = None, half
    for piece in _with_silence(pieces, 64):
        wide = np.zeros(len(piece) * times, piece.dtype)
        wide[::times] = piece
        if history is None:
            history = np.zeros(2 * half, piece.dtype)
        whole = np.concatenate([history, wide])
        history = whole[-2 * half:]
        out = np.convolve(whole, taps, "valid").astype(piece.dtype)
        skipped = min(delay, len(out))
        delay -= skipped
        yield out[skipped:]


def _with_silence(pieces: Iterator[np.ndarray], count: int) -> Iterator[np.ndarray]:
    kind = np.dtype(np.float32)
    for piece in pieces:
        kind = piece.dtype
        yield piece
    yield np.zeros(count // 2, kind)
