#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a station that is looked at grows: build/run python3 tests/clients/bench_day.py

Two stations on emulated modems (the exact times of the waveforms, without samples), SPEED times
as fast as real time: files over TCP through HF-PEP, one way and the other, each pair in a
connection of its own, and bit errors. Three readers have the page's stream of states open all
the time, and get five times as many as usual. Prints resident memory, threads, open files and
the lengths of all that is kept, by station time. HOURS: of station time; SPEED: times real time
at the most.

DENSE=1: what happens on a day in a small part of its time: at 240 kbit/s, four files at once, one
after the other, as many connections as in HOURS at one a minute. What grew with what happens
would grow as on a day; the time in column one is then that of the day."""
from contextlib import ExitStack, contextmanager
import http.client
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Dict, Iterator, List, NamedTuple

from gnuradio import gr, hf
from gnuradio.hf import station
from gnuradio.hf.gui import d_pdus, snapshot, web

READERS = 3
#: Octets of a file, a quarter of it the other way, and station time from one to the next, s.
FILE_OCTETS, FILE_EVERY_S = 6000, 60.0
#: Between two states for a reader, s.
PERIOD_S = 0.1
#: Load of a dense day: mode, octets of a file, files at once.
DENSE_MODE, DENSE_OCTETS, DENSE_FILES = "5069-48k-240000S", 40000, 4
#: Bits per bit error: some D_PDUs are sent again.
BER = 2e-5
#: Hours of station time at which is looked.
HOURS = (0.25, 0.5, 1, 2, 3, 6, 9, 12, 18, 24)

READER = """
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1] + "api/stream") as stream:
    count = 0
    for line in stream:
        if line.startswith(b"data:"):
            count += 1
            if count % 100 == 1:
                print(count, flush=True)
"""


class Looked(NamedTuple):
    """State of the run at one time."""

    hours: float  # of station time
    minutes: float  # of real time
    resident_kb: int
    threads: int
    files: int  # open descriptors
    state_octets: int
    lengths: Dict[str, int]  # entries kept of each kind, the most of both stations
    states_read: int  # by all readers
    connections: int  # that HF-PEP has carried
    d_pdus: int  # sent and received by station A


class Counter(threading.Thread):
    """A program that reads the page's stream all the time; another process, so that its memory is
    not ours."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.count = 0
        self.process = subprocess.Popen([sys.executable, "-I", "-c", READER, url],
                                        stdout=subprocess.PIPE, text=True)
        self.start()

    def run(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.count = int(line)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


class Handler(http.server.BaseHTTPRequestHandler):
    """One file of octets that cannot be compressed."""

    content = b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *_: Any) -> None:
        """Nothing: it would be a line for each file."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as s:
        return int(s.getsockname()[1])


class Day:
    """The stations, their traffic and their page; a context manager."""

    def __init__(self, folder: str, speed: float, mode: str = "4539-2400S",
                 octets: int = FILE_OCTETS, files: int = 1, every_s: float = FILE_EVERY_S) -> None:
        """octets of a file; files: fetched at once; every_s: from one to the next."""
        Handler.content = os.urandom(octets)
        self.files, self.every_s = files, every_s
        self.exit = ExitStack()
        self.air = hf.emulated_air(2, BER, 0.0, 1, speed)
        self.tb = gr.top_block("day")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.entry, self.fetched, self.over = free_port(), 0, False
        port = self.server.server_address[1]
        peps = (f'listen = ["{self.entry}=127.0.0.1:{port}"]\nroutes = ["127.0.0.0/8=1.2.0.2"]\n',
                f'allow = ["127.0.0.1:{port}"]\n')
        views = []
        self.stations = []
        for k, pep in enumerate(peps):
            path = os.path.join(folder, f"{k}.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f'address = "1.2.0.{k + 1}"\nmode = "{mode}"\n[pep]\n{pep}')
            s = station.Station(self.tb, station.load(path), emulated_modem=self.air.modem(k))
            self.stations.append(s)
            views.append(snapshot.StationView(self.tb, s))
        self.snapshots = snapshot.Snapshots(views, "a day")
        self.page = web.WebServer(self.snapshots)
        self.readers: List[Counter] = []

    def __enter__(self) -> "Day":
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.tb.start()
        self.readers = [Counter(self.page.url) for _ in range(READERS)]
        self.begin = time.monotonic()
        for _ in range(self.files):
            threading.Thread(target=self._fetch, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over = True
        for reader in self.readers:
            reader.close()
        self.page.close()
        self.tb.stop()
        self.tb.wait()
        self.server.shutdown()
        self.server.server_close()

    def _fetch(self) -> None:
        due = 0.0
        while not self.over:
            if self.air.now() < due:
                time.sleep(0.002)
                continue
            due = self.air.now() + self.every_s
            connection = http.client.HTTPConnection("127.0.0.1", self.entry, timeout=600)
            try:
                connection.request("POST", "/file", os.urandom(len(Handler.content) // 4))
                self.fetched += connection.getresponse().read() == Handler.content
            except OSError:
                pass  # counted: it was not fetched
            finally:
                connection.close()

    def look(self) -> Looked:
        """All figures now."""
        state = self.snapshots.take()
        status = dict(line.split(":", 1) for line in open("/proc/self/status", encoding="ascii"))
        first = self.stations[0].data_link.stats()
        return Looked(self.air.now() / 3600, (time.monotonic() - self.begin) / 60,
                      int(status["VmRSS"].split()[0]), int(status["Threads"]),
                      len(os.listdir("/proc/self/fd")), len(json.dumps(state)),
                      lengths(state), sum(r.count for r in self.readers), self.fetched,
                      first["d_pdus_sent"] + first["d_pdus_received"])


def lengths(state: Dict[str, Any]) -> Dict[str, int]:
    """Lengths of the lists in a state, by name: the longest of all stations."""
    found: Dict[str, int] = {}
    for s in state["stations"]:
        for name, value in s.items():
            if isinstance(value, (list, dict)):
                found[name] = max(found.get(name, 0), len(value))
    return found


def bounds() -> Dict[str, int]:
    """Lengths of the histories, by name."""
    return {"spans": snapshot.MAX_SPANS, "blocks": snapshot.MAX_BLOCKS,
            "log": snapshot.MAX_LINES, "d_pdu_bins": d_pdus.MAX_BINS,
            "connections": snapshot.MAX_CONNECTIONS}


@contextmanager
def period(seconds: float) -> Iterator[None]:
    """Between two states for a reader."""
    usual = web.PERIOD_S, snapshot.Snapshots.MIN_AGE_S
    web.PERIOD_S, snapshot.Snapshots.MIN_AGE_S = seconds, 0.8 * seconds
    try:
        yield
    finally:
        web.PERIOD_S, snapshot.Snapshots.MIN_AGE_S = usual


def main() -> None:
    """Print a row at each of HOURS."""
    hours, speed = float(os.environ.get("HOURS", "24")), float(os.environ.get("SPEED", "150"))
    dense = (DENSE_MODE, DENSE_OCTETS, DENSE_FILES, 0.0) if os.environ.get("DENSE") else ()
    heads = ["station time, h", "real time, min", "resident, MB", "threads", "files", "state, kB",
             "states read", "TCP connections", "D_PDUs", *bounds()]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    with tempfile.TemporaryDirectory() as folder, period(PERIOD_S), \
            Day(folder, speed, *dense) as day:
        def of_the_day() -> float:
            return day.fetched * FILE_EVERY_S / 3600 if dense else day.air.now() / 3600

        for at in [h for h in HOURS if h <= hours]:
            while of_the_day() < at:
                time.sleep(0.1)
            r = day.look()
            cells = [f"{of_the_day():.2f}", f"{r.minutes:.1f}", f"{r.resident_kb / 1024:.1f}",
                     r.threads, r.files, f"{r.state_octets / 1000:.0f}", r.states_read,
                     r.connections, r.d_pdus,
                     *(f"{r.lengths.get(name, 0)} of {most}" for name, most in bounds().items())]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
        print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
