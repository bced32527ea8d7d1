# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a page will take, before it is asked for."""
from typing import Any, Callable, Iterable, Tuple

from .. import hf_python as _hf
from .library import Library

#: Octets of an answer for a page that is not known: the medians of 89 stored pages for text, and
#: with ten small pictures (laboratory/results/measurements/web.md).
#: Of a page as it is: the median of 45.
UNKNOWN = {"text": 7_000, "pictures": 50_000, "as it is": 223_000}
#: Octets of a request with its headers, and seconds of the shore station for fetching.
REQUEST_OCTETS, FETCH_S = 120, 1.0
#: Share of the data rate that a stream gets.
SHARE = 0.95


class Estimate:
    """Seconds for pages at the mode in which the link last sent, or at the station's."""

    def __init__(self, library: Library, mode_name: Callable[[], str]) -> None:
        self._library, self._mode_name = library, mode_name

    def octets(self, url: str, mode: str, budget: int) -> int:
        """Octets of the answer: of the last time, of the site's last page, or of a median page.
        budget: most octets in units of 1000, 0 without limit."""
        octets = self._library.size(url, mode) or UNKNOWN[mode]
        return min(octets, budget * 1000) if budget and mode != "as it is" else octets

    def seconds(self, octets: int) -> float:
        """Seconds from the request to the last of so many octets."""
        return seconds(self._mode_name(), [(REQUEST_OCTETS, octets)])

    def rate_bps(self) -> int:
        """The data rate used for the estimate, bit/s."""
        return int(_hf.mode(self._mode_name()).rate_bps)


def seconds(mode_name: str, exchanges: Iterable[Tuple[int, int]], fetch_s: float = FETCH_S
            ) -> float:
    """Seconds of exchanges in a mode, one after another. exchanges: octets of each request and of
    its answer. fetch_s: from a request to its answer."""
    mode = _hf.mode(mode_name)
    return sum(_air_s(mode, request) + fetch_s + _air_s(mode, int(answer / SHARE))
               for request, answer in exchanges)


def _air_s(mode: Any, octets: int) -> float:
    """Time of a transmission of so many octets."""
    timing = _hf.timing(mode)
    blocks = 1
    per_block = timing.octets_in(101) - timing.octets_in(100)
    while timing.octets_in(blocks) < octets:
        missing = octets - timing.octets_in(blocks)
        blocks += max(1, int(missing / max(per_block, 1)))
    return float(timing.block_begin(blocks))


def mode_of(station: Any) -> str:
    """The mode in which a station last sent, or its fastest."""
    link = station.data_link
    name = link.state().tx_mode if link is not None else ""
    return str(name or _hf.fastest_mode(station.description.mode))
