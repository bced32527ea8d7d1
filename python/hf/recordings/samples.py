# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of a recording, read in pieces, also through pipes."""
from dataclasses import dataclass, field
import os
import stat
import sys
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, Optional, Tuple

import numpy as np

#: Octets read at a time.
PIECE = 1 << 16


class RecordingError(ValueError):
    """A recording cannot be used. The text says which one and why."""


@dataclass
class Recording:
    """Samples to be read once, in order.

    name: for messages.
    rate: samples/s.
    complex_samples: whether 0 Hz is the centre of the channel.
    channels: of a sound file.
    warnings: irregularities, complete when everything has been read.
    paths: files that are read, - for standard input.
    annotations: those of a SigMF recording.
    source: gives the pieces. read_share: share that was read.
    """

    name: str
    rate: float
    complex_samples: bool
    channels: int = 1
    warnings: List[str] = field(default_factory=list)
    paths: List[str] = field(default_factory=list)
    annotations: List[Dict[str, Any]] = field(default_factory=list)
    source: Callable[[], Iterator[np.ndarray]] = lambda: iter(())
    read_share: Callable[[], float] = lambda: 0.0
    #: Whether any two channels differed in what was read.
    differ: bool = False

    def pieces(self) -> Iterator[np.ndarray]:
        """float32 or complex64 arrays of roughly 10 000 samples."""
        return self.source()

    def share(self) -> float:
        """Share of the recording read so far, 0 to 1. Always 0 for a pipe, whose length is
        unknown."""
        return self.read_share()

    def note_channels(self, frames: np.ndarray) -> None:
        """Compare the first two channels of some frames."""
        if not self.differ and frames.shape[1] > 1:
            self.differ = not np.array_equal(frames[:, 0], frames[:, 1], equal_nan=True)

    def say_channels(self, channel: Optional[int]) -> None:
        """Warn if channels are not used."""
        if self.channels > 1 and not self.complex_samples and channel is None:
            self.warnings.append(f"{self.name}: {self.channels} channels, the first one is used")


class Octets:
    """Octets of a file, as samples."""

    def __init__(self, recording: Recording, file: BinaryIO, frame: int,
                 convert: Callable[[bytes], np.ndarray]) -> None:
        """frame: octets of a frame. convert: makes samples of whole frames."""
        self._recording, self._file = recording, file
        self._frame, self._convert = frame, convert
        recording.source, recording.read_share = self.pieces, self.share

    def pieces(self) -> Iterator[np.ndarray]:
        """See Recording.pieces()."""
        rest = b""
        while True:
            data = self._read(PIECE)
            rest += data
            whole = len(rest) // self._frame * self._frame
            if whole:
                yield self._convert(rest[:whole])
                rest = rest[whole:]
            if not data:
                break
        if rest:
            self._recording.warnings.append(
                f"{self._recording.name}: {len(rest)} odd octets at the end are ignored")

    def share(self) -> float:
        """See Recording.share()."""
        try:
            there = os.fstat(self._file.fileno())
            return self._file.tell() / there.st_size if stat.S_ISREG(there.st_mode) else 0.0
        except (OSError, ValueError, ZeroDivisionError):
            return 0.0

    def _read(self, count: int) -> bytes:
        # Take what a pipe has. A live listener must not wait for a full piece.
        read1 = getattr(self._file, "read1", self._file.read)
        try:
            return read1(count)
        except OSError as error:
            raise RecordingError(f"{self._recording.name}: {error.strerror}") from None


def converter(recording: Recording, number: str, channels: int, scale: float,
              offset: float = 0.0, channel: int = 0) -> Callable[[bytes], np.ndarray]:
    """Function from octets to samples of one channel, counted from 0.

    channels: numbers in a frame. A complex channel counts twice.
    """

    def convert(data: bytes) -> np.ndarray:
        if number == "<i3":
            octets = np.frombuffer(data, np.uint8).reshape(-1, 3)
            wide = np.zeros((len(octets), 4), np.uint8)
            wide[:, 1:] = octets
            values = wide.view("<i4").ravel()
        else:
            values = np.frombuffer(data, number)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = values.astype(np.float32)
            if offset:
                scaled -= offset
            if scale != 1:
                scaled *= np.float32(scale)
            scaled = scaled.reshape(-1, channels)
        recording.note_channels(scaled)
        if recording.complex_samples:
            pair = scaled[:, 2 * channel:2 * channel + 2]
            return np.ascontiguousarray(pair).view(np.complex64).ravel()
        return scaled[:, channel]

    return convert


def open_file(path: str, stdin: Optional[BinaryIO] = None) -> Tuple[BinaryIO, str]:
    """A file to read, and its name for messages. stdin: for "-"."""
    if path == "-":
        return stdin or sys.stdin.buffer, "standard input"
    try:
        if os.path.isdir(path):
            raise RecordingError(f"{path}: is a directory")
        return open(path, "rb"), path
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror}") from None


def raw(file: BinaryIO, name: str, rate: float, number: str, complex_samples: bool,
        channels: int = 1, channel: int = 0) -> Recording:
    """Samples without a header. number: numpy type. channels: in a frame."""
    kind = np.dtype(number)
    numbers = channels * (2 if complex_samples else 1)
    offset = 2.0 ** (8 * kind.itemsize - 1) if kind.kind == "u" else 0.0
    scale = 1.0 if kind.kind == "f" else 2.0 ** (1 - 8 * kind.itemsize)
    recording = Recording(name, rate, complex_samples)
    Octets(recording, file, kind.itemsize * numbers,
           converter(recording, number, numbers, scale, offset, channel))
    return recording


def must_have_two(name: str, channels: int) -> None:
    """Raises RecordingError unless there are two channels."""
    if channels != 2:
        raise RecordingError(f"{name}: has {channels} channel(s); two antennas need two channels")
