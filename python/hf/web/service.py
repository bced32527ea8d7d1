# SPDX-License-Identifier: GPL-3.0-or-later
"""The web door or the shore side of one station: its thread, and its place in the station."""
import asyncio
import os
import time
from typing import Callable, Iterable, Optional

from .. import hf_python as _hf
from .. import station
from ..station import service, station_tables
from ..system import loop
from .door import PLACES, Door
from .estimate import Estimate, mode_of
from .library import Library
from .shore import Pace, Shore
from .users import Users, load
from .views import View

#: Name and port under which the shore side of a station is reached through HF-PEP.
NAME, PORT = "web.internal", 8511
#: A page without a sign of the far station ends after this time, s.
OUTAGE_S = 600


def default_folder() -> str:
    """Where the door keeps pages: the user's cache folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(cache, "gr-hf", "web")


class WebService(service.Service):
    """What a station file asks for in [web]. It extends HF-PEP."""

    def __init__(self, d: station.Description) -> None:
        """Open the port. Raises RuntimeError if the system refuses, ValueError for a wrong value.

        d: of the station; [pep] is extended.
        """
        if d.web is None:
            raise ValueError("the station has no [web]")
        d.web.check()
        self.settings = d.web
        self._where = f"{d.where}: " if d.where else ""
        self._say: Callable[[str], None] = lambda line: None
        self._station: Optional[station.Station] = None
        self._fastest = str(_hf.fastest_mode(d.mode))
        try:
            self._loop = loop.Loop(d.netns, "web")
        except OSError as error:
            raise RuntimeError(f"{self._where}[web] {error.strerror or error}") from None
        #: The door (role near), or the shore side.
        self.door: Optional[Door] = None
        self.shore: Optional[Shore] = None
        self._server: Optional[asyncio.AbstractServer] = None
        #: Port of the door, or of the shore side.
        self.port = 0
        try:
            self._loop.do(self._open())
        except OSError as error:
            self.close()
            of = f"{error.filename}: " if error.filename else ""
            raise RuntimeError(f"{self._where}[web] {of}{error.strerror or error}") from None
        self._extend(d)

    @property
    def url(self) -> str:
        """The address of the door."""
        host = self.settings.listen.rpartition(":")[0]
        return f"http://{host}:{self.port}/"

    def _extend(self, d: station.Description) -> None:
        if self.shore is not None:
            d.serve(NAME, PORT, self.port,
                    station_tables.nodes_of("[web] peers", self.settings.peers))
        else:
            d.stream_to(self.settings.node, NAME, PORT)
        # Both sides: the near one lets more pages wait, the shore side refuses them.
        d.first_rule(port=PORT, outage_s=OUTAGE_S, compress="off", max=PLACES,
                     over="wait")

    def attach(self, s: station.Station, say: Callable[[str], None]) -> None:
        """The station has been made from the description. say: takes lines for the operator, on
        any thread."""
        self._say, self._station = say, s
        if self.door is not None:
            self.door.pep_port = s.stream_port(self.settings.node, NAME, PORT)

    def ask(self, url: str, mode: str, budget: int = 0, user: str = "", again: bool = True
            ) -> View:
        """Ask for a page through the door of this station. The view tells how far it is.

        mode: text or pictures. budget: most octets in units of 1000, 0 without limit. user: who
        asks. again: even if the page is kept.
        """
        assert self.door is not None
        door = self.door

        async def ask() -> View:
            return door.ask(url, mode, budget, None, again, user)

        return self._loop.do(ask())

    def details(self) -> Iterable[str]:
        """One line: where the door is, or who may fetch pages."""
        w = self.settings
        if w.role == "near":
            who = f" for users in {w.users}, not encrypted" if w.users else ""
            return [f"web door: {self.url}{who}, pages come from {w.node}"]
        return [f"web: {service.who(w.peers)} may fetch pages from public addresses"
                + (f" and {', '.join(w.allow)}" if w.allow else "")]

    def close(self) -> None:
        """End all pages and close the port."""
        self._loop.close(self._end, 60)

    def _mode(self) -> str:
        return self._fastest if self._station is None else mode_of(self._station)

    def _now(self) -> float:
        """Station time, or that of this machine."""
        engine = self._station and (self._station.modem or self._station.data_link)
        return float(engine.state().now) if engine else time.monotonic()

    async def _open(self) -> None:
        t = self.settings
        if t.role == "shore":
            self.shore = Shore(t.allow, lambda line: self._say(line), None,
                               Pace(self._now, lambda: _hf.mode(self._mode()).rate_bps))
            self._server = await asyncio.start_server(self.shore.serve, "127.0.0.1", 0)
            self.port = self._server.sockets[0].getsockname()[1]
            return
        library = Library(t.folder or default_folder())
        self.door = Door([t.name], library, Estimate(library, self._mode),
                         t.search, t.mode, t.budget, Users(load(t.users)) if t.users else None)
        host, _, port = t.listen.rpartition(":")
        self.port = await self.door.open(host.strip("[]"), int(port))

    async def _end(self) -> None:
        if self._server is not None:
            self._server.close()
        if self.shore is not None:
            await self.shore.close()
        if self.door is not None:
            await self.door.close()
