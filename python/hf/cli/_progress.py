# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress bar of commands that take more than a few seconds."""
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

#: Show no progress before this time, s.
DELAY_S = 3.0
#: Period of progress lines without a terminal, s.
EVERY_S = 15.0
#: Below this share the remaining time cannot be estimated.
LEAST = 0.005

Item = TypeVar("Item")


def duration(seconds: float) -> str:
    """A duration as text: 45 s, 2:05 min, 3:20 h."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole // 60 % 60:02d} h"


class _Above(FileProxy):
    """A stream whose lines appear above the progress bar."""

    #: None, or click.echo() would write to the underlying stream of octets.
    buffer = None


class Progress:
    """A progress bar with the remaining time on standard error, shown after DELAY_S.

    A context manager that removes the bar at its end. If standard error is no terminal, it shows
    nothing, or with lines=True a line every EVERY_S. Output of print() and click.echo() appears
    above the bar.
    """

    def __init__(self, what: str, total: float = 1.0, shown: bool = True,
                 console: Optional[Console] = None,
                 clock: Callable[[], float] = time.monotonic, lines: bool = False) -> None:
        """what: name of the work. total: its amount, in any unit. shown: False to show nothing.
        lines: print lines without a terminal, for work that waits for others and may take an
        hour."""
        self._what, self._total, self._clock = what, total, clock
        self._done, self._begin = 0.0, clock()
        self._advanced = 0.0  # time of the last advance, since the start
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
        """Set the amount that is done. what: new name of the work, if it changes."""
        if done != self._done:
            self._advanced = self._clock() - self._begin
        self._done, self._what = done, what or self._what

    def add(self, done: float, what: str = "") -> None:
        """Advance by this amount."""
        self.at(self._done + done, what)

    def share(self, share: float) -> None:
        """Set the share of the total that is done, 0 to 1."""
        self.at(share * self._total)

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
            # Redirect before the first drawing, or a line printed in between damages it.
            self._streams = sys.stdout, sys.stderr
            sys.stderr = _Above(self._console, sys.stderr)  # type: ignore[assignment]
            # Standard output may be a file while the bar is on the terminal.
            if sys.stdout.isatty():
                sys.stdout = _Above(self._console, sys.stdout)  # type: ignore[assignment]
            self._live.start()

    def words(self) -> Tuple[float, str]:
        """The share that is done, 0 to 1, and the text beside the bar."""
        passed = self._clock() - self._begin
        share = min(max(self._done / self._total, 0.0), 1.0) if self._total > 0 else 0.0
        if share < LEAST:
            return share, f"{duration(passed)} so far"
        # Work may advance in large steps. Between them the rest falls, instead of rising.
        left = max(0.0, self._advanced * (1 - share) / share - (passed - self._advanced))
        return share, f"{100 * share:3.0f} %, {duration(left)} left"

    def line(self) -> Any:
        """The line on the terminal."""
        share, said = self.words()
        row = Table.grid(padding=(0, 2))
        row.add_column(max_width=34, no_wrap=True)
        row.add_column(width=20)
        row.add_column(no_wrap=True)
        row.add_row(self._what, ProgressBar(1.0, share, width=20), said)
        return row


def watched(items: Iterable[Item], total: int, said: Callable[[Item], str] = lambda _: "",
            what: str = "rows") -> List[Item]:
    """All items of a slow iterator, with progress. total: number of items. said: text of an item,
    printed on standard error."""
    found = []
    with Progress(what, total) as progress:
        for item in items:
            found.append(item)
            progress.add(1)
            if text := said(item):
                click.echo(text, err=True)
    return found
