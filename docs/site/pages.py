# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages that the code says of itself: commands, station files, blocks."""
import dataclasses
import glob
import inspect
import os
import re
from typing import Any, Dict, Iterator, List, Tuple, get_args, get_origin, get_type_hints

import click
import yaml

from gnuradio.hf import station
from gnuradio.hf.cli import COMMANDS, GROUPS, hf

API = """# C++ programs

The public headers, `<gnuradio/hf/*.h>`: <a href="../api/index.html">API by Doxygen</a>. Blocks are
made by their `make()`, as in Python; `examples/cpp` is a program with its CMake file, and
`pkg-config --cflags --libs gnuradio-hf` says the same to other builders.
"""


#: First line of each generated page.
NOTE = "<!-- Generated: build/run python3 docs/site/make_site.py --pages -->\n"


def generated(tree: str) -> Dict[str, str]:
    """The pages of docs/reference that the code says of itself, by name."""
    made = {"commands": commands(), "station-files": station_files(),
            "blocks": blocks(os.path.join(tree, "grc"))}
    return {name: NOTE + text.rstrip() + "\n" for name, text in made.items()}


#: Those of the tree. The others say what --help, manual pages and the Companion say.
IN_TREE = ("station-files",)


def cell(text: str) -> str:
    """Text that may stand in a table."""
    return re.sub(r"\s+", " ", text).replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")


def table(head: List[str], rows: List[List[str]]) -> str:
    """Rows as Markdown; empty without any."""
    if not rows:
        return ""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines) + "\n"


# --- commands ---------------------------------------------------------------------------------

def walk(command: click.Command, ctx: click.Context) -> Iterator[Tuple[click.Command,
                                                                       click.Context]]:
    """A command and all below it, each with its context."""
    yield command, ctx
    if isinstance(command, click.MultiCommand):
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            if below is not None:
                yield from walk(below, click.Context(below, info_name=name, parent=ctx))


def paragraphs(help_text: str) -> str:
    """The help of a command; what is laid out in it (after \\b) stays so."""
    parts = []
    for block in inspect.cleandoc(help_text or "").split("\n\n"):
        if block.startswith("\b\n"):
            parts.append("\n".join("    " + line for line in block[2:].split("\n")))
        else:
            parts.append(cell(block))
    return "\n\n".join(parts)


def options(command: click.Command, ctx: click.Context) -> List[List[str]]:
    """Options with what is allowed and the default, as --help says them, except --help itself:
    versions of click word it in different ways."""
    rows = []
    for p in command.params:
        record = p.get_help_record(ctx) if isinstance(p, click.Option) else None
        if record is not None:
            rows.append([f"`{cell(record[0])}`".replace("\\", ""), cell(record[1])])
    return rows


def commands() -> str:
    """Every command with its options."""
    text = ("# Commands\n\nWhat `--help` says of each, generated from the commands. "
            "`hf --version` tells version and commit.\n\n")
    text += table(["to", "commands"],
                  [[group.lower(), ", ".join(f"[{name}](#hf-{name})" for name in below)]
                   for group, below in GROUPS.items()])
    for command, ctx in walk(hf, click.Context(hf, info_name="hf")):
        if ctx.parent is None:
            continue
        level = "##" if ctx.parent.parent is None else "###"
        usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
        text += f"{level} {ctx.command_path}\n\n    {usage}\n\n{paragraphs(command.help)}\n\n"
        text += table(["option", "what"], options(command, ctx))
    assert text.count("\n## hf ") == len(COMMANDS)
    return text


# --- station files ----------------------------------------------------------------------------

NAMES = {str: "text", int: "whole number", bool: "true or false", float: "number"}


def type_name(hint: Any) -> str:
    """What a file may say for a field of that type."""
    if type(None) in get_args(hint):
        return type_name(get_args(hint)[0])
    if get_origin(hint) is list:
        inner = get_args(hint)[0]
        return "tables, below" if dataclasses.is_dataclass(inner) else \
            f"list of {'tables' if get_origin(inner) else 'texts'}"
    if get_origin(hint) is dict:
        inner = get_args(hint)[1]
        return "table of " + ("lists" if get_origin(inner) is list else
                              "texts" if inner is str else "numbers")
    return NAMES.get(hint, "table, below")


def default_of(f: "dataclasses.Field[Any]") -> str:
    """The default as a file would say it."""
    if f.default is dataclasses.MISSING or f.default is None or dataclasses.is_dataclass(f.type):
        return ""
    if isinstance(f.default, bool):
        return f"`{str(f.default).lower()}`"
    return f"`\"{f.default}\"`" if isinstance(f.default, str) else f"`{f.default}`"


def tables_of_a_file() -> Dict[str, Any]:
    """Name of each table of a station file in its brackets, and the class that describes it."""
    found: Dict[str, Any] = {"": station.Description}
    for kind, parts in station.PARTS.items():
        prefix = next(name for name, k in found.items() if k is kind).strip("[]")
        for name, part in parts.items():
            full = f"{prefix}.{name}" if prefix else name
            if isinstance(part, list):
                found[f"[[{full}]]"] = part[0]
            else:
                found[f"[{full}]"] = part
    return found


def station_files() -> str:
    """Every table and key of a station file."""
    text = ("# Station files\n\nA station is described in TOML, read by `hf run` and by "
            "`gnuradio.hf.station.load()`; [an example](../how-to/stations.md#station-files). "
            "Unknown keys, wrong types and values out of range are refused with file, key and "
            "what is allowed. Generated from the code.\n\n")
    for name, kind in tables_of_a_file().items():
        text += f"## {name or 'At the top'}\n\n"
        text += "\n\n".join(cell(p) for p in inspect.cleandoc(kind.__doc__).split("\n\n")) + "\n\n"
        hints, rows = get_type_hints(kind), []
        for f in (f for f in dataclasses.fields(kind) if f.init):
            allowed = " to ".join(f"{x:g}" if isinstance(x, float) else str(x)
                                  for x in f.metadata.get("range") or ())
            rows.append([f"`{f.name}`", type_name(hints[f.name]), default_of(f), allowed,
                         f.metadata.get("unit", ""), cell(f.metadata.get("meaning", ""))])
        columns = 6 if any(row[5] for row in rows) else 4  # else the text above says it
        text += table(["key", "type", "default", "allowed", "unit", "meaning"][:columns],
                      [row[:columns] for row in rows])
    return text


# --- blocks -----------------------------------------------------------------------------------

def ports(block: Dict[str, Any]) -> List[List[str]]:
    """Streams and message ports of a block."""
    return [[f"`{p.get('id', p.get('label', side[:-1]))}`", side[:-1],
             "messages" if p["domain"] == "message" else p.get("dtype", "stream")]
            for side in ("inputs", "outputs") for p in block.get(side, [])]


def blocks(folder: str) -> str:
    """Every block of the Companion, as its documentation tab and its parameters have it."""
    text = ("# Blocks\n\nAs GNU Radio Companion shows them, under **[HF]**; in Python the name "
            "without `hf_` is that in `gnuradio.hf`. Generated from the descriptions. What the "
            "messages hold: [flowgraphs](flowgraphs.md#messages).\n\n")
    for path in sorted(glob.glob(os.path.join(folder, "*.block.yml"))):
        with open(path, encoding="utf-8") as file:
            block = yaml.safe_load(file)
        text += f"## {block['label']}\n\n`{block['id']}`\n\n"
        text += f"```text\n{block['documentation'].strip()}\n```\n\n"
        text += table(["parameter", "name", "default", "choices"],
                      [[cell(p["label"]), f"`{p['id']}`", f"`{p.get('default', '')}`"
                        if str(p.get("default", "")) else "",
                        choices(p)] for p in block["parameters"]])
        text += table(["port", "side", "carries"], ports(block))
    return text


def choices(parameter: Dict[str, Any]) -> str:
    """What a list offers; of long lists how many."""
    given = [str(o) for o in parameter.get("options", [])]
    return f"{len(given)}: {cell(given[0])} to {cell(given[-1])}" if len(given) > 8 \
        else cell(", ".join(given))
