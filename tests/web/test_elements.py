# SPDX-License-Identifier: GPL-3.0-or-later
"""Elements of a page: what is sent of each, and the limits of that."""
from gnuradio.hf.web import elements
from lxml import html
import pytest

BASE = elements.Base("https://a.example/dir/", "https://a.example/dir/page.html")


def element(text):
    return html.fragment_fromstring(text)


@pytest.mark.parametrize("text, found", [
    ("<img src=a.png>", ("/dir/a.png", 0)),
    ("<img src=a.png width=24 height=24>", ("/dir/a.png", 24)),
    ("<img src=a.png width=23>", None), ("<img src=a.png height=' 23 '>", None),
    ("<img src=a.png width=99999>", ("/dir/a.png", 99999)), ("<img src=data:x>", None),
    ("<img src=a.png width=100000>", ("/dir/a.png", 0)),
    ("<img src=a.png width=5%>", ("/dir/a.png", 0)),
    ("<img src=data:x srcset='b.png 2x, c.png'>", ("/dir/b.png", 0)),
    ("<img src=ftp://x/a>", None),
    ("<img src=a.png data-src=b.png>", ("/dir/b.png", 0)), ("<img>", None)])
def test_pictures_worth_sending(text, found):
    assert elements.picture_of(element(text), BASE) == found


@pytest.mark.parametrize("text, words", [
    ("<form><input type=Password></form>", "a log-in"),
    ("<form><input type=file></form>", "sends"),
    (f"<form><input value={'x' * elements.MAX_FIELDS}></form>", ""),
    (f"<form><input value={'x' * 8000}><select><option value={'y' * 8001}></select></form>",
     "a form with 16001 characters"),
    ("<form action=mailto:x><input></form>", "not on the web"),
    ("<form action=mailto:x></form>", ""),
    ("<form action=to><input></form>", "")])
def test_forms_that_do_not_pass(text, words):
    made = element(text)
    said = elements.refused_form(made, BASE)
    assert words in said and bool(said) == bool(words)
    passes = not words and "<input" in text
    assert elements.form_address(made, BASE) == (
        ("/dir/to" if "action" in text else "/dir/page.html") if passes else None)


@pytest.mark.parametrize("text, start", [
    ("<table><tr><td>1<td>2<tr><td>3<td>4</table>", "<table>"),
    ("<table><tr><td>1<td>2<tr><td>3</table>", None),
    ("<table><tr><td>1<td>2<td>3<td>4</table>", None),
    ("<table><tr><td>1<td>2<tr><td>3<td><form></form></table>", None),
    ("<form method=POST></form>", '<form method="post">'), ("<form></form>", "<form>"),
    ("<ul></ul>", "<ul>"), ("<div></div>", None)])
def test_start_tags(text, start):
    made = element(text)
    assert elements.start_of(made, "/to") == start
    if made.tag == "form":
        assert elements.start_of(made, None) is None


@pytest.mark.parametrize("span, tag", [("1", "<td>"), ("2", '<td colspan="2">'), ("x", "<td>"),
                                       ("99", '<td colspan="99">'), ("100", "<td>")])
def test_cells_over_several_columns(span, tag):
    table = element(f"<table><tr><td colspan={span}>1<td>2<tr><td>3<td>4</table>")
    assert elements.start_of(table.find(".//td"), None) == tag
    assert elements.start_of(table.find(".//tr"), None) == "<tr>"
    assert elements.start_of(element("<div><tr></tr></div>"), None) is None


@pytest.mark.parametrize("address, found", [
    ("to?utm_a=1&x=2&fbclid=3#f", "/dir/to?x=2"), ("to?utm_a=1", "/dir/to"), ("mailto:x", None),
    ("//b.example", "//b.example/"), ("http://a.example/x", "http://a.example/x"), ("", "/dir/"),
    ("https://a.example//x", "https://a.example//x"), ("a\x01b c", "/dir/a%01b%20c"),
    ("/" + "x" * 3000, "/" + "x" * 1999), ("//[", None), ("http:///x", None)])
def test_short_references(address, found):
    assert elements.shorter(address, BASE) == found


@pytest.mark.parametrize("text, found", [
    ("<a href=#x>", None), ("<a href=' '>", None), ("<a>", None), ("<a href=x>", "/dir/x")])
def test_links_lead_to_other_pages(text, found):
    assert elements.link_of(element(text), BASE) == found


@pytest.mark.parametrize("content, found", [
    ("5; url=next", (5.0, "https://a.example/dir/next")),
    ("0,'x.html'", (0.0, "https://a.example/dir/x.html")),
    ("5", None), ("x; url=next", None), ("5; url=page.html#a", None), ("1.2.3; url=next", None),
    ("5; url=mailto:x", None), ("1.5 next", (1.5, "https://a.example/dir/next"))])
def test_pages_that_lead_elsewhere(content, found):
    root = html.document_fromstring(
        f'<meta name=x><meta http-equiv=" Refresh" content="{content}"><p>x')
    assert elements.refresh_of(root, BASE) == found
    none = html.document_fromstring("<meta name=refresh content=5>")
    assert elements.refresh_of(none, BASE) is None


@pytest.mark.parametrize("text, found", [
    ("<iframe src=m.html title='A  map'>", ("/dir/m.html", "frame: A map")),
    ("<iframe src=m.html width=10>", None), ("<object data=x.pdf width=10></object>",
                                             ("/dir/x.pdf", "object: x.pdf")),
    ("<video><source src=v.mp4></video>", ("/dir/v.mp4", "video: v.mp4")),
    ("<video></video>", None),
    ("<area href=there/ alt=There>", ("/dir/there/", "There")), ("<area href=#x>", None),
    ("<frame src=there/ name=n>", ("/dir/there/", "frame: n")),
    ("<embed src=//b.example/>", ("//b.example/", "object: //b.example/"))])
def test_what_stands_elsewhere(text, found):
    made = html.document_fromstring(f"<body>{text}") if "<frame " not in text else \
        html.document_fromstring(f"<frameset>{text}</frameset>")
    tag = text[1:].partition(" ")[0].partition(">")[0]
    assert elements.elsewhere(made.find(f".//{tag}"), BASE) == found


def test_names_of_what_shows_no_text():
    assert elements.label_of(element("<i aria-label=' ' title='a  b'></i>")) == "a b"
    assert elements.label_of(element("<svg><title>t</title></svg>")) == "t"
    assert elements.label_of(element(f"<i title={'x' * 300}></i>")) == "x" * 200
    assert elements.label_of(element("<i></i>")) == ""
    assert elements.hidden(element("<p style='display : None'>"))
    assert elements.hidden(element("<p hidden>")) and elements.hidden(element("<style></style>"))
    assert not elements.hidden(element("<p>"))
    assert elements.is_later(element("<div role=search></div>")) and \
        elements.is_later(element("<nav></nav>")) and not elements.is_later(element("<p>"))
