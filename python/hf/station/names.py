# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of stations, for people: they think of names, not of STANAG 5066 addresses."""
import re
from typing import TYPE_CHECKING, Dict, Optional

from .. import hf_python as _hf

if TYPE_CHECKING:
    from .. import station

_ADDRESS = re.compile(r"(?<![\w.])(\d{1,2}\.\d{1,3}\.\d{1,3}\.\d{1,3})(?![\w.]*\d)")


class Names:
    """Names by address: of the table [names], else the first call sign in [host.calls], else the
    ALE address in [ale.peers]."""

    def __init__(self, d: "Optional[station.Description]" = None) -> None:
        self._names: Dict[str, str] = {}
        self._addresses: Dict[str, str] = {}
        if d is None or not d.address:
            return
        ale = [(name, node) for node, name in d.ale.peers.items()] if d.ale else []
        calls = list(d.host.calls.items()) if d.host else []
        for name, node in [*d.names.items(), *calls, *ale]:
            node = str(_hf.s5066.address(node))
            self._names.setdefault(node, name)
            self._addresses.setdefault(name.casefold(), node)

    def of(self, address: str) -> str:
        """Name and address; the address alone without a name."""
        name = self._names.get(address)
        return f"{name} ({address})" if name else address

    def in_text(self, text: str) -> str:
        """A line for a person: names instead of addresses."""
        return _ADDRESS.sub(lambda found: self._names.get(found[1], found[1]), text) \
            if self._names else text

    def address(self, text: str) -> str:
        """The address of a name; any other text as it is."""
        return self._addresses.get(text.strip().casefold(), text)


def check(names: Dict[str, str]) -> None:
    """Raise ValueError for a wrong entry of a table [names]."""
    for name, node in names.items():
        if not re.fullmatch(r"[\w-]{1,24}", name):
            raise ValueError(f"[names] {name!r}: allowed are 1 to 24 letters, digits and -")
        try:
            group = _hf.s5066.address(node).is_group()
        except ValueError as error:
            raise ValueError(f"[names] {name}: {error}") from None
        if group:
            raise ValueError(f"[names] {name} = {node!r}: is a group, allowed are stations")
