# SPDX-License-Identifier: GPL-3.0-or-later
"""Several users of one door at once: a page for each, and then all the same page."""
import statistics
import time
from typing import Dict, Iterator, List, NamedTuple, Tuple

from gnuradio.hf.web import estimate
from gnuradio.hf.web.views import View
from . import door, kernel


class _Read(NamedTuple):
    """What a user saw, station time after asking. waited_s: in the queue of the door. first_s,
    all_s: until the first text and the end. before: octets of others that had come until then."""

    waited_s: float
    first_s: float
    all_s: float
    before: int


def _read(bench: door.Bench, pages: List[Tuple[str, str]]) -> Dict[str, _Read]:
    """Let users ask for a page each, one after another without a pause. pages: user and page."""
    now, begin = bench.pair.now, bench.pair.now()
    views: Dict[str, View] = {user: bench.ask(name, user) for user, name in pages}
    waited: Dict[str, float] = {}
    first: Dict[str, Tuple[float, int]] = {}
    ended: Dict[str, float] = {}
    end = time.monotonic() + 600
    while len(ended) < len(views):
        at = now() - begin
        for user, view in views.items():
            if not view.place:
                waited.setdefault(user, at)
            if view.sections.get("T") and user not in first:
                first[user] = at, sum(v.octets for v in set(views.values()) - {view})
            if view.done and user not in ended:
                ended[user] = at
                if view.error:
                    raise RuntimeError(f"{user}: {view.error}")
        if time.monotonic() > end:
            raise RuntimeError("not in time")
        time.sleep(0.002)
    return {u: _Read(waited.get(u, 0.0), first[u][0], ended[u], first[u][1]) for u in views}


def users(folder: str, pages: List[str], rate_bps: int = 9600) -> Iterator[door.Row]:
    """As many users as pages, a page each, and then all the first one. Raises RuntimeError if a
    page does not arrive.

    The target for the first text of each is 1.5 times that of the page alone, and the queue: the
    time in which the door holds the page back, and that of the octets that others got before.
    """
    names = [f"user{k + 1}" for k in range(len(pages))]
    alone = {}
    for name in pages:
        with door.Bench(folder, rate_bps, 1.0) as bench:
            alone[name] = door._whole(bench.load(name, "text", "alone"))
    with door.Bench(folder, rate_bps, 1.0, several=True) as bench:
        kernel.rest(bench.pair, 5)
        found = _read(bench, list(zip(names, pages)))
        for user, name in zip(names, pages):
            one, limit = found[user], 1.5 * alone[name].first_s
            others_s = 8 * one.before / estimate.SHARE / rate_bps
            queue = max(one.waited_s, others_s)
            yield door.Row(f"{user}, {name}: first text; alone {alone[name].first_s:.1f} s, "
                           f"waits {one.waited_s:.1f} s for its turn, {one.before / 1000:.1f} kB "
                           "of others before", "-", f"{one.first_s:.1f} s",
                           f"<= {limit + queue:.1f} s", one.first_s <= limit + queue)
        total, each = max(r.all_s for r in found.values()), [r.all_s for r in alone.values()]
        yield door.Row(f"all {len(pages)} pages at once; one after another {sum(each):.0f} s", "-",
                       f"{total:.0f} s", f"<= {sum(each):.0f} s", total <= sum(each))
        kernel.rest(bench.pair, 40)
        link = bench.pair.stations["B"].data_link
        before = link.stats()["transmissions"]
        again = [_read(bench, [(user, pages[0])])[user] for user in names[1:]]
        turns = link.stats()["transmissions"] - before
        yield door._row(f"{len(again)} more users of {pages[0]}: turns of the shore station", "-",
                        turns, "turns", 1)
        yield door.Row("the same: first text, median", "-",
                       f"{statistics.median(r.first_s for r in again):.2f} s", "-", True)
