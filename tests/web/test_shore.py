# SPDX-License-Identifier: GPL-3.0-or-later
"""The shore side by itself: encryption, forms and the limits of a page."""
import asyncio
import socket
import ssl
import subprocess
import threading

import pytest

from gnuradio.hf import station
from gnuradio.hf.web import fetch, pages, shore, views, wire
import sites


class Sites:
    """A host with a web server without encryption, and perhaps one with a bad certificate. A
    request for port 443 or 80 of site.example goes to it, as if a route led there."""

    def __init__(self, monkeypatch, tmp_path, encrypted, plain=None):
        """encrypted: what answers at port 443: "certificate" (self signed), "reset", "refused" or
        "silent"."""
        self.plain = sites.Server(plain or sites.usual())
        self.encrypted = {"certificate": self._certificate, "reset": self._reset,
                          "refused": self._refused, "silent": self._silent}[encrypted](tmp_path)
        create = asyncio.BaseEventLoop.create_connection
        of_the_system = socket.getaddrinfo
        ports = {443: self.encrypted.getsockname()[1] if self.encrypted else 1,
                 80: int(self.plain.url.rpartition(":")[2])}

        async def create_connection(loop, factory, host=None, port=None, **words):
            return await create(loop, factory, host, ports.get(port, port), **words)

        def getaddrinfo(host, *arguments, **words):
            host = "127.0.0.1" if host == "site.example" else host
            return of_the_system(host, *arguments, **words)

        monkeypatch.setattr(asyncio.BaseEventLoop, "create_connection", create_connection)
        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

    @staticmethod
    def _listening():
        made = socket.socket()
        made.bind(("127.0.0.1", 0))
        made.listen()
        return made

    def _certificate(self, tmp_path):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-keyout", tmp_path / "key",
                        "-out", tmp_path / "cert", "-subj", "/CN=site.example"], check=True,
                       capture_output=True)
        server = sites.Server(sites.usual())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
        self.wrapped = server
        server._server.socket = context.wrap_socket(server._server.socket, server_side=True,
                                                    do_handshake_on_connect=False)
        server._thread.start()
        return server._server.socket

    def _reset(self, _):
        made = self._listening()
        made.settimeout(30)

        def serve():
            while True:
                try:
                    near, _ = made.accept()
                except OSError:
                    return
                near.recv(1)  # of the hello; the rest unread makes the close a reset
                near.close()
        threading.Thread(target=serve, daemon=True).start()
        return made

    def _refused(self, _):
        return None

    def _silent(self, _):
        return self._listening()

    def __enter__(self):
        self.plain.__enter__()
        return self

    def __exit__(self, *_):
        self.plain.__exit__()
        if self.encrypted:
            self.encrypted.close()


def answer(request, allow=("127.0.0.0/8",)):
    """What a shore side fetches, or its error."""
    async def run():
        made = shore.Shore(list(allow), lambda line: None)
        try:
            return await made.fetch(request)
        except fetch.FetchError as error:
            return str(error)
        finally:
            await made.close()
    return asyncio.run(run())


@pytest.mark.parametrize("encrypted", ["certificate", "reset"])
@pytest.mark.parametrize("form", [None, b"secret=1"])
def test_a_failure_of_tls_never_leads_to_plain_http(monkeypatch, tmp_path, encrypted, form):
    with Sites(monkeypatch, tmp_path, encrypted) as made:
        found = answer(wire.Request("site.example/say", form=form))
        assert isinstance(found, str) and "site.example" in found
        assert made.plain.asked == []


def test_without_encryption_there_plain_http_is_used_but_not_for_forms(monkeypatch, tmp_path):
    with Sites(monkeypatch, tmp_path, "refused") as made:
        assert answer(wire.Request("site.example/")).url == "http://site.example/"
        assert answer(wire.Request("http://site.example/")).status == 200
        assert isinstance(answer(wire.Request("site.example/say", form=b"secret=1")), str)
        assert isinstance(answer(wire.Request("https://site.example/")), str)
        assert made.plain.posts == {}


def test_peers_must_be_named():
    for peers, word in (([], "needs peers"), (["x"], "addresses of"),
                        (["31.255.255.255"], "addresses of"), (["1.2.0.1", "*"], "addresses of")):
        with pytest.raises(station.StationError, match=word):
            station.Web(role="shore", peers=peers).check()
    station.Web(role="shore", peers=["*"]).check()


def test_a_silent_port_counts_as_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(fetch, "CONNECT_S", 1.0)
    with Sites(monkeypatch, tmp_path, "silent"):
        assert answer(wire.Request("site.example/")).status == 200


def test_a_form_is_repeated_only_where_http_says_so():
    def fetched(status):
        pages = {"/form": (status, {"Location": "/to"}, b""), "/to": sites.html("<p>there")}
        with sites.Server(pages) as server:
            found = answer(wire.Request(server.url + "/form", form=b"a=1"))
            assert found.body == b"<p>there" and server.asked == ["/form", "/to"]
            return server.posts
    for status in (301, 302, 303):
        assert fetched(status) == {"/form": b"a=1"}
    for status in (307, 308):
        assert fetched(status) == {"/form": b"a=1", "/to": b"a=1"}


def parts_of(document, kind):
    """Parts of the answer for a page."""
    async def run():
        with sites.Server({"/": (200, {"Content-Type": kind}, document)}) as server:
            made = shore.Shore(["127.0.0.0/8"], lambda line: None)
            listening = await asyncio.start_server(made.serve, "127.0.0.1", 0)
            reader, writer = await asyncio.open_connection(
                *listening.sockets[0].getsockname()[:2])
            writer.write(wire.encode_request(wire.Request(server.url + "/")))
            writer.write_eof()
            found = list(wire.Decoder().feed(await asyncio.wait_for(reader.read(), 60)))
            writer.close()
            listening.close()
            await made.close()
            return found
    return asyncio.run(run())


#: Documents that are larger than a page may be, and their types.
LARGE = {
    "lines": (b"x\n" * 400_000, "text/plain"), "characters": (b"<" * 3_900_000, "text/plain"),
    "links": (b"".join(b'<p><a href="/%d%s">w</a>' % (n, b"x" * 1900) for n in range(4000)),
              "text/html")}


@pytest.mark.parametrize("name", LARGE)
def test_a_page_is_cut_at_what_a_door_takes(name):
    document, kind = LARGE[name]
    room, kinds = wire.Room(), []
    for part, octets in parts_of(document, kind):
        kinds.append(part)
        if part in "TLRM":
            wire.decode_lines(octets, [], room)  # raises if the page is too large
        if part == "H":
            assert b'"cut"' in octets
    assert kinds[0] == "H" and kinds[-1] == "E"


@pytest.mark.parametrize("asked, head, warned", [
    ("site.example", {}, False), ("site.example", {"url": "http://site.example/"}, True),
    ("http://site.example/", {}, True),
    ("http://site.example/", {"url": "https://site.example/"}, False)])
def test_a_page_by_plain_http_says_so_at_its_head(asked, head, warned):
    view = views.View("v", wire.Request(asked), None)
    view.head = head
    assert ("Not encrypted" in pages.section("T", view)) == warned
    assert ("Not encrypted" in pages.plain_head(view)) == warned
    assert "Not encrypted" not in pages.section("R", view)


def test_answers_to_several_readers_take_turns():
    """A short page is not behind a long one that was there before. A lone one does not wait."""
    async def run():
        now, given = [0.0], []
        pace = shore.Pace(lambda: now[0], lambda: 9600.0)

        async def answer(name, parts):
            await asyncio.sleep(0)  # the other one has begun, too
            for part in range(parts):
                await pace.wait(1200)  # a second on the air
                given.append((name, part, now[0]))
            pace.answers -= 1

        async def time_passes():
            while True:
                await asyncio.sleep(0.005)
                now[0] += 0.5

        async def both(*parts):
            pace.answers = 2
            await asyncio.gather(*(answer(*part) for part in parts))

        pace.answers = 1
        await answer("lone", 20)
        assert given[-1][2] == 0.0
        now[0] = 20.0
        clock = asyncio.ensure_future(time_passes())
        await both(("long", 30), ("short", 5))
        names = [name for name, _, _ in given[20:]]
        # The first one has AHEAD_S and a part, and then every second part.
        first = int(shore.AHEAD_S) + 2
        assert names.index("short") <= first and names[first:first + 10].count("short") == 5
        short = next(at for name, part, at in given if name == "short" and part == 4)
        assert 25 <= short <= 33
        now[0] = 0.0  # another clock
        await both(("a", 3), ("b", 3))
        clock.cancel()

    asyncio.run(asyncio.wait_for(run(), 30))
