# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents that are no HTML, as pages: text, JSON, feeds (RSS, Atom), pictures."""
import json
from typing import List, Optional, Tuple

from lxml import etree, html

from . import decoding, fetch, reduce
from .elements import Base, Picture, shorter
from .markup import escape

#: Kinds of text that stand in no tree of text/.
_TEXT = {"application/json", "application/xml", "application/javascript", "application/csv",
         "application/x-ndjson", "application/yaml", "application/toml", "application/sql",
         "application/x-sh"}
#: Kinds that are HTML.
HTML = {"text/html", "application/xhtml+xml"}
#: Limit of JSON for which lines and indents are made, octets before and characters after.
MAX_JSON, MAX_LAID_OUT = 1 << 20, 2 << 20
#: Entries of a feed that are shown, and characters of the summary of each.
MAX_ENTRIES, MAX_SUMMARY = 500, 600


def page_of(got: fetch.Fetched) -> Optional[reduce.Page]:
    """The page of a document. None: nothing that can be read as text, or seen."""
    if got.kind in HTML:
        return reduce.reduce(got.body, got.url, got.charset)
    if got.kind.startswith("image/") and got.kind != "image/svg+xml":
        return page(got.url.rpartition("/")[2][:100], ["<img>"], pictures=[Picture(got.url, 0)])
    if "xml" in got.kind:
        feed = _feed(got)
        if feed is not None:
            return feed
    if got.kind.startswith("text/") or got.kind in _TEXT or got.kind.endswith(("+json", "+xml")):
        text = decoding.decode(got.body, got.charset, html=False)
        if got.kind.endswith("json") and len(got.body) < MAX_JSON:
            text = _laid_out(text)
        text = escape(text).replace("\r", "").replace("\x01", "")
        return page("", ["<pre>" + text, "</pre>"])
    return None


def page(title: str, lines: List[str], links: Optional[List[str]] = None,
         pictures: Optional[List[Picture]] = None) -> reduce.Page:
    """A page of lines of markup."""
    main = "\n".join(lines).split("\n")
    return reduce.Page(title, "", False, main, [], links or [], [], pictures or [],
                       sum(line.count(" ") + 1 for line in main))


def _laid_out(text: str) -> str:
    """JSON with lines and indents. As it stands if it is wrong, or its indents take too much: a
    few octets at a great depth grow to hundreds."""
    try:
        pieces, size = [], 0
        for piece in json.JSONEncoder(ensure_ascii=False, indent=1).iterencode(json.loads(text)):
            size += len(piece)
            if size > MAX_LAID_OUT:
                return text
            pieces.append(piece)
        return "".join(pieces)
    except (ValueError, RecursionError):
        return text


def _feed(got: fetch.Fetched) -> Optional[reduce.Page]:
    """A feed as a list of its entries. None: it is none."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True,
                             remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(got.body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    if root is None or etree.QName(root).localname not in ("rss", "RDF", "feed"):
        return None
    base = Base(got.url, got.url)
    title = _words(root, "channel/{*}title", "title")
    lines = [f"<h1>{escape(title)}"] if title else []
    links: List[str] = []
    begin = "<ul><li>"
    entries = list(root.iter("{*}item", "{*}entry"))
    for entry in entries[:MAX_ENTRIES]:
        name = _words(entry, "title") or "no title"
        to = _link(entry)
        address = shorter(to, base) if to else None
        about = _words(entry, "pubDate", "published", "updated", "date")
        summary = _words(entry, "description", "summary", "content")[:MAX_SUMMARY]
        if address is not None and len(links) < reduce.MAX_LINKS:
            links.append(address)
            name = f"<a>{escape(name)}</a>"
        else:
            name = escape(name)
        lines.append(begin + name + (f" ({escape(about)})" if about else ""))
        begin = "<li>"
        if summary:
            lines.append("<p>" + escape(summary))
    if len(entries) > MAX_ENTRIES:
        lines.append(f"<li>{len(entries) - MAX_ENTRIES} more entries are left out")
    return page(title, [*lines, "</ul>"] if begin == "<li>" else lines, links)


def _words(element: etree._Element, *paths: str) -> str:
    """Text of the first of some elements that has any, without the HTML that may stand in it."""
    for path in paths:
        found = element.find("{*}" + path)
        text = "" if found is None else "".join(found.itertext()).strip()
        if text:
            try:
                text = html.fromstring(text).text_content() if "<" in text or "&" in text else text
            except (etree.ParserError, etree.XMLSyntaxError, ValueError):
                pass
            return " ".join(str(text).split())
    return ""


def _link(entry: etree._Element) -> str:
    """Address of an entry of RSS or Atom."""
    found: List[Tuple[bool, str]] = []
    for link in entry.findall("{*}link"):
        address = link.get("href") or (link.text or "")
        if address.strip():
            found.append((link.get("rel", "alternate") != "alternate", address.strip()))
    return min(found)[1] if found else ""
