# SPDX-License-Identifier: GPL-3.0-or-later
"""Output files of commands, written without losing the user's files or leaving partial ones.

Call check() before the work, so that a wrong name does not cost an hour. replacing() writes a
temporary file in the same folder and renames it when complete. Special files (/dev/null, a FIFO)
are written directly.
"""
from contextlib import contextmanager
import csv
import io
import json
import os
import re
import stat
import sys
import tempfile
from typing import Any, BinaryIO, Dict, Iterable, Iterator, List, Optional, Sequence, TextIO, Tuple

from .. import version

#: Written into every file whose format has a field for it. A later run may replace such a file.
MARK = f"gr-hf {version.__version__}"
#: The mark is searched in this many octets at both ends of a file.
_ENDS = 8192
#: First octets of each format that can hold the mark, and a pattern that finds the mark.
_MARKED = {
    b"RIFF": re.compile(rb"INFOISFT.{4}gr-hf \d", re.DOTALL),
    b"\x89PNG\r\n": re.compile(rb"tEXtSoftware\0gr-hf \d"),
    b"%PDF-": re.compile(rb"/Creator \(gr-hf \d"),
    b"<?xml": re.compile(rb"<dc:creator>\s*<cc:Agent>\s*<dc:title>gr-hf \d"),
}
#: Start of a data link capture: pcap with nanoseconds and records of at most 262144 octets. Its
#: link type is D_PDUs (237), or raw IP (101) with a first packet between our invented addresses.
_PCAP = re.compile(rb"\x4d\x3c\xb2\xa1\x02\0\x04\0\0{8}\0\0\x04\0"
                   rb"(?:\xed\0\0\0|e\0\0\0(?:$|.{28}(?:\x0a\0\0\x01|.{4}\x0a\0\0\x01)))",
                   re.DOTALL)
#: Picture formats by file ending, and the metadata key that names the program.
PICTURES = {".png": "Software", ".svg": "Creator", ".pdf": "Creator"}


class OutputError(ValueError):
    """A file cannot be written. The text names it and says why."""


class Refused(OutputError):
    """Writing the file would destroy data of the user."""


class Foreign(Refused):
    """The file exists and was not written by hf. force would replace it."""


def _stat(path: str) -> Optional[os.stat_result]:
    """stat() of a path, or of standard input for -. None if it does not exist."""
    try:
        return os.fstat(0) if path == "-" else os.stat(path)
    except OSError:
        return None


def _same(a: os.stat_result, b: os.stat_result) -> bool:
    return stat.S_ISREG(a.st_mode) and (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)


def is_ours(path: str, first_line: str = "") -> bool:
    """Whether hf has written this file, judged by its mark, or for CSV and text by first_line.
    An empty file counts as ours, since nothing is lost with it."""
    try:
        with open(path, "rb") as file:
            head = file.read(_ENDS)
            file.seek(max(0, os.fstat(file.fileno()).st_size - _ENDS))
            tail = file.read(_ENDS)
    except OSError:
        return False
    if not head:
        return True
    if first_line and head.split(b"\n", 1)[0].rstrip(b"\r") == first_line.encode():
        return True
    if path.endswith(".sigmf-data"):
        return is_ours(path[:-len("data")] + "meta")
    if path.endswith(".sigmf-meta"):
        try:
            with open(path, "rb") as file:
                recorder = json.loads(file.read(1 << 20))["global"]["core:recorder"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return False
        return str(recorder).startswith("gr-hf ")
    if _PCAP.match(head):
        return True
    return any(head.startswith(begin) and (mark.search(head) or mark.search(tail))
               for begin, mark in _MARKED.items())


def check(path: str, inputs: Iterable[str] = (), force: bool = False,
          first_line: str = "") -> None:
    """Raise OutputError if path cannot or must not be written. Leaves no file behind.

    inputs: files that are read, - for standard input. None of them is ever overwritten.
    force: replace a file that hf has not written.
    first_line: marks a text file as written by hf.
    """
    there = _stat(path)
    if there is not None:
        if stat.S_ISDIR(there.st_mode):
            raise OutputError(f"{path}: Is a directory")
        for source in inputs:
            read = _stat(source)
            if read is not None and _same(read, there):
                raise Refused(f"{path}: is read and would be overwritten; give another name for "
                              "the output")
        if not stat.S_ISREG(there.st_mode):
            if not os.access(path, os.W_OK):
                raise OutputError(f"{path}: Permission denied")
            return
        if not force and not is_ours(path, first_line):
            raise Foreign(f"{path}: exists and was not written by hf; give another name or remove "
                          "it")
    try:
        with tempfile.TemporaryFile(dir=os.path.dirname(os.path.realpath(path))):
            pass
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None


def check_picture(path: str, inputs: Iterable[str] = (), force: bool = False) -> None:
    """check() for a picture. The file ending selects the format."""
    if os.path.splitext(path)[1].lower() not in PICTURES:
        raise OutputError(f"{path}: a picture's name ends in {', '.join(PICTURES)}")
    check(path, inputs, force)


def check_all(paths: Sequence[str], inputs: Iterable[str] = (), force: bool = False) -> None:
    """check() for several files of one command. Their names must differ."""
    inputs = list(inputs)
    places = [os.path.realpath(p) for p in paths]
    for k, path in enumerate(paths):
        if places[k] in places[:k] and not _is_device(path):
            raise Refused(f"{path}: is named for two outputs")
        check(path, inputs, force)


def _is_device(path: str) -> bool:
    there = _stat(path)
    return there is not None and not stat.S_ISREG(there.st_mode)


def check_stdout(inputs: Iterable[str]) -> None:
    """Raise Refused if standard output is one of the inputs."""
    try:
        there = os.fstat(1)
    except OSError:
        return
    for source in inputs:
        read = _stat(source)
        if read is not None and _same(read, there):
            raise Refused(f"{'standard input' if source == '-' else source}: is read, and "
                          "standard output leads into it")


def make_folder(path: str) -> None:
    """Make a folder for results, with its parents. Raises OutputError."""
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None


def _partial(real: str) -> Tuple[BinaryIO, str]:
    """Create a temporary file in the same folder, with the permissions of the final file."""
    folder, name = os.path.split(real)
    there = _stat(real)
    for number in range(1000):
        partial = os.path.join(folder, f".{name[:200]}.{os.getpid()}-{number}.part")
        try:
            descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        except FileExistsError:
            continue
        if there is not None:
            os.fchmod(descriptor, stat.S_IMODE(there.st_mode))
        return open(descriptor, "w+b"), partial
    raise FileExistsError(17, "too many unfinished files in its folder", real)


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A file to write to, renamed to path when the block ends without an exception.

    Until then an existing file stays. - is standard output. Does not check whether the file may
    be replaced, see check(). Raises OutputError that names path.
    """
    partial = None
    try:
        if path == "-":
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
            return
        if _is_device(path):
            with open(path, "wb") as file:
                yield file
            return
        real = os.path.realpath(path)
        file, partial = _partial(real)
        with file:
            yield file
        os.replace(partial, real)
        partial = None
    except BrokenPipeError:
        raise
    except OSError as error:
        name = "standard output" if path == "-" else path
        raise OutputError(f"{name}: {error.strerror or error}") from None
    finally:
        if partial is not None:
            os.unlink(partial)


@contextmanager
def replacing_text(path: str) -> Iterator[TextIO]:
    """replacing() for UTF-8 text. Line endings are not translated."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        yield text
        text.flush()
        text.detach()


def write_csv(path: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file with a header line of column names."""
    with replacing_text(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def first_line(columns: Sequence[str]) -> str:
    """The header line that write_csv() writes."""
    return ",".join(columns)


def save_figure(figure: Any, path: str, **options: Any) -> None:
    """Save a matplotlib figure. The file ending selects the format."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in PICTURES:
        raise OutputError(f"{path}: a picture's name ends in {', '.join(PICTURES)}")
    metadata: Dict[str, str] = {PICTURES[ending]: MARK}
    drawn = io.BytesIO()
    figure.savefig(drawn, format=ending[1:], metadata=metadata, **options)
    with replacing(path) as file:
        file.write(drawn.getvalue())


def begins(path: str, column: str) -> bool:
    """Whether the first column of a CSV file has this name."""
    try:
        with open(path, "rb") as file:
            return file.readline(_ENDS).split(b",")[0].strip() == column.encode()
    except OSError:
        return False


def numbered(path: str, number: int) -> str:
    """Name of one of several files. The first has path itself, later ones add a number."""
    root, end = os.path.splitext(path)
    return path if number == 1 else f"{root}-{number}{end}"


def in_folder(folder: str, names: Sequence[str]) -> List[str]:
    """Paths of files in a folder."""
    return [os.path.join(folder, name) for name in names]
