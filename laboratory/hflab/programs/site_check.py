# SPDX-License-Identifier: GPL-3.0-or-later
"""The seconds that hf web check tells, beside those that were measured: text through the door, and
pages as they are through HF-PEP, loaded by Chromium."""
import asyncio
import os
import random
import shutil
import subprocess
import tempfile
import time
from typing import Dict, Iterator, List, Optional, Tuple

from gnuradio.hf import station
from gnuradio.hf.station import pair
from gnuradio.hf.system import loop
from gnuradio.hf.web import check, script
from ..link.papers import MODES
from . import door, kernel, site

#: Name and port of the site through HF-PEP, and the share by which an estimate may be wrong.
NAME, PORT, WRONG = "site.internal", 8600, 0.2
#: Longest load of Chromium that is waited for, s.
LIMIT_S = 400


def _row(what: str, told_s: float, measured_s: float) -> door.Row:
    share = told_s / measured_s
    return door.Row(f"{what}: estimate {told_s:.1f} s", "-", f"{measured_s:.1f} s",
                    f"within {100 * WRONG:.0f} %", abs(share - 1) <= WRONG)


def texts(folder: str, pages: List[str], rates: Tuple[int, ...] = (9600, 1200)
          ) -> Iterator[door.Row]:
    """The text of stored pages through the door, each from an empty cache and without a link.
    Raises RuntimeError if a page does not arrive."""
    for rate in rates:
        for name in pages:
            told = asyncio.run(check.check(os.path.join(folder, name + ".html"))).ways[0]
            with door.Bench(folder, rate, door.SPEED[rate]) as bench:
                found = door._whole(bench.load(name, "text", "first visit"))
            yield _row(f"{rate} bit/s, text of {name}, {found.octets / 1000:.1f} kB",
                       told.seconds[rate], found.all_s)


def sites() -> Dict[str, site.Files]:
    """Made-up sites on one host: a page alone, one made for HF, one with 16 files."""
    rng = random.Random(3)
    icon = "<link rel=icon href=data:,>"
    made = (f"<!doctype html><meta charset=utf-8><title>Station</title>{icon}"
            "<link rel=stylesheet href=s.css><h1>Weather</h1><img src=p.jpg>"
            + "".join(f"<p>{site._text(rng, 300)}</p>" for _ in range(10)))
    many = made + "".join(f"<img src=p{k}.jpg>" for k in range(12)) + "<script src=j.js></script>"
    style = ("text/css", "".join(f".c{k}{{margin:{k}px}}\n" for k in range(40)).encode())
    files = {"/s.css": style, "/p.jpg": ("image/jpeg", site._picture(rng, 900)),
             "/j.js": ("text/javascript", site._text(rng, 6000).join("''").encode()),
             **{f"/p{k}.jpg": ("image/jpeg", site._picture(rng, 2500)) for k in range(12)}}
    return {"page alone": {"/": ("text/html", site.small_page())},
            "made for HF": {"/": ("text/html", made.encode()), **files},
            "16 files": {"/": ("text/html", many.encode()), **files}}


class _Relay:
    """Passes connections on, and notes when the first octet came and the last one left."""

    def __init__(self, port: int, now: "kernel.Callable[[], float]") -> None:
        self._port, self._now = port, now
        self.first: Optional[float] = None
        self.last = 0.0
        self._loop = loop.Loop("", "relay")
        self.port = self._loop.do(self._open())

    async def _open(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(self._copy(reader, far, False), self._copy(far_reader, writer, True),
                             return_exceptions=True)
        far.close()
        writer.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
                    is_answer: bool) -> None:
        while data := await reader.read(65536):
            if is_answer:
                self.last = self._now()
            elif self.first is None:
                self.first = self._now()
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    def close(self) -> None:
        """Accept no more."""
        async def end() -> None:
            self._server.close()

        self._loop.close(end, 5)


def as_it_is(rates: Tuple[int, ...] = (9600, 1200)) -> Iterator[door.Row]:
    """Made-up sites through HF-PEP in Chromium, from the first octet of the first request to the
    last octet of the last answer. Raises RuntimeError without Chromium."""
    browser = next(filter(None, map(shutil.which, script.PROGRAMS)), None)
    if browser is None:
        raise RuntimeError("Chromium is missing")
    for rate in rates:
        for name, files in sites().items():
            with site.serving(files) as port:
                told = asyncio.run(check.check(f"http://127.0.0.1:{port}/")).ways[2]
                took = _load(browser, rate, port)
            yield _row(f"{rate} bit/s, {name}, {told.octets / 1000:.1f} kB", told.seconds[rate],
                       took)


def _load(browser: str, rate: int, port: int) -> float:
    def describe(name: str, d: station.Description) -> None:
        if name == "A":
            d.stream_to(pair.NODES["B"], NAME, PORT)
        else:
            d.serve(NAME, PORT, port)

    setting = pair.Setting(mode=MODES[rate], emulated=True, channel="clear",
                           speed=door.SPEED[rate])
    with pair.Pair(setting, False, describe) as both, \
            tempfile.TemporaryDirectory(prefix="hf-site-") as home:
        kernel.rest(both, 5)
        relay = _Relay(both.stations["A"].stream_port(pair.NODES["B"], NAME, PORT), both.now)
        try:
            subprocess.run(
                [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                 "--disable-background-networking", f"--user-data-dir={home}",
                 f"--timeout={1000 * LIMIT_S}", "--dump-dom", f"http://127.0.0.1:{relay.port}/"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT_S + 30,
                env={**os.environ, "HOME": home}, check=True)
            time.sleep(0.2)
        finally:
            relay.close()
        if relay.first is None:
            raise RuntimeError("Chromium asked for nothing")
        return relay.last - relay.first
