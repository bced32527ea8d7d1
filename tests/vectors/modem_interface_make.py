# SPDX-License-Identifier: GPL-3.0-or-later
"""Byte vectors of the LAN interface, from the text of MIL-STD-188-110C Appendix A alone.

Nothing of the project is used: the CRC is the C code printed in A.5.3, the Reed-Solomon code
is a long division by the printed generator. Prints the file modem_interface.vec.
"""


def crc(octets):
    """A.5.3, as printed; sent most significant byte first."""
    n = 0
    for octet in octets:
        for j in range(8):
            bit = (n & 1) ^ (octet >> j & 1)
            n >>= 1
            if bit:
                n ^= 0x9299
    return n.to_bytes(2, "big")


def tcp(kind, payload=b""):
    """A.5.1.1, figures A-1 and A-2."""
    header = bytes([0x49, 0x50, 0x55, kind]) + len(payload).to_bytes(2, "big")
    return header + crc(header) + (payload + crc(payload) if payload else b"")


def udp(kind, session, payload=b""):
    """A.5.2.2, figures A-11 and A-12."""
    packet = bytes([0x10 | kind]) + session.to_bytes(3, "big") + payload
    return packet + crc(packet)


def u(bits, *values):
    return b"".join(v.to_bytes(bits // 8, "big") for v in values)


# GF(16) by polynomials modulo x^4 + x + 1, A.5.2.5.
def times(a, b):
    r = 0
    for k in range(4):
        if b >> k & 1:
            r ^= a << k
    for k in (6, 5, 4):
        if r >> k & 1:
            r ^= 0b10011 << (k - 4)
    return r


def alpha(n):
    r = 1
    for _ in range(n):
        r = times(r, 2)
    return r


def generator(parity):
    if parity == 4:  # as printed: x^4 + a^13 x^3 + a^6 x^2 + a^3 x + a^10
        return [alpha(10), alpha(3), alpha(6), alpha(13), 1]
    g = [1]
    for root in range(1, parity + 1):
        g = [(times(g[i], alpha(root)) if i < len(g) else 0) ^ (g[i - 1] if i else 0)
             for i in range(len(g) + 1)]
    return g


def codeword(data, n):
    """Parity first (table A-XVIII), symbol i the coefficient of x^i."""
    parity = n - len(data)
    g = generator(parity)
    rest = [0] * parity + list(data)
    for top in range(n - 1, parity - 1, -1):
        q = rest[top]
        for i, c in enumerate(g):
            rest[top - parity + i] ^= times(q, c)
    return rest[:parity] + list(data)


def packets(user, n, k, rows):
    """Tables A-XVIII and A-XIX: packet p holds symbol p of each row's pair of codewords."""
    out = [bytearray() for _ in range(n)]
    for r in range(rows):
        row = user[r * k:(r + 1) * k]
        upper, lower = codeword([b >> 4 for b in row], n), codeword([b & 15 for b in row], n)
        for p in range(n):
            out[p].append(upper[p] << 4 | lower[p])
    return [bytes(p) for p in out]


def encoded(transfer, sequence, control, n, k, data, rate=None, blocking=None, stamp=0):
    head = u(16, transfer, sequence) + bytes([control, 0x11, n, k]) + u(16, len(data))
    head += u(16, 0) if rate is None else u(24, rate, blocking)
    return head + u(32, stamp) + data


IDENT = bytes(range(1, 13))
SESSION = 0xA1B2C3
VECTORS = [
    ("A.5.1.1.2", "connect", tcp(1, b"\x0c")),
    ("A.5.1.1.2", "connect-ack", tcp(2, b"\x0c")),
    ("A.5.1.1.1", "error", tcp(0xFF)),
    ("A.5.1.2.2", "keep-alive", tcp(0)),
    ("A.5.1.1.5", "data-first-and-last", tcp(0, b"\x00\x02" + IDENT + b"HELLO")),
    ("A.5.1.1.5", "data-last-empty", tcp(0, b"\x00\x04" + IDENT)),
    ("A.5.1.1.4", "transmit-arm", tcp(0, b"\x01")),
    ("A.5.1.1.4", "transmit-start", tcp(0, b"\x02")),
    ("A.5.1.1.4", "request-tx-status", tcp(0, b"\x03")),
    ("A.5.1.1.6", "nak-underrun", tcp(0, b"\x04\x01" + IDENT)),
    ("A.5.1.1.7", "status-started", tcp(0, b"\x05\x04" + u(32, 65536, 1080, 2880, 360))),
    ("A.5.1.1.4", "abort-reception", tcp(0, b"\x06")),
    ("A.5.1.1.8", "carrier-detected", tcp(0, b"\x08\x01" + u(32, 9600, 2880))),
    ("A.5.1.1.8", "no-carrier", tcp(0, b"\x08\x00" + u(32, 0, 0))),
    ("A.5.1.1.9", "transmit-setup", tcp(0, b"\x09" + u(32, 600, 360))),
    ("A.5.1.1.10", "initial-setup",
     tcp(0, b"\x0a" + u(32, 7, 0, 30000) + bytes([1, 0, 0, 0, 0]))),
    ("A.5.1.1.10", "initial-setup-async",
     tcp(0, b"\x0a" + u(32, 7, 100, 3000) + bytes([0, 3, 1, 2, 0]))),
    ("A.5.1.1.4", "connection-probe", tcp(0, b"\x0b")),
    ("A.5.2.4", "ping-request", udp(1, SESSION)),
    ("A.5.2.4", "ping-reply", udp(2, SESSION)),
    ("A.5.2.4", "status-request", udp(3, SESSION)),
    ("A.5.2.4.1", "status-reply",
     udp(4, SESSION, u(16, 0xFFFF, 0x1234, 0) + bytes([0x02, 0x20 | 0x10 | 2 << 1 | 1]) +
         u(16, 3, 15) + u(32, 1200, 64336) + u(24, 1200, 720, 9600, 2880))),
    ("A.5.2.4.2", "encoded-data", udp(5, SESSION, encoded(
        0x1234, 6, 6, 7, 4, b"\xde\xad", stamp=1234567))),
    ("A.5.2.4.3", "enhanced-encoded-data", udp(6, SESSION, encoded(
        0x1234, 0, 1, 6, 2, b"\xbe", 600, 16, stamp=3599999999))),
    ("A.5.2.4.4", "command-abort-reception", udp(7, SESSION, u(16, 1) + b"\x01\x00")),
    ("A.5.2.4.5", "command-ack", udp(8, SESSION, u(16, 1, 0))),
]
SETS = [
    ("A.5.2.5.1", "set-7-4-first", b"ABCDEFGH", 7, 4, 2),
    ("A.5.2.5.1", "set-7-4-second", b"IJKLMNOP", 7, 4, 2),
    ("A.5.2.5", "set-6-2", bytes(range(0xF0, 0xFA)), 6, 2, 5),
    ("A.5.2.5", "set-8-5", b"0123456789", 8, 5, 2),
]

if __name__ == "__main__":
    print("# Made by modem_interface_make.py. packet: clause name hex")
    for clause, name, octets in VECTORS:
        print("packet", clause, name, octets.hex())
    print("# set: clause name N K rows user-octets, then the packets")
    for clause, name, user, n, k, rows in SETS:
        print("set", clause, name, n, k, rows, user.hex(),
              *[p.hex() for p in packets(user, n, k, rows)])
