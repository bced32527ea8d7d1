# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduces an HTML document to what a reader needs: text, headings, lists, tables, forms, links.

The result is lines of a small subset of HTML (MARKUP), the main text first. Links and pictures are
numbered by their order. Left out: scripts, styles, hidden elements, attributes. Frames, objects,
sound and video become links.
"""
from collections import Counter
import re
from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from lxml import html

from . import tree
from .elements import (ELSEWHERE, Base, Picture, absolute, elsewhere, form_address, hidden,
                       is_later, label_of, link_of, picture_of, refresh_of, refused_form,
                       shorter, start_of)
from .markup import CONTAINERS, HEADINGS, INLINE, ITEMS, escape, quoted

#: Largest document that is read. The rest of a larger one is left out.
MAX_OCTETS = 4_000_000
#: Most links and pictures of a page.
MAX_LINKS, MAX_PICTURES = 5000, 500
#: Elements that neither end a line nor have a form of their own.
_TRANSPARENT = {"span", "font", "abbr", "acronym", "small", "big", "time", "label", "q", "mark",
                "bdi", "bdo", "data", "dfn", "ins", "var", "wbr", "tt", "nobr", "picture", "ruby",
                "rb", "rt", "rp", "center", "output", "slot", "map"}
#: Text of links that only mark a heading, as many documentation sites have them.
_MARKS = ("#", "\u00a7", "\u00b6")
_SPACE = re.compile(r"[ \t\r\n\f]+")


#: Gets the parts that come after the main text; None where nothing comes later.
Later = Optional[List[html.HtmlElement]]


class Page(NamedTuple):
    """A reduced page.

    main, rest: lines of markup: the text, and everything around it (navigation, footer).
    main_links, rest_links: addresses of the links and forms in main and rest, in their order.
    pictures: of main, in their order. In rest they are only named.
    words: words of text, to judge whether the page was built by a script. refresh: seconds after
    which the page leads elsewhere by itself, and the address.
    """

    title: str
    language: str
    right_to_left: bool
    main: List[str]
    rest: List[str]
    main_links: List[str]
    rest_links: List[str]
    pictures: List[Picture]
    words: int
    refresh: Optional[Tuple[float, str]] = None


class _Writer:
    """Collects lines of markup from elements in their order."""

    def __init__(self, base: Base, max_pictures: int = MAX_PICTURES) -> None:
        self.base = base
        self.lines: List[str] = []
        self.links: List[str] = []
        self.pictures: List[Picture] = []
        self.words = 0
        self._line: List[str] = []
        self._block = ""  # heading or p of the current line
        self._inline: List[List] = []  # [tag, address, written in this line]
        self._depths: Counter[str] = Counter()  # of containers and items that are open
        self._open: List[List] = []  # [container or item, start tag, written, form's address]
        self._max_pictures = max_pictures
        self._shown: Set[str] = set()
        self._refused = 0  # forms around, whose labels mean nothing without their fields

    # --- lines ----------------------------------------------------------------------------------

    def end_line(self) -> None:
        """End a line, if something is in it."""
        text = "".join(self._line)
        self._line = []
        if not text.strip() and not (self._in("pre") and self._open[-1][2]):
            return
        for entry in reversed(self._inline):
            if entry[2]:
                text = text.rstrip(" ") + f"</{entry[0]}>"
                entry[2] = False
        # The first line of an item needs no paragraph of its own.
        first = bool(self._open) and self._open[-1][0] in ITEMS and not self._open[-1][2]
        begin = self._opened()
        if self._in("pre"):
            self.lines.append(begin + text.rstrip())
        else:
            block = self._block or ("" if first else "p")
            self.lines.append(begin + (f"<{block}>" if block else "") + text.strip(" "))

    def _opened(self) -> str:
        """Start tags of containers that were not written yet."""
        first = len(self._open)  # those inside one that was not written were not written either
        while first and not self._open[first - 1][2]:
            first -= 1
        begin = "".join(entry[1] for entry in self._open[first:])
        for entry in self._open[first:]:
            if entry[0] == "form":
                self.links.append(entry[3])
            entry[2] = True
        return begin

    def _in(self, tag: str) -> bool:
        return self._depths[tag] > 0

    def put(self, markup: str) -> None:
        """Add markup to the line, inside the inline elements that are open."""
        for entry in self._inline:
            # A link goes on in each line that it spans.
            if not entry[2] and (entry[0] != "a" or len(self.links) < MAX_LINKS):
                self._line.append(f"<{entry[0]}>")
                entry[2] = True
                if entry[0] == "a":
                    self.links.append(entry[1])
        self._line.append(markup)

    def text(self, text: Optional[str]) -> None:
        """Add text."""
        if not text:
            return
        if self._in("pre"):
            first, *others = text.replace("\r", "").split("\n")
            self._pre(first)
            for other in others:
                self.end_line()
                self._pre(other)
            return
        text = _SPACE.sub(" ", text)
        if not self._line or self._line[-1].endswith((" ", "<br>")):
            text = text.lstrip(" ")
        if text:
            self.words += text.count(" ") + 1
            if text == " ":
                self._line.append(text)  # no reason to open an inline element
            else:
                self.put(escape(text))

    def _pre(self, text: str) -> None:
        if text:
            self.put(escape(text))

    def br(self) -> None:
        """A line break within a line."""
        if self._line:
            if self._in("pre"):
                self.end_line()
            elif not self._line[-1].endswith("<br>"):
                self._line.append("<br>")

    # --- elements -------------------------------------------------------------------------------

    def walk(self, element: html.HtmlElement, later: Later,
             skip: Set[html.HtmlElement]) -> None:
        """Write an element and its text. skip: elements that are written already."""
        tag = element.tag
        if not isinstance(tag, str) or element in skip or hidden(element):
            return
        if self._refused and tag in ("label", "legend", "button"):
            return
        if later is not None and is_later(element):
            later.append(element)
            return
        if tag == "br":
            self.br()
        elif tag == "hr":
            self.end_line()
        elif tag == "img":
            self._img(element)
        elif tag in ("input", "select", "textarea", "button"):
            self._control(element)
        elif tag in ELSEWHERE:
            self._elsewhere(element, later, skip)
        elif tag in ("svg", "math"):
            self.text(label_of(element) or ("" if tag == "svg" else element.text_content()))
        elif tag in INLINE:
            self._walk_inline(element, later, skip)
        elif tag in _TRANSPARENT:
            self._children(element, later, skip)
        else:
            self._walk_block(element, later, skip)

    def _children(self, element: html.HtmlElement, later: Later,
                  skip: Set[html.HtmlElement]) -> None:
        self.text(element.text)
        for child in element:
            self.walk(child, later, skip)
            self.text(child.tail)

    def _walk_inline(self, element: html.HtmlElement, later: Later,
                     skip: Set[html.HtmlElement]) -> None:
        tag, address = INLINE[element.tag], ""
        if tag == "a":
            found = link_of(element, self.base)
            if found is None and element.text_content().strip() in _MARKS:
                return
            nested = any(entry[0] == "a" for entry in self._inline)
            if found is None or nested or len(self.links) >= MAX_LINKS:
                self._children(element, later, skip)
                return
            address = found
        before = self.words, len(self.pictures)
        entry = [tag, address, False]
        self._inline.append(entry)
        self._children(element, later, skip)
        if tag == "a" and (self.words, len(self.pictures)) == before:
            self.text(label_of(element))
        self._inline.pop()
        if entry[2]:
            self._line.append(f"</{tag}>")

    def _elsewhere(self, element: html.HtmlElement, later: Later,
                   skip: Set[html.HtmlElement]) -> None:
        """A line with a link to what stands in a document of its own."""
        found = elsewhere(element, self.base)
        if found is None or len(self.links) >= MAX_LINKS:
            self._children(element, later, skip)  # what such an element shows instead
            return
        self.link(*found)

    def link(self, address: str, text: str) -> None:
        """A line with a link."""
        self.end_line()
        outer, self._inline = self._inline, [["a", address, False]]
        self.text(text)
        self._inline = outer
        self._line.append("</a>")
        self.end_line()

    def _walk_block(self, element: html.HtmlElement, later: Later,
                    skip: Set[html.HtmlElement]) -> None:
        tag = element.tag
        self.end_line()
        outer, self._block = self._block, tag if tag in HEADINGS else ""
        address = form_address(element, self.base) if tag == "form" else None
        refused = refused_form(element, self.base) if tag == "form" else ""
        if refused:
            self.put(f"[{escape(refused)}]")
            self.end_line()
        begin = start_of(element, address) if len(self.links) < MAX_LINKS else None
        if begin is None:
            self._refused += bool(refused)
            self._children(element, later, skip)
            self.end_line()
            self._refused -= bool(refused)
        else:
            entry = [tag, begin, False, address]
            self._open.append(entry)
            self._depths[tag] += 1
            self._children(element, later, skip)
            self.end_line()
            while tag == "pre" and self.lines[-1:] == [""]:
                self.lines.pop()
            if tag in ("td", "th") and not entry[2]:
                self.lines.append(self._opened())  # an empty cell keeps its column
            self._open.pop()
            self._depths[tag] -= 1
            if entry[2] and tag in CONTAINERS:
                self.lines.append(f"</{tag}>")
        self._block = outer

    def _img(self, element: html.HtmlElement) -> None:
        found = picture_of(element, self.base)
        alt = " ".join((element.get("alt") or "").split())[:200]
        if found is not None and found.url not in self._shown and \
                len(self.pictures) < self._max_pictures:
            self.put(f'<img alt="{quoted(alt)}">' if alt else "<img>")
            self.pictures.append(found)
            self._shown.add(found.url)
        elif alt and any(entry[0] == "a" for entry in self._inline):
            self.text(alt)  # a link without another name

    def _control(self, element: html.HtmlElement) -> None:
        if not self._in("form") or "disabled" in element.attrib:
            if element.tag == "button":
                self._children(element, None, set())
            return
        name, value = element.get("name") or "", element.get("value") or ""
        kind = (element.get("type") or "").lower()
        words = f' name="{quoted(name)}"' if name else ""
        if element.tag == "select":
            words += " multiple" * ("multiple" in element.attrib)
            texts = [(o, " ".join(o.text_content().split())) for o in element.iter("option")]
            self.put(f"<select{words}>" + "".join(
                f'<option value="{quoted(o.get("value", text))}"'
                + " selected" * ("selected" in o.attrib) + ">" + escape(text[:100])
                for o, text in texts if "disabled" not in o.attrib) + "</select>")
        elif element.tag == "textarea":
            text = (element.text or "").replace("\r", "")
            text = text[text.startswith("\n"):]  # as in HTML
            self.put(f"<textarea{words}>{quoted(text)}</textarea>")
        elif element.tag == "button" or kind in ("submit", "image"):
            label = " ".join(element.text_content().split()) or value or \
                element.get("alt") or "Submit"
            self.put(f'<button{words} value="{quoted(value)}">{escape(label[:60])}</button>')
        elif kind in ("hidden", "checkbox", "radio") and name:
            words += f' value="{quoted(value)}"' if "value" in element.attrib else ""
            self.put(f'<input type="{kind}"{words}{" checked" * ("checked" in element.attrib)}>')
        elif kind not in ("password", "file", "button", "reset", "hidden", "checkbox", "radio"):
            hint = element.get("placeholder") or element.get("aria-label") or ""
            self.put(f'<input{words} value="{quoted(value)}"'
                     + (f' placeholder="{quoted(hint[:60])}"' if hint else "") + ">")


def _text_lengths(body: html.HtmlElement) -> Dict[html.HtmlElement, int]:
    """Characters of text in each element, with all that is in it, in one pass: a page may nest
    hundreds of elements around its text."""
    lengths: Dict[html.HtmlElement, int] = {}
    inside: Dict[Optional[html.HtmlElement], int] = {}
    for element in reversed(list(body.iter())):  # children come first
        length = len((element.text or "").strip()) + inside.pop(element, 0)
        lengths[element] = length
        parent = element.getparent()
        inside[parent] = inside.get(parent, 0) + length + len((element.tail or "").strip())
    return lengths


def main_of(body: html.HtmlElement) -> html.HtmlElement:
    """The element that holds the main text: marked as such, or the one whose paragraphs have the
    most text (half of it counts for the element around it). It only decides the order."""
    marked = [e for e in body.iter("main", "article", "div", "section")
              if e.tag in ("main", "article") or e.get("role") == "main"]
    lengths = _text_lengths(body)
    total = lengths[body]
    if marked:
        best = max(marked, key=lambda e: lengths[e])
        if lengths[best] * 4 > total:
            return best
    scores: Dict[html.HtmlElement, float] = {}
    for paragraph in body.iter("p", "pre", "td", "blockquote"):
        length = lengths[paragraph]
        parent = paragraph.getparent()
        if length < 25 or parent is None:
            continue
        scores[parent] = scores.get(parent, 0) + length
        around = parent.getparent()
        if around is not None:
            scores[around] = scores.get(around, 0) + length / 2
    best = max(scores, key=lambda e: scores[e], default=None)
    return best if best is not None and scores[best] * 4 > total else body


def reduce(document: bytes, address: str, charset: Optional[str] = None) -> Page:
    """Reduce an HTML document from an address. charset: of the HTTP header, if given."""
    root = tree.parse(document[:MAX_OCTETS], charset)
    if root is None:
        return Page("", "", False, [], [], [], [], [], 0)
    tree.show_pictures_of_noscript(root)
    found = root.find(".//base[@href]")
    base = Base((absolute(address, found.get("href")) if found is not None else "") or address,
                address)
    title = " ".join("".join(root.xpath("string(.//title)")).split())[:300]
    body = next(root.iterchildren("body"), root)
    main_element = main_of(body)
    later: List[html.HtmlElement] = []
    skip: Set[html.HtmlElement] = set()
    main = _Writer(base)
    refresh = refresh_of(root, base)
    if refresh is not None:
        main.link(shorter(refresh[1], base) or "", f"After {refresh[0]:g} s this page leads on")
    if main_element is not body and next(main_element.iter("h1"), None) is None:
        heading = next(body.iter("h1"), None)
        if heading is not None:
            main.walk(heading, None, skip)
            skip.add(heading)
    main._children(main_element, later, skip)
    main.end_line()
    skip.add(main_element)
    rest = _Writer(base, 0)
    if main_element is not body:
        rest._children(body, None, skip)
        rest.end_line()
    for element in later:
        rest._children(element, None, skip)
        rest.end_line()
    right_to_left = (root.get("dir") or body.get("dir")) == "rtl"
    return Page(title, (root.get("lang") or "")[:20], right_to_left, main.lines, rest.lines,
                main.links, rest.links, main.pictures, main.words + rest.words,
                refresh)
