# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a station, as text for hf info --settings, help() in Python and
docs/settings.md. The blocks own the table (describe_settings())."""
from dataclasses import fields
import re
import textwrap
from typing import Any, Dict, List, NamedTuple

from .. import hf_python as _hf
from .. import station


class Setting(NamedTuple):
    """One setting, or a numbered family (dscp_N), as text for the user."""

    name: str
    default: str
    allowed: str
    unit: str
    meaning: str


class Part(NamedTuple):
    """A block with settings, and the table of a station file that holds them."""

    name: str
    table: str
    block: Any


#: By the argument of hf info --settings.
PARTS: Dict[str, Part] = {
    "data-link": Part("Data link", "[data_link]", _hf.data_link),
    "pep": Part("HF-PEP", "[pep.settings]", _hf.pep),
    "ip-client": Part("IP Client", "[ip_client.settings]", _hf.ip_client),
    "dns": Part("DNS-PEP", "[dns.settings]", _hf.dns_pep),
    "ale": Part("ALE", "[ale.settings]", _hf.ale_station),
}


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e16 else f"{value:g}"


def _allowed(info: Any) -> str:
    if info.whole and (info.least, info.most) == (0, 1):
        return "0 or 1"
    return f"{_number(info.least)} to {_number(info.most)}"


def _of_field(f: Any) -> Setting:
    limits = f.metadata["range"]
    allowed = f"{_number(limits[0])} to {_number(limits[1])}" if limits else "a text"
    default = repr(f.default) if isinstance(f.default, str) else _number(f.default)
    return Setting(f.name, default.replace("'", '"'), allowed, f.metadata["unit"],
                   f.metadata["meaning"])


def sdr_settings() -> List[Setting]:
    """The keys of [radio.sdr] in a station file."""
    return [_of_field(f) for f in fields(station.Sdr)]


def settings(part: Part) -> List[Setting]:
    """The settings of a part. Those that differ only in a number are one entry."""
    found: Dict[str, Setting] = {}
    for info in part.block.describe_settings():
        name = re.sub(r"_\d+$", "_N", info.name)
        default = _number(info.value)
        if name in found and found[name].default != default:
            default = "by N"
        found[name] = Setting(name, default, _allowed(info), info.unit, info.meaning)
    return list(found.values())


def text(part: Part) -> str:
    """Settings as text for a terminal and for help()."""
    rows = settings(part)
    width = max(len(r.name) for r in rows)
    lines = []
    for r in rows:
        unit = f" {r.unit}" if r.unit else ""
        lines += [f"{r.name:{width}}  {r.default}{unit}   ({r.allowed})",
                  textwrap.fill(r.meaning, 79, initial_indent=" " * (width + 2),
                                subsequent_indent=" " * (width + 2), break_on_hyphens=False)]
    return "\n".join(lines)


def markdown() -> str:
    """Content of docs/settings.md."""
    lines = ["# Settings", "",
             "Optional numbers with a default. `hf info --settings` and `help(hf.data_link)` "
             "print them.",
             "`hf info --settings --markdown` wrote this page. Times and rates may have a "
             "fraction, the",
             "others are whole numbers. Flags are 0 or 1, in station files also `false` or "
             "`true`. On the",
             "command line: `hf sim --set NAME=NUMBER`."]
    tables = [(part.name, part.table, settings(part)) for part in PARTS.values()]
    tables.append(("SDR, in station files only", "[radio.sdr]", sdr_settings()))
    for name, table, rows in tables:
        lines += ["", f"## {name}: `{table}`", "",
                  "| setting | default | unit | allowed | meaning |", "|---|---|---|---|---|"]
        lines += [f"| `{r.name}` | {r.default} | {r.unit} | {r.allowed} | {r.meaning} |"
                  for r in rows]
    return "\n".join(lines)


def document() -> None:
    """Append the tables to the docstrings of the blocks."""
    for part in PARTS.values():
        title = "Settings, each with its default and the values allowed:"
        part.block.__doc__ += f"\n\n{title}\n\n{text(part)}\n"
