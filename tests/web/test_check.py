# SPDX-License-Identifier: GPL-3.0-or-later
"""hf web check: the rules for sites made for HF, what costs most, and the seconds."""
import asyncio
import json

from click.testing import CliRunner
import pytest

from gnuradio.hf.cli import hf
from gnuradio.hf.web import check, fetch, shore, site, wire
import sites

ICON = "<link rel=icon href=data:,>"
WORDS = "".join(f"<p>Wave {k} is {k * 7919 % 1009} metres long and travels by night.</p>"
                for k in range(30))
#: Pages whose costliest things are known: the document, other files, and the three by their words.
COSTLY = {
    "script": ("<script>" + "".join(f"var a{k}={k * k};" for k in range(900)) + "</script><style>"
               + "".join(f".c{k}{{top:{k}px}}" for k in range(300)) + f"</style>{WORDS}", {},
               ["scripts in the page", "styles in the page", "text of the page"]),
    "files": (f'{ICON}<img src="big.png"><script src="j.js"></script>{WORDS}',
              {"big.png": sites.picture(200, 100), "j.js": sites.picture(40, 40)},
              ["picture http://folder.localhost/big.png", "script http://folder.localhost/j.js",
               "text of the page"]),
    "data": (f'<img src="data:image/png;base64,{"QUJD" * 3000}"><nav class="{"x" * 900}"></nav>'
             f"{WORDS}", {},
             ["files in the page (data:)", "text of the page", "tags and attributes of the page"])}


def checked(where):
    return asyncio.run(check.check(str(where)))


def met(report):
    return {v.rule: v.passed for v in report.verdicts}


@pytest.mark.parametrize("name", COSTLY)
def test_the_three_costliest_things_are_named(tmp_path, name):
    document, files, costs = COSTLY[name]
    (tmp_path / "index.html").write_text(document)
    for file, octets in files.items():
        (tmp_path / file).write_bytes(octets)
    report = checked(tmp_path)
    assert [c.what for c in report.costs[:3]] == costs
    # The costliest three are most of the page, and what they cost is in the seconds.
    assert sum(c.octets for c in report.costs[:3]) > 0.8 * report.ways[2].octets
    first = check.seconds_of(report.costs[0])
    assert first[1200] > 6 * first[9600] > 0


def test_a_page_made_for_hf_keeps_all_rules():
    kept = {"Cache-Control": "max-age=3600", "Content-Type": "text/html; charset=utf-8"}
    pages = {"/": (200, kept, f"<title>Weather</title>{ICON}<main>{WORDS[:900]}"
                   "<a href=chart.png>Chart</a>, 40 kB</main>".encode())}
    with sites.Server(pages) as server:
        report = checked(server.url + "/")
    assert [v.rule for v in report.verdicts if v.passed is False] == []
    assert [v.published for v in report.verdicts] == [True] * 9 + [False] * 4
    assert report.ways[2].exchanges == 1


def test_broken_rules_are_named():
    picture = {"Content-Type": "image/png"}
    pages = {
        "/": (302, {"Location": "/front"}, b""),
        "/front": sites.html(
            "<head>" + "".join(f"<script src=/s{k}.js></script>" for k in range(3))
            + "<link rel=stylesheet href=/a.css></head><div id=root></div><img src=/wave.png>"
            '<img src="http://other.example/x.png"><a href="doc.pdf">Read</a>'
            "<a href=/long.html>More</a>" + "".join(f"<img src=/tiny{k}.png>" for k in range(9))),
        "/long.html": sites.html("".join(f"<p>{k * 7919 % 99991:x} {k * 104729 % 999983:x}"
                                         for k in range(3000))),
        "/a.css": (200, {"Content-Type": "text/css"}, b"@import '/b.css'; p { top: 1px }"),
        "/b.css": (200, {"Content-Type": "text/css"}, b"p{background:url(/wave.png)}" * 90),
        "/wave.png": (200, picture, sites.picture()),
        **{f"/s{k}.js": (200, {"Content-Type": "text/javascript"}, b"x = 1;") for k in range(3)},
        **{f"/tiny{k}.png": (200, picture, b"tiny") for k in range(9)}}
    with sites.Server(pages) as server:
        report = checked(server.url)
    assert met(report) == {
        "little data": False, "no TLS": True, "one host": False, "few files": False,
        "no small files": False, "the core comes first": False, "pictures apart": False,
        "links tell sizes": False, "pages of moderate size": False, "no redirects": False,
        "compressed": False, "can be kept": False, "readable without scripts": False}
    # A redirect, the page, its files, the style that one of them imports.
    assert report.ways[2].exchanges == 4
    assert report.costs[0].what.endswith("/wave.png")
    assert any("other.example" in url for url, _ in report.missing)


def test_only_the_host_that_was_named_is_private_and_fetched():
    with sites.Server({"/": sites.html("secret")}, "127.0.0.2") as other, sites.Server(
            {"/": sites.html(f'{ICON}<img src="{other.url}/">{WORDS}')}) as server:
        report = checked(server.url + "/")
        assert other.asked == []
    assert report.missing == [(other.url + "/", "127.0.0.2: not a public address")]


def test_a_folder_gives_no_file_outside_it(tmp_path):
    inside = tmp_path / "site"
    inside.mkdir()
    (tmp_path / "secret.txt").write_text("secret" * 500)
    (inside / "link.txt").symlink_to(tmp_path / "secret.txt")
    (inside / "a.html").write_text(f'<img src="../secret.txt"><img src="link.txt">'
                                   f'<img src="%2e%2e/secret.txt">{WORDS}')
    report = checked(inside / "a.html")
    assert len(report.missing) >= 2 and not any("secret" in c.what or "link" in c.what
                                                for c in report.costs)


def test_a_site_is_read_within_limits(monkeypatch):
    monkeypatch.setattr(site, "MAX_FILES", 5)
    pages = {"/": sites.html("".join(f"<img src=/{k}.png>" for k in range(40)) + WORDS)}
    with sites.Server(pages) as server:
        report = checked(server.url + "/")
        assert len(server.asked) <= 5
    assert len(report.missing) >= 36 and "more than 5 files" in report.missing[-1][1]


def test_octets_through_the_door_are_those_of_its_answer(tmp_path):
    (tmp_path / "index.html").write_text(f"<title>W</title>{WORDS}")
    report = checked(tmp_path)

    async def answer():
        source = site.Source([], str(tmp_path))
        made = shore.Shore([], lambda line: None, source)
        return await shore.answer_octets(made, wire.Request(f"http://{site.FOLDER}/"))

    assert report.ways[0].octets == asyncio.run(answer()) > 100


def test_the_command_prints_tables_and_json(tmp_path):
    (tmp_path / "index.html").write_text("<a href=a.pdf>Read</a>" + COSTLY["script"][0])
    done = CliRunner().invoke(hf, ["web", "check", str(tmp_path)])
    assert done.exit_code == 1 and "scripts in the page" in done.output
    assert "of 13 rules are broken" in done.output and "9600 bit/s" in done.output
    done = CliRunner().invoke(hf, ["web", "check", "--json", str(tmp_path)])
    found, _ = json.JSONDecoder().raw_decode(done.output)
    assert len(found["rules"]) == 13 and found["ways"][0]["seconds"].keys() == {"9600", "1200"}
    done = CliRunner().invoke(hf, ["web", "check", "http://127.0.0.1:65000/"])
    assert done.exit_code == 1 and "127.0.0.1" in done.output


def test_what_is_no_page_is_an_error(tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    with pytest.raises(fetch.FetchError, match="a page of HTML"):
        checked(tmp_path / "a.pdf")
    with pytest.raises(fetch.FetchError, match="no such file, folder or host"):
        checked(tmp_path / "nothing.html")
