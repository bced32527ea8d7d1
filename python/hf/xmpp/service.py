# SPDX-License-Identifier: GPL-3.0-or-later
"""The chat gateway of a station, as its table [xmpp] asks for it."""
from typing import Any, Callable, Dict, Iterable, Optional

from .. import hf_python as _hf
from .. import station
from ..station import service
from .component import Components
from .gateway import Gateway
from .journal import Journal, JournalError
from .stream_exchange import ACKNOWLEDGE_S
from .streams import Streams

#: Name and port under which HF-PEP reaches a far gateway.
NAME, PORT = "chat", 5269
#: Silence before an acknowledgement by itself, in bits. At 75 bit/s it takes the link for 8 to 19
#: s, and a stanza of 1 kB for 60 s.
ACKNOWLEDGE_BITS = 16_000
#: At this rate or less, bit/s, presence is held back unless it is directed.
DIRECT_BPS = 300


def reach(d: station.Description, nodes: Dict[str, int]) -> None:
    """Let HF-PEP of a station lead to far gateways, and from each to its port on loopback."""
    for node, port in nodes.items():
        d.stream_to(node, NAME, PORT)
        d.serve(NAME, PORT, port, [node])
    d.first_rule(port=PORT, compress="off")


class XmppService(service.Service):
    """The gateway is a client of the station's own SIS server. For peers with the version slep it
    extends HF-PEP."""

    def __init__(self, d: station.Description, ports: Optional[Dict[str, int]] = None) -> None:
        """ports: on loopback, by node, where HF-PEP of the station expects it already. Raises
        RuntimeError."""
        assert d.xmpp is not None
        self.settings = d.xmpp
        fastest = _hf.mode(_hf.fastest_mode(d.mode))
        self._presence = "direct" if fastest.rate_bps <= DIRECT_BPS else "all"
        # The amount that HF-PEP and the IP client keep in the node, too.
        self._window = int(1.1 * station.longest_transmission_octets(d.mode)) + 2048
        self._server, self._entries = "", {}  # type: str, Dict[str, int]
        #: For peers with the version slep.
        self.streams: Optional[Streams] = None
        nodes = [p.node for p in d.xmpp.peer if p.version == "slep"]
        if nodes:
            try:
                self.streams = Streams(d.netns, ports or dict.fromkeys(nodes, 0),
                                       max(ACKNOWLEDGE_S, ACKNOWLEDGE_BITS / fastest.rate_bps))
            except OSError as error:
                raise RuntimeError(f"[xmpp] {error.strerror or error}") from None
            if ports is None:
                reach(d, self.streams.ports)
        self._say: Callable[[str], None] = lambda line: None
        self.gateway: Optional[Gateway] = None
        self._components: Optional[Components] = None

    def attach(self, s: station.Station, say: Callable[[str], None]) -> None:
        """The gateway will be a client of the station's SIS server."""
        self._server, self._say = s.sis_address(), say
        self._entries = {node: s.stream_port(node, NAME, PORT) for node in
                         (self.streams.ports if self.streams else ())}

    def start(self) -> None:
        """Claim the folder, and connect to both servers whenever they are there."""
        try:
            self.gateway = Gateway(self.settings, self._server, self._window, self._presence,
                                   self._say, self.streams, self._entries)
            self._components = Components(self.gateway, self._say)
        except (JournalError, OSError) as error:
            raise RuntimeError(str(error)) from None
        self.gateway.start()

    def check(self) -> None:
        """Open the folder, and close it."""
        try:
            Journal(self.settings.folder, 1, 1).close()
        except JournalError as error:
            raise RuntimeError(str(error)) from None

    def details(self) -> Iterable[str]:
        """One line: for whom, and where the chat server is."""
        x = self.settings
        far = "; ".join(f"{', '.join(p.domains)} at {p.node}" for p in x.peer)
        return [f"chat: {', '.join(x.domains)} here, {far}, chat server {x.server}"]

    def status(self) -> Dict[str, Any]:
        """Counts, what waits, and the state of each link."""
        if self.gateway is None or self._components is None:
            return {}
        return {**self.gateway.status(), "connected": self._components.connected()}

    def attached(self) -> Iterable[service.Attached]:
        """The chat server, what waits for it, and each far gateway."""
        now = self.status()
        if not now:
            return []
        there = len(now["connected"]) == sum(len(p.domains) for p in self.settings.peer)
        return [service.Attached("chat server", self.settings.server,
                                 ("connected" if there else "not connected") +
                                 _waiting(now["for_the_server"][0]))] + [
            service.Attached("chat", f"{', '.join(of['domains'])} at {node}", of["link"] +
                             _waiting(of["waiting"]))
            for node, of in now["nodes"].items()]

    def close(self) -> None:
        """End all threads. Stanzas stay in the folder."""
        if self._components is not None:
            self._components.close()
            self._components = None
        if self.gateway is not None:
            self.gateway.close()
            self.gateway = None
        if self.streams is not None:
            self.streams.end()


def _waiting(count: int) -> str:
    return f", {count} wait" if count > 1 else ", 1 waits" if count else ""
