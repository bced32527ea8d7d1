# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by all commands that write files."""
from contextlib import contextmanager
from typing import Any, Callable, Iterator

import click

from ..system import output
from . import fail


def force_option(f: Callable[..., Any]) -> Callable[..., Any]:
    """Option --force."""
    return click.option("--force", is_flag=True,
                        help="Replace files that hf has not written.")(f)


@contextmanager
def checked() -> Iterator[None]:
    """Turn errors of output checks into errors of the command. Overwriting the user's files is
    wrong use."""
    try:
        yield
    except output.Foreign as error:
        raise click.UsageError(f"{error} (--force replaces it)") from None
    except output.Refused as error:
        raise click.UsageError(str(error)) from None
    except output.OutputError as error:
        raise fail(str(error)) from None
