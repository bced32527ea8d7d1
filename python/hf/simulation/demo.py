# SPDX-License-Identifier: GPL-3.0-or-later
"""The demonstration: two stations on a simulated air, a real HTTP server, curl and ping."""
from contextlib import ExitStack
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from typing import Callable, Dict, List, Optional, Tuple

from gnuradio import blocks, gr
import numpy as np

from .. import hf_python as hf
from .. import station
from ..pictures import exchange
from ..station import pair, watch
from ..system import netns

HTTP_PORT = 8000
PINGS = 3
#: Samples of the channel kept for the picture: 20 minutes in 3 kHz, 75 s in 48 kHz.
MAX_RECORDED = 20 * 60 * 9600


#: Files that a browser finds at station B.
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Station B</title>
<h1>Hello from station B</h1>
<p>This page came over HF: it was asked for by HF-PEP at station A, sent by the data link of
STANAG 5066 in a waveform of 3 kHz, and fetched by HF-PEP at station B from a server there.</p>
<p>There is also <a href="file">a file of {size} octets</a>, which takes its time.</p>
</html>
"""


class Demo:
    """The two stations, their namespaces and the measurements. A context manager that removes
    everything at its end."""

    def __init__(self, mode: str, channel: str, size: int, speed: float, seed: int,
                 on_made: Optional[Callable[[pair.Pair], None]] = None) -> None:
        """on_made: called with both stations before anything runs."""
        self.on_made = on_made
        self.mode_text = mode
        self.channel, self.size, self.speed, self.seed = channel, size, speed, seed
        self.no_network = netns.why_not()
        if self.no_network is None:
            self.server = (pair.ADDRESSES["B"], HTTP_PORT)
            self.url = f"http://{pair.ADDRESSES['B']}:{HTTP_PORT}/file"
        else:
            self.entry, http = netns.free_tcp_ports(2)
            self.server = ("127.0.0.1", http)
            self.url = f"http://127.0.0.1:{self.entry}/file"
        self.pair = pair.Pair(
            pair.Setting(mode=mode, emulated=False, channel=channel, speed=speed, seed=seed,
                         allow=["%s:%d" % self.server]),
            self.no_network is None, self._describe, self._record)
        self.mode, self.stations = self.pair.mode, self.pair.stations
        self.exit = ExitStack()
        self.recordings: Dict[str, str] = {}
        self.progress: List[exchange.Progress] = []
        self.logs: Dict[str, watch.LogWatch] = {}

    def __enter__(self) -> "Demo":
        try:
            self.folder = self.exit.enter_context(
                tempfile.TemporaryDirectory(prefix=f"hf-demo-{os.getpid()}-"))
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
        # Octets like a compressed file, as most files are: the goodput is that of the radio link,
        # not of DEFLATE.
        self.content = random.Random(self.seed).randbytes(self.size)
        os.mkdir(f"{self.folder}/www")
        with open(f"{self.folder}/www/file", "wb") as file:
            file.write(self.content)
        with open(f"{self.folder}/www/index.html", "w", encoding="utf-8") as page:
            page.write(PAGE.format(size=self.size))

    def _describe(self, name: str, d: station.Description) -> None:
        if self.no_network is not None and name == "A":
            d.pep.listen = [f"{self.entry}=127.0.0.1:{self.server[1]}"]
            d.pep.routes = [f"127.0.0.0/8={pair.NODES['B']}"]

    def _record(self, p: pair.Pair) -> None:
        for name, source in p.received.items():
            head = blocks.head(gr.sizeof_gr_complex, MAX_RECORDED)
            self.recordings[name] = f"{self.folder}/{name}.cf32"
            p.tb.connect(source, head, blocks.file_sink(gr.sizeof_gr_complex,
                                                        self.recordings[name]))
        for name, s in p.stations.items():
            self.logs[name] = watch.LogWatch(max_lines=100000)
            p.tb.msg_connect(s.data_link, "log", self.logs[name], "log")
        if self.on_made is not None:
            self.on_made(p)

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

    def open_entrance(self) -> int:
        """A port of this machine's loopback that leads over HF to the web server at B."""
        if self.no_network is not None:
            return self.entry
        with socket.create_server(("127.0.0.1", 0)) as entrance:
            host, port = self.server
            self.pair.start("A", [sys.executable, "-I",
                                  os.path.join(os.path.dirname(__file__), "forward.py"),
                                  str(entrance.fileno()), host, str(port)],
                            pass_fds=[entrance.fileno()])
            return entrance.getsockname()[1]

    def now(self) -> float:
        """Station time in seconds."""
        return self.pair.now()

    def ping(self) -> "subprocess.Popen[str]":
        """Start ping at A. The interval leaves time for one exchange.

        It ends after PINGS answers, or after 30 intervals without them. Its option -W would not
        do: after one answer, ping waits for the others for two round trips only.
        """
        timing = hf.timing(self.mode)
        exchange = 2 * (timing.duration(120) + 1.5)
        interval = max(1.3 * exchange / max(self.speed, 1), 0.2)
        return self.pair.start("A", ["ping", "-D", "-n", "-c", str(PINGS), "-i", f"{interval:.2f}",
                                     "-w", f"{max(30 * interval, 30):.0f}",
                                     pair.ADDRESSES["B"]],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def fetch(self) -> subprocess.Popen:
        """Start curl at A."""
        # The server needs a moment to listen; a connection refused is repeated by curl.
        return self.pair.start("A", ["curl", "-sS", "--fail", "--noproxy", "*", "-o",
                                     f"{self.folder}/received", self.url],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def received(self) -> bytes:
        """Output of curl."""
        try:
            with open(f"{self.folder}/received", "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def sent(self) -> Dict[str, List[watch.Transmission]]:
        """Transmissions of each station."""
        found = {}
        for name, modem in self.pair.watches.items():
            found[name] = watch.transmissions(modem.events(), self.now())
            watch.mark_acknowledgements(found[name], self.logs[name].acknowledged())
        return found

    def heard(self) -> Dict[str, np.ndarray]:
        """Samples that each station heard, with the channel's fading and noise, from the start on.
        """
        return {name: np.fromfile(path, np.complex64)
                for name, path in self.recordings.items() if os.path.exists(path)}


def round_trips(said: str, station_time: Callable[[float], float]) -> List[float]:
    """Seconds of station time from the output of ping -D, which gives the arrival and the round
    trip of each answer on the host's clock."""
    found = re.findall(r"^\[([0-9.]+)\] .*time=([0-9.]+) ms", said, re.MULTILINE)
    return [station_time(float(at)) - station_time(float(at) - float(ms) * 1e-3)
            for at, ms in found]


def mean_rate(transmissions: List[watch.Transmission], begin: float
              ) -> Tuple[float, int, int]:
    """Mean of the data rates on the air since begin, by their time; the least and the greatest."""
    spans = [(hf.mode(t.mode).rate_bps, t.end - t.begin) for t in transmissions
             if t.end > begin and t.end > t.begin]
    if not spans:
        return 0.0, 0, 0
    rates = [r for r, _ in spans]
    return (sum(r * s for r, s in spans) / sum(s for _, s in spans), min(rates), max(rates))


def goodput_text(demo: Demo, goodput: float, begin: float) -> str:
    """The goodput, and its share of a data rate that says which one it is."""
    if not demo.mode_text.startswith("auto"):
        return (f"{goodput:.0f} bit/s, {100 * goodput / demo.mode.rate_bps:.1f} % of "
                f"{demo.mode.rate_bps} bit/s")
    sent = watch.transmissions(demo.pair.watches["B"].events(), demo.now())
    mean, least, most = mean_rate(sent, begin)
    if not mean:
        return f"{goodput:.0f} bit/s"
    return (f"{goodput:.0f} bit/s, {100 * goodput / mean:.1f} % of {mean:.0f} bit/s, mean rate of "
            f"B ({least} to {most})")
