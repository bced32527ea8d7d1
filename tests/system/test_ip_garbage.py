# SPDX-License-Identifier: GPL-3.0-or-later
"""Garbage on the TUN device of an IP client: all of it is counted, and ping goes on."""
import json
import random
import socket
import struct
import subprocess
import sys
import time

from gnuradio.hf.station import pair
from gnuradio.hf.system import netns
import pytest

pytestmark = pytest.mark.skipif(netns.why_not() is not None, reason=str(netns.why_not()))

#: Writes packets (hexadecimal, a JSON list on standard input) to a device as they are.
WRITER = """
import json, socket, sys, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
s.bind((sys.argv[1], 0x0800))
for k, packet in enumerate(json.load(sys.stdin)):
    s.send(bytes.fromhex(packet))
    if k % 100 == 99:
        time.sleep(0.01)
"""


def checksum(octets):
    """Checksum of RFC 1071."""
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def ipv4(payload, protocol=17, to="10.66.0.2", ttl=64):
    """A good datagram."""
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, 0, ttl, protocol, 0,
                       socket.inet_aton("10.66.0.1"), socket.inet_aton(to))
    return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + payload


def ipv6(first, payload):
    """A datagram whose first extension header or protocol is first."""
    return struct.pack(">IHBB16s16s", 6 << 28, len(payload), first, 64,
                       socket.inet_pton(socket.AF_INET6, "fd00::1"),
                       socket.inet_pton(socket.AF_INET6, "fd00::2")) + payload


def chain(length, last_too_long):
    """Extension headers, each naming the next; the last one may claim to be longer than it is."""
    kinds = [0] + [(43, 60)[k % 2] for k in range(length - 1)]
    octets = b""
    for k in range(length):
        following = kinds[k + 1] if k + 1 < length else 59
        size = 200 if last_too_long and k + 1 == length else 0
        octets += bytes([following, size]) + bytes(6)
    return ipv6(kinds[0], octets)


def bad_packets(rng):
    """Each of them is no IP datagram."""
    good = ipv4(bytes(40))
    for _ in range(400):
        octets = bytearray(rng.randbytes(rng.randrange(1, 1501)))
        octets[0] = octets[0] & 15 | rng.choice([0, 1, 2, 3, 5, 7, 8, 15]) << 4
        yield bytes(octets)
    for size in range(1, len(good)):
        yield good[:size]
    for k in range(10 * 8):
        yield good[:k // 8] + bytes([good[k // 8] ^ 1 << k % 8]) + good[k // 8 + 1:]
    for length in range(1, 60):
        yield chain(length, True)
        yield chain(length, False)[:-1]
    for size in range(6, 40):
        yield ipv6(59, b"")[:size]


def write(p, packets):
    """Put packets on the device of A, and wait until its IP client has seen them."""
    client = p.stations["A"].ip_client
    before = client.stats()["from_host"]
    subprocess.run(p.namespaces["A"].command(sys.executable, "-c", WRITER, "hf0"), text=True,
                   input=json.dumps([q.hex() for q in packets]), check=True)
    end = time.monotonic() + 20
    while client.stats()["from_host"] < before + len(packets) and time.monotonic() < end:
        time.sleep(0.05)
    assert client.stats()["from_host"] == before + len(packets)


def test_garbage_is_counted_and_does_no_harm():
    rng = random.Random(5)
    with pair.Pair(pair.Setting(speed=20)) as p:
        client = p.stations["A"].ip_client
        bad = list(bad_packets(rng))
        write(p, bad)
        stats = client.stats()
        assert stats["bad_from_host"] == len(bad) > 600
        assert stats["sent"] == stats["no_route"] == 0

        # Good ones that nobody takes: other networks, long chains, no hops left.
        write(p, [ipv4(bytes(40), to="192.0.2.1")] * 10)
        write(p, [chain(length, False) for length in range(1, 20)])
        write(p, [ipv4(bytes(40), ttl=1)] * 5)
        stats = client.stats()
        assert stats["bad_from_host"] == len(bad)
        assert stats["no_route"] == 10 + 19
        assert stats["hops_exceeded"] == 5
        assert stats["sent"] == 0

        # Packets that only look like TCP, UDP or ICMP cross. The far kernel drops them.
        odd = [ipv4(rng.randbytes(rng.randrange(0, 60)), protocol=rng.choice([1, 6, 17, 99]))
               for _ in range(200)]
        write(p, odd)
        result = subprocess.run(p.namespaces["A"].command("ping", "-n", "-c", "1", "-W", "60",
                                                          "10.66.0.2"), capture_output=True)
        assert result.returncode == 0
        assert 0 < p.stations["B"].ip_client.stats()["received"] <= len(odd) + 1
        assert p.stations["B"].ip_client.stats()["bad_from_hf"] == 0
