# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables [xmpp] and [[xmpp.peer]] of a station file."""
from dataclasses import dataclass, field
import re
from typing import Any, List

from .. import hf_python as _hf
from .station_tables import StationError, whole_number
from .tables import place

#: Choices of keys.
COMPRESSIONS, PRESENCES = ("none", "deflate"), ("auto", "none", "direct", "all")
CONFIRMATIONS = ("auto", "client", "node")
VERSIONS = ("rcop", "slep")
#: Children of stanzas that are left out unless the table says otherwise.
DROPPED = [
    "http://jabber.org/protocol/chatstates", "http://jabber.org/protocol/xhtml-im",
    "http://jabber.org/protocol/caps", "vcard-temp:x:update", "jabber:x:avatar",
    "http://jabber.org/protocol/nick", "urn:xmpp:sid:0", "urn:xmpp:occupant-id:0",
    "urn:xmpp:chat-markers:0", "urn:xmpp:hints", "urn:xmpp:reference:0",
    "http://jabber.org/protocol/pubsub#event"]


def _domains(key: str, domains: List[str]) -> List[str]:
    for domain in domains:
        if not re.fullmatch(r"[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?", domain.lower()):
            raise StationError(f"{key}: '{domain}': allowed are names of domains")
    return [domain.lower() for domain in domains]


def _choice(key: str, value: str, allowed: Any) -> None:
    if value not in allowed:
        raise StationError(f"{key} = '{value}': allowed are {', '.join(allowed)}")


@dataclass
class XmppPeer:
    """A far gateway (a table [[xmpp.peer]] for each). Both sides agree on all of it.

    domains: of the far servers, for example of its users and of its rooms.
    node: address of the far station.
    version: rcop (XEP-0365 0.1, each stanza a message), or slep (XEP-0365 0.3, one stream through
    HF-PEP). The octets of slep are ours: it is for two of our gateways, and none of the keys sap,
    connection, compression, confirmation, extensions and application counts.
    sap: of both gateways. XEP-0365 recommends 2.
    connection: RCOP connection number. XEP-0365 recommends 0.
    compression: deflate (one stream in each direction) or none.
    presence: all, direct (subscriptions, rooms, and to full addresses), none, or auto: direct at
    300 bit/s or less, else all.
    confirmation: by the far client, by the far node, which answers sooner, or auto: by the node
    while the far gateway was heard within ten minutes, but for each 16th stanza.
    extensions: the far gateway is one of ours, too. They tell each other after a restart what has
    arrived, and send short IDs, one copy for all occupants of a room, and a new compressed stream
    in fewer octets.
    application: RCOP application number of stanzas that are sent. XEP-0365 names none. All are
    received.
    drop: namespaces of children of messages and presence that are left out. Default: chat states,
    XHTML-IM, capabilities, avatars, nicknames, further IDs, markers, hints, references, events.
    """

    domains: List[str] = field(default_factory=list)
    node: str = ""
    version: str = "rcop"
    sap: int = whole_number(2, 0, 15)
    connection: int = whole_number(0, 0, 15)
    compression: str = "deflate"
    presence: str = "auto"
    confirmation: str = "auto"
    extensions: bool = True
    application: int = whole_number(0x8361, 0, 65535)
    drop: List[str] = field(default_factory=lambda: list(DROPPED))

    def check(self) -> None:
        """Raise StationError for a missing key or a wrong value."""
        where = "[[xmpp.peer]]"
        if not self.domains:
            raise StationError(f'{where} needs domains, for example domains = ["shore.example"]')
        if not self.node:
            raise StationError(f'{where} needs node, for example node = "1.2.0.2"')
        self.domains = _domains(f"{where} domains", self.domains)
        if _hf.s5066.address(self.node).is_group():
            raise StationError(f"{where} node = '{self.node}': allowed is the address of a node")
        self.node = str(_hf.s5066.address(self.node))
        _choice(f"{where} version", self.version, VERSIONS)
        self.extensions = self.extensions or self.version == "slep"
        _choice(f"{where} compression", self.compression, COMPRESSIONS)
        _choice(f"{where} presence", self.presence, PRESENCES)
        _choice(f"{where} confirmation", self.confirmation, CONFIRMATIONS)
        if self.application == 0x8362:
            raise StationError(f"{where} application = {0x8362}: that is the number of notices")


@dataclass
class Xmpp:
    """Gateway of a station between a chat server and HF. See docs/how-to/chat.md. Needs
    [sis_server].

    folder: for stanzas that wait.
    server: the component port of the chat server, "HOST:PORT".
    secret: of the components in that server. They have the names of the far domains.
    domains: of this side, for example of its users and of its rooms.
    peer: far gateways.
    max_stanza: longest stanza, octets.
    max_messages, max_octets: what may wait in each direction. More is refused.
    answer_s: a question to the far side gets an error after this time.
    expire_hours: a message that has not arrived comes back as an error after this time.
    retry_s, retry_max_s: first pause after a node was not reached, and the longest. Each is twice
    the last.
    """

    folder: str = place()
    server: str = "127.0.0.1:5347"
    secret: str = ""
    domains: List[str] = field(default_factory=list)
    peer: List[XmppPeer] = field(default_factory=list)
    max_stanza: int = whole_number(65536, 1000, 1 << 20)
    max_messages: int = whole_number(10_000, 1, 1_000_000)
    max_octets: int = whole_number(100_000_000, 10_000, 1 << 40)
    answer_s: float = field(default=600.0, metadata={"range": (0.1, 86400)})
    expire_hours: float = field(default=72.0, metadata={"range": (0.0001, 8760)})
    retry_s: float = field(default=30.0, metadata={"range": (0.1, 86400)})
    retry_max_s: float = field(default=1800.0, metadata={"range": (0.1, 86400)})

    def check(self) -> None:
        """Raise StationError for a missing key or a wrong value."""
        for name, example in (("folder", '"/var/lib/hf-xmpp"'), ("secret", '"a long word"'),
                              ("domains", '["ship.example"]')):
            if not getattr(self, name):
                raise StationError(f"[xmpp] needs {name}, for example {name} = {example}")
        if not self.peer:
            raise StationError("[xmpp] needs [[xmpp.peer]]")
        host, _, port = self.server.rpartition(":")
        if not host or not re.fullmatch("[0-9]{1,5}", port) or not 1 <= int(port) <= 65535:
            raise StationError(f"[xmpp] server = '{self.server}': allowed is HOST:PORT")
        self.domains = _domains("[xmpp] domains", self.domains)
        known, nodes = list(self.domains), []  # type: List[str], List[str]
        for peer in self.peer:
            peer.check()
            for domain in peer.domains:
                if domain in known:
                    raise StationError(f"[xmpp]: the domain {domain} is named twice")
                known.append(domain)
            if peer.node in nodes:
                raise StationError(f"[xmpp]: the node {peer.node} has two tables")
            nodes.append(peer.node)
