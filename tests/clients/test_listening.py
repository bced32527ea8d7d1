# SPDX-License-Identifier: GPL-3.0-or-later
"""What a station hears, played by the page."""
import contextlib
import http.client
import struct
import threading
import urllib.parse

from gnuradio.hf.gui import listening
import numpy as np
import pytest
from stations import hf
from test_web import ask, chromium, live, page, until


@pytest.fixture(scope="module")
def stations(tmp_path_factory):
    with page(tmp_path_factory.mktemp("heard"), speed=4) as found:
        yield found


@contextlib.contextmanager
def listen(url, station="1.2.0.2"):
    """The answer of a station that is listened to."""
    connection = http.client.HTTPConnection(urllib.parse.urlparse(url).netloc, timeout=60)
    connection.request("GET", f"/api/audio?station={station}")
    with contextlib.closing(connection), connection.getresponse() as answer:
        yield answer


def test_a_transmission_is_heard_at_1800_hz(stations):
    url, _, servers, _ = stations
    ping = threading.Thread(target=hf, args=(
        "console", "ping", "--to", "1.2.0.2", "--server", servers[0], "--count", "1",
        "--clock-speed", "4", "--timeout", "30"))
    with listen(url) as answer:
        head = answer.read(44)
        assert answer.getheader("Content-Type") == "audio/wav"
        assert (head[:4], head[8:16]) == (b"RIFF", b"WAVEfmt ")
        assert struct.unpack("<HIIHH", head[22:36]) == (1, 9600, 19200, 2, 16)
        ping.start()
        loudest = np.zeros(9600)
        while ping.is_alive() or not loudest.any():
            second = np.frombuffer(answer.read(2 * 9600), "<i2") / 32768
            if np.std(second) > np.std(loudest):
                loudest = second
        ping.join()
    power = np.abs(np.fft.rfft(loudest * np.hanning(9600))) ** 2  # bins of 1 Hz
    assert 0.05 < np.std(loudest) < 0.5
    assert power[300:3300].sum() > 0.95 * power.sum()
    middle = np.average(np.arange(300, 3300), weights=power[300:3300])
    assert middle == pytest.approx(1800, abs=100)


def test_a_limited_number_may_listen_and_places_become_free(stations):
    url = stations[0]
    with contextlib.ExitStack() as stack:
        for _ in range(listening.MAX_LISTENERS):
            assert stack.enter_context(listen(url, "1.2.0.1")).status == 200
        status, _, text = ask(url + "api/audio?station=1.2.0.1")
        assert (status, text) == (503, f"{listening.MAX_LISTENERS} already listen\n")

    def again():
        with listen(url, "1.2.0.1") as answer:
            return answer.status == 200
    until(again, 30)


def test_a_station_that_does_not_exist_cannot_be_heard(stations):
    status, _, text = ask(stations[0] + "api/audio?station=1.2.0.9")
    assert (status, text) == (404, "this station cannot be heard\n")


def test_another_page_cannot_listen(stations):
    headers = ask(stations[0] + "api/audio?station=1.2.0.2", Origin="http://evil.example")
    assert headers[0] == 403


def test_the_button_plays_until_it_is_pressed_again(stations):
    with chromium(800, 900) as browser:
        browser.get(stations[0])
        live(browser)
        browser.execute_script(
            "window.played = 0; const A = Audio; window.Audio = function(u) { const a = new A(u);"
            "a.ontimeupdate = () => { window.played = a.currentTime; }; return a; };")
        button = browser.find_element("css selector", ".listen")
        button.click()
        assert button.text == "Stop listening"
        until(lambda: browser.execute_script("return window.played") > 1.0, 60)
        button.click()
        assert button.text == "Listen"
