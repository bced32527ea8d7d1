# SPDX-License-Identifier: GPL-3.0-or-later
"""A report on a site made for HF: nine published rules and four of ours, what costs most, and how
long the page takes.

The published rules are the seven recommendations for sites in "Measuring and Analysing HF-PEP for
TCP communication and Web Browsing over HF" (Isode), of which two say two things each. They have
few numbers. The paper counts 1 kB as a second at 9600 bit/s, and names pages of 10 kB as what
loads well. All limits here follow from these two.
"""
import asyncio
import ipaddress
import os
import re
import socket
from typing import Any, Dict, List, NamedTuple, Optional, Tuple
from urllib.parse import quote, urlsplit

from ..gui.words import amount
from . import fetch, site
from .estimate import FETCH_S, REQUEST_OCTETS, SHARE, seconds
from .pages import WAYS
from .shore import FEW_WORDS

#: Modes of the estimates, by rate in bit/s.
RATES = {9600: "4539-9600S", 1200: "4539-1200S"}
#: Largest page with all its files, and what takes a second at 9600 bit/s.
PAGE, SECOND = 10_000, 1_000
#: Links to these are documents to download.
_DOCUMENT = re.compile(r"\.(?:pdf|zip|gz|docx?|xlsx?|pptx?|od[tsp]|jpe?g|png|gif|webp|tiff?|mp3|"
                       r"mp4|wav|grib2?|grb2?)$", re.IGNORECASE)
_SIZE = re.compile(r"\d\s*(?:octets|bytes|[kKM]i?B)\b")
_TEXT = ("text/", "application/json", "application/javascript", "image/svg+xml")


class Verdict(NamedTuple):
    """What became of a rule. passed: None if it cannot be measured in a folder, or does not apply.
    published: else the rule is ours."""

    rule: str
    passed: Optional[bool]
    measured: str
    reason: str
    published: bool


class Cost(NamedTuple):
    """A thing that costs air time. octets: through HF-PEP."""

    what: str
    octets: int


class Way(NamedTuple):
    """How a reader gets the page. exchanges: of which each needs the one before. seconds: by rate
    in bit/s."""

    name: str
    octets: int
    exchanges: int
    seconds: Dict[int, float]


class Report(NamedTuple):
    """What is known of a page. costs: the costliest first. missing: addresses of files that did
    not come, with the reason."""

    url: str
    verdicts: List[Verdict]
    costs: List[Cost]
    ways: List[Way]
    missing: List[Tuple[str, str]]

    def json(self) -> Dict[str, Any]:
        """The report as an object of JSON."""
        return {"url": self.url, "rules": [v._asdict() for v in self.verdicts],
                "costs": [{**c._asdict(), "seconds": {r: round(t, 1) for r, t in
                                                      seconds_of(c).items()}} for c in self.costs],
                "ways": [w._asdict() for w in self.ways],
                "missing": [{"url": url, "why": why} for url, why in self.missing]}


def seconds_of(cost: Cost) -> Dict[int, float]:
    """Seconds that a page would take less without a thing, by rate in bit/s."""
    return {rate: 8 * cost.octets / SHARE / rate for rate in RATES}


async def check(where: str) -> Report:
    """Look at a page. where: its address, or a file or folder of this machine. Only public
    addresses are fetched from, and those of the host that was named. Raises FetchError."""
    if os.path.exists(where):
        path = os.path.realpath(where)
        folder, name = (path, "") if os.path.isdir(path) else os.path.split(path)
        return _report(await site.load(f"http://{site.FOLDER}/{quote(name)}",
                                       site.Source([], folder)))
    host = urlsplit(where if "://" in where else "//" + where).hostname or ""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None)
    except (OSError, UnicodeError):
        raise fetch.FetchError(f"{where}: no such file, folder or host") from None
    addresses = {str(ipaddress.ip_network(str(at[0]).partition("%")[0]))
                 for family, _, _, _, at in found if family in (socket.AF_INET, socket.AF_INET6)}
    return _report(await site.load(where, site.Source(sorted(addresses))))


def _report(s: site.Site) -> Report:
    files = [f for f in s.files[1:] if f.got is not None]
    costs = [Cost(f"{f.kind} {f.url}", f.air) for f in files]
    costs += [Cost(name, octets) for name, octets in site.parts_of(s) if octets]
    costs.sort(key=lambda cost: -cost.octets)
    ways = [_way(f"through the door, {name}", [(REQUEST_OCTETS, s.door[mode])], FETCH_S)
            for mode, name in WAYS.items() if mode in s.door]
    ways.append(_way("as it is, through HF-PEP", s.exchanges(), 0))
    return Report(s.address, [*_published(s, files), *_ours(s, files)], costs, ways,
                  [(f.url, f.error) for f in s.files if f.got is None])


def _way(name: str, exchanges: List[Tuple[int, int]], fetch_s: float) -> Way:
    return Way(name, sum(answer for _, answer in exchanges), len(exchanges),
               {rate: round(seconds(mode, exchanges, fetch_s), 1)
                for rate, mode in RATES.items()})


def _names(files: List[site.File]) -> str:
    """Some files in words."""
    names = [f.url.rpartition("/")[2][:40] or f.url[:60] for f in files[:3]]
    return ", ".join(names) + (f" and {len(files) - 3} more" if len(files) > 3 else "")


def _published(s: site.Site, files: List[site.File]) -> List[Verdict]:
    page = s.files[0]
    is_web = urlsplit(s.address).hostname != site.FOLDER
    hosts = sorted({urlsplit(f.url).netloc for f in s.files})
    # Files whose request costs more than they hold.
    small = [f for f in files if f.got and len(f.got.body) <
             f.got.sent - len(f.got.body) + REQUEST_OCTETS]
    blocking = [f for f in s.files[1:] if f.blocks]
    heavy = [f for f in files if f.kind in ("picture", "object", "frame") and f.air > SECOND]
    links = [(a, " ".join(a.itertext()) + (a.tail or "")) for a in s.root.iter("a")
             if _DOCUMENT.search(urlsplit(a.get("href") or "").path)]
    unnamed = [a for a, text in links if not _SIZE.search(text)]
    near = [f for f in s.neighbours if f.got is not None]
    large = [f for f in near if f.air > PAGE]

    def verdict(rule: str, passed: Optional[bool], measured: str, reason: str) -> Verdict:
        return Verdict(rule, passed, measured, reason, True)

    return [
        verdict("little data", s.air() <= PAGE, f"{amount(s.air())} of at most {amount(PAGE)}",
                "1 kB takes a second at 9600 bit/s, and eight at 1200."),
        verdict("no TLS", page.url.startswith("http:") if is_web else None,
                urlsplit(page.url).scheme if is_web else "a folder",
                "TLS costs an exchange before the first octet, and nobody on the ship can share "
                "or compress what it hides. The door ends TLS ashore; HF-PEP does not."),
        verdict("one host", len(hosts) == 1, ", ".join(hosts[:4]) + (", ..." if hosts[4:] else ""),
                "Each further name is a question of DNS and a connection of its own."),
        verdict("few files", len(s.files) <= 1 + site.CONNECTIONS,
                f"{len(s.files)} of at most {1 + site.CONNECTIONS}",
                "A browser asks for six files of a host at once. More of them wait for a turn."),
        verdict("no small files", len(small) <= 1,
                f"{len(small)} with less in them than asking costs"
                + (f": {_names(small)}" if small else ""),
                "A small file costs more for its request and headers than for what is in it."),
        verdict("the core comes first", len(blocking) <= 1,
                f"{len(blocking)} files before anything is shown"
                + (f": {_names(blocking)}" if blocking else ""),
                "A browser shows nothing before the styles and scripts in the head are there."),
        verdict("pictures apart", not heavy,
                f"{len(heavy)} files of more than {amount(SECOND)} load by themselves"
                + (f": {_names(heavy)}" if heavy else ""),
                "A link lets the reader decide whether a picture is worth its time."),
        verdict("links tell sizes", not unnamed if links else None,
                f"{len(unnamed)} of {len(links)} links to documents do not",
                "Who does not know the size cannot know how long it will take."),
        verdict("pages of moderate size", (page.air <= PAGE and not large),
                f"{amount(page.air)}, and {len(large)} of {len(near)} others are larger than "
                f"{amount(PAGE)}", "Many pages of a few kB let a reader stop in between.")]


def _ours(s: site.Site, files: List[site.File]) -> List[Verdict]:
    is_web = urlsplit(s.address).hostname != site.FOLDER
    got = [(f, f.got) for f in [s.files[0], *files] if f.got is not None]
    led = [f for f, g in got if g.redirects]
    plain = [f for f, g in got if g.kind.startswith(_TEXT) and len(g.body) > SECOND
             and "content-encoding" not in g.headers]
    fresh = [f for f, g in got if not {"etag", "last-modified"} & set(g.headers) and "max-age"
             not in g.headers.get("cache-control", "") and "expires" not in g.headers]
    scripted = s.page.words < FEW_WORDS and next(s.root.iter("script"), None) is not None

    def verdict(rule: str, bad: List[site.File], measured: str, reason: str) -> Verdict:
        return Verdict(rule, not bad if is_web else None, measured + (
            f": {_names(bad)}" if bad and is_web else "") if is_web else "a folder", reason, False)

    return [
        verdict("no redirects", led, f"{len(led)} addresses lead elsewhere",
                "Each redirect is an exchange that brings nothing."),
        verdict("compressed", plain, f"{len(plain)} texts are not",
                "Text shrinks to a third. HF-PEP compresses too, but not what TLS hides."),
        verdict("can be kept", fresh, f"{len(fresh)} without max-age, ETag or Last-Modified",
                "A browser then loads a file again that has not changed."),
        Verdict("readable without scripts", not scripted, f"{s.page.words} words without them",
                "A page that builds itself needs all its scripts before the first word.", False)]
