# SPDX-License-Identifier: GPL-3.0-or-later
"""Stored pages through the web door: the first text, the whole, octets and turns on the air.

The shore side reads from a folder instead of the internet. Pages come from hf web store, or any
folder of HTML documents. A picture that is not stored is replaced by a generated one.
"""
from collections import Counter
import hashlib
import html
import io
import os
import re
import statistics
import tempfile
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import brotli
import numpy as np
from PIL import Image

from gnuradio.hf import station
from gnuradio.hf.station import pair
from gnuradio.hf.web import fetch, markup, reduce, wire
from gnuradio.hf.web import users as users_of_door
from gnuradio.hf.web.service import WebService
from gnuradio.hf.web.store import picture_name
from gnuradio.hf.web.views import View
from ..link import papers, papers_more, papers_report
from ..link.papers import MODES
from . import kernel, site

#: Hosts of stored pages end with this.
HOST = "stored.example"
#: Size of a picture that stands in for one that is not stored.
STAND_IN = (640, 480)
#: Longest load that is waited for, station time, s.
LIMIT_S = 3600.0


class Folder(fetch.Fetcher):
    """Fetches from a folder: FOLDER/NAME.html is https://NAME.stored.example/. Pictures lie in
    FOLDER/NAME.files, as hf web store writes them.

    changed: octets by name of page that replace the stored ones.
    """

    def __init__(self, folder: str) -> None:
        super().__init__([])
        self.folder = folder
        self.changed: Dict[str, bytes] = {}
        self.stand_ins = 0

    async def get(self, url: str, most: int, form: Optional[bytes] = None, accept: str = "*/*"
                  ) -> fetch.Fetched:
        """A stored page or picture. Raises FetchError for a page that is not stored."""
        if accept.startswith("image"):
            return fetch.Fetched(url, 200, "image/jpeg", None, self._picture(url), False)
        name = url.partition("://")[2].partition(f".{HOST}")[0]
        path = os.path.join(self.folder, os.path.basename(name) + ".html")
        try:
            with open(path, "rb") as file:
                body = self.changed.get(name) or file.read(most)
        except OSError as error:
            raise fetch.FetchError(f"{path}: {error.strerror}") from None
        return fetch.Fetched(url, 200, "text/html", None, body, False)

    def _picture(self, url: str) -> bytes:
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name, picture_name(url))
            if name.endswith(".files") and os.path.exists(path):
                with open(path, "rb") as file:
                    return file.read()
        self.stand_ins += 1
        return stand_in(url)


def stand_in(url: str) -> bytes:
    """A JPEG with the statistics of a photograph: noise whose spectrum falls with 1/f."""
    seed = int.from_bytes(hashlib.sha256(url.encode()).digest()[:4], "big")
    random = np.random.default_rng(seed)
    width, height = STAND_IN
    fx, fy = np.fft.fftfreq(width)[None, :], np.fft.fftfreq(height)[:, None]
    falling = 1 / np.maximum(np.hypot(fx, fy), 1 / width) ** 1.1
    planes = []
    for _ in range(3):
        noise = np.fft.ifft2(np.fft.fft2(random.standard_normal((height, width))) * falling).real
        planes.append(np.clip(128 + 50 * noise / noise.std(), 0, 255))
    grey = planes[0]
    picture = np.stack([0.85 * grey + 0.15 * p for p in planes], axis=2).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(picture).save(out, "JPEG", quality=85)
    return out.getvalue()


class Load(NamedTuple):
    """One page load. first_s, all_s: from the request to the first text and to the end, station
    time. octets: of the answer. on_air: in D_PDUs of both stations. turns: transmissions of the
    shore station. error: empty if it arrived whole."""

    name: str
    rate_bps: int
    how: str
    first_s: float
    all_s: float
    octets: int
    on_air: int
    turns: int
    pictures: int
    error: str


class Bench:
    """Two stations with a door and its shore side, as a context manager.

    folder: of stored pages. rate_bps: of the link, one of MODES. speed: multiple of real time; the
    work of both sides takes its share of it. several: the door has users.
    """

    def __init__(self, folder: str, rate_bps: int, speed: float = 4.0,
                 channel: Optional[str] = None, several: bool = False) -> None:
        self.rate_bps, self._several = rate_bps, several
        self._services: Dict[str, WebService] = {}
        self._store = tempfile.TemporaryDirectory(prefix="hf-web-")
        self.fetcher = Folder(folder)
        self.pair = pair.Pair(pair.Setting(
            mode=MODES[rate_bps], emulated=channel is None, channel=channel or "clear",
            speed=speed), False, self._describe)

    def _describe(self, name: str, d: station.Description) -> None:
        users = os.path.join(self._store.name, "users") if self._several else ""
        if users and name == "A":
            users_of_door.save(users, "user", "a long password")
        d.web = station.Web(node=pair.NODES["B"], listen="127.0.0.1:0", folder=self._store.name,
                            users=users) if name == "A" else \
            station.Web(role="shore", peers=[pair.NODES["A"]])
        self._services[name] = WebService(d)
        if name == "B":
            self._services[name].shore.fetcher = self.fetcher

    def __enter__(self) -> "Bench":
        self.pair.__enter__()
        for name, service in self._services.items():
            service.attach(self.pair.stations[name], lambda line: None)
        return self

    def __exit__(self, *_: object) -> None:
        for service in self._services.values():
            service.close()
        self.pair.__exit__()
        self._store.cleanup()

    @property
    def door(self) -> str:
        """Address of the door."""
        return self._services["A"].url

    def ask(self, name: str, user: str) -> View:
        """Let a user ask for the text of a stored page, unless it is kept."""
        return self._services["A"].ask(f"https://{name}.{HOST}/", "text", 0, user, False)

    def load(self, name: str, mode: str, how: str, budget: int = 0) -> Load:
        """Load a stored page as a reader does, after all is quiet."""
        kernel.rest(self.pair, 5)
        link = self.pair.stations["B"].data_link
        turns, octets = link.stats()["transmissions"], self.pair.octets_over_hf()
        begin = self.pair.now()
        view = self._services["A"].ask(f"https://{name}.{HOST}/", mode, budget)
        first = 0.0
        end = time.monotonic() + 600
        while not view.done:
            if view.sections.get("T") and not first:
                first = self.pair.now() - begin
            if self.pair.now() - begin > LIMIT_S or time.monotonic() > end:
                return Load(name, self.rate_bps, how, first, LIMIT_S, view.octets, 0, 0,
                            len(view.pictures), "not in time")
            time.sleep(0.002)
        took = self.pair.now() - begin
        turns = link.stats()["transmissions"] - turns
        kernel.rest(self.pair, 5)
        return Load(name, self.rate_bps, how, first or took, took, view.octets,
                    self.pair.octets_over_hf() - octets, turns, len(view.pictures), view.error)


#: Published seconds until the first text and until all, by rate, for a Wikipedia article and for
#: a news or company site (loaded in part), and ours to reach.
PUBLISHED = {("article", 9600): (170, 510), ("news", 9600): (300, 600),
             ("article", 57600): (40, 150), ("news", 57600): (40, 150),
             ("article", 240000): (18, 74), ("news", 240000): (18, 74)}
TARGETS = {("article", 9600): (30, 150), ("news", 9600): (15, 60),
           ("article", 57600): (10, 30), ("news", 57600): (10, 30),
           ("article", 240000): (4, 9), ("news", 240000): (4, 9)}
#: Station time goes at this multiple of real time, so that fetching and reducing a page counts.
SPEED = {9600: 4.0, 57600: 2.0, 240000: 1.0, 1200: 8.0}


class Row(NamedTuple):
    """A line of the table: what, the published value, ours, the target, and whether it is met."""

    what: str
    published: str
    ours: str
    target: str
    met: bool


def _row(what: str, published: str, value: float, unit: str, most: float) -> Row:
    return Row(what, published, f"{value:.1f} {unit}" if unit == "s" else f"{value:.0f} {unit}",
               f"<= {most:g} {unit}", value <= most)


def loads(folder: str, pages: Dict[str, List[str]], rates: Tuple[int, ...]) -> Iterator[Row]:
    """Whole pages with small pictures, each from an empty cache and without a link.

    pages: names of stored pages by kind, article or news. Raises RuntimeError for a page that
    does not arrive.
    """
    for rate in rates:
        for kind, names in pages.items():
            for name in names:
                with Bench(folder, rate, SPEED[rate]) as bench:
                    found = _whole(bench.load(name, "pictures", "first visit"))
                published, target = PUBLISHED[kind, rate], TARGETS[kind, rate]
                what = f"{rate} bit/s, {kind} {name}"
                yield _row(f"{what}: first text", f"{published[0]} s", found.first_s, "s",
                           target[0])
                yield _row(f"{what}: all, {found.pictures} pictures, {found.octets / 1000:.0f} kB",
                           f"{published[1]} s", found.all_s, "s", target[1])


def _whole(load: Load) -> Load:
    if load.error:
        raise RuntimeError(f"{load.name} at {load.rate_bps} bit/s: {load.error}")
    return load


def later_visits(folder: str, name: str) -> Iterator[Row]:
    """A second visit to a page at 9600 bit/s: unchanged, and changed a little."""
    with Bench(folder, 9600, 1.0) as bench:
        _whole(bench.load(name, "pictures", "first visit"))
        again = _whole(bench.load(name, "pictures", "unchanged"))
        request = wire.encode_request(wire.Request(f"https://{name}.{HOST}/", "pictures", 0,
                                                   b"12345678", True))
        yield _row(f"second visit of {name}, unchanged: request and answer", "-",
                   len(request) + again.octets, "octets", 100)
        yield _row("the same: turns", "-", again.turns, "turns", 1)
        yield Row("the same: octets of all D_PDUs of both stations, their fill included", "-",
                  f"{again.on_air} octets", "-", True)
        with open(os.path.join(folder, name + ".html"), "rb") as file:
            old = file.read()
        place = old.find(b"<p", len(old) // 2)
        bench.fetcher.changed[name] = old[:place] + \
            b"<p>A paragraph that was not there before, about the weather of today.</p>" + \
            old[place:]
        changed = _whole(bench.load(name, "pictures", "changed"))
        yield _row("one paragraph more: answer", "-", changed.octets, "octets", 2000)


def slow_text(folder: str, name: str) -> Iterator[Row]:
    """The text of a page at 1200 bit/s."""
    with Bench(folder, 1200, SPEED[1200]) as bench:
        found = _whole(bench.load(name, "text", "first visit"))
    yield _row(f"1200 bit/s, text of {name}, {found.octets / 1000:.1f} kB", "-", found.all_s, "s",
               60)


def _store_site(folder: str) -> None:
    """Write the made-up site of the papers' tables as hf web store writes one, named site."""
    files = site.site()
    with open(os.path.join(folder, "site.html"), "wb") as file:
        file.write(files[site.HOSTS[0]]["/"][1])
    os.mkdir(os.path.join(folder, "site.files"))
    for path, (kind, data) in files[site.HOSTS[1]].items():
        if kind.startswith("image"):
            name = picture_name(f"https://{site.HOSTS[1]}{path}")
            with open(os.path.join(folder, "site.files", name), "wb") as file:
                file.write(data)


def published_site(recorded: Optional[str], rates: Tuple[int, ...]) -> Iterator[Row]:
    """The site of the papers' tables through the door, beside each published cell of a load
    through HF-PEP and beside what it took as it is. recorded: folder with real.csv of hf-lab bench
    papers, or None. Raises RuntimeError if the site does not arrive."""
    cells = [c for c in papers.cells() if c.table == "web, site" and c.detail.startswith("HF-PEP")
             and c.bit_rate in rates and c.published is not None]
    rows = papers_report.rows(cells, recorded)
    as_it_is = {r.cell.number: r.ours for r in [*rows, *papers_more.derived(cells, rows)]}
    for rate in rates:
        with tempfile.TemporaryDirectory(prefix="hf-web-") as folder:
            _store_site(folder)
            with Bench(folder, rate, SPEED[rate]) as bench:
                found = _whole(bench.load("site", "pictures", "first visit"))
        for cell in cells:
            if cell.bit_rate == rate and cell.published is not None:
                begin = "initial" in cell.metric or "partial" in cell.metric
                plain = as_it_is.get(cell.number)
                what = f"{cell.detail[8:] or 'first table'}, {cell.metric}"
                before = f"{plain:.0f} s" if plain else "-"
                yield _row(f"cell {cell.number}, {rate} bit/s, {what}; as it is {before}",
                           f"{cell.published:g} s", found.first_s if begin else found.all_s, "s",
                           cell.published)


def names(folder: str, least: int = 30_000) -> List[str]:
    """Stored pages of at least so many octets, by name."""
    return sorted(n[:-5] for n in os.listdir(folder) if n.endswith(".html")
                  and os.path.getsize(os.path.join(folder, n)) >= least)


class Reduced(NamedTuple):
    """What a page became. octets: of the document. main, all: compressed octets of the main text,
    and of all text with links. words_kept, placed: share of the words that a judge finds in the
    document and that are anywhere in the answer, and that the judge finds in it again."""

    name: str
    octets: int
    main: int
    all: int
    words_kept: Optional[float]
    placed: Optional[float]


def reduced(folder: str, name: str, judge: Any = None) -> Reduced:
    """Reduce a stored page. judge: the module trafilatura, or None."""
    with open(os.path.join(folder, name + ".html"), "rb") as file:
        document = file.read()
    page = reduce.reduce(document, f"https://{name}.{HOST}/")
    parts = ["\n".join(lines).encode("utf-8", "replace") for lines in
             (page.main, page.main_links, page.rest, page.rest_links)]
    sizes = [len(brotli.compress(part)) for part in parts]
    kept = placed = None
    if judge is not None:
        there = _words(judge.extract(document.decode("utf-8", "replace"), include_tables=True))
        ours = (f"<html><head><title>{markup.escape(page.title)}</title></head><body><article>"
                + parts[0].decode() + "</article>" + parts[2].decode() + "</body></html>")
        # Elements of a line do not part words, as in a link within a word or a Chinese sentence.
        inline = "|".join(sorted(set(markup.INLINE.values())))
        text = re.sub(f"</?(?:{inline})>", "", ours)
        anywhere = _words(html.unescape(re.sub("<[^>]*>", " ", text)))
        again = _words(judge.extract(ours, include_tables=True))
        whole = max(1, sum(there.values()))
        kept = 1 - sum((there - anywhere).values()) / whole
        placed = 1 - sum((there - again).values()) / whole
    return Reduced(name, len(document), sizes[0], sum(sizes), kept, placed)


def _words(text: Optional[str]) -> "Counter[str]":
    return Counter(re.findall(r"\w+", text or ""))


def text_rows(found: List[Reduced]) -> Iterator[Row]:
    """What became of all pages, in the words of the table."""
    count = len(found)
    yield Row(f"{count} pages: median document", "-",
              f"{statistics.median(r.octets for r in found) / 1000:.0f} kB", "-", True)
    yield Row("its main text, and all text with links, compressed", "-",
              f"{statistics.median(r.main for r in found) / 1000:.1f} and "
              f"{statistics.median(r.all for r in found) / 1000:.1f} kB", "-", True)
    judged = [r for r in found if r.words_kept is not None and r.placed is not None]
    if judged:
        kept = [r.words_kept or 0.0 for r in judged]
        good = sum(k >= 0.98 for k in kept)
        yield Row("words that trafilatura finds: median kept", "-",
                  f"{100 * statistics.median(kept):.1f} %", ">= 100 %",
                  statistics.median(kept) >= 0.9995)
        yield Row("pages with 98 % of these words", "-", f"{good} of {len(judged)}",
                  f">= {len(judged)}", good == len(judged))
        again = sum((r.placed or 0.0) >= 0.98 for r in judged)
        yield Row("pages where trafilatura finds them again in the reduced page", "-",
                  f"{again} of {len(judged)}", "-", True)


def table(rows: List[Row]) -> str:
    """Rows as a Markdown table."""
    lines = ["| what | published | ours | target | met |", "|---|---|---|---|---|"]
    lines += [f"| {r.what} | {r.published} | **{r.ours}** | {r.target} | "
              f"{'-' if r.target == '-' else 'yes' if r.met else 'NO'} |" for r in rows]
    return "\n".join(lines)
