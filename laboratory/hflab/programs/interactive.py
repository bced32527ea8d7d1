# SPDX-License-Identifier: GPL-3.0-or-later
"""Interactive use beside a bulk transfer through HF-PEP: pages, keys of a remote shell, pings, and
the cost for the bulk. In virtual time, and once with kernel TCP."""
import random
import statistics
import subprocess
import sys
import time
from typing import Dict, List, NamedTuple

from gnuradio.hf.station import pair
from .. import experiments
from ..link import papers
from . import kernel

RATES = (240000, 9600, 4800, 2400, 1200, 600, 300)
PAGE_OCTETS = 5000
#: Limits: time of the page at 9600 bit/s, and loss of the bulk at any rate, in percent, besides
#: the air time of the data that pass it.
PAGE_TARGET_S, COST_TARGET = 20.0, 5.0
#: Never one with short transmissions: what the bulk is compared with.
_LONG = {"prompt_priority": 16.0}
#: Seconds of the bulk alone, and number of moments at which pages begin.
_BULK_S, _STARTS = 333, 25
#: Octets besides those of the page: request, heads of SLEP and of D_PDUs.
_PAGE_MORE = 350


class Row(NamedTuple):
    """Times in seconds; cost: what the bulk loses of its goodput in percent, besides the air time
    of what passes it."""

    bit_rate: int
    upload: bool
    bulk_octets: int
    longest_s: float
    alone_cost: float
    page_s: List[float]
    page_cost: float
    banner_s: float
    key_s: List[float]
    key_cost: float
    ping_s: List[float]
    ping_cost: float


def measure(bit_rate: int, upload: bool, seed: int = 1) -> Row:
    """One rate and one direction of the bulk, on the event simulator."""
    mode = papers.MODES[bit_rate]
    octets = bit_rate * _BULK_S // 8

    def run(settings: Dict[str, float] = {}, **work: float) -> Dict[str, list]:
        result = experiments.simulate_interactive(mode, octets, upload, settings=settings,
                                                  seed=seed, page_octets=PAGE_OCTETS, **work)
        if not result["complete"]:
            raise RuntimeError(f"the bulk at {bit_rate} bit/s did not complete")
        return result

    longest = run(_LONG)["bulk_s"][0]

    def cost(bulk_s: float, besides_octets: float) -> float:
        return 100 * ((bulk_s - 8 * besides_octets / bit_rate) / longest - 1)

    # Runs at random moments. One whose page does not end before the bulk does not count.
    moments = random.Random(seed)
    pages, page_costs = [], []
    for _ in range(_STARTS):
        result = run(page_after_s=moments.uniform(10, _BULK_S - 30), page_every_s=1e9)
        if result["page_s"]:
            pages += result["page_s"]
            page_costs.append(cost(result["bulk_s"][0], PAGE_OCTETS + _PAGE_MORE))
    keys = run(key_every_s=20)
    pings = run(ping_every_s=30)
    count = len(keys["key_s"])
    return Row(bit_rate, upload, octets, longest,
               cost(run()["bulk_s"][0], 0), pages,
               statistics.mean(page_costs) if page_costs else 0, keys["banner_s"], keys["key_s"],
               cost(keys["bulk_s"][0], 2 * 70 * count), pings["ping_s"],
               cost(pings["bulk_s"][0], 2 * 110 * len(pings["ping_s"])))


def _times(times: List[float]) -> str:
    if not times:
        return "-"
    return f"{statistics.median(times):.1f} / {max(times):.1f} s ({len(times)})"


HEAD = ["| bit/s | bulk | alone | cost alone | page, median / longest | cost | greeting of the "
        "shell | key | cost | ping | cost |",
        "|---|---|---|---|---|---|---|---|---|---|---|"]


def line(r: Row) -> str:
    """Rows of the table."""
    return (f"| {r.bit_rate} | {r.bulk_octets // 1000} kB {'up' if r.upload else 'down'} | "
            f"{r.longest_s:.0f} s | {r.alone_cost:.1f} % | {_times(r.page_s)} | "
            f"{r.page_cost:.1f} % | {r.banner_s:.1f} s | {_times(r.key_s)} | "
            f"{r.key_cost:.1f} % | {_times(r.ping_s)} | {r.ping_cost:.1f} % |")


def report(rows: List[Row]) -> str:
    """Markdown: the table beside the targets."""
    lines = [f"A page of {PAGE_OCTETS} octets at random moments of the bulk, a key every 20 s, a "
             "ping every 30 s. Cost: what the bulk loses against transmissions of 127 s "
             f"throughout, target {COST_TARGET:g} % for one page.", "", *HEAD, *map(line, rows)]
    for r in rows:
        if r.bit_rate != 9600 or not r.page_s:
            continue
        within = sum(t <= PAGE_TARGET_S for t in r.page_s)
        lines += ["", f"9600 bit/s, bulk {'from' if r.upload else 'to'} the user: {within} of "
                  f"{len(r.page_s)} pages within {PAGE_TARGET_S:g} s."]
    return "\n".join(lines)


# --- kernel TCP ---------------------------------------------------------------------------------

#: Serves random octets, as many as the path of the request says.
_SERVER = """
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        n = int(self.path[1:])
        self.send_response(200)
        self.send_header("Content-Length", str(n))
        self.end_headers()
        self.wfile.write(os.urandom(n))
    def log_message(self, *_):
        pass
class Server(http.server.ThreadingHTTPServer):
    pass
s = Server(("", 8080), Handler)
import sys
print("ready", file=sys.stderr, flush=True)
s.serve_forever()
"""
#: Gets this many octets and returns the time it took.
_GET = """
import sys, time, urllib.request
begin = time.monotonic()
n = len(urllib.request.urlopen(sys.argv[1], timeout=3000).read())
print(n, time.monotonic() - begin, flush=True)
"""


class KernelResult(NamedTuple):
    """Seconds of station time; the page beside the download, and both alone."""

    page_alone_s: float
    pages_s: List[float]
    download_s: float


def with_kernel(speed: float = 8.0, bulk_octets: int = 400_000, pages: int = 3,
                pause_s: float = 45.0) -> KernelResult:
    """HTTP with the kernel's TCP through HF-PEP at 9600 bit/s, emulated modems at speed times
    real time: a page alone, then pages, pause_s apart, beside a download. Needs root."""
    with pair.Pair(pair.Setting(mode="4539-9600S", speed=speed, allow=["*:8080"],
                                pep_ports=["8080"])) as p:
        server = p.start("B", [sys.executable, "-c", _SERVER], stderr=-1, text=True)
        kernel.started(server, "ready", "the HTTP server")

        def get(octets: int) -> subprocess.Popen:
            return p.start("A", [sys.executable, "-c", _GET,
                                 f"http://{pair.ADDRESSES['B']}:8080/{octets}"],
                           stdout=-1, text=True)

        def took(process: subprocess.Popen, octets: int) -> float:
            said = process.communicate(timeout=3600)[0].split()
            if len(said) != 2 or int(said[0]) != octets:
                raise RuntimeError(f"{octets} octets by HTTP did not arrive whole")
            return float(said[1]) * speed

        took(get(100), 100)  # the proxies know each other then
        alone = took(get(PAGE_OCTETS), PAGE_OCTETS)
        download = get(bulk_octets)
        times = []
        for _ in range(pages):
            time.sleep(pause_s / speed)
            if download.poll() is not None:
                break
            times.append(took(get(PAGE_OCTETS), PAGE_OCTETS))
        return KernelResult(alone, times, took(download, bulk_octets))


def kernel_line(r: KernelResult) -> str:
    """One sentence."""
    pages = ", ".join(f"{t:.1f}" for t in r.pages_s)
    return (f"Kernel TCP, HTTP, 9600 bit/s, emulated modems: a page of {PAGE_OCTETS} octets "
            f"alone {r.page_alone_s:.1f} s; beside a download of 400 kB, one after the other, "
            f"{pages} s; the download {r.download_s:.0f} s.")
