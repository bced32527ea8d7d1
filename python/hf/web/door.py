# SPDX-License-Identifier: GPL-3.0-or-later
"""The door: a web server on the loopback of a reader or on the LAN of a ship, through which pages
come over HF."""
import asyncio
from collections import OrderedDict
import os
import secrets
from typing import Awaitable, Callable, Dict, List, Optional, Set, Tuple
from urllib.parse import quote, urlencode, urlsplit

from aiohttp import web
from yarl import URL

from . import login, pages, render, wire
from .estimate import Estimate
from .library import Library
from .elements import absolute
from .turns import Turns
from .users import Session, Users
from .views import View

#: Pages whose links still work, and what they may hold in all.
MAX_VIEWS, MAX_HELD = 64, 64 << 20
#: Pages that are on their way or wait for it: of one user, and of all.
MAX_ASKING, MAX_ASKING_ALL = 8, 64
#: Pages of one node that go over HF at a time, of these of one user who has logged in, and of a
#: reader of this machine. Other nodes need the shore side as well.
PLACES, PLACES_OF_ONE, PLACES_ALONE = 8, 2, 4
#: Lines that are written to the browser at once, between which others are served.
_LINES = 500
#: Octets of a form that a reader fills in.
MAX_FORM = 32768
#: Age below which a page that is kept is shown without asking, s.
FRESH_S = 600.0

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
                               "connect-src 'self'; img-src 'self'; base-uri 'none'; "
                               "form-action 'self'; frame-ancestors 'none'",
    # With no-referrer a browser would send the forms of the door with "Origin: null".
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin"}
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
#: Header of programs that are no browsers.
PROGRAM = "X-HF-Door"
#: Requests that anyone may make who reaches the door, and the beginning of those for a page whose
#: number is known.
_HARMLESS, _OF_A_VIEW = ("/", "/estimate"), "/view/"
_FILES = {"/door.css": "text/css", "/door.js": "text/javascript"}
#: Name of the session in a request.
_SESSION = "session"


class Door:
    """Serves readers of this machine, or users who have logged in. Used from one event loop.

    It refuses requests with another Host, and what other pages ask for: only the reader decides
    what goes over HF. Browsers say in Sec-Fetch-Site and Origin which page asks, but not all do.
    So what goes over HF or changes something needs the token as well, which only pages of the
    door have. A program sends PROGRAM instead, since a page of another site cannot send it.
    """

    def __init__(self, names: List[str], library: Library, estimate: Estimate, search: str,
                 mode: str, budget: int, users: Optional[Users] = None) -> None:
        """names: hosts under which the door is reached, besides its address. search: address of a
        search, with {} for the words. mode, budget: first choices of the reader. users: who must
        log in; None: nobody must."""
        self._names = {"127.0.0.1", "localhost", "[::1]", *names}
        #: Of readers of this machine. Users have one each.
        self.token = secrets.token_urlsafe(12)
        self._log_in = None if users is None else login.LogIn(users)
        self._turns = Turns(PLACES, PLACES_ALONE if users is None else PLACES_OF_ONE)
        self._library, self._estimate = library, estimate
        self._search, self._mode, self._budget = search, mode, budget
        self._views: "OrderedDict[str, View]" = OrderedDict()
        self._tasks: "Dict[str, asyncio.Task[None]]" = {}
        self._on_way: Dict[Tuple[str, str, int], View] = {}
        self._runner: Optional[web.AppRunner] = None
        #: Port of HF-PEP that leads to the shore side; 0 while the station does not run.
        self.pep_port = 0

    async def open(self, host: str, port: int) -> int:
        """Listen. Returns the port. Raises OSError."""
        @web.middleware
        async def guard(request: web.Request, handler: _Handler) -> web.StreamResponse:
            return await self._guard(request, handler)

        app = web.Application(middlewares=[guard], client_max_size=MAX_FORM)
        app.add_routes([
            web.get("/", self._front), web.get("/page", self._page),
            web.get("/plain", self._plain), web.get("/estimate", self._estimates),
            web.get("/view/{id}/link/{number}", self._link),
            web.get("/view/{id}/picture/{number}", self._picture),
            web.get("/view/{id}/form/{number}", self._form),
            web.post("/view/{id}/form/{number}", self._form),
            web.get("/view/{id}/state", self._state),
            web.post("/bookmark", self._bookmark), web.post("/forget", self._forget),
            *(web.get(path, self._file) for path in _FILES)])
        if self._log_in is not None:
            app.add_routes([web.post(login.PATH, self._log_in.enter),
                            web.post("/logout", self._log_in.leave)])
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        return int(self._runner.addresses[0][1])

    async def close(self) -> None:
        """End all pages that are on their way, and stop listening."""
        for task in self._tasks.values():
            task.cancel()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        host = request.host.rpartition(":")[0] if request.host.rpartition(":")[2].isdigit() \
            else request.host
        response: web.StreamResponse
        session = Session("", self.token, 0.0) if self._log_in is None else \
            self._log_in.session(request)
        request[_SESSION] = session
        if host.lower() not in self._names | _address_of(request):
            response = web.Response(status=403, text="Host is not this door\n")
        elif session is None and request.path not in _FILES and \
                not (request.path == login.PATH and request.method == "POST" and
                     self._is_of_the_door(request)):
            response = login.form("", 401) if PROGRAM not in request.headers else \
                web.Response(status=401, text="this door is for browsers that have logged in\n")
        elif request.path != login.PATH and session is not None and \
                not await self._is_from_here(request):
            # Another page led here. The reader decides whether it goes over HF.
            url = request.query.get("url", "") if request.path in ("/", "/page") else ""
            response = self._front_page(url, _session(request))
        else:
            try:
                response = await handler(request)
            except web.HTTPException as error:
                if error.status < 400:
                    raise
                response = web.Response(status=error.status, text=f"{error.reason}\n")
        if not response.prepared:
            response.headers.update(_HEADERS)
            if self._log_in is not None:
                response.headers["Cache-Control"] = "no-store"
        return response

    def _is_of_the_door(self, request: web.Request) -> bool:
        """Whether no page of another site asks, as far as the browser says."""
        # A proxy with the certificate may stand before a door with users.
        origins = [None, f"http://{request.host}"] + \
            [f"https://{request.host}"] * (self._log_in is not None)
        return request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin") and \
            request.headers.get("Origin") in origins

    async def _is_from_here(self, request: web.Request) -> bool:
        """Whether the reader asks, by a page of the door or by a program."""
        if not self._is_of_the_door(request):
            return False
        harmless = request.path in _HARMLESS and "search" not in request.query
        if harmless or request.path in _FILES or request.path.startswith(_OF_A_VIEW) or \
                PROGRAM in request.headers:
            return True
        fields = request.query if request.method == "GET" else await request.post()
        return secrets.compare_digest(str(fields.get("token", "")).encode(),
                                      _session(request).token.encode())

    async def _file(self, request: web.Request) -> web.Response:
        path = os.path.join(os.path.dirname(__file__), request.path[1:])
        with open(path, encoding="utf-8") as file:
            return web.Response(text=file.read(), content_type=_FILES[request.path])

    # --- the first page -------------------------------------------------------------------------

    async def _front(self, request: web.Request) -> web.Response:
        words = request.query.get("search", "").strip()
        if words:
            url = self._search.replace("{}", quote(words))
            raise web.HTTPSeeOther(self._page_path(url, self._mode, self._budget,
                                                   _session(request)))
        return self._front_page(request.query.get("url", ""), _session(request))

    def _front_page(self, url: str, session: Session) -> web.Response:
        history = self._library.history() if self._log_in is None else []
        text = pages.front(url, self._mode, self._budget, self._choices(url, self._budget),
                           self._library.bookmarks(session.user), history,
                           bool(self._search), session.token, session.user)
        return web.Response(text=text, content_type="text/html")

    def _choices(self, url: str, budget: int) -> Dict[str, Dict[str, float]]:
        """Octets and seconds of each way to read a page."""
        found: Dict[str, Dict[str, float]] = {}
        for mode in pages.WAYS:
            octets = self._estimate.octets(url, mode, budget)
            found[mode] = {"octets": octets, "seconds": round(self._estimate.seconds(octets))}
        return found

    async def _estimates(self, request: web.Request) -> web.Response:
        return web.json_response(self._choices(request.query.get("url", "").strip(),
                                               _budget(request)))

    async def _bookmark(self, request: web.Request) -> web.Response:
        form = await request.post()
        url, title = str(form.get("url", "")), form.get("title")
        self._library.bookmark(url[:2000], None if title is None else str(title)[:300],
                               _session(request).user)
        raise web.HTTPSeeOther("/")

    async def _forget(self, request: web.Request) -> web.Response:
        if self._log_in is not None:
            raise web.HTTPForbidden(reason="the pages are kept for all users")
        self._library.forget()
        raise web.HTTPSeeOther("/")

    # --- pages ----------------------------------------------------------------------------------

    def ask(self, url: str, mode: str, budget: int, form: Optional[bytes] = None,
            again: bool = True, user: str = "") -> View:
        """Ask the shore side for a page; without again, a page that is kept will do. A page that
        is on its way already is not asked for again. Raises HTTPServiceUnavailable if too many
        are on their way."""
        number, what = secrets.token_urlsafe(9), (url, mode, budget)
        if form is None and what in self._on_way:
            view = self._on_way[what]
            view.users.add(user)
            return view
        kept = self._library.get(url) if form is None else None
        if kept is not None and not again and mode != "file" and \
                (kept.complete or kept.mode == mode):
            view = View.of(number, kept, mode, budget)
        else:
            mine = sum(user in self._views[n].users for n in self._tasks)
            if mine >= MAX_ASKING or len(self._tasks) >= MAX_ASKING_ALL:
                raise web.HTTPServiceUnavailable(
                    reason=f"{len(self._tasks)} pages are on their way")
            near = self._library.near(url) if mode != "file" else None
            reference = wire.digest(near.sections) if near is not None else b""
            complete = kept is not None and kept.complete and mode == "pictures"
            request = wire.Request(url, mode, budget, reference, complete, form)
            view = View(number, request, near)
            task = asyncio.get_running_loop().create_task(self._bring(view, user))
            self._tasks[number] = task
            if form is None:
                self._on_way[what] = view
            task.add_done_callback(lambda _: self._brought(view))
        view.users.add(user)
        self._views[number] = view
        self._forget_old()
        return view

    async def _bring(self, view: View, user: str) -> None:
        async with self._turns.turn(user, view.wait):
            await view.ask(self.pep_port, self._library)

    def _brought(self, view: View) -> None:
        view.stop()
        self._tasks.pop(view.number, None)
        what = view.request.url, view.request.mode, view.request.budget
        if self._on_way.get(what) is view:
            del self._on_way[what]

    def _forget_old(self) -> None:
        """Forget the oldest pages beyond MAX_VIEWS or MAX_HELD, but none that is on its way."""
        held = sum(view.size for view in self._views.values())
        old = [n for n in self._views if n not in self._tasks]
        while len(old) > MAX_VIEWS or (old and held > MAX_HELD):
            held -= self._views.pop(old.pop(0)).size

    def _asked(self, request: web.Request) -> View:
        url = request.query.get("url", "").strip()
        if not url or len(url) > 4000:
            raise web.HTTPBadRequest(reason="url: an address is missing")
        if "://" in url and urlsplit(url).scheme not in ("http", "https"):
            raise web.HTTPBadRequest(reason="url: allowed are http:// and https://")
        mode = request.query.get("mode", self._mode)
        if mode not in wire.MODES:
            raise web.HTTPBadRequest(reason="mode: allowed are " + ", ".join(wire.MODES))
        again = "again" in request.query
        kept = self._library.get(url)
        return self.ask(url, mode, _budget(request), None, again or kept is None or
                        pages.age_s(kept.at) > FRESH_S, _session(request).user)

    async def _page(self, request: web.Request) -> web.StreamResponse:
        return await self._show(request, self._asked(request))

    async def _show(self, request: web.Request, view: View) -> web.StreamResponse:
        """Send a page to the browser as it arrives."""
        view.readers += 1
        try:
            return await (self._write_file if view.request.mode == "file" else self._write_page)(
                request, view)
        finally:
            self._stop(view)

    def _stop(self, view: View) -> None:
        """Stop a page whose last browser has left: it would take the air of others."""
        view.readers -= 1
        task = self._tasks.get(view.number)
        if task is not None and view.readers <= 0:
            task.cancel()

    async def _write_page(self, request: web.Request, view: View) -> web.StreamResponse:
        response = web.StreamResponse(headers={
            **_HEADERS, "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"})
        await response.prepare(request)
        with_pictures = view.request.mode == "pictures"
        token, user = _session(request).token, _session(request).user
        marked = any(b["url"] == view.request.url for b in self._library.bookmarks(user))
        octets = self._estimate.octets(view.request.url, view.request.mode, view.request.budget)
        text = pages.begin(view, marked, self._estimate.seconds(octets),
                           self._choices(view.request.url, view.request.budget), token)
        renderer = render.Renderer(f"/view/{view.number}", with_pictures)
        written = {"T": 0, "R": 0}
        while True:
            done = view.done
            for kind in "TR":
                lines = view.sections.get(kind, [])[written[kind]:]
                if lines and not written[kind]:
                    text += ("</section>" if kind == "R" else "") + pages.section(kind, view)
                written[kind] += len(lines)
                for first in range(0, len(lines), _LINES):
                    text += "".join(map(renderer.line, lines[first:first + _LINES]))
                    await response.write(text.encode("utf-8", "replace"))
                    text = ""
            if text:
                await response.write(text.encode("utf-8", "replace"))
                text = ""
            if done:
                break
            await view.changed()
        if not view.error and self._log_in is None:
            self._library.visited(view.request.url, view.head.get("title") or view.url)
        kept = self._library.get(view.request.url)
        file_s = self._estimate.seconds(view.head.get("file", 0))
        await response.write(pages.end(view, kept, file_s, token).encode())
        await response.write_eof()
        return response

    async def _write_file(self, request: web.Request, view: View) -> web.StreamResponse:
        """Send a document as it is, as it arrives. One that is cut is a cut answer."""
        while not view.done and "file" not in view.head:
            await view.changed()
        size = view.head.get("file", -1)
        if size < 0:
            return web.Response(status=502, text=(view.error or "no document came") + "\n")
        response = web.StreamResponse(headers={
            **_HEADERS, "Content-Type": "application/octet-stream", "Content-Length": str(size),
            "Content-Disposition": f'attachment; filename="{pages.file_name(view.url)}"',
            "X-HF-View": view.number})
        await response.prepare(request)
        written = 0
        while True:
            done, piece = view.done, bytes(view.file[written:size])
            await response.write(piece)
            written += len(piece)
            if done or written == size:
                break
            await view.changed()
        if written < size and request.transport is not None:
            request.transport.abort()
        return response

    async def _plain(self, request: web.Request) -> web.StreamResponse:
        """The text of a page as it arrives, for programs. A page that is cut is a cut answer."""
        if request.query.get("mode") == "file":
            raise web.HTTPBadRequest(reason="mode = file: only /page has it")
        view = self._asked(request)
        view.readers += 1
        try:
            return await self._write_plain(request, view)
        finally:
            self._stop(view)

    async def _write_plain(self, request: web.Request, view: View) -> web.StreamResponse:
        while not view.done and not view.sections:
            await view.changed()
        if view.error and not view.sections:
            return web.Response(status=502, text=view.error + "\n")
        response = web.StreamResponse(headers={
            **_HEADERS, "Content-Type": "text/plain; charset=utf-8", "X-HF-View": view.number})
        await response.prepare(request)
        text, plain = pages.plain_head(view), render.Plain()
        written = 0
        while True:
            done = view.done
            lines = view.sections.get("T", []) + view.sections.get("R", [])
            text += plain.feed(lines[written:])
            written = len(lines)
            if done:
                links = view.sections.get("L", []) + view.sections.get("M", [])
                text += plain.end([absolute(view.url, link) for link in links])
            await response.write(text.encode("utf-8", "replace"))
            text = ""
            if done:
                break
            await view.changed()
        if view.error and request.transport is not None:
            request.transport.abort()
        return response

    @staticmethod
    def _page_path(url: str, mode: str, budget: int, session: Session) -> URL:
        words = {"url": url, "mode": mode, **({"budget": budget} if budget else {}),
                 "token": session.token}
        # As it is: otherwise aiohttp would write the octets of the address in another way.
        return URL("/page?" + urlencode(words), encoded=True)

    def view(self, number: str) -> Optional[View]:
        """A page by the number of its view."""
        return self._views.get(number)

    def _view(self, request: web.Request) -> View:
        view = self.view(request.match_info["id"])
        if view is None or _session(request).user not in view.users:
            raise web.HTTPNotFound(reason="this page is too old: load it again")
        return view

    async def _link(self, request: web.Request) -> web.Response:
        view = self._view(request)
        address = await view.link(_number(request))
        if address is None:
            raise web.HTTPNotFound(reason="the address of this link has not arrived")
        raise web.HTTPSeeOther(self._page_path(absolute(view.url, address), view.request.mode,
                                               view.request.budget, _session(request)))

    async def _picture(self, request: web.Request) -> web.Response:
        data = await self._view(request).picture(_number(request))
        if data is None:
            raise web.HTTPNotFound(reason="no picture")
        return web.Response(body=data, content_type="image/webp")

    async def _form(self, request: web.Request) -> web.StreamResponse:
        view = self._view(request)
        address = await view.link(_number(request))
        if address is None:
            raise web.HTTPNotFound(reason="the address of this form has not arrived")
        url = absolute(view.url, address)
        if request.method == "GET":
            joined = url.partition("?")[0] + "?" + urlencode(list(request.query.items()))
            raise web.HTTPSeeOther(self._page_path(joined, view.request.mode,
                                                   view.request.budget, _session(request)))
        fields = [(k, str(v)) for k, v in (await request.post()).items()]
        return await self._show(request, self.ask(
            url, view.request.mode, view.request.budget, urlencode(fields).encode(),
            user=_session(request).user))

    async def _state(self, request: web.Request) -> web.Response:
        """How far a page is, for the line at its head."""
        view = self._view(request)
        return web.json_response({"title": view.head.get("title", ""), "done": view.done,
                                  "words": pages.progress(view)},
                                 headers={"Cache-Control": "no-store"})


def _session(request: web.Request) -> Session:
    """Who asks."""
    session: Session = request[_SESSION]
    return session


def _address_of(request: web.Request) -> Set[str]:
    """The address of the door at which a request arrived, as a Host."""
    name = request.transport.get_extra_info("sockname") if request.transport else None
    if not name:
        return set()
    return {f"[{name[0]}]" if ":" in name[0] else name[0]}


def _number(request: web.Request) -> int:
    text = request.match_info["number"]
    if not text.isdigit() or len(text) > 6:
        raise web.HTTPNotFound(reason="no such number")
    return int(text)


def _budget(request: web.Request) -> int:
    """The budget of a request in units of 1000 octets."""
    text = request.query.get("budget", "").strip() or "0"
    if not text.isdigit() or len(text) > 6:
        raise web.HTTPBadRequest(reason=f"budget = {text[:20]}: allowed are 0 to 999999 kB")
    return int(text)
