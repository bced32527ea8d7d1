# SPDX-License-Identifier: GPL-3.0-or-later
"""Made-up web pages and their servers, for the far side of a web measurement: a small plain page
over HTTP, and a site of 40 files, 1.4 MB, two host names, TLS."""
import contextlib
import http.server
import io
import random
import socket
import ssl
import struct
import subprocess
import sys
import threading
from typing import Dict, Iterator, List, Tuple

#: Host names of the small page and of the site (page and style; scripts and pictures).
SMALL = "small.example"
HOSTS = ("www.station.example", "static.station.example")
STYLES, SCRIPTS, PICTURES = 3, 6, 30
#: Files of each page; the title of both.
FILES = {"small": 1, "site": 1 + STYLES + SCRIPTS + PICTURES}
TITLE = "Station"
#: Octets of the site, all files together, before any compression.
SITE_OCTETS = 1_500_000

Files = Dict[str, Tuple[str, bytes]]


def _text(rng: random.Random, octets: int) -> str:
    words = ["antenna", "band", "carrier", "datum", "echo", "fading", "grid", "hop", "ionosphere",
             "jammer", "key", "link", "modem", "noise", "operator", "path", "quiet", "relay"]
    parts: List[str] = []
    size = 0
    while size < octets:
        word = rng.choice(words) + str(rng.randrange(100))
        parts.append(word)
        size += len(word) + 1
    return " ".join(parts)[:octets]


def small_page() -> bytes:
    """1.2 kB of HTML without anything else."""
    text = _text(random.Random(1), 800)
    return ("<!doctype html><html><head><meta charset=utf-8><title>Station</title>"
            "<link rel=icon href=data:,><style>body{width:40em;margin:5em auto;font-family:"
            "sans-serif}</style></head><body><h1>Small page</h1><p>" + text +
            "</p><p><a href=more.html>More</a></p></body></html>").encode()


def _picture(rng: random.Random, octets: int) -> bytes:
    """A JPEG picture of about that size."""
    import numpy as np
    from PIL import Image
    side = int((octets / 0.6) ** 0.5)
    seed = rng.randrange(1 << 30)
    noise = np.random.default_rng(seed).normal(0, 30, (side, side, 3))
    ramp = np.linspace(40, 200, side)[:, None, None] * np.array(
        [rng.random(), rng.random(), rng.random()])
    image = Image.fromarray(np.clip(noise + ramp + 30, 0, 255).astype("uint8"))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=75)
    return out.getvalue()


def site() -> Dict[str, Files]:
    """Files by host and path; always the same."""
    rng = random.Random(2)
    static: Files = {}
    for k in range(STYLES):
        rules = "".join(f".c{k}x{i}{{color:#{rng.randrange(1 << 24):06x};margin:{i % 9}px}}\n"
                        for i in range(700))
        static[f"/style{k}.css"] = ("text/css", rules.encode())
    for k in range(SCRIPTS):
        code = f"var data{k}='{_text(rng, 45_000)}';document.documentElement.id='s{k}';\n"
        static[f"/script{k}.js"] = ("text/javascript", code.encode())
    page_text = "".join(f"<h2>Part {k}</h2><p>{_text(rng, 900)}</p>"
                        f"<img src=https://{HOSTS[1]}/picture{k}.jpg width=200 height=150>"
                        for k in range(PICTURES))
    head = "".join(f"<link rel=stylesheet href=https://{HOSTS[1]}/style{k}.css>"
                   for k in range(STYLES))
    tail = "".join(f"<script src=https://{HOSTS[1]}/script{k}.js></script>"
                   for k in range(SCRIPTS))
    page = ("<!doctype html><html><head><meta charset=utf-8><title>Station</title>"
            f"<link rel=icon href=data:,>{head}</head><body><h1>Site</h1>{page_text}{tail}"
            "</body></html>").encode()
    so_far = len(page) + sum(len(b) for _, b in static.values())
    for k in range(PICTURES):
        share = (SITE_OCTETS - so_far) // (PICTURES - k)
        data = _picture(rng, share)
        so_far += len(data)
        static[f"/picture{k}.jpg"] = ("image/jpeg", data)
    return {HOSTS[0]: {"/": ("text/html", page)}, HOSTS[1]: static}


class Handler(http.server.BaseHTTPRequestHandler):
    """Files by host name; connections are kept."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    files: Dict[str, Files] = {}

    def do_GET(self) -> None:
        """One file, or 404."""
        host = (self.headers.get("Host") or "").split(":")[0]
        kind, data = self.files.get(host, {}).get(self.path, ("text/plain", b"not here\n"))
        known = self.path in self.files.get(host, {})
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "max-age=86400")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextlib.contextmanager
def serving(files: Files) -> Iterator[int]:
    """Serve files by HTTP on the loopback, for the host 127.0.0.1. Gives the port."""
    handler = type("_One", (Handler,), {"files": {"127.0.0.1": files}})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()


def _certificate(folder: str) -> Tuple[str, str]:
    names = ",".join(f"DNS:{h}" for h in HOSTS)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    f"/CN={HOSTS[0]}", "-addext", f"subjectAltName={names}", "-keyout",
                    f"{folder}/key.pem", "-out", f"{folder}/cert.pem"],
                   check=True, capture_output=True)
    return f"{folder}/cert.pem", f"{folder}/key.pem"


def _resolver(listen: str, address: str) -> None:
    """Every name has this address, and no other record."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind((listen, 53))
        while True:
            q, peer = s.recvfrom(4096)
            end = q.find(0, 12) + 5
            if len(q) < 17 or end < 17 or end > len(q):
                continue
            kind = struct.unpack(">H", q[end - 4:end - 2])[0]
            record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 3600, 4) \
                + socket.inet_aton(address)
            s.sendto(q[:2] + b"\x81\x80" + q[4:6] + struct.pack(">HHH", kind == 1, 0, 0)
                     + q[12:end] + (record if kind == 1 else b""), peer)


def serve(address: str, folder: str) -> None:
    """HTTP on port 80, HTTPS on 443, names on 53 of the address and of the loopback."""
    Handler.files = {SMALL: {"/": ("text/html", small_page())}, **site()}
    plain = http.server.ThreadingHTTPServer((address, 80), Handler)
    secure = http.server.ThreadingHTTPServer((address, 443), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*_certificate(folder))
    secure.socket = context.wrap_socket(secure.socket, server_side=True,
                                        do_handshake_on_connect=False)
    for what in (plain, secure):
        threading.Thread(target=what.serve_forever, daemon=True).start()
    threading.Thread(target=_resolver, args=("127.0.0.1", address), daemon=True).start()
    print("listening", file=sys.stderr, flush=True)
    _resolver(address, address)
