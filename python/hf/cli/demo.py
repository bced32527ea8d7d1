# SPDX-License-Identifier: GPL-3.0-or-later
"""hf demo: two stations, a real file and a real ping over a simulated HF channel."""
from contextlib import ExitStack
from dataclasses import dataclass
import hashlib
import re
import signal
import subprocess
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

import click
import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from .. import hf_python as hf
from ..gui import snapshot, web
from ..gui import strip as on_air
from ..options import option
from ..pictures import exchange
from ..simulation.demo import Demo, PINGS, goodput_text, round_trips
from ..station import pair, watch
from ..system import machine, netns, output
from . import fail
from ._options import options
from ._output import checked, force_option

#: Characters of the strip of a station, and seconds of station time of each.
STRIP, STRIP_STEP_S = 28, 2.0


def strip(events: List[watch.Event], now: float, marks: str) -> str:
    """A strip of recent transmissions (first mark) and receptions (second). The last character is
    now."""
    spans: List[Dict[str, Any]] = [{"kind": "tx", "begin": t.begin, "end": t.end}
                                   for t in watch.transmissions(events, now)]
    heard = None
    for e in events:
        if e.kind == "rx_start":
            heard = {"kind": "rx", "begin": e.time, "end": None}
            spans.append(heard)
        elif e.kind == "rx_end" and heard is not None:
            heard["end"] = e.time
            heard = None
    return on_air.strip(spans, now, STRIP, STRIP_STEP_S, marks)


def status(demo: Demo, task: str, share: float, said: str, utf8: bool) -> Group:
    """State of both stations and progress of the task, at most 80 columns wide."""
    now = demo.stations["A"].modem.state().now
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column, width in (("station", 9), ("state", 9), ("mode", 11), ("SNR", 6),
                          ("the last minute", STRIP)):
        table.add_column(column, justify="right" if column == "SNR" else "left", no_wrap=True,
                         width=width)
    for name, s in demo.stations.items():
        modem = s.modem.state()
        what = "transmits" if modem.transmitting else "receives" if modem.receiving else "listens"
        mode = modem.tx_mode if modem.transmitting else modem.rx_mode
        table.add_row(f"{name} {pair.NODES[name]}", what, re.sub(r"^\d{4}-(\d+k-)?", "", mode),
                      f"{modem.snr_db:.0f} dB" if modem.receptions else "-",
                      strip(demo.pair.watches[name].events()[-500:], now,
                            "\u2588\u2591\u00b7" if utf8 else "#=."))
    bar = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for _ in range(2):
        bar.add_column(no_wrap=True)
    bar.add_row(ProgressBar(1.0, min(share, 1.0), width=41), said)
    return Group(Text(f"{task}, station time {now:.0f} s", style="bold"), table, bar)


class Watch:
    """The display during a task, and a record of station time against host time."""

    def __init__(self, demo: Demo, console: Console, live: Optional[Live]) -> None:
        self.demo, self.console, self.live = demo, console, live
        #: Samples of host time and station time. Either of them may stand still.
        self.times: List[Tuple[float, float]] = []

    def station_time(self, host_time: float) -> float:
        """Station time at a moment of the host's clock (time.time())."""
        host, station_times = zip(*self.times)
        return float(np.interp(host_time, host, station_times))

    def show(self, task: str, share: float, said: str) -> None:
        """Refresh the table on a terminal."""
        if self.live is not None:
            utf8 = (self.console.encoding or "").lower().startswith("utf")
            self.live.update(status(self.demo, task, share, said, utf8))

    def wait_for(self, process: subprocess.Popen, task: str,
                 progress: Callable[[], Tuple[float, str]]) -> float:
        """Wait for the end of a process. Returns the station time that it took, s. progress: gives
        the share that is done, and a text."""
        begin = self.demo.now()
        last_line = last_look = time.monotonic()
        self.times.append((time.time(), begin))
        while process.poll() is None:
            time.sleep(0.02)
            now = self.demo.now()
            self.times.append((time.time(), now))
            octets = self.demo.stations["A"].pep.stats()["octets_in"]
            self.demo.progress.append(exchange.Progress(now, octets))
            if time.monotonic() - last_look > 0.1:
                last_look = time.monotonic()
                self.show(task, *progress())
            if self.live is None and time.monotonic() - last_line > 5:
                last_line = time.monotonic()
                self.console.print(f"  {task}: station time {now:.0f} s, {progress()[1]}")
        self.times.append((time.time(), self.demo.now()))
        return self.times[-1][1] - begin


def run_ping(demo: Demo, shown: Watch) -> Tuple[int, List[float]]:
    """Run ping. Returns the number of answers and the round-trip times, s of station time."""
    process = demo.ping()
    lines: List[str] = []
    reader = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
    reader.start()

    def progress() -> Tuple[float, str]:
        answered = sum("time=" in line for line in lines)
        return answered / PINGS, f"{answered} of {PINGS} answered"

    shown.wait_for(process, "ping A to B", progress)
    reader.join()
    output = "".join(lines)
    received = re.search(r"(\d+) received", output)
    return (int(received.group(1)) if received else 0,
            round_trips(output, shown.station_time))


def run_demo(demo: Demo, console: Console, path: str) -> bool:
    """Run ping and file transfer. Returns True if everything arrived."""
    with ExitStack() as stack:
        live = None
        if console.is_terminal:
            live = stack.enter_context(Live(console=console, refresh_per_second=8))
        shown = Watch(demo, console, live)
        answers = run_ping(demo, shown) if demo.no_network is None else None
        wall, begin = time.monotonic(), demo.now()

        def progress() -> Tuple[float, str]:
            # octets_in includes the HTTP header, which is not part of the file.
            octets = min(demo.stations["A"].pep.stats()["octets_in"], demo.size)
            bps = 8 * octets / max(demo.now() - begin, 1.0)
            return (octets / demo.size,
                    f"{octets / 1000:.1f} of {demo.size / 1000:g} kB, {bps:.0f} bit/s")

        task = f"curl fetches {demo.size / 1000:g} kB from B to A"
        curl = demo.fetch()
        duration = shown.wait_for(curl, task, progress)
        pace = duration / (time.monotonic() - wall)
        shown.show(task, *progress())

    data = demo.received()
    sums = [hashlib.sha256(d).hexdigest() for d in (demo.content, data)]
    good = curl.returncode == 0 and sums[0] == sums[1]
    if answers is None:
        console.print(f"ping       skipped: {demo.no_network}")
    else:
        count, times = answers
        said = ", ".join(f"{t:.2f} s" for t in times)
        console.print(f"ping       {count} of {PINGS} answered through the IP client: {said}")
        good = good and count > 0
    if curl.returncode != 0:
        console.print(f"curl       failed: {curl.stderr.read().decode().strip()}")
    verdict = "equal" if sums[0] == sums[1] else "DIFFERENT"
    console.print(f"file       {len(data)} of {demo.size} octets, SHA-256 {verdict} "
                  f"({sums[1][:16]}...)")
    goodput = 8 * len(data) / max(duration, 1e-9)
    console.print(f"time       {duration:.1f} s of station time, {pace:.1f} times real time")
    console.print(f"goodput    {goodput_text(demo, goodput, begin)}", soft_wrap=True)
    end = demo.now()
    demo.progress.append(exchange.Progress(end, len(data)))
    exchange.draw(
        path, f"{demo.mode_text}, channel {demo.channel}: ping and {demo.size} octets by HTTP\n"
        f"{len(data)} octets arrived at A, SHA-256 {verdict}, {duration:.1f} s, "
        f"{goodput:.0f} bit/s",
        demo.sent(), [p for p in demo.progress if p.time >= 0], demo.heard(),
        bandwidth_khz=demo.mode.bandwidth_hz // 1000)
    console.print(f"picture    {path}")
    return good


def views_of(p: pair.Pair) -> List[snapshot.StationView]:
    """Views of both stations."""
    return [snapshot.StationView(p.tb, s, received=p.received[name],
                                 sample_rate=3.2 * p.mode.bandwidth_hz)
            for name, s in p.stations.items()]


def playground(demo: Demo, console: Console, views: List[snapshot.StationView]) -> None:
    """Keep both stations and their page running until Ctrl-C, and print commands to try."""
    def set_speed(_: str, value: Any) -> None:
        if not 0.1 <= float(value) <= 1000:
            raise ValueError(f"speed {value}: allowed are 0.1 to 1000 times real time")
        demo.pair.air.set_speed(float(value))

    about = f"two stations, channel '{demo.channel}', simulated air"
    page = web.WebServer(snapshot.Snapshots(views, about), controls={"speed": set_speed})
    console.print("\nBoth stations run until Ctrl-C. To try:")
    tries = [("see them", page.url), ("  in a terminal", f"hf top {page.port}"),
             ("a page over HF", f"http://127.0.0.1:{demo.open_entrance()}/")]
    if demo.no_network is None:
        at = {name: f"ip netns exec {ns.name}" for name, ns in demo.pair.namespaces.items()}
        url = "http://%s:%d/" % demo.server
        tries += [("ping B from A", f"{at['A']} ping {pair.ADDRESSES['B']}"),
                  ("  fetch", f"{at['A']} curl {url}"), ("a shell at A", f"{at['A']} bash"),
                  ("a shell at B", f"{at['B']} bash")]
    for what, how in tries:
        console.print(f"  {what:15} {how}", soft_wrap=True, highlight=False, markup=False)
    try:
        while True:
            time.sleep(0.2)
    finally:
        page.close()


@dataclass(frozen=True)
class Waveform:
    """The mode of the stations and the channel between them."""

    bandwidth: int = option(3, "Bandwidth of the channel, kHz. Above 3 with the waveforms of "
                               "STANAG 5069, up to 240 kbit/s in 48 kHz.",
                            choices=machine.BANDWIDTHS_KHZ)
    rate: Optional[str] = option(None, "Data rate, bit/s, or auto: the stations choose for each "
                                       "transmission.  [default: auto; with a clear or awgn "
                                       "channel 9600, or the highest rate above 3 kHz]",
                                 metavar="RATE")
    interleaver: str = option("S", "US, VS, S, M, L, VL from 3200 bit/s; Z, S, L below.")
    channel: str = option("awgn", "clear, awgn, good, moderate, poor and more, as in hf channel.")
    snr: Optional[float] = option(None, "Signal-to-noise ratio in the channel's bandwidth, dB. "
                                        "Not used with a clear channel.  [default: 30; 35 above 3 "
                                        "kHz]")

    @property
    def mode(self) -> str:
        """The mode, or auto. Raises ValueError."""
        steady = self.channel in ("clear", "awgn")
        if self.bandwidth == 3:
            rate = self.rate or ("9600" if steady else "auto")
            return "auto" if rate == "auto" else f"4539-{rate}{self.interleaver}"
        rate = self.rate or (None if steady else "auto")
        if rate == "auto":
            return str(hf.in_bandwidth("auto", self.bandwidth))
        if rate is None:
            rate = str(max(m.rate_bps for m in hf.mode.all()
                           if m.bandwidth_hz == 1000 * self.bandwidth))
        return f"5069-{self.bandwidth}k-{rate}{self.interleaver}"

    @property
    def spec(self) -> str:
        """The channel with its SNR."""
        snr = (30.0 if self.bandwidth == 3 else 35.0) if self.snr is None else self.snr
        return self.channel if self.channel == "clear" else f"{self.channel} snr={snr:g}"


@click.command()
@options(Waveform, "waveform")
@click.option("--size", type=click.IntRange(1, 100_000_000), help="Octets of the file.  "
              "[default: 20000; 300000 above 3 kHz]")
@click.option("--speed", default=5.0, show_default=True, type=click.FloatRange(0.1, 1000),
              help="Speed limit, as a multiple of real time.")
@click.option("--seed", default=1, show_default=True, help="Seed of noise, fading and the file.")
@click.option("--stay", is_flag=True, help="Afterwards keep both stations and a web page of them "
                                           "running until Ctrl-C, and print commands to try.")
@click.option("--picture", "path", default="hf-demo.png", show_default=True,
              help="File for a picture of the exchange.")
@force_option
def command(waveform: Waveform, size: Optional[int], speed: float, seed: int, stay: bool,
            path: str, force: bool) -> None:
    """Two stations over a simulated HF channel, in lock step, real waveforms.

    A real HTTP server runs at station B. At station A, curl fetches a file through HF-PEP, and
    ping uses the IP client. As root, each station has its own network namespace and TUN device.
    Otherwise everything uses the loopback, without the ping.
    """
    console = Console(stderr=True)
    with checked():
        output.check_picture(path, force=force)
    mode, spec = waveform.mode, waveform.spec
    size = size or (20000 if waveform.bandwidth == 3 else 300000)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.default_int_handler)
    views: List[snapshot.StationView] = []
    try:
        demo = Demo(mode, spec, size, speed, seed,
                    lambda p: views.extend(views_of(p)) if stay else None)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    console.print(f"two stations, {mode}, channel '{spec}', at most {speed:g} times real time")
    if demo.no_network is not None:
        console.print(f"no namespaces and TUN devices ({demo.no_network}): "
                      "loopback only, no ping")
    try:
        with demo:
            good = run_demo(demo, console, path)
            if stay:
                playground(demo, console, views)
    except KeyboardInterrupt:
        if not stay:
            raise
        console.print("everything is removed")
    except (netns.NetworkError, RuntimeError, ValueError) as error:
        raise fail(str(error)) from None
    if not good:
        raise fail("not everything arrived")
