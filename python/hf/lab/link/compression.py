# SPDX-License-Identifier: GPL-3.0-or-later
"""Gain by DEFLATE of SLEP streams through HF-PEP, by kind of content."""
import importlib
import json
import pydoc
from typing import List, NamedTuple
import zlib

import numpy as np

from .. import experiments
from .. import sweep

MODE = "4539-1200S"
SIZE = 50_000


#: Ports that choose a preset dictionary, and one that chooses none.
HTTP, XMPP, OTHER = 80, 5222, 9000


class Content(NamedTuple):
    """Octets that a client sends, by port."""

    kind: str
    port: int
    data: bytes


class Row(NamedTuple):
    """Seconds from the SYN to the last octet and octets over HF (D_PDUs, both directions),
    without and with compression and, in between, with compression but no dictionary."""

    kind: str
    octets: int
    plain_s: float
    bare_s: float
    compressed_s: float
    plain_octets: int
    bare_octets: int
    compressed_octets: int

    @property
    def factor(self) -> float:
        """Goodput with compression by goodput without."""
        return self.plain_s / self.compressed_s


def _request(path: str, kind: str) -> str:
    return (f"GET {path} HTTP/1.1\r\nHost: news.ship.example\r\nUser-Agent: Mozilla/5.0 (X11; "
            "Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0\r\n"
            f"Accept: {kind}\r\nAccept-Language: de,en-US;q=0.7,en;q=0.3\r\n"
            "Accept-Encoding: gzip, deflate\r\nConnection: keep-alive\r\n"
            f"Referer: http://news.ship.example/\r\nCookie: id={zlib.crc32(path.encode()):08x}"
            "\r\n\r\n")


def _answer(kind: str, octets: int) -> str:
    return ("HTTP/1.1 200 OK\r\nDate: Tue, 14 Oct 2025 07:31:09 GMT\r\nServer: lighttpd/1.4.69"
            f"\r\nContent-Type: {kind}\r\nLast-Modified: Mon, 13 Oct 2025 22:04:51 GMT\r\n"
            f"ETag: \"{zlib.crc32(kind.encode()):08x}\"\r\nCache-Control: max-age=600\r\n"
            f"Content-Length: {octets}\r\n\r\n")


def _stanzas(count: int) -> str:
    text = ("<?xml version='1.0'?><stream:stream to='shore.example' version='1.0' "
            "xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>")
    words = ("ETA now 0545Z", "fuel state 61 percent", "request weather for area six",
             "roger, wait out")
    for k in range(count):
        text += (f"<message from='bridge@ship.example/desk' to='ops@shore.example' id='m{k}x' "
                 f"type='chat'><body>{words[k % len(words)]}</body><request "
                 "xmlns='urn:xmpp:receipts'/></message>")
    return text


def contents() -> List[Content]:
    """Text as this machine has it (pages and manuals of Python's library), heads of HTTP,
    stanzas, and noise."""
    page = pydoc.HTMLDoc()
    html = "".join(page.page(name, page.document(importlib.import_module(name)))
                   for name in ("argparse", "csv", "textwrap"))
    text = "".join(pydoc.plain(pydoc.render_doc(importlib.import_module(name)))
                   for name in ("argparse", "csv", "textwrap"))
    rng = np.random.default_rng(1)
    records = [{"station": f"1.2.0.{k}", "time": 1700000000 + 37 * k,
                "frequency_khz": int(rng.integers(2000, 30000)),
                "snr_db": round(float(rng.normal(15, 6)), 1), "mode": "4539-9600S",
                "octets": int(rng.integers(100, 90000))} for k in range(1000)]
    kinds = {"HTML": html.encode(), "plain text": text.encode(),
             "JSON": json.dumps(records).encode()}
    found = [Content(kind, HTTP, data[:SIZE]) for kind, data in kinds.items()]
    pages = [_request(f"/2025/10/{k}.html", "text/html,*/*;q=0.8") for k in range(10)]
    heads = [_answer("text/html", 4000 + 37 * k) for k in range(10)]
    found += [Content("HTTP, one request", HTTP, pages[0].encode()),
              Content("HTTP, ten requests", HTTP, "".join(pages).encode()),
              Content("HTTP, head of one answer", HTTP, heads[0].encode()),
              Content("HTTP, heads of ten answers", HTTP, "".join(heads).encode()),
              Content("XMPP, stream and one message", XMPP, _stanzas(1).encode()),
              Content("XMPP, stream and 20 messages", XMPP, _stanzas(20).encode())]
    packed = zlib.compress(html.encode() + text.encode(), 9)
    return found + [Content("already compressed", HTTP, packed[:SIZE]),
                    Content("noise", HTTP, rng.bytes(SIZE))]


def measure(content: Content) -> Row:
    """One kind, on the event simulator."""
    times: List[float] = []
    octets: List[int] = []
    for compress, port in (False, OTHER), (True, OTHER), (True, content.port):
        result = experiments.simulate_tcp(MODE, content.data, compress=compress, port=port)
        if not result["complete"]:
            raise RuntimeError(f"{content.kind}: the transfer did not complete")
        times.append(result["total_s"])
        octets.append(result["octets_over_hf"])
    return Row(content.kind, len(content.data), *times, *octets)


def table(rows: List[Row]) -> str:
    """The rows as a Markdown table."""
    return sweep.table(["content", "octets", "plain", "no dictionary", "compressed", "goodput",
                        "octets over HF: plain", "no dictionary", "compressed"], (
        [r.kind, r.octets, f"{r.plain_s:.1f} s", f"{r.bare_s:.1f} s", f"{r.compressed_s:.1f} s",
         f"x {r.factor:.2f}", r.plain_octets, r.bare_octets, r.compressed_octets] for r in rows))
