# SPDX-License-Identifier: GPL-3.0-or-later
"""The page in a browser, with stations in given states: traffic, idle, and in trouble."""
import io
import json
import os
from types import SimpleNamespace

from gnuradio.hf.cli import top
from gnuradio.hf.gui import glance, web
from gnuradio.hf.station import ale_view
from gnuradio.hf.trial import measure, runner
import pytest
from rich.console import Console
from test_glance import FADING, RADIO, SENDS, sent, snapshot
from test_web import chromium, live, tab, until

CALM = {"log": ["    1.00 a line"], "profile": [], "symbols": [], "d_pdus": [], "counters": {},
        "d_pdu_bins": [], "d_pdu_bin_s": 5.0, "spectrum": [0.0, -20.0] * 64,
        "sample_rate": 9600.0}
LINK = {"queues": [], "proofs": [], "clients": 1}
COST = {"data": 0.61, "turnaround": 0.14, "loss": 0.13, "protocol": 0.07, "padding": 0.05}
ALE = SimpleNamespace(
    state="linked", channel=2, peer="JOE", links=3, failures=1, quality=[
        SimpleNamespace(station=name, channel=k, snr_db=3.0 + 8 * k, age_s=60.0 * k)
        for name in ("ANNA", "JOE") for k in range(3)])
STATES = {
    "traffic": snapshot({**LINK, "phase": "transmitting"}, {**SENDS, "cost": COST},
                        blocks=FADING, **CALM, spans=sent("4539-4800L", "4539-2400L")),
    "waiting": snapshot({**LINK, "phase": "waiting for an answer"}, SENDS, **CALM),
    "idle": snapshot({**LINK, "peer": ""}, **CALM),
    "nobody answers": snapshot({**LINK, "phase": "transmitting"},
                               {**SENDS, "unanswered": 4, "last_heard": 200.0}, **CALM),
    "radio lost": snapshot(LINK, SENDS, **CALM, radio={
        **RADIO, "capture": {**RADIO["capture"], "lost": 4800, "drift_ppm": 0.0}}),
    "ale": snapshot(LINK, **CALM, ale=ale_view.view(ALE, [4721e3, 7101e3, 10144e3])),
    "programs": snapshot(LINK, **CALM, attached=[
        {"service": "VARA", "who": "127.0.0.1:4711 LA1AAA", "state": "in a session with LA1BBB"},
        {"service": "chat", "who": "shore.example at 1.2.0.2", "state": "reached, 3 wait"}]),
    "silence": snapshot({**LINK, "emcon": True}, SENDS, **CALM),
}


class Canned:
    """Snapshots of one station that stays in a state."""

    views = ()

    def __init__(self, s):
        s["modem"].update(octets_sent=1, octets_received=1)
        self.glance = glance.glance(s)
        self.state = {"about": "a test", "at": 0.0, "stations": [{**s, "glance": self.glance}]}

    def sample(self):
        """Nothing changes."""

    def take(self):
        """The state."""
        return self.state


@pytest.fixture(name="browser", scope="module")
def a_browser():
    with chromium(1000, 900) as found:
        yield found


def size(browser, width, dark):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})


def words(browser):
    """Text of the first screen, by class."""
    return browser.execute_script("""
        return Object.fromEntries([...document.querySelectorAll(".glance [class]")].map(
            e => [e.className, e.textContent]))""")


@pytest.mark.parametrize("name", STATES)
def test_the_first_screen_tells_the_state(browser, name):
    canned = Canned(STATES[name])
    page = web.WebServer(canned)
    try:
        for width, dark in ((400, False), (800, True), (1440, False)):
            size(browser, width, dark)
            browser.get(page.url)
            live(browser)
            seen, g = words(browser), canned.glance
            shown = ("sentence", "now", "speed", "cost", "cost-parts", "channel", "waiting")
            assert [seen[k] for k in shown] == [g[k.replace("-", "_")] for k in shown]
            problems = browser.find_elements("css selector", ".problems li")
            assert [p.text for p in problems] == \
                [f"{p['what']}\n{p['remedy']}" for p in g["problems"]]
            assert len(problems) == (0 if name in (
                "traffic", "waiting", "idle", "ale", "programs") else 1)
            # Nobody scrolls, neither sideways nor to learn what the station does.
            assert browser.execute_script(
                "return document.documentElement.scrollWidth <= innerWidth")
            assert browser.execute_script("return document.querySelector('.main')"
                                          ".getBoundingClientRect().bottom") < 700
            assert browser.execute_script(CONTRAST) >= 4.5
        # A page that was closed ends its stream.
        assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"
                and "/api/stream" not in e["message"]] == []
    finally:
        page.close()


#: The lowest contrast of a text on the first screen (WCAG 2.1: at least 4.5).
CONTRAST = """
const rgb = c => c.match(/[0-9.]+/g).map(Number);
const light = c => rgb(c).slice(0, 3).map(v => v / 255)
  .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
const back = e => { const c = getComputedStyle(e).backgroundColor;
  return rgb(c)[3] === 0 ? back(e.parentElement) : c; };
return Math.min(...[...document.querySelectorAll(".glance *, .tabs *")]
  .filter(e => e.clientWidth && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
  .map(e => { const a = light(getComputedStyle(e).color), b = light(back(e));
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); }));
"""


def test_ale_is_shown_on_the_page_and_in_the_terminal(browser):
    canned = Canned(STATES["ale"])
    assert canned.glance["now"] == "listening; ALE linked with JOE on channel 2, 10144.0 kHz"
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(top.picture(canned.state, True))
    text = console.export_text()
    assert "ALE linked with JOE on channel 2, 10144.0 kHz" in text
    assert "JOE on 2: 19 dB, 1: 11 dB, 0: 3 dB" in text
    assert max(len(line) for line in text.splitlines()) <= 80
    page = web.WebServer(canned)
    try:
        for width, dark in ((400, True), (1440, False)):
            size(browser, width, dark)
            browser.get(page.url)
            live(browser)
            tab(browser, "Air")
            rows = browser.find_elements("css selector", ".lqa tr")
            assert [r.text for r in rows][:2] == ["ALE peer channel SNR, dB age, s", "ANNA 0 3 0"]
            assert len(rows) == 7
            assert browser.execute_script(
                "return document.documentElement.scrollWidth <= innerWidth")
            if "HF_PICTURES" in os.environ:
                browser.save_screenshot(f"{os.environ['HF_PICTURES']}/ale{width}.png")
    finally:
        page.close()


def test_programs_at_the_ports_are_listed(browser):
    page = web.WebServer(Canned(STATES["programs"]))
    try:
        for width in (400, 1440):
            size(browser, width, width == 400)
            browser.get(page.url)
            live(browser)
            tab(browser, "TCP and IP")
            rows = browser.find_elements("css selector", ".attached tr")
            assert [r.text for r in rows] == [
                "service program or server state",
                "VARA 127.0.0.1:4711 LA1AAA in a session with LA1BBB",
                "chat shore.example at 1.2.0.2 reached, 3 wait"]
            assert browser.execute_script(
                "return document.documentElement.scrollWidth <= innerWidth")
        browser.get(page.url)
    finally:
        page.close()


def test_keys_choose_a_tab(browser):
    page = web.WebServer(Canned(STATES["traffic"]))
    try:
        size(browser, 800, False)
        browser.get(page.url)
        live(browser)
        browser.find_element("css selector", "[role=tab]").send_keys("\ue014\ue014")  # right
        chosen = browser.find_element("css selector", "[aria-selected=true]")
        assert chosen.text == "Log"
        shown = [p.get_attribute("data-title") for p in browser.find_elements(
            "css selector", "[role=tabpanel]") if p.is_displayed()]
        assert shown == ["Log"]
        # Without control there is nothing to send.
        assert "Messages" not in browser.find_element("css selector", ".tabs").text
    finally:
        page.close()


def test_the_waterfall_fills_its_place_at_once(browser):
    page = web.WebServer(Canned(STATES["idle"]))
    try:
        size(browser, 800, False)
        browser.get(page.url)
        live(browser)
        tab(browser, "Air")
        until(lambda: browser.execute_script(
            "const c = document.querySelector('canvas.waterfall');"
            "return c.width === 128 && c.height >= 1 && c.clientHeight === 136 && "
            "[...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]"
            ".every((v, k) => k % 4 !== 3 || v === 255);"))
    finally:
        page.close()


def test_a_state_is_json():
    for s in STATES.values():
        assert json.loads(json.dumps(Canned(s).state))


def test_a_trial_says_and_keeps_the_channel_of_ale():
    frequencies, qualities, said = [], [], []
    channels_hz = [4721e3, 7101e3, 10144e3]
    at = ale_view.view(ALE, channels_hz)
    one = object.__new__(runner.Runner)
    one.side = SimpleNamespace(ale=lambda: at, ale_frequencies_hz=channels_hz,
                               meter=SimpleNamespace(parts_s=dict),
                               desk=SimpleNamespace(now=lambda: 1000.0))
    one.kept = SimpleNamespace(end=lambda *_: None,
                               frequency=lambda _, hz: frequencies.append(hz),
                               ale=lambda _, **row: qualities.append(row))
    one.clock = SimpleNamespace(utc=lambda t: t)
    one._say = said.append
    slot = SimpleNamespace(begin=0.0, length_s=100.0, title=lambda: "chat")
    one._end(slot, 1, "sends", measure.Outcome("done", True, ""))
    assert frequencies == [10144e3]
    # Two stations on three channels, measured now, 60 s ago, and before the slot.
    assert [(q["peer"], q["channel"], q["at"]) for q in qualities] == [
        ("ANNA", 0, 1000.0), ("ANNA", 1, 940.0), ("JOE", 0, 1000.0), ("JOE", 1, 940.0)]
    assert said[0].endswith("chat: done; ALE linked with JOE on channel 2, 10144.0 kHz")
    at["peer"] = ""  # the link has ended: which channel it had is not known
    one._end(slot, 1, "sends", measure.Outcome("done", True, ""))
    assert frequencies == [10144e3]
