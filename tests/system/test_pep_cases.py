# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends and odd moments of TCP, kernel to kernel through HF-PEP: each side sees what it would
see without a proxy. After the cases of the Linux packetdrill suite that make sense for a proxy."""
import errno
import os
import resource
import socket
import struct
import subprocess
import threading
import time

from gnuradio.hf.system import netns
import pytest

SPEED = 30


class Pair:
    """Two stations. Connections to entry lead to the listener, those to closed to a port where
    nobody listens."""

    def __init__(self, folder):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(60)
        port = self.listener.getsockname()[1]
        self.entry, self.closed, nobody = netns.free_tcp_ports(3)
        for k, pep in ((1, f'listen = ["{self.entry}=127.0.0.1:{port}", '
                           f'"{self.closed}=127.0.0.1:{nobody}"]\n'
                           'routes = ["127.0.0.0/8=1.2.0.2"]'),
                       (2, f'allow = ["127.0.0.1:{port}", "127.0.0.1:{nobody}"]')):
            (folder / f"{k}.toml").write_text(
                f'address = "1.2.0.{k}"\nmode = "4539-9600S"\n[pep]\n{pep}\n')
        self.process = subprocess.Popen(
            ["hf", "run", "--speed", str(SPEED), "--quiet", "1.toml", "2.toml"], cwd=folder,
            stderr=subprocess.PIPE, text=True)
        for _ in range(2):
            assert "station" in self.process.stderr.readline()

    def close(self):
        self.process.kill()
        self.process.communicate()
        self.listener.close()

    def dial(self):
        return socket.create_connection(("127.0.0.1", self.entry), 60)

    def both(self):
        """A connection: its client and its server."""
        client = self.dial()
        server, _ = self.listener.accept()
        server.settimeout(60)
        return client, server


@pytest.fixture(scope="module", name="pair")
def two_stations(tmp_path_factory):
    made = Pair(tmp_path_factory.mktemp("pep"))
    yield made
    made.close()


@pytest.fixture(name="ends", params=["client", "server"])
def either_end(pair, request):
    """The end that acts, and the other one."""
    client, server = pair.both()
    with client, server:
        yield (client, server) if request.param == "client" else (server, client)


def all_of(end):
    """Everything until the end of file."""
    parts = []
    while part := end.recv(65536):
        parts.append(part)
    return b"".join(parts)


def error_of(end):
    """The error that ends a stream, 0 for an end of file."""
    try:
        all_of(end)
    except OSError as error:
        return error.errno
    return 0


def reset(end):
    """Close with a reset."""
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end.close()


def test_after_a_half_close_the_other_direction_goes_on(ends):
    acting, other = ends
    first, second = os.urandom(500), os.urandom(10_000)
    acting.sendall(first)
    acting.shutdown(socket.SHUT_WR)
    assert all_of(other) == first
    other.sendall(second)
    other.shutdown(socket.SHUT_WR)
    assert all_of(acting) == second


def test_data_and_the_end_in_one_breath(ends):
    acting, other = ends
    data = os.urandom(300)
    acting.sendall(data)
    acting.close()
    assert all_of(other) == data


def test_an_end_without_data(ends):
    acting, other = ends
    acting.close()
    assert all_of(other) == b""


def test_a_reset_arrives_as_a_reset(ends):
    acting, other = ends
    acting.sendall(b"before")
    assert other.recv(6) == b"before"
    reset(acting)
    assert error_of(other) == errno.ECONNRESET


def test_who_closes_with_unread_data_resets(ends):
    acting, other = ends
    other.sendall(b"never read")
    assert acting.recv(1, socket.MSG_PEEK) == b"n"
    acting.close()
    assert error_of(other) == errno.ECONNRESET


def test_data_to_one_that_is_gone_end_in_a_reset(ends):
    acting, other = ends
    acting.close()
    assert all_of(other) == b""
    with pytest.raises(OSError) as caught:
        for _ in range(600):
            other.sendall(b"is anybody there?")
            time.sleep(0.1)
    assert caught.value.errno in (errno.ECONNRESET, errno.EPIPE)


def test_both_end_at_the_same_time(pair):
    client, server = pair.both()
    with client, server:
        sent = os.urandom(1000), os.urandom(1000)
        for end, data in zip((client, server), sent):
            end.sendall(data)
            end.shutdown(socket.SHUT_WR)
        assert (all_of(server), all_of(client)) == sent


def test_both_send_at_the_same_time(pair):
    client, server = pair.both()
    with client, server:
        sent = os.urandom(30_000), os.urandom(30_000)

        def send(end, data):
            end.sendall(data)
            end.shutdown(socket.SHUT_WR)

        threads = [threading.Thread(target=send, args=a) for a in zip((client, server), sent)]
        for thread in threads:
            thread.start()
        got = all_of(server), all_of(client)
        for thread in threads:
            thread.join()
        assert got == sent


def test_octets_one_by_one(ends):
    acting, other = ends
    acting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    data = os.urandom(400)
    for octet in data:
        acting.sendall(bytes([octet]))
        time.sleep(0.001)
    acting.shutdown(socket.SHUT_WR)
    assert all_of(other) == data


def test_urgent_data_keep_their_place(ends):
    acting, other = ends
    acting.sendall(b"abc")
    time.sleep(0.2)
    acting.send(b"!", socket.MSG_OOB)
    time.sleep(0.2)
    acting.sendall(b"def")
    acting.shutdown(socket.SHUT_WR)
    assert all_of(other) == b"abc!def"


def test_a_reader_that_pauses_gets_everything(ends):
    acting, other = ends
    data = os.urandom(200_000)
    sender = threading.Thread(target=lambda: (acting.settimeout(None), acting.sendall(data),
                                              acting.shutdown(socket.SHUT_WR)))
    sender.start()
    time.sleep(600 / SPEED)
    assert all_of(other) == data
    sender.join()


def test_nobody_listens(pair):
    with socket.create_connection(("127.0.0.1", pair.closed), 60) as client:
        assert error_of(client) == errno.ECONNRESET


def test_of_two_racing_connections_one_is_dropped(pair):
    """RFC 8305: who races two connections closes the slower one without a word."""
    first, second = pair.dial(), pair.dial()
    accepted = [pair.listener.accept()[0] for _ in range(2)]
    for end in accepted:
        end.settimeout(60)
    first.close()
    second.sendall(b"hello")
    second.shutdown(socket.SHUT_WR)
    assert sorted(all_of(end) for end in accepted) == [b"", b"hello"]
    for end in (second, *accepted):
        end.close()


def test_without_free_descriptors_a_connection_is_reset_and_the_station_goes_on(pair):
    def in_use():
        return {int(name) for name in os.listdir(f"/proc/{pair.process.pid}/fd")}

    ends = pair.both()  # the station has opened everything
    with_both = len(in_use())
    for end in ends:
        end.close()
    deadline = time.monotonic() + 30
    while len(in_use()) > with_both - 2:  # its own two ends of that connection
        assert time.monotonic() < deadline
        time.sleep(0.05)
    used = in_use()
    first_free = min(set(range(len(used) + 1)) - used)
    old = resource.prlimit(pair.process.pid, resource.RLIMIT_NOFILE)
    # One for the accepted connection, none for the far one.
    resource.prlimit(pair.process.pid, resource.RLIMIT_NOFILE, (first_free + 1, old[1]))
    try:
        with pair.dial() as client:
            client.settimeout(60)
            assert error_of(client) == errno.ECONNRESET
    finally:
        resource.prlimit(pair.process.pid, resource.RLIMIT_NOFILE, old)
    assert pair.process.poll() is None
    client, server = pair.both()
    with client, server:
        client.sendall(b"again")
        client.shutdown(socket.SHUT_WR)
        assert all_of(server) == b"again"
