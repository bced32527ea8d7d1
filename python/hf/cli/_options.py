# SPDX-License-Identifier: GPL-3.0-or-later
"""Command line options from the fields of a dataclass."""
import dataclasses
import functools
from typing import Any, Callable, Dict, Tuple, Union, get_args, get_origin, get_type_hints

import click

from ..options import About


class _Parsed(click.ParamType):
    """The type of an option whose text a function parses."""

    name = "text"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self._parse = parse

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _kind(hint: Any) -> Tuple[Any, bool]:
    """The type of one value, and whether several are allowed."""
    if get_origin(hint) is Union:  # Optional
        hint = get_args(hint)[0]
    if get_origin(hint) is tuple:
        return get_args(hint)[0], True
    return hint, False


def _type(kind: Any, about: About) -> Any:
    if about.kind is not None:
        return about.kind
    if about.parse is not None:
        return _Parsed(about.parse)
    if about.choices:
        return click.Choice([str(c) for c in about.choices])
    if about.least is not None or about.most is not None:
        return (click.IntRange if kind is int else click.FloatRange)(
            about.least, about.most)  # type: ignore[arg-type]
    return kind


def _option(field: "dataclasses.Field[Any]", hint: Any) -> Callable[..., Any]:
    about: About = field.metadata["about"]
    kind, several = _kind(hint)
    names = [about.flag or "--" + field.name.replace("_", "-"), field.name]
    names += [about.short] if about.short else []
    if kind is bool:
        return click.option(*names, is_flag=True, default=field.default, help=about.help,
                            show_default=field.default)
    said = field.default not in (None, (), "") and "[default" not in about.help
    default = field.default
    if about.choices and default is not None:  # click needs texts
        default = [str(c) for c in default] if several else str(default)
    return click.option(*names, type=_type(kind, about), metavar=about.metavar, help=about.help,
                        multiple=several and about.parse is None and about.kind is None,
                        required=about.required,
                        default=None if about.required else default,
                        show_default=said and not about.required)


def options(kind: type, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator for the options of a command, passed as one object in the parameter of that name.

    kind: a dataclass of options. A ValueError of its constructor becomes wrong use.
    """
    hints = get_type_hints(kind)
    # Fields of the class first, then inherited ones.
    fields = sorted(dataclasses.fields(kind), key=lambda f: f.name not in kind.__annotations__)

    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def call(*context: Any, **given: Any) -> Any:
            made: Dict[str, Any] = {}
            for field in fields:
                value = given.pop(field.name)
                if field.metadata["about"].choices and value is not None:  # click gives texts
                    one, several = _kind(hints[field.name])
                    value = tuple(map(one, value)) if several else one(value)
                made[field.name] = value
            try:
                wanted = kind(**made)
            except ValueError as error:
                raise click.UsageError(str(error)) from None
            return f(*context, **{name: wanted}, **given)

        for field in reversed(fields):
            call = _option(field, hints[field.name])(call)
        return call

    return decorate
