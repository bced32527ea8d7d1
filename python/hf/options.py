# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of an experiment: a dataclass beside it, from whose fields the command line is made."""
import dataclasses
from typing import Any, Callable, NamedTuple, Optional, Sequence


class About(NamedTuple):
    """What a person has to know of an option. kind: a type of click where that of the field says
    too little; required: there is no default."""

    help: str
    flag: Optional[str] = None
    short: Optional[str] = None
    metavar: Optional[str] = None
    least: Optional[float] = None
    most: Optional[float] = None
    choices: Sequence[Any] = ()
    parse: Optional[Callable[[str], Any]] = None
    kind: Any = None
    required: bool = False


def option(default: Any, help: str, **more: Any) -> Any:
    """A field of a dataclass of options.

    Its type says what the option takes; a Tuple[X, ...] may be given several times, or is made
    of one text by parse. more: fields of About; flag is --name unless given.
    """
    return dataclasses.field(default=default, metadata={"about": About(help, **more)})
