# SPDX-License-Identifier: GPL-3.0-or-later
"""A web server on the loopback with pages for the tests."""
import http.server
import io
import threading
from typing import Any, Callable, Dict, Tuple

from PIL import Image

#: Answer to a request: status, headers, octets.
Answer = Tuple[int, Dict[str, str], bytes]
Page = Callable[[str, bytes], Answer]

ARTICLE = """<!doctype html><html lang="en"><head><title>Short waves &amp; you</title>
<script>var secret = "script text";</script><style>p { color: red }</style></head><body>
<header role="banner"><nav><a href="/">Home</a>
<a href="/about?utm_source=x&amp;id=3">About</a></nav>
<form action="/find"><input name="q" placeholder="Search"><button>Go</button></form></header>
<main><h1>Short waves</h1>
<p>Radio between <b>3 and 30</b> MHz <a href="https://other.example/a b">travels</a> far.</p>
<p style="display:none">never seen</p><div hidden>nor this</div>
<img src="/wave.png" alt="A wave" width="300" height="200">
<ul><li>by day <a href="#note">high</a><li>by night low <ul><li>and lower</ul></ul>
<table><caption>Bands</caption><tr><th>m</th><th>MHz</th></tr><tr><td>40</td><td>7</td></tr>
<tr><td>20</td><td>14 &lt; 15</td></tr></table>
<pre>one
  two

three</pre>
<form action="/say" method="post"><input name="name" value="Anna &quot;A&quot;"><input
type="hidden" name="token" value="t1"><select name="band"><option
value="40">40 m<option>20 m</select>
<textarea name="text">hello</textarea><input type="submit" value="Send"></form>
<form action="/login"><input name="user"><input type="password" name="pass"></form>
</main><aside>Aside words</aside><footer>Footer words <img src="/foot.png" alt="mark"></footer>
</body></html>"""


def picture(width: int = 300, height: int = 200) -> bytes:
    """A PNG."""
    out = io.BytesIO()
    Image.effect_noise((width, height), 60).convert("RGB").save(out, "PNG")
    return out.getvalue()


def html(text: str) -> Answer:
    """A page."""
    return 200, {"Content-Type": "text/html; charset=utf-8"}, text.encode()


class Server:
    """Serves answers by path; a context manager. posts: bodies of POSTs, by path."""

    def __init__(self, pages: Dict[str, Any], host: str = "127.0.0.1") -> None:
        """pages: an Answer, or a function of path and body that makes one, by path. host: of the
        loopback."""
        self.pages, self.posts, self.asked = pages, {}, []  # type: ignore[var-annotated]
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.posts[self.path] = body
                self._answer(body)

            def _answer(self, body: bytes) -> None:
                server.asked.append(self.path)
                page = server.pages.get(self.path.partition("?")[0])
                status, headers, octets = page(self.path, body) if callable(page) else \
                    page or (404, {"Content-Type": "text/html"}, b"<p>not here</p>")
                self.send_response(status)
                for name, value in {"Content-Length": str(len(octets)), **headers}.items():
                    if value:
                        self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(octets)
                except ConnectionError:
                    pass

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer((host, 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """The address, without a slash at its end."""
        host, port = self._server.server_address[:2]
        return f"http://{host}:{port}"

    def __enter__(self) -> "Server":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def usual() -> Dict[str, Any]:
    """The pages of a small site."""
    return {"/": html(ARTICLE), "/wave.png": (200, {"Content-Type": "image/png"}, picture()),
            "/find": lambda path, _: html(f"<p>found {path}</p>"),
            "/say": lambda _, body: html(f"<p>said {body.decode()}</p>"),
            "/moved": (301, {"Location": "/"}, b""),
            "/text": (200, {"Content-Type": "text/plain"}, b"plain <text>\n\nand more")}
