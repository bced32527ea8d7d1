# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of markup as HTML for the browser. What the shore side sends is not trusted: only known
elements and attributes pass, everything else becomes text."""
import html
import re
from typing import Dict, List

from . import reduce

_TAG = re.compile(r'<(/?)([a-z0-9]+)((?: [a-z]+(?:="[^"<>]*")?)*)>')
_ATTRIBUTE = re.compile(r' ([a-z]+)(?:="([^"<>]*)")?')
#: Attributes that pass, by element.
_ATTRIBUTES: Dict[str, List[str]] = {
    "td": ["colspan"], "th": ["colspan"], "form": ["method"],
    "input": ["type", "name", "value", "checked", "placeholder"],
    "select": ["name", "multiple"], "option": ["value", "selected"], "textarea": ["name"],
    "button": ["name", "value"]}
#: Elements of a line that a browser does not end by itself.
_CLOSED = reduce.HEADINGS | set(reduce.INLINE.values())
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
        if tag not in reduce.MARKUP:
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
        kept = "".join(f' {name}="{reduce.quoted(given[name])}"'
                       for name in _ATTRIBUTES.get(tag, []) if name in given)
        return f"<{tag}{kept}>"

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
        return f'<img src="{self._view}/picture/{self._pictures - 1}" alt="{reduce.quoted(alt)}">'


def _text(text: str) -> str:
    """Text of a line, in which < and > stand for themselves only if they are no tag."""
    return reduce.escape(html.unescape(text))


def plain(lines: List[str]) -> str:
    """Lines of markup as plain text, for a terminal."""
    out: List[str] = []
    for line in lines:
        text = re.sub(r"<br>", "\n", line)
        text = re.sub(r"<(td|th)[^>]*>", "\t", text)
        text = re.sub(r'<img alt="([^"]*)">', r"[\1]", text)
        mark = "* " if "<li>" in line else ""
        heading = re.match(r"(?:<[a-z]+>)*<h([1-6])>", line)
        text = html.unescape(_TAG.sub("", text)).strip("\n")
        if heading:
            text = f"\n{text}\n{'=-'[heading.group(1) != '1'] * min(len(text), 78)}"
        if text.strip():
            out.append(mark + text)
    return "".join(text + "\n" for text in out)
