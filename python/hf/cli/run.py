# SPDX-License-Identifier: GPL-3.0-or-later
"""hf run: stations from their files, over a simulated air, until interrupted."""
import os
import resource
import signal
import sys
import time
from typing import Optional, Tuple

import click

from .. import output, radio, running, station
from . import fail


def end_when_told() -> None:
    """SIGTERM ends the program as asked, status 0; so does SIGHUP, status 129, unless it is
    ignored, as nohup does. Everything is closed on the way out."""
    def end(number: int, _: object) -> None:
        sys.exit(0 if number == signal.SIGTERM else 128 + number)

    signal.signal(signal.SIGTERM, end)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, end)


def greet(stations: running.Stations) -> None:
    """Say who is there, and what each has opened."""
    for s in stations.stations:
        click.echo(running.greeting(s), err=True)
    for s in stations.stations:
        for line in running.details(s):
            click.echo(line, err=True)


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE.toml...")
@click.option("--channel", default="awgn snr=30", show_default=True,
              help="Between all stations, as in hf.channel.")
@click.option("--speed", default=1.0, show_default=True, type=click.FloatRange(0.1, 1000),
              help="Times real time at the most.")
@click.option("--seed", default=1, show_default=True, help="Of noise and fading.")
@click.option("--duration", default=None, type=click.FloatRange(0.001),
              help="End after so many seconds of station time.")
@click.option("--pcap", type=click.Path(file_okay=False), metavar="FOLDER",
              help="Capture D_PDUs and S_primitives of every station that has no [capture]: "
              "ADDRESS-d_pdu.pcap, ADDRESS-sis.pcap.")
@click.option("--quiet", is_flag=True, help="No log lines.")
@click.option("--user", metavar="NAME", help="When sockets, devices and captures are open, give "
              "up the rights of root and go on as this user.")
@click.option("--check", is_flag=True, help="Open everything, say what it is, close it again; "
              "nothing is transmitted or keyed.")
def command(files: Tuple[str, ...], channel: str, speed: float, seed: int,
            duration: Optional[float], pcap: Optional[str], quiet: bool,
            user: Optional[str], check: bool) -> None:
    """Run one or more stations, each from its file, until Ctrl-C.

    A station with a table [radio] is on its radio, in real time; the others share a simulated
    air, with real waveforms in lock step. What the data links do is printed, each line with
    station time and address. With a table [sis_server] in the file other programs are clients:
    hf console, hf send, hf receive, hf chat, or another maker's. With [modem_server] a station
    is a modem for another maker's data link, with [modem_client] a data link for another
    maker's modem.

    SIGTERM ends it in good order with status 0, Ctrl-C with 130, the end of its terminal
    with 129.
    """
    end_when_told()
    # HF-PEP has a socket for each connection: the usual soft limit of 1024 is soon reached.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65536)), hard))
    try:
        descriptions = [station.load(f) for f in files]
        if pcap:
            output.make_folder(pcap)
        for d in descriptions:
            if pcap and d.address and d.capture == station.Capture():
                d.capture = station.Capture(os.path.join(pcap, f"{d.address}-d_pdu.pcap"),
                                            os.path.join(pcap, f"{d.address}-sis.pcap"))
        stations = running.Stations(descriptions, channel, seed, speed, radio.open_radio)
        if user:
            running.become(user)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except RuntimeError as error:
        raise fail(str(error)) from None
    try:
        if check:
            stations.close()
            greet(stations)
            click.echo("checked: everything could be opened", err=True)
            return
        with stations:
            greet(stations)
            while duration is None or stations.now() < duration:
                time.sleep(0.1)
                for line in stations.new_lines():
                    if not quiet:
                        print(line, flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
    except RuntimeError as error:
        raise fail(str(error)) from None
