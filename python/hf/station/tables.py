# SPDX-License-Identifier: GPL-3.0-or-later
"""TOML tables as dataclasses. Every key and value is checked. Errors name the file, the key, the
value and what is allowed."""
from dataclasses import field, fields
import datetime
import math
import os
import re
import tomllib
from typing import Any, Dict, Optional, Tuple, Type, Union, get_args, get_origin, get_type_hints

_NAMES = {str: "a text in quotes", int: "a whole number", bool: "true or false",
          float: "a number", dict: "a table",
          datetime.datetime: "a time of UTC, for example 2026-01-31T00:00:00Z"}

#: Fields that are tables themselves, by class and field name. The value is the class of the
#: table, or a list of one class for an array of tables ([[name]]).
Parts = Dict[Any, Dict[str, Any]]


def place() -> Any:
    """A field for a file or folder, empty by default. ~ is the user's home."""
    return field(default="", metadata={"place": True})


class TableError(ValueError):
    """A table is wrong. The text names the value and what is allowed."""


def _value(hint: Any, value: Any, where: str, limits: Optional[Tuple[float, float]] = None
           ) -> Any:
    """The value, checked against the type of its field. where: file, table and key."""
    kind = get_origin(hint) or hint
    if kind is Union:  # Optional: a value in a file is never None
        kind = get_args(hint)[0]
    if kind is list:
        if not isinstance(value, list):
            example = "{ ... }" if get_origin(get_args(hint)[0]) else '"..."'
            raise TableError(f"{where} = {value!r}: allowed is a list, [{example}, {example}]")
        return [_value(get_args(hint)[0], v, f"{where}[{k}]") for k, v in enumerate(value)]
    if kind is dict:
        if not isinstance(value, dict):
            raise TableError(f"{where} = {value!r}: allowed is a table")
        return {k: _value(get_args(hint)[1], v, f"{where} {k}") for k, v in value.items()}
    if kind is Any:  # words of a rule
        if not isinstance(value, (str, int, float)):
            raise TableError(f"{where} = {value!r}: allowed is a text or a number")
        return value
    if kind is float and isinstance(value, (bool, int)):
        value = float(value)  # settings: true is 1
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TableError(f"{where} = {value!r}: allowed is {_NAMES[kind]}")
    if kind is datetime.datetime and value.tzinfo is None:
        raise TableError(f"{where} = {value}: allowed is {_NAMES[kind]}")
    if kind is float and not math.isfinite(value):
        raise TableError(f"{where} = {value}: allowed are finite numbers")
    if limits is not None and not limits[0] <= value <= limits[1]:
        raise TableError(f"{where} = {value}: allowed are {limits[0]} to {limits[1]}")
    return value


def make(kind: Any, table: Any, where: str, parts: Parts) -> Any:
    """An object of a dataclass from a table. where: names the table in messages. A field's
    metadata may give its range. Raises TableError."""
    if not isinstance(table, dict):
        raise TableError(f"{where}: {table!r} is not a table")
    known = {f.name: f for f in fields(kind) if f.init}
    hints = get_type_hints(kind)
    values = {}
    for name, value in table.items():
        if name not in known:
            raise TableError(f"{where}: '{name}' is unknown; allowed are {', '.join(known)}")
        part = parts.get(kind, {}).get(name)
        if isinstance(part, list):
            if not isinstance(value, list):
                raise TableError(f"{where}: {name} = {value!r}: allowed are tables [[{name}]]")
            values[name] = [make(part[0], v, f"{where} [[{name}]] {k}", parts)
                            for k, v in enumerate(value, 1)]
        elif part is not None:
            values[name] = make(part, value, f"{where} [{name}]", parts)
        else:
            values[name] = _value(hints[name], value, f"{where}: {name}",
                                  known[name].metadata.get("range"))
            if known[name].metadata.get("place"):
                values[name] = os.path.expanduser(values[name])
    return kind(**values)


def _quotes(text: str, wrong: str) -> str:
    """Advice for a value without quotes, from the message of the TOML reader."""
    at, lines = re.search(r"line (\d+)", wrong), text.splitlines()
    line = lines[int(at[1]) - 1] if at and int(at[1]) <= len(lines) else ""
    found = re.match(r"\s*([\w.-]+)\s*=\s*([\w./:~-][^#\"']*?)\s*(#.*)?$", line)
    return f"; text needs quotes: {found[1]} = \"{found[2]}\"" if found else ""


def parse(kind: Any, text: str, where: str, parts: Parts, error: Type[ValueError]) -> Any:
    """An object of a dataclass from TOML text, checked. Sets its attribute where.

    where: the file or another name of the source. Raises error, whose text begins with where.
    """
    try:
        made = make(kind, tomllib.loads(text.removeprefix("\ufeff")), where, parts)
    except TableError as wrong:
        raise error(str(wrong)) from None
    except (tomllib.TOMLDecodeError, RecursionError) as wrong:
        raise error(f"{where}: {wrong}{_quotes(text, str(wrong))}") from None
    made.where = where
    try:
        made.check()
    except ValueError as wrong:
        raise error(f"{where}: {wrong}") from None
    return made
