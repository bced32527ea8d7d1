# SPDX-License-Identifier: GPL-3.0-or-later
"""What a web page can make a browser send to a TCP port: fetch, forms, WebSocket, TLS, WebRTC.

The page has a free hand in the path, in the method and the names and values of headers after DNS
rebinding, and in the body. It has none in the order of the head, nor in control characters there.
"""
import random
import struct

from gnuradio.hf.host import agwpe, ax25
from gnuradio.hf.sis import s5066

_UI = ax25.encode(ax25.Ui("LA1AAA", "APRS", [], 0xF0, b"evil"))
#: Units of each protocol that a server would act upon.
UNITS = {
    "kiss": [ax25.kiss(_UI), b"\xc0\x01\x32\xc0" + ax25.kiss(_UI)],
    "agwpe": [agwpe.encode(agwpe.Frame("X", "LA1AAA", "")) +
              agwpe.encode(agwpe.Frame("M", "LA1AAA", "APRS", b"evil", 0, 0xF0)),
              agwpe.encode(agwpe.Frame("K", "", "", b"\0" + _UI)),
              agwpe.encode(agwpe.Frame("C", "LA1AAA", "LA1BBB"))],
    "vara": [b"CQFRAME LA1AAA 2300\r", b"MYCALL LA1AAA\rLISTEN ON\rCONNECT LA1AAA LA1BBB\r"],
    "ardop": [b"MYCALL LA1AAA\rLISTEN TRUE\rARQCALL LA1BBB 5\r", b"FECSEND TRUE\r"],
    "ardop data": [b"\0\x04evil"],
    "smtp": [b"EHLO x\r\nMAIL FROM:<a@ship.example>\r\nRCPT TO:<b@shore.example>\r\nDATA\r\n"
             b"Subject: evil\r\n\r\nevil\r\n.\r\n"],
    "sis": []}


def _sis():
    bind, sent = s5066.s_bind_request(), s5066.s_unidata_request()
    bind.sap, sent.dst_sap, sent.dst, sent.u_pdu = 3, 3, s5066.address("1.2.0.2"), b"evil"
    return s5066.encode(bind) + s5066.encode(sent)


UNITS["sis"].append(_sis())
#: Methods that a page may use. Those from other origins are limited to the first three.
METHODS = ["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "CQFRAME", "MYCALL",
           "ABORT", "DISCONNECT", "VERSION", "EHLO", "NOOP", "QUIT", "LISTEN", "FECSEND",
           "IPU", "STATE"]


def body(draw):
    """Octets of a body: noise, units of the ports, or both."""
    parts = [draw.randbytes(draw.randrange(40)) if draw.random() < 0.3 else
             draw.choice(UNITS[draw.choice(list(UNITS))]) for _ in range(draw.randrange(1, 4))]
    return draw.choice([b"", b"\r", b"\n", b"\xc0", b"\r\n"]).join(parts)


def _form(draw, content):
    line = b"----WebKitFormBoundary" + draw.randbytes(8).hex().encode()
    return (b"--" + line + b'\r\nContent-Disposition: form-data; name="x"; filename="y"\r\n'
            b"Content-Type: application/octet-stream\r\n\r\n" + content + b"\r\n--" + line
            + b"--\r\n")


def _request(draw):
    method = "GET" if draw.random() < 0.2 else draw.choice(METHODS)
    path = "/" + "".join(draw.choices("abcMYCALL%20%0D%C0?=&;:+*", k=draw.randrange(30)))
    head = [f"{method} {path} HTTP/1.1", "Host: " + draw.choice(
        ["127.0.0.1:8300", "localhost:8300", "evil.example:8300"]),
        f"Origin: http://evil.example{draw.choice(['', ':8300'])}", "User-Agent: Mozilla/5.0"]
    if draw.random() < 0.3:
        head += ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    head += [f"X-{draw.choice(METHODS)}: {draw.choice(['LA1AAA', 'CQFRAME LA1AAA', 'x' * 2000])}"
             for _ in range(draw.randrange(3))]
    content = body(draw)
    if draw.random() < 0.3:
        content = _form(draw, content)
    return "\r\n".join(head + [f"Content-Length: {len(content)}", "", ""]).encode() + content


def _tls(draw):
    """A greeting with a session ticket that an earlier server has chosen."""
    ticket = body(draw)
    hello = b"\x03\x03" + draw.randbytes(32) + b"\0" + b"\x13\x01" + \
        struct.pack(">HH", 0x23, len(ticket)) + ticket
    inner = b"\x01" + len(hello).to_bytes(3, "big") + hello
    return b"\x16\x03\x01" + struct.pack(">H", len(inner)) + inner


def _stun(draw):
    """A request of WebRTC to a TURN server by TCP, or to a peer (RFC 4571)."""
    name = body(draw)[:500]
    attributes = struct.pack(">HH", 6, len(name)) + name + bytes(-len(name) % 4)
    made = struct.pack(">HHI", draw.choice([1, 3]), len(attributes), 0x2112A442) \
        + draw.randbytes(12) + attributes
    return made if draw.random() < 0.5 else struct.pack(">H", len(made)) + made


def connections(seed, count):
    """What arrives at a port on some connections, each in pieces."""
    draw = random.Random(seed)
    for _ in range(count):
        octets = draw.choices([_request, _tls, _stun, lambda _: b""], [20, 2, 2, 1])[0](draw)
        # A browser sends the head at once. A network stack may cut it anywhere.
        cuts = sorted(draw.randrange(1, len(octets) + 1) for _ in range(draw.randrange(3))
                      ) if octets else []
        yield [octets[a:b] for a, b in zip([0, *cuts], [*cuts, len(octets)]) if b > a]
