# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree of an HTML document, before it is reduced."""
from collections import Counter
from typing import Any, Dict, List, Optional, Tuple

from lxml import etree, html

from . import decoding

#: Most elements, and levels of elements. Layouts of real pages have up to 60 levels.
MAX_ELEMENTS, MAX_DEPTH = 100_000, 150
#: Elements that remain below that depth, one level of them.
_KEPT = {"a", "img", "br", "hr", "input", "button", "textarea", "iframe", "area"}


class _Builder:
    """Target of the parser, which builds the tree within the limits. Text of elements that are
    left out for their depth stays. lxml needs a time that grows with the depth for every element,
    so a tree is not cut afterwards."""

    def __init__(self) -> None:
        self._tree = etree.TreeBuilder(element_factory=html.html_parser.makeelement)
        self._open: List[Tuple[str, bool]] = []  # elements that are open: name, in the tree
        self._names: Counter[str] = Counter()
        self._level = self._count = 0

    def start(self, tag: str, attributes: Dict[str, str]) -> None:
        """An element begins."""
        fits = self._level < MAX_DEPTH or (self._level == MAX_DEPTH and tag in _KEPT)
        fits = fits and self._count < MAX_ELEMENTS
        self._open.append((tag, fits))
        self._names[tag] += 1
        if fits:
            self._count += 1
            self._level += 1
            self._tree.start(tag, attributes)

    def end(self, tag: str) -> None:
        """An element ends, and so does all that is open in it: the parser does not say so of every
        one."""
        while self._names[tag] and self._end_last() != tag:
            pass

    def _end_last(self) -> str:
        tag, fits = self._open.pop()
        self._names[tag] -= 1
        if fits:
            self._level -= 1
            self._tree.end(tag)
        return tag

    def data(self, text: str) -> None:
        """Text."""
        if self._count < MAX_ELEMENTS:
            self._tree.data(text)

    def close(self) -> Any:
        """The root. Raises ParserError if there is none."""
        while self._open:
            self._end_last()
        if not self._count:
            raise etree.ParserError("no element")
        return self._tree.close()


def parse(document: bytes, charset: Optional[str]) -> Optional[html.HtmlElement]:
    """The tree of a document. charset: of the HTTP header, if there is one. None: no HTML."""
    text = decoding.decode(document, charset).replace("\0", "\ufffd")
    try:
        # The parser's own decoders end a page at the first wrong octet, and its own limit of
        # depth ends it there.
        parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, target=_Builder())
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError):
        return None


def show_pictures_of_noscript(root: html.HtmlElement) -> None:
    """Show pictures that stand in noscript, since a script would load them later."""
    for element in list(root.iter("noscript")):
        image = next(element.iter("img"), None)
        before = element.getprevious()
        if image is not None and (before is None or before.tag != "img"):
            element.tag = "span"
            for other in [e for e in element.iter() if e.tag not in ("img", "span")]:
                other.tag = "span"
