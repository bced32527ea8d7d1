#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of the data link that the explorer must not miss: rules.py [--work DIR].

Takes each rule of rules.csv out of a copy of the engine and runs the sample of schedules. A rule
whose absence no schedule shows is either not needed or not tested. The sample does not notice if
one of these is missing: the checks of a damaged segment and of one received before, data in
order, the content of old numbers, and the end of a reception that is not told.
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


def main(words: Optional[Sequence[str]] = None) -> int:
    """Returns 0 if every rule was missed by the tests, 1 if not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("--work", type=pathlib.Path, metavar="DIR",
                        default=ROOT / "build" / "rules",
                        help="for the copy and its build [build/rules]")
    bench = mutate.Bench(ROOT, parser.parse_args(words).work.resolve(), ["test_explore"])
    bench.prepare()
    missed = 0
    print("| rule | clause | without it |\n|---|---|---|", flush=True)
    for rule in rules():
        outcome = bench.outcome(fault(rule, ROOT))
        missed += not outcome.startswith("killed")
        print(f"| {rule['rule']} | {rule['clause']} | {outcome} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
