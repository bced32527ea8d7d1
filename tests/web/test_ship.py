# SPDX-License-Identifier: GPL-3.0-or-later
"""A door on the LAN of a ship: who may use it, whose turn it is, and what users see of each
other."""
import asyncio
import os
import re
import threading
import time
from urllib.parse import urlencode

from click.testing import CliRunner
import pytest

from gnuradio.hf import station
from gnuradio.hf.cli import hf
from gnuradio.hf.web import users
from gnuradio.hf.web.turns import Turns
import sites
from test_door import Stations

PASSWORDS = {"anna": "long way out", "ben": "ground wave 7"}
FORM = {"Content_Type": "application/x-www-form-urlencoded"}


def file_of_users(folder):
    path = str(folder / "users")
    for name, password in PASSWORDS.items():
        users.save(path, name, password)
    return path


@pytest.fixture(scope="module")
def ship(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ship")
    with Stations(str(folder / "web"), users=file_of_users(folder), listen="127.0.0.1:0",
                  name="door.ship.example") as made:
        yield made


def until(condition):
    """Wait for a condition, which a page and a machine under load may take a minute for."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


class User:
    """A browser that has logged in."""

    def __init__(self, ship, name):
        self.ship = ship
        status, headers, _ = ship.request("/login", "POST", urlencode(
            {"name": name, "password": PASSWORDS[name]}), **FORM)
        assert status == 303 and headers["Location"] == "/"
        self.cookie = headers["Set-Cookie"]
        self.token = re.search('name="token" value="([^"]+)"', self.get("/")[2].decode())[1]

    def get(self, path, method="GET", body=None, **headers):
        return self.ship.request(path, method, body, Cookie=self.cookie.partition(";")[0],
                                 **headers)

    def page(self, path, **more):
        status, _, body = self.get("/page?" + urlencode({
            "url": self.ship.server.url + path, "mode": "text", "token": self.token, **more}))
        return status, body.decode()


def test_an_address_of_a_lan_needs_users(tmp_path):
    with pytest.raises(station.StationError, match="without users, a file that hf web user makes"):
        station.Web(node="1.2.0.2", listen="192.168.1.5:8090").check()
    station.Web(node="1.2.0.2", listen="192.168.1.5:8090", users="u", name="door.ship").check()
    for wrong in ({"listen": "ship:8090"}, {"listen": "10.0.0.1"}, {"name": "a b"}):
        with pytest.raises(station.StationError):
            station.Web(node="1.2.0.2", users="u", **wrong).check()
    for content, mode, words in ((None, 0, "hf web user .* makes it"),
                                 ("anna secret\n", 0o600, "allowed are lines"),
                                 ("", 0o644, "others may read it")):
        path = tmp_path / "users"
        if content is not None:
            path.write_text(content)
            os.chmod(path, mode)
        with pytest.raises(users.UsersError, match=words):
            users.load(str(path))


def test_a_file_of_users_has_no_password_and_is_for_its_owner(tmp_path):
    path = str(tmp_path / "users")
    for words, code in (("long way out\nlong way out\n", 0), ("short\nshort\n", 1)):
        done = CliRunner().invoke(hf, ["web", "user", path, "anna"], input=words)
        assert done.exit_code == code, done.output
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert "long way" not in open(path).read()
    known = users.Users(users.load(path))
    assert known.check("anna", "long way out")
    assert not known.check("anna", "long way ou") and not known.check("ben", "long way out")
    assert not known.check("", "") and not known.check("\u00e4", "\ud800")
    assert CliRunner().invoke(hf, ["web", "user", "--remove", path, "anna"]).exit_code == 0
    assert users.load(path) == {} and os.listdir(tmp_path) == ["users"]
    assert CliRunner().invoke(hf, ["web", "user", "--remove", path, "anna"]).exit_code == 1
    with pytest.raises(users.UsersError, match="allowed are"):
        users.save(path, "a b", "long way out")


def test_tries_and_sessions_end():
    now = [0.0]
    known = users.Users({}, lambda: now[0])
    for _ in range(users.TRIES):
        assert known.may_try("192.0.2.1")
    assert not known.may_try("192.0.2.1") and known.may_try("192.0.2.2")
    for k in range(users.TRIES):
        assert known.may_try(f"2001:db8::{k}")
    assert not known.may_try("2001:db8::ffff")  # one network of one host
    for k in range(users.TRIES_OF_ALL):
        known.may_try(f"198.51.100.{k}")
    assert not known.may_try("203.0.113.1")
    now[0] = users.TRIES_S + 1
    assert known.may_try("192.0.2.1")
    secret = known.succeeded("192.0.2.1", "anna")
    assert known.session(secret).user == "anna" and known.session("") is None
    now[0] += users.SESSION_S + 1
    assert known.session(secret) is None
    many = [known.succeeded("192.0.2.1", "anna") for _ in range(users.MAX_SESSIONS + 1)]
    assert known.session(many[0]) is None and known.session(many[-1]) is not None
    known.log_out(many[-1])
    assert known.session(many[-1]) is None


def test_places_go_to_the_users_in_turn():
    async def run():
        turns, began, places = Turns(2, 1), [], {}
        ends = {}

        async def page(user, number):
            async with turns.turn(user, lambda place: places.__setitem__((user, number), place)):
                began.append((user, number))
                ends[user, number] = asyncio.Event()
                await ends[user, number].wait()

        tasks = {}
        for user, number in [("a", k) for k in range(4)] + [("b", 0), ("b", 1), ("c", 0)]:
            tasks[user, number] = asyncio.ensure_future(page(user, number))
            await asyncio.sleep(0)
        # One of a, although it asked for four, and one of b.
        assert began == [("a", 0), ("b", 0)]
        assert places["c", 0] < places["a", 3] and sorted(
            p for p in places.values() if p) == [1, 2, 3, 4, 5]
        ends["a", 0].set()
        await tasks["a", 0]
        await asyncio.sleep(0)
        assert began[2:] in ([("a", 1)], [("c", 0)])
        tasks["a", 2].cancel()  # waits: leaves the queue without a place
        ends[began[2]].set()
        await tasks[began[2]]
        await asyncio.sleep(0)
        assert {began[2], began[3]} == {("a", 1), ("c", 0)}
        tasks[began[3]].cancel()  # has a place: gives it back
        ends["b", 0].set()
        for _ in range(20):
            await asyncio.sleep(0)
        assert began[4:] in ([("a", 3), ("b", 1)], [("b", 1), ("a", 3)])
        for event in ends.values():
            event.set()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        assert ("a", 2) not in began and len(began) == 6
        async with turns.turn("d", lambda place: None), turns.turn("e", lambda place: None):
            pass

    asyncio.run(asyncio.wait_for(run(), 20))


def test_without_a_log_in_nothing_is_shown(ship):
    query = urlencode({"url": ship.server.url + "/", "token": ship.token})
    for path in ("/", "/page?" + query, "/plain?" + query, "/estimate?url=x", "/view/x/state",
                 "/view/x/link/0", "/login"):
        status, headers, body = ship.request(path)
        assert status == 401 and b'name="password"' in body and b"Bookmarks" not in body
        assert headers["Cache-Control"] == "no-store"
    for path in ("/bookmark", "/forget", "/logout"):
        assert ship.request(path, "POST", "token=" + ship.token, **FORM)[0] == 401
    status, _, body = ship.request("/plain?" + query, X_HF_Door="1")
    assert status == 401 and b"logged in" in body
    assert ship.request("/door.css", Sec_Fetch_Site="cross-site")[0] in (200, 303, 401)
    assert ship.server.asked == []


def test_who_logs_in(ship):
    good = urlencode({"name": "anna", "password": PASSWORDS["anna"]})
    for headers in ({"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}):
        status, answer, _ = ship.request("/login", "POST", good, **FORM, **headers)
        assert status == 401 and "Set-Cookie" not in answer
    wrong = urlencode({"name": "anna", "password": "long way in"})
    status, answer, body = ship.request("/login", "POST", wrong, **FORM)
    assert status == 401 and b"is wrong" in body and "Set-Cookie" not in answer
    anna = User(ship, "anna")
    assert "HttpOnly" in anna.cookie and "SameSite=Strict" in anna.cookie
    for host, status in (("door.ship.example", 200), (f"127.0.0.1:{ship.port}", 200),
                         ("evil.example", 403), ("hf.localhost", 403), ("192.0.2.7", 403)):
        assert anna.get("/", Host=host)[0] == status, host
    # A proxy with a certificate before the door.
    assert b"Log out anna" in anna.get("/", Host="door.ship.example",
                                       Origin="https://door.ship.example")[2]
    assert anna.get("/logout", "POST", "token=" + anna.token, **FORM)[0] == 303
    assert anna.get("/")[0] == 401


def test_too_many_tries_are_refused(tmp_path):
    with Stations(str(tmp_path / "web"), users=file_of_users(tmp_path)) as made:
        wrong = urlencode({"name": "anna", "password": "wrong word"})
        for _ in range(users.TRIES):
            assert made.request("/login", "POST", wrong, **FORM)[0] == 401
        good = urlencode({"name": "anna", "password": PASSWORDS["anna"]})
        status, headers, body = made.request("/login", "POST", good, **FORM)
        assert status == 429 and b"Too many tries" in body and "Set-Cookie" not in headers


def test_a_second_user_of_a_page_is_served_without_a_transmission(ship):
    anna, ben = User(ship, "anna"), User(ship, "ben")
    status, text = anna.page("/")
    assert status == 200 and "<h1>Short waves" in text
    before = len(ship.server.asked), ship.services["A"].door._turns._free
    links = [s.data_link for s in ship.pair.stations.values()]
    # The stream of the first page ends over HF.
    until(lambda: all(link.state().phase == "idle" for link in links))
    sent = links[0].stats()["transmissions"]
    status, text = ben.page("/")
    assert status == 200 and "<h1>Short waves" in text and "Kept here" in text
    assert (len(ship.server.asked), ship.services["A"].door._turns._free) == before
    assert links[0].stats()["transmissions"] <= sent + 1  # the end of the link may be on its way


def test_users_do_not_see_what_others_read(ship):
    anna, ben = User(ship, "anna"), User(ship, "ben")
    ship.server.pages["/private"] = sites.html("<title>Anna's news</title><p>Words of Anna.</p>"
                                               '<a href="/on">On</a>')
    text = anna.page("/private")[1]
    view = re.search(r'data-view="([^"]+)"', text)[1]
    marked = urlencode({"url": "https://mark.example/", "title": "Anna's mark",
                        "token": anna.token})
    assert anna.get("/bookmark", "POST", marked, **FORM)[0] == 303
    assert b"mark.example" in anna.get("/")[2]
    shown = ben.get("/")[2]
    assert b"mark.example" not in shown and b"/private" not in shown
    assert b"/private" not in anna.get("/")[2]  # there is no history
    assert anna.get(f"/view/{view}/state")[0] == 200
    for path in (f"/view/{view}/state", f"/view/{view}/link/0"):
        assert ben.get(path)[0] == 404
    assert ben.get("/forget", "POST", "token=" + ben.token, **FORM)[0] == 403
    # The token of another user is not enough.
    stolen = urlencode({"url": "https://evil.example/", "title": "evil", "token": anna.token})
    assert ben.get("/bookmark", "POST", stolen, **FORM)[0] == 200
    assert b"evil" not in ben.get("/")[2]


def test_a_page_that_two_ask_for_at_once_comes_once(ship):
    words = "".join(f"<p>{n * 7919 % 10007:x} {n * 104729 % 99991:x}</p>" for n in range(4000))
    ship.server.pages["/both"] = sites.html(f"<main>{words}</main>")
    anna, ben = User(ship, "anna"), User(ship, "ben")
    found = {}

    def read(user, name):
        found[name] = user.page("/both")

    threads = [threading.Thread(target=read, args=x) for x in ((anna, "anna"), (ben, "ben"))]
    threads[0].start()
    until(lambda: "/both" in ship.server.asked)
    threads[1].start()
    for thread in threads:
        thread.join(60)
    assert [found[n][1].count("<p>") >= 4000 for n in ("anna", "ben")] == [True, True]
    assert ship.server.asked.count("/both") == 1


def test_a_user_with_many_pages_leaves_room_for_others(ship):
    """The pages of one wait while that of another comes, and say their place in the queue."""
    words = "".join(f"<p>{n * 7919 % 10007:x} {n * 104729 % 99991:x}</p>" for n in range(8000))
    ship.server.pages.update({f"/many{k}": sites.html(f"<main>{words}{k}</main>")
                              for k in range(4)})
    ship.server.pages["/short"] = sites.html("<p>Short.</p>")
    anna, ben = User(ship, "anna"), User(ship, "ben")
    ended = []

    def read(user, path):
        user.page(path)
        ended.append(path)

    threads = [threading.Thread(target=read, args=(anna, f"/many{k}")) for k in range(4)]
    for thread in threads:
        thread.start()
    door = ship.services["A"].door
    until(lambda: sorted(door._views[n].place for n in list(door._tasks)) == [0, 0, 1, 2])
    waiting = next(v for v in (door._views[n] for n in list(door._tasks)) if v.place == 2)
    state = anna.get(f"/view/{waiting.number}/state")[2]
    assert b"number 2 in the queue" in state
    read(ben, "/short")
    for thread in threads:
        thread.join(120)
    assert ended.index("/short") < 2 and len(ended) == 5


def test_two_users_in_a_browser(ship):
    """Each logs in with a browser of its own. The second reads what the first has asked for."""
    pytest.importorskip("selenium.webdriver", reason="the library selenium is missing")
    from selenium import webdriver
    if not os.path.exists("/usr/bin/chromedriver"):
        pytest.skip("chromedriver is missing")
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--no-proxy-server"):
        options.add_argument(flag)
    service = webdriver.chrome.service.Service("/usr/bin/chromedriver")
    ship.server.pages["/read"] = sites.html("<title>Read</title><h1>Both read this</h1>")

    def log_in(browser, name):
        browser.get(f"http://127.0.0.1:{ship.port}/")
        browser.find_element("name", "name").send_keys(name)
        browser.find_element("name", "password").send_keys(PASSWORDS[name])
        browser.find_element("tag name", "button").click()
        shows(browser, f"Log out {name}")

    def shows(browser, words):
        until(lambda: words in browser.page_source)

    def read(browser):
        browser.find_element("name", "url").send_keys(ship.server.url + "/read")
        browser.find_element("css selector", "form.ask button").click()
        shows(browser, "Both read this")

    for name in PASSWORDS:
        with webdriver.Chrome(options=options, service=service) as browser:
            log_in(browser, name)
            read(browser)
            cookie = browser.get_cookie("hf-door")
            assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
            assert browser.execute_script("return document.cookie") == ""
            if name == "ben":
                shows(browser, "Kept here")
            # A form of the door that changes something.
            browser.find_element("id", "state").click()
            browser.find_element("xpath", "//button[.='Bookmark']").click()
            shows(browser, "Bookmarks")
            browser.find_element("xpath", f"//button[.='Log out {name}']").click()
            shows(browser, "others on this")
    assert ship.server.asked.count("/read") == 1
