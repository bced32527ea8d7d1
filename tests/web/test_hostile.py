# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages that want to hurt the shore side: private addresses, bombs, endless things."""
import asyncio
import gzip
import io
import os
import shutil
import socket
import subprocess
import sys
import time
import zlib

import aiohttp
from PIL import Image
import pytest

from gnuradio.hf.web import fetch, pictures, reduce, script, shore, wire
import sites

#: What a hostile page may cost in memory beyond the program itself, octets.
MAX_MEMORY = 200_000_000


@pytest.mark.parametrize("address, permitted", [
    ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("127.0.0.1", False),
    ("10.1.2.3", False), ("172.16.0.1", False), ("192.168.1.1", False), ("169.254.169.254", False),
    ("0.0.0.0", False), ("100.64.0.1", False), ("224.0.0.1", False), ("255.255.255.255", False),
    ("::1", False), ("::", False), ("fe80::1%eth0", False), ("fd00::1", False), ("ff02::1", False),
    ("::ffff:127.0.0.1", False), ("::ffff:93.184.216.34", True), ("64:ff9b::7f00:1", False),
    ("2002:7f00:1::", False), ("64:ff9b::5db8:d822", True), ("text", False)])
def test_only_public_addresses_are_permitted(address, permitted):
    assert fetch.Policy([]).permits(address, 80) == permitted


def test_the_operator_may_permit_more():
    policy = fetch.Policy(["10.0.0.0/8"])
    assert policy.permits("10.1.2.3", 80) and policy.permits("::ffff:10.1.2.3", 80)
    assert not policy.permits("127.0.0.1", 80)
    with pytest.raises(ValueError):
        fetch.Policy(["10.0.0.0/99"])


def fetch_error(url, allow=(), most=1000):
    async def run():
        fetcher = fetch.Fetcher(list(allow))
        try:
            return await fetcher.get(url, most)
        finally:
            await fetcher.close()
    try:
        return asyncio.run(run())
    except fetch.FetchError as error:
        return str(error)


@pytest.mark.parametrize("url, words", [
    ("file:///etc/passwd", "allowed are http"), ("ftp://a.example/", "allowed are http"),
    ("http://127.0.0.1/", "not a public address"), ("http://[::1]/", "not a public address"),
    ("http://localhost/", "not a public address"), ("http://2130706433/", "not a public address"),
    ("http://0x7f.1/", "not a public address"), ("http://a.example:25/", "port 25"),
    ("http://a.example:x/", "no web address"), ("http:///", "allowed are http"), ("", "allowed")])
def test_addresses_that_are_refused(url, words):
    assert words in fetch_error(url)


def test_a_redirect_to_a_private_address_is_refused(monkeypatch):
    with sites.Server({"/": (302, {"Location": "http://127.0.0.2/secret"}, b""),
                       "/loop": (302, {"Location": "/loop"}, b"")}) as server:
        assert "127.0.0.2: not a public address" in fetch_error(
            server.url + "/", ["127.0.0.1/32"])
        assert "redirects" in fetch_error(server.url + "/loop", ["127.0.0.1/32"])
        assert server.asked.count("/loop") == fetch.MAX_REDIRECTS + 1


def test_a_name_with_a_private_address_is_refused(monkeypatch):
    """The resolver decides, so a name that changes its address in between gains nothing."""
    of_the_system = socket.getaddrinfo

    def getaddrinfo(host, *arguments, **words):
        return of_the_system("10.1.2.3" if host == "inside.example" else host, *arguments, **words)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

    async def run():
        for host in ("localhost", "inside.example"):
            with pytest.raises(OSError, match="not a public address"):
                await fetch.Policy([]).addresses(host, 80)
        allowed = await fetch.Policy(["127.0.0.0/8"]).addresses("localhost", 80)
        assert [address for _, address in allowed] == ["127.0.0.1"] * len(allowed)
    asyncio.run(run())


def test_the_address_that_was_connected_to_counts(monkeypatch):
    """If another version of aiohttp looks hosts up elsewhere, nothing is sent."""
    monkeypatch.setattr(fetch._Connector, "_resolve_host", aiohttp.TCPConnector._resolve_host)
    with sites.Server(sites.usual(), "127.0.0.1") as server:
        assert "not a public address" in fetch_error(server.url + "/")
        assert server.asked == []


def test_bombs_of_compression_are_cut():
    bomb = gzip.compress(b"\0" * 50_000_000)
    with sites.Server({
            "/gzip": (200, {"Content-Type": "text/html", "Content-Encoding": "gzip"}, bomb),
            "/deflate": (200, {"Content-Type": "text/html", "Content-Encoding": "deflate"},
                         zlib.compress(b"a" * 5_000_000)),
            "/br": (200, {"Content-Type": "text/html", "Content-Encoding": "br"},
                    wire.brotli.compress(b"\0" * 50_000_000)),
            "/bad": (200, {"Content-Type": "text/html", "Content-Encoding": "gzip"}, b"no gzip"),
            "/good": (200, {"Content-Type": "text/html", "Content-Encoding": "gzip"},
                      gzip.compress(b"<p>text"))}) as server:
        allow = ["127.0.0.0/8"]
        for path in ("/gzip", "/deflate"):
            got = fetch_error(server.url + path, allow, 100_000)
            assert len(got.body) == 100_000 and got.cut
        assert "which was not asked for" in fetch_error(server.url + "/br", allow)
        assert "damaged compression" in fetch_error(server.url + "/bad", allow)
        assert fetch_error(server.url + "/good", allow).body == b"<p>text"


def png_of(width, height):
    """A small file with a large picture of one colour."""
    out = io.BytesIO()
    Image.new("1", (width, height)).save(out, "PNG")
    return out.getvalue()


def test_pictures_that_are_too_large_are_not_decoded():
    bomb = png_of(20000, 20000)
    assert len(bomb) < 100_000
    begin = time.process_time()
    assert pictures.small(bomb) is None
    assert time.process_time() - begin < 1
    assert pictures.small(b"GIF89a" + b"\xff" * 50) is None
    assert pictures.small(b"") is None
    made = pictures.small(png_of(3000, 1000))
    assert (made.width, made.height) == (pictures.MAX_SIDE, round(pictures.MAX_SIDE / 3))
    assert pictures.small(png_of(400, 400), 50).width == 50


#: Hostile documents, made in a program of their own whose memory is measured.
DOCUMENTS = {
    "nested tables": "'<table><tr><td>' * 700_000",
    "nested divs": "'<div>' * 2_000_000",
    "nested inline": "'<b><i><a href=x>' * 600_000",
    "links": "'<a href=\"/a?b=1\">w</a> ' * 100_000",
    "one long word": "'x' * 10_000_000",
    "attributes": "'<p ' + 'a=b ' * 2_500_000 + '>'",
    "forms": "'<form><input name=a><select><option>' * 250_000",
    "entities": "'&lt;' * 2_500_000",
    "pre": "'<pre>' + '\\n' * 9_000_000",
    "pictures": "'<img src=a.png alt=b>' * 400_000",
    "tables of cells": "'<table>' + '<tr><td>a<td>b' * 600_000",
    "headings": "'<h1>' * 2_000_000",
    "nested quotes": "'<blockquote><p>word' * 120 + '<p>word word' * 290_000",
    "nested lists": "'<ul><li>' * 120 + 'word<br>' * 420_000",
    "nested links": "'<div><a href=x>' * 110 + '<p><b>w</b>' * 300_000",
    "nested articles": "'<article>' * 240 + '<i>w</i>' * 420_000",
    "tables without rows": "'<table>' * 240 + '<p>word' * 480_000",
    "forms around forms": "'<form><input name=a><div>' * 110 + '<p>word' * 480_000"}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_hostile_document_is_cut_in_time_and_memory(name):
    program = f"""
import resource, time
from gnuradio.hf.web import reduce
reduce.reduce(b"<p>text", "http://a.example/")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
document = ({DOCUMENTS[name]}).encode()
begin = time.process_time()
page = reduce.reduce(document, "http://a.example/")
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(time.process_time() - begin, (after - before) * 1024, len(page.main) + len(page.rest),
      len(page.main_links), len(page.pictures))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=200)
    assert done.returncode == 0, done.stderr
    took, memory, _, links, shown = map(float, done.stdout.split())
    assert memory < MAX_MEMORY, f"{memory / 1e6:.0f} MB"
    assert took < 10
    assert links <= reduce.MAX_LINKS and shown <= reduce.MAX_PICTURES


def test_a_shore_side_refuses_octets_that_are_no_request():
    async def run():
        lines = []
        made = shore.Shore([], lines.append)
        server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        for octets in (b"GET / HTTP/1.1\r\n\r\n", b"\x02\x00\xff\xff\xff\xff\xff\xff", b"\x02",
                       wire.encode_request(wire.Request("http://127.0.0.1/"))[:-1]):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(octets)
            writer.write_eof()
            assert await asyncio.wait_for(reader.read(), 10) == b""
            writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(wire.encode_request(wire.Request("http://127.0.0.1/")))
        answer = wire.Decoder()
        parts = list(answer.feed(await asyncio.wait_for(reader.read(), 10)))
        assert parts == [("X", b"127.0.0.1: not a public address")] and answer.finished
        writer.close()
        server.close()
        await made.close()
        assert len(lines) == 4
    asyncio.run(run())


def test_silent_streams_hold_no_place():
    """More of them than there are places, and one reader."""
    async def run():
        made = shore.Shore([], lambda line: None)
        server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        silent = [await asyncio.open_connection("127.0.0.1", port)
                  for _ in range(shore.MAX_READERS + 4)]
        for _, writer in silent:
            writer.write(b"\x02")  # the begin of a request
            await writer.drain()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(wire.encode_request(wire.Request("http://127.0.0.1/")))
        data = await asyncio.wait_for(reader.read(), 20)
        assert [kind for kind, _ in wire.Decoder().feed(data)] == ["X"]
        for _, each in [*silent, (reader, writer)]:
            each.close()
        server.close()
        await made.close()
    asyncio.run(run())


def test_no_browser_runs_as_root(monkeypatch):
    for user, program in ((0, None), (1000, "/bin/found")):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        monkeypatch.setattr(shutil, "which", lambda name: "/bin/found")
        assert script.Browser(fetch.Policy([]), print)._program == program


def test_what_readers_have_is_bounded():
    kept = shore.Versions()
    for number in range(300):
        kept.put(number.to_bytes(8, "big"), shore.Version({"T": ["x" * 1_000_000]}, []))
    assert kept._octets <= shore.MAX_KEPT and len(kept._kept) < 70
    assert kept.get((299).to_bytes(8, "big")) is not None
    assert kept.get((0).to_bytes(8, "big")) is None
