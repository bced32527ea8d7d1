# SPDX-License-Identifier: GPL-3.0-or-later
"""A door and a shore side at two stations on emulated air, and real HTTP on both sides."""
import http.client
import json
import os
import random
import re
import shutil
import subprocess
from urllib.parse import urlencode

from click.testing import CliRunner
import pytest

from gnuradio.hf import station
from gnuradio.hf.cli import hf
from gnuradio.hf.station import pair
from gnuradio.hf.web import script, shore
from gnuradio.hf.web.service import WebService
import sites


class Stations:
    """Two stations with a door and its shore side; server: the web ashore."""

    def __init__(self, folder, allow=("127.0.0.0/8",), peers=(pair.NODES["A"],), **of_door):
        self.services = {}
        self.lines = []

        def describe(name, d):
            d.web = station.Web(node=pair.NODES["B"], folder=folder,
                                **{"listen": "127.0.0.1:0", **of_door}) \
                if name == "A" else station.Web(
                    role="shore", allow=list(allow), peers=list(peers))
            self.services[name] = WebService(d)

        self.pair = pair.Pair(pair.Setting(mode="4539-9600S", speed=20.0), False, describe)
        self.server = sites.Server(sites.usual())

    def __enter__(self):
        self.server.__enter__()
        self.pair.__enter__()
        for name, service in self.services.items():
            service.attach(self.pair.stations[name], self.lines.append)
        self.port, self.token = self.services["A"].port, self.services["A"].door.token
        return self

    def __exit__(self, *_):
        for service in self.services.values():
            service.close()
        self.pair.__exit__()
        self.server.__exit__()

    def request(self, path, method="GET", body=None, **headers):
        """Status, headers and text of an answer of the door."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {k.replace("_", "-"): v
                                                    for k, v in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def page(self, path="/", mode="text", **more):
        """Status and text of a page of the server through the door."""
        query = urlencode({"url": self.server.url + path, "mode": mode, "token": self.token,
                           **more})
        status, _, body = self.request(f"/page?{query}")
        return status, body.decode()


@pytest.fixture(scope="module")
def stations(tmp_path_factory):
    with Stations(str(tmp_path_factory.mktemp("web"))) as made:
        yield made


def test_a_page_comes_with_text_links_and_pictures(stations):
    status, text = stations.page(mode="pictures")
    assert status == 200
    assert "<h1>Short waves" in text and "never seen" not in text and "Footer words" in text
    assert text.index("Short waves") < text.index("Aside words")
    picture = re.search(r"/view/[^/]+/picture/0", text).group()
    status, headers, body = stations.request(picture)
    assert status == 200 and headers["Content-Type"] == "image/webp"
    assert body[:4] == b"RIFF" and body[8:12] == b"WEBP"
    assert stations.request(picture[:-1] + "9")[0] == 404
    links = re.findall(r'href="(/view/[^/]+/link/\d+)"', text)
    status, headers, _ = stations.request(links[0])
    assert status == 303 and "other.example%2Fa%2520b" in headers["Location"]


def test_a_second_visit_costs_a_few_octets(stations):
    stations.page()
    before = len(stations.server.asked)
    assert "Kept here" in stations.page()[1]
    assert len(stations.server.asked) == before
    view = stations.services["A"].ask(stations.server.url + "/", "text")
    assert view.ended.wait(60)
    assert view.same and view.octets <= 10 and "<h1>Short waves" in view.sections["T"]


def test_a_changed_page_is_sent_as_a_difference(stations):
    many = "".join(f"<p>Paragraph {n} has some words that nobody else has {n * n}.</p>"
                   for n in range(200))
    stations.server.pages["/long"] = sites.html(f"<main>{many}</main>")
    assert "Paragraph 199" in stations.page("/long")[1]
    stations.server.pages["/long"] = sites.html(f"<main>{many}<p>One more.</p></main>")
    view = stations.services["A"].ask(stations.server.url + "/long", "text")
    assert view.ended.wait(60)
    assert view.sections["T"][-1] == "<p>One more." and len(view.sections["T"]) == 201
    assert view.octets < 100


def test_a_budget_ends_a_page_and_the_rest_can_follow(stations):
    draw = "".join(f"<p>{n * 7919 % 10007:x} {n * 104729 % 99991:x} {n * 1299709 % 999983:x}</p>"
                   for n in range(3000))
    stations.server.pages["/huge"] = sites.html(f"<main>{draw}</main>")
    status, text = stations.page("/huge", budget=5)
    assert status == 200 and "Stopped after 5 kB" in text
    assert 20 < text.count("<p>") < 2500
    status, text = stations.page("/huge", again=1)
    assert text.count("<p>") >= 3000 and "Stopped" not in text


def test_forms_work_both_ways(stations):
    _, text = stations.page(again=1)
    get, = re.findall(r'<form method="get" action="(/view/[^"]+)"', text)
    post, = re.findall(r'<form method="post" action="(/view/[^"]+)"', text)
    status, headers, _ = stations.request(get + "?q=a+b")
    assert status == 303 and "find%3Fq%3Da%2Bb" in headers["Location"]
    status, _, body = stations.request(post, "POST", "name=Anna&text=hi",
                                       Content_Type="application/x-www-form-urlencoded")
    assert status == 200 and b"said name=Anna&amp;text=hi" in body
    assert stations.server.posts["/say"] == b"name=Anna&text=hi"
    assert "password" not in text and "login" not in text


def test_what_goes_wrong_is_said(stations):
    query = urlencode({"url": "http://10.1.1.1/", "mode": "text", "token": stations.token})
    assert b"10.1.1.1: not a public address" in stations.request(f"/page?{query}")[2]
    status, _, body = stations.request("/plain?" + query)
    assert status == 502 and b"not a public address" in body
    assert "answered with status 404" in stations.page("/nothing")[1]
    for bad in ("url=", "url=file:///etc/passwd", "url=a.example&mode=x", "url=a&budget=-1"):
        assert stations.request(f"/page?token={stations.token}&{bad}")[0] == 400


def test_a_browser_that_leaves_ends_the_transfer(stations):
    words = "".join(f"<p>{n * 7919 % 10007:x} {n * 104729 % 99991:x}</p>" for n in range(30_000))
    stations.server.pages["/endless"] = sites.html(f"<main>{words}</main>")
    connection = http.client.HTTPConnection("127.0.0.1", stations.port, timeout=60)
    connection.request("GET", "/page?" + urlencode({"url": stations.server.url + "/endless",
                                                    "token": stations.token}))
    answer = connection.getresponse()
    number = re.search(rb'data-view="([^"]+)"', answer.read1(65536)).group(1).decode()
    while b"<p>" not in answer.read1(65536):
        pass
    view = stations.services["A"].door.view(number)
    answer.close()
    connection.close()
    assert view.ended.wait(60) and view.error == "stopped"
    assert stations.page("/text")[0] == 200


def test_plain_text_and_redirects(stations):
    assert "plain &lt;text&gt;" in stations.page("/text")[1]
    status, headers, body = stations.request("/plain?" + urlencode(
        {"url": stations.server.url + "/moved"}), X_HF_Door="1")
    assert status == 200 and "Short waves\n===========" in body.decode()
    state = json.loads(stations.request(f"/view/{headers['X-HF-View']}/state")[2])
    assert state["done"] and state["title"] == "Short waves & you"


def test_a_document_as_it_is(stations, tmp_path):
    pdf = bytes(range(256)) * 300
    stations.server.pages["/a%20b.pdf"] = 200, {"Content-Type": "application/pdf"}, pdf
    text = stations.page("/a%20b.pdf")[1]
    assert "application/pdf, which cannot be shown here" in text and "77 kB" in text
    path = re.search(r'href="(/page\?[^"]*mode=file)"', text)[1].replace("&amp;", "&")
    status, headers, body = stations.request(path)
    assert status == 200 and body == pdf
    assert headers["Content-Disposition"] == 'attachment; filename="a_20b.pdf"'
    assert headers["Content-Type"] == "application/octet-stream"
    to = tmp_path / "out.pdf"
    url = stations.server.url + "/a%20b.pdf"
    done = CliRunner().invoke(hf, ["web", "get", "--door", f"127.0.0.1:{stations.port}",
                                   "-o", str(to), url])
    assert done.exit_code == 0 and to.read_bytes() == pdf, done.output
    assert stations.page("/nothing", mode="file") == (502, "the site answered with status 404\n")
    assert stations.page("/text", mode="file") == (200, "plain <text>\n\nand more")


def test_a_document_that_is_cut_leaves_no_file(stations, tmp_path, monkeypatch):
    monkeypatch.setattr(shore, "FILE_PIECE", 100)
    sent = shore._Answer._part

    async def part(self, kind, data):
        if kind == "F" and self._encoder.octets > 2000:
            self._writer.transport.abort()
        await sent(self, kind, data)

    monkeypatch.setattr(shore._Answer, "_part", part)
    noise = random.Random(1).randbytes(50_000)
    stations.server.pages["/z.zip"] = 200, {"Content-Type": "application/zip"}, noise
    to = tmp_path / "z.zip"
    done = CliRunner().invoke(hf, ["web", "get", "--door", f"127.0.0.1:{stations.port}",
                                   "-o", str(to), stations.server.url + "/z.zip"])
    assert done.exit_code == 1 and not to.exists() and not os.listdir(tmp_path)


def test_a_page_that_leads_on_is_followed_ashore(stations):
    pages = stations.server.pages
    pages["/lead"] = sites.html("<meta http-equiv=refresh content='0; url=/lead2'>")
    pages["/lead2"] = sites.html("<meta http-equiv=refresh content='5; url=/'><p>Wait.")
    text = stations.page("/lead")[1]
    assert "<h1>Short waves" in text and "Wait." not in text
    pages["/round"] = sites.html("<meta http-equiv=refresh content='0; url=/there'>")
    pages["/there"] = sites.html("<meta http-equiv=refresh content='0; url=/round'>")
    assert "more than 5 pages that lead on" in stations.page("/round")[1]
    stations.server.pages["/inside"] = sites.html(
        "<meta http-equiv=refresh content='0; url=http://10.1.1.1/'>")
    assert "10.1.1.1: not a public address" in stations.page("/inside")[1]


def test_links_of_a_kept_page_lead_on_in_the_chosen_way(stations):
    stations.page("/", mode="pictures", again=1)
    text = stations.page("/", mode="text", budget=7)[1]
    assert "Kept here" in text and "/picture/" not in text
    link = re.findall(r'href="(/view/[^/]+/link/\d+)"', text)[0]
    location = stations.request(link)[1]["Location"]
    assert "mode=text" in location and "budget=7" in location


def test_other_pages_cannot_make_the_door_transmit(stations):
    secret, token = stations.server.url + "/secret", stations.token
    query, form = urlencode({"url": secret, "token": token}), {
        "Content_Type": "application/x-www-form-urlencoded"}
    marked = urlencode({"url": "https://evil.example/", "title": "evil", "token": token})
    for headers in ({"Sec_Fetch_Site": "cross-site"}, {"Origin": "http://evil.example"},
                    {"Sec_Fetch_Site": "same-site"}, {"Origin": "null"}, {"Origin": ""},
                    {"Origin": f"https://127.0.0.1:{stations.port}"},
                    {"Origin": "http://127.0.0.1:1"}):
        status, _, body = stations.request("/page?" + query, **headers)
        assert status == 200 and b"The web over HF" in body  # the reader decides
        assert stations.request("/forget", "POST", "token=" + token, **form, **headers)[0] == 200
        assert stations.request("/bookmark", "POST", marked, **form, **headers)[0] == 200
    assert stations.request("/page?" + query, Host="evil.example")[0] == 403
    assert stations.request("/page?" + query, Host=f"hf.local:{stations.port}")[0] == 403
    assert b"evil" not in stations.request("/")[2]
    assert not any("/secret" in path for path in stations.server.asked)
    assert stations.request("/")[1]["Content-Security-Policy"].startswith("default-src 'none'")


@pytest.mark.parametrize("token", [None, "", "wrong", "\u00e4"])
def test_a_request_without_the_token_of_the_door_asks_the_reader(stations, token):
    """As from a browser that does not say which page asks."""
    words = {"url": stations.server.url + "/secret", **({} if token is None else {"token": token})}
    for path in ("/page?", "/plain?", "/?search=secret&"):
        status, _, body = stations.request(path + urlencode(words))
        assert status == 200 and b"The web over HF" in body
    for path in ("/bookmark", "/forget"):
        assert stations.request(path, "POST", urlencode({**words, "title": "evil"}),
                                Content_Type="application/x-www-form-urlencoded")[0] == 200
    front = stations.request("/?" + urlencode(words))[2].decode()
    assert "evil" not in front and f'value="{words["url"]}"' in front
    assert not any("/secret" in path for path in stations.server.asked)


def test_all_that_the_first_page_offers_works(stations):
    """Links and forms of the door have its token."""
    stations.page()
    front = stations.request("/")[2].decode()
    link = re.search(r'href="(/page[^"]+)"', front).group(1).replace("&amp;", "&")
    assert "<h1>Short waves" in stations.request(link)[2].decode()
    assert front.count("<form") == front.count('name="token"') == 3
    shown = stations.page()[1]
    assert shown.count('name="token" value="' + stations.token) == 2
    again = re.search(r'href="(/page[^"]+again=1)"', shown).group(1).replace("&amp;", "&")
    assert "<h1>Short waves" in stations.request(again)[2].decode()


def test_the_first_page_has_estimates_bookmarks_and_history(stations):
    stations.page()
    text = stations.request("/")[2].decode()
    assert "about " in text and stations.server.url in text
    stations.request("/bookmark", "POST", urlencode({
        "url": "https://b.example/", "title": "B<b>", "token": stations.token}),
        Content_Type="application/x-www-form-urlencoded")
    assert "B&lt;b&gt;" in stations.request("/")[2].decode()
    found = json.loads(stations.request("/estimate?url=x.example&budget=3")[2])
    assert found["text"]["octets"] == 3000 and found["text"]["seconds"] < \
        found["as it is"]["seconds"]
    status, headers, _ = stations.request("/?search=short+waves&token=" + stations.token)
    assert status == 303 and "short%2520waves" in headers["Location"]


def test_a_shore_side_serves_its_peers_only(tmp_path):
    with Stations(str(tmp_path), peers=["1.2.0.9"]) as made:
        status, text = made.page()
        assert status == 200 and "does not serve this station" in text
        assert made.server.asked == []
        assert made.pair.stations["B"].pep.stats()["rejected"] >= 1


def test_a_shore_station_that_does_not_answer_is_an_error(tmp_path):
    with Stations(str(tmp_path)) as made:
        made.services["B"].close()
        status, text = made.page()
        assert status == 200 and "no answer" in text or "was cut" in text


BROWSER = next(filter(None, map(shutil.which, script.PROGRAMS)), None)


@pytest.mark.skipif(BROWSER is None, reason="Chromium is missing")
def test_a_browser_ends_each_element_where_the_page_does(stations, tmp_path):
    url = f"http://127.0.0.1:{stations.port}/page?" + urlencode({
        "url": stations.server.url + "/", "token": stations.token})
    ran = subprocess.run(
        [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
         f"--user-data-dir={tmp_path}", "--timeout=60000", "--dump-dom", url],
        capture_output=True, text=True, timeout=120, env={**os.environ, "HOME": str(tmp_path)})
    made = ran.stdout
    assert "<h1>Short waves</h1>" in made
    assert re.search(r"<p>Radio between <b>3 and 30</b> MHz <a [^>]*>travels</a> far.\s*</p>",
                     made)
    # The script of the door has run: it replaces the words of the line at the head.
    assert re.search(r'id="state"[^>]*>(?!\s*asking)[^<]+<', made)
