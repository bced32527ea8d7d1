# SPDX-License-Identifier: GPL-3.0-or-later
"""View of applications when a station ends in the middle of their streams."""
import errno
import os
import signal
import socket
import subprocess
import threading
import time

from gnuradio.hf.system import netns
import pytest


class Server(threading.Thread):
    """Takes one connection and sends limit octets; error: what ended it."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.error = None
        self.limit = 1 << 40

    def run(self):
        connection, _ = self.listener.accept()
        connection.settimeout(60)
        with connection:
            try:
                while self.limit > 0:
                    part = os.urandom(min(self.limit, 4096))
                    connection.sendall(part)
                    self.limit -= len(part)
            except OSError as error:
                self.error = error


def error_of(read, *arguments):
    """Calls a function until it fails, and returns the error number. 0: end of file."""
    try:
        while read(*arguments):
            pass
    except OSError as error:
        return error.errno
    return 0


@pytest.fixture(name="stations")
def two_stations(tmp_path):
    """The program, its way in, and the server that it leads to."""
    server = Server()
    server.start()
    entry, = netns.free_tcp_ports(1)
    for k, pep in ((1, f'listen = ["{entry}=127.0.0.1:{server.port}"]\n'
                       'routes = ["127.0.0.0/8=1.2.0.2"]'),
                   (2, f'allow = ["127.0.0.1:{server.port}"]')):
        (tmp_path / f"{k}.toml").write_text(
            f'address = "1.2.0.{k}"\nmode = "4539-9600S"\n[pep]\n{pep}\n')
    process = subprocess.Popen(["hf", "run", "--speed", "30", "--quiet", "1.toml", "2.toml"],
                               cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(2):
            assert "station" in process.stderr.readline()
        yield process, entry, server
    finally:
        process.kill()
        process.communicate()
        server.listener.close()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_stream_that_is_cut_is_reset(stations, sent):
    process, entry, server = stations
    with socket.create_connection(("127.0.0.1", entry), 60) as client:
        client.sendall(b"please")
        assert client.recv(4096)  # the stream is under way, both ways
        process.send_signal(sent)
        assert error_of(client.recv, 65536) == errno.ECONNRESET
    server.join(60)
    assert server.error.errno in (errno.ECONNRESET, errno.EPIPE)


def test_after_an_orderly_end_what_is_under_way_still_arrives(stations):
    process, entry, server = stations
    server.limit = 60_000
    client = socket.socket()
    # A buffer so small that most octets wait in the station's kernel for this reader.
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(60)
    with client:
        client.connect(("127.0.0.1", entry))
        client.shutdown(socket.SHUT_WR)
        received = client.recv(1)
        wait_for_orphan(entry, client.getsockname()[1])
        process.send_signal(signal.SIGKILL)
        process.wait()
        while part := client.recv(65536):
            received += part
        assert len(received) == 60_000


def wait_for_orphan(here, there):
    """Until the program has closed its socket, local port first, and the kernel has it still."""
    deadline = time.monotonic() + 60
    while True:
        assert time.monotonic() < deadline
        with open("/proc/net/tcp", encoding="ascii") as file:
            lines = [line.split() for line in list(file)[1:]]
        found = [line for line in lines
                 if int(line[1][-4:], 16) == here and int(line[2][-4:], 16) == there]
        assert found, "the kernel has nothing to send any more"
        if found[0][9] == "0":  # inode
            return
        time.sleep(0.05)
