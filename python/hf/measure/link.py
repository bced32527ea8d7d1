# SPDX-License-Identifier: GPL-3.0-or-later
"""Use that the data link makes of the data rate, beside the published figures and the limit."""
import time
from typing import Iterator, List, NamedTuple, Optional

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


class Target(NamedTuple):
    """A row of further measurements: what, reached and target, in percent."""

    what: str
    reached: float
    target: float


def measure_more(quick: bool = False) -> Iterator[Target]:
    """Bit errors, non-ARQ, rate adaptation against an oracle, shared channel, speed."""
    part = 10 if quick else 1
    for ber, target in ((1e-5, 89.5), (1e-4, 73.5)):
        r = hf.simulate("4539-9600S", 6_000_000 // part, ber=ber)
        yield Target(f"bulk at 9600 bit/s, BER {ber:g}",
                     800 * r["octets_delivered"] / (9600 * r["time_s"]), target)
    for rate, octets, target in ((9600, 2_000_000, 96.5), (1200, 300_000, 95), (75, 20_000, 90)):
        r = hf.simulate(f"4539-{rate}S", octets // part, arq=False)
        yield Target(f"non-ARQ at {rate} bit/s",
                     800 * r["octets_delivered"] / (rate * r["time_s"]), target)
    hours = 24 / part
    for name, mean, fading in (("Poor", 15.0, 1.0), ("Moderate", 18.0, 0.5)):
        r = hf.simulate_rates(hours=hours, mean_db=mean, fading_hz=fading)
        yield Target(f"rate adaptation, {hours:g} h of {name}, of the oracle",
                     100 * r["goodput_bps"] / r["oracle_bps"], 90)
    for stations in (3, 8):
        r = hf.simulate_sharing(stations=stations, hours=8 / part, settings={"lone_run_s": 300})
        yield Target(f"{stations} stations, each always sending: utilisation",
                     100 * r["utilisation"], 0)
        yield Target(f"{stations} stations, each always sending: fairness (Jain)",
                     100 * r["fairness"], 0)
    begin = time.monotonic()
    r = hf.simulate("4539-9600S", 10_000_000 // part)
    yield Target("simulator, two stations at 9600 bit/s: of 5000 times real time",
                 100 * r["end_s"] / (time.monotonic() - begin) / 5000, 100)


def more_table(rows: List[Target]) -> str:
    """The rows as a Markdown table."""
    lines = ["| what | ours % | target % |", "|---|---|---|"]
    for r in rows:
        target = f">= {r.target:g}" if r.target else "-"
        lines.append(f"| {r.what} | {r.reached:.1f} | {target} |")
    return "\n".join(lines)


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
