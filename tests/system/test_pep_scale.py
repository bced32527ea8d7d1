# SPDX-License-Identifier: GPL-3.0-or-later
"""HF-PEP with kernel TCP between two stations on emulated modems: hundreds of connections at a
time, storms of them, slow readers, and an application that is faster than the link."""
import asyncio
from contextlib import ExitStack
import os
import random
import resource
import socket
import time

from gnuradio.hf import station
from gnuradio.hf.station import pair
from gnuradio.hf.system import netns
import pytest

CONNECTIONS = 500
OCTETS = 1500  # each way
SLOW = 10      # every tenth application reads slowly


@pytest.fixture(autouse=True, scope="module")
def descriptors():
    """Each connection takes four, all of them in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def make_pair(server_port, port, speed, mode="5069-48k-240000S", **settings):
    """A takes connections at port and hands them to server_port at B."""
    def describe(name, d):
        d.pep = station.Pep(
            listen=[f"{port}=127.0.0.1:{server_port}"] if name == "A" else [],
            routes=[f"0.0.0.0/0={pair.NODES[pair.OTHER[name]]}"],
            allow=[f"127.0.0.1:{server_port}"] if name == "B" else [],
            rule=[{"compress": "off"}], max_connections=CONNECTIONS + 20, settings=settings)
    return pair.Pair(pair.Setting(mode=mode, speed=speed), namespaces=False,
                     on_description=describe)


def content(number, way):
    return number.to_bytes(4, "big") + random.Random(2 * number + way).randbytes(OCTETS)


async def read_all(reader, slow):
    """To the end; a slow reader takes a little at a time."""
    parts = []
    while part := await reader.read(100 if slow else 65536):
        parts.append(part)
        if slow:
            await asyncio.sleep(0.02)
    return b"".join(parts)


def small_window(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)


async def exchange(port, listener, count):
    """count connections at once; the numbers of those that got every octet right."""
    heard = set()
    together = asyncio.Event()

    async def serve(reader, writer):
        data = await reader.readexactly(4)
        number = int.from_bytes(data, "big")
        # No connection is answered before all exist, so all are open at the same time.
        heard.add(number)
        if len(heard) == count:
            together.set()
        data += await read_all(reader, number % SLOW == 1)
        await together.wait()
        if data == content(number, 0):
            writer.write(content(number, 1))
        writer.close()

    async def use(number):
        sock = socket.socket()
        sock.setblocking(False)
        slow = number % SLOW == 0
        if slow:
            small_window(sock)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=sock, limit=1024)
        writer.write(content(number, 0))
        writer.write_eof()
        data = await read_all(reader, slow)
        writer.close()
        return number if data == content(number, 1) else None

    server = await asyncio.start_server(serve, sock=listener, limit=1024, backlog=1024)
    async with server:
        done = await asyncio.gather(*(use(k) for k in range(count)))
    return {k for k in done if k is not None}, heard


def test_five_hundred_connections_at_once():
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    port, = netns.free_tcp_ports(1)
    with make_pair(listener.getsockname()[1], port, 10, opens_burst=CONNECTIONS,
                   connections_per_peer=CONNECTIONS) as p:
        begin = p.now()
        right, heard = asyncio.run(asyncio.wait_for(exchange(port, listener, CONNECTIONS), 240))
        print(f"{CONNECTIONS} connections, {p.now() - begin:.1f} s of station time")
        assert heard == set(range(CONNECTIONS))
        assert right == heard
        a, b = (p.stations[n].pep for n in "AB")
        end = time.monotonic() + 60
        while (a.connections() or b.connections()) and time.monotonic() < end:
            time.sleep(0.1)
        assert not a.connections() and not b.connections()
        for s in (a.stats(), b.stats()):
            assert s["closed"] == s["connected"] == CONNECTIONS
            assert s["reset"] == s["rejected"] == s["accept_errors"] == 0


def test_a_storm_is_reset_at_once():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port, = netns.free_tcp_ports(1)
        with make_pair(listener.getsockname()[1], port, 1, opens_burst=30,
                       opens_per_s_peer=1) as p:
            held, refused = [], 0
            begin = time.monotonic()
            for _ in range(300):
                try:
                    held.append(socket.create_connection(("127.0.0.1", port), 10))
                except ConnectionResetError:
                    refused += 1
            for s in held:
                s.settimeout(0.01)
                try:
                    s.recv(1)
                except TimeoutError:
                    pass
                except ConnectionResetError:
                    refused += 1
            took = time.monotonic() - begin
            stats = p.stations["A"].pep.stats()
            for s in held:
                s.close()
            # The burst, and one more for each second that it all took.
            assert 300 - 30 - 2 - 2 * took <= refused <= 270
            assert stats["over_rate"] >= refused
            assert stats["accepted"] == 300 - stats["rejected"]


def test_a_fast_application_waits_for_a_slow_link():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port, = netns.free_tcp_ports(1)
        with make_pair(listener.getsockname()[1], port, 1, mode="4539-300S",
                       send_buffer_octets=32768) as p:
            with socket.socket() as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
                s.connect(("127.0.0.1", port))
                s.settimeout(3)
                taken = 0
                with pytest.raises(TimeoutError):
                    while taken < 10_000_000:
                        taken += s.send(bytes(65536))
                read = p.stations["A"].pep.stats()["octets_out"]
                print(f"10 MB at 300 bit/s: {taken} octets outside the application, "
                      f"{read} in the proxy")
                # The proxy: send buffer and octets in SIS. The kernel: both socket buffers, each
                # twice the size asked for.
                queue = int(1.1 * station.longest_transmission_octets("4539-300S")) + 2048
                assert 32768 <= read <= 32768 + 2 * queue
                assert taken <= read + 2 * 16384 + 2 * 65536 + 65536


def test_want_of_descriptors_is_waited_out():
    count = 40
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as held:
        listener = held.enter_context(socket.create_server(("127.0.0.1", 0)))
        port, = netns.free_tcp_ports(1)
        p = held.enter_context(make_pair(listener.getsockname()[1], port, 1))
        pep = p.stations["A"].pep
        clients = [held.enter_context(socket.socket()) for _ in range(count)]
        lowest_free = os.dup(0)
        os.close(lowest_free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
        try:
            for s in clients:
                s.connect(("127.0.0.1", port))
            time.sleep(1)
            stats = pep.stats()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        # It tries again now and then, not all the time.
        assert 1 <= stats["accept_errors"] <= 30
        assert stats["accepted"] < count
        end = time.monotonic() + 20
        while pep.stats()["accepted"] < count and time.monotonic() < end:
            time.sleep(0.05)
        assert pep.stats()["accepted"] == count
