# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of the parts of the web door, and what lies just inside and just outside each of them."""
import asyncio
import json
import os
import time
import types

from gnuradio.hf.web import (estimate, fetch, kinds, library, login, markup, reduce, site, store,
                             views, wire)
import pytest


# --- the layout between door and shore ----------------------------------------------------------

@pytest.mark.parametrize("number, octets", [
    (0, b"\0"), (127, b"\x7f"), (128, b"\x80\x01"), (16383, b"\xff\x7f"), (16384, b"\x80\x80\x01"),
    ((1 << 35) - 1, b"\xff\xff\xff\xff\x7f")])
def test_numbers_as_octets(number, octets):
    assert wire.varint(number) == octets
    assert wire.read_varint(b"x" + octets + b"y", 1) == (number, 1 + len(octets))
    with pytest.raises(IndexError):
        wire.read_varint(octets[:-1], 0)


def test_a_number_of_six_octets_is_refused():
    with pytest.raises(wire.WireError, match="5 octets"):
        wire.read_varint(b"\x80" * 5 + b"\x01", 0)


@pytest.mark.parametrize("made", [
    wire.Request("a.example"), wire.Request("a.example", "pictures", 1000),
    wire.Request("a.example", "file", 0, b"12345678"), wire.Request("a", form=b""),
    wire.Request("a.example", "text", 1, b"12345678", True, b"x=1\0y")])
def test_a_request_comes_back_and_waits_for_its_last_octet(made):
    octets = wire.encode_request(made)
    assert wire.decode_request(octets) == wire.decode_request(octets + b"more") == made
    assert all(wire.decode_request(octets[:k]) is None for k in range(len(octets)))


def test_the_first_octet_of_a_request():
    octets = wire.encode_request(wire.Request("a.example"))
    for first in (1, 3, 2 | 3 << 2, 2 | 128):
        with pytest.raises(wire.WireError, match="another version"):
            wire.decode_request(bytes([first]) + octets[1:])
    with pytest.raises(wire.WireError, match="more than 65536"):
        wire.decode_request(b"\2\0" + wire.varint(wire.MAX_REQUEST + 1))
    assert wire.decode_request(b"\2\0" + wire.varint(wire.MAX_REQUEST)) is None


def test_octets_that_are_unpacked_have_a_limit(monkeypatch):
    encoder = wire.Encoder()
    octets = encoder.part("T", b"x" * 100) + encoder.part("E", b"") + encoder.end()
    assert encoder.octets == len(octets)
    assert wire.decompress(octets, 104) == b"T\x64" + b"x" * 100 + b"E\0"
    for most, data, words in ((103, octets, "more than 103"), (104, octets[:-1], "cut"),
                              (104, b"\xff" * 20, "not brotli")):
        with pytest.raises(wire.WireError, match=words):
            wire.decompress(data, most)

    def fed():
        decoder = wire.Decoder()
        return list(decoder.feed(octets)), decoder.finished

    assert fed() == ([("T", b"x" * 100), ("E", b"")], True)
    for name, limit in (("MAX_ANSWER", 104), ("MAX_PART", 100)):
        monkeypatch.setattr(wire, name, limit)
        assert fed()[1]
        monkeypatch.setattr(wire, name, limit - 1)
        with pytest.raises(wire.WireError, match=f"more than {limit - 1}"):
            fed()
        monkeypatch.setattr(wire, name, limit)
    decoder = wire.Decoder()
    assert list(decoder.feed(octets[:-1])) and not decoder.finished


def test_lines_of_a_page_have_room_to_the_last_character(monkeypatch):
    monkeypatch.setattr(wire, "MAX_LINES", 3)
    monkeypatch.setattr(wire, "MAX_CHARACTERS", 9)
    room = wire.Room()
    assert room.fits(["abc"]) and (room.lines, room.characters) == (2, 5)
    assert not room.fits(["a", "b", "c"]) and not room.fits(["abcde"])
    assert (room.lines, room.characters) == (2, 5)
    assert wire.decode_lines(b"\x010,2", ["a", "b", "c"], room) == ["a", "b"]
    assert (room.lines, room.characters) == (0, 1)
    with pytest.raises(wire.WireError, match="3 lines or 9"):
        room.take([""])
    assert wire.decode_lines(b"", ["a"], room) == []
    for octets in (b"\x01-1,1", b"\x010,0", b"\x010,4", b"\x012,2", b"\x010", b"\x01a,b"):
        with pytest.raises(wire.WireError, match="a copy of lines"):
            wire.decode_lines(octets, ["a", "b", "c"], wire.Room())


def test_a_copy_is_written_where_it_is_shorter():
    assert wire.encode_lines(["abc", "xyz"], ["abc"]) == b"abc\nxyz"  # the copy has 4 characters
    assert wire.encode_lines(["abcde", "x"], ["abcde"]) == b"\x010,1\nx"
    assert wire.encode_lines(["a", "b", "c", "d"], ["y", "a", "b", "c", "z"]) == b"\x011,3\nd"
    assert wire.encode_lines(["a\x01b", "c\nd"], []) == b"ab\nc d"
    assert wire.digest({"T": ["a"], "M": ["b"]}) != wire.digest({"T": ["a"], "L": ["b"]})
    assert len(wire.digest({})) == 8


# --- a page on its way --------------------------------------------------------------------------

KEPT = library.Kept("a.example", {"title": "t"}, {"T": ["one"], "L": ["/l"]}, {5: b"webp"},
                    "pictures", 1.0, 77, {})


def view_of(*parts, reference=None, **request):
    made = views.View("v", wire.Request("a.example", **request), reference)
    for kind, octets in parts:
        made._take(kind, octets)
    return made


def test_a_view_takes_what_it_knows():
    head = {"url": "http://b.example/", "title": 5, "rtl": 1, "file": 7, "x": 1}
    made = view_of(("H", json.dumps(head).encode()), ("T", b"ab\ncd"), ("R", b"e"),
                   ("L", b"/1"), ("M", b"/2"), ("P", b"\x04\x05\x06webp"), ("F", b"file"),
                   ("E", b'{"octets": 3, "pictures": "4"}'), ("?", b"unknown"))
    assert made.head == {"url": "http://b.example/", "rtl": 1, "file": 7}
    assert made.url == "http://b.example/" and made.left == {"octets": 3}
    assert made.sections == {"T": ["ab", "cd"], "R": ["e"], "L": ["/1"], "M": ["/2"]}
    assert made.pictures == {4: b"webp"} and not made.error and not made.done
    assert made.size == 3 + 3 + 2 + 3 + 3 + len("file") + len("webp")
    assert view_of().url == "https://a.example"
    made._take("X", b"x" * 2000)
    assert made.error == "x" * 1000


def test_what_no_shore_side_sends_is_refused():
    last = wire.varint(views.MAX_PICTURES - 1) + b"\0\0w"
    assert list(view_of(("P", last)).pictures) == [499]
    assert view_of(("X", b"x" * wire.MAX_NOTE)).error
    assert view_of(("H", b'{"file": %d}' % wire.MAX_ANSWER)).head
    for part in (("P", wire.varint(views.MAX_PICTURES) + b"\0\0w"), ("S", b""),
                 ("X", b"x" * (wire.MAX_NOTE + 1)), ("H", b'{"file": -1}'),
                 ("H", b'{"file": %d}' % (wire.MAX_ANSWER + 1))):
        with pytest.raises(wire.WireError):
            view_of(part)


def test_a_page_that_we_had_is_used_again():
    same = view_of(("S", b""), reference=KEPT)
    assert same.same and (same.head, same.sections, same.pictures) == KEPT[1:4]
    copied = view_of(("K", b"\x02\x05\x03\x06"), ("T", b"\x010,1"), reference=KEPT)
    assert copied.pictures == {2: b"webp"} and copied.sections == {"T": ["one"]}
    assert view_of(("K", b"\x02\x05")).pictures == {}
    whole = views.View.of("v", KEPT, "text", 3)
    assert whole.done and whole.ended.is_set() and whole.sections == KEPT.sections
    assert whole.request == wire.Request("a.example", "text", 3)


def test_what_is_kept_of_a_page():
    def kept(made):
        taken = []
        made._keep(types.SimpleNamespace(put=taken.append))
        return [(k.mode, k.octets) for k in taken]

    page = ("T", b"x")
    made = view_of(page, mode="pictures")
    made.octets = 9
    assert kept(made) == [("pictures", 9)]
    again = view_of(("S", b""), reference=KEPT)
    again.octets = 9
    assert kept(again) == [("pictures", 77)]
    for other in (view_of(), view_of(page, ("X", b"x")), view_of(page, form=b"")):
        assert kept(other) == []


def test_who_waits_for_a_link_or_a_picture_gets_it_or_the_end():
    async def run():
        made = view_of(("L", b"/1"))
        assert await made.link(0) == "/1"
        waits = [asyncio.ensure_future(w) for w in (made.link(1), made.link(2), made.picture(0),
                                                    made.picture(1))]
        await asyncio.sleep(0)
        made.wait(3)
        for _ in range(4):
            await asyncio.sleep(0)
        assert made.place == 3 and not any(w.done() for w in waits)
        made._take("M", b"/2")
        made._take("P", b"\0\0\0w")
        made.stop()
        assert await asyncio.gather(*waits) == ["/2", None, b"w", None]
        assert made.error == "stopped" and made.done and made.took_s >= 0
        await made.changed()
        made.error = ""
        made.stop()
        assert made.error == ""  # only the first end counts

    asyncio.run(asyncio.wait_for(run(), 20))


# --- reduced pages ------------------------------------------------------------------------------

def test_a_page_has_links_and_pictures_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(reduce, "MAX_LINKS", 2)
    page = reduce.reduce(b"<p><a href=1>a</a><a href=2>b</a><a href=3>c</a><iframe src=4></iframe>"
                         b"<form action=5><input></form>", "https://a.example/")
    assert page.main_links == ["/1", "/2"]
    assert [line.count("<a>") for line in page.main][:1] == [2] and "c" in page.main[0]
    assert "<form>" not in "".join(page.main)


@pytest.mark.parametrize("pad, main", [(1, "kept"), (300, "other")])
def test_the_element_marked_as_main_counts_if_it_has_a_quarter_of_the_text(pad, main):
    body = (f"<div><p>{'other ' * pad}</p></div><main><p>kept kept kept kept kept kept</p></main>")
    page = reduce.reduce(body.encode(), "https://a.example/")
    assert page.main[0].startswith(f"<p>{main}")


def test_a_feed_is_shown_to_its_limits(monkeypatch):
    monkeypatch.setattr(kinds, "MAX_ENTRIES", 2)
    monkeypatch.setattr(kinds, "MAX_SUMMARY", 3)
    item = ("<item><title>n</title><link>/<!-- x --><?x x?>l</link><pubDate>d</pubDate>"
            "<description>&lt;b&gt;words&lt;/b&gt;</description></item>")

    def lines(count):
        body = f"<rss><channel><title>t</title>{item * count}</channel></rss>".encode()
        found = kinds.page_of(fetch.Fetched("https://a.example/", 200, "application/rss+xml", None,
                                            body, False))
        return found.main, found.main_links

    begin = ["<h1>t", "<ul><li><a>n</a> (d)", "<p>wor"]
    assert lines(0) == (begin[:1], [])
    assert lines(2) == ([*begin, "<li><a>n</a> (d)", "<p>wor", "</ul>"], ["/l", "/l"])
    assert lines(3)[0][-2:] == ["<li>1 more entries are left out", "</ul>"]


# --- the library, the store, log-ins ------------------------------------------------------------

def test_a_library_has_notes_of_the_newest(tmp_path, monkeypatch):
    monkeypatch.setattr(library, "MAX_HISTORY", 2)
    made = library.Library(str(tmp_path))
    for k in range(3):
        made.visited(f"https://{k}.example/", str(k))
        made.bookmark(f"https://{k}.example/", str(k), "anna")
        made.put(KEPT._replace(url=f"https://{k}.example/", octets=k))
    assert [h["title"] for h in made.history()] == ["2", "1"]
    assert [b["title"] for b in made.bookmarks("anna")] == ["1", "2"] and not made.bookmarks()
    assert made.near("https://1.example/x").url == "https://1.example/"
    assert made.near("https://0.example/x") is None
    assert made.size("https://2.example/y", "pictures") == 2
    assert made.size("https://2.example/", "text") is None
    made.bookmark("https://1.example/", "again", "anna")
    assert [b["title"] for b in made.bookmarks("anna")] == ["2", "again"]
    assert abs(made.history()[0]["at"] - time.time()) < 60
    assert library.Library(str(tmp_path)).history() == made.history()
    assert oct(os.stat(tmp_path / "pages").st_mode)[-3:] == "700"


def test_pages_that_are_complete():
    assert KEPT.complete and not KEPT._replace(mode="text").complete
    assert not KEPT._replace(left={"octets": 1}).complete
    assert KEPT._replace(sections={"M": ["4"], "R": ["3"], "L": ["2"], "T": ["1"]}).lines == [
        "1", "2", "3", "4"]
    for url, host in (("a.example/x", "a.example"), ("http://b.example:8/", "b.example"),
                      ("http://[", "")):
        assert library.site_of(url) == host


def test_an_oldest_page_goes_only_when_there_is_too_much(tmp_path, monkeypatch):
    made = library.Library(str(tmp_path))
    for k in range(2):
        made.put(KEPT._replace(url=f"https://{k}.example/"))
        for name in os.listdir(tmp_path / "pages"):
            path = tmp_path / "pages" / name
            os.utime(path, (os.stat(path).st_mtime - 100,) * 2)
    total = sum(p.stat().st_size for p in (tmp_path / "pages").iterdir())
    monkeypatch.setattr(library, "MAX_OCTETS", total)
    made._trim()
    assert len(os.listdir(tmp_path / "pages")) == 4
    monkeypatch.setattr(library, "MAX_OCTETS", total - 1)
    made._trim()
    assert made.get("https://0.example/") is None and made.get("https://1.example/") == \
        KEPT._replace(url="https://1.example/")


def test_names_of_stored_pages():
    assert store.page_name("https://www.A.example/b/C.html?q") == "a-example-b-c-html"
    assert store.page_name("https://a.example/" + "x" * 99) == "a-example-" + "x" * 50
    assert store.page_name("https:") == "page" and len(store.picture_name("x")) == 24


def test_a_page_is_stored_with_its_pictures(tmp_path, monkeypatch):
    body = b"<p>text<img src=a.png><img src=b.png>"

    async def get(fetcher, url, most, form=None, accept="*/*"):
        if url.endswith("b.png"):
            raise fetch.FetchError("no")
        kind = "image/png" if url.endswith("png") else kinds_of[0]
        return fetch.Fetched(url, 200, kind, "utf-8", body, False)

    monkeypatch.setattr(fetch.Fetcher, "get", get)
    for kinds_of in (["text/html"], ["application/xhtml+xml"], ["application/pdf"]):
        folder = tmp_path / kinds_of[0][-3:]
        folder.mkdir()
        stored = store.store("a.example/p", str(folder), [])
        if kinds_of[0].endswith("pdf"):
            with pytest.raises(fetch.FetchError, match="only pages can be stored"):
                asyncio.run(stored)
            continue
        assert asyncio.run(stored) == "a-example-p"
        text = (folder / "a-example-p.html").read_bytes()
        assert text == b'<base href="https://a.example/p"><meta charset="utf-8">\n' + body
        assert os.listdir(folder / "a-example-p.files") == [
            store.picture_name("https://a.example/a.png")]
        with pytest.raises(OSError):
            asyncio.run(store.store("a.example/p", str(folder), []))


def test_log_ins_that_wait_have_a_limit():
    async def run():
        seen = []
        users = types.SimpleNamespace(may_try=lambda address: seen.append(address) or True,
                                      check=lambda name, word: word == "right",
                                      succeeded=lambda address, name: "secret")
        made = login.LogIn(users)

        async def enter(word):
            async def post():
                return {"name": "anna", "password": word}
            return await made.enter(types.SimpleNamespace(post=post, remote="192.0.2.1"))

        made._checked = login.MAX_CHECKED
        assert (await enter("right")).status == 429 and not seen
        made._checked = login.MAX_CHECKED - 1
        found = await enter("right")
        assert (found.status, found.headers["Location"]) == (303, "/")
        cookie = found.cookies["hf-door"]
        assert (cookie.value, cookie["httponly"], cookie["samesite"], cookie["path"]) == (
            "secret", True, "Strict", "/")
        assert (await enter("wrong")).status == 401 and made._checked == login.MAX_CHECKED - 1
        users.may_try = lambda address: False
        assert (await enter("right")).status == 429

    asyncio.run(run())


# --- costs --------------------------------------------------------------------------------------

def test_the_octets_of_a_page_are_known_or_guessed(tmp_path):
    kept = library.Library(str(tmp_path))
    kept.put(KEPT._replace(url="https://a.example/", mode="text", octets=5000))
    made = estimate.Estimate(kept, lambda: "4539-9600S")
    assert made.octets("https://a.example/", "text", 0) == 5000
    assert made.octets("https://a.example/", "text", 4) == 4000
    assert made.octets("https://a.example/", "text", 6) == 5000
    assert made.octets("https://b.example/", "pictures", 0) == 50_000
    assert made.octets("https://b.example/", "as it is", 4) == 223_000
    assert made.rate_bps() == 9600
    once = estimate.seconds("4539-9600S", [(120, 5000)], 0.0)
    assert once >= (120 + 5000 / 0.95) * 8 / 9600
    assert estimate.seconds("4539-9600S", [(120, 5000)] * 2) == pytest.approx(2 * once + 2)
    assert made.seconds(5000) == pytest.approx(once + 1)


def test_exchanges_of_a_browser_with_a_site():
    def file(url, level, sent=100):
        return site.File(url, "style", False, level, fetch.Fetched(
            url, 200, "text/css", None, b"", False, {"content-encoding": "x"}, sent))

    first = file("http://a.example/", 0)
    more = [file(f"http://a.example/{k}", 1, 10) for k in range(7)]
    made = site.Site([first, *more, file("https://b.example/", 2), file("https://c.example/", 2)],
                     None, None, [], {})
    assert made.exchanges() == [(350, 100), (5 * 350 + 2 * 60, 70), (4000, 8000), (700, 200)]
    assert made.air() == 370 and made.address == "http://a.example/"
    assert site.File("http://a.example/", "page", True, 0).air == 0
    plain = first._replace(got=first.got._replace(headers={}, body=b"x" * 1000, sent=5000))
    assert 240 < plain.air < 300
    assert plain._replace(url="https://a.example/").air == 5000


def test_pages_near_a_page():
    links = ["/a", "/b.html", "/c.png", "//b.example/d", "/a", "/e/", "/f", "/g", "/h.xhtml"]
    page = types.SimpleNamespace(main_links=links, rest_links=["/i"])
    near = site._neighbours(page, "http://a.example/", {"http://a.example/f"})
    found = [f.url[16:] for f in near]
    assert found == ["/a", "/b.html", "/e/", "/g", "/h.xhtml"]


def test_what_a_style_names():
    body = (b"a{background:url( 'p.png' )} @import 'q.css'; @import url(r.css); "
            b"b{background:url(data:x)} c{background:url(#f)}")
    made = site.File("http://a.example/s.css", "style", True, 3, fetch.Fetched(
        "http://a.example/s.css", 200, "text/css", None, body, False))
    assert [(f.url[16:], f.kind, f.blocks, f.level) for f in site._named_by(made)][:3] == [
        ("/p.png", "picture", False, 4), ("/q.css", "style", True, 4),
        ("/r.css", "style", True, 4)]
    for other in (made._replace(level=4), made._replace(kind="picture"), made._replace(got=None)):
        assert not list(site._named_by(other))
    assert markup.escape("<&>") == "&lt;&amp;&gt;"
