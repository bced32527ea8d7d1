# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a command is and how long it will take, for whatever takes more than a few seconds."""
import sys
import threading
import time
from typing import Any, Callable, Iterable, List, Optional, Tuple, TypeVar

import click
from rich.console import Console
from rich.file_proxy import FileProxy
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

#: What is over sooner, in seconds, is over before anybody asks how far it is.
DELAY_S = 3.0
#: Between two lines where there is no terminal, s.
EVERY_S = 15.0
#: A share below which the time that is left cannot be told.
LEAST = 0.005

Item = TypeVar("Item")


def duration(seconds: float) -> str:
    """For a person: 45 s, 2:05 min, 3:20 h."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole // 60 % 60:02d} h"


class _Above(FileProxy):
    """A stream whose lines stand above the progress."""

    #: click.echo() would go around us to a stream of octets.
    buffer = None


class Progress:
    """A line on standard error with a bar and the time that is left, from the fourth second on;
    where standard error is no terminal nothing, or with lines=True a line every 15 s. A context
    manager: the line of a terminal is gone at its end.

    What is printed meanwhile goes above the line, by print() as by click.echo().
    """

    def __init__(self, what: str, total: float = 1.0, shown: bool = True,
                 console: Optional[Console] = None,
                 clock: Callable[[], float] = time.monotonic, lines: bool = False) -> None:
        """what: the name of the work; total: how much there is of it, in any unit; shown: False
        for nothing at all; lines: plain lines where there is no terminal, for work that waits for
        others and may take an hour."""
        self._what, self._total, self._clock = what, total, clock
        self._done, self._begin = 0.0, clock()
        self._console = console or Console(stderr=True)
        terminal = self._console.is_terminal
        self._shown = shown and (terminal or lines)
        self._lock = threading.Lock()
        self._live: Optional[Live] = None
        self._over = False
        self._start_timer(DELAY_S, self._show if terminal else self._tell)

    def __enter__(self) -> "Progress":
        if self._shown:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._timer.cancel()
            self._over = True
            if self._live is not None:
                sys.stdout, sys.stderr = self._streams
                self._live.stop()

    def at(self, done: float, what: str = "") -> None:
        """So much of the total is done; what: what is done next, if that is of interest."""
        self._done, self._what = done, what or self._what

    def add(self, done: float, what: str = "") -> None:
        """So much more of the total is done."""
        self.at(self._done + done, what)

    def share(self, share: float) -> None:
        """Such a share of the total is done, 0 to 1."""
        self._done = share * self._total

    def _start_timer(self, seconds: float, action: Callable[[], None]) -> None:
        self._timer = threading.Timer(seconds, action)
        self._timer.daemon = True

    def _tell(self) -> None:
        with self._lock:
            if self._over:
                return
            self._console.print(f"{self._what}: {self.words()[1].strip()}", markup=False,
                                highlight=False, soft_wrap=True)
            self._start_timer(EVERY_S, self._tell)
            self._timer.start()

    def _show(self) -> None:
        with self._lock:
            if self._over:
                return
            self._live = Live(get_renderable=self.line, console=self._console, transient=True,
                              refresh_per_second=2, redirect_stdout=False,
                              redirect_stderr=False)
            # Redirect before the first drawing, or a line printed in between spoils it.
            self._streams = sys.stdout, sys.stderr
            sys.stderr = _Above(self._console, sys.stderr)  # type: ignore[assignment]
            # Results may go into a file while the line stands on the terminal.
            if sys.stdout.isatty():
                sys.stdout = _Above(self._console, sys.stdout)  # type: ignore[assignment]
            self._live.start()

    def words(self) -> Tuple[float, str]:
        """The share that is done, 0 to 1, and what is said beside the bar."""
        passed = self._clock() - self._begin
        share = min(max(self._done / self._total, 0.0), 1.0) if self._total > 0 else 0.0
        if share < LEAST:
            return share, f"{duration(passed)} so far"
        left = duration(passed * (1 - share) / share)
        return share, f"{100 * share:3.0f} %, {left} left"

    def line(self) -> Any:
        """What stands on the terminal."""
        share, said = self.words()
        row = Table.grid(padding=(0, 2))
        row.add_column(max_width=34, no_wrap=True)
        row.add_column(width=20)
        row.add_column(no_wrap=True)
        row.add_row(self._what, ProgressBar(1.0, share, width=20), said)
        return row


def watched(items: Iterable[Item], total: int, said: Callable[[Item], str] = lambda _: "",
            what: str = "rows") -> List[Item]:
    """All items of a slow iterator. total: how many there will be; said: of each that is there,
    printed on standard error."""
    found = []
    with Progress(what, total) as progress:
        for item in items:
            found.append(item)
            progress.add(1)
            if text := said(item):
                click.echo(text, err=True)
    return found
