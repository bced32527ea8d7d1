# SPDX-License-Identifier: GPL-3.0-or-later
"""The small subset of HTML that a reduced page consists of."""

#: Elements with a place of their own: they are written with an end tag.
CONTAINERS = {"ul", "ol", "dl", "blockquote", "table", "form", "pre"}
#: Elements of containers, without an end tag.
ITEMS = {"li", "dt", "dd", "tr", "td", "th", "caption"}
#: Elements without an end tag: a heading is one line.
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
#: Elements within a line, by the elements of HTML that become them.
INLINE = {"b": "b", "strong": "b", "i": "i", "em": "i", "cite": "i", "code": "code",
          "kbd": "code", "samp": "code", "sub": "sub", "sup": "sup", "a": "a", "u": "u",
          "s": "s", "del": "s"}
#: Every element of the result.
MARKUP = (CONTAINERS | ITEMS | HEADINGS | set(INLINE.values()) |
          {"p", "br", "hr", "img", "input", "select", "option", "textarea", "button"})


def escape(text: str) -> str:
    """Text as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def quoted(text: str) -> str:
    """Text as the value of an attribute, between quotation marks. It stays in one line."""
    return escape(text).replace('"', "&quot;").replace("\n", "&#10;")


def links_in(line: str) -> int:
    """Addresses that a line of markup takes from the links of its page."""
    return line.count("<a>") + line.count("<form>") + line.count("<form ")
