# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings as WAV, SigMF and raw samples, read and written in pieces, also through pipes."""
from dataclasses import dataclass, field
import io
import json
import os
import re
import stat
import struct
import sys
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, cast

import numpy as np

from . import output

#: Octets read at a time.
PIECE = 1 << 16

#: Raw formats by name: numpy type of one number, and whether two numbers form a complex sample.
RAW_FORMATS: Dict[str, Tuple[str, bool]] = {
    "s16le": ("<i2", False),
    "f32le": ("<f4", False),
    "cs16le": ("<i2", True),
    "cf32le": ("<f4", True),
}

#: First octets of recordings that others offer and we cannot read.
COMPRESSED = ((b"fLaC", "FLAC"), (b"OggS", "Ogg"), (b"ID3", "MP3"), (b"\xff\xfb", "MP3"))


class RecordingError(ValueError):
    """A recording cannot be used. The text says which one and why."""


@dataclass
class Recording:
    """Samples to be read once, in order.

    name: for messages.
    rate: samples/s.
    complex_samples: whether 0 Hz is the centre of the channel.
    warnings: irregularities, complete when everything has been read.
    annotations: those of a SigMF recording.
    """

    name: str
    rate: float
    complex_samples: bool
    _file: BinaryIO
    _convert: Callable[[bytes], np.ndarray]
    _frame: int
    _ahead: bytes = b""  # octets read already
    warnings: List[str] = field(default_factory=list)
    #: Paths that are read, - for standard input.
    paths: List[str] = field(default_factory=list)
    annotations: List[Dict[str, Any]] = field(default_factory=list)

    def pieces(self) -> Iterator[np.ndarray]:
        """float32 or complex64 arrays of roughly 10 000 samples."""
        rest = self._ahead
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
            self.warnings.append(f"{self.name}: {len(rest)} odd octets at the end are ignored")

    def share(self) -> float:
        """Share of the octets read so far, 0 to 1. Always 0 for a pipe, whose length is
        unknown."""
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
            raise RecordingError(f"{self.name}: {error.strerror}") from None


def _converter(number: str, channels: int, iq: bool, scale: float, offset: float = 0.0,
               channel: int = 0) -> Callable[[bytes], np.ndarray]:
    """Function from octets to samples of one channel, counted from 0. iq: complex samples.

    channels: numbers in a frame. An I/Q channel counts twice.
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
        if iq:
            pair = scaled[:, 2 * channel:2 * channel + 2]
            return np.ascontiguousarray(pair).view(np.complex64).ravel()
        return scaled[:, channel]

    return convert


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


def _open(path: str, stdin: Optional[BinaryIO] = None) -> Tuple[BinaryIO, str]:
    if path == "-":
        return stdin or sys.stdin.buffer, "standard input"
    try:
        if os.path.isdir(path):
            raise RecordingError(f"{path}: is a directory")
        return open(path, "rb"), path
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror}") from None


def open_recording(path: str, rate: Optional[float] = None, raw_format: Optional[str] = None,
                   iq: bool = False, channel: Optional[int] = None,
                   stdin: Optional[BinaryIO] = None) -> Recording:
    """Open a recording. Raises RecordingError.

    path: a WAV file, a file of a SigMF recording, raw samples, or - for standard input.
    rate: samples/s of raw samples.
    raw_format: of raw samples, a key of RAW_FORMATS.
    iq: the two channels of a WAV file are I and Q.
    channel: 0 or 1 to read one channel of a WAV or SigMF recording, which must have two.
    stdin: read for "-" instead of standard input.
    """
    if re.search(r"\.sigmf(-data|-meta)?$", path):
        return _open_sigmf(path, channel)
    if channel is not None and (path == "-" or raw_format is not None or iq):
        raise RecordingError(f"{path}: two channels are those of a WAV file, not I and Q, or of a "
                             "SigMF recording")
    recording = _open_plain(path, rate, raw_format, iq, channel, stdin)
    recording.paths = [path]
    return recording


def _open_plain(path: str, rate: Optional[float], raw_format: Optional[str], iq: bool,
                channel: Optional[int] = None,
                stdin: Optional[BinaryIO] = None) -> Recording:
    file, name = _open(path, stdin)
    if raw_format is not None:
        if rate is None:
            raise RecordingError(f"{name}: raw samples need a sample rate")
        return _raw(file, name, rate, *RAW_FORMATS[raw_format])
    head = file.read(12)
    if not head:
        raise RecordingError(f"{name}: is empty")
    if len(head) == 12 and head[:4] in (b"RIFF", b"RF64") and head[8:] == b"WAVE":
        return _wav(file, name, iq, channel)
    for start, kind in COMPRESSED:
        if head.startswith(start):
            raise RecordingError(f"{name}: is {kind}, allowed are WAV and SigMF; to convert it: "
                                 "sox FILE FILE.wav")
    raise RecordingError(f"{name}: is neither WAV nor SigMF; for raw samples give their format "
                         "and rate")


def _raw(file: BinaryIO, name: str, rate: float, number: str, complex_samples: bool,
         channels: int = 1, channel: int = 0) -> Recording:
    kind = np.dtype(number)
    numbers = channels * (2 if complex_samples else 1)
    offset = 128.0 if kind == np.uint8 else 0.0
    scale = 1.0 if kind.kind == "f" else 2.0 ** (1 - 8 * kind.itemsize)
    return Recording(name, rate, complex_samples, file,
                     _converter(number, numbers, complex_samples, scale, offset, channel),
                     kind.itemsize * numbers)


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


def _wav(file: BinaryIO, name: str, iq: bool, channel: Optional[int] = None) -> Recording:
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
    if (tag, bits) not in _WAV_NUMBERS or channels < 1 or frame != channels * bits // 8:
        raise RecordingError(f"{name}: WAV of format {tag} with {bits} bits and {channels} "
                             "channels; allowed are PCM of 8, 16, 24, 32 bits and floats")
    if iq and channels != 2:
        raise RecordingError(f"{name}: I and Q need two channels, not {channels}")
    if channel is not None:
        _must_have_two(name, channels)
    number, scale, offset = _WAV_NUMBERS[tag, bits]
    samples = _DataChunks(file, name, size)
    recording = Recording(name, float(rate), iq, cast(BinaryIO, samples),
                          _converter(number, channels, iq, scale, offset, channel or 0), frame,
                          warnings=samples.warnings)
    if channels > 1 and not iq and channel is None:
        recording.warnings.append(f"{name}: {channels} channels, the first one is used")
    return recording


def _must_have_two(name: str, channels: int) -> None:
    if channels != 2:
        raise RecordingError(f"{name}: has {channels} channel(s); two antennas need two channels")


def _open_sigmf(path: str, channel: Optional[int]) -> Recording:
    data_path, meta_path = sigmf_files(path)
    file, _ = _open(meta_path)
    with file:
        try:
            text = file.read(16 << 20)
            whole = json.loads(text)
            meta = whole["global"]
            datatype, rate = str(meta["core:datatype"]), float(meta["core:sample_rate"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise RecordingError(f"{meta_path}: not SigMF with core:datatype and "
                                 "core:sample_rate") from None
    match = re.fullmatch(r"([cr])(f64|f32|i32|i16|i8|u8)(?:_(le|be))?", datatype)
    channels = meta.get("core:num_channels", 1)
    if not match or not isinstance(channels, int) or (channel is None and channels != 1):
        raise RecordingError(f"{meta_path}: core:datatype {datatype!r}, {channels} channel(s); "
                             "allowed is one channel of c or r with f64, f32, i32, i16, i8 or u8")
    if channel is not None:
        _must_have_two(meta_path, channels)
    kind, width, order = match.groups()
    number = (">" if order == "be" else "<") + width[0] + str(int(width[1:]) // 8)
    data, _ = _open(data_path)
    recording = _raw(data, data_path, rate, number, kind == "c", channels, channel or 0)
    recording.paths = [meta_path, data_path]
    annotations = whole.get("annotations")
    if isinstance(annotations, list):
        recording.annotations = [a for a in annotations if isinstance(a, dict)]
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


def sigmf_base(path: str) -> str:
    """Path of a SigMF recording without its file ending."""
    return re.sub(r"\.sigmf(-data|-meta)?$", "", path)


def sigmf_files(path: str) -> List[str]:
    """The two files of a SigMF recording. path: either of them, or their common stem."""
    return [sigmf_base(path) + ending for ending in (".sigmf-data", ".sigmf-meta")]


def sigmf_meta(rate: float, description: str, annotations: List[Dict[str, Any]]
               ) -> Dict[str, Any]:
    """SigMF metadata of a recording of complex floats (cf32_le) with one capture."""
    return {
        "global": {
            "core:datatype": "cf32_le",
            "core:sample_rate": rate,
            "core:version": "1.0.0",
            "core:description": description,
            "core:recorder": output.MARK,
            "core:num_channels": 1,
        },
        "captures": [{"core:sample_start": 0}],
        "annotations": annotations,
    }


def write_sigmf(base: str, rate: int, pieces: Iterable[np.ndarray], description: str,
                annotations: Callable[[int], List[Dict[str, Any]]]) -> None:
    """Write BASE.sigmf-data (cf32_le) and BASE.sigmf-meta, both or none.

    annotations: called with the number of samples, returns the list of SigMF annotations. Raises
    output.OutputError.
    """
    count = 0
    data_path, meta_path = sigmf_files(base)
    with output.replacing_text(meta_path) as file, output.replacing(data_path) as data:
        for piece in pieces:
            data.write(piece.astype("<c8").tobytes())
            count += len(piece)
        json.dump(sigmf_meta(rate, description, annotations(count)), file, indent=2)
        file.write("\n")
