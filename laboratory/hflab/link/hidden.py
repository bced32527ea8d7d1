# SPDX-License-Identifier: GPL-3.0-or-later
"""Nets in which some stations do not hear each other, on the event simulator: what each flow
carries beside its fair share.

The fair share is the max-min share of the time over the conflict graph of the flows. Two flows
conflict if a station of one is a station of the other, or hears one. Every set of flows that
conflict pairwise shares the time of one channel. That is an upper bound of what a schedule of all
stations could give the weakest flow.
"""
from dataclasses import dataclass
import itertools
import random
from typing import Any, FrozenSet, Iterator, List, NamedTuple, Tuple

from gnuradio.hf.options import option
from gnuradio.hf.simulation import simulator
from .. import sweep

RATE_BPS = 2400
MODE = f"4539-{RATE_BPS}S"
U_PDU = 1000
#: Targets: share of the fair share, and longest time without a delivery, s.
LEAST_SHARE, LONGEST_WAIT_S = 1 / 3, 1800.0
#: Probabilities that two stations of a drawn net hear each other besides its tree.
DENSITIES = (0.0, 0.1, 0.3)

Pair = Tuple[int, int]


class Net(NamedTuple):
    """Stations from 0 on, pairs that hear each other, and flows that always have data."""

    name: str
    stations: int
    heard: FrozenSet[Pair]
    flows: Tuple[Pair, ...]

    def near(self, a: int, b: int) -> bool:
        """True if a and b are the same station or hear each other."""
        return a == b or (min(a, b), max(a, b)) in self.heard


def _net(name: str, heard: str, flows: str) -> Net:
    def pairs(text: str) -> List[Pair]:
        return [(ord(a) - 65, ord(b) - 65) for a, b in text.split()]

    return Net(name, 1 + max(b for _, b in pairs(heard)), frozenset(pairs(heard)),
               tuple(pairs(flows)))


#: A chain, and a hub with one way there and one back.
NAMED = [_net("chain", "AB BC CD", "AB BC CD DC"),
         _net("hub", "AB AC AD AE AF AG AH", "AB HA")]


def draw(seed: int) -> Net:
    """A connected net of 3 to 8 stations: a random tree with further pairs, and 2 flows or more,
    at most one for each station."""
    r = random.Random(seed)
    n = r.randint(3, 8)
    heard = {(r.randrange(k), k) for k in range(1, n)}
    density = r.choice(DENSITIES)
    heard |= {(a, b) for a, b in itertools.combinations(range(n), 2) if r.random() < density}
    ways = sorted(heard | {(b, a) for a, b in heard})
    flows = r.sample(ways, min(len(ways), r.randint(2, n)))
    return Net(f"seed {seed}", n, frozenset(heard), tuple(flows))


def conflicts(net: Net) -> List[FrozenSet[int]]:
    """Flows of which only one can be on the air: all sets of such flows that are not part of
    another one."""
    def conflict(f: int, g: int) -> bool:
        return any(net.near(a, b) for a in net.flows[f] for b in net.flows[g])

    numbers = range(len(net.flows))
    found: List[FrozenSet[int]] = []
    for size in reversed(range(1, 1 + len(numbers))):
        for group in map(frozenset, itertools.combinations(numbers, size)):
            if not any(group <= other for other in found) and \
                    all(conflict(f, g) for f, g in itertools.combinations(group, 2)):
                found.append(group)
    return found


def fair_shares(net: Net) -> List[float]:
    """Max-min share of each flow: the weakest set of flows is filled first."""
    groups, shares = conflicts(net), [-1.0] * len(net.flows)

    def part(group: FrozenSet[int]) -> float:
        free = [f for f in group if shares[f] < 0]
        return (1 - sum(max(shares[f], 0) for f in group)) / len(free) if free else 2.0

    while min(shares) < 0:
        least = min(groups, key=part)
        share = part(least)
        for f in least:
            shares[f] = share if shares[f] < 0 else shares[f]
    return shares


class Row(NamedTuple):
    """One flow."""

    net: str
    flow: str
    bps: float
    fair_bps: float
    wait_s: float
    rejected: int

    @property
    def share(self) -> float:
        """Share of the fair share."""
        return self.bps / self.fair_bps

    @property
    def missed(self) -> bool:
        return self.share < LEAST_SHARE or self.wait_s > LONGEST_WAIT_S or self.rejected > 0


@dataclass(frozen=True)
class Options:
    """Options of hf-lab bench hidden."""

    nets: int = option(200, "Nets drawn at random, besides the chain and the hub.", least=0,
                       most=10_000)
    hours: float = option(4.0, "Station time of each run.", least=0.1, most=100)
    seed: int = option(1, "Seed of the first net.")
    runs: int = option(3, "Runs of the chain and of the hub, each with its own seed.", least=0,
                       most=1000)

    def points(self) -> List[Tuple[Net, float, int]]:
        """Net, hours and seed of each run."""
        seeds = range(self.seed, self.seed + max(self.nets, self.runs))
        return [*((net, self.hours, s) for net in NAMED for s in seeds[:self.runs]),
                *((draw(s), self.hours, s) for s in seeds[:self.nets])]


def scenario(net: Net, hours: float, seed: int) -> Any:
    """The net as a scenario of the event simulator."""
    s = simulator.scenario()
    s.seed, s.record, s.duration_s = seed, True, 3600 * hours
    stations, traffic = [], []
    for k in range(net.stations):
        station = simulator.scenario_station()
        station.name, station.mode = chr(65 + k), MODE
        stations.append(station)
    for a, b in net.flows:
        t = simulator.scenario_traffic()
        t.from_, t.to, t.u_pdu = chr(65 + a), chr(65 + b), U_PDU
        traffic.append(t)
    s.stations, s.traffic = stations, traffic
    s.paths = [simulator.scenario_path(from_=chr(65 + a), to=chr(65 + b), loss=1.0)
               for a, b in itertools.permutations(range(net.stations), 2)
               if not net.near(a, b)]
    return s


def measure(net: Net, hours: float, seed: int) -> List[Row]:
    """The flows of one run."""
    result = scenario(net, hours, seed).run()
    last, wait = [0.0] * len(net.flows), [0.0] * len(net.flows)
    for d in result.deliveries:
        wait[d.flow] = max(wait[d.flow], d.time_s - last[d.flow])
        last[d.flow] = d.time_s
    return [Row(net.name if net.name.startswith("seed") else f"{net.name}, seed {seed}",
                f"{f.from_}>{f.to}", 8 * f.octets_delivered / result.end_s, RATE_BPS * share,
                max(wait[k], result.end_s - last[k]), f.rejected)
            for k, (f, share) in enumerate(zip(result.flows, fair_shares(net)))]


def measure_all(wanted: Options, workers: sweep.Workers) -> Iterator[List[Row]]:
    """All runs, the named nets first."""
    return sweep.run(measure, wanted.points(), workers)


def missed(rows: List[Row]) -> List[Row]:
    """Flows that miss a target, the one with the least share first."""
    return sorted((r for r in rows if r.missed), key=lambda r: r.share)


def report(rows: List[Row]) -> str:
    """Markdown: the whole, the named nets, then flows that missed a target."""
    head = ["net", "flow", "bit/s", "fair share", "of it", "longest wait, s", "rejected"]

    def table(some: List[Row]) -> str:
        return sweep.table(head, ([r.net, r.flow, f"{r.bps:.0f}", f"{r.fair_bps:.0f}",
                                   f"{100 * r.share:.0f} %", f"{r.wait_s:.0f}", r.rejected]
                                  for r in some))

    shares = sorted(r.share for r in rows)
    summary = sweep.table(["flows", "value", "target"], [
        ["all", len(rows), "-"],
        ["below a third of the fair share", sum(s < LEAST_SHARE for s in shares), 0],
        ["least share of the fair share", f"{100 * shares[0]:.0f} %",
         f"{100 * LEAST_SHARE:.0f} %"],
        ["the same, 1 % of the flows below", f"{100 * shares[len(rows) // 100]:.0f} %", "-"],
        ["the same, half of the flows below", f"{100 * shares[len(rows) // 2]:.0f} %", "-"],
        [f"wait over {LONGEST_WAIT_S:.0f} s", sum(r.wait_s > LONGEST_WAIT_S for r in rows), 0],
        ["longest wait, s", f"{max(r.wait_s for r in rows):.0f}", f"{LONGEST_WAIT_S:.0f}"],
        ["U_PDUs rejected", sum(r.rejected for r in rows), 0]])
    named = [r for r in rows if not r.net.startswith("seed")]
    return "\n\n".join([summary, *([table(named)] if named else []),
                        *([f"### Missed\n\n{table(missed(rows))}"] if missed(rows) else [])])
