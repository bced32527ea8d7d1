# SPDX-License-Identifier: GPL-3.0-or-later
"""The shore side: fetches what a reader asks for, reduces it, and sends it in the order of use."""
import asyncio
from collections import OrderedDict
import json
import math
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Protocol, Tuple

import brotli

from . import elements, fetch, kinds, markup, pictures, reduce, script, wire

#: Most octets of a document that is fetched.
MAX_DOCUMENT = reduce.MAX_OCTETS
#: Pages and octets of them that are kept for references.
MAX_VERSIONS, MAX_KEPT = 2000, 64 << 20
#: Readers served at a time (HF-PEP limits those of one node), pictures fetched at once, and
#: seconds for a request to arrive whole.
MAX_READERS, AHEAD, REQUEST_S = 16, 4, 300.0
#: Octets of lines in one part: about 2 kB on the air. The first part of a text has less, so that
#: it can be read early: about 0.5 kB.
PIECE, FIRST_PIECE = 6000, 1500
#: Fewer words in a page with scripts: the page builds itself.
FEW_WORDS = 60
#: A page with few words that leads elsewhere by itself within this time is not shown, s.
LEADS_ON_S = 10.0
#: How far the answers to several readers may be ahead of the link, s: about a turn of it. If it
#: seems more than the second number, the clock has jumped.
AHEAD_S, JUMP_S = 4.0, 3600.0
#: Octets of a file in one part.
FILE_PIECE = 16384


class Version(NamedTuple):
    """A page as a reader has it. sections: lines by kind of part. pictures: addresses of those
    that were sent."""

    sections: Dict[str, List[str]]
    pictures: List[str]

    @property
    def lines(self) -> List[str]:
        """All lines, in the order in which references count them."""
        return [line for kind in "TLRM" for line in self.sections.get(kind, [])]


class Versions:
    """Pages that readers have, by digest. The oldest go first."""

    def __init__(self) -> None:
        self._kept: "OrderedDict[bytes, Tuple[Version, int]]" = OrderedDict()
        self._octets = 0

    def get(self, key: bytes) -> Optional[Version]:
        """A page, or None."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def put(self, key: bytes, version: Version) -> None:
        """Keep a page."""
        old = self._kept.pop(key, None)
        size = sum(map(len, version.lines)) + 200
        self._octets += size - (old[1] if old else 0)
        self._kept[key] = version, size
        while self._kept and (len(self._kept) > MAX_VERSIONS or self._octets > MAX_KEPT):
            self._octets -= self._kept.popitem(last=False)[1][1]


class Pace:
    """Lets the answers to several readers take turns, part by part. HF-PEP and the data link take
    pages whole, and send them in the order in which they were given."""

    def __init__(self, now: Callable[[], float], rate_bps: Callable[[], float]) -> None:
        """now: station time, s. rate_bps: of the link."""
        self._now, self._rate_bps = now, rate_bps
        self._one = asyncio.Lock()  # those who wait get it in their order
        self._end = 0.0  # when the link will have sent all, at the soonest
        #: Answers on their way.
        self.answers = 0

    async def wait(self, octets: int) -> None:
        """Wait until octets may be given to the link, if there are other answers."""
        async with self._one:
            while self.answers > 1 and AHEAD_S < self._end - self._now() < JUMP_S:
                await asyncio.sleep(0.02)
            now = self._now()
            self._end = (self._end if now < self._end < now + JUMP_S else now) + \
                8 * octets / self._rate_bps()


class Shore:
    """Serves readers that come through HF-PEP. Used from one event loop."""

    def __init__(self, allow: List[str], say: Callable[[str], None],
                 fetcher: Optional[fetch.Fetcher] = None, pace: Optional[Pace] = None) -> None:
        """allow: prefixes that may be fetched though they are not public. say: gets lines for the
        operator. fetcher: fetches instead of one with allow. pace: None: all is given at
        once. Raises ValueError for a wrong prefix."""
        self.fetcher = fetcher or fetch.Fetcher(allow)
        self.versions = Versions()
        self.pace = pace or Pace(lambda: 0.0, lambda: math.inf)
        self._say = say
        self._readers = asyncio.Semaphore(MAX_READERS)
        self._browser = script.Browser(self.fetcher.policy, say)

    async def close(self) -> None:
        """End what runs."""
        self._browser.close()
        await self.fetcher.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one reader: a request, an answer, the end."""
        try:
            # A reader has a place only when it has asked. Silent ones hold none.
            request = await asyncio.wait_for(_request(reader), REQUEST_S)
            async with self._readers:
                answer = _Answer(self, request, writer)
                self.pace.answers += 1
                try:
                    await answer.send()
                finally:
                    self.pace.answers -= 1
                writer.write_eof()
            # The stream ends when the reader has closed its side, too.
            await asyncio.wait_for(reader.read(1), REQUEST_S)
        except wire.WireError as error:
            self._say(f"web: {error}")
        except (ConnectionError, asyncio.TimeoutError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def page(self, request: wire.Request) -> Tuple[fetch.Fetched, reduce.Page]:
        """Fetch and reduce a page. Raises FetchError."""
        loop = asyncio.get_running_loop()
        for _ in range(fetch.MAX_REDIRECTS + 1):
            got = await self.fetch(request)
            found = await loop.run_in_executor(None, kinds.page_of, got)
            if found is None:
                words = f"<p>{markup.escape(got.kind)}, which cannot be shown here."
                return got, kinds.page(got.url.rpartition("/")[2][:100], [words])
            page = found
            if page.refresh is None or not _leads_on(page):
                break
            request = request._replace(url=page.refresh[1], form=None)
        else:
            raise fetch.FetchError(f"more than {fetch.MAX_REDIRECTS} pages that lead on")
        built_by_script = page.words < FEW_WORDS and b"<script" in got.body
        if got.kind in kinds.HTML and built_by_script and request.form is None:
            built = await self._browser.document(got.url)
            if built is not None:
                better = await loop.run_in_executor(None, reduce.reduce, built, got.url, "utf-8")
                page = better if better.words > page.words else page
        return got, page

    async def fetch(self, request: wire.Request) -> fetch.Fetched:
        """What is at the address. One without a scheme is tried by HTTPS.

        It is tried by plain HTTP only if nothing answers at port 443. Otherwise anyone on the way
        could choose plain HTTP by a damaged certificate. A form is never tried again.
        """
        accept = "*/*" if request.mode == "file" else \
            "text/html,application/xhtml+xml,text/plain,*/*;q=0.5"
        if "://" in request.url[:10]:
            return await self.fetcher.get(request.url, MAX_DOCUMENT, request.form, accept)
        try:
            return await self.fetcher.get("https://" + request.url, MAX_DOCUMENT, request.form,
                                          accept)
        except fetch.Unreachable as first:
            if request.form is not None:
                raise
            try:
                return await self.fetcher.get("http://" + request.url, MAX_DOCUMENT, request.form,
                                              accept)
            except fetch.FetchError:
                raise first from None


def _leads_on(page: reduce.Page) -> bool:
    """Whether a page that leads elsewhere is not worth reading."""
    after_s = page.refresh[0] if page.refresh else LEADS_ON_S
    return after_s < 1 or (after_s <= LEADS_ON_S and page.words < FEW_WORDS)


async def _request(reader: asyncio.StreamReader) -> wire.Request:
    data = b""
    while True:
        request = wire.decode_request(data)
        if request is not None:
            return request
        more = await reader.read(4096)
        if not more:
            raise wire.WireError("a request was cut")
        data += more


class _Writer(Protocol):
    """Takes octets of an answer."""

    def write(self, octets: bytes) -> None:
        """Take octets."""

    async def drain(self) -> None:
        """Wait until there is room for more."""


class _Count:
    """Counts octets of an answer that goes nowhere."""

    octets = 0

    def write(self, octets: bytes) -> None:
        """Count octets."""
        self.octets += len(octets)

    async def drain(self) -> None:
        """Nothing waits."""


async def answer_octets(shore: Shore, request: wire.Request) -> int:
    """Octets of the answer to a request."""
    count = _Count()
    await _Answer(shore, request, count).send()
    return count.octets


class _Answer:
    """One answer on its way."""

    def __init__(self, shore: Shore, request: wire.Request, writer: _Writer) -> None:
        self._shore, self._request, self._writer = shore, request, writer
        self._encoder = wire.Encoder()
        self._most = request.budget * 1000 or 1 << 40
        old = shore.versions.get(request.reference) if request.reference else None
        self._old = old or Version({}, [])
        self._sent = Version({}, [])
        self._left: Dict[str, Any] = {}

    async def send(self) -> None:
        """Fetch, and send the parts in the order of their use."""
        try:
            if self._request.mode == "file":
                await self._file(await self._shore.fetch(self._request))
                return
            got, page = await self._shore.page(self._request)
        except fetch.FetchError as error:
            await self._part("X", str(error).encode())
            await self._write(self._encoder.end())
            return
        room = wire.Room()
        main, main_links = _within(room, page.main, page.main_links)
        rest, rest_links = _within(room, page.rest, page.rest_links)
        if len(main) < len(page.main) or len(rest) < len(page.rest):
            got = got._replace(cut=True)
        sections = {"T": main, "L": main_links, "R": rest, "M": rest_links}
        key = wire.digest(sections)
        with_pictures = self._request.mode == "pictures"
        if key == self._request.reference and (not with_pictures or self._request.complete
                                               or not page.pictures):
            await self._part("S", b"")
            await self._write(self._encoder.end())
            return
        await self._head(got, page)
        for kind in "TLRM":
            await self._section(kind, sections[kind])
        if with_pictures:
            await self._pictures(got, page.pictures)
        self._shore.versions.put(wire.digest(self._sent.sections), self._sent)
        await self._part("E", json.dumps(self._left, separators=(",", ":")).encode()
                         if self._left else b"")
        await self._write(self._encoder.end())

    async def _file(self, got: fetch.Fetched) -> None:
        """Send a document as it is. Raises FetchError before the first octet."""
        if got.status != 200:
            raise fetch.FetchError(f"the site answered with status {got.status}")
        if got.cut:
            raise fetch.FetchError(f"longer than {MAX_DOCUMENT} octets")
        await self._head(got, kinds.page("", []))
        for first in range(0, len(got.body), FILE_PIECE):
            await self._part("F", got.body[first:first + FILE_PIECE])
        await self._part("E", b"")
        await self._write(self._encoder.end())

    async def _part(self, kind: str, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        await self._write(await loop.run_in_executor(None, self._encoder.part, kind, data))

    async def _write(self, octets: bytes) -> None:
        await self._shore.pace.wait(len(octets))
        self._writer.write(octets)
        await self._writer.drain()

    async def _head(self, got: fetch.Fetched, page: reduce.Page) -> None:
        head: Dict[str, Any] = {}
        asked = self._request.url
        if got.url not in (asked, "https://" + asked, "https://" + asked + "/"):
            head["url"] = got.url
        for name, value in (("title", page.title), ("lang", page.language),
                            ("rtl", int(page.right_to_left))):
            if value:
                head[name] = value
        if got.status != 200:
            head["status"] = got.status
        if got.cut:
            head["cut"] = MAX_DOCUMENT
        elif got.kind not in kinds.HTML:
            head["file"] = len(got.body)
        text = json.dumps(head, ensure_ascii=False, separators=(",", ":"))
        await self._part("H", text.encode("utf-8", "replace"))

    async def _section(self, kind: str, lines: List[str]) -> None:
        """Send lines in pieces, as many as fit."""
        if kind in "LM":  # of the text that was sent
            text = self._sent.sections.get("T" if kind == "L" else "R", [])
            lines = lines[:sum(map(markup.links_in, text))]
        sent = self._sent.sections.setdefault(kind, [])
        for piece in _pieces(lines, FIRST_PIECE if kind == "T" else PIECE):
            if "octets" not in self._left or kind == "L":
                data = wire.encode_lines(piece, self._old.lines)
                if kind == "L" or not self._request.budget or \
                        self._encoder.octets + len(_brotli(data)) <= self._most:
                    await self._part(kind, data)
                    sent += piece
                    continue
            self._left["octets"] = self._left.get("octets", 0) + \
                len(_brotli("\n".join(piece).encode("utf-8", "replace")))

    async def _pictures(self, got: fetch.Fetched, shown: List[elements.Picture]) -> None:
        """Send pictures that the reader does not have, in their order."""
        kept, wanted = b"", {}  # type: bytes, Dict[str, Tuple[int, elements.Picture]]
        for number, picture in enumerate(shown):
            self._sent.pictures.append(picture.url)
            if self._request.complete and picture.url in self._old.pictures:
                kept += wire.varint(number) + wire.varint(self._old.pictures.index(picture.url))
            else:
                wanted.setdefault(picture.url, (number, picture))
        if kept:
            await self._part("K", kept)
        tasks: List["asyncio.Task[Optional[pictures.Small]]"] = []
        order = list(wanted.values())
        try:
            for at, (number, _) in enumerate(order):
                while len(tasks) < min(len(order), at + AHEAD):
                    tasks.append(asyncio.ensure_future(
                        self._picture(got, order[len(tasks)][1])))
                found = await tasks[at]
                if found is None:
                    continue
                if self._encoder.octets + len(found.data) > self._most:
                    self._left["pictures"] = len(order) - at
                    break
                await self._part("P", wire.varint(number) + wire.varint(found.width)
                                 + wire.varint(found.height) + found.data)
        finally:
            for task in tasks:
                task.cancel()

    async def _picture(self, got: fetch.Fetched, picture: elements.Picture
                       ) -> Optional[pictures.Small]:
        url = elements.absolute(got.url, picture.url)
        try:
            data = got.body if url == got.url else \
                (await self._shore.fetcher.get(url, pictures.MAX_OCTETS, accept="image/*")).body
        except fetch.FetchError:
            return None
        return await asyncio.get_running_loop().run_in_executor(None, pictures.small, data,
                                                                picture.width)


def _within(room: wire.Room, lines: List[str], links: List[str]) -> Tuple[List[str], List[str]]:
    """The first lines that fit, with their links."""
    used = 0
    for number, line in enumerate(lines):
        count = markup.links_in(line)
        if not room.fits([line, *links[used:used + count]]):
            return lines[:number], links[:used]
        used += count
    return lines, links


def _pieces(lines: List[str], most: int) -> Iterator[List[str]]:
    """Lines in pieces, so that the first can be read early. most: octets of the first one."""
    piece: List[str] = []
    size = 0
    for line in lines:
        if piece and size + len(line) > most:
            yield piece
            piece, size, most = [], 0, PIECE
        piece.append(line)
        size += len(line)
    if piece:
        yield piece


def _brotli(data: bytes) -> bytes:
    packed: bytes = brotli.compress(data, quality=5)
    return packed
