# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of a station file, one class each. Those of its radio: radio_tables.py."""
from dataclasses import dataclass, field
import ipaddress
import os
import re
from typing import Any, Dict, List

from .. import hf_python as _hf
from . import auth, callsigns
from .tables import place


class StationError(ValueError):
    """A station description is wrong. The text names the value and what is allowed."""


def whole_number(default: int, least: int, most: int) -> Any:
    """A field for a whole number from least to most."""
    return field(default=default, metadata={"range": (least, most)})


def check_address(key: str, listen: str, example: int) -> bool:
    """Raise StationError unless listen is an address with a port. key: for the message, with a
    port as its example. Returns whether it is a loopback address."""
    host, _, port = listen.rpartition(":")
    try:
        address = ipaddress.ip_address(host.strip("[]"))
        if 0 <= int(port) <= 65535:
            return address.is_loopback
    except ValueError:
        pass
    raise StationError(f"{key} = '{listen}': allowed is an address with a port, for example "
                       f"127.0.0.1:{example}")


def check_loopback(key: str, listen: str, example: int, when: str = "") -> None:
    """Raise StationError unless listen is a loopback address with a port. key: for the message,
    with a port as its example. when: this holds, in words."""
    if not check_address(key, listen, example):
        raise StationError(f"{key} = '{listen}': allowed{when} is a loopback address with a port, "
                           f"for example 127.0.0.1:{example}")


def nodes_of(key: str, peers: List[str]) -> List[str]:
    """Nodes in their usual form. Empty: every node. key: for the message. Raises StationError."""
    if peers == ["*"]:
        return []
    for peer in peers:
        try:
            good = not _hf.s5066.address(peer).is_group()
        except ValueError:
            good = False
        if not good:
            raise StationError(f'{key}: \'{peer}\': allowed are addresses of nodes, for example '
                               '["1.2.0.1"], or ["*"] for every node')
    return [str(_hf.s5066.address(peer)) for peer in peers]


def words_of(tables: List[Dict[str, Any]]) -> List[str]:
    """Rules in the form of the blocks, one string of KEY=VALUE words each."""
    return [" ".join(f"{k}={v}" for k, v in table.items()) for table in tables]


@dataclass
class IpClient:
    """IP client of a station. Needs CAP_NET_ADMIN, or a device that was made for this user.

    device: name of the TUN device.
    address: with prefix length, for example "10.66.0.1/24" or "10.66.0.1/24, fd66::1/64".
    routes: "PREFIX=NODE".
    mtu: octets, 576 to 2048.
    filter: a table [[ip_client.filter]] for each rule, for example proto = "udp", port = 123,
    action = "drop".
    queue: "fair" or "whole".
    settings: further settings (hf.ip_client.settings()).
    """

    device: str = "hf0"
    address: str = "10.66.0.1/24"
    routes: List[str] = field(default_factory=list)
    mtu: int = whole_number(1500, 576, 2048)
    filter: List[Dict[str, Any]] = field(default_factory=list)
    queue: str = "fair"
    settings: Dict[str, float] = field(default_factory=dict)


@dataclass
class Pep:
    """HF-PEP of a station. See hf.pep.

    listen: "WAY:[ADDRESS:]PORT", where WAY is socks5, connect, redirect or tproxy, or
    "[ADDRESS:]PORT=HOST:PORT".
    routes: "PREFIX=NODE" or "END OF NAME=NODE".
    max_connections: at a time, both directions together.
    allow: destinations here that peers may connect to, "HOST:PORTS", or
    "NAME:PORTS=ADDRESS:PORT" for a name and the server that has it. "internet:PORTS" is for public
    addresses. Ends in " from NODE, NODE" if it is for these nodes only. Default: none.
    rule: a table [[pep.rule]] for each rule, for example port = 22, class = 1.
    ca: folder of the certificate authority for rules with tls = "apart". Default: that of
    hf pep ca.
    settings: further settings (hf.pep.settings()).
    """

    listen: List[str] = field(default_factory=list)
    routes: List[str] = field(default_factory=list)
    max_connections: int = whole_number(256, 1, 65535)
    allow: List[str] = field(default_factory=list)
    rule: List[Dict[str, Any]] = field(default_factory=list)
    ca: str = place()
    settings: Dict[str, float] = field(default_factory=dict)

    def ca_folder(self) -> str:
        """Folder of the certificate authority."""
        return self.ca or os.path.join(
            os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"),
            "gr-hf", "ca")

    def rule_words(self) -> List[str]:
        """The rules in the form of hf.pep."""
        return words_of(self.rule)


@dataclass
class Dns:
    """DNS-PEP of a station. See hf.dns_pep.

    listen: "ADDRESS[:PORT]" for clients.
    routes: "SUFFIX=NODE".
    resolver: answers queries of peers. Empty: peers are refused.
    peers: nodes that may ask. Empty: all.
    local: "NAME=ADDRESS".
    blocked: names to answer as non-existent.
    settings: further settings (hf.dns_pep.settings()).
    """

    listen: List[str] = field(default_factory=list)
    routes: List[str] = field(default_factory=list)
    resolver: str = ""
    peers: List[str] = field(default_factory=list)
    local: List[str] = field(default_factory=list)
    blocked: List[str] = field(default_factory=list)
    settings: Dict[str, float] = field(default_factory=dict)


@dataclass
class SisServer:
    """SIS server on TCP, through which other programs are clients of this station.

    address: to listen on. Anyone who reaches it can transmit.
    port: 0 for any free port.
    max_clients: 5 to 60 bound at once.
    ranks: "PREFIX=RANK", the highest rank of clients in that network, 0 to 15. Rank 15 may change
    the configuration. With a list, other addresses may not connect. Without one: 15 for this
    machine, 14 for others.
    """

    address: str = "127.0.0.1"
    port: int = whole_number(5066, 0, 65535)
    max_clients: int = whole_number(16, 5, 60)
    ranks: List[str] = field(default_factory=list)


@dataclass
class Auth:
    """Keys that prove who sent a U_PDU. See docs/how-to/proofs.md.

    key: file with the net keys, made by hf auth new.
    others: off, accept or require, for stations and groups that peers does not name. off: as
    without keys. accept: what proves nothing is delivered until the station has proved itself
    once. require: only proved U_PDUs are delivered.
    peers: the same for one station or group, "1.2.0.9" = "off".
    signing_key: file with the key that signs broadcasts, made by hf auth new --signing. Default:
    none.
    public_keys: public keys of stations that sign their broadcasts, "1.2.0.2" = "64 digits".
    state: file for the counters. Default: auth-ADDRESS in the user's state folder.
    """

    key: str = place()
    others: str = "require"
    peers: Dict[str, str] = field(default_factory=dict)
    signing_key: str = place()
    public_keys: Dict[str, str] = field(default_factory=dict)
    state: str = place()

    def words(self, address: str) -> List[str]:
        """The table in the form of hf.data_link. address: of this station. Reads the key files,
        and makes the folder of the counters. Raises ValueError."""
        if not self.key:
            raise StationError("[auth] needs key, a file made by hf auth new")
        words = [*auth.load(self.key, signing=False).words(), f"others={self.others}",
                 *(f"peer={peer}:{policy}" for peer, policy in self.peers.items()),
                 *(f"public={peer}:{key}" for peer, key in self.public_keys.items())]
        if self.signing_key:
            words.append(f"sign={auth.load(self.signing_key, signing=True).signing}")
        return [*words, f"state={self._state_path(address)}"]

    def _state_path(self, address: str) -> str:
        if self.state:
            return self.state
        folder = os.path.join(os.environ.get("XDG_STATE_HOME") or
                              os.path.expanduser("~/.local/state"), "gr-hf")
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise StationError(f"[auth] state: {folder}: {error.strerror}") from None
        return os.path.join(folder, f"auth-{_hf.s5066.address(address)}")


@dataclass
class Host:
    """Ports for programs made for the modems of radio amateurs. See docs/how-to/programs.md.

    calls: node of each call sign, LA1AAA = "1.2.0.1". The call signs of this node are those that
    programs here may use. Call signs that are not in the table are refused.
    address: to listen on. Anyone who reaches it can transmit.
    ardop_port: commands of an ARDOP host. Data: the next port. 0: closed.
    vara_port: commands of a VARA host. Data: the next port. 0: closed.
    agwpe_port: AGWPE. 0: closed.
    kiss_port: KISS over TCP, for UI frames. 0: closed.
    """

    calls: Dict[str, str] = field(default_factory=dict)
    address: str = "127.0.0.1"
    ardop_port: int = whole_number(8515, 0, 65534)
    vara_port: int = whole_number(8300, 0, 65534)
    agwpe_port: int = whole_number(8000, 0, 65535)
    kiss_port: int = whole_number(8001, 0, 65535)

    def check(self, node: str) -> None:
        """Raise StationError for a wrong table or port. node: address of this station."""
        try:
            self.calls = {callsigns.normal(call): str(_hf.s5066.address(far))
                          for call, far in self.calls.items()}
        except ValueError as error:
            raise StationError(f"[host.calls] {error}") from None
        here = str(_hf.s5066.address(node))
        if here not in self.calls.values():
            raise StationError(f"[host.calls] needs a call sign of this station, for example "
                               f'LA1AAA = "{here}"')
        for name in ("ardop_port", "vara_port"):
            if getattr(self, name) % 10 == 9:
                raise StationError(f"[host] {name} = {getattr(self, name)}: allowed are ports "
                                   "that end in 0 to 8, since programs add 1 to the last digit")
        ports = [p for p in (self.ardop_port, self.ardop_port and self.ardop_port + 1,
                             self.vara_port, self.vara_port and self.vara_port + 1,
                             self.agwpe_port, self.kiss_port) if p]
        for port in ports:
            if ports.count(port) > 1:
                raise StationError(f"[host]: port {port} is used twice")


@dataclass
class Web:
    """The web door of a station, or its shore side. See docs/how-to/web.md.

    role: near (the door, for readers at this station) or shore (fetches pages for other stations).
    node: address of the shore station. Only for near.
    peers: nodes for which the shore side fetches, or ["*"] for every node. Only for shore, which
    needs it.
    listen: address of the door, "ADDRESS:PORT". On a LAN it needs users.
    users: file with names and hashed passwords of those who may log in, made by hf web user.
    Empty: nobody needs to, and listen must be a loopback address.
    name: of the door, so that http://NAME:PORT/ works. Without users it ends in .localhost, which
    browsers keep on this machine. Others on the network can answer for any other name.
    folder: where the door keeps pages, bookmarks and history. Default: the user's cache folder.
    mode: how pages are read at first: text or pictures (text with small pictures).
    budget: most octets of an answer at first, in kB. 0: no limit.
    search: address of a search engine, with {} for the words. Empty: no search field.
    allow: prefixes that the shore side may fetch from though they are not public.
    """

    role: str = "near"
    node: str = ""
    peers: List[str] = field(default_factory=list)
    listen: str = "127.0.0.1:8090"
    users: str = place()
    name: str = "hf.localhost"
    folder: str = place()
    mode: str = "text"
    budget: int = whole_number(0, 0, 999_999)
    search: str = "https://html.duckduckgo.com/html/?q={}"
    allow: List[str] = field(default_factory=list)

    def check(self) -> None:
        """Raise StationError for a missing key or a wrong value."""
        for name, allowed in (("role", ("near", "shore")), ("mode", ("text", "pictures"))):
            if getattr(self, name) not in allowed:
                raise StationError(f"[web] {name} = '{getattr(self, name)}': allowed are "
                                   f"{', '.join(allowed)}")
        if self.role == "near":
            if not self.node:
                raise StationError('[web] needs node, the shore station, for example node = '
                                   '"1.2.0.2"')
            _hf.s5066.address(self.node)
        elif not self.peers:
            raise StationError('[web] role = "shore" needs peers, the nodes for which it fetches, '
                               'for example peers = ["1.2.0.1"], or ["*"] for every node')
        nodes_of("[web] peers", self.peers)
        if self.users:
            check_address("[web] listen", self.listen, 8090)
        else:
            check_loopback("[web] listen", self.listen, 8090, " without users, a file that hf web "
                           "user makes")
        if self.search and "{}" not in self.search:
            raise StationError(f"[web] search = '{self.search}': needs {{}} for the words")
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,49}(\.[a-z0-9][a-z0-9-]{0,49})*" if self.users
                            else r"([a-z0-9][a-z0-9-]{0,49}\.)+localhost", self.name):
            raise StationError(f"[web] name = '{self.name}': allowed is a name that ends in "
                               ".localhost, for example hf.localhost")
        for prefix in self.allow:
            try:
                ipaddress.ip_network(prefix)
            except ValueError as error:
                raise StationError(f"[web] allow: {error}") from None


#: What a station may report to its net, see Net.
NET_FACTS = ["version", "queue", "links", "heard"]


@dataclass
class Net:
    """Answers to hf console net, by a client of the station's own SIS server. Needs [sis_server].

    peers: addresses of stations that may ask. Default: nobody.
    facts: our answer to them, some of version, queue (octets that wait), links (their number) and
    heard (SNR and age of the last reception of each station).
    """

    peers: List[str] = field(default_factory=list)
    facts: List[str] = field(default_factory=lambda: list(NET_FACTS))

    def check(self) -> None:
        """Raise StationError for a wrong value."""
        if self.peers == ["*"]:
            raise StationError("[net] peers = ['*']: allowed are addresses of stations")
        self.peers = nodes_of("[net] peers", self.peers)
        for one in self.facts:
            if one not in NET_FACTS:
                raise StationError(f"[net] facts: '{one}': allowed are {', '.join(NET_FACTS)}")


@dataclass
class ModemServer:
    """Our modem for another maker's data link (110C Appendix A). The station has no data link.

    form: tcp or udp.
    address: to listen on. Anyone who reaches it can transmit.
    port: 0 for any free port.
    receiver_master: a transmission waits for the end of a reception.
    """

    form: str = "tcp"
    address: str = "127.0.0.1"
    port: int = whole_number(3000, 0, 65535)
    receiver_master: bool = True


@dataclass
class ModemClient:
    """Another maker's modem for our data link (110C Appendix A). The station has no modem.

    form: tcp or udp.
    host, port: of the modem. Set that modem to the station's mode.
    """

    form: str = "tcp"
    host: str = "127.0.0.1"
    port: int = whole_number(3000, 1, 65535)


@dataclass
class Ale:
    """Link establishment by 2G ALE. Channels have numbers from 0 on.

    addresses: own ALE addresses, the first names the station.
    frequencies_hz: of each channel, of the dial, whole Hz. On a simulated air only their number
    counts.
    peers: ALE address of each peer, by its STANAG 5066 address.
    nets: members of each net, in the order of their slots.
    scanned: channels that a station scans, by ALE address; 0: it hears all at once. Default: as
    many as this station has.
    wide: this station hears all its channels at once: on a simulated air, or an SDR whose sample
    rate covers them.
    settings: further settings (hf.ale_station.settings()).
    """

    addresses: List[str] = field(default_factory=list)
    frequencies_hz: List[float] = field(default_factory=list)
    peers: Dict[str, str] = field(default_factory=dict)
    nets: Dict[str, List[str]] = field(default_factory=dict)
    scanned: Dict[str, int] = field(default_factory=dict)
    wide: bool = False
    settings: Dict[str, float] = field(default_factory=dict)

    def check(self) -> None:
        """Raise StationError for missing or impossible keys."""
        if not self.addresses:
            raise StationError("[ale] 'addresses' is missing, for example addresses = [\"SAM\"]")
        if not 1 <= len(self.frequencies_hz) <= 100:
            raise StationError(f"[ale] frequencies_hz has {len(self.frequencies_hz)} channels: "
                               "allowed are 1 to 100")
        for hz in self.frequencies_hz:
            if hz != round(hz) or not 0 < hz <= 6e9:
                raise StationError(f"[ale] frequencies_hz = {hz}: allowed are whole Hz")


@dataclass
class Record:
    """SigMF recordings of everything that a station receives, with annotations.

    folder: for the files.
    file_s: length of each file, 10 to 86400.
    max_mb: total size, 1 to 1000000. The oldest files are deleted first.
    transmitted: also record transmissions, in separate files.
    """

    folder: str = place()
    file_s: int = whole_number(600, 10, 86400)
    max_mb: int = whole_number(2000, 1, 1000000)
    transmitted: bool = False

    def check(self) -> None:
        """Raise StationError without a folder."""
        if not self.folder:
            raise StationError("[record] needs folder, for example folder = \"recordings\"")


@dataclass
class Capture:
    """Capture files for Wireshark. Empty: none.

    d_pdu: D_PDUs on the air, both directions.
    sis: S_primitives of all clients.
    """

    d_pdu: str = place()
    sis: str = place()
