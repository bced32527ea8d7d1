# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of running stations: its content, who may read it, and its look in a browser."""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import termios
import time
import urllib.error
import urllib.request

from gnuradio.hf.gui import d_pdus, snapshot, web
from gnuradio.hf.station import watch
import pytest
from stations import hf


def token_in(path):
    """The token in a file that hf run --control names, and that only its owner can read."""
    if path is None:
        return ""
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    return pathlib.Path(path).read_text().strip().partition("#")[2]


@contextlib.contextmanager
def page(folder, *more, speed=30, tables=("", "")):
    """hf run with two stations and a page; gives its address, the token, the SIS servers and the
    process id. tables: more of their files."""
    files = []
    for k in (1, 2):
        path = folder / f"{k}.toml"
        path.write_text(f'address = "1.2.0.{k}"\nmode = "4539-3200S"\n[sis_server]\nport = 0\n'
                        + tables[k - 1])
        files.append(str(path))
    process = subprocess.Popen(["hf", "run", *files, "--speed", str(speed), "--quiet", "--web",
                                "0", *more], stderr=subprocess.PIPE, text=True)
    try:
        servers = []
        for line in process.stderr:
            servers += [f"127.0.0.1:{found}"
                        for found in re.findall(r"SIS server on port (\d+)", line)]
            found = re.match(r"page: (http://127\.0\.0\.1:\d+/)(?:.* in (/\S+))?", line)
            if found:
                break
        yield found[1], token_in(found[2]), servers, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        process.stderr.close()


@pytest.fixture(scope="module")
def read_only(tmp_path_factory):
    with page(tmp_path_factory.mktemp("page")) as found:
        yield found


def ask(url, data=None, **headers):
    """Status, headers and text."""
    request = urllib.request.Request(url, data, {k.replace("_", "-"): v
                                                 for k, v in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def test_the_page_needs_nothing_from_elsewhere(read_only):
    url = read_only[0]
    for path in ("", "page.js", "drawing.js", "facts.js", "messages.js", "page.css"):
        status, headers, text = ask(url + path)
        assert status == 200
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert not re.search(r"https?://", text)
        assert "innerHTML" not in text and " style=" not in text and "onclick=\"" not in text


def test_the_state_tells_what_happens(read_only):
    url, _, servers, _ = read_only
    ping = hf("console", "ping", "--to", "1.2.0.2", "--server", servers[0], "--count", "1",
              "--clock-speed", "30", "--timeout", "30")
    assert ping.returncode in (0, 1)  # nobody answers, but it was transmitted
    deadline = time.monotonic() + 60
    while True:
        state = json.loads(ask(url + "api/state")[2])
        near, far = state["stations"]
        if far["blocks"] and far["profile"] and far["symbols"]:
            break
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert [near["name"], far["name"]] == ["1.2.0.1", "1.2.0.2"]
    assert any(s["kind"] == "tx" for s in near["spans"])
    assert any(s["kind"] == "rx" and s["reason"] == "eom" for s in far["spans"])
    block = far["blocks"][-1]
    assert 25 < block["snr_db"] < 35 and abs(block["freq_offset_hz"]) < 2
    assert sum(far["profile"]) == pytest.approx(1, abs=0.01)
    # 8PSK: equalised, most of them are near the circle.
    radii = [(i * i + q * q) ** 0.5 for i, q in far["symbols"]]
    assert 100 < len(radii) <= 256
    assert sum(0.8 < r < 1.2 for r in radii) > 0.9 * len(radii)
    assert len(far["spectrum"]) == 128 and near["d_pdus"] and near["log"]
    assert far["d_pdu_bin_s"] == 5 and all(b[0] % 5 == 0 for b in far["d_pdu_bins"])
    assert sum(sum(b[1:4]) for b in near["d_pdu_bins"]) == near["counters"]["d_pdus_sent"]
    assert sum(b[3] for b in near["d_pdu_bins"]) == near["counters"].get("d_pdus_fill", 0)
    assert sum(sum(b[4:]) for b in far["d_pdu_bins"]) == far["counters"]["d_pdus_received"]
    assert near["link"]["tx_reason"] == "it is set"
    assert near["modem"]["octets_sent"] > 0 and state["controls"] == []


def test_top_shows_the_same(read_only):
    port = read_only[0].split(":")[2].strip("/")
    result = hf("top", port, "--once")
    assert result.returncode == 0, result.stderr
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "1.2.0.1" in result.stdout and "1.2.0.2" in result.stdout
    lines = result.stdout.splitlines()
    assert len(lines) <= 24
    # In the order of the page: the state, direction, speed, channel, queue.
    starts = ["Station 1.2.0.1: ", "1.2.0.1 ", "speed now ", "last 5 minutes ", "channel ",
              "waiting ", "transmits in ", "on the air, two minutes "]
    found = [next(k for k, line in enumerate(lines) if line.startswith(s)) for s in starts]
    assert found == sorted(found)
    assert "█ transmits   ▓ receives   · silent\n" in result.stdout
    result = hf("top", "1")
    assert result.returncode == 1 and "--web 1" in result.stderr


def test_top_fills_the_terminal_and_ends_with_q(read_only):
    port = read_only[0].split(":")[2].strip("/")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    with subprocess.Popen(["hf", "top", port], stdin=theirs, stdout=theirs, stderr=theirs,
                          env={**environment, "TERM": "xterm"}) as process:
        os.close(theirs)
        seen = b""
        while "q: quit" not in seen.decode("utf-8", "ignore") or seen.count(b"on the air") < 4:
            seen += os.read(ours, 65536)
        os.write(ours, b"q")
        with contextlib.suppress(OSError):  # the terminal's other end is closed
            while os.read(ours, 65536):
                pass
        assert process.wait(20) == 0
    os.close(ours)
    strips = re.findall(r"on the air, two minutes  ([█▓·]+)", seen.decode("utf-8", "ignore"))
    assert {len(s) for s in strips} == {94}


def test_it_answers_no_page_from_elsewhere(read_only):
    url = read_only[0]
    assert ask(url, Host="evil.example")[0] == 403
    port = url.split(":")[2].strip("/")
    assert ask(url, Host=f"localhost:{port}")[0] == 200
    assert ask(url + "api/state", Origin="http://evil.example")[0] == 403
    assert ask(url + "api/state", Origin=url.rstrip("/"))[0] == 200
    assert ask(url + "etc/passwd")[0] == 404
    assert ask(url + "api/state", b"x")[0] == 405


def test_the_token_is_shown_to_terminals_only():
    server = web.WebServer(snapshot.Snapshots([], "x"), 0, {"act": lambda name, value: None})
    try:
        with server.announced(True) as text:
            assert text == server.url and text.endswith("#" + server.token)
        with server.announced(False) as text:
            assert server.token not in text and text.startswith(server.url.partition("#")[0])
            path = text.split()[-1]
            assert token_in(path) == server.token
        assert not os.path.exists(path)
    finally:
        server.close()


def test_nothing_can_be_changed_unless_asked_for(read_only):
    order = b'{"station": "1.2.0.1", "action": "emcon", "value": true}'
    status, _, text = ask(read_only[0] + "api/control", order, X_HF_Token="")
    assert status == 403 and "read only" in text


def test_more_browsers_than_it_takes_are_refused(read_only):
    port = int(read_only[0].split(":")[2].strip("/"))
    streams, answers = [], []
    try:
        for _ in range(17):
            s = socket.create_connection(("127.0.0.1", port), 20)
            streams.append(s)
            s.sendall(f"GET /api/stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            answers.append(s.recv(12).split()[1])
    finally:
        for s in streams:
            s.close()
    assert answers == [b"200"] * 16 + [b"503"]
    deadline = time.monotonic() + 20
    while ask(read_only[0] + "api/state")[0] != 200:
        assert time.monotonic() < deadline


def test_whoever_has_the_token_may_change_things(tmp_path):
    with page(tmp_path, "--control") as (url, token, _, _):
        def order(action, value, key=token):
            body = json.dumps({"station": "1.2.0.1", "action": action, "value": value})
            return ask(url + "api/control", body.encode(), X_HF_Token=key)[::2]

        assert order("emcon", True, "x")[0] == 403
        assert order("emcon", True) == (200, "done\n")
        state = json.loads(ask(url + "api/state")[2])
        assert state["controls"] == ["chat", "emcon", "file", "mail", "messages", "mode",
                                     "net", "speed"]
        deadline = time.monotonic() + 20
        while not json.loads(ask(url + "api/state")[2])["stations"][0]["link"]["emcon"]:
            assert time.monotonic() < deadline
        assert order("emcon", "yes")[0] == 400
        assert "12800N" in order("mode", "fast")[1]
        assert order("mode", "4539-600S")[0] == 200
        assert "0.1 to 1000" in order("speed", 1e9)[1]
        assert order("speed", 20)[0] == 200
        assert order("format", "c:")[0] == 400
        for body in (b"", b"[]", b"{}", b"\xff\xfe", b"{" * 5000):
            assert ask(url + "api/control", body, X_HF_Token=token)[0] in (400, 413)


def test_control_without_a_page_is_told(tmp_path):
    (tmp_path / "a.toml").write_text('address = "1.2.0.1"\n')
    result = hf("run", str(tmp_path / "a.toml"), "--control")
    assert result.returncode == 2 and "--web" in result.stderr


def test_a_port_that_is_taken_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
        files = []
        for k in (1, 2):
            files.append(str(tmp_path / f"{k}.toml"))
            (tmp_path / f"{k}.toml").write_text(f'address = "1.2.0.{k}"\n')
        result = hf("run", *files, "--web", str(port))
    assert result.returncode == 1 and str(port) in result.stderr
    assert "Traceback" not in result.stderr


def test_d_pdus_by_time_come_from_the_log():
    counts = d_pdus.DPduCounts()
    for at, fate, count in ((0.7, "sent", 1), (0.8, "sent again", 1), (0.9, "sent as fill", 1),
                            (4.9, "received", 1), (5.0, "damaged", 1), (6.0, "unread", 3),
                            (6.1, "", 0)):
        counts.note(watch.LogRecord(at, "a line", fate, count))
    assert counts.take() == [[0, 1, 1, 1, 1, 0], [5, 0, 0, 0, 0, 4]]
    for k in range(10 * d_pdus.MAX_BINS):
        counts.note(watch.LogRecord(100 + 5 * k, "a line", "unread", 1))
    assert len(counts.take()) == d_pdus.MAX_BINS


def test_every_type_of_d_pdu_has_a_name():
    stats = {f"{way}_{k}": 1 for way in ("sent", "received") for k in range(16)}
    named = {d["type"]: d["name"] for d in snapshot._counters(stats)["d_pdus"]}
    assert all(named.values())
    assert [named[k] for k in (0, 9, 10, 11, 12, 13)] == [
        "DATA-ONLY", "LARGE-DATA-ONLY", "LARGE-ACK-ONLY", "LARGE-DATA-ACK", "LARGE-RESET",
        "EXTENSION"]


@contextlib.contextmanager
def chromium(width=390, height=1600):
    """A browser without a window."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="the library selenium is missing "
                                    "(Debian: python3-selenium chromium-driver)")
    if not shutil.which("chromium"):
        pytest.skip("the program chromium is missing")
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", f"--window-size={width},{height}",
                 "--no-proxy-server"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.chrome.service.Service("/usr/bin/chromedriver")
    with webdriver.Chrome(options=options, service=service) as browser:
        yield browser


def until(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def live(browser):
    until(lambda: browser.find_element("id", "fresh").text == "live")


def tab(browser, title):
    """Open a tab of all stations."""
    for e in browser.find_elements("css selector", "[role=tab]"):
        if e.get_property("textContent") == title:
            browser.execute_script("arguments[0].click()", e)


def test_in_a_browser(read_only):
    with chromium() as browser:
        browser.get(read_only[0])
        live(browser)
        names = [e.text for e in browser.find_elements("css selector", ".station .name")]
        assert names == ["Station 1.2.0.1", "Station 1.2.0.2"]
        # On a telephone's width nothing sticks out.
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= browser.execute_script("return document.documentElement.clientWidth")
        browser.refresh()
        live(browser)
        assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []


#: The share of a canvas that is drawn in the colour of a variable of the style sheet.
DRAWN = """
const c = document.querySelector(arguments[0]), probe = document.createElement("canvas");
const g = probe.getContext("2d");
g.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(arguments[1]).trim();
g.fillRect(0, 0, 1, 1);
const [r, b, d] = g.getImageData(0, 0, 1, 1).data;
const all = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
let found = 0;
for (let k = 0; k < all.length; k += 4)
  found += all[k] === r && all[k + 1] === b && all[k + 2] === d && all[k + 3] === 255;
return found;
"""


def test_what_was_received_is_drawn(read_only):
    url, _, servers, _ = read_only
    # Two minutes of station time are four seconds here: pings go on while curves are looked for.
    # They are long, as a short transmission tells no Doppler spread.
    pings = subprocess.Popen(
        ["hf", "console", "ping", "--to", "1.2.0.2", "--server", servers[0], "--count", "1000",
         "--size", "1900", "--clock-speed", "30", "--timeout", "10"], stdout=subprocess.DEVNULL)
    try:
        with chromium(1400, 1200) as browser:
            browser.get(url)
            live(browser)

            def drawn(station, name, colour):
                return browser.execute_script(
                    DRAWN, f".station:nth-child({station}) canvas.{name}", colour)

            for name in ("snr", "doppler", "delay", "profile", "symbols"):
                until(lambda name=name: drawn(2, name, "--rx") > 8)
            tab(browser, "Data link")
            until(lambda: drawn(1, "dpdu-times", "--tx") > 8
                  and drawn(2, "dpdu-times", "--rx") > 8)
    finally:
        pings.terminate()
        pings.wait(20)


BELOW = """
const log = document.querySelectorAll(".log")[arguments[0]];
return log.scrollHeight - log.scrollTop - log.clientHeight;
"""


def test_the_log_follows_the_newest_line(read_only):
    """Boxes of both stations: the second one narrows the first, so that its lines wrap."""
    url, _, servers, _ = read_only
    hf("console", "ping", "--to", "1.2.0.2", "--server", servers[0], "--count", "6",
       "--clock-speed", "30", "--timeout", "30")
    with chromium(1100, 1200) as browser:
        browser.get(url)
        live(browser)
        until(lambda: len(browser.find_elements("css selector", ".log")) == 2)
        tab(browser, "Log")
        until(lambda: all(browser.execute_script(BELOW, k) < 30 for k in (0, 1)), 5)
        browser.set_window_size(700, 1200)
        until(lambda: all(browser.execute_script(BELOW, k) < 30 for k in (0, 1)), 5)
        browser.execute_script("document.querySelector('.log').scrollTop = 0")
        before = browser.find_element("css selector", ".log").text
        ping = hf("console", "ping", "--to", "1.2.0.2", "--server", servers[0], "--count", "1",
                  "--clock-speed", "30", "--timeout", "30")
        assert ping.returncode in (0, 1)
        until(lambda: browser.find_element("css selector", ".log").text != before)
        assert browser.execute_script("return document.querySelector('.log').scrollTop") < 30


def test_the_report_is_copied(read_only):
    """On the clipboard there is what the page shows; where a browser forbids it, in a box."""
    url = read_only[0]
    with chromium(1400, 1200) as browser:
        browser.get(url)
        live(browser)
        browser.execute_cdp_cmd("Browser.grantPermissions", {
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"],
            "origin": url.rstrip("/")})
        browser.find_element("id", "copy").click()
        until(lambda: browser.find_element("id", "copy").text == "Copied")
        text = browser.execute_async_script(
            "navigator.clipboard.readText().then(arguments[arguments.length - 1])")
        check_report(text, json.loads(ask(url + "api/state")[2]))
        browser.execute_script("navigator.clipboard.writeText = () => Promise.reject('no')")
        until(lambda: browser.find_element("id", "copy").text == "Copy as report")
        browser.find_element("id", "copy").click()
        until(lambda: browser.find_element("css selector", "#report textarea").is_displayed())
        shown = browser.find_element("css selector", "#report textarea").get_property("value")
        check_report(shown, json.loads(ask(url + "api/state")[2]))
        browser.find_element("css selector", "#report button").click()
        until(lambda: not browser.find_element("id", "report").is_displayed())


def check_report(text, state):
    # The stations go on between the copy and the state, so the log is that of the copy.
    told = json.loads(re.search(r"^```json\n(.*)\n```$", text, re.M)[1])
    for station in told["stations"]:
        assert f"## Station {station['name']}" in text
        assert station["glance"]["sentence"] in text.partition("## All values")[0]
        assert station["log"][-1] in text.partition("## All values")[0]
        for name in station["counters"]:
            assert f"| {name.replace('_', ' ')} | " in text
    for what in ("station time", "SNR in 3 kHz", "Doppler spread", "transmits in"):
        assert text.count(f"| {what} | ") == len(state["stations"])
    assert told.keys() == state.keys()
    assert [s.keys() for s in told["stations"]] == [s.keys() for s in state["stations"]]
