# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree of an HTML document, before it is reduced."""
from typing import Optional

from lxml import etree, html

from . import decoding


def parse(document: bytes, charset: Optional[str]) -> Optional[html.HtmlElement]:
    """The tree of a document. charset: of the HTTP header, if there is one. None: no HTML."""
    text = decoding.decode(document, charset).replace("\0", "\ufffd")
    try:
        # The parser's own decoders end a page at the first wrong octet.
        parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
        return html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError):
        return None


def limit(root: html.HtmlElement, most: int) -> None:
    """Drop all elements after the first ones."""
    surplus = [e for k, e in enumerate(root.iter()) if k >= most]
    for element in reversed(surplus):
        parent = element.getparent()
        if parent is not None:
            parent.remove(element)


def show_pictures_of_noscript(root: html.HtmlElement) -> None:
    """Show pictures that stand in noscript, since a script would load them later."""
    for element in list(root.iter("noscript")):
        image = next(element.iter("img"), None)
        before = element.getprevious()
        if image is not None and (before is None or before.tag != "img"):
            element.tag = "span"
            for other in [e for e in element.iter() if e.tag not in ("img", "span")]:
                other.tag = "span"
