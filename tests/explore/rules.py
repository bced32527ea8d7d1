#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of the data link that the explorer must not miss: rules.py [--work DIR].

Takes each rule of rules.csv out of a copy of the engine and runs its schedule, which must show a
violation then. With the rule in place it must show none, which the tests check.
"""
import argparse
import csv
import pathlib
import sys
from typing import Dict, List, Optional, Sequence

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import mutate  # noqa: E402

#: Longest run of one schedule, s. A station that never ends its work counts as a violation.
RUN_S = 60


def rules() -> List[Dict[str, str]]:
    """Rows of rules.csv."""
    with (HERE / "rules.csv").open(newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def fault(rule: Dict[str, str], source: pathlib.Path) -> mutate.Mutant:
    """The rule as a fault in a source file. Raises ValueError unless its line is there once."""
    old, text = rule["line as it is"], (source / rule["file"]).read_text()
    if text.count(old) != 1:
        raise ValueError(f"{rule['file']} has {text.count(old)} lines {old!r}, expected one")
    begin = text.index(old)
    return mutate.Mutant(rule["file"], text.count("\n", 0, begin) + 1, "rule", begin,
                         begin + len(old), old, rule["line without the rule"])


def violation(program: pathlib.Path, rule: Dict[str, str]) -> str:
    """The first violation in the rule's schedule. Empty: none."""
    status, said = mutate.run([str(program), rule["world"], rule["schedule"]], RUN_S)
    if status is None:
        return f"not over after {RUN_S} s"
    found = [line for line in said.splitlines() if line.startswith("VIOLATION ")]
    return found[0].split(" ", 1)[1] if found else ""


def without(rule: Dict[str, str], bench: mutate.Bench) -> str:
    """What happens without the rule. Empty: nothing is noticed."""
    made = fault(rule, bench.copy)
    path = bench.copy / made.file
    text = path.read_text()
    try:
        path.write_text(mutate.applied(text, made))
        status, said = bench.make()
        if status != 0:
            raise RuntimeError(f"{rule['rule']!r} does not build:\n{said[-2000:]}")
        return violation(bench.build / "tests" / "explore" / "explore", rule)
    finally:
        path.write_text(text)


def main(words: Optional[Sequence[str]] = None) -> int:
    """Returns 0 if the explorer noticed that each rule was missing, 1 if not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("--work", type=pathlib.Path, metavar="DIR",
                        default=ROOT / "build" / "rules",
                        help="for the copy and its build [build/rules]")
    bench = mutate.Bench(ROOT, parser.parse_args(words).work.resolve(), ["explore"])
    bench.configure()
    missed = 0
    print("| rule | clause | schedule | without it |\n|---|---|---|---|", flush=True)
    for rule in rules():
        found = without(rule, bench)
        missed += not found
        print(f"| {rule['rule']} | {rule['clause']} | `{rule['world']} {rule['schedule']}` "
              f"| {found or '**not noticed**'} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
