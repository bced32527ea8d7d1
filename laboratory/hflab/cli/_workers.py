# SPDX-License-Identifier: GPL-3.0-or-later
"""The workers of a measurement, with errors for the command line."""
from contextlib import contextmanager
from typing import Iterator

from .. import sweep
from gnuradio.hf.cli import fail
from gnuradio.hf.cli._output import checked


@contextmanager
def workers_of(pool: sweep.Pool, processes: bool = False) -> Iterator[sweep.Workers]:
    """The workers of a pool. Their errors become errors of the command."""
    try:
        with checked(), pool.open(processes) as workers:
            yield workers
    except (OSError, ValueError) as error:
        raise fail(str(error)) from None
