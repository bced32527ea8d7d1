# SPDX-License-Identifier: GPL-3.0-or-later
"""The door's own HTML: its first page, and what stands around a page."""
import re
import time
from typing import Any, Dict, List, Optional
from urllib.parse import urlencode, urlsplit

from ..gui.words import ago, amount, duration
from .library import Kept
from .markup import quoted
from .views import View

_HEAD = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="/door.css"><link rel="icon" href="data:,">
</head><body>
"""
#: Stands behind what it works on. The end of a page, which "defer" waits for, may be minutes away.
_SCRIPT = '<script src="/door.js"></script>'
#: What each way to read a page is called.
WAYS = {"text": "text", "pictures": "text with small pictures", "as it is": "as it is"}


def age_s(at: float) -> float:
    """Seconds since a time of this machine's clock."""
    return max(0.0, time.time() - at)


def _choice(mode: str, chosen: str, choices: Dict[str, Dict[str, float]]) -> str:
    found = choices[mode]
    return (f'<label><input type="radio" name="mode" value="{mode}"'
            f'{" checked" if mode == chosen else ""}> {WAYS[mode]}, '
            f'<span data-estimate="{mode}">{cost(found)}</span></label>')


def cost(choice: Dict[str, float]) -> str:
    """An estimate in words."""
    return f"about {duration(choice['seconds'])}, {amount(int(choice['octets']))}"


def _field(token: str) -> str:
    return f'<input type="hidden" name="token" value="{quoted(token)}">'


def form(url: str, mode: str, budget: int, choices: Dict[str, Dict[str, float]], token: str
         ) -> str:
    """The form for an address, with what each way will cost. token: of the door, see there."""
    ways = "".join(_choice(way, mode, choices) for way in ("text", "pictures"))
    return f"""<form class="ask" action="/page" method="get">{_field(token)}
<label class="long">address <input name="url" value="{quoted(url)}" inputmode="url" required
 autocapitalize="none" spellcheck="false"
 placeholder="en.wikipedia.org/wiki/Shortwave_radio"></label>
<button>Open</button>
<fieldset><legend>how</legend>{ways}
<label>stop after <input name="budget" type="number" min="0" max="999999" size="6"
 value="{budget or ''}" placeholder="no limit"> kB</label></fieldset>
</form>
"""


def log_in(words: str) -> str:
    """The form in which a user logs in. words: what went wrong, or empty."""
    return _HEAD.format(lang="en", title="HF web door") + f"""<main class="door">
<h1>The web over HF</h1>{f'<p class="bad">{quoted(words)}</p>' if words else ""}
<form method="post" action="/login">
<p><label>name <input name="name" required autocomplete="username" autocapitalize="none"></label>
<p><label>password <input name="password" type="password" required
 autocomplete="current-password"></label>
<p><button>Log in</button></form>
<p class="note">Unless the address of this page begins with https, nothing here is encrypted:
others on this network can read what you write and read.</p></main></body></html>
"""


def front(url: str, mode: str, budget: int, choices: Dict[str, Dict[str, float]],
          bookmarks: List[Dict[str, Any]], history: List[Dict[str, Any]], search: bool,
          token: str, user: str = "") -> str:
    """The first page. user: who is logged in; empty: a door without users."""
    search_form = f"""<form class="ask" action="/" method="get">{_field(token)}
<label class="long">search
<input name="search" required></label><button>Search</button></form>
""" if search else ""
    return _HEAD.format(lang="en", title="HF web door") + f"""<main class="door">
<h1>The web over HF</h1>
{form(url, mode, budget, choices, token)}{search_form}
{_list("Bookmarks", bookmarks, token)}{_list("History", history[:30], token)}
{f'<form method="post" action="/forget">{_field(token)}<button>Forget history and pages</button>'
 '</form>' if history else ""}
{f'<form method="post" action="/logout">{_field(token)}<button>Log out {quoted(user)}</button>'
 '</form>' if user else ""}
<section class="note"><h2>What to know</h2>
<p>The shore station fetches each page for you, so it sees what you read and write in forms. It
checks the certificates of the sites.</p>
<p>Log-ins do not pass here: fields for passwords are left out.
To read a page <em>as it is</em>, let the browser use HF-PEP as its proxy. That is private, and a
page of the usual size then takes {cost(choices["as it is"])}.</p></section>
</main>{_SCRIPT}</body></html>
"""


def _list(title: str, entries: List[Dict[str, Any]], token: str) -> str:
    if not entries:
        return ""
    items = "".join(f'<li><a href="/page?{_query(e["url"], token)}">'
                    f'{quoted(e["title"] or e["url"])}</a> <small>{quoted(e["url"])}</small>'
                    for e in entries)
    return f"<section><h2>{title}</h2><ul>{items}</ul></section>"


def _query(url: str, token: str) -> str:
    return quoted(urlencode({"url": url, "token": token}))


def begin(view: View, marked: bool, seconds: float, choices: Dict[str, Dict[str, float]],
          token: str) -> str:
    """What stands above a page."""
    request = view.request
    title = view.head.get("title") or request.url
    return _HEAD.format(lang="en", title=quoted(title)) + f"""<header>
<details><summary><a href="/">Door</a> <span id="state" role="status" data-view="{view.number}">
{quoted(progress(view, seconds))}</span></summary>
{form(request.url, request.mode, request.budget, choices, token)}
<form method="post" action="/bookmark">{_field(token)}
<input type="hidden" name="url" value="{quoted(request.url)}">
{'' if marked else f'<input type="hidden" name="title" value="{quoted(title)}">'}
<button>{"Remove bookmark" if marked else "Bookmark"}</button></form>
<p><a href="{quoted(view.url)}">{quoted(view.url)}</a> as it is, through the browser's proxy</p>
</details></header>{_SCRIPT}
<main>
"""


def not_encrypted(view: View) -> str:
    """What a reader must know of a page that the shore side has by plain HTTP; else empty."""
    if not view.url.startswith("http://"):
        return ""
    return ("Not encrypted between the shore station and the site: others on the way can read and "
            "change it.")


def plain_head(view: View) -> str:
    """What stands above a page in a terminal."""
    lines = [view.head.get("title", ""), not_encrypted(view)]
    return "".join(line + "\n\n" for line in lines if line)


def section(kind: str, view: View) -> str:
    """The start of the main text (T), or of what stands around it (R)."""
    head = view.head
    direction = ' dir="rtl"' if head.get("rtl") else ""
    language = f' lang="{quoted(head["lang"])}"' if head.get("lang") else ""
    name = "main" if kind == "T" else "rest"
    warning = not_encrypted(view) if kind == "T" else ""
    return (f'<p class="bad">{warning}</p>\n' if warning else "") + \
        f'<section class="{name}"{direction}{language}>\n'


def progress(view: View, seconds: Optional[float] = None) -> str:
    """How far a page is, in one line. seconds: the estimate for the whole."""
    if not view.done and view.place:
        return f"waiting until others have read, number {view.place} in the queue"
    if not view.done:
        waited = time.monotonic() - view.began
        if not view.octets:
            far = f"about {duration(seconds)} in all" if seconds else f"{duration(waited)} so far"
            return f"asking the shore station, {far}"
        pictures = f", {len(view.pictures)} pictures" if view.pictures else ""
        return f"{amount(view.octets)}{pictures} so far, {duration(waited)}"
    if view.error:
        return f"not complete: {view.error}" if view.sections else view.error
    took = duration(view.took_s)
    if view.same:
        return f"unchanged, {view.octets} octets in {took}"
    if not view.octets:
        return "kept here"
    return f"{amount(view.octets)} in {took}"


def file_name(url: str) -> str:
    """Name of the file for a document, from its address."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", urlsplit(url).path.rpartition("/")[2])
    return name.lstrip("._-")[-80:].lstrip("._-") or "document"


def end(view: View, kept: Optional[Kept], file_s: float, token: str) -> str:
    """What stands below a page. file_s: time for its document as it is."""
    notes, size = [], view.head.get("file", 0)
    again = (f"/page?{_query(view.request.url, token)}&amp;mode={view.request.mode}"
             "&amp;again=1")
    if view.error:
        notes.append(f'<p class="bad">{quoted(progress(view))}</p>')
    if view.head.get("status"):
        notes.append(f"<p>The site answered with status {view.head['status']}.</p>")
    if view.head.get("file"):
        notes.append(f'<p><a href="/page?{_query(view.url, token)}&amp;mode=file" download>'
                     f'Fetch it as it is</a>, {cost({"seconds": file_s, "octets": size})}.</p>')
    if view.head.get("cut"):
        notes.append(f"<p>The page is longer than {amount(view.head['cut'])}. The rest was "
                     "not read.</p>")
    if view.left:
        parts = [f"{amount(view.left['octets'])} of text" if view.left.get("octets") else "",
                 f"{view.left['pictures']} pictures" if view.left.get("pictures") else ""]
        notes.append(f"<p>Stopped after {view.request.budget} kB. Left: "
                     f"{' and '.join(filter(None, parts))}. "
                     f'<a href="{again}">Get the rest</a></p>')
    elif kept is not None and not view.octets:
        notes.append(f"<p>Kept here, {ago(age_s(kept.at))}. "
                     f'<a href="{again}">Ask whether it has changed</a></p>')
    return f'</section></main><footer>{"".join(notes)}</footer></body></html>\n'
