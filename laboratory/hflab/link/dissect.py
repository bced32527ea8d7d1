# SPDX-License-Identifier: GPL-3.0-or-later
"""Mixed traffic of simulated stations, read by tshark: nothing malformed, no wrong CRC."""
import os
import subprocess
from typing import Callable, Dict, List, NamedTuple

from .. import experiments


#: Called with the share of the work done, 0 to 1.
Progress = Callable[[float], object]
#: Share of the simulation in the time of the whole.
SIMULATED = 0.1


class Findings(NamedTuple):
    """Findings of tshark in a capture of D_PDUs and one of S_primitives."""

    records: int    # of D_PDUs, as tshark counts them
    good_crcs: int  # header and segment
    bad_crcs: int
    malformed: int  # in both captures


class Result(NamedTuple):
    """Simulated traffic, and the findings of tshark."""

    d_pdus: Dict[str, int]      # sent, by type
    primitives: Dict[str, int]  # by number
    restarts: int
    resets: int
    hard_links: int
    found: Findings

    @property
    def clean(self) -> bool:
        f = self.found
        return f.malformed == 0 and f.bad_crcs == 0 and f.records > 0 and \
            f.good_crcs >= f.records == sum(self.d_pdus.values())


def paths(folder: str) -> List[str]:
    """The captures in a folder: of D_PDUs, of S_primitives."""
    return [os.path.join(folder, f"{name}.pcap") for name in ("d_pdus", "sis")]


def _tshark(path: str, *args: str) -> List[str]:
    run = subprocess.run(["tshark", "-r", path, *args], check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, errors="replace")
    return run.stdout.splitlines()


def read(folder: str, progress: Progress = lambda _: None) -> Findings:
    """Reads d_pdus.pcap and sis.pcap. progress: called with the share done, 0 to 1.

    :raises FileNotFoundError: there is no tshark
    """
    captures = paths(folder)
    errors = '_ws.malformed || _ws.expert.severity == "Error"'
    malformed = 0
    for number, path in enumerate(captures):
        malformed += len(_tshark(path, "-Y", errors))
        progress(0.25 * (number + 1))
    records = len(_tshark(captures[0], "-T", "fields", "-e", "frame.number"))
    progress(0.75)
    crcs = [line for line in _tshark(captures[0], "-V") if "CRC on" in line]
    progress(1.0)
    good = sum("(Correct)" in line for line in crcs)
    return Findings(records, good, len(crcs) - good, malformed)


def run(folder: str, hours: float, seed: int = 1, progress: Progress = lambda _: None) -> Result:
    """Simulates, writes d_pdus.pcap and sis.pcap into the folder and reads them. progress: called
    with the share done, 0 to 1."""
    made = experiments.simulate_mixed(*paths(folder), hours=hours, seed=seed,
                                      progress=lambda share: progress(SIMULATED * share))
    found = read(folder, lambda share: progress(SIMULATED + (1 - SIMULATED) * share))
    return Result(made["d_pdus"], made["primitives"], made["restarts"], made["resets"],
                  made["hard_links"], found)


def report(r: Result) -> str:
    """Markdown."""
    return "\n".join([
        "| what | count |", "|---|---|",
        *(f"| D_PDUs, {name} | {n} |" for name, n in r.d_pdus.items()),
        f"| S_primitives, {len(r.primitives)} kinds | {sum(r.primitives.values())} |",
        f"| hard links asked for | {r.hard_links} |",
        f"| resets | {r.resets} |",
        f"| restarts of a station | {r.restarts} |",
        f"| CRCs, header or segment: good | {r.found.good_crcs} |",
        f"| **CRCs: wrong** | **{r.found.bad_crcs}** |",
        f"| **malformed, or an error for tshark** | **{r.found.malformed}** |"])
