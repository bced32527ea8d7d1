# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages and other documents as their authors write them: nothing is lost without a word."""
import asyncio
import http.server
import re
import threading
import time

from gnuradio.hf.web import fetch, kinds, render, tree
import pytest

ADDRESS = "http://a.example/dir/page.html"


def page_of(body, kind="text/html", charset="utf-8"):
    octets = body.encode() if isinstance(body, str) else body
    return kinds.page_of(fetch.Fetched(ADDRESS, 200, kind, charset, octets, False))


#: Document, lines of the page, addresses of its links.
PAGES = [
    # frames and what else stands in a document of its own
    ("<frameset><frame src=menu.html name=menu><frame src='/main.html'><noframes>old"
     "</noframes></frameset>", ["<p><a>frame: menu</a>", "<p><a>frame: main.html</a>"],
     ["/dir/menu.html", "/main.html"]),
    ("<p>a<iframe src='//maps.example/m?x=1' title='Map of it'></iframe>b",
     ["<p>a", "<p><a>frame: Map of it</a>", "<p>b"], ["//maps.example/m?x=1"]),
    ("<p>a<iframe src=//ads.example/ width=1 height=1></iframe>b", ["<p>ab"], []),
    ("<p>a<iframe src=//ads.example/ style='display:none'></iframe>b", ["<p>ab"], []),
    ("<object data=plan.pdf type=application/pdf>no plug-in</object>",
     ["<p><a>object: plan.pdf</a>"], ["/dir/plan.pdf"]),
    ("<object><p>shown instead</object>", ["<p>shown instead"], []),
    ("<embed src=/a.swf>", ["<p><a>object: a.swf</a>"], ["/a.swf"]),
    ("<audio controls><source src=/a.ogg><a href=/a.mp3>get it</a></audio>",
     ["<p><a>sound: a.ogg</a>"], ["/a.ogg"]),
    ("<video src=/v.webm title='The ship'></video>", ["<p><a>video: The ship</a>"], ["/v.webm"]),
    ("<img src=/m.png alt=Map usemap=#m><map name=m><area href=/n alt=North shape=rect>"
     "<area href=/s><area alt=none></map>",
     ['<p><img alt="Map">', "<p><a>North</a>", "<p><a>s</a>"], ["/n", "/s"]),
    # links and pictures without text
    ("<a href=/x aria-label=Home><svg><path/></svg></a>", ["<p><a>Home</a>"], ["/x"]),
    ("<a href=/x><svg><title>Menu</title></svg></a>", ["<p><a>Menu</a>"], ["/x"]),
    ("<p>before <svg aria-label='a chart'></svg> after", ["<p>before a chart after"], []),
    ("<p>x is <math><mi>a</mi><mo>+</mo><mi>b</mi></math>.", ["<p>x is a+b."], []),
    # what leads elsewhere
    ("<meta http-equiv=refresh content='30; url=/next'><p>wait",
     ["<p><a>After 30 s this page leads on</a>", "<p>wait"], ["/next"]),
    ("<meta http-equiv=refresh content=60><p>live", ["<p>live"], []),
    # forms that do not pass are named, without the labels of their fields
    ("<form action=/in><label>Name <input name=n></label><label>Word <input type=password>"
     "</label><button>Go</button><a href=/lost>Lost it?</a></form>",
     ["<p>[a log-in, which does not pass here]", "<p><a>Lost it?</a>"], ["/lost"]),
    ("<form action=/up><label>File <input type=file></label></form>",
     ["<p>[a form that sends files, which does not pass here]"], []),
    ("<form action=mailto:a@b.example><input name=x></form>",
     ["<p>[a form whose address is not on the web]"], []),
    (f"<form><input type=hidden name=s value={'x' * 20_000}><button>Go</button></form>",
     ["<p>[a form with 20000 characters in its fields, of which 16000 pass here]"], []),
    # forms that pass send what the page holds
    ("<form><textarea name=t>\n\n one\ntwo\r\n</textarea></form>",
     ['<form><p><textarea name="t">&#10; one&#10;two&#10;</textarea>', "</form>"],
     ["/dir/page.html"]),
    (f"<form><select name=a><option value={'v' * 300}>one</select></form>",
     [f'<form><p><select name="a"><option value="{"v" * 300}">one</select>', "</form>"],
     ["/dir/page.html"]),
    (f"<form action=/s><input type=hidden name=s value={'x' * 3000}></form>",
     [f'<form><p><input type="hidden" name="s" value="{"x" * 3000}">', "</form>"], ["/s"]),
    # old and careless pages
    ("<font><center><h1>Old</h1>text</center></font>", ["<h1>Old", "<p>text"], []),
    ("<p>one<p>two<td>three</td>", ["<p>one", "<p>two", "<p>three"], []),
    ("<ul><li>a<li>b<ul><li>c</ul></ul>", ["<ul><li>a", "<li>b", "<ul><li>c", "</ul>", "</ul>"],
     []),
    ("<b>bold <i>both</b> italic</i>", ["<p><b>bold <i>both</i></b> italic"], []),
    ("text without any element", ["<p>text without any element"], []),
    ("<a href='/a'>one<a href='/b'>two", ["<p><a>one</a><a>two</a>"], ["/a", "/b"]),
    ("<plaintext>5 < 6", ["<p>5 &lt; 6"], []),
    ("<p>&nbsp;&euro;&#8364;&#x20ac;&bogus;", ["<p>\u00a0\u20ac\u20ac\u20ac&amp;bogus;"], []),
    ("\ufeff<p>x", ["<p>x"], []),
    ("<!-- a --><p>x<!-- b -->y", ["<p>xy"], []),
    ("<dl><dt>a<dd>b</dl>", ["<dl><dt>a", "<dd>b", "</dl>"], []),
    ("<p>1<br><br>2", ["<p>1<br>2"], []),
    ("<script>document.write('<p>no')</script><p>yes", ["<p>yes"], []),
    ("<p>a<template><p>no</template>b", ["<p>ab"], []),
]


@pytest.mark.parametrize("body, lines, links", PAGES)
def test_a_page_as_its_author_wrote_it(body, lines, links):
    page = page_of(body)
    assert page.main + page.rest == lines
    assert page.main_links + page.rest_links == links


@pytest.mark.parametrize("tag", ["div", "b", "font", "ul><li", "table><tr><td", "span",
                                 "a href=x"])
@pytest.mark.parametrize("depth", [300, 30_000])
def test_deep_pages_keep_their_text_and_links(tag, depth):
    page = page_of("<body>" + f"<{tag}>" * depth + "inside <a href=/x>link</a> end")
    text = re.sub("<[^<>]*>", "", "".join(page.main))
    assert text == "inside link end" and page.main_links[-1:] == ["/x"]


def test_the_limit_of_elements_keeps_what_comes_before():
    page = page_of("<p>first" + "<i>x</i>" * tree.MAX_ELEMENTS + "<p>last")
    assert "first" in page.main[0] and "last" not in page.main[-1]


FEEDS = [
    ("<rss version='2.0'><channel><title>News</title><link>/</link><item><title>One &amp; two"
     "</title><link>http://a.example/1</link><pubDate>Sat, 28 Nov</pubDate><description>&lt;p&gt;"
     "It &lt;b&gt;is&lt;/b&gt;.</description></item><item><title>Three</title></item></channel>"
     "</rss>", "application/rss+xml"),
    ("<feed xmlns='http://www.w3.org/2005/Atom'><title>News</title><entry><title>One &amp; two"
     "</title><link rel='self' href='/no'/><link href='/1'/><updated>Sat, 28 Nov</updated>"
     "<summary type='html'>&lt;p&gt;It &lt;b&gt;is&lt;/b&gt;.</summary></entry><entry><title>Three"
     "</title></entry></feed>", "text/xml"),
    ("<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/"
     "rss/1.0/' xmlns:dc='http://purl.org/dc/elements/1.1/'><channel><title>News</title></channel>"
     "<item><title>One &amp; two</title><link>/1</link><dc:date>Sat, 28 Nov</dc:date>"
     "<description>It is.</description></item><item><title>Three</title></item></rdf:RDF>",
     "application/xml")]


@pytest.mark.parametrize("body, kind", FEEDS)
def test_a_feed_is_a_list_of_its_entries(body, kind):
    page = page_of(body, kind)
    assert page.title == "News" and page.main_links == ["/1"]
    assert page.main == ["<h1>News", "<ul><li><a>One &amp; two</a> (Sat, 28 Nov)", "<p>It is.",
                         "<li>Three", "</ul>"]


def test_a_feed_opens_no_file():
    body = ("<!DOCTYPE rss [<!ENTITY x SYSTEM 'file:///etc/passwd'><!ENTITY b 'bbbbbbbb'>"
            "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'>]><rss><channel><title>&x;&c;n</title>"
            "</channel></rss>")
    page = page_of(body, "text/xml")
    assert "root:" not in "".join(page.main) and len("".join(page.main)) < 100


@pytest.mark.parametrize("body, kind, text", [
    ('{"a":[1,"ä"]}', "application/json", '{\n "a": [\n  1,\n  "ä"\n ]\n}'),
    ("{not json", "application/problem+json", "{not json"),
    ("a,b\r\n1,<2>", "text/csv", "a,b\n1,&lt;2&gt;"), ("x", "text/markdown", "x"),
    ("<a><b/></a>", "application/xml", "&lt;a&gt;&lt;b/&gt;&lt;/a&gt;")])
def test_other_text_is_shown_as_it_stands(body, kind, text):
    assert "\n".join(page_of(body, kind).main) == f"<pre>{text}\n</pre>"


@pytest.mark.parametrize("body, kind", [
    ("[" * 900 + "0," * 200_000 + "0" + "]" * 900, "application/json"),
    ("[" * 500_000, "application/json"),
    ("<rss><channel>" + "<item><title>x</title></item>" * 100_000 + "</channel></rss>",
     "text/xml"),
    ("<meta http-equiv=refresh content='0;" + " " * 1_000_000 + "x'>" * 3, "text/html"),
    ("<meta http-equiv=refresh content='" + "0 " * 400_000 + "'>", "text/html")],
    ids=["deep lists", "open lists", "entries", "blanks", "times"])
def test_what_would_grow_is_bounded(body, kind):
    begin = time.process_time()
    page = page_of(body, kind)
    assert sum(map(len, page.main)) < 3_000_000
    assert time.process_time() - begin < 20


def test_a_list_of_any_depth_costs_a_terminal_little():
    text = render.Plain().feed(["<ul><li>x"] * 50_000)
    assert len(text) < 50_000 * 30


@pytest.mark.parametrize("kind", ["application/pdf", "application/zip", "audio/ogg",
                                  "application/octet-stream"])
def test_other_documents_are_no_pages(kind):
    assert page_of(b"%PDF", kind) is None


# --- the renderers ------------------------------------------------------------------------------

def test_a_browser_sends_a_text_area_as_the_page_had_it():
    lines = page_of("<form><textarea name=t>\n\n one\ntwo</textarea></form>").main
    shown = render.Renderer("/v", False)
    text = "".join(map(shown.line, lines))
    # The first line end behind the tag is not part of the text.
    assert '<textarea name="t">\n\n one\ntwo</textarea>' in text


def plain(body, addresses=()):
    made = render.Plain()
    return made.feed(page_of(body).main) + made.end(list(addresses))


@pytest.mark.parametrize("body, text", [
    ("<table><caption>Bands</caption><tr><th>m<th>MHz<tr><td>40<td>7<tr><td>20<td>14 &lt; 15"
     "</table>", "Bands\nm   MHz\n40  7\n20  14 < 15\n"),
    (f"<table><tr>{'<td>' + 'a' * 20}" + f"{'<td>' + 'b' * 20}" * 4 + "<tr><td>c<td>d</table>",
     " | ".join(["a" * 20] + ["b" * 20] * 4) + "\nc | d\n"),
    ("<table><tr><td><p>one<p>two<td>x<tr><td>y<td>z</table>", "one two  x\ny        z\n"),
    ("<ol><li>a<li>b<ul><li>c</ul><li>d</ol>", "1. a\n2. b\n  * c\n3. d\n"),
    ("<p>see <a href=/a>this</a> and <a href=/b>that</a>",
     "see this[1] and that[2]\n\nLinks\n[1] one\n[2] two\n"),
    ("<pre>a  b\n\n c</pre>", "a  b\n c\n")])
def test_a_terminal_shows_tables_lists_and_links(body, text):
    assert plain(body, ["one", "two"] if "href" in body else []) == text


# --- what the shore side asks for ---------------------------------------------------------------

def fetched(handler, paths):
    """Bodies of pages of a site on the loopback."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    async def run():
        fetcher = fetch.Fetcher(["127.0.0.1/32"])
        try:
            return [(await fetcher.get(f"http://127.0.0.1:{server.server_port}{path}",
                                       1000)).body for path in paths]
        finally:
            await fetcher.close()

    try:
        return asyncio.run(run())
    finally:
        server.shutdown()
        server.server_close()


def test_a_cookie_and_a_redirect():
    """Many sites set a cookie and lead a visitor back, until it comes with the cookie."""
    seen = []

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.headers.get("Cookie"))
            there = "seen=1" in (seen[-1] or "")
            self.send_response(200 if there else 302)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", "2")
            if not there:
                self.send_header("Set-Cookie", "seen=1; Path=/; HttpOnly")
                self.send_header("Location", self.path)
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_):
            pass

    assert fetched(Site, ["/", "/"]) == [b"ok", b"ok"]
    assert seen == [None, "seen=1"] * 2, "a cookie lives for one page"
