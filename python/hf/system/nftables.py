# SPDX-License-Identifier: GPL-3.0-or-later
"""nftables and policy routing rules that divert TCP connections to the listeners of HF-PEP.

They use a table and a mark of their own, and can be removed without touching other rules.
"""
from dataclasses import dataclass, field
import ipaddress
from typing import Dict, List

TABLE = "hf_pep"
#: Mark and routing table of connections that TPROXY diverts.
MARK = 0x4846
ROUTING_TABLE = 5066


@dataclass
class Rules:
    """The connections to intercept.

    way: "redirect" (listener redirect:PORT) or "tproxy" (listener tproxy:PORT).
    port: of the listener.
    prefixes: destinations, IPv4 and IPv6.
    ports: destination ports, empty for all.
    own: include connections of this host itself.
    forwarded: include connections that it routes for others.
    """

    way: str
    port: int
    prefixes: List[str]
    ports: List[str] = field(default_factory=list)
    own: bool = True
    forwarded: bool = True

    def __post_init__(self) -> None:
        if self.way not in ("redirect", "tproxy"):
            raise ValueError(f"way '{self.way}': allowed are redirect and tproxy")
        if not 1 <= self.port <= 65535:
            raise ValueError(f"port {self.port}: allowed are 1 to 65535")
        if not self.prefixes:
            raise ValueError("no destination: name at least one prefix")
        self._families: Dict[str, List[str]] = {"ip": [], "ip6": []}
        for text in self.prefixes:
            try:
                network = ipaddress.ip_network(text)
            except ValueError as error:
                raise ValueError(f"prefix '{text}': {error}") from None
            self._families["ip" if network.version == 4 else "ip6"].append(str(network))
        for text in self.ports:
            parts = text.split("-")
            if len(parts) > 2 or not all(x.isdigit() and 1 <= int(x) <= 65535 for x in parts):
                raise ValueError(f"port '{text}': allowed are PORT and FIRST-LAST")

    def _matches(self) -> Dict[str, str]:
        """The condition of each address family that has prefixes."""
        # Do not intercept connections to the listener itself.
        ports = f"tcp dport {{ {', '.join(self.ports)} }} " if self.ports else ""
        return {family: f"{family} daddr {{ {', '.join(prefixes)} }} "
                        f"tcp dport != {self.port} {ports}"
                for family, prefixes in self._families.items() if prefixes}

    def text(self) -> str:
        """Input for nft -f. Loading it again replaces the earlier rules."""
        chains = []
        matches = self._matches()
        if self.way == "redirect":
            lines = [f"    {m}redirect to :{self.port}" for m in matches.values()]
            if self.own:
                chains.append(("output", "type nat hook output priority -100;", lines))
            if self.forwarded:
                chains.append(("prerouting", "type nat hook prerouting priority -100;", lines))
        else:
            take = [f"    {m}tproxy {family} to :{self.port} meta mark set {MARK:#x} accept"
                    for family, m in matches.items()]
            chains.append(("prerouting", "type filter hook prerouting priority -150;", take))
            if self.own:
                # The mark routes them to the loopback, where the prerouting chain sees them.
                lines = [f"    {m}meta mark set {MARK:#x}" for m in matches.values()]
                chains.append(("output", "type route hook output priority -150;", lines))
        body = "".join(f"  chain {name} {{\n    {hook}\n" + "\n".join(lines) + "\n  }\n"
                       for name, hook, lines in chains)
        return (f"table inet {TABLE}\ndelete table inet {TABLE}\n"
                f"table inet {TABLE} {{\n{body}}}\n")

    def set_up(self) -> List[List[str]]:
        """Commands besides nft: routes for TPROXY. Empty for redirect."""
        return self._routing("add") if self.way == "tproxy" else []

    def take_down(self) -> List[List[str]]:
        """Commands that remove everything."""
        remove = [["nft", "delete", "table", "inet", TABLE]]
        return remove + (self._routing("del") if self.way == "tproxy" else [])

    def _routing(self, what: str) -> List[List[str]]:
        commands = []
        for option, family, everything in (("-4", "ip", "0.0.0.0/0"), ("-6", "ip6", "::/0")):
            if self._families[family]:
                commands += [["ip", option, "rule", what, "fwmark", hex(MARK), "lookup",
                              str(ROUTING_TABLE)],
                             ["ip", option, "route", what, "local", everything, "dev", "lo",
                              "table", str(ROUTING_TABLE)]]
        return commands
