# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables [mail] and [[mail.route]] of a station file."""
from dataclasses import dataclass, field
import re
from typing import List

from .. import hf_python as _hf
from .station_tables import StationError, whole_number, check_loopback, nodes_of
from .tables import place


@dataclass
class MailRoute:
    """Mails for a domain, and how they go (a table [[mail.route]] for each).

    domain: of recipients. ".example" stands for everything below example, "*" for the rest.
    node: of the far gateway, or 31.255.255.255 (all nodes) or another group for broadcast.
    protocol: hmtp (SMTP in one block, an answer for each recipient), cftp (compressed), or
    broadcast (batch-SMTP without any answer).
    repeats: further copies of a broadcast.
    loss: instead of copies, a broadcast goes in erasure-coded blocks, with which 99.9 % of the
    receivers get a mail if this share of the transmissions is lost, in percent. Only gateways of
    this project read them (python3-zfec on both sides). 0: copies.
    interval_s: time between two transmissions of blocks.
    """

    domain: str = ""
    node: str = ""
    protocol: str = "hmtp"
    repeats: int = whole_number(2, 0, 15)
    loss: float = field(default=0.0, metadata={"range": (0, 90)})
    interval_s: float = field(default=30.0, metadata={"range": (0, 3600)})

    def check(self) -> None:
        """Raise StationError for a missing key or an unknown protocol."""
        for name, example in (("domain", "shore.example"), ("node", "1.2.0.2")):
            if not getattr(self, name):
                raise StationError(f"[[mail.route]] needs {name}, for example {name} = "
                                   f'"{example}"')
        if self.protocol not in MAIL_PROTOCOLS:
            raise StationError(f"[[mail.route]] protocol = '{self.protocol}': allowed are "
                               + ", ".join(MAIL_PROTOCOLS))
        group = _hf.s5066.address(self.node).is_group()
        if group != (self.protocol == "broadcast"):
            raise StationError(f"[[mail.route]] node = '{self.node}', protocol = "
                               f"'{self.protocol}': a group and broadcast belong together")
        self.domain = self.domain.lower()
        self.node = str(_hf.s5066.address(self.node))


#: Ways to carry mail, see MailRoute.
MAIL_PROTOCOLS = ["hmtp", "cftp", "broadcast"]


@dataclass
class Mail:
    """Mail gateway of a station, between a mail server and HF. Needs [sis_server].

    spool: folder for mails that wait.
    listen: where the mail server hands over mail for HF, by SMTP or LMTP. Loopback only.
    deliver: the mail server for mail from HF, "HOST:PORT".
    bounces: the mail server for bounces to senders of this side. Default: as deliver. It must
    relay them if senders of other domains use this gateway.
    domains: of this side. Others are refused over HF.
    peers: nodes that may send mail here, beside those of the routes. Empty: every node.
    name: of this gateway in HMTP and in headers. Default: the first of domains, or the address.
    route: far domains and their nodes.
    receive: protocols that other gateways may use. Default: hmtp and cftp. Broadcasts need SAP
    7, as hf receive does.
    hold_octets: longer mails wait for hf mail release.
    max_octets: longest mail.
    max_messages, max_octets_spooled: what the spool may hold. Beyond it mails are refused.
    retry_s, retry_max_s: first pause after a failure, and the longest. Each is twice the last.
    answer_s: longest wait for the far gateway's answer after its node has everything.
    expire_days: undelivered mails are returned after this time.
    """

    spool: str = place()
    listen: str = "127.0.0.1:2525"
    deliver: str = "127.0.0.1:25"
    bounces: str = ""
    domains: List[str] = field(default_factory=list)
    peers: List[str] = field(default_factory=list)
    name: str = ""
    route: List[MailRoute] = field(default_factory=list)
    receive: List[str] = field(default_factory=lambda: ["hmtp", "cftp"])
    hold_octets: int = whole_number(100_000, 0, 1 << 30)
    max_octets: int = whole_number(10_000_000, 1000, 1 << 30)
    max_messages: int = whole_number(10_000, 1, 1_000_000)
    max_octets_spooled: int = whole_number(1 << 30, 10_000, 1 << 40)
    retry_s: float = field(default=60.0, metadata={"range": (0.1, 86400)})
    retry_max_s: float = field(default=3600.0, metadata={"range": (0.1, 86400)})
    answer_s: float = field(default=1800.0, metadata={"range": (0.1, 86400)})
    expire_days: float = field(default=5.0, metadata={"range": (0.001, 365)})

    def check(self) -> None:
        """Raise StationError for a missing key or a wrong value."""
        if not self.spool:
            raise StationError('[mail] needs spool, for example spool = "/var/spool/hf-mail"')
        if not self.domains and not self.route:
            raise StationError("[mail] needs domains, [[mail.route]] or both")
        for one in self.receive:
            if one not in MAIL_PROTOCOLS:
                raise StationError(f"[mail] receive: '{one}': allowed are "
                                   + ", ".join(MAIL_PROTOCOLS))
        self.domains = [d.lower() for d in self.domains]
        for domain in self.domains:
            if not re.fullmatch(r"\.?[a-z0-9][a-z0-9.-]*", domain):
                raise StationError(f"[mail] domains: '{domain}': allowed are names, or a dot and "
                                   "a name for everything below it; a gateway for all domains "
                                   "would be an open relay")
        if self.name and not re.fullmatch("[A-Za-z0-9][A-Za-z0-9.-]{0,99}", self.name):
            raise StationError(f"[mail] name = '{self.name}': allowed is a host name")
        self.bounces = self.bounces or self.deliver
        for name in ("deliver", "bounces"):
            host, _, port = getattr(self, name).rpartition(":")
            if not host or not re.fullmatch("[0-9]{1,5}", port) or not 1 <= int(port) <= 65535:
                raise StationError(f"[mail] {name} = '{getattr(self, name)}': allowed is "
                                   "HOST:PORT")
        check_loopback("[mail] listen", self.listen, 2525)
        self.peers = nodes_of("[mail] peers", self.peers)
        for route in self.route:
            route.check()

    def hears(self, node: str) -> bool:
        """Whether a node may send mail here."""
        return not self.peers or node in self.peers or any(r.node == node for r in self.route)

    def gateway_name(self, address: str) -> str:
        """The name of the gateway. address: of the station."""
        return self.name or next((d for d in self.domains if not d.startswith(".")), "") \
            or f"node-{address.replace('.', '-')}"

    def protocols(self) -> List[str]:
        """Ways to receive or send mail, each of which takes a SAP."""
        return sorted({*self.receive, *(one.protocol for one in self.route)})
