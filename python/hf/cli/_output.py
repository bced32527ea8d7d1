# SPDX-License-Identifier: GPL-3.0-or-later
"""What all commands have in common that write files."""
from contextlib import contextmanager
from typing import Any, Callable, Iterator

import click

from .. import output
from . import fail


def force_option(f: Callable[..., Any]) -> Callable[..., Any]:
    """--force."""
    return click.option("--force", is_flag=True,
                        help="Replace files that hf has not written.")(f)


@contextmanager
def checked() -> Iterator[None]:
    """Around checks of outputs: what would overwrite something of the user's is wrong use."""
    try:
        yield
    except output.Foreign as error:
        raise click.UsageError(f"{error} (--force replaces it)") from None
    except output.Refused as error:
        raise click.UsageError(str(error)) from None
    except output.OutputError as error:
        raise fail(str(error)) from None
