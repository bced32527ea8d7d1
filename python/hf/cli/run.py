# SPDX-License-Identifier: GPL-3.0-or-later
"""hf run: runs stations from their files, on radios or a simulated air."""
from contextlib import ExitStack
from dataclasses import dataclass
import errno
import os
import resource
import signal
import sys
import time
from typing import List, Optional, Tuple

import click

from .. import radio, station, version
from ..gui import controls, snapshot, web
from ..options import option
from ..plain_text import plain
from ..station import running, service
from ..system import machine, output
from . import fail
from ._options import options


def end_on_signals() -> None:
    """End the program cleanly on SIGTERM (status 0) and SIGHUP (status 129). SIGHUP stays ignored
    if it was, as under nohup."""
    def end(number: int, _: object) -> None:
        sys.exit(0 if number == signal.SIGTERM else 128 + number)

    signal.signal(signal.SIGTERM, end)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, end)


def greet(stations: running.Stations, services: service.Services) -> None:
    """Print the stations, and what each has opened."""
    for s in stations.stations:
        click.echo(running.greeting(s), err=True)
    for s in stations.stations:
        for line in running.details(s, services):
            click.echo(line, err=True)


def open_page(stations: running.Stations, port: int, control: bool, inbox: Optional[str]
              ) -> web.WebServer:
    """Start the web page of all stations. inbox: folder for files that the operator receives.
    Raises RuntimeError."""
    parts = zip(stations.stations, stations.received, stations.radio_of)
    views = [snapshot.StationView(stations.tb, s, radio_, received, s.description.sample_rate)
             for s, received, radio_ in parts]
    about = f"gr-hf {version.__version__}, {stations.medium}"
    if control:
        controls.add_messages(stations, views, inbox)
    return web.WebServer(snapshot.Snapshots(views, about), port,
                         controls.controls_of(stations, views) if control else None)


def print_log(lines: List[str]) -> None:
    """Print log lines. A full disk costs lines, but does not end the stations. Raises OSError."""
    try:
        for line in lines:
            print(plain(line), flush=True)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise


def allow_sockets() -> None:
    """HF-PEP needs a socket for each connection, and soon reaches the usual soft limit of 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65536)), hard))


def wait(stations: running.Stations, duration: Optional[float], quiet: bool) -> None:
    """Print log lines until all recordings are over, or for this station time in seconds. Raises
    OSError."""
    while not stations.over() and (duration is None or stations.now() < duration):
        time.sleep(0.1)
        lines = stations.new_lines()
        print_log([] if quiet else lines)


def capture_into(folder: Optional[str], descriptions: List[station.Description]) -> None:
    """Let every station without [capture] capture into a folder, if there is one."""
    for d in descriptions:
        if folder and d.address and d.capture == station.Capture():
            d.capture = station.Capture(os.path.join(folder, f"{d.address}-d_pdu.pcap"),
                                        os.path.join(folder, f"{d.address}-sis.pcap"))


@dataclass(frozen=True)
class Air:
    """The simulated air of the stations without a radio."""

    channel: str = option("awgn snr=30", "Simulated channel between all stations, as in "
                                         "hf.channel.")
    bandwidth: Optional[int] = option(None, "Bandwidth of the channel, kHz. Overrides the files.",
                                      choices=machine.BANDWIDTHS_KHZ)
    speed: float = option(1.0, "Speed limit, as a multiple of real time.", least=0.1, most=1000)
    seed: int = option(1, "Seed of noise and fading.")


@dataclass(frozen=True)
class Page:
    """The page of the stations."""

    web: Optional[int] = option(None, "Show the stations on a web page for browsers on this "
                                      "machine. 0: any free port.", metavar="PORT", least=0,
                                most=65535)
    control: bool = option(False, "Let the page change mode, frequency, speed and silence, and "
                                  "send messages, files and mail, for anyone who has the address "
                                  "that it prints. Without a terminal, stderr names a file with "
                                  "that address, for its owner only.")
    inbox: Optional[str] = option(None, "Folder for files that arrive while messages are open on "
                                        "the page.", metavar="FOLDER",
                                  kind=click.Path(file_okay=False))

    def __post_init__(self) -> None:
        if self.control and self.web is None:
            raise ValueError("--control is for the page: give --web PORT as well")
        if self.inbox and not self.control:
            raise ValueError("--inbox is for messages on the page: give --control as well")


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE.toml...")
@options(Air, "on_air")
@click.option("--duration", default=None, type=click.FloatRange(0.001),
              help="End after this station time, s.")
@click.option("--pcap", type=click.Path(file_okay=False), metavar="FOLDER",
              help="Capture D_PDUs and S_primitives of every station without [capture] to "
              "ADDRESS-d_pdu.pcap and ADDRESS-sis.pcap.")
@click.option("--verbose", "-v", is_flag=True,
              help="Also print single transmissions and D_PDUs.")
@click.option("--quiet", is_flag=True, help="Print no log lines.")
@click.option("--user", metavar="NAME", help="After sockets, devices and captures are open, drop "
              "root privileges and continue as this user.")
@options(Page, "shown")
@click.option("--check", is_flag=True, help="Open everything, print it, and close it. Nothing is "
                                            "transmitted or keyed.")
def command(files: Tuple[str, ...], on_air: Air, duration: Optional[float], pcap: Optional[str],
            verbose: bool, quiet: bool, user: Optional[str], shown: Page, check: bool) -> None:
    """Run one or more stations, each from its file, until Ctrl-C.

    A station with a table [radio] uses its radio, in real time. The others share a simulated air,
    with real waveforms in lock step. Links, mails and problems are printed with station time and
    address. With a table [sis_server] other programs can be clients: hf console, hf send, hf
    receive, hf chat, or another maker's. With [modem_server] a station is a modem for another
    maker's data link, with [modem_client] a data link for another maker's modem.

    It ends cleanly on SIGTERM (status 0), on Ctrl-C (130) and when its terminal closes (129).
    """
    end_on_signals()
    allow_sockets()
    try:
        descriptions = [station.load(f) for f in files]
        for d in descriptions if on_air.bandwidth else []:
            d.use_bandwidth(on_air.bandwidth)
            d.check()
        for folder in filter(None, (pcap, shown.inbox)):
            output.make_folder(folder)
        capture_into(pcap, descriptions)
        services = service.Services(descriptions)
        stations = running.Stations(descriptions, on_air.channel, on_air.seed, on_air.speed,
                                    radio.open_radio, verbose)
        services.attach(stations.stations, stations.said.append)
        # Keep references, or Python deletes these blocks.
        kept = [] if check else [
            radio.record(stations.tb, s, received, s.description.sample_rate, stations.said.append)
            for s, received in zip(stations.stations, stations.received)]
        page = None if shown.web is None or check else \
            open_page(stations, shown.web, shown.control, shown.inbox)
        if user:
            running.become(user)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except RuntimeError as error:
        raise fail(str(error)) from None
    try:
        if check:
            stations.close()
            services.check()
            greet(stations, services)
            click.echo("checked: everything could be opened", err=True)
            return
        with stations, ExitStack() as stack:
            stack.callback(services.close)
            services.start()
            greet(stations, services)
            if page is not None:
                page.join(services)
                stack.callback(page.join, None)
                address = stack.enter_context(page.announced(sys.stderr.isatty()))
                click.echo(f"page: {address}", err=True)
            wait(stations, duration, quiet)
    except KeyboardInterrupt:
        sys.exit(130)
    except RuntimeError as error:
        raise fail(str(error)) from None
    finally:
        if page is not None:
            page.close()
        services.close()
        del kept
