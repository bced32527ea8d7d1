# SPDX-License-Identifier: GPL-3.0-or-later
"""Data without ARQ to many silent receivers on the event simulator: by U_PDU size, repeats and
number of receivers, and files in coded blocks.

Each receiver loses each transmission with the same probability, independently. The erasure bound
of octets sent per octet is then 1 / (1 - loss), with an endless number of transmissions. With a
given number the fewest transmissions follow from the binomial law (coded.plan()).
"""
from collections import Counter
import math
from typing import Any, List, NamedTuple, Optional

from gnuradio.hf import hf_python as hf
from gnuradio.hf.simulation import simulator
from gnuradio.hf.sis import coded, s5066

MODE = "4539-2400S"
FILE_OCTETS = 5000
#: Pause between U_PDUs, or groups of blocks, s. Three copies of the largest take 40 s.
INTERVAL_S = 60.0
#: Delivery that the target for the octets asks for, and losses to compute it for.
DELIVERED, LOSSES = 0.995, (0.1, 0.2, 0.3)
#: Transfers with ARQ, to compare with.
TRANSFERS = 20


class Job(NamedTuple):
    """Messages without ARQ. file: they are the groups of a file in coded blocks."""

    size: int
    repeats: int
    receivers: int
    loss: float
    count: int = 0
    file: bool = False
    runs: int = 1
    #: Receivers that join after the first round of two.
    late: int = 0


class Row(NamedTuple):
    """delivered: share of the U_PDUs, or files. sent: octets of D_PDUs per octet delivered to a
    receiver that loses nothing."""

    job: Job
    delivered: float
    number: int
    wanted: float
    sent: float
    air_s: float
    #: Air time of the transmissions that the binomial law asks for, with no D_PDU headers.
    bound_s: float
    #: Air time of one transfer with ARQ, both ways.
    arq_s: Optional[float] = None


#: U_PDU size and repeats, then the number of receivers, then files.
JOBS = [*(Job(size, repeats, 20, loss, 150) for loss in (0.1, 0.3) for size in (128, 500, 2042)
          for repeats in (0, 1, 2)),
        *(Job(500, 1, receivers, 0.1, 150) for receivers in (5, 50)),
        *(Job(0, 0, 20, loss, 0, True, 50) for loss in (0.1, 0.3)),
        Job(0, 0, 50, 0.2, 0, True, 50), Job(0, 0, 50, 0.2, 0, True, 50, 10)]


def _scenario(job: Job, u_pdu: int, count: int, seed: int) -> Any:
    s = simulator.scenario()
    s.seed, s.record, s.fates = seed, True, True
    s.duration_s = (count + 2) * INTERVAL_S
    stations = []
    for k in range(job.receivers + 1):
        station = simulator.scenario_station()
        station.name, station.mode = f"S{k}", MODE
        stations.append(station)
    s.stations = stations
    s.paths = [simulator.scenario_path(loss=job.loss)]
    t = simulator.scenario_traffic()
    t.kind, t.arq, t.confirmation = simulator.traffic_kind.broadcast, False, "none"
    t.from_, t.to, t.u_pdu, t.count = "S0", "all", u_pdu, count
    t.interval_s, t.repeats = INTERVAL_S, job.repeats
    s.traffic = [t]
    faults = []
    for k in range(job.late):
        f = simulator.scenario_fault()
        f.kind, f.station = simulator.fault_kind.deaf, f"S{k + 1}"
        f.at_s, f.for_s = 0.0, count / 2 * INTERVAL_S - INTERVAL_S / 2
        faults.append(f)
    s.faults = faults
    return s


def _arq_s(loss: float) -> float:
    total = 0.0
    for seed in range(TRANSFERS):
        s = simulator.scenario()
        s.seed, s.duration_s = seed, 3600.0
        stations = [simulator.scenario_station(), simulator.scenario_station()]
        for station, name in zip(stations, "AB"):
            station.name, station.mode = name, MODE
        s.stations, s.paths = stations, [simulator.scenario_path(loss=loss)]
        t = simulator.scenario_traffic()
        t.from_, t.to, t.octets = "A", "B", FILE_OCTETS
        s.traffic = [t]
        total += sum(station.tx_time_s for station in s.run().stations)
    return total / TRANSFERS


def measure(job: Job) -> Row:
    """One row."""
    u_pdu, count, needed, octets, fewest = job.size, job.count, 1, job.size * job.count, job.count
    wanted = 1 - job.loss ** (job.repeats + 1)
    if job.file:
        message = s5066.bftp_message(b"file", bytes(FILE_OCTETS))
        p = coded.plan(len(message), s5066.MTU, job.loss)
        block = coded.encode(message, 1, p)[0]
        u_pdu = len(s5066.rcop_segments(0, 0, coded.APP_CODED, block, s5066.MTU)[0])
        count, needed, octets = p.groups * (2 if job.late else 1), p.k, FILE_OCTETS
        fewest = count
        wanted = coded.enough(p.groups, needed, job.loss)
    have, number, sent, air_s = 0, 0, 0.0, 0.0
    first = 16 * u_pdu + job.repeats  # other losses for each row
    for seed in range(first, first + job.runs):
        r = _scenario(job, u_pdu, count, seed).run()
        arrived = Counter(f.to for f in r.fates if f.deliveries > 0)
        have += sum(n >= needed for n in arrived.values()) if job.file else sum(arrived.values())
        number += job.receivers * (1 if job.file else count)
        sent += sum(t.non_arq for t in r.transmissions)
        air_s += r.stations[0].tx_time_s
    duration = hf.timing(hf.mode(MODE)).duration(u_pdu)
    return Row(job, have / number, number, wanted, sent / job.runs / octets, air_s / job.runs,
               fewest * (1 + job.repeats) * duration, _arq_s(job.loss) if job.file else None)


def _error(r: Row) -> float:
    """Half the 95 % interval of the share delivered, by Agresti and Coull."""
    n = r.number + 4
    p = (r.delivered * r.number + 2) / n
    return 1.96 * math.sqrt(p * (1 - p) / n)


def _met(good: bool) -> str:
    return "yes" if good else "**no**"


def report(rows: List[Row]) -> str:
    """Tables in Markdown."""
    lines = [f"U_PDUs without ARQ, {MODE}, each receiver loses transmissions at random", "",
             "| receivers | lost | U_PDU | repeats | delivered | 1 - p^(r + 1) | octets sent per "
             "octet | 1 / (1 - p) |", "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        if not r.job.file:
            lines.append(f"| {r.job.receivers} | {r.job.loss:.0%} | {r.job.size} | "
                         f"{r.job.repeats} | {r.delivered:.1%} ± {_error(r):.1%} | {r.wanted:.1%}"
                         f" | {r.sent:.2f} | {1 / (1 - r.job.loss):.2f} |")
    lines += ["", f"A file of {FILE_OCTETS} octets in coded blocks, any {coded.GROUPS} "
              "transmissions restore it", "",
              "| receivers | late | lost | have it | by the law | octets sent per octet | "
              "1 / (1 - p) | <= 1.1 x | air time, s | fewest, s | <= 1.05 x | "
              "transfers by ARQ, s | <= 1/20 |", "|---" * 13 + "|"]
    for r in rows:
        if r.job.file and r.arq_s is not None:
            bound, all_s = 1 / (1 - r.job.loss), r.job.receivers * r.arq_s
            lines.append(f"| {r.job.receivers} | {r.job.late} | {r.job.loss:.0%} | "
                         f"{r.delivered:.2%} ± {_error(r):.2%} of {r.number} | {r.wanted:.2%} | "
                         f"{r.sent:.2f} | {bound:.2f} | {_met(r.sent <= 1.1 * bound)} | "
                         f"{r.air_s:.1f} | {r.bound_s:.1f} | "
                         f"{_met(r.air_s <= 1.05 * r.bound_s)} | {all_s:.0f} | "
                         f"{_met(r.air_s <= all_s / 20)} |")
    lines += ["", f"Octets sent by the law, in units of 1 / (1 - p), so that "
              f"{DELIVERED:.1%} get a file of k transmissions", "",
              "| k | " + " | ".join(f"{loss:.0%} lost" for loss in LOSSES) + " |",
              "|---" * (1 + len(LOSSES)) + "|"]
    for k in (8, 16, 32, 64, 128):
        lines.append(f"| {k} | " + " | ".join(
            f"{coded.fewest(k, loss, DELIVERED) * (1 - loss) / k:.2f}" for loss in LOSSES) + " |")
    return "\n".join(lines)
