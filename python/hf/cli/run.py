# SPDX-License-Identifier: GPL-3.0-or-later
"""hf run: stations from their files, over a simulated air, until interrupted."""
import os
import pwd
import resource
import signal
import sys
import tempfile
import time
from typing import List, Optional, Tuple

import click
from gnuradio import gr

from .. import hf_python as hf
from .. import station, watch
from . import fail


class Stations:
    """Stations, those with a modem of ours on a simulated air that they share.

    A context manager: on the way out all stops. Stations with a modem elsewhere take time from
    a modem of the same run, so that they keep up with an air that runs at another speed; if
    there is none, from the host's clock.
    """

    def __init__(self, descriptions: List[station.Description], channel: str, seed: int,
                 speed: float) -> None:
        hf.channel_model(channel)  # complains of a wrong one before anything is set up
        self.tb = gr.top_block("hf run")
        on_air = [d for d in descriptions if d.modem_client is None]
        if len(on_air) == 1:
            raise ValueError(f"station {on_air[0].name} alone on a simulated air has nobody to "
                             "hear it: give a second station file, or [modem_client] for a modem "
                             "elsewhere")
        self.air = None
        if on_air:
            power = max(hf.mode(d.mode).mean_power for d in on_air)
            self.air = hf.air(len(on_air), channel, seed, speed, power)
        self.stations, self.logs = [], []
        for k, d in enumerate(on_air):
            self._add(station.Station(self.tb, d, self.air.source(k), self.air.sink(k)))
        clock = (self.stations[0].modem, "modem") if on_air else None
        for d in descriptions:
            if d.modem_client is not None:
                self._add(station.Station(self.tb, d, clock=clock))

    def _add(self, s: station.Station) -> None:
        self.stations.append(s)
        if s.data_link is not None:
            lines = watch.LogWatch(f"{s.description.address} ")
            self.tb.msg_connect(s.data_link, "log", lines, "log")
            self.logs.append(lines)

    def now(self) -> float:
        """Station time, s."""
        return self.air.now() if self.air else self.stations[0].data_link.state().now

    def __enter__(self) -> "Stations":
        self.tb.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.air:
            self.air.end()
        self.tb.stop()
        self.tb.wait()

    def new_lines(self) -> List[str]:
        """What the data links have said since the last call, in the order of time."""
        return sorted(line for log in self.logs for line in log.take())


def greeting(s: station.Station) -> str:
    """What is said of a station when it runs."""
    d = s.description
    text = f"station {d.name}, {d.mode}"
    if s.sis_server:
        text += f", SIS server on port {s.sis_server.port()}"
    if s.modem_server:
        text += f", modem server ({d.modem_server.form}) on port {s.modem_server.port()}"
    if d.modem_client:
        text += f", modem at {d.modem_client.host}:{d.modem_client.port}"
    return text


def become(user: str) -> None:
    """Go on as that user, without any right of root; raises ValueError or RuntimeError.

    For all threads at once: those that sockets and devices have already, and those to come.
    """
    try:
        account = pwd.getpwnam(user)
    except KeyError:
        raise ValueError(f"user {user}: there is none of that name") from None
    if account.pw_uid == 0:
        raise ValueError(f"user {user}: that is root, allowed is any other")
    try:
        os.setgroups([])
        os.setresgid(account.pw_gid, account.pw_gid, account.pw_gid)
        os.setresuid(account.pw_uid, account.pw_uid, account.pw_uid)
    except PermissionError:
        raise RuntimeError(f"cannot become user {user}: only root can, and {os.geteuid()} "
                           "is not root") from None
    # GNU Radio keeps its preferences there, and fails where it may not.
    homes = [os.environ.get("HOME", ""), account.pw_dir, tempfile.gettempdir()]
    os.environ["HOME"] = next((h for h in homes if os.access(h, os.W_OK | os.X_OK)), homes[-1])


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE.toml...")
@click.option("--channel", default="awgn snr=30", show_default=True,
              help="Between all stations, as in hf.channel.")
@click.option("--speed", default=1.0, show_default=True, type=click.FloatRange(0.1, 1000),
              help="Times real time at the most.")
@click.option("--seed", default=1, show_default=True, help="Of noise and fading.")
@click.option("--duration", default=None, type=click.FloatRange(0.001),
              help="End after so many seconds of station time.")
@click.option("--pcap", type=click.Path(exists=True, file_okay=False), metavar="FOLDER",
              help="Capture D_PDUs and S_primitives of every station that has no [capture]: "
              "ADDRESS-d_pdu.pcap, ADDRESS-sis.pcap.")
@click.option("--quiet", is_flag=True, help="No log lines.")
@click.option("--user", metavar="NAME", help="When sockets, devices and captures are open, give "
              "up the rights of root and go on as this user.")
def command(files: Tuple[str, ...], channel: str, speed: float, seed: int,
            duration: Optional[float], pcap: Optional[str], quiet: bool,
            user: Optional[str]) -> None:
    """Run one or more stations, each from its file, over a simulated air until Ctrl-C.

    Real waveforms in lock step. What the data links do is printed, each line with station
    time and address. With a table [sis_server] in the file other programs are clients:
    hf console, hf send, hf receive, hf chat, or another maker's. With [modem_server] a station
    is a modem for another maker's data link, with [modem_client] a data link for another
    maker's modem.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # HF-PEP has a socket for each connection: the usual soft limit of 1024 is soon reached.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65536)), hard))
    try:
        descriptions = [station.load(f) for f in files]
        for d in descriptions:
            if pcap and d.address and d.capture == station.Capture():
                d.capture = station.Capture(os.path.join(pcap, f"{d.address}-d_pdu.pcap"),
                                            os.path.join(pcap, f"{d.address}-sis.pcap"))
        stations = Stations(descriptions, channel, seed, speed)
        if user:
            become(user)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except RuntimeError as error:
        raise fail(str(error)) from None
    try:
        with stations:
            for s in stations.stations:
                click.echo(greeting(s), err=True)
            while duration is None or stations.now() < duration:
                time.sleep(0.1)
                for line in stations.new_lines():
                    if not quiet:
                        print(line, flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
    except RuntimeError as error:
        raise fail(str(error)) from None
