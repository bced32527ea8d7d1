# SPDX-License-Identifier: GPL-3.0-or-later
"""hf demo: two stations, a real file and a real ping over a simulated HF channel."""
from contextlib import ExitStack
import hashlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import Dict, List, Optional, Tuple

import click
from gnuradio import blocks, gr
import numpy as np
from rich.console import Console
from rich.live import Live
from rich.table import Table

from .. import hf_python as hf
from .. import netns, pair, picture, station, watch
from . import fail

HTTP_PORT = 8000
PINGS = 3
#: Samples of the channel kept for the picture: 20 minutes.
MAX_RECORDED = 20 * 60 * picture.SAMPLE_RATE


def free_ports(count: int) -> List[int]:
    """TCP ports of the loopback that nobody uses at the moment."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Demo:
    """The two stations, their surroundings and what is measured. A context manager: on the
    way out, whatever happened, nothing is left behind."""

    def __init__(self, mode: str, channel: str, size: int, speed: float, seed: int) -> None:
        self.mode_text = mode
        self.channel, self.size, self.speed, self.seed = channel, size, speed, seed
        self.no_network = netns.why_not()
        if self.no_network is None:
            self.server = (pair.ADDRESSES["B"], HTTP_PORT)
            self.url = f"http://{pair.ADDRESSES['B']}:{HTTP_PORT}/file"
        else:
            self.entry, http = free_ports(2)
            self.server = ("127.0.0.1", http)
            self.url = f"http://127.0.0.1:{self.entry}/file"
        self.pair = pair.Pair(
            pair.Setting(mode=mode, emulated=False, channel=channel, speed=speed, seed=seed,
                         allow=["%s:%d" % self.server]),
            self.no_network is None, self._describe, self._record)
        self.mode, self.stations = self.pair.mode, self.pair.stations
        self.exit = ExitStack()
        self.recordings: Dict[str, str] = {}
        self.progress: List[picture.Progress] = []

    def __enter__(self) -> "Demo":
        try:
            self.folder = self.exit.enter_context(
                tempfile.TemporaryDirectory(prefix="hf-demo-"))
            self._make_file()
            self.exit.enter_context(self.pair)
            self._serve()
        except BaseException:
            self.exit.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.exit.close()

    def _make_file(self) -> None:
        # Like what is compressed already, as most files are: the goodput is that of the radio
        # link, not of DEFLATE.
        self.content = random.Random(self.seed).randbytes(self.size)
        os.mkdir(f"{self.folder}/www")
        with open(f"{self.folder}/www/file", "wb") as file:
            file.write(self.content)

    def _describe(self, name: str, d: station.Description) -> None:
        if self.no_network is not None and name == "A":
            d.pep.listen = [f"{self.entry}=127.0.0.1:{self.server[1]}"]
            d.pep.routes = [f"127.0.0.0/8={pair.NODES['B']}"]

    def _record(self, p: pair.Pair) -> None:
        for name, s in p.stations.items():
            head = blocks.head(gr.sizeof_gr_complex, MAX_RECORDED)
            self.recordings[name] = f"{self.folder}/{name}.cf32"
            p.tb.connect(s.modem, head, blocks.file_sink(gr.sizeof_gr_complex,
                                                         self.recordings[name]))

    def _serve(self) -> None:
        host, port = self.server
        self.pair.start("B", [sys.executable, "-m", "http.server", "--bind", host,
                              "--directory", f"{self.folder}/www", str(port)],
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # In a namespace the ping goes first, and the server has time to begin.
        deadline = time.monotonic() + 20
        while self.no_network is not None and time.monotonic() < deadline:
            try:
                socket.create_connection((host, port), 1).close()
                return
            except OSError:
                time.sleep(0.05)

    def now(self) -> float:
        """Station time in seconds."""
        return self.pair.now()

    def ping(self) -> "subprocess.Popen[str]":
        """Start ping at A; the interval leaves time for one exchange."""
        timing = hf.timing(self.mode)
        exchange = 2 * (timing.duration(120) + 1.5)
        interval = max(1.3 * exchange / max(self.speed, 1), 0.2)
        return self.pair.start("A", ["ping", "-n", "-c", str(PINGS), "-i", f"{interval:.2f}",
                                     "-W", f"{max(10 * interval, 5):.0f}",
                                     pair.ADDRESSES["B"]],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def fetch(self) -> subprocess.Popen:
        """Start curl at A."""
        # The server needs a moment to listen; a connection refused is repeated by curl.
        return self.pair.start("A", ["curl", "-sS", "--fail", "--noproxy", "*", "-o",
                                     f"{self.folder}/received", self.url],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def received(self) -> bytes:
        """What curl has written."""
        try:
            with open(f"{self.folder}/received", "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def heard(self) -> np.ndarray:
        """What both stations transmitted, together; without the channel's noise."""
        for recording in self.recordings.values():
            if not os.path.exists(recording):
                return np.zeros(0, np.complex64)
        parts = [np.fromfile(r, np.complex64) for r in self.recordings.values()]
        length = min(len(p) for p in parts)
        return parts[0][:length] + parts[1][:length]


def status_table(demo: Demo, task: str) -> Table:
    """One line for each station."""
    state = demo.stations["A"].modem.state()
    table = Table(title=f"{task}   station time {state.now:.1f} s", title_justify="left")
    for column in ("station", "state", "mode", "SNR", "D_PDUs sent", "acked", "repeated",
                   "sent", "received", "TCP"):
        table.add_column(column, justify="left" if column in ("station", "state", "mode")
                         else "right", no_wrap=True)
    for name, s in demo.stations.items():
        modem, counters = s.modem.state(), s.data_link.stats()
        what = "TX" if modem.transmitting else "RX" if modem.receiving else "idle"
        mode = modem.tx_mode if modem.transmitting else modem.rx_mode
        pep = s.pep.stats()
        table.add_row(f"{name} {pair.NODES[name]}", what, mode,
                      f"{modem.snr_db:.0f} dB" if modem.receptions else "-",
                      str(counters["d_pdus_sent"]), str(counters["d_pdus_acked"]),
                      str(counters["d_pdus_repeated"]), f"{counters['octets_sent']} B",
                      f"{counters['octets_received']} B",
                      f"{pep['octets_in']} in, {pep['octets_out']} out")
    return table


def wait_for(demo: Demo, process: subprocess.Popen, task: str, live: Optional[Live],
             console: Console) -> float:
    """Until the process ends; station time meanwhile in seconds."""
    begin = demo.now()
    last_line = time.monotonic()
    while process.poll() is None:
        time.sleep(0.05)
        pep = demo.stations["A"].pep.stats()
        demo.progress.append(picture.Progress(demo.now(), pep["octets_in"]))
        if live is not None:
            live.update(status_table(demo, task))
        elif time.monotonic() - last_line > 5:
            last_line = time.monotonic()
            console.print(f"  {task}: station time {demo.now():.0f} s, "
                          f"{pep['octets_in']} octets through HF-PEP")
    return demo.now() - begin


def run_ping(demo: Demo, live: Optional[Live], console: Console) -> Tuple[int, List[float]]:
    """Answers received and round-trip times in seconds of station time."""
    wall = time.monotonic()
    process = demo.ping()
    elapsed = wait_for(demo, process, "ping A -> B", live, console)
    pace = elapsed / (time.monotonic() - wall)
    output = process.communicate()[0]
    times = [float(t) * 1e-3 * pace for t in re.findall(r"time=([0-9.]+) ms", output)]
    received = re.search(r"(\d+) received", output)
    return int(received.group(1)) if received else 0, times


def run_demo(demo: Demo, console: Console, path: str) -> bool:
    """The exchange itself; True if everything arrived."""
    live: Optional[Live] = None
    with ExitStack() as stack:
        if console.is_terminal:
            live = stack.enter_context(Live(console=console, refresh_per_second=8))
        answers = None
        if demo.no_network is None:
            answers = run_ping(demo, live, console)
        wall = time.monotonic()
        curl = demo.fetch()
        duration = wait_for(demo, curl, f"curl {demo.size} octets B -> A", live, console)
        pace = duration / (time.monotonic() - wall)
        if live is not None:
            live.update(status_table(demo, "done"))

    data = demo.received()
    sums = [hashlib.sha256(d).hexdigest() for d in (demo.content, data)]
    good = curl.returncode == 0 and sums[0] == sums[1]
    if answers is None:
        console.print(f"ping       left out: {demo.no_network}")
    else:
        count, times = answers
        shown = ", ".join(f"{t:.2f} s" for t in times)
        console.print(f"ping       {count} of {PINGS} answered through the IP client: {shown}")
        good = good and count > 0
    if curl.returncode != 0:
        console.print(f"curl       failed: {curl.stderr.read().decode().strip()}")
    verdict = "equal" if sums[0] == sums[1] else "DIFFERENT"
    console.print(f"file       {len(data)} of {demo.size} octets, SHA-256 {verdict} "
                  f"({sums[1][:16]}...)")
    goodput = 8 * len(data) / max(duration, 1e-9)
    console.print(f"time       {duration:.1f} s of station time, {pace:.1f} times real time")
    console.print(f"goodput    {goodput:.0f} bit/s, {100 * goodput / demo.mode.rate_bps:.1f} % "
                  f"of {demo.mode.rate_bps} bit/s")
    end = demo.now()
    demo.progress.append(picture.Progress(end, len(data)))
    picture.exchange(
        path, f"{demo.mode_text}, {demo.channel}: ping and {demo.size} octets by HTTP",
        {n: watch.transmissions(w.events(), end) for n, w in demo.pair.watches.items()},
        [p for p in demo.progress if p.time >= 0], demo.heard())
    console.print(f"picture    {path}")
    return good


@click.command()
@click.option("--rate", metavar="RATE",
              help="Data rate, bit/s, or auto: the stations choose for each transmission.  "
              "[default: 9600 if the channel is clear or awgn, else auto]")
@click.option("--interleaver", default="S", show_default=True,
              help="US, VS, S, M, L, VL from 3200 bit/s on; Z, S, L below.")
@click.option("--channel", default="awgn", show_default=True,
              help="clear, awgn, good, moderate, poor and more, as in hf channel.")
@click.option("--snr", default=30.0, show_default=True,
              help="Signal-to-noise ratio in 3 kHz, dB; not used if the channel is clear.")
@click.option("--size", default=20000, show_default=True,
              type=click.IntRange(1, 100_000_000), help="Octets of the file.")
@click.option("--speed", default=5.0, show_default=True, type=click.FloatRange(0.1, 1000),
              help="Times real time at the most; 1 is real time.")
@click.option("--seed", default=1, show_default=True, help="Of noise, fading and the file.")
@click.option("--picture", "path", default="hf-demo.png", show_default=True,
              help="Where to draw the exchange.")
def command(rate: Optional[str], interleaver: str, channel: str, snr: float, size: int,
            speed: float, seed: int, path: str) -> None:
    """Two stations over a simulated HF channel, in lock step, real waveforms.

    A real HTTP server runs at station B; at station A curl fetches a file through HF-PEP and
    ping goes through the IP client. As root each station has a network namespace and a TUN
    device of its own; otherwise everything stays on the loopback and the ping is left out.
    """
    console = Console(stderr=True)
    rate = rate or ("9600" if channel in ("clear", "awgn") else "auto")
    mode = "auto" if rate == "auto" else f"4539-{rate}{interleaver}"
    spec = channel if channel == "clear" else f"{channel} snr={snr:g}"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.default_int_handler)
    try:
        demo = Demo(mode, spec, size, speed, seed)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    console.print(f"two stations, {mode}, channel '{spec}', at most {speed:g} times real time")
    if demo.no_network is not None:
        console.print(f"no namespaces and TUN devices ({demo.no_network}): "
                      "loopback only, no ping")
    try:
        with demo:
            good = run_demo(demo, console, path)
    except (netns.NetworkError, RuntimeError, ValueError) as error:
        raise fail(str(error)) from None
    if not good:
        raise fail("not everything arrived")
