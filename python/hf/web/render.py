# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of markup as HTML for the browser. What the shore side sends is not trusted: only known
elements and attributes pass, everything else becomes text."""
import html
import re
from typing import Dict, List, Optional

from . import markup

_TAG = re.compile(r'<(/?)([a-z0-9]+)((?: [a-z]+(?:="[^"<>]*")?)*)>')
_ATTRIBUTE = re.compile(r' ([a-z]+)(?:="([^"<>]*)")?')
#: Attributes that pass, by element.
_ATTRIBUTES: Dict[str, List[str]] = {
    "td": ["colspan"], "th": ["colspan"], "form": ["method"],
    "input": ["type", "name", "value", "checked", "placeholder"],
    "select": ["name", "multiple"], "option": ["value", "selected"], "textarea": ["name"],
    "button": ["name", "value"]}
#: Elements of a line that a browser does not end by itself.
_CLOSED = markup.HEADINGS | set(markup.INLINE.values())
#: Kinds of input that pass.
_INPUTS = ("hidden", "checkbox", "radio")


class Renderer:
    """Turns the lines of one page into HTML.

    view: what the addresses of links, forms and pictures of the page begin with. with_pictures:
    pictures are shown, and not only named.
    """

    def __init__(self, view: str, with_pictures: bool) -> None:
        self._view, self._with_pictures = view, with_pictures
        self._links = self._pictures = 0
        self._open: List[str] = []

    def line(self, line: str) -> str:
        """One line as HTML. Headings end with it, and so does what the line leaves open."""
        out, at = [], 0
        for match in _TAG.finditer(line):
            out.append(_text(line[at:match.start()]))
            out.append(self._tag(match))
            at = match.end()
        out.append(_text(line[at:]))
        while self._open:
            out.append(f"</{self._open.pop()}>")
        return "".join(out) + "\n"

    def _tag(self, match: "re.Match[str]") -> str:
        end, tag, words = match.groups()
        if tag not in markup.MARKUP:
            return _text(match.group())
        if end:
            return self._end(tag)
        if tag in _CLOSED:
            self._open.append(tag)
        given = {name: html.unescape(value or "") for name, value in _ATTRIBUTE.findall(words)}
        if tag == "a":
            self._links += 1
            return f'<a href="{self._view}/link/{self._links - 1}">'
        if tag == "img":
            return self._picture(given.get("alt", ""))
        if tag == "form":
            self._links += 1
            method = "post" if given.get("method") == "post" else "get"
            return f'<form method="{method}" action="{self._view}/form/{self._links - 1}">'
        if tag == "input" and given.get("type", "hidden") not in _INPUTS:
            return ""
        kept = "".join(f' {name}="{markup.quoted(given[name])}"'
                       for name in _ATTRIBUTES.get(tag, []) if name in given)
        # A browser drops a line end behind the tag of a text area.
        return f"<{tag}{kept}>" + "\n" * (tag == "textarea")

    def _end(self, tag: str) -> str:
        if tag not in _CLOSED:
            return f"</{tag}>"
        if tag not in self._open:
            return ""
        ended = []
        while not ended or ended[-1] != tag:
            ended.append(self._open.pop())
        return "".join(f"</{e}>" for e in ended)

    def _picture(self, alt: str) -> str:
        self._pictures += 1
        if not self._with_pictures:
            return f'<span class="picture">[{_text(alt)}]</span>' if alt else ""
        return f'<img src="{self._view}/picture/{self._pictures - 1}" alt="{markup.quoted(alt)}">'


def _text(text: str) -> str:
    """Text of a line, in which < and > stand for themselves only if they are no tag."""
    return markup.escape(html.unescape(text))


class Plain:
    """Turns the lines of one page into plain text for a terminal. Links are numbered."""

    #: Widest table that is set in columns, characters.
    WIDTH = 100
    #: Deepest list that is indented further than the one around it.
    MAX_INDENT = 8

    def __init__(self) -> None:
        self._links = 0
        self._lists: List[int] = []  # number of the next item of each open list, 0: not numbered
        self._rows: Optional[List[List[str]]] = None  # of the table that is open

    def feed(self, lines: List[str]) -> str:
        """Text of further lines."""
        return "".join(map(self._line, lines))

    def end(self, addresses: List[str]) -> str:
        """Text of a table that was not ended, and the list of the links. addresses: of all links
        and forms of the page."""
        text = self._table()
        known = [f"[{k + 1}] {a}\n" for k, a in enumerate(addresses[:self._links])]
        return text + ("\nLinks\n" + "".join(known) if known else "")

    def _line(self, line: str) -> str:
        before = ""
        for end, tag in re.findall(r"<(/?)(ul|ol|table)>", line):
            if tag == "table":
                before += self._table()
                self._rows = None if end else []
            elif end:
                del self._lists[-1:]
            else:
                self._lists.append(int(tag == "ol"))
        text = re.sub("<br>", "\n", line)
        text = re.sub(r'<img alt="([^"]*)">', r"[\1]", text)
        text = re.sub(r"<(/a|form(?: [^<>]*)?)>", self._numbered, text)
        cell = re.search(r"<(tr|td|th|caption)[ >]", line) if self._rows is not None else None
        text = html.unescape(_TAG.sub("", text)).strip("\n")
        if self._rows is not None:
            self._cell(line, " ".join(text.split()), bool(cell))
            return before
        heading = re.match(r"(?:<[a-z]+>)*<h([1-6])>", line)
        if heading:
            text = f"\n{text}\n{'=-'[heading.group(1) != '1'] * min(len(text), 78)}"
        elif "<li>" in line:
            text = self._mark() + text
        return before + (text + "\n" if text.strip() else "")

    def _numbered(self, match: "re.Match[str]") -> str:
        self._links += 1
        return f"[{self._links}]" if match[1] == "/a" else ""

    def _mark(self) -> str:
        indent = "  " * min(len(self._lists) - 1, self.MAX_INDENT)
        if self._lists and self._lists[-1]:
            self._lists[-1] += 1
            return f"{indent}{self._lists[-1] - 1}. "
        return indent + "* "

    def _cell(self, line: str, text: str, begins: bool) -> None:
        rows = self._rows
        assert rows is not None
        if "<tr>" in line or "<caption>" in line or (text and not rows):
            rows.append([])
        if begins:
            rows[-1].append(text)
        elif text and rows:  # a cell of several lines
            rows[-1][-1:] = [" ".join([*rows[-1][-1:], text])]

    def _table(self) -> str:
        """Rows of the table that is open, in columns if they fit."""
        rows = [row for row in self._rows or [] if any(row)]
        self._rows = None
        if not rows:
            return ""
        real = [row for row in rows if len(row) > 1]
        widths = [max(len(row[k]) for row in real if k < len(row))
                  for k in range(max(map(len, real), default=0))]
        if sum(widths) + 2 * len(widths) > self.WIDTH:
            return "".join(" | ".join(row) + "\n" for row in rows)
        return "".join("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()
                       + "\n" if len(row) > 1 else row[0] + "\n" for row in rows)
