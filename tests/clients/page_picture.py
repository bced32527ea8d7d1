# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/page.png: the page of a station that sends a file over a fading channel.

    build/run python3 tests/clients/page_picture.py docs/page.png
"""
import base64
import os
from pathlib import Path
import subprocess
import sys
import tempfile

from test_web import chromium, live, page, until

WIDTH = 800
NAMES = '[names]\nship = "1.2.0.1"\nshore = "1.2.0.2"\n'


def draw(path: str) -> None:
    """Write the picture. Takes about half a minute."""
    with tempfile.TemporaryDirectory() as name, \
            page(Path(name), "--channel", "poor snr=12", speed=4,
                 tables=(NAMES, NAMES)) as (url, _, servers, _), \
            chromium(WIDTH, 1000) as browser:
        (Path(name) / "report.pdf").write_bytes(os.urandom(60000))
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": WIDTH, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
        browser.get(url)
        live(browser)
        programs = [subprocess.Popen(["hf", *order]) for order in (
            ("receive", name, "--server", servers[1]),
            ("send", f"{name}/report.pdf", "--to", "1.2.0.2", "--server", servers[0]))]
        try:
            until(lambda: browser.execute_script(
                "return document.querySelector('.share').value > 0.15 && "
                "document.querySelector('.glance').dataset.state === 'transmitting'"), 180)
            height = browser.execute_script(
                "return document.querySelector('.has-spectrum').getBoundingClientRect().bottom")
            picture = browser.execute_cdp_cmd("Page.captureScreenshot", {
                "captureBeyondViewport": True, "clip": {
                    "x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}})
            Path(path).write_bytes(base64.b64decode(picture["data"]))
        finally:
            for program in programs:
                program.terminate()
                program.wait(20)


if __name__ == "__main__":
    draw(sys.argv[1])
