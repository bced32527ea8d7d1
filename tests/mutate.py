#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutation score of the engines: mutate.py FOLDER N [--seed S].

Draws N small faults in the code of one folder below lib/, builds each and runs the tests of that
folder. A fault that no test notices survives: a test is missing, or the fault changes nothing.
All work is done on a copy of the sources. Results are stored, so the next run goes on.
"""
import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple

#: What is copied: enough to build the engines and their tests.
COPIED = ("CMakeLists.txt", "cmake", "include", "lib", "tests")
#: A test program may take this many times as long as without a fault, and this many seconds more.
TIME_FACTOR, TIME_MORE_S = 5, 10
#: Longest build of one mutant, s.
BUILD_S = 1200
#: Memory of a process, octets: a fault in a loop may ask for all there is.
MEMORY = 4 << 30

SWAPS = {
    "limit": {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
    "equality": {"==": "!=", "!=": "=="},
    "arithmetic": {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "+=": "-=", "-=": "+=",
                   "|": "&", "&": "|", "|=": "=", "&=": "="},
    "logic": {"&&": "||", "||": "&&"},
    "bool": {"true": "false", "false": "true"},
}
#: Binary operators have a space on both sides, as clang-format puts them.
OPERATOR = re.compile(r"(?<=\s)(<=|>=|==|!=|&&|\|\||\+=|-=|\|=|&=|[<>+\-*/%|&])(?=\s)")
BOOLEAN = re.compile(r"\b(true|false)\b")
NUMBER = re.compile(r"(?<![\w.'])(\d[\d']*)(\.\d+)?(?=[uUlLfs]*\b)(?![\w.']*[xXeE.])")
CONDITION = re.compile(r"\bif \((?!!)(?!const |auto )([^;{}]*)\)(?= \{$|$)", re.MULTILINE)
#: A call or an assignment, but no declaration, alone on its line.
STATEMENT = re.compile(r"^( {4,})(?!return\b|case\b|throw\b|using\b|else\b|if\b|for\b|while\b|"
                       r"EXPECT|static_assert|default\b)"
                       r"((?:\+\+|--|\*)?[A-Za-z_]\w*(?:(?:\.|->|::)\w+|\[[^\]\n]*\]|\(\))*"
                       r"(?: (?:=|\+=|-=|\|=|&=) |\()[^\n{}]*|(?:\+\+|--)[\w.\->\[\]]+);$",
                       re.MULTILINE)
#: The head of a function whose body begins on a line of its own.
FUNCTION = re.compile(r"^(void|bool) [\w:]+::\w+\([^;{}]*\)(?: const)?\n\{\n", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One fault: the octets from begin to end of a file become new."""

    file: str
    line: int
    kind: str
    begin: int
    end: int
    old: str
    new: str

    def name(self) -> str:
        """One line that says where and what."""
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.file}:{self.line} {self.kind}: {old or 'nothing'} -> {new or 'nothing'}"


def blank(text: str) -> str:
    """The code with comments, strings and preprocessor lines as spaces, of the same length."""
    parts = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'"
                       r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|\bstatic_assert\([^;]*;"
                       r"|^template <[^\n]*>$", re.DOTALL | re.MULTILINE)
    return parts.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def balanced(text: str) -> bool:
    """True if each bracket is closed within the text."""
    depth = 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if depth < 0:
            return False
    return depth == 0


def _found(code: str, header: bool) -> Iterator[Tuple[str, int, int, str]]:
    for m in OPERATOR.finditer(code):
        for kind in ("limit", "equality", "arithmetic", "logic"):
            if m.group() in SWAPS[kind]:
                yield kind, m.start(), m.end(), SWAPS[kind][m.group()]
    for m in BOOLEAN.finditer(code):
        yield "constant", m.start(), m.end(), SWAPS["bool"][m.group()]
    for m in NUMBER.finditer(code):
        whole, part = m.group(1).replace("'", ""), m.group(2)
        if whole == "0" and part is None and code[m.end():m.end() + 1] in ("x", "X", "b"):
            continue
        new = str(2 * float(whole + part) or 1.0) if part else str(int(whole, 10) + 1)
        yield "constant", m.start(), m.end(), new
    for m in CONDITION.finditer(code):
        if balanced(m.group(1)):
            yield "condition", m.start(1), m.end(1), f"!({m.group(1)})"
    for m in STATEMENT.finditer(code):
        if balanced(m.group(2)) and (not header or len(m.group(1)) >= 8):
            yield "statement", m.start(2), m.end(2), ""
    for m in FUNCTION.finditer(code):
        early = "return;" if m.group(1) == "void" else "return false;"
        yield "early return", m.end(), m.end(), f"    {early}\n"


def mutants_of(file: str, text: str) -> List[Mutant]:
    """All faults that can be put into one source file, in the order of their place."""
    code = blank(text)
    found = [Mutant(file, code.count("\n", 0, begin) + 1, kind, begin, end, text[begin:end],
                    new.replace(code[begin:end], text[begin:end]) if new else new)
             for kind, begin, end, new in _found(code, file.endswith(".h"))]
    return sorted(found, key=lambda m: (m.begin, m.end, m.kind))


def draw(all_mutants: Sequence[Mutant], count: int, seed: int) -> List[Mutant]:
    """As many of each kind as there are, in random order, but the same order for each seed."""
    chance = random.Random(seed)
    kinds: Dict[str, List[Mutant]] = {}
    for m in all_mutants:
        kinds.setdefault(m.kind, []).append(m)
    for those in kinds.values():
        chance.shuffle(those)
    drawn: List[Mutant] = []
    while len(drawn) < count and any(kinds.values()):
        order = sorted(kind for kind, those in kinds.items() if those)
        chance.shuffle(order)
        drawn += [kinds[kind].pop() for kind in order[:count - len(drawn)]]
    return drawn


def applied(text: str, m: Mutant) -> str:
    """The text with the fault in it."""
    return text[:m.begin] + m.new + text[m.end:]


def folder_below(lib: pathlib.Path, name: str) -> pathlib.Path:
    """The only folder below lib with that path or name. Raises ValueError."""
    wanted = pathlib.PurePath(name).parts
    wanted = wanted[1:] if wanted[:1] == ("lib",) else wanted
    fits = [p for p in sorted(lib.rglob("*"))
            if p.is_dir() and p.relative_to(lib).parts[-len(wanted):] == wanted]
    if (lib / pathlib.Path(*wanted)).is_dir():
        return lib / pathlib.Path(*wanted)
    if len(fits) != 1:
        paths = ", ".join(str(p.relative_to(lib)) for p in fits) or "none"
        raise ValueError(f"folder {name!r} below lib: {paths}")
    return fits[0]


def programs_of(tests: pathlib.Path) -> List[str]:
    """The test programs that a folder of tests/ builds."""
    text = (tests / "CMakeLists.txt").read_text()
    return [f"test_{name}" for name in re.findall(r"hf_gtest\(\s*(\w+)", text)]


def synchronise(source: pathlib.Path, copy: pathlib.Path) -> str:
    """Make copy like source, touching only what differs. Returns a digest of the sources."""
    digest = hashlib.sha256()
    present = set()
    for top in COPIED:
        files = [source / top] if (source / top).is_file() else sorted((source / top).rglob("*"))
        for path in files:
            name = path.relative_to(source)
            if not path.is_file() or "__pycache__" in name.parts:
                continue
            present.add(name)
            content = path.read_bytes()
            digest.update(f"{name} {len(content)}\n".encode() + content)
            target = copy / name
            if not target.is_file() or target.read_bytes() != content:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                shutil.copymode(path, target)
    for path in sorted(copy.rglob("*")):
        if path.is_file() and path.relative_to(copy) not in present:
            path.unlink()
    return digest.hexdigest()[:12]


def run(words: Sequence[str], limit_s: float, folder: Optional[pathlib.Path] = None
        ) -> Tuple[Optional[int], str]:
    """Status and output of a program, all of whose processes end with it. None: too late."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder,
                          start_new_session=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                                (MEMORY, MEMORY))) as child:
        try:
            said, _ = child.communicate(timeout=limit_s)
            return child.returncode, said.decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            said, _ = child.communicate()
            return None, said.decode(errors="replace")


class Bench:
    """A copy of the sources with its build, in which faults are tried one at a time."""

    def __init__(self, source: pathlib.Path, place: pathlib.Path, programs: Sequence[str]):
        self.copy, self.build, self.programs = place / "source", place / "build", programs
        self.copy.mkdir(parents=True, exist_ok=True)
        self.digest = synchronise(source, self.copy)
        self.limits: Dict[str, float] = {}

    def make(self) -> Tuple[Optional[int], str]:
        """Build the test programs."""
        return run(["cmake", "--build", str(self.build), f"-j{os.cpu_count() or 1}", "--target",
                    *self.programs], BUILD_S)

    def configure(self) -> None:
        """Make the build and its programs, without a fault. Raises RuntimeError."""
        status, said = run(
            ["cmake", "-G", "Ninja", "-S", str(self.copy), "-B", str(self.build),
             "-DBUILD_TESTING=ON", "-DHF_ENGINES_ONLY=ON", "-DHF_WERROR=OFF",
             "-DCMAKE_BUILD_TYPE=Release",
             "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", "-DCMAKE_CXX_FLAGS=-w"], BUILD_S)
        if status == 0:
            status, said = self.make()
        if status != 0:
            raise RuntimeError(f"the sources do not build:\n{said[-2000:]}")

    def prepare(self) -> None:
        """Build without a fault and measure the tests. Raises RuntimeError."""
        self.configure()
        for program in self.programs:
            begin = time.monotonic()
            status, said = run(self.command(program), BUILD_S, self.build)
            if status != 0:
                raise RuntimeError(f"{program} fails without a fault:\n{said[-2000:]}")
            self.limits[program] = TIME_FACTOR * (time.monotonic() - begin) + TIME_MORE_S

    def command(self, program: str) -> List[str]:
        """How a test program is started."""
        path = next(p for p in sorted((self.build / "tests").rglob(program)) if p.is_file())
        return [str(path), "--gtest_brief=1", "--gtest_fail_fast"]

    def outcome(self, m: Mutant) -> str:
        """'killed by TEST', 'survived', or 'did not build'. The copy is as before afterwards."""
        path = self.copy / m.file
        text = path.read_text()
        try:
            path.write_text(applied(text, m))
            status, _ = self.make()
            if status != 0:
                return "did not build"
            for program in self.programs:
                status, said = run(self.command(program), self.limits[program], self.build)
                if status != 0:
                    named = re.search(r"^\[  FAILED  \] (\S+\.\S+?),?(?: |$)", said, re.MULTILINE)
                    by = named.group(1) if named else program
                    return f"killed by {by if status is not None else 'the time limit'}"
            return "survived"
        finally:
            path.write_text(text)


def load(store: pathlib.Path) -> Dict[str, str]:
    """Results by the name of the mutant."""
    if not store.is_file():
        return {}
    rows = (json.loads(line) for line in store.read_text().splitlines() if line.endswith("}"))
    return {row["mutant"]: row["outcome"] for row in rows}


def summary(outcomes: Sequence[str]) -> str:
    """Counts and the score: the share of those built that were killed."""
    survived, broken = outcomes.count("survived"), outcomes.count("did not build")
    killed = len(outcomes) - survived - broken
    score = 100 * killed / (killed + survived) if killed + survived else 0
    return (f"{len(outcomes)} mutants: {killed} killed, {survived} survived, {broken} did not "
            f"build. Score {score:.0f} %")


def score(source: pathlib.Path, folder: str, count: int, seed: int, place: pathlib.Path,
          tests: Sequence[str], say: Callable[[str], object]) -> bool:
    """Try the mutants and say the results. Returns True if none survived.

    Raises ValueError for an unknown folder, RuntimeError if the tree is not sound without a fault.
    """
    lib = source / "lib"
    where = folder_below(lib, folder)
    programs = [p for t in tests or [where.relative_to(lib).parts[0]]
                for p in programs_of(source / "tests" / t)]
    bench = Bench(source, place, programs)
    drawn = draw([m for path in sorted(where.rglob("*")) if path.suffix in (".cc", ".h")
                  for m in mutants_of(str(path.relative_to(source)), path.read_text())],
                 count, seed)
    store = place / f"{bench.digest}-{'-'.join(programs)}.jsonl"
    known = load(store)
    if any(m.name() not in known for m in drawn):
        bench.prepare()
    outcomes = []
    for number, m in enumerate(drawn, 1):
        outcome = known.get(m.name()) or bench.outcome(m)
        if m.name() not in known:
            with store.open("a") as file:
                file.write(json.dumps({"mutant": m.name(), "outcome": outcome}) + "\n")
        outcomes.append(outcome)
        say(f"{number:4} {m.name()}: {outcome}")
    say(f"{where.relative_to(source)}, seed {seed}: {summary(outcomes)}")
    for m, outcome in zip(drawn, outcomes):
        if outcome == "survived":
            say(f"survived: {m.name()}")
    return "survived" not in outcomes


def main(words: Optional[Sequence[str]] = None) -> int:
    """Returns 0 if no mutant survived, 1 if some did, 2 if it cannot be done."""
    root = pathlib.Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("folder", metavar="FOLDER", help="folder below lib/, or its last part")
    parser.add_argument("count", metavar="N", type=int, help="number of mutants")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws others [1]")
    parser.add_argument("--tests", default="", metavar="NAMES",
                        help="folders of tests/, with commas [the one named as the engine]")
    parser.add_argument("--source", type=pathlib.Path, default=root, help="the tree [this one]")
    parser.add_argument("--work", type=pathlib.Path, metavar="DIR",
                        help="for the copy, its build and the results [build/mutants]")
    parser.add_argument("--list", action="store_true", help="only print the mutants")
    given = parser.parse_args(words)
    source = given.source.resolve()
    work = (given.work or source / "build" / "mutants").resolve()
    try:
        if given.list:
            where = folder_below(source / "lib", given.folder)
            for m in draw([m for path in sorted(where.rglob("*")) if path.suffix in (".cc", ".h")
                           for m in mutants_of(str(path.relative_to(source)), path.read_text())],
                          given.count, given.seed):
                print(m.name())
            return 0
        tests = [name for name in given.tests.split(",") if name]
        clean = score(source, given.folder, given.count, given.seed, work, tests,
                      lambda line: print(line, flush=True))
        return 0 if clean else 1
    except (OSError, ValueError, RuntimeError) as e:
        print(f"mutate.py: {e}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
