# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports between the rooms of the package: every import below python/hf against the table in
docs/architecture.md."""
import ast
import pathlib
import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "hf"
ROW = re.compile(r"^\| `python/hf/([\w/]*?)/?` \| .*? \| (.*?) \| (.*?) ?\|$", re.M)
#: Name of the library in the table.
LIBRARY = ""


class Room(NamedTuple):
    """Rooms of ours that it may import, and modules of others that only it may."""

    ours: Set[str]
    others: Set[str]


def rooms() -> Dict[str, Room]:
    """The table, by folder below python/hf; the library is the folder itself."""
    table = {}
    for name, ours, others in ROW.findall((ROOT / "docs" / "architecture.md").read_text()):
        may = set(re.findall(r"`([\w/]+)`", ours))
        may |= {LIBRARY} if "the library" in ours else set()
        table[name] = Room(may, set(re.findall(r"\w+", others)))
    return table


def imports(path: pathlib.Path, tree: Optional[ast.Module] = None) -> Iterator[Tuple[str, ...]]:
    """Imports of a module or a part of it, as parts of absolute names, in functions as well."""
    package = ("gnuradio", "hf", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(tree or ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = package[:len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            for alias in node.names:
                yield (*base, alias.name)


def room_of(parts: Tuple[str, ...], table: Dict[str, Room]) -> str:
    """The room that a name below gnuradio.hf is in."""
    return next((name for name in ("/".join(parts[2:4]), "/".join(parts[2:3])) if name in table),
                LIBRARY)


def fault(own: str, parts: Tuple[str, ...], table: Dict[str, Room]) -> str:
    """Fault of an import in a room. Empty: none."""
    if parts[0] == "hflab":
        return "the laboratory is not for the product"
    if parts[:2] != ("gnuradio", "hf"):
        owners = {name for name, room in table.items() if parts[0] in room.others}
        return f"{parts[0]} is for {sorted(owners)}" if owners and own not in owners else ""
    to = room_of(parts, table)
    return "" if to == own or to in table[own].ours else f"{'.'.join(parts)} is in another room"


def modules() -> List[Tuple[str, pathlib.Path]]:
    """Every module with the room it is in."""
    return [("/".join(path.relative_to(PACKAGE).parent.parts), path)
            for path in sorted(PACKAGE.rglob("*.py"))]


def test_every_folder_has_a_row():
    folders = {own for own, _ in modules()}
    assert folders == set(rooms())


def test_imports_go_as_the_table_says():
    table, faults, count = rooms(), [], 0
    for own, path in modules():
        for parts in imports(path):
            count += 1
            if said := fault(own, parts, table):
                faults.append(f"{path.relative_to(ROOT)}: {said}")
    assert count > 400
    assert not faults, "\n".join(faults)


def at_start(tree: ast.Module) -> Iterator[ast.stmt]:
    """Import statements that run when the module is imported: in no function, and not for the
    type checker alone."""
    waiting: List[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting.extend(node.orelse)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


def graph() -> Dict[str, Set[str]]:
    """Modules of ours that each module imports at its start, by dotted names below gnuradio.hf."""
    names = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
             for path in PACKAGE.rglob("*.py")}
    edges: Dict[str, Set[str]] = {name: set() for name in names}
    for name, path in names.items():
        tree = ast.parse(path.read_text())
        tree.body = list(at_start(tree))
        for parts in imports(path, tree):
            whole = ".".join(parts[2:])
            edges[name] |= {whole, ".".join(parts[2:-1])} & set(names) - {name}
    return edges


def circle(edges: Dict[str, Set[str]]) -> List[str]:
    """One circle of a graph, its first name again at its end. Empty: there is none."""
    done: Set[str] = set()

    def walk(name: str, way: List[str]) -> List[str]:
        if name in way:
            return [*way[way.index(name):], name]
        found = next((more for to in sorted(edges[name]) if to not in done
                      for more in [walk(to, [*way, name])] if more), [])
        done.add(name)
        return found

    return next((found for name in sorted(edges) if name not in done
                 for found in [walk(name, [])] if found), [])


def test_modules_do_not_import_each_other_in_a_circle():
    edges = graph()
    assert sum(map(len, edges.values())) > 200
    assert not circle(edges), " imports ".join(circle(edges))
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]


def test_what_a_room_has_for_itself_it_uses():
    for name, room in rooms().items():
        used = {parts[0] for own, path in modules() if own == name for parts in imports(path)}
        assert room.others <= used, name


@pytest.mark.parametrize("own, name, wrong", [
    ("station", "gnuradio.hf.cli.fail", True),
    ("system", "gnuradio.hf.station.pair", True),
    (LIBRARY, "gnuradio.hf.simulation.demo", True),
    ("simulation", "gnuradio.hf.cli.sim", True), ("simulation", "click", True),
    (LIBRARY, "rich.table", True), ("cli", "matplotlib.pyplot", True),
    (LIBRARY, "scipy.stats", True), ("bindings", "gnuradio.hf.station", True),
    ("simulation", "gnuradio.hf.station", False), ("channels", "scipy.stats", False),
    ("channels", "gnuradio.hf.simulation.demo", True), ("pictures", "matplotlib.pyplot", False),
    ("simulation", "gnuradio.hf.hf_python", False), ("cli", "gnuradio.hf.channels.learn", False),
    ("cli", "gnuradio.hf.cli.fail", False), ("recordings", "gnuradio.hf.system.output", False),
    ("cli", "click", False), ("cli", "gnuradio.gr", False), ("cli", "hflab.sweep", True)])
def test_wrong_imports_are_seen_and_right_ones_are_not(own, name, wrong):
    assert bool(fault(own, tuple(name.split(".")), rooms())) == wrong


def test_relative_imports_are_resolved(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    path = tmp_path / "web" / "x.py"
    path.parent.mkdir()
    path.write_text("from . import a\nfrom .. import b\nfrom ..cli.sim import c\n"
                    "from .d import e\nimport f.g\n")
    assert list(imports(path)) == [
        ("gnuradio", "hf", "web", "a"), ("gnuradio", "hf", "b"),
        ("gnuradio", "hf", "cli", "sim", "c"), ("gnuradio", "hf", "web", "d", "e"), ("f", "g")]
