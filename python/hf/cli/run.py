# SPDX-License-Identifier: GPL-3.0-or-later
"""hf run: stations from their files, over a simulated air, until interrupted."""
import signal
import sys
import time
from typing import List, Optional, Tuple

import click
from gnuradio import gr

from .. import hf_python as hf
from .. import station, watch
from . import fail


class Stations:
    """Stations that share a simulated air. A context manager: on the way out all stops."""

    def __init__(self, descriptions: List[station.Description], channel: str, seed: int,
                 speed: float) -> None:
        hf.channel_model(channel)  # complains of a wrong one before anything is set up
        power = max(hf.mode(d.mode).mean_power for d in descriptions)
        self.tb = gr.top_block("hf run")
        self.air = hf.air(len(descriptions), channel, seed, speed, power)
        self.stations, self.logs = [], []
        for k, d in enumerate(descriptions):
            s = station.Station(self.tb, d, self.air.source(k), self.air.sink(k))
            lines = watch.LogWatch(f"{d.address} ")
            self.tb.msg_connect(s.data_link, "log", lines, "log")
            self.stations.append(s)
            self.logs.append(lines)

    def __enter__(self) -> "Stations":
        self.tb.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.air.end()
        self.tb.stop()
        self.tb.wait()

    def new_lines(self) -> List[str]:
        """What the data links have said since the last call, in the order of time."""
        return sorted(line for log in self.logs for line in log.take())


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE.toml...")
@click.option("--channel", default="awgn snr=30", show_default=True,
              help="Between all stations, as in hf.channel.")
@click.option("--speed", default=1.0, show_default=True, type=click.FloatRange(0.1, 1000),
              help="Times real time at the most.")
@click.option("--seed", default=1, show_default=True, help="Of noise and fading.")
@click.option("--duration", default=None, type=click.FloatRange(0.001),
              help="End after so many seconds of station time.")
@click.option("--quiet", is_flag=True, help="No log lines.")
def command(files: Tuple[str, ...], channel: str, speed: float, seed: int,
            duration: Optional[float], quiet: bool) -> None:
    """Run one or more stations, each from its file, over a simulated air until Ctrl-C.

    Real waveforms in lock step. What the data links do is printed, each line with station
    time and address. With a table [sis_server] in the file other programs are clients:
    hf console, hf send, hf receive, hf chat, or another maker's.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        descriptions = [station.load(f) for f in files]
        stations = Stations(descriptions, channel, seed, speed)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    try:
        with stations:
            for s in stations.stations:
                server = f", SIS server on port {s.sis_server.port()}" if s.sis_server else ""
                click.echo(f"station {s.description.address}, {s.description.mode}{server}",
                           err=True)
            while duration is None or stations.air.now() < duration:
                time.sleep(0.1)
                for line in stations.new_lines():
                    if not quiet:
                        print(line, flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
    except RuntimeError as error:
        raise fail(str(error)) from None
