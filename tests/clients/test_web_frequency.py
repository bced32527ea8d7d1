# SPDX-License-Identifier: GPL-3.0-or-later
"""The frequency of a radio, changed on the page in a browser, as an operator does it."""
import contextlib
import json
import os
from pathlib import Path
import re
import signal
import subprocess

from gnuradio import hf
from test_web import ask, chromium, live, tab, token_in, until

#: The tests' own driver for SoapySDR.
PLUGINS = Path(hf.__file__).resolve().parents[3] / "soapy"
DIAL_HZ, CHANNEL_HZ = 7100000, 7101800


@contextlib.contextmanager
def station_on_an_sdr(folder):
    """hf run with a page that may control it; gives the page's address and the token."""
    path = folder / "station.toml"
    path.write_text(f'''
address = "1.2.0.1"
mode = "4539-3200S"
[radio]
type = "soapy"
[radio.sdr]
args = "driver=hftest,air={folder}/air,station=0,rate=48000"
frequency_hz = {CHANNEL_HZ}
latency_s = 0.3
''')
    process = subprocess.Popen(
        ["hf", "run", str(path), "--quiet", "--web", "0", "--control"], stderr=subprocess.PIPE,
        text=True, env={**os.environ, "SOAPY_SDR_PLUGIN_PATH": str(PLUGINS)})
    try:
        said = ""
        for line in process.stderr:
            said += line
            if found := re.match(r"page: (http://127\.0\.0\.1:\d+/)(?:.* in (/\S+))?", line):
                break
        assert found, said
        yield found[1], token_in(found[2])
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        process.stderr.close()


def test_the_frequency_is_set_in_a_browser(tmp_path):
    with station_on_an_sdr(tmp_path) as (url, token), chromium(1400, 1200) as browser:

        def known():
            (station,) = json.loads(ask(url + "api/state")[2])["stations"]
            return station["radio"]["rig"]["frequency_hz"]

        def cards():
            return browser.find_element("css selector", ".cards[data-group=radio]").get_property(
                "textContent")

        def order(value):
            """Type it, press the button; what the page then says."""
            field = browser.find_element("css selector", ".controls input[aria-label=frequency]")
            browser.execute_script("arguments[0].closest('.panel').querySelector('.said')"
                                   ".textContent = ''", field)
            field.clear()
            field.send_keys(value)
            (button,) = [b for b in browser.find_elements("css selector", ".controls button")
                         if b.text == "Set frequency"]
            button.click()
            said = browser.find_element("css selector", ".has-controls .said")
            until(lambda: said.text)
            return said.text

        browser.get(url)  # without the token nothing can be changed
        live(browser)
        assert not browser.find_elements("css selector", ".controls input")
        browser.get(f"{url}#{token}")
        browser.refresh()
        live(browser)
        until(lambda: browser.find_elements("css selector", ".controls input"))
        tab(browser, "Control")
        field = browser.find_element("css selector", ".controls input[aria-label=frequency]")
        assert float(field.get_attribute("value")) == DIAL_HZ == known()
        assert "7.100000 MHz" in cards()

        assert order("7050000") == "done"
        until(lambda: known() == 7050000)  # the page gets an update twice a second
        until(lambda: "7.050000 MHz" in cards())

        for wrong, named in (("500e6", "frequency_hz = 5"), ("0", "1 to 6e9"), ("much", "much")):
            assert named in order(wrong), wrong
            assert known() == 7050000
        # The browser logs an answer that refuses; nothing else went wrong.
        assert [e["message"] for e in browser.get_log("browser")
                if e["level"] == "SEVERE" and "api/control" not in e["message"]] == []
