# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that commands write: nothing of the user's is lost, nothing half done is left.

check() comes before the work: a wrong name costs no hour. replacing() writes beside the place and
renames when all is there. What is not a regular file (/dev/null, a FIFO) is written directly.
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

from . import version

#: Stands in every file that has a place for it, so that a later run may replace it.
MARK = f"gr-hf {version.__version__}"
#: Octets at both ends of a file in which the mark is looked for.
_ENDS = 8192
#: How a file begins that has a place for the mark, and what stands before the mark there.
_MARKED = {
    b"RIFF": re.compile(rb"INFOISFT.{4}gr-hf \d", re.DOTALL),
    b"\x89PNG\r\n": re.compile(rb"tEXtSoftware\0gr-hf \d"),
    b"%PDF-": re.compile(rb"/Creator \(gr-hf \d"),
    b"<?xml": re.compile(rb"<dc:creator>\s*<cc:Agent>\s*<dc:title>gr-hf \d"),
}
#: Begin of a capture of a data link: pcap with nanoseconds, records of 262144 octets at most, and
#: either D_PDUs (237) or the first packet of raw IP (101) between our invented addresses.
_PCAP = re.compile(rb"\x4d\x3c\xb2\xa1\x02\0\x04\0\0{8}\0\0\x04\0"
                   rb"(?:\xed\0\0\0|e\0\0\0(?:$|.{28}(?:\x0a\0\0\x01|.{4}\x0a\0\0\x01)))",
                   re.DOTALL)
#: The end of a picture's name, and the key of its metadata that names the program.
PICTURES = {".png": "Software", ".svg": "Creator", ".pdf": "Creator"}


class OutputError(ValueError):
    """A file cannot be written; the text names it and says why."""


class Refused(OutputError):
    """It could be, but something of the user's would be lost."""


class Foreign(Refused):
    """A file is in the place that hf has not written; force would replace it."""


def _stat(path: str) -> Optional[os.stat_result]:
    """Of a path, or of standard input for -; None if there is nothing."""
    try:
        return os.fstat(0) if path == "-" else os.stat(path)
    except OSError:
        return None


def _same(a: os.stat_result, b: os.stat_result) -> bool:
    return stat.S_ISREG(a.st_mode) and (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)


def is_ours(path: str, first_line: str = "") -> bool:
    """Whether hf has written this file: by its mark, or, CSV and text, by the first line given.
    An empty file counts as ours, nothing is lost with it."""
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
    """Raise OutputError if path cannot or must not be written; leaves nothing behind.

    inputs: files that are read, - for standard input; none of them is ever overwritten. force:
    a file that is not ours may be replaced. first_line: by which a text file shows as ours.
    """
    there = _stat(path)
    if there is not None:
        if stat.S_ISDIR(there.st_mode):
            raise OutputError(f"{path}: Is a directory")
        for source in inputs:
            read = _stat(source)
            if read is not None and _same(read, there):
                raise Refused(f"{path}: is read and would be overwritten; give another name for "
                              "what is written")
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
    """check() for a picture: the end of the name says the format."""
    if os.path.splitext(path)[1].lower() not in PICTURES:
        raise OutputError(f"{path}: a picture's name ends in {', '.join(PICTURES)}")
    check(path, inputs, force)


def check_all(paths: Sequence[str], inputs: Iterable[str] = (), force: bool = False) -> None:
    """check() for several files of one command, each of which needs a name of its own."""
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
    """Raise Refused if standard output is a file that is read."""
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
    """Make a folder for results and those above it, if they are missing; raises OutputError."""
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None


def _partial(real: str) -> Tuple[BinaryIO, str]:
    """A new file beside the place, with the rights that the file there has or would get."""
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
    raise FileExistsError(17, "too many unfinished files beside it", real)


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A file to write to, which takes its place when the block ends without an exception.

    Until then what was there stays; - is standard output. Raises OutputError that names path.
    Nobody asks here whether it may be replaced: that is check()'s.
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
    """replacing() for text in UTF-8; lines end as they are written."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        yield text
        text.flush()
        text.detach()


def write_csv(path: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A CSV file with a line of column names."""
    with replacing_text(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def first_line(columns: Sequence[str]) -> str:
    """The line of column names that write_csv() writes."""
    return ",".join(columns)


def save_figure(figure: Any, path: str, **options: Any) -> None:
    """A figure of matplotlib as a picture of the format that the name says."""
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
    """The name of one of several files: the first has the name itself, later ones a number."""
    root, end = os.path.splitext(path)
    return path if number == 1 else f"{root}-{number}{end}"


def in_folder(folder: str, names: Sequence[str]) -> List[str]:
    """Paths of files in a folder."""
    return [os.path.join(folder, name) for name in names]
