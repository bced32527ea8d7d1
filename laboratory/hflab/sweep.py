# SPDX-License-Identifier: GPL-3.0-or-later
"""Measuring many points: what all experiments share.

Workers measure the points: threads or processes of this machine, or a Dask cluster. A store keeps
each row in a CSV file, so that an interrupted run resumes. Tables are Markdown.
"""
from collections import deque
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
import csv
from dataclasses import dataclass
import io
import os
from typing import Any, Callable, Deque, Dict, Generic, IO, Iterable, Iterator, List, NamedTuple, \
    Optional, Sequence, Tuple, Type, TypeVar, Union, get_type_hints

from gnuradio.hf.options import option
from gnuradio.hf.system import output

Row = TypeVar("Row")


class Workers(NamedTuple):
    """An executor that measures points, and its number of points at once."""

    executor: Executor
    width: int


@dataclass(frozen=True)
class Pool:
    """Options of the workers."""

    jobs: int = option(0, "Points or transmissions at once.  [default: one per processor]",
                       short="-j", least=0, most=1024)
    scheduler: Optional[str] = option(None, "Measure on a Dask cluster, for example "
                                      "tcp://host:8786.", metavar="ADDRESS")

    @contextmanager
    def open(self, processes: bool = False) -> Iterator[Workers]:
        """The workers, until the block ends.

        processes: True for work that holds the GIL. A cluster always has processes. Raises
        ValueError if the cluster cannot be used.
        """
        if self.scheduler is None:
            width = self.jobs or os.cpu_count() or 1
            kind: Any = ProcessPoolExecutor if processes else ThreadPoolExecutor
            with kind(width) as executor:
                yield Workers(executor, width)
            return
        try:
            from distributed import Client  # type: ignore[import]
        except ImportError:
            raise ValueError("--scheduler needs Dask: install python3-distributed") from None
        try:
            client = Client(self.scheduler, timeout=10)
        except (OSError, ValueError) as error:
            raise ValueError(f"scheduler {self.scheduler}: {error}") from None
        with client, client.get_executor() as executor:
            yield Workers(executor, self.jobs or 2 * max(1, sum(client.nthreads().values())))


def run(measure: Callable[..., Row], points: Iterable[Tuple[Any, ...]], workers: Workers,
        known: Callable[..., Optional[Row]] = lambda *_: None) -> Iterator[Row]:
    """measure(*point) of each point, in the order of the points.

    Later points are measured ahead. Closing the iterator cancels them, so points may be endless.
    known: the row of a point that needs no measurement. With processes and clusters, measure and
    points must be picklable.
    """
    rest = iter(points)
    waiting: Deque[Union[Row, "Future[Row]"]] = deque()
    try:
        while True:
            while len(waiting) < workers.width:
                point = next(rest, None)
                if point is None:
                    break
                row = known(*point)
                waiting.append(workers.executor.submit(measure, *point) if row is None else row)
            if not waiting:
                return
            job = waiting.popleft()
            yield job.result() if isinstance(job, Future) else job
    finally:
        for job in waiting:
            if isinstance(job, Future):
                job.cancel()


class Store(Generic[Row]):
    """Rows of one kind, a NamedTuple of numbers and words; its first fields are the key.

    With a path the rows are kept in a CSV file, written one by one; a later run reads them again.
    Raises output.OutputError for a file with other contents, ValueError for a damaged row.
    """

    def __init__(self, kind: Type[Row], keys: int, path: Optional[str] = None,
                 keep: Callable[[Row], bool] = lambda _: True, force: bool = False) -> None:
        """keys: number of fields of the key; keep: False for rows of the file to discard; force:
        replace a file with other contents."""
        self._keys, self._path = keys, path
        self._rows: Dict[Tuple[Any, ...], Row] = {}
        self._file: Optional[IO[str]] = None
        if path is None:
            return
        columns = kind._fields  # type: ignore[attr-defined]
        first_line = output.first_line(columns)
        output.check(path, force=force, first_line=first_line)
        if os.path.exists(path) and output.is_ours(path, first_line):
            self._rows = {row[:keys]: row  # type: ignore[index]
                          for row in read(kind, path) if keep(row)}
        # Rewrite the file, or the next row would continue a line that was cut off.
        output.write_csv(path, columns, map(_cells, self._rows.values()))
        self._file = open(path, "a", newline="", encoding="utf-8")
        self._writer = csv.writer(self._file, lineterminator="\n")

    def get(self, *key: Any) -> Optional[Row]:
        """The row with this key, if it was measured before."""
        return self._rows.get(key)

    def add(self, row: Row) -> None:
        """Keep a row. It replaces an earlier one with the same key."""
        key = row[:self._keys]  # type: ignore[index]
        if self._rows.get(key) == row:
            return
        self._rows[key] = row
        if self._file is None:
            return
        try:
            self._writer.writerow(_cells(row))
            self._file.flush()
        except OSError as error:
            raise output.OutputError(f"{self._path}: {error.strerror}") from None

    def rows(self) -> List[Row]:
        """All rows, in the order of their measurement."""
        return list(self._rows.values())

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> "Store[Row]":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _cells(row: Any) -> List[Any]:
    return [int(v) if isinstance(v, bool) else v for v in row]


def _value(kind: type, text: str) -> Any:
    return bool(int(text)) if kind is bool else kind(text)


def read(kind: Type[Row], path: str) -> List[Row]:
    """Rows of a CSV file of a NamedTuple. A last line without its end is left out.

    Raises OSError, and ValueError that names file and line.
    """
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        text = file.read()
    hints = get_type_hints(kind)
    rows = []
    for number, line in enumerate(csv.DictReader(io.StringIO(text[:text.rfind("\n") + 1])), 2):
        try:
            rows.append(kind(**{name: _value(hint, line[name]) for name, hint in hints.items()}))
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"{path}, line {number}: not a row of " + ", ".join(hints)) from None
    return rows


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as a Markdown table."""
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def values(text: str) -> Tuple[float, ...]:
    """Numbers of a text: FIRST:LAST:STEP, both ends included, or A,B,C. Raises ValueError."""
    try:
        if ":" in text:
            first, last, step = (float(x) for x in text.split(":"))
            if not 0 < step or not first <= last or (last - first) / step > 1000:
                raise ValueError
            steps = range(int((last - first) / step + 1.5))
            return tuple(round(first + i * step, 6) for i in steps
                         if first + i * step <= last + 1e-9)
        return tuple(float(x) for x in text.split(","))
    except ValueError:
        raise ValueError(f'"{text}": allowed are FIRST:LAST:STEP and A,B,C') from None
