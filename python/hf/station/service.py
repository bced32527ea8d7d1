# SPDX-License-Identifier: GPL-3.0-or-later
"""Services of a station: what a table of its file adds beside blocks. docs/where-to-put-things.md
says how to add one.

A service is opened before the station is made, since it may extend its HF-PEP. Then it is attached
to the station, started when the station runs as the user it shall run as, and closed before the
station ends.
"""
import importlib
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Sequence, Tuple

from .. import station

#: Table of a station file, module, class, and Debian's packages for its
#: libraries.
SERVICES: List[Tuple[str, str, str, str]] = [
    ("host", "..host.ports", "HostPorts", ""),
    ("web", "..web.service", "WebService",
     "python3-aiohttp, python3-brotli, python3-lxml, python3-pil"),
    ("mail", "..mail.service", "MailService", "python3-aiosmtpd"),
    ("xmpp", "..xmpp.service", "XmppService", "python3-slixmpp"),
    ("net", "..gui.net", "NetService", ""),
]


class Attached(NamedTuple):
    """A program or server that a service works with, in words for the operator.

    service: its name, for example "VARA". who: an address, call signs or a domain. state: what it
    does now.
    """

    service: str
    who: str
    state: str


class Service:
    """A service of one station. A subclass overrides what it needs."""

    #: For the operator's page: mails that wait (mail.Desk), or nothing.
    desk: Any = None

    def __init__(self, d: station.Description) -> None:
        """Open what the table of d asks for, and extend d. Raises ValueError, or RuntimeError if
        the system refuses."""

    def attach(self, s: station.Station, say: Callable[[str], None]) -> None:
        """The station has been made from the description. say: takes lines for the operator, on
        any thread."""

    def start(self) -> None:
        """The station runs. Raises RuntimeError."""

    def check(self) -> None:
        """Try what start() would open. Raises RuntimeError."""

    def details(self) -> Iterable[str]:
        """Lines for the operator on what has been opened, and for whom."""
        return []

    def attached(self) -> Iterable[Attached]:
        """Programs and servers that it works with now. Any thread may ask."""
        return []

    def close(self) -> None:
        """End everything. A second call does nothing."""


class Services:
    """The services of several stations."""

    def __init__(self, descriptions: Sequence[station.Description]) -> None:
        """Open them. The descriptions are extended. Raises ValueError and RuntimeError."""
        station.check_together(descriptions)
        self._of: List[Tuple[str, Service]] = []
        try:
            for d in descriptions:
                for table, module, name, packages in SERVICES:
                    if getattr(d, table) is not None:
                        self._of.append((d.name, _class(table, module, name, packages)(d)))
        except BaseException:
            self.close()
            raise

    def attach(self, stations: Iterable[station.Station], say: Callable[[str], None]) -> None:
        """Join them to their stations, which were made from the descriptions."""
        made = {s.description.name: s for s in stations}
        for name, service in self._of:
            service.attach(made[name], say)

    def start(self) -> None:
        """The stations run. Raises RuntimeError."""
        for _, service in self._of:
            service.start()

    def check(self) -> None:
        """Try what start() would open. Raises RuntimeError."""
        for _, service in self._of:
            service.check()

    def desks(self) -> Dict[str, Any]:
        """Desks for the operator's page, by name of the station."""
        return {name: s.desk for name, s in self._of if s.desk is not None}

    def details(self, name: str) -> List[str]:
        """Lines for the operator on the services of one station."""
        return [line for of, service in self._of if of == name for line in service.details()]

    def attached(self, name: str) -> List[Attached]:
        """Programs and servers that the services of one station work with now."""
        return [a for of, service in self._of if of == name for a in service.attached()]

    def close(self) -> None:
        """End all services, the last one first."""
        for _, service in reversed(self._of):
            service.close()


def _class(table: str, module: str, name: str, packages: str) -> Any:
    try:
        return getattr(importlib.import_module(module, __package__), name)
    except ImportError as error:
        raise RuntimeError(f"[{table}] needs the library {error.name} (Debian: {packages})"
                           ) from None


def who(peers: Sequence[str], others: Sequence[str] = ()) -> str:
    """Who may do something, in words. others: nodes that may, beside peers."""
    return ", ".join(dict.fromkeys([*peers, *others])) if peers and peers != ["*"] else \
        "every node"
