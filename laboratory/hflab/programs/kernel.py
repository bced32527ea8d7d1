# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurements with the programs and the TCP of this host's kernel, in the namespaces of a pair
of stations: what virtual time would falsify.

The kernel's timers know nothing of station time, so speed should be 1 where TCP itself crosses
HF; a greater one makes a link that is faster in everything. Times are station time.
"""
import csv
import re
import subprocess
import sys
import tempfile
import time
from typing import Callable, List, NamedTuple, Optional

from gnuradio.hf import station
from gnuradio.hf.station import pair
from . import tcp

SERVER_PORT = 5050
#: Default of Linux. This host may have another one.
CONGESTION = "cubic"
#: Times real time while nothing is measured.
REST_SPEED = 30.0
#: The hf command of this package, whether installed or not.
HF = [sys.executable, "-c", "from gnuradio.hf.cli import main; main()"]
#: The command hf-lab.
HF_LAB = [sys.executable, "-c", "from hflab.cli import main; main()"]


class Transfer(NamedTuple):
    """One TCP transfer: its times (None: it failed, with the reason), octets that the D_PDUs of
    both stations took, and what the far side saw over time."""

    times: Optional[tcp.Times]
    octets_over_hf: int
    samples: List[tcp.Sample]
    why: str = ""


def started(process: subprocess.Popen, said: str, what: str, seconds: float = 60) -> None:
    """Wait for a line on standard error that contains said; raises RuntimeError."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        line = process.stderr.readline()
        if said in line:
            return
        if not line:
            break
    raise RuntimeError(f"{what} did not start")


def _scaled(times: tcp.Times, speed: float) -> tcp.Times:
    return tcp.Times(times.octets, *(x * speed for x in times[1:]))


def transfer(setting: pair.Setting, octets: int, limit_s: float = 3600, greet: bool = False,
             on_description: Optional[Callable[[str, station.Description], None]] = None
             ) -> Transfer:
    """hf-lab tcp send at A to hf-lab tcp serve at B, in new namespaces, kernel defaults.

    limit_s: of the kernel's time, for each step; greet: a small transfer goes before, so that
    the proxies know each other; on_description: as pair.Pair has it.
    """
    with tempfile.TemporaryDirectory(prefix="hf-tcp-") as folder, \
            pair.Pair(setting, on_description=on_description) as p:
        series = f"{folder}/far.csv"
        server = p.start("B", [*HF_LAB, "tcp", "serve", "--address", pair.ADDRESSES["B"], "--port",
                               str(SERVER_PORT), "--limit", str(limit_s), "--csv", series],
                         stderr=subprocess.PIPE, text=True)
        started(server, "listening", "hf-lab tcp serve")

        def run(size: int, path: str) -> str:
            client = p.start("A", [*HF_LAB, "tcp", "send", pair.ADDRESSES["B"], "--port",
                                   str(SERVER_PORT), "--size", str(size / 1000), "--limit",
                                   str(limit_s), "--congestion", CONGESTION, "--csv", path],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            _, text = client.communicate()
            return "" if client.returncode == 0 else text.strip()

        if greet:
            why = run(tcp.MIN_OCTETS + 100, f"{folder}/greeting.csv")
            if why:
                return Transfer(None, 0, [], f"greeting: {why}")
            rest(p)
            series = f"{folder}/far-2.csv"
        before = p.octets_over_hf()
        why = run(octets, f"{folder}/near.csv")
        over_hf = p.octets_over_hf() - before
        if why:
            return Transfer(None, over_hf, [], why)
        with open(f"{folder}/near.csv", newline="", encoding="utf-8") as file:
            row = list(csv.DictReader(file))[-1]
        times = tcp.Times(int(row["octets"]), *(float(row[f]) for f in tcp.Times._fields[1:]))
        started(server, f"{octets} octets", "the report of hf-lab tcp serve")
        with open(series, newline="", encoding="utf-8") as file:
            samples = [tcp.Sample(float(r["time_s"]) * setting.speed, int(r["octets"]),
                                  float(r["latency_s"]) * setting.speed)
                       for r in csv.DictReader(file)]
        return Transfer(_scaled(times, setting.speed), over_hf, samples)


def rest(p: pair.Pair, quiet_s: float = 90, limit_s: float = 1800) -> None:
    """Wait, faster than real time, until nobody has sent anything for quiet_s of station time:
    the soft link is broken again."""
    end = p.now() + limit_s
    last = p.now()
    p.air.set_speed(max(REST_SPEED, p.setting.speed))
    while p.now() < end and p.now() - last <= quiet_s:
        if p.busy():
            last = p.now()
        time.sleep(0.02)
    p.air.set_speed(p.setting.speed)


def ping(setting: pair.Setting, count: int = 6, limit_s: float = 600) -> List[Optional[float]]:
    """Round-trip times of the kernel's ping through the IP client, one after the other; the
    first finds no soft link. None: no answer within limit_s."""
    times: List[Optional[float]] = []
    with pair.Pair(setting) as p:
        for _ in range(count):
            process = p.start("A", ["ping", "-n", "-c", "1", "-W",
                                    f"{max(limit_s / setting.speed, 1):.0f}",
                                    pair.ADDRESSES["B"]],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            found = re.search(r"time=([0-9.]+) ms", process.communicate()[0])
            times.append(float(found.group(1)) * 1e-3 * setting.speed if found else None)
            rest(p, 5)
    return times
