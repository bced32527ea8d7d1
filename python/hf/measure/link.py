# SPDX-License-Identifier: GPL-3.0-or-later
"""Use that the data link makes of the data rate, beside the published figures and the limit."""
from typing import List, NamedTuple, Optional

from .. import hf_python as hf


class Case(NamedTuple):
    """One figure of the papers: acknowledged U_PDUs one way on a clear channel.

    published: measured on a commercial system; limit: air time alone; goal: with the delays
    that good software reaches; all in percent of the data rate.
    """

    mode: str
    octets: int
    u_pdu: int
    published: float
    limit: float
    goal: float


#: Bulk ARQ by rate, by U_PDU size at 1200 bit/s, and with the long interleaver.
CASES = [
    Case("4539-9600S", 2_000_000, 2042, 83, 96.5, 96.0),
    Case("4539-1200S", 300_000, 2042, 90, 95.9, 95.4),
    Case("4539-75S", 20_000, 2042, 87, 91.2, 89.4),
    Case("4539-1200S", 300_000, 2048, 90, 94.8, 94.3),
    Case("4539-1200S", 300_000, 1024, 89, 93.9, 93.4),
    Case("4539-1200S", 300_000, 512, 88, 93.5, 93.0),
    Case("4539-1200S", 300_000, 256, 85, 89.1, 88.6),
    Case("4539-1200S", 200_000, 128, 68, 81.7, 81.4),
    Case("4539-1200S", 100_000, 64, 33, 69.8, 69.5),
    Case("4539-1200L", 300_000, 2042, 82, 86.1, 85.7),
]


class Row(NamedTuple):
    """A case and what was reached, in percent of the data rate."""

    case: Case
    reached: float
    transmissions: int


def measure(case: Case, seed: int = 1) -> Row:
    """Run one case on the event simulator."""
    result = hf.simulate(case.mode, case.octets, case.u_pdu, seed=seed)
    if not result["complete"] or result["octets_altered"]:
        raise RuntimeError(f"{case.mode}: not everything was delivered")
    rate = hf.mode(case.mode).rate_bps
    return Row(case, 100 * 8 * case.octets / (rate * result["time_s"]),
               result["transmissions"])


def table(rows: List[Row], note: Optional[str] = None) -> str:
    """The rows as a Markdown table."""
    lines = ["| mode | octets | U_PDU | published % | ours % | goal % | limit % | ours / limit |",
             "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        c = r.case
        lines.append(f"| {c.mode} | {c.octets} | {c.u_pdu} | {c.published:.0f} | "
                     f"{r.reached:.1f} | {c.goal:.1f} | {c.limit:.1f} | "
                     f"{100 * r.reached / c.limit:.0f} % |")
    if note:
        lines += ["", note]
    return "\n".join(lines)
