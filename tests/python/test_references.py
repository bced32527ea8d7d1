# SPDX-License-Identifier: GPL-3.0-or-later
"""References in documents and comments: none names a file that the tree does not have."""
import fnmatch
from pathlib import Path
import re
import subprocess
from typing import Iterator, List, Set, Tuple

import pytest

TREE = Path(__file__).resolve().parents[2]
#: Plans, notes and functions that are not in the tree.
GONE = ("fact base", "receiver-notes", "simulate_transmission", "conformance list", "house.md",
        "ladder.md", "shared/design", "shared/spec", "shared/data")
#: Folders at the top that a reference starts with.
ROOMS = (r"lib|laboratory|tests|python|docs|examples|include|apps|grc|cmake|packaging|debian|"
         r"conda|\.ci")
#: Endings of files that a reference names below its room, as #include does: modem/mode.h.
ENDINGS = "cc|h|py|js|csv|toml|md|grc|vec|npz|json"
PATH = re.compile(rf"(?<![\w/.$}}<-])((?:{ROOMS})/[\w./*{{}},-]*"
                  rf"|[a-z]\w*(?:/\w+)*/[\w*-]+\.(?:{ENDINGS})\b)")
#: A part of a class, in a document: `track/channel_estimator`.
PART = re.compile(r"`([a-z_]+(?:/[a-z_0-9]+)+)`")
#: Starts of references to installed, built or foreign files, or to any name.
NOT_OURS = ("build/", "lib/python3", "lib/systemd/system", "share/", "netinet/",
            "gnuradio/block.h", "liquid/", "examples/modem_server_", "examples/modem_client_",
            "python/hf/cli/NAME.py")
#: Vectors and what programs measured are kept as they are, and name their own files.
KEPT = re.compile(r"tests/(vectors/.*\.(vec|csv|json|npz)|fuzz/corpus/)|CHANGELOG\.md|COPYING|"
                  r"laboratory/(results/|README)|"
                  r"tests/python/test_references\.py")

#: Folders of a build, where git does not tell which files belong to the tree.
BUILT = r"build|obj-|\.git/|\.pc/|debian/(?!tests/|source/)[^/]+/"


def tree_files() -> List[str]:
    """Paths of the tree, without built files."""
    listed = subprocess.run(["git", "ls-files"], cwd=TREE, capture_output=True, text=True)
    if listed.returncode == 0:
        return [name for name in listed.stdout.splitlines() if (TREE / name).is_file()]
    return [str(p.relative_to(TREE)) for p in TREE.rglob("*") if p.is_file()
            and not re.match(BUILT, str(p.relative_to(TREE)))]


FILES = tree_files()


def endings_of(files: List[str]) -> Set[str]:
    """Every path and folder of the tree, and each of its ends: a/b/c.h, b/c.h, c.h."""
    found = set()
    for name in files:
        parts = name.split("/")
        for first in range(len(parts)):
            for last in range(first + 1, len(parts) + 1):
                found.add("/".join(parts[first:last]))
    return found


KNOWN = endings_of(FILES)


def comments(name: str, text: str) -> Iterator[Tuple[int, str]]:
    """Line numbers and lines of a document, or of the comments of code."""
    if name.endswith((".cc", ".h", ".js", ".css")):
        shown = re.finditer(r"//.*|/\*.*?\*/", text, re.S)
    elif name.endswith(".py"):
        shown = re.finditer(r"(?m)(?:^|\s)#.*$|(?<!f)\"\"\"(?s:.*?)\"\"\"", text)
    elif name.endswith((".md", ".rst")):
        shown = re.finditer(r"(?s).+", text)
    else:
        shown = re.finditer(r"(?m)(?:^|\s)#.*$", text)
    for part in shown:
        number = text.count("\n", 0, part.start()) + 1
        for k, line in enumerate(part[0].split("\n")):
            yield number + k, line


def exists(reference: str) -> bool:
    """Whether the tree has what a reference names; {a,b} and * stand for several names."""
    reference = reference.rstrip("./,-")
    braces = re.search(r"\{([^{}]*)\}", reference)
    if braces:
        return all(exists(reference.replace(braces[0], one)) for one in braces[1].split(","))
    if "*" in reference:
        return any(fnmatch.fnmatch(known, reference) for known in KNOWN)
    return reference in KNOWN or reference.startswith(NOT_OURS)


def dead(name: str, text: str) -> List[str]:
    """References of a file that lead nowhere, with their lines."""
    found = []
    for number, line in comments(name, text):
        found += [f"{name}:{number}: {word}" for word in GONE if word in line.lower()]
        found += [f"{name}:{number}: {m[1]}" for m in PATH.finditer(line)
                  if not exists(m[1]) and not (TREE / name).parent.joinpath(m[1]).exists()]
        if name.endswith(".md"):
            found += [f"{name}:{number}: {m[1]}" for m in PART.finditer(line)
                      if not (exists(m[1]) or exists(m[1] + ".*"))]
    return found


def test_dead_references_are_found():
    assert dead("a.md", "See `lib/modem/nowhere.h`,\n`dts/arq_sender.h` and `track/nobody`.") == [
        "a.md:1: lib/modem/nowhere.h", "a.md:2: dts/arq_sender.h", "a.md:2: track/nobody"]
    assert dead("a.py", 'x = "lib/none.h"\n"""As in\ntests/none.py."""\n') == [
        "a.py:3: tests/none.py."]
    assert dead("a.cc", "int x; // receiver-notes section 4\n") == ["a.cc:1: receiver-notes"]
    assert dead("a.md", "`tests/python/`, `lib/modem/burst_*.h`, `arq/arq_{sender,receiver}.h`, "
                "`track/channel_estimator`, /usr/lib/x.h, build/lib/x.h") == []


@pytest.mark.parametrize("room", sorted({name.split("/")[0] for name in FILES}))
def test_references_lead_to_files(room):
    found = []
    for name in FILES:
        if name.split("/")[0] != room or KEPT.match(name):
            continue
        try:
            found += dead(name, (TREE / name).read_text())
        except UnicodeDecodeError:
            continue
    assert not found, "\n".join(found)
