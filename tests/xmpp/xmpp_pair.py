# SPDX-License-Identifier: GPL-3.0-or-later
"""Two chat gateways at two stations on emulated air, each with a sham chat server or a real
one."""
import contextlib
import time

from gnuradio.hf import station
from gnuradio.hf.station import pair, xmpp_tables
from gnuradio.hf.system import netns
from gnuradio.hf.xmpp import gateway, stanza, streams
from gnuradio.hf.xmpp.service import NAME, PORT, reach

DOMAINS = {"A": "ship.example", "B": "shore.example"}
ROOMS = {"A": "rooms.ship.example", "B": "rooms.shore.example"}


class ShamServer:
    """Keeps what comes from HF, as the chat server would. A domain that is off keeps nothing."""

    def __init__(self, made):
        self.gateway, self.passed, self.messages, self.on = made, [], [], True
        made.passing, made.wake = self._pass, self._wake

    def _pass(self, domain, text):
        if self.on:
            self.passed.append(stanza.read(text, 1 << 20))
        return self.on

    def _wake(self, domain):
        for id_, text in self.gateway.journal.incoming(domain, 0, 1000) if self.on else ():
            self.messages.append(stanza.read(text, 1 << 20))
            self.gateway.delivered(domain, id_)

    def write(self, text):
        self.gateway.from_server(stanza.read(text.encode(), 1 << 20))

    def bodies(self):
        return [m.findtext(f"{{{stanza.SERVER}}}body") for m in self.messages]


class Stations:
    """The two stations, without gateways."""

    def __init__(self, folder, speed=30, capture=False, version="rcop", **setting):
        """capture: the S_primitives of station A are in sis.pcap in the folder."""
        self.capture, self.version, self.ports = capture, version, {}
        self.folder, self.gateways, self.lines = folder, {}, []
        self._exit = contextlib.ExitStack()
        self._setting = pair.Setting(speed=speed, pep_ports=None, **setting)

    def __enter__(self):
        def describe(name, d):
            d.pep, d.sis_server = None, station.SisServer(port=0)
            if self.capture and name == "A":
                d.capture = station.Capture(sis=str(self.folder / "sis.pcap"))
            if self.version == "slep":
                (port,) = netns.free_tcp_ports(1)
                self.ports[name] = {pair.NODES[pair.OTHER[name]]: port}
                reach(d, self.ports[name])

        self.pair = self._exit.enter_context(pair.Pair(self._setting, False, describe))
        return self

    def __exit__(self, *_):
        for name in list(self.gateways):
            self.stop(name)
        self._exit.close()

    def settings(self, name, server="127.0.0.1:9", peer=None, **more):
        other = pair.OTHER[name]
        made = station.Xmpp(
            folder=str(self.folder / name), server=server, secret="secret of a test",
            domains=[DOMAINS[name], ROOMS[name]],
            peer=[xmpp_tables.XmppPeer(domains=[DOMAINS[other], ROOMS[other]],
                                       node=pair.NODES[other],
                                       **{"version": self.version, **(peer or {})})],
            **{"retry_s": 0.3, "retry_max_s": 1.0, **more})
        made.check()
        return made

    def sis(self, name):
        return self.pair.stations[name].sis_address()

    def say(self, name):
        return lambda line: self.lines.append(f"{time.monotonic():.2f} {name} {line}")

    def start(self, name, presence="all", **more):
        """A gateway with a sham server."""
        ports = self.ports.get(name, {})
        made = gateway.Gateway(
            self.settings(name, **more), self.sis(name), 20000, presence, self.say(name),
            streams.Streams("", ports) if ports else None,
            {n: self.pair.stations[name].stream_port(n, NAME, PORT) for n in ports})
        self.gateways[name] = made
        server = ShamServer(made)
        made.start()
        return server

    def stop(self, name):
        self.gateways.pop(name).close()

    def wait(self, condition, timeout=60):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, "\n".join(self.lines)
            time.sleep(0.02)
