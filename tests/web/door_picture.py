# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/door.png: a page of our own site as it is, and beside it through the web door. Prints
what each costs.

    build/run python3 docs/site/make_site.py SITE
    build/run python3 tests/web/door_picture.py SITE/html docs/door.png
"""
import functools
import http.server
import io
import os
import subprocess
import sys
import tempfile
import threading
import time

from PIL import Image

from test_door import BROWSER, Stations

PAGE, WIDTH, HEIGHT = "channel.html", 700, 900


class Counting(http.server.SimpleHTTPRequestHandler):
    """Serves a folder. octets: of all bodies so far."""

    octets = 0

    def copyfile(self, source, outputfile):
        body = source.read()
        Counting.octets += len(body)
        outputfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


def shot(url, folder):
    """The first screen of a page in the browser, when it has loaded."""
    path = os.path.join(folder, "shot.png")
    subprocess.run(
        [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--hide-scrollbars", f"--user-data-dir={folder}/profile",
         f"--window-size={WIDTH},{HEIGHT}", "--timeout=120000", f"--screenshot={path}", url],
        check=True, capture_output=True, timeout=240, env={**os.environ, "HOME": folder})
    with open(path, "rb") as file:
        return Image.open(io.BytesIO(file.read())).convert("RGB")


def draw(site, path):
    """Write the picture. Takes about a minute."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Counting, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/{PAGE}"
    with tempfile.TemporaryDirectory() as folder, Stations(os.path.join(folder, "web")) as made:
        whole = shot(url, folder)
        print(f"as it is: {Counting.octets / 1000:.0f} kB")
        view = made.services["A"].ask(url, "pictures")
        began = time.monotonic()
        assert view.ended.wait(600) and not view.error
        print(f"through the door: {view.octets / 1000:.1f} kB, "
              f"{20 * (time.monotonic() - began):.0f} s of station time at most")
        door = shot(f"http://127.0.0.1:{made.port}/page?mode=pictures"
                    f"&token={made.token}&url={url}", folder)
    server.shutdown()
    both = Image.new("RGB", (2 * WIDTH + 20, HEIGHT), "#808080")
    both.paste(whole, (0, 0))
    both.paste(door, (WIDTH + 20, 0))
    both.quantize(128).save(path, optimize=True)


if __name__ == "__main__":
    draw(*sys.argv[1:])
