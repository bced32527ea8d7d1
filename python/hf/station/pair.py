# SPDX-License-Identifier: GPL-3.0-or-later
"""Two stations, A and B, on a simulated air, each with its own network.

As root, each station has a network namespace with the TUN device of its IP client. TCP
connections between them go through HF-PEP. Everything is removed at the end. Without root both
use the loopback, with HF-PEP only.
"""
from contextlib import ExitStack
from dataclasses import dataclass, field
import itertools
import os
import subprocess
from typing import Any, Callable, Dict, List, Optional

from gnuradio import gr

from .. import hf_python as _hf
from .. import station
from ..system import netns, nftables
from . import watch

NAMES = ("A", "B")
NODES = {"A": "1.2.0.1", "B": "1.2.0.2"}
ADDRESSES = {"A": "10.66.0.1", "B": "10.66.0.2"}
OTHER = {"A": "B", "B": "A"}
#: Port of HF-PEP's redirect listener in each namespace.
PEP_PORT = 3128

_count = itertools.count()


@dataclass
class Setting:
    """The channel between the stations, and the speed of time.

    mode, ack_mode, data_link: as in a station description.
    emulated: modems without samples (every mode, almost no CPU time). Otherwise real waveforms
    go over channel.
    channel: specification as in hf.channel.
    ber: bit error rate of emulated modems.
    speed: multiple of real time, 0 for no limit.
    pep_ports: TCP ports that HF-PEP intercepts, empty for all, None for none. All other traffic
    goes through the IP client.
    """

    mode: str = "4539-9600S"
    ack_mode: str = "auto"
    emulated: bool = True
    channel: str = "clear"
    ber: float = 0.0
    speed: float = 1.0
    seed: int = 1
    data_link: Dict[str, float] = field(default_factory=dict)
    pep_ports: Optional[List[str]] = field(default_factory=list)
    #: Destinations at B that A may connect to, "HOST:PORTS". A allows none.
    allow: List[str] = field(default_factory=list)
    pep_rules: List[Dict[str, Any]] = field(default_factory=list)


class Pair:
    """The two stations, as a context manager.

    on_description: may change the description of a station before it is made.
    on_made: called with the pair before the flowgraph starts.
    """

    def __init__(self, setting: Setting, namespaces: bool = True,
                 on_description: Optional[Callable[[str, station.Description], None]] = None,
                 on_made: Optional[Callable[["Pair"], None]] = None) -> None:
        self.setting = setting
        self.mode = _hf.mode(_hf.fastest_mode(setting.mode))
        _hf.channel_model(setting.channel)  # raises for a wrong channel before any set-up
        self.with_namespaces = namespaces
        self.on_description, self.on_made = on_description, on_made
        self.exit = ExitStack()
        self.namespaces: Dict[str, netns.Namespace] = {}
        self.stations: Dict[str, station.Station] = {}
        self.watches: Dict[str, watch.ModemWatch] = {}
        #: Blocks with the received samples of each station. Empty with emulated modems.
        self.received: Dict[str, Any] = {}

    def __enter__(self) -> "Pair":
        try:
            self._set_up()
        except BaseException:
            self.exit.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.exit.close()

    def _set_up(self) -> None:
        netns.clear_left_overs()
        if self.with_namespaces:
            number = next(_count)
            for name in NAMES:
                ns = netns.Namespace(f"hf-{name}-{os.getpid()}-{number}")
                self.namespaces[name] = self.exit.enter_context(ns)
        self.tb = gr.top_block("hf pair")
        s = self.setting
        if s.emulated:
            self.air = _hf.emulated_air(2, s.ber, seed=s.seed, speed=s.speed)
        else:
            power = _hf.mode(_hf.reference_mode(s.mode)).mean_power
            self.air = _hf.air(2, s.channel, s.seed, s.speed, power,
                               bandwidth=self.mode.bandwidth_hz // 1000)
        for k, name in enumerate(NAMES):
            if s.emulated:
                radio = {"emulated_modem": self.air.modem(k)}
            else:
                self.received[name] = self.air.source(k)
                radio = {"radio_source": self.received[name], "radio_sink": self.air.sink(k)}
            self.stations[name] = station.Station(self.tb, self._describe(k, name), **radio)
            self.watches[name] = watch.ModemWatch()
            self.tb.msg_connect(self.stations[name].modem, "status", self.watches[name],
                                "status")
        if s.pep_ports is not None:
            for name, ns in self.namespaces.items():
                ns.nft(nftables.Rules("redirect", PEP_PORT, [f"{ADDRESSES[OTHER[name]]}/32"],
                                      s.pep_ports, forwarded=False).text())
        if self.on_made is not None:
            self.on_made(self)
        self.tb.start()
        self.exit.callback(self._stop)

    def _describe(self, k: int, name: str) -> station.Description:
        s, other = self.setting, OTHER[name]
        d = station.Description(address=NODES[name], mode=s.mode, ack_mode=s.ack_mode,
                                data_link={"seed": s.seed * 2 + k, **s.data_link})
        d.pep = station.Pep(routes=[f"{ADDRESSES[other]}/32={NODES[other]}"],
                            allow=s.allow if name == "B" else [], rule=s.pep_rules)
        if self.namespaces:
            d.netns = self.namespaces[name].name
            d.pep.listen = [f"redirect:{PEP_PORT}"]
            d.ip_client = station.IpClient(
                device="hf0", address=ADDRESSES[name] + "/24",
                routes=[f"{ADDRESSES[other]}/32={NODES[other]}"])
        if self.on_description is not None:
            self.on_description(name, d)
        return d

    def _stop(self) -> None:
        if not self.setting.emulated:
            self.air.end()
        self.tb.stop()
        self.tb.wait()

    def now(self) -> float:
        """Station time in seconds."""
        return self.stations["A"].modem.state().now

    def octets_over_hf(self) -> int:
        """Octets in the D_PDUs that both stations have sent so far."""
        return sum(s.data_link.stats()["octets_sent"] for s in self.stations.values())

    def start(self, name: str, command: List[str], **options: Any) -> subprocess.Popen:
        """Start a program at a station. It ends with the pair."""
        if self.namespaces:
            command = self.namespaces[name].command(*command)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                   preexec_fn=netns.ended_with_me, **options)

        def end() -> None:
            process.terminate()
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

        self.exit.callback(end)
        return process

    def busy(self) -> bool:
        """Whether any station transmits, receives or has something to send."""
        for s in self.stations.values():
            modem, link = s.modem.state(), s.data_link.state()
            if modem.transmitting or modem.receiving or link.queued_octets \
                    or link.unacknowledged:
                return True
        return False
