# SPDX-License-Identifier: GPL-3.0-or-later
"""WAV, read and written through pipes too. Libraries need a file to seek in, and they read only
the first of the many data chunks that KiwiSDR writes."""
import io
import os
import re
import stat
import struct
from typing import BinaryIO, Iterable, List, Optional, cast

import numpy as np

from ..system import output
from .samples import PIECE, Octets, Recording, RecordingError, converter, must_have_two


class UnknownFormat(RecordingError):
    """A WAV whose numbers only a library reads."""


# Supported WAV formats: (tag, bits) to numpy type, scale, offset.
_WAV_NUMBERS = {
    (1, 8): ("<u1", 2.0 ** -7, 128.0),
    (1, 16): ("<i2", 2.0 ** -15, 0.0),
    (1, 24): ("<i3", 2.0 ** -31, 0.0),
    (1, 32): ("<i4", 2.0 ** -31, 0.0),
    (3, 32): ("<f4", 1.0, 0.0),
    (3, 64): ("<f8", 1.0, 0.0),
}


class _DataChunks(io.RawIOBase):
    """The samples of all data chunks of a WAV file as one stream.

    Receivers on the web (KiwiSDR) write a chunk of each 512 samples, with others between.
    """

    def __init__(self, file: BinaryIO, name: str, size: int) -> None:
        """file stands at the first samples, size is that of their chunk."""
        self._file, self._name = file, name
        self._left: Optional[int] = None
        self.warnings: List[str] = []
        self._begin(size)

    def _begin(self, size: int) -> None:
        # Programs that write to a pipe leave a placeholder as size.
        if size in (0, 0x7FFFFFFF, 0xFFFFFFFF) or size >= 0x7FFFFF00:
            self._left = None
            return
        self._left = size
        try:
            there = os.fstat(self._file.fileno())
            rest = there.st_size - self._file.tell() if stat.S_ISREG(there.st_mode) else 0
        except (OSError, ValueError):
            rest = 0
        # Above 4 GiB some programs write the size without its upper bits.
        self._left += max(0, rest - size) >> 32 << 32
        self._odd = size % 2

    def read1(self, count: int) -> bytes:
        """At most count octets of samples. Empty: there are no more."""
        if self._left == 0 and not self._next():
            return b""
        want = count if self._left is None else min(count, self._left)
        data: bytes = getattr(self._file, "read1", self._file.read)(want)
        if self._left is not None:
            self._left -= len(data)
            if not data and self._left:
                self.warnings.append(f"{self._name}: ends {self._left} octets early")
                self._left = 0
        return data

    def _next(self) -> bool:
        """Find the next data chunk."""
        self._file.read(self._odd)
        self._odd = 0
        while True:
            head = self._file.read(8)
            if len(head) < 8:
                return False
            kind, size = struct.unpack("<4sI", head)
            if not re.fullmatch(rb"[ -~]{4}", kind):
                self.warnings.append(f"{self._name}: what follows the samples is no chunk of WAV; "
                                     "it is not read")
                return False
            if kind == b"data" and size:
                self._begin(size)
                return True
            left = size + size % 2
            while left:
                skipped = len(self._file.read(min(left, PIECE)))
                if not skipped:
                    return False
                left -= skipped

    def fileno(self) -> int:
        """See io.IOBase."""
        return self._file.fileno()

    def tell(self) -> int:
        """See io.IOBase."""
        return self._file.tell()


def open_wav(file: BinaryIO, name: str, iq: bool, channel: Optional[int] = None) -> Recording:
    """Read the header chunks. The wave module refuses floats and RF64."""

    def take(count: int) -> bytes:
        data = file.read(count)
        if len(data) < count:
            raise RecordingError(f"{name}: the WAV header is cut off")
        return data

    layout = None
    for _ in range(1000):
        kind, size = struct.unpack("<4sI", take(8))
        if kind == b"data":
            break
        if kind == b"fmt ":
            if not 16 <= size <= 4096:
                raise RecordingError(f"{name}: the WAV header is damaged")
            body = take(size + size % 2)
            tag, channels, rate, _, frame, bits = struct.unpack("<HHIIHH", body[:16])
            if tag == 0xFFFE and size >= 26:  # extensible: the GUID starts with the real tag
                tag = struct.unpack("<H", body[24:26])[0]
            layout = tag, channels, rate, frame, bits
        else:
            left = size + size % 2
            while left:
                left -= len(take(min(left, PIECE)))
    else:
        raise RecordingError(f"{name}: has no samples")
    if layout is None:
        raise RecordingError(f"{name}: the WAV header does not describe the samples")
    tag, channels, rate, frame, bits = layout
    if bits == 24 and frame == 4 * channels:
        bits = 32  # 24 bits in the upper part of 32
    if (tag, bits) not in _WAV_NUMBERS or channels < 1 or frame != channels * bits // 8:
        raise UnknownFormat(f"{name}: WAV of format {tag} with {bits} bits and {channels} "
                            "channels; allowed are PCM of 8, 16, 24, 32 bits and floats, and "
                            "what libsndfile or ffmpeg reads")
    if iq and channels != 2:
        raise RecordingError(f"{name}: I and Q need two channels, not {channels}")
    if channel is not None:
        must_have_two(name, channels)
    number, scale, offset = _WAV_NUMBERS[tag, bits]
    samples = _DataChunks(file, name, size)
    recording = Recording(name, float(rate), iq, channels, warnings=samples.warnings)
    Octets(recording, cast(BinaryIO, samples), frame,
           converter(recording, number, channels, scale, offset, channel or 0))
    recording.say_channels(channel)
    return recording


def write_wav(file: BinaryIO, rate: int, frames: int, pieces: Iterable[np.ndarray]) -> None:
    """Write a 16-bit mono WAV.

    frames: total number of samples in pieces. It goes into the header first, so that file may be
    a pipe.
    pieces: real arrays within -1 to 1.

    The header names this program. Raises RecordingError for more than 4 GiB.
    """
    if frames * 2 > 0xFFFFFF00:
        raise RecordingError(f"{frames} samples are more than a WAV file can hold")
    # The wave module is no use here. It seeks back to the header when a pipe breaks.
    size = frames * 2
    software = output.MARK.encode() + b"\0"
    software += b"\0" * (len(software) % 2)
    info = struct.pack("<4sI4s4sI", b"LIST", 12 + len(software), b"INFO", b"ISFT", len(software))
    info += software
    file.write(struct.pack("<4sI4s4sIHHIIHH", b"RIFF", 36 + len(info) + size, b"WAVE", b"fmt ",
                           16, 1, 1, rate, rate * 2, 2, 16)
               + info + struct.pack("<4sI", b"data", size))
    for piece in pieces:
        file.write(np.round(np.clip(piece, -1, 1) * 32767).astype("<i2").tobytes())
