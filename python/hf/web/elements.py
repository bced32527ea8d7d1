# SPDX-License-Identifier: GPL-3.0-or-later
"""What elements of a document mean: where they lead, what they show, whether they are seen."""
import re
from typing import NamedTuple, Optional, Tuple
from urllib.parse import urljoin, urlsplit

from lxml import html

from .markup import CONTAINERS, ITEMS

#: Longest address.
MAX_URL = 2000
#: Smaller pictures are marks and spacers, smaller frames belong to trackers.
MIN_SIDE = 24
#: Most characters in the fields of a form that the reader does not see. They cross HF twice.
MAX_FIELDS = 16_000

#: Elements that are left out with all that is in them.
_DROPPED = {"script", "style", "noscript", "noframes", "template", "canvas", "head", "link",
            "meta", "datalist", "dialog"}
#: Parts of a page that come after its text.
_LATER_TAGS = {"nav", "aside", "footer"}
_LATER_ROLES = {"navigation", "complementary", "contentinfo", "banner", "search"}
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_TRACKER = re.compile(r"(?:^|&)(?:utm_[a-z]+|fbclid|gclid|mc_[a-z]+)=[^&]*")
#: Time and address of a refresh. Nothing behind the time can fail, so it never goes back.
_REFRESH = re.compile(r"([0-9.]+)\s*[;,]?\s*(?:url\s*=\s*)?(.*)", re.I | re.S)
_FIELDS = ("input", "select", "textarea", "button")
#: Elements that show another document: their name for a reader, and the attribute of its address.
ELSEWHERE = {"iframe": ("frame", "src"), "frame": ("frame", "src"), "object": ("object", "data"),
             "embed": ("object", "src"), "audio": ("sound", "src"), "video": ("video", "src"),
             "area": ("", "href")}


class Picture(NamedTuple):
    """A picture of a page: its address, and the width at which it is shown, 0 if not known."""

    url: str
    width: int


class Base(NamedTuple):
    """What addresses in a document are relative to.

    base: for its own references (its element base). page: its address, for shorter().
    """

    base: str
    page: str


def absolute(base: str, address: str) -> str:
    """An address from a reference. Empty if it is none."""
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def shorter(address: str, base: Base) -> Optional[str]:
    """An address in a document as a short reference, relative to the address of the page, without
    its fragment and the words of trackers. None: nothing that the door can fetch."""
    try:
        to = urlsplit(urljoin(base.base, address.strip()))
        here = urlsplit(base.page)
    except ValueError:
        return None
    if to.scheme not in ("http", "https") or not to.netloc:
        return None
    query = _TRACKER.sub("", to.query).lstrip("&")
    path = (to.path or "/") + (f"?{query}" if query else "")
    if any(ord(c) <= 32 for c in path + to.netloc):
        path = re.sub(r"[\x00-\x20]", lambda m: f"%{ord(m.group()):02X}", path)
    if (to.scheme, to.netloc) == (here.scheme, here.netloc):
        return path[:MAX_URL] if not path.startswith("//") else f"{to.scheme}://{to.netloc}{path}"
    prefix = f"//{to.netloc}" if to.scheme == here.scheme else f"{to.scheme}://{to.netloc}"
    return (prefix + path)[:MAX_URL]


def hidden(element: html.HtmlElement) -> bool:
    """Whether an element is never seen."""
    return element.tag in _DROPPED or element.get("hidden") is not None or \
        bool(_HIDDEN.search(element.get("style") or ""))


def is_later(element: html.HtmlElement) -> bool:
    """Whether an element comes after the main text."""
    return element.tag in _LATER_TAGS or element.get("role") in _LATER_ROLES


def link_of(element: html.HtmlElement, base: Base) -> Optional[str]:
    """The reference of a link, or None."""
    href = (element.get("href") or "").strip()
    if not href or href.startswith("#"):
        return None
    return shorter(href, base)


def label_of(element: html.HtmlElement) -> str:
    """What an element is called where it shows no text."""
    found = next((element.get(name) for name in ("aria-label", "title", "alt", "alttext")
                  if (element.get(name) or "").strip()), None)
    if found is None and element.tag == "svg":
        found = next((t.text for t in element.iter("title", "{*}title") if t.text), None)
    return " ".join((found or "").split())[:200]


def elsewhere(element: html.HtmlElement, base: Base) -> Optional[Tuple[str, str]]:
    """The reference and the words for what stands in a document of its own: a frame, an object,
    sound, video, an area of a picture. None: it shows nothing, or cannot be fetched."""
    kind, attribute = ELSEWHERE[element.tag]
    if element.tag == "iframe" and _is_small(element):
        return None
    sources = [element.get(attribute), *(s.get("src") for s in element.iter("source"))]
    source = next((s.strip() for s in sources if s and s.strip()), "")
    address = shorter(source, base) if source and not source.startswith("#") else None
    if address is None:
        return None
    path = urlsplit(address).path.rstrip("/")
    name = label_of(element) or (element.get("name") or "").strip()[:60] or \
        path.rpartition("/")[2][:60] or address[:60]
    return address, f"{kind}: {name}" if kind else name


def _is_small(element: html.HtmlElement) -> bool:
    sizes = [(element.get(name) or "").strip() for name in ("width", "height")]
    return any(size.isdigit() and len(size) < 6 and int(size) < MIN_SIDE for size in sizes)


def picture_of(element: html.HtmlElement, base: Base) -> Optional[Picture]:
    """A picture that is worth sending, or None."""
    if _is_small(element):
        return None
    width = (element.get("width") or "").strip()
    sources = [(element.get(name) or "").strip()
               for name in ("data-src", "data-original", "data-lazy-src", "src")]
    sources += [(element.get(name) or "").strip().split(" ")[0].rstrip(",")
                for name in ("srcset", "data-srcset")]
    for source in sources:
        if source and not source.startswith("data:"):
            address = shorter(source, base)
            return None if address is None else Picture(
                address, int(width) if width.isdigit() and len(width) < 6 else 0)
    return None


def refused_form(element: html.HtmlElement, base: Base) -> str:
    """Why a form with fields does not pass here, in words. Empty: it does."""
    fields = list(element.iter(*_FIELDS))
    kinds = {(c.get("type") or "").lower() for c in fields}
    if "password" in kinds:
        return "a log-in, which does not pass here"
    if "file" in kinds:
        return "a form that sends files, which does not pass here"
    unseen = sum(len(c.get("value") or "") for c in element.iter("input", "option"))
    if unseen > MAX_FIELDS:
        return f"a form with {unseen} characters in its fields, of which {MAX_FIELDS} pass here"
    if fields and shorter(element.get("action") or base.page, base) is None:
        return "a form whose address is not on the web"
    return ""


def form_address(element: html.HtmlElement, base: Base) -> Optional[str]:
    """Where a form goes. None: it has no fields, or does not pass here."""
    if next(element.iter(*_FIELDS), None) is None or refused_form(element, base):
        return None
    return shorter(element.get("action") or base.page, base)


def start_of(element: html.HtmlElement, address: Optional[str]) -> Optional[str]:
    """The start tag of a container or item. None: another block. address: of a form."""
    tag = element.tag
    if tag == "table":
        return "<table>" if is_data_table(element) else None
    if tag in ("tr", "td", "th", "caption"):
        table = next(element.iterancestors("table"), None)
        if table is None or not is_data_table(table):
            return None
        span = element.get("colspan") or ""
        wide = f' colspan="{span}"' if span.isdigit() and 1 < int(span) < 100 else ""
        return f"<{tag}{wide if tag in ('td', 'th') else ''}>"
    if tag == "form":
        if address is None:
            return None
        post = (element.get("method") or "").lower() == "post"
        return '<form method="post">' if post else "<form>"
    return f"<{tag}>" if tag in CONTAINERS | ITEMS else None


def is_data_table(table: html.HtmlElement) -> bool:
    """Whether a table holds data, and not the layout of the page."""
    known = table.get("data-hf-table")
    if known is None:
        rows = sum(1 for _ in zip(table.iter("tr"), range(2)))
        cells = sum(1 for _ in zip(table.iter("td", "th"), range(4)))
        nested = next((t for t in table.iterdescendants("table", "form", "h1")), None)
        known = "1" if rows > 1 and cells > 3 and nested is None else "0"
        table.set("data-hf-table", known)
    return known == "1"


def refresh_of(root: html.HtmlElement, base: Base) -> Optional[Tuple[float, str]]:
    """Seconds after which a document leads elsewhere by itself, and the address. None: never."""
    element = next((e for e in root.iter("meta")
                    if (e.get("http-equiv") or "").strip().lower() == "refresh"), None)
    if element is None:
        return None
    found = _REFRESH.match((element.get("content") or "")[:2 * MAX_URL].strip())
    address = found[2].strip().strip("'\"").strip() if found else ""
    to = absolute(base.base, address) if address else ""
    if found is None or not to.startswith(("http://", "https://")) or \
            to.partition("#")[0] == base.page.partition("#")[0]:
        return None
    try:
        return float(found[1]), to
    except ValueError:
        return None
