# SPDX-License-Identifier: GPL-3.0-or-later
"""SigMF recordings and archives, as in SigMF 1.2. Every field of the core name space is honoured,
describes only, or is refused in words."""
import hashlib
import io
import json
import os
import re
import tarfile
from typing import Any, BinaryIO, Callable, Dict, Iterable, List, Optional, Tuple, cast

import numpy as np

from ..system import output
from .samples import PIECE, Recording, RecordingError, must_have_two, open_file, raw

#: Largest metadata, octets.
MAX_META = 16 << 20
#: Fields of the global object that describe, and change nothing in the samples.
DESCRIPTIVE = {"author", "collection", "data_doi", "description", "geolocation", "hw", "license",
               "meta_doi", "recorder"}
#: Fields that are honoured below.
HONOURED = {"dataset", "datatype", "extensions", "metadata_only", "num_channels", "offset",
            "sample_rate", "sha512", "trailing_bytes", "version"}


def is_sigmf(path: str) -> bool:
    """Whether the name is that of a SigMF file or archive."""
    return re.search(r"\.sigmf(-data|-meta|-collection)?$", path) is not None


def open_sigmf(path: str, channel: Optional[int]) -> Recording:
    """Open a recording by either of its files, or an archive. channel: 0 or 1 of two."""
    if path.endswith(".sigmf-collection"):
        raise RecordingError(f"{path}: is a collection; name one of its recordings")
    if path.endswith(".sigmf") and os.path.isfile(path):
        meta_name, text, find = _in_archive(path)
        paths = [path]
    else:
        data_path, meta_name = sigmf_files(path)
        with open_file(meta_name)[0] as file:
            text = file.read(MAX_META)
        paths = [meta_name, data_path]

        def find(name: str) -> BinaryIO:
            if name:
                paths[1] = os.path.join(os.path.dirname(meta_name), name)
            return open_file(paths[1])[0]

    whole, fields, rate = _parse(meta_name, text)
    kind, number, channels = _layout(meta_name, fields, channel)
    file = find(_dataset(meta_name, fields))
    width = np.dtype(number).itemsize * channels * (2 if kind == "c" else 1)
    samples = _Dataset(file, paths[-1], _segments(meta_name, file, whole, fields, width),
                       fields.get("sha512"))
    recording = raw(cast(BinaryIO, samples), paths[-1], rate, number, kind == "c", channels,
                    channel or 0)
    samples.warnings = recording.warnings
    recording.channels, recording.paths = channels, paths
    recording.say_channels(channel)
    if channels > 1 and kind == "c" and channel is None:
        recording.warnings.append(f"{meta_name}: {channels} channels, the first one is used")
    recording.warnings += [f"{meta_name}: core:{name} is not known, and has no effect"
                           for name in sorted(set(fields) - HONOURED - DESCRIPTIVE)]
    annotations = whole.get("annotations")
    if isinstance(annotations, list):
        recording.annotations = [a for a in annotations if isinstance(a, dict)]
    return recording


def _in_archive(path: str) -> Tuple[str, bytes, Callable[[str], BinaryIO]]:
    """Name and text of the metadata in an archive, and a function that opens its samples."""
    try:
        archive = tarfile.open(path, "r:")  # pylint: disable=consider-using-with
        members = {m.name: m for m in archive.getmembers() if m.isfile()}
    except (tarfile.TarError, OSError) as error:
        raise RecordingError(f"{path}: is no SigMF archive: {error}") from None
    metas = sorted(name for name in members if name.endswith(".sigmf-meta"))
    if len(metas) != 1:
        names = ": " + ", ".join(metas[:5]) if metas else ""
        raise RecordingError(f"{path}: holds {len(metas)} recordings{names}; allowed is one. "
                             "Unpack it with tar xf, and name one")
    name = f"{path}: {metas[0]}"

    def member(wanted: str) -> BinaryIO:
        if wanted not in members:
            raise RecordingError(f"{path}: {wanted} is missing in the archive")
        return cast(BinaryIO, archive.extractfile(members[wanted]))

    def find(other: str) -> BinaryIO:
        return member(os.path.join(os.path.dirname(metas[0]), other) if other else
                      sigmf_base(metas[0]) + ".sigmf-data")

    return name, member(metas[0]).read(MAX_META), find


def _parse(name: str, text: bytes) -> Tuple[Dict[str, Any], Dict[str, Any], float]:
    """The metadata, its global core fields, and the sample rate."""
    try:
        whole = json.loads(text)
        fields = {k[5:]: v for k, v in whole["global"].items() if k.startswith("core:")}
        rate = float(fields["sample_rate"])
        fields["datatype"] = str(fields["datatype"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise RecordingError(f"{name}: not SigMF with core:datatype and core:sample_rate"
                             ) from None
    if fields.get("metadata_only"):
        raise RecordingError(f"{name}: core:metadata_only: the recording has no samples")
    if str(fields.get("version", "1")).split(".", maxsplit=1)[0] not in ("0", "1"):
        raise RecordingError(f"{name}: core:version {fields['version']!r}; allowed is 1")
    extensions = fields.get("extensions")
    for extension in extensions if isinstance(extensions, list) else []:
        if isinstance(extension, dict) and extension.get("optional") is False:
            raise RecordingError(f"{name}: needs the extension {extension.get('name')!r}, which "
                                 "is not known here")
    return whole, fields, rate


def _layout(name: str, fields: Dict[str, Any], channel: Optional[int]) -> Tuple[str, str, int]:
    """c or r, the numpy type, and the number of channels."""
    datatype, channels = fields["datatype"], fields.get("num_channels", 1)
    match = re.fullmatch(r"([cr])(?:(f64|f32|[iu]32|[iu]16)_(le|be)|([iu]8))", datatype) or \
        re.fullmatch(r"([cr])(f64|f32|[iu]32|[iu]16)()()", datatype)  # without its order
    if not match or not isinstance(channels, int) or not 1 <= channels <= 1024:
        raise RecordingError(f"{name}: core:datatype {datatype!r}, {channels} channel(s); "
                             "allowed is c or r with f64, f32, i32, u32, i16, u16, i8 or u8")
    if channel is not None:
        must_have_two(name, channels)
    kind, wide, order, narrow = match.groups()
    width = wide or narrow
    return kind, (">" if order == "be" else "<") + width[0] + str(int(width[1:]) // 8), channels


def _dataset(name: str, fields: Dict[str, Any]) -> str:
    """Name of a file of samples beside the metadata that is not named as they are, or empty."""
    found = fields.get("dataset", "")
    if not isinstance(found, str) or found != os.path.basename(found) or found in (".", ".."):
        raise RecordingError(f"{name}: core:dataset {str(found)[:80]!r}: allowed is the name of a "
                             "file in the same folder")
    return found


def _segments(name: str, file: BinaryIO, whole: Dict[str, Any], fields: Dict[str, Any],
              frame: int) -> List[Tuple[int, Optional[int]]]:
    """Octets to skip and octets of samples, in turn. None: all that follow."""
    try:
        captures = [c for c in whole.get("captures", []) if isinstance(c, dict)]
        trailing, offset = _count(fields, "trailing_bytes"), _count(fields, "offset")
        heads = [(_count(c, "core:sample_start") - offset, _count(c, "core:header_bytes"))
                 for c in captures]
    except (TypeError, ValueError) as error:
        raise RecordingError(f"{name}: {error}") from None
    found: List[Tuple[int, Optional[int]]] = []
    start = skip = used = 0
    for at, head in heads:
        if not head:
            continue
        if at < start:
            raise RecordingError(f"{name}: core:sample_start of the captures must not fall")
        found.append((skip, (at - start) * frame))
        used += skip + (at - start) * frame
        start, skip = at, head
    if not trailing:
        return found + [(skip, None)]
    size = file.seek(0, io.SEEK_END) if file.seekable() else None
    if size is None:
        raise RecordingError(f"{name}: core:trailing_bytes needs a file, not a pipe")
    file.seek(0)
    return found + [(skip, max(0, size - trailing - used - skip))]


def _count(fields: Dict[str, Any], name: str) -> int:
    value = fields.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 62:
        full = name if name.startswith("core:") else f"core:{name}"
        raise ValueError(f"{full} {str(value)[:40]}: allowed are whole numbers from 0")
    return value


class _Dataset(io.RawIOBase):
    """The samples of a file without headers and what trails. Checks the hash, if there is one."""

    def __init__(self, file: BinaryIO, name: str, segments: List[Tuple[int, Optional[int]]],
                 sha512: Any) -> None:
        self._file, self._name, self._segments = file, name, segments
        self._wanted = sha512.lower() if isinstance(sha512, str) else None
        self._hash = hashlib.sha512()
        self._left: Optional[int] = 0
        self.warnings: List[str] = []

    def read1(self, count: int) -> bytes:
        """At most count octets of samples. Empty: there are no more."""
        while self._left == 0:
            if not self._segments:
                self._finish()
                return b""
            skip, self._left = self._segments.pop(0)
            while skip:
                skipped = len(self._take(min(skip, PIECE)))
                if not skipped:
                    self._segments.clear()
                    self._left = 0
                    break
                skip -= skipped
        data = self._take(count if self._left is None else min(count, self._left))
        if self._left is not None:
            self._left -= len(data)
        if not data:
            self._left, self._segments = 0, []
            self._finish()
        return data

    def _take(self, count: int) -> bytes:
        data = getattr(self._file, "read1", self._file.read)(count)
        if self._wanted is not None:
            self._hash.update(data)
        return data

    def _finish(self) -> None:
        while self._wanted is not None and self._take(PIECE):
            pass
        if self._wanted not in (None, self._hash.hexdigest()):
            self.warnings.append(f"{self._name}: core:sha512 is another one: the samples were "
                                 "changed or damaged")
        self._wanted = None

    def fileno(self) -> int:
        """See io.IOBase."""
        try:
            return self._file.fileno()
        except AttributeError:  # a member of an archive
            return super().fileno()

    def tell(self) -> int:
        """See io.IOBase."""
        return self._file.tell()


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
