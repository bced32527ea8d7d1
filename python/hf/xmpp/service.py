# SPDX-License-Identifier: GPL-3.0-or-later
"""The chat gateway of a station, as its table [xmpp] asks for it."""
from typing import Any, Callable, Dict, Iterable, Optional

from .. import hf_python as _hf
from .. import station
from ..station import service
from .component import Components
from .gateway import Gateway
from .journal import Journal, JournalError

#: At this rate or less, bit/s, presence is held back unless it is directed.
DIRECT_BPS = 300


class XmppService(service.Service):
    """The gateway is a client of the station's own SIS server."""

    def __init__(self, d: station.Description) -> None:
        assert d.xmpp is not None
        self.settings = d.xmpp
        fastest = _hf.mode(_hf.fastest_mode(d.mode))
        self._presence = "direct" if fastest.rate_bps <= DIRECT_BPS else "all"
        # The amount that HF-PEP and the IP client keep in the node, too.
        self._window = int(1.1 * station.longest_transmission_octets(d.mode)) + 2048
        self._server = ""
        self._say: Callable[[str], None] = lambda line: None
        self.gateway: Optional[Gateway] = None
        self._components: Optional[Components] = None

    def attach(self, s: station.Station, say: Callable[[str], None]) -> None:
        """The gateway will be a client of the station's SIS server."""
        self._server, self._say = s.sis_address(), say

    def start(self) -> None:
        """Claim the folder, and connect to both servers whenever they are there."""
        try:
            self.gateway = Gateway(self.settings, self._server, self._window, self._presence,
                                   self._say)
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


def _waiting(count: int) -> str:
    return f", {count} wait" if count > 1 else ", 1 waits" if count else ""
