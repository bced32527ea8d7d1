# SPDX-License-Identifier: GPL-3.0-or-later
"""A page with all files that a browser loads for it, and what each of them costs on the air."""
import asyncio
from collections import Counter
import mimetypes
import os
import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple, Union
from urllib.parse import unquote, urlsplit
import zlib

from lxml import html

from . import elements, fetch, kinds, pictures, reduce, tree, wire
from .shore import Shore, answer_octets
from .store import picture_name

#: Host that stands for a folder of this machine.
FOLDER = "folder.localhost"
#: Files that are fetched for one page, their octets in all, and seconds for all of them.
MAX_FILES, MAX_ALL, LIMIT_S = 150, 32 << 20, 300.0
#: Octets of the headers that a web server (nginx 1.22) sends with a file of a folder.
FOLDER_HEADERS = 240
#: Connections that a browser opens to one host (Chromium and Firefox, HTTP/1.1). Octets of a
#: request of Chromium, compressed by HF-PEP: the first of a connection, and further ones.
CONNECTIONS, FIRST_REQUEST, NEXT_REQUEST = 6, 350, 60
#: Octets of the start of TLS: the first message of Chromium, and an answer with two
#: certificates.
TLS = (2000, 4000)
#: Pages of the same site that are looked at besides.
MAX_NEIGHBOURS = 5
_CSS = re.compile(r"""url\(\s*['"]?([^'")\s]+)|@import\s+['"]([^'"]+)""", re.IGNORECASE)
_KINDS = {("img", "src"): "picture", ("input", "src"): "picture", ("video", "poster"): "picture",
          ("body", "background"): "picture", ("script", "src"): "script",
          ("iframe", "src"): "frame", ("frame", "src"): "frame", ("embed", "src"): "object",
          ("object", "data"): "object"}


class File(NamedTuple):
    """A file that a browser loads. kind: page, style, script, picture, frame, object. blocks: the
    page is not shown before it is there. level: files that name each other before it is known.
    got: None if it was not fetched. error: why."""

    url: str
    kind: str
    blocks: bool
    level: int
    got: Optional[fetch.Fetched] = None
    error: str = ""

    @property
    def air(self) -> int:
        """Octets through HF-PEP, which compresses each connection that is not encrypted."""
        if self.got is None:
            return 0
        text = "".join(f"{n}: {v}\r\n" for n, v in self.got.headers.items()).encode()
        if self.url.startswith("https:") or "content-encoding" in self.got.headers:
            return self.got.sent
        extra = FOLDER_HEADERS if not text else 0
        return min(self.got.sent, len(zlib.compress(text + self.got.body)) + extra)


class Source(fetch.Fetcher):
    """Fetches each file of a site once, from the web or from a folder, within MAX_FILES and
    MAX_ALL."""

    def __init__(self, allow: List[str], folder: str = "") -> None:
        """allow: prefixes that may be fetched though they are not public. folder: with the files
        of http://FOLDER/, or empty."""
        super().__init__(allow)
        self._folder = os.path.realpath(folder) if folder else ""
        self._kept: Dict[str, Union[fetch.Fetched, fetch.FetchError]] = {}
        self._octets = self._asked = 0

    async def get(self, url: str, most: int, form: Optional[bytes] = None, accept: str = "*/*"
                  ) -> fetch.Fetched:
        """As in Fetcher, but a second time without fetching."""
        if url not in self._kept:
            self._asked += 1
            if self._asked > MAX_FILES or self._octets > MAX_ALL:
                raise fetch.FetchError(f"not fetched: more than {MAX_FILES} files or "
                                       f"{MAX_ALL >> 20} MB")
            try:
                found = self._read(url, most) if self._folder else \
                    await super().get(url, most, form, accept)
                self._octets += len(found.body)
                self._kept[url] = found
            except fetch.Unreachable:
                raise
            except fetch.FetchError as error:
                self._kept[url] = error
        kept = self._kept[url]
        if isinstance(kept, fetch.FetchError):
            raise kept
        return kept

    def _read(self, url: str, most: int) -> fetch.Fetched:
        """A file of the folder, or a picture that hf web store has put there."""
        parts = urlsplit(url)
        if parts.hostname == FOLDER:
            path = os.path.realpath(self._folder + unquote(parts.path))
        else:
            path = next((os.path.join(self._folder, name, picture_name(url))
                         for name in os.listdir(self._folder) if name.endswith(".files")
                         and os.path.exists(os.path.join(self._folder, name, picture_name(url)))),
                        "")
        if os.path.isdir(path):
            path = os.path.join(path, "index.html")
        if os.path.commonpath([self._folder, path or "/"]) != self._folder:
            raise fetch.FetchError("not in the folder")
        try:
            with open(path, "rb") as file:
                body = file.read(most + 1)
        except OSError as error:
            raise fetch.FetchError(f"{path}: {error.strerror}") from None
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        return fetch.Fetched(url, 200, kind, None, body[:most], len(body) > most, {},
                             len(body) + FOLDER_HEADERS)


class Site(NamedTuple):
    """A page, its files in the order in which they are found (the page first), and the reduced
    page. neighbours: other pages of the same host, or why they were not read. door: octets of the
    answer of the shore side by mode."""

    files: List[File]
    root: html.HtmlElement
    page: reduce.Page
    neighbours: List[File]
    door: Dict[str, int]

    @property
    def address(self) -> str:
        """Of the page, after redirects."""
        got = self.files[0].got
        assert got is not None
        return got.url

    def air(self) -> int:
        """Octets of the page as it is through HF-PEP."""
        return sum(f.air for f in self.files)

    def exchanges(self) -> List[Tuple[int, int]]:
        """What a browser and the site send each other through HF-PEP: octets of requests and of
        answers. One exchange for each redirect, for each start of TLS, and for each level of files
        that name each other."""
        redirects = self.files[0].got.redirects if self.files[0].got else 0
        found = [(FIRST_REQUEST, FOLDER_HEADERS)] * redirects
        known: "Counter[str]" = Counter()
        secure: "set[str]" = set()
        for level in range(1 + max(f.level for f in self.files)):
            files = [f for f in self.files if f.level == level]
            new = {urlsplit(f.url).netloc for f in files if f.url.startswith("https:")} - secure
            if new:
                secure |= new
                found.append((TLS[0] * len(new), TLS[1] * len(new)))
            asked = 0
            for f in files:
                known[urlsplit(f.url).netloc] += 1
                first = known[urlsplit(f.url).netloc] <= CONNECTIONS
                asked += FIRST_REQUEST if first else NEXT_REQUEST
            found.append((asked, sum(f.air for f in files)))
        return found


async def load(url: str, source: Source) -> Site:
    """Load a page with its files, and have the shore side make its answers. Raises FetchError."""
    shore = Shore([], lambda line: None, source)
    try:
        return await asyncio.wait_for(_load(url, source, shore), LIMIT_S)
    except asyncio.TimeoutError:
        raise fetch.FetchError(f"not all files within {LIMIT_S:.0f} s") from None
    finally:
        await shore.close()


async def _load(url: str, source: Source, shore: Shore) -> Site:
    got = await shore.fetch(wire.Request(url))
    if got.status != 200:
        raise fetch.FetchError(f"{got.url}: the site answered with status {got.status}")
    root = tree.parse(got.body, got.charset) if got.kind in kinds.HTML else None
    if root is None:
        raise fetch.FetchError(f"{got.url}: {got.kind}: allowed is a page of HTML")
    files = {got.url: File(got.url, "page", True, 0, got)}
    found = root.find(".//base[@href]")
    base = (elements.absolute(got.url, found.get("href")) if found is not None else "") or got.url
    wanted = _references(root, base, got.url)
    while wanted:
        new = list({f.url: f for f in wanted if f.url not in files}.values())
        for one in await asyncio.gather(*(_file(f, source) for f in new)):
            files[one.url] = one
        wanted = [w for f in new for w in _named_by(files[f.url])]
    page = reduce.reduce(got.body, got.url, got.charset)
    near = list(_neighbours(page, got.url, set(files)))
    neighbours = list(await asyncio.gather(*(_file(f, source) for f in near)))
    door = {mode: await answer_octets(shore, wire.Request(url, mode))
            for mode in ("text", "pictures")}
    return Site(list(files.values()), root, page, neighbours, door)


async def _file(file: File, source: Source) -> File:
    try:
        return file._replace(got=await source.get(file.url, pictures.MAX_OCTETS))
    except fetch.FetchError as error:
        return file._replace(error=str(error))


def _references(root: html.HtmlElement, base: str, address: str) -> List[File]:
    """Files that a browser loads for a page by itself."""
    found: List[File] = []
    head = root.find("head")
    inside = set(head.iter()) if head is not None else set()
    has_icon = False
    for element, attribute, link, _ in root.iterlinks():
        tag = str(element.tag)
        kind, blocks = _KINDS.get((tag, str(attribute)), ""), False
        if tag == "link":
            rel = (element.get("rel") or "").lower().split()
            has_icon |= "icon" in rel
            if "stylesheet" in rel and "alternate" not in rel:
                kind, blocks = "style", (element.get("media") or "").lower() != "print"
            elif {"icon", "preload", "modulepreload"} & set(rel):
                kind = "picture" if "icon" in rel else "object"
        elif tag == "script" and attribute == "src":
            late = {"async", "defer"} & set(element.keys()) or element.get("type") == "module"
            blocks = element in inside and not late
        elif attribute in (None, "style"):
            kind = "style" if ".css" in link else "picture"
        if kind and link.strip():
            found.append(File(_absolute(base, link), kind, blocks, 1))
    if not has_icon and urlsplit(address).hostname != FOLDER:
        found.append(File(_absolute(address, "/favicon.ico"), "picture", False, 1))
    return [f for f in found if f.url]


def _named_by(file: File) -> Iterator[File]:
    """Files that a style names."""
    if file.got is None or file.kind != "style" or file.level > 3:
        return
    for url, imported in _CSS.findall(file.got.body.decode("utf-8", "replace")):
        address = _absolute(file.got.url, url or imported)
        if address:
            kind = "style" if imported or url.endswith(".css") else "picture"
            yield File(address, kind, file.blocks and kind == "style", file.level + 1)


def _absolute(base: str, link: str) -> str:
    """An address without its fragment. Empty if it is none of the web."""
    address = elements.absolute(base, link.strip()).partition("#")[0]
    return address if address.startswith(("http://", "https://")) else ""


def _neighbours(page: reduce.Page, address: str, known: "set[str]") -> Iterator[File]:
    """Some pages of the same host to which a page leads."""
    count = 0
    for link in page.main_links + page.rest_links:
        url = elements.absolute(address, link)
        is_page = re.search(r"(?:/|\.x?html?|/[^./]*)$", urlsplit(url).path)
        if urlsplit(url).netloc == urlsplit(address).netloc and is_page and \
                url not in known and count < MAX_NEIGHBOURS:
            known = known | {url}
            count += 1
            yield File(url, "page", False, 1)


def parts_of(site: Site) -> List[Tuple[str, int]]:
    """What the document itself consists of, with its octets through HF-PEP."""
    inside: Counter[str] = Counter()
    for element in site.root.iter():
        text = len((element.text or "").encode("utf-8", "replace"))
        if element.tag in ("script", "style"):
            inside[f"{element.tag}s in the page"] += text
        elif isinstance(element.tag, str):
            inside["text of the page"] += text
        inside["text of the page"] += len((element.tail or "").encode("utf-8", "replace"))
        for value in element.attrib.values():
            if value.startswith("data:"):
                inside["files in the page (data:)"] += len(value)
    whole = len(site.files[0].got.body) if site.files[0].got else 0
    inside["tags and attributes of the page"] = max(0, whole - sum(inside.values()))
    share = site.files[0].air / max(whole, 1)
    return [(name, round(octets * share)) for name, octets in inside.items()]
