# SPDX-License-Identifier: GPL-3.0-or-later
"""Mixed traffic of simulated stations, read by tshark: nothing malformed, no wrong CRC."""
import os
import subprocess
from typing import Dict, List, NamedTuple

from .. import hf_python as hf


class Findings(NamedTuple):
    """What tshark found in a capture of D_PDUs and one of S_primitives."""

    records: int    # of D_PDUs, as tshark counts them
    good_crcs: int  # header and segment
    bad_crcs: int
    malformed: int  # in both captures


class Result(NamedTuple):
    """What was simulated, and what tshark found."""

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


def read(folder: str) -> Findings:
    """Reads d_pdus.pcap and sis.pcap.

    :raises FileNotFoundError: there is no tshark
    """
    captures = paths(folder)
    errors = '_ws.malformed || _ws.expert.severity == "Error"'
    malformed = sum(len(_tshark(path, "-Y", errors)) for path in captures)
    records = len(_tshark(captures[0], "-T", "fields", "-e", "frame.number"))
    crcs = [line for line in _tshark(captures[0], "-V") if "CRC on" in line]
    good = sum("(Correct)" in line for line in crcs)
    return Findings(records, good, len(crcs) - good, malformed)


def run(folder: str, hours: float, seed: int = 1) -> Result:
    """Simulates, writes d_pdus.pcap and sis.pcap into the folder and reads them."""
    made = hf.simulate_mixed(*paths(folder), hours=hours, seed=seed)
    return Result(made["d_pdus"], made["primitives"], made["restarts"], made["resets"],
                  made["hard_links"], read(folder))


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
