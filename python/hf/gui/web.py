# SPDX-License-Identifier: GPL-3.0-or-later
"""A small HTTP server on the loopback for the page of running stations."""
import asyncio
import contextlib
import functools
import hmac
import json
import os
import secrets
import tempfile
import threading
from typing import Any, Awaitable, Callable, Dict, Iterator, List, Optional, Tuple

from ..station.service import Services
from .listening import MAX_LISTENERS, PIECE_S
from .messages import MAX_FILE
from .snapshot import Snapshots

#: Browsers served at a time. Each holds a connection.
MAX_BROWSERS = 16
#: Time between two states of a stream, s.
PERIOD_S = 0.5
#: Time between two samples of the progress, s. They go on without a browser.
SAMPLE_S = 1.0
#: Longest accepted request body, octets, but for a file.
MAX_OCTETS = 32768

_FILES = {"/": ("page.html", "text/html"), "/page.css": ("page.css", "text/css"),
          **{f"/{name}.js": (f"{name}.js", "text/javascript")
             for name in ("page", "drawing", "facts", "messages")}}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
                               "connect-src 'self'; media-src 'self'; img-src 'self' data:; "
                               "base-uri 'none'; "
                               "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store"}

#: Actions that --control allows, by name. Each function takes the station's name and a value. It
#: raises ValueError that names the value and what is allowed.
Controls = Dict[str, Callable[[str, Any], None]]


class WebServer:
    """Serves page, state and stream of states from its own thread.

    Reachable only from this machine. It listens on 127.0.0.1 and refuses requests with another
    Host, so that no other web page can read it through a browser. Read only without controls.
    With controls, anyone who has the token may use them.
    """

    def __init__(self, snapshots: Snapshots, port: int = 0, controls: Optional[Controls] = None
                 ) -> None:
        """port: 0 for any free port. Raises RuntimeError if aiohttp is missing or the port is in
        use."""
        try:
            from aiohttp import web
        except ImportError:
            raise RuntimeError("the library aiohttp is missing (Debian: python3-aiohttp)"
                               ) from None
        self._web = web
        self._snapshots, self._controls = snapshots, controls or {}
        self.token = secrets.token_urlsafe(16) if controls else ""
        self._browsers = 0
        self._encoding = threading.Lock()
        self._encoded: Tuple[Dict[str, Any], bytes] = ({}, b"{}")
        self._streams: List["asyncio.Task[Any]"] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        started: "threading.Event" = threading.Event()
        self._started, self._trouble = started, ""
        self._wanted, self.port = port, 0
        self._thread.start()
        started.wait()
        if self._trouble:
            raise RuntimeError(self._trouble)

    @property
    def url(self) -> str:
        """The address to open, with the token if there is one."""
        return f"http://127.0.0.1:{self.port}/" + (f"#{self.token}" if self.token else "")

    @contextlib.contextmanager
    def announced(self, terminal: bool) -> Iterator[str]:
        """The address for a person. terminal: only the operator sees it. Otherwise it may end in a
        journal, which others read: the address with the token is in a file for its owner."""
        if terminal or not self.token:
            yield self.url
            return
        with tempfile.NamedTemporaryFile("w", prefix="hf-page-", encoding="ascii",
                                         dir=os.environ.get("RUNTIME_DIRECTORY")) as file:
            file.write(self.url + "\n")
            file.flush()
            yield f"{self.url.partition('#')[0]}, address with control in {file.name}"

    def join(self, services: Optional[Services]) -> None:
        """Show the programs that the services of the stations work with, and with control mails
        among the messages. None: the services end."""
        desks = {} if services is None else services.desks()
        for view in self._snapshots.views:
            name = view.station.description.name
            view.attached = (lambda: []) if services is None else \
                functools.partial(services.attached, name)
            if view.messages is not None:
                view.messages.mail = desks.get(name)

    def close(self) -> None:
        """End all connections, and the messages and questions of all stations."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        for view in self._snapshots.views:
            if view.messages is not None:
                view.messages.close()
            if view.net is not None:
                view.net.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        web = self._web

        @web.middleware
        async def guard(request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
            return await self._guard(request, handler)

        app = web.Application(middlewares=[guard], client_max_size=MAX_OCTETS)
        for path in _FILES:
            app.router.add_get(path, self._file)
        app.router.add_get("/api/state", self._state)
        app.router.add_get("/api/stream", self._stream)
        app.router.add_get("/api/audio", self._audio)
        app.router.add_post("/api/control", self._control)
        app.router.add_post("/api/file", self._upload)
        app.router.add_get("/api/messages", self._messages)
        runner = web.AppRunner(app, access_log=None)
        try:
            self._loop.run_until_complete(runner.setup())
            site = web.TCPSite(runner, "127.0.0.1", self._wanted)
            self._loop.run_until_complete(site.start())
            self.port = runner.addresses[0][1]
        except OSError as error:
            self._trouble = f"port {self._wanted} of 127.0.0.1: {os.strerror(error.errno)}"
            self._loop.run_until_complete(runner.cleanup())
            return
        finally:
            self._started.set()
        self._streams.append(self._loop.create_task(self._sample()))
        try:
            self._loop.run_forever()
        finally:
            for task in self._streams:
                task.cancel()
            self._loop.run_until_complete(runner.cleanup())
            self._loop.close()

    async def _sample(self) -> None:
        while True:
            await self._loop.run_in_executor(None, self._snapshots.sample)
            await asyncio.sleep(SAMPLE_S)

    async def _guard(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Refuse requests from other pages, and add security headers."""
        web = self._web
        mine = {f"{host}:{self.port}" for host in ("127.0.0.1", "localhost")}
        origin = request.headers.get("Origin")
        if request.host not in mine:
            response = web.Response(status=403, text="Host is not this machine\n")
        elif origin is not None and origin.removeprefix("http://") not in mine:
            response = web.Response(status=403, text="Origin is another page\n")
        else:
            try:
                response = await handler(request)
            except web.HTTPException as error:
                response = web.Response(status=error.status, text=f"{error.reason}\n")
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response

    async def _file(self, request: Any) -> Any:
        name, kind = _FILES[request.path]
        with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
            return self._web.Response(text=file.read(), content_type=kind)

    async def _state(self, _: Any) -> Any:
        return self._web.Response(body=await self._octets(), content_type="application/json",
                                  charset="utf-8")

    async def _octets(self) -> bytes:
        """The state as JSON. Computed in another thread, since a busy block may delay it."""
        return await self._loop.run_in_executor(None, self._take)

    def _take(self) -> bytes:
        """Encode each state once for all browsers. Encoding costs as much as taking the state."""
        with self._encoding:
            state = self._snapshots.take()
            if state is not self._encoded[0]:
                text = json.dumps({**state, "controls": sorted(self._controls)},
                                  separators=(",", ":"))
                self._encoded = state, text.encode()
            return self._encoded[1]

    async def _stream(self, request: Any) -> Any:
        """Send the state every PERIOD_S as server-sent events, until the browser disconnects."""
        if self._browsers >= MAX_BROWSERS:
            return self._web.Response(status=503,
                                      text=f"{MAX_BROWSERS} browsers are already connected\n")

        async def event() -> bytes:
            return b"data: %b\n\n" % await self._octets()

        self._browsers += 1
        try:
            return await self._endless(request, "text/event-stream", b"", event, PERIOD_S)
        finally:
            self._browsers -= 1

    async def _audio(self, request: Any) -> Any:
        """What a station hears, until the browser disconnects."""
        found = [v.listening for v in self._snapshots.views
                 if v.station.description.name == request.query.get("station")]
        if not found or found[0] is None:
            return self._web.Response(status=404, text="this station cannot be heard\n")
        heard = found[0]
        pieces = heard.begin()
        if pieces is None:
            return self._web.Response(status=503, text=f"{MAX_LISTENERS} already listen\n")

        async def sound() -> bytes:
            return b"".join(pieces.popleft() for _ in range(len(pieces)))

        try:
            return await self._endless(request, "audio/wav", heard.header(), sound, PIECE_S)
        finally:
            heard.end(pieces)

    async def _endless(self, request: Any, kind: str, head: bytes,
                       part: Callable[[], Awaitable[bytes]], period_s: float) -> Any:
        """Send what part() gives every period_s, until the browser disconnects."""
        response = self._web.StreamResponse(headers={**_HEADERS, "Content-Type": kind})
        task = asyncio.current_task()
        assert task is not None
        self._streams.append(task)
        try:
            await response.prepare(request)
            await response.write(head)
            while True:
                # A browser that does not read blocks only its own connection.
                await asyncio.wait_for(response.write(await part()), 10)
                await asyncio.sleep(period_s)
        except (ConnectionError, asyncio.TimeoutError):
            pass
        finally:
            self._streams.remove(task)
        return response

    def _refused(self, request: Any) -> Any:
        """The answer to a request without control or token, or None."""
        if not self._controls:
            return self._web.Response(status=403, text="read only: started without --control\n")
        given = request.headers.get("X-HF-Token", "")
        # Octets of the header that are no UTF-8 are lone surrogates here.
        if not hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self.token.encode()):
            return self._web.Response(status=403, text="wrong token\n")
        return None

    async def _control(self, request: Any) -> Any:
        refused = self._refused(request)
        if refused is not None:
            return refused
        try:
            order = json.loads(await request.text())
            return await self._act(str(order["station"]), str(order["action"]),
                                   order.get("value"))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return self._web.Response(status=400, text="malformed request\n")

    async def _act(self, name: str, action: str, value: Any) -> Any:
        """Do what a control does. A browser sees why it is refused."""
        try:
            if action not in self._controls:
                raise ValueError(f"action {action!r}: allowed are "
                                 f"{', '.join(sorted(self._controls))}")
            await self._loop.run_in_executor(None, self._controls[action], name, value)
        except (ValueError, KeyError, TypeError) as error:
            text = str(error) if isinstance(error, ValueError) else "malformed request"
            return self._web.Response(status=400, text=f"{text}\n")
        return self._web.Response(text="done\n")

    async def _upload(self, request: Any) -> Any:
        """Send a file: the body. Query: station, to, name."""
        refused = self._refused(request)
        if refused is not None:
            return refused
        data = bytearray()
        async for part in request.content.iter_chunked(65536):
            data += part
            if len(data) > MAX_FILE:
                return self._web.Response(status=413, text=f"file: allowed are 1 to {MAX_FILE} "
                                                           "octets\n")
        query = request.query
        return await self._act(query.get("station", ""), "file", {
            "to": query.get("to"), "name": query.get("name"), "data": bytes(data)})

    async def _messages(self, request: Any) -> Any:
        """The messages of a station. They need the token, since they are private."""
        refused = self._refused(request)
        if refused is not None:
            return refused
        for view in self._snapshots.views:
            if view.station.description.name == request.query.get("station") and \
                    view.messages is not None:
                # In another thread: a mail gateway may be writing its spool to disk.
                return self._web.json_response(
                    await self._loop.run_in_executor(None, view.messages.take))
        return self._web.Response(status=404, text="this station has no messages\n")
