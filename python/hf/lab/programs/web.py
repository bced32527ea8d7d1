# SPDX-License-Identifier: GPL-3.0-or-later
"""A real browser (headless Chromium) at A loads pages from servers at B."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, NamedTuple, Optional

from ... import pair, station
from . import kernel, site

BROWSER = "chromium"
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
           "--no-first-run", "--no-default-browser-check", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--disable-extensions",
           "--disable-default-apps", "--disable-domain-reliability",
           "--disable-features=NetworkTimeServiceQuerying,OptimizationHints,Translate,"
           "MediaRouter,DialMediaRouteProvider,AsyncDns,HttpsUpgrades",
           "--ignore-certificate-errors", "--disable-quic", "--window-size=1000,900",
           "--remote-debugging-pipe"]
URLS = {"small": f"http://{site.SMALL}/", "site": f"https://{site.HOSTS[0]}/"}
#: How names and connections go: DNS-PEP and HF-PEP, or the IP client for both.
WAYS = ("HF-PEP", "IP Client")


def why_not() -> Optional[str]:
    """Why the measurement cannot be run here; None if it can."""
    for program in (BROWSER, "openssl"):
        if shutil.which(program) is None:
            return f"the program {program} is missing"
    return None


class Load(NamedTuple):
    """One page load, in seconds of station time from the navigation: first paint, load event;
    octets of D_PDUs of both stations until then; a picture of the page (PNG); octets and files
    that the browser took. None: not reached in time."""

    first_paint_s: Optional[float]
    load_s: Optional[float]
    octets_over_hf: int
    picture: bytes
    files: int
    octets: int


class Browser:
    """Chromium in the namespace of A, spoken to over two pipes."""

    def __init__(self, p: pair.Pair, folder: str) -> None:
        there, self._out = os.pipe()
        self._in, back = os.pipe()
        command = " ".join([BROWSER, *OPTIONS, f"--user-data-dir={folder}/profile",
                            "about:blank"])
        # Chromium reads file 3 and writes file 4; not every sh takes numbers above 9.
        self.process = p.start("A", ["bash", "-c", f"exec {command} 3<&{there} 4>&{back}"],
                               pass_fds=(there, back), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env={**os.environ, "HOME": folder})
        os.close(there)
        os.close(back)
        os.set_blocking(self._in, False)
        self._buffer = b""
        self._number = 0
        self.session = ""
        self.events: list = []

    def send(self, method: str, **parameters: Any) -> int:
        """Send a command; its number."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        return self._number

    def _next(self, end: float) -> Optional[Dict[str, Any]]:
        while b"\0" not in self._buffer:
            if time.monotonic() > end:
                return None
            if self.process.poll() is not None:
                raise RuntimeError(f"{BROWSER} ended by itself")
            try:
                self._buffer += os.read(self._in, 1 << 20)
            except BlockingIOError:
                time.sleep(0.005)
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method: str, limit_s: float = 60, **parameters: Any) -> Dict[str, Any]:
        """Send a command and wait for its result; raises RuntimeError."""
        number = self.send(method, **parameters)
        end = time.monotonic() + limit_s
        while message := self._next(end):
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)
        raise RuntimeError(f"{BROWSER} did not answer {method}")

    def wait(self, event: str, limit_s: float) -> bool:
        """Whether an event comes in time; those before it are kept."""
        end = time.monotonic() + limit_s
        while message := self._next(end):
            self.events.append(message)
            if message.get("method") == event:
                return True
        return False


def _number(browser: Browser, expression: str) -> float:
    result = browser.call("Runtime.evaluate", expression=expression, returnByValue=True)
    return float(result["result"].get("value") or 0)


def _describe(way: str) -> Any:
    def change(name: str, d: station.Description) -> None:
        if way == WAYS[0]:
            d.dns = station.Dns(["127.0.0.1"], [f".={pair.NODES['B']}"]) if name == "A" \
                else station.Dns(resolver="127.0.0.1", peers=[pair.NODES["A"]])
    return change


def _resolver_of(p: pair.Pair, address: str) -> None:
    """The file that ip netns exec shows to the programs at A as /etc/resolv.conf."""
    etc = f"/etc/netns/{p.namespaces['A'].name}"
    os.makedirs(etc)
    p.exit.callback(shutil.rmtree, etc)
    with open(f"{etc}/resolv.conf", "w", encoding="ascii") as file:
        file.write(f"nameserver {address}\noptions timeout:5 attempts:5\n")
    with open(f"{etc}/nsswitch.conf", "w", encoding="ascii") as file:
        file.write("hosts: dns\n")


def load(page: str, way: str, setting: pair.Setting, limit_s: float = 3600) -> Load:
    """Load a page ("small" or "site") one of the WAYS with an empty cache; the stations know
    each other, the soft link is down."""
    setting.pep_ports = None if way == WAYS[1] else []
    if not setting.allow:
        setting.allow = [f"{pair.ADDRESSES['B']}:80", f"{pair.ADDRESSES['B']}:443"]
    with tempfile.TemporaryDirectory(prefix="hf-web-") as folder, \
            pair.Pair(setting, on_description=_describe(way)) as p:
        _resolver_of(p, pair.ADDRESSES["B"] if way == WAYS[1] else "127.0.0.1")
        serve = (f"from gnuradio.hf.lab.programs import site; "
                 f"site.serve({pair.ADDRESSES['B']!r}, {folder!r})")
        far = p.start("B", [sys.executable, "-c", serve], stderr=subprocess.PIPE, text=True)
        kernel.started(far, "listening", "the far web server")
        # The first exchange ever costs restart notices; then the soft link breaks again.
        greeting = p.start("A", ["ping", "-c", "1", "-W", "60", pair.ADDRESSES["B"]]
                           if way == WAYS[1] else
                           ["curl", "-s", "-m", "60", f"http://{pair.ADDRESSES['B']}/greeting"],
                           stdout=subprocess.DEVNULL)
        greeting.wait()
        browser = Browser(p, folder)
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        browser.session = browser.call("Target.attachToTarget", targetId=target,
                                       flatten=True)["sessionId"]
        browser.call("Page.enable")
        browser.call("Network.enable")
        kernel.rest(p)
        browser.events.clear()
        before, begin = p.octets_over_hf(), p.now()
        browser.send("Page.navigate", url=URLS[page])
        reached = browser.wait("Page.loadEventFired", limit_s / setting.speed)
        load_s = p.now() - begin
        over_hf = p.octets_over_hf() - before
        time.sleep(0.5)
        # An error page has a load event, too.
        title = browser.call("Runtime.evaluate", expression="document.title",
                             returnByValue=True)["result"].get("value")
        if title != site.TITLE:
            raise RuntimeError(f"{URLS[page]} was not loaded: the browser shows '{title}'")
        picture = base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"])
        paint_s = setting.speed * 1e-3 * _number(
            browser, "(performance.getEntriesByName('first-contentful-paint')[0]||{}).startTime")
        ours = {e["params"]["requestId"] for e in browser.events
                if e.get("method") == "Network.requestWillBeSent"
                and e["params"]["request"]["url"].startswith("http")}
        done = [e["params"] for e in browser.events
                if e.get("method") == "Network.loadingFinished"
                and e["params"]["requestId"] in ours]
        complete = reached and len(done) == site.FILES[page]
        return Load(paint_s or None, load_s if complete else None, over_hf, picture,
                    len(done), int(sum(d["encodedDataLength"] for d in done)))
