# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of the web door by themselves: reduction, rendering, layout on the air, library."""
import asyncio
import gzip
import os
import random
import re
import tracemalloc

import pytest

from gnuradio.hf.web import decoding, door, library, markup, pages, reduce, render, views, wire
import sites

BASE = "https://site.example/dir/page.html"


def page_of(body, **more):
    return reduce.reduce(f"<html><body>{body}</body></html>".encode(), BASE, **more)


def test_an_article_keeps_text_lists_tables_and_forms():
    page = reduce.reduce(sites.ARTICLE.encode(), BASE)
    assert page.title == "Short waves & you"
    assert page.language == "en"
    assert page.main == [
        "<h1>Short waves",
        "<p>Radio between <b>3 and 30</b> MHz <a>travels</a> far.",
        '<p><img alt="A wave">',
        "<ul><li>by day high",
        "<li>by night low",
        "<ul><li>and lower", "</ul>", "</ul>",
        "<table><caption>Bands", "<tr><th>m", "<th>MHz", "<tr><td>40", "<td>7",
        "<tr><td>20", "<td>14 &lt; 15", "</table>",
        "<pre>one", "  two", "", "three", "</pre>",
        '<form method="post"><p><input name="name" value="Anna &quot;A&quot;"><input '
        'type="hidden" name="token" value="t1"><select name="band"><option value="40">40 m'
        '<option value="20 m">'
        '20 m</select> <textarea name="text">hello</textarea><button value="Send">Send</button>',
        "</form>", "<p>[a log-in, which does not pass here]"]
    assert page.main_links == ["//other.example/a%20b", "/say"]
    assert [p.url for p in page.pictures] == ["/wave.png"]
    text = "\n".join(page.main + page.rest)
    for word in ("script text", "never seen", "nor this", "color", "password"):
        assert word not in text
    assert page.rest_links == ["/", "/about?id=3", "/find"]
    assert "Aside words" in text and "Footer words" in text


@pytest.mark.parametrize("href, short", [
    ("other.html", "/dir/other.html"), ("/x?a=1#part", "/x?a=1"), ("?b=2", "/dir/page.html?b=2"),
    ("http://site.example/y", "http://site.example/y"), ("//z.example", "//z.example/"),
    ("javascript:alert(1)", None), ("mailto:a@b.example", None), ("data:text/html,x", None),
    ("#top", None), ("", None), ("http://[broken", None)])
def test_links_are_short_references(href, short):
    page = page_of(f'<p><a href="{href}">word</a></p>')
    assert page.main_links == ([short] if short else [])
    assert ("<a>" in page.main[0]) == bool(short)


def test_marks_of_headings_and_empty_ends_of_code_are_left_out():
    page = page_of('<h2>Head<a href="#head">\u00b6</a></h2><p>in C<a href="/c">#</a></p>'
                   '<pre><code>one\n\ntwo\n</code></pre>')
    assert page.main == ["<h2>Head", "<p>in C<a>#</a>", "<pre><code>one</code>", "",
                         "<code>two</code>", "</pre>"]


def test_the_base_element_counts_for_links_but_not_for_their_form():
    document = b'<base href="https://far.example/d/"><p><a href="x">word</a></p>'
    page = reduce.reduce(document, BASE)
    assert page.main_links == ["//far.example/d/x"]


@pytest.mark.parametrize("octets, charset, text", [
    ("<p>Gr\u00f6\u00dfe</p>".encode("latin-1"), "iso-8859-1", "Gr\u00f6\u00dfe"),
    ("<p>Gr\u00f6\u00dfe</p>".encode(), None, "Gr\u00f6\u00dfe"),
    ('<meta charset="koi8-r"><p>\u043c\u0438\u0440</p>'.encode("koi8-r"), None,
     "\u043c\u0438\u0440"),
    ("<p>\u6587\u5b57</p>".encode("shift_jis"), "shift_jis", "\u6587\u5b57"),
    (b"<p>text</p>", "no-such-charset", "text")])
def test_charsets(octets, charset, text):
    assert reduce.reduce(octets, BASE, charset).main == [f"<p>{text}"]


CONTROLS = [
    ('<select name="a"><option value="1">one<option value="2" selected>two</select>',
     '<select name="a"><option value="1">one<option value="2" selected>two</select>'),
    ('<select name="a" multiple><option value="">none<option> two  words </select>',
     '<select name="a" multiple><option value="">none<option value="two words">two words'
     '</select>'),
    ('<select name="a"><option disabled>no<option>yes</select>',
     '<select name="a"><option value="yes">yes</select>'),
    ('<input type="checkbox" name="a" checked>', '<input type="checkbox" name="a" checked>'),
    ('<input type="checkbox" name="a" value="">', '<input type="checkbox" name="a" value="">'),
    ('<input type="radio" name="a" value="x">', '<input type="radio" name="a" value="x">'),
    ('<input type="hidden" name="a" value="x" disabled>', ""),
    ('<input name="a" value="x">', '<input name="a" value="x">')]


@pytest.mark.parametrize("control, reduced", CONTROLS)
def test_a_form_sends_what_the_page_would_send(control, reduced):
    lines = page_of(f"<form>{control}</form>").main
    assert re.sub("</?(form|p)>", "", "".join(lines)).strip() == reduced
    shown = render.Renderer("/v", False)
    text = "".join(shown.line(line) for line in lines)
    for word in ("selected", "multiple", "checked"):
        assert (word in text) == (word in reduced), text


DECODED = [
    ("Grüße €".encode("cp1252"), "iso-8859-1", "Grüße €"), (b"\x93x\x94", "us-ascii", "“x”"),
    (b"\x93x\x94", "ASCII", "“x”"), ("Grüße".encode(), "UTF8", "Grüße"),
    ("Grüße".encode(), "unknown-8bit", "Grüße"), ("Grüße".encode("cp1252"), "rot13", "Grüße"),
    ("Grüße".encode("cp1252"), "hex", "Grüße"), ("Grüße".encode(), "utf-7", "Grüße"),
    (b"before \xff after", "utf-8", "before \ufffd after"),
    ("ı".encode("cp1254"), "iso-8859-9", "ı"), ("Привет".encode("koi8-r"), "koi8-r", "Привет"),
    ("漢字".encode("cp932"), "Shift_JIS", "漢字"), ("汉字".encode("gb18030"), "gb2312", "汉字"),
    ("한글".encode("cp949"), "ks_c_5601-1987", "한글"), ("漢".encode("big5"), "big5", "漢"),
    ("Grüße".encode("utf-16"), "iso-8859-1", "Grüße"),
    (b"\xef\xbb\xbf" + "Grüße".encode(), "windows-1251", "Grüße"),
    (b"<meta charset='windows-1251'>" + "Привет".encode("cp1251"), None, "Привет"),
    (b"<meta http-equiv=x content='text/html; charset=koi8-r'>" + "Привет".encode("koi8-r"), None,
     "Привет"),
    ("Grüße".encode("cp1252"), None, "Grüße"), ("Grüße".encode(), None, "Grüße"),
    (b"<meta charset=utf-16>" + "Grüße".encode(), None, "Grüße")]


@pytest.mark.parametrize("octets, charset, text", DECODED)
def test_pages_are_decoded_as_browsers_do(octets, charset, text):
    assert text in decoding.decode(octets, charset)
    assert text in " ".join(reduce.reduce(octets, BASE, charset).main)


def test_a_wrong_octet_does_not_end_a_page():
    page = reduce.reduce(b"<p>before \xff after<p>more \0 text", BASE, "utf-8")
    assert len(page.main) == 2 and "after" in page.main[0] and "text" in page.main[1]


def test_decoding_anything_never_fails():
    r = random.Random(1)
    labels = [*decoding._NAMES, "", "\0", "utf_8_sig", "zlib", "punycode", "ü"]
    for label in labels * 3:
        assert isinstance(decoding.decode(r.randbytes(300), label), str)


def test_several_members_of_gzip_are_one_body():
    packed = gzip.compress(b"first ") + gzip.compress(b"second")
    for step in (1, 7, len(packed)):
        unpack, out = decoding.Unpacker("gzip"), b""
        for k in range(0, len(packed), step):
            out += unpack.push(packed[k:k + step], 1000)
        assert out == b"first second" and unpack.is_whole
        assert unpack.push(bytes(8), 1000) == b""  # padding
    unpack = decoding.Unpacker("gzip")
    unpack.push(packed[:-3], 1000)
    assert not unpack.is_whole


def test_pictures_of_lazy_pages_are_found():
    page = page_of('<main><img src="data:image/gif;base64,R0" data-src="/real.jpg">'
                   '<noscript><img src="/other.jpg"></noscript><img src="/dot.gif" width="1">'
                   '<img srcset="/set.webp 1x, /big.webp 2x"></main>')
    assert [p.url for p in page.pictures] == ["/real.jpg", "/set.webp"]


def test_reducing_anything_never_fails():
    draw = random.Random(5)
    words = ["<table>", "<tr>", "<td>", "</table>", "<ul>", "<li>", "</ul>", "<a href=x>", "</a>",
             "<form>", "</form>", "<b>", "</b>", "<pre>", "</pre>", "text ", "<img src=y>", "<h1>",
             "<input name=z>", "<select>", "<option>", "</select>", "&lt;", "\x01", "\n", "<br>",
             "<main>", "</main>", "<nav>", "</nav>", "<noscript>", "<!--", "-->",
             "<base href=http://[>"]
    for _ in range(400):
        page = reduce.reduce("".join(draw.choices(words, k=60)).encode(), BASE)
        links = sum(map(markup.links_in, page.main))
        assert links == len(page.main_links)
        assert sum(map(markup.links_in, page.rest)) == len(page.rest_links)
        assert sum(line.count("<img") for line in page.main) == len(page.pictures)


def test_a_renderer_numbers_links_and_lets_nothing_else_pass():
    made = render.Renderer("/view/v", True)
    assert made.line('<p>a <a>b</a> &lt;script&gt; <img alt="x">') == \
        ('<p>a <a href="/view/v/link/0">b</a> &lt;script&gt; <img src="/view/v/picture/0" '
         'alt="x">\n')
    hostile = made.line('<script>alert(1)</script><img alt="x" onerror="y"><a onclick="z">q</a>'
                        '<td colspan="2" style="x"><p onload="a"><iframe src="b">'
                        '<form method="post">'
                        '<input type="password" name="p"><b\x00>"')
    for word in ("<script", "onerror", "onclick", "style=", "onload", "<iframe", "password\""):
        assert word not in hostile
    assert '<a href="/view/v/link/1">' in hostile
    assert '<form method="post" action="/view/v/form/2">' in hostile


def test_a_heading_ends_with_its_line():
    made = render.Renderer("/view/v", True)
    assert made.line("<h1>Head <b>one") == "<h1>Head <b>one</b></h1>\n"
    assert made.line("<li><h3>a <a>b</a>") == '<li><h3>a <a href="/view/v/link/0">b</a></h3>\n'
    assert made.line("<p>text</b></h1>") == "<p>text\n"
    assert made.line("<p><b>a <i>b</b> c") == "<p><b>a <i>b</i></b> c\n"


def test_plain_text():
    lines = ["<h1>Head", "<p>a <b>b</b> &amp; c<br>d", "<ul><li>one", "</ul>"]
    assert render.Plain().feed(lines) == "\nHead\n====\na b & c\nd\n* one\n"


# --- the layout on the air ----------------------------------------------------------------------

REQUESTS = [wire.Request("https://a.example/"),
            wire.Request("a.example/\u00e4", "pictures", 30, b"12345678", True),
            wire.Request("a.example", "text", 200_000, b"", False, b"x=1&y=%00")]


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_request_survives(request_):
    octets = wire.encode_request(request_)
    assert wire.decode_request(octets) == request_
    for cut in range(len(octets)):
        assert wire.decode_request(octets[:cut]) is None


def test_a_request_is_small():
    assert len(wire.encode_request(wire.Request(
        "https://en.wikipedia.org/wiki/Shortwave_radio", "pictures", 30, b"12345678", True))) <= 60


def test_octets_that_are_no_request_are_refused():
    draw = random.Random(1)
    good = wire.encode_request(REQUESTS[1])
    for _ in range(3000):
        data = bytearray(good)
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            wire.decode_request(bytes(data))
        except wire.WireError:
            pass
    with pytest.raises(wire.WireError):
        wire.decode_request(b"\x03" + good[1:])


def test_lines_that_the_other_side_has_are_not_sent():
    old = [f"<p>line number {n} with some words" for n in range(50)]
    new = old[:20] + ["<p>changed"] + old[21:] + ["\x01evil", "a\nb"]
    octets = wire.encode_lines(new, old)
    assert len(octets) < 60
    assert wire.decode_lines(octets, old, wire.Room()) == new[:-2] + ["evil", "a b"]
    assert wire.decode_lines(b"", old, wire.Room()) == []


@pytest.mark.parametrize("octets", [b"\x01", b"\x011", b"\x013,9", b"\x01-1,1", b"\x010,0",
                                    b"\x01x,y", b"\x011,2", b"\x012,1"])
def test_copies_of_lines_that_are_not_there_are_refused(octets):
    with pytest.raises(wire.WireError):
        wire.decode_lines(octets, ["a", "b"], wire.Room())


@pytest.mark.parametrize("octets, lines", [(b"\x010,2", ["a", "b"]), (b"\x010,1", ["a"]),
                                           (b"\x011,1", ["b"])])
def test_the_first_and_the_last_line_can_be_copied(octets, lines):
    assert wire.decode_lines(octets, ["a", "b"], wire.Room()) == lines


#: Answers of a hostile shore side to a reader that has a page of 4000 lines, by name. Each is less
#: than 1000 octets on the air.
BOMBS = {
    "copies": [("T", b"\n".join([b"\x010,4000"] * 90_000))] * 4,
    "parts of copies": [("T", b"\x010,4000")] * 400_000,
    "empty lines": [("R", b"\n" * 4_000_000)] * 7,
    "long lines": [("T", b"a" * 4_000_000)] * 7,
    "links": [("L", b"\x010,4000")] * 400_000,
    "pictures": [("P", wire.varint(n) + b"\x01\x01x") for n in range(800_000)],
    "kept pictures": [("K", b"".join(wire.varint(n) + b"\0" for n in range(1_000_000)))],
    "head": [("H", b"[" + b"[]," * 1_300_000 + b"0]")] * 2,
    "error": [("X", b"x" * 4_000_000)] * 7}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_answer_costs_the_door_little(name):
    old = library.Kept("https://a.example/", {}, {"T": [f"<p>line {n}" for n in range(4000)]},
                       {0: b"picture"}, "pictures", 0.0, 0, {})
    view = views.View("v", wire.Request("a.example"), old)
    tracemalloc.start()
    with pytest.raises(wire.WireError):
        for kind, octets in BOMBS[name]:
            view._take(kind, octets)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 40_000_000, f"{used / 1e6:.0f} MB"


def test_a_door_holds_few_large_pages(tmp_path):
    async def run():
        made = door.Door([], library.Library(str(tmp_path)), None, "", "text", 0)
        for number in range(40):
            view = views.View(str(number), wire.Request("a.example"), None)
            view._take("T", b"x" * 3_900_000)
            view._end()
            made._views[str(number)] = view
        made._forget_old()
        return list(made._views)
    kept = asyncio.run(run())
    assert kept == [str(number) for number in range(40 - len(kept), 40)]
    assert len(kept) == door.MAX_HELD // 3_900_001


def test_parts_arrive_when_their_octets_have_arrived():
    encoder = wire.Encoder()
    first = encoder.part("T", b"text " * 100)
    second = encoder.part("P", os.urandom(3000)) + encoder.end()
    decoder = wire.Decoder()
    assert [kind for kind, _ in decoder.feed(first)] == ["T"]
    assert not decoder.finished
    assert [kind for kind, _ in decoder.feed(second)] == ["P"]
    assert decoder.finished


def test_a_small_answer_cannot_grow_without_limit():
    bomb = wire.brotli.compress(b"\0" * (wire.MAX_ANSWER + 2_000_000))
    assert len(bomb) < 100
    with pytest.raises(wire.WireError, match="more than"):
        list(wire.Decoder().feed(bomb))
    with pytest.raises(wire.WireError, match="more than"):
        wire.decompress(bomb, 65536)


def test_damaged_answers_raise_nothing_else():
    draw = random.Random(2)
    encoder = wire.Encoder()
    good = encoder.part("T", b"text " * 100) + encoder.part("E", b"") + encoder.end()
    for _ in range(2000):
        data = bytearray(good)
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        try:
            list(wire.Decoder().feed(bytes(data)))
        except wire.WireError:
            pass


def test_parts_of_any_content_end_a_page_at_most():
    """What a hostile shore side can send: the door takes it, or gives the page up."""
    draw = random.Random(3)
    parts = [("H", b'{"title": 5, "status": "x", "lang": ["a"], "url": "http://[", "rtl": 1}'),
             ("H", b'{"file": -1}'), ("H", b'{"file": 1' + b"0" * 40 + b"}"), ("F", b"f"),
             ("H", b"[" * 5000), ("H", b"7"), ("T", b"<p>a"), ("L", b"http://[\n/x"),
             ("P", b"\x80"), ("P", b"\x01\x02\x03abc"), ("K", b"\x01"), ("K", b"\x01\x05"),
             ("S", b""), ("E", b"{"),
             ("E", b'{"octets": "many"}'), ("X", b"\xff"), ("?", b"new")]

    async def run():
        for _ in range(300):
            view = views.View("v", wire.Request("a.example"), None)
            for kind, octets in draw.choices(parts, k=6):
                try:
                    view._take(kind, octets)
                except (ValueError, IndexError, RecursionError):
                    break
            view._end()
            assert view.head.get("rtl", 1) == 1 and "status" not in view.head
            assert pages.end(view, None, 1.0, "t").endswith("</html>\n")
            assert pages.begin(view, False, 5.0, {way: {"seconds": 1, "octets": 2}
                                                  for way in pages.WAYS}, "t")
    asyncio.run(run())


# --- the library --------------------------------------------------------------------------------

def kept_page(url, text="text", pictures=None):
    return library.Kept(url, {"title": "t"}, {"T": [text]}, pictures or {}, "text", 5.0, 100, {})


def test_a_library_keeps_pages_and_forgets_the_oldest(tmp_path, monkeypatch):
    made = library.Library(str(tmp_path))
    page = kept_page("https://a.example/1", pictures={3: b"abc", 7: b"defg"})
    made.put(page)
    assert made.size("https://a.example/other", "text") == 100
    assert made.size("https://b.example/", "text") is None
    assert library.Library(str(tmp_path)).get("https://a.example/1") == page
    assert made.near("https://a.example/2") == page
    assert made.near("https://b.example/2") is None
    monkeypatch.setattr(library, "MAX_OCTETS", 3000)
    for number in range(20):
        made.put(kept_page(f"https://c.example/{number}", "x" * 200))
    assert made.get("https://a.example/1") is None
    assert made.get("https://c.example/19") is not None


def test_a_damaged_library_is_an_empty_one(tmp_path):
    made = library.Library(str(tmp_path))
    made.put(kept_page("https://a.example/1"))
    for name in os.listdir(tmp_path / "pages"):
        (tmp_path / "pages" / name).write_bytes(b"{\x00")
    (tmp_path / "notes.json").write_text("[]")
    again = library.Library(str(tmp_path))
    assert again.get("https://a.example/1") is None
    assert again.history() == [] and again.bookmarks() == []


def test_bookmarks_and_history(tmp_path):
    made = library.Library(str(tmp_path))
    made.bookmark("https://a.example/", "A")
    made.visited("https://a.example/", "A")
    made.visited("https://b.example/", "B")
    made.visited("https://a.example/", "A")
    assert [h["url"] for h in made.history()] == ["https://a.example/", "https://b.example/"]
    made.forget()
    assert made.history() == [] and [b["title"] for b in made.bookmarks()] == ["A"]
    made.bookmark("https://a.example/", None)
    assert made.bookmarks() == []
