# SPDX-License-Identifier: GPL-3.0-or-later
"""hf.modem_server and hf.modem_client over real sockets: whole stations, strangers, hostile
terminals, a modem that goes and comes back."""
import contextlib
import os
import re
import socket
import struct
import subprocess
import time

from gnuradio import gr, hf
from gnuradio.hf import station
from gnuradio.hf.system import netns
import pytest

SPEED = 20
EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "examples")


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


@contextlib.contextmanager
def hf_run(*files):
    """hf run until the block ends; gives the SIS servers of its stations."""
    process = subprocess.Popen(["hf", "run", *files, "--speed", str(SPEED), "--quiet"],
                               stderr=subprocess.PIPE, text=True)
    try:
        found = []
        for _ in files:
            line = process.stderr.readline()
            assert line.startswith("station"), line
            found += re.findall(r"SIS server on port (\d+)", line)
        yield ["127.0.0.1:" + port for port in found]
        assert process.poll() is None, "hf run has ended by itself"
    finally:
        process.terminate()
        assert process.wait(20) == 0
        process.stderr.close()


def send_a_file(folder, servers):
    inbox = folder / "inbox"
    inbox.mkdir()
    content = os.urandom(15000)
    (folder / "report.bin").write_bytes(content)
    receiver = subprocess.Popen(
        ["hf", "receive", str(inbox), "--server", servers[1], "--count", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert receiver.stderr.readline().startswith("bound")
    sent = subprocess.run(
        ["hf", "send", str(folder / "report.bin"), "--to", "1.2.0.2", "--server", servers[0]],
        timeout=100, capture_output=True, text=True)
    assert sent.returncode == 0, sent.stderr
    receiver.communicate(timeout=60)
    assert (inbox / "report.bin").read_bytes() == content


@pytest.mark.parametrize("form", ["tcp", "udp"])
def test_a_file_between_two_data_links_and_two_modems_elsewhere(tmp_path, form):
    files = []
    for k in (1, 2):
        port, = netns.free_tcp_ports(1)
        for name, text in (
                (f"modem{k}", f'[modem_server]\nform = "{form}"\nport = {port}\n'),
                (f"link{k}", f'address = "1.2.0.{k}"\n[modem_client]\nform = "{form}"\n'
                             f'port = {port}\n[sis_server]\nport = 0\n')):
            path = tmp_path / f"{name}.toml"
            head, _, tables = text.partition("[")
            path.write_text(f'{head}mode = "4539-9600S"\n[{tables}')
            files.append(str(path))
    with hf_run(*files) as servers:
        send_a_file(tmp_path, servers)


def test_the_examples(tmp_path):
    # The files unchanged, except for the ports, which another program may use.
    names = ("3001", "3002", "5066", "5067")
    ports = dict(zip(names, map(str, netns.free_tcp_ports(len(names)))))
    files = []
    for kind in ("server", "client"):
        for k in "ab":
            with open(f"{EXAMPLES}/modem_{kind}_{k}.toml", encoding="utf-8") as example:
                text = re.sub(r"(?<=port = )\d+", lambda m: ports[m[0]], example.read())
            files.append(tmp_path / f"{kind}_{k}.toml")
            files[-1].write_text(text)
    with hf_run(*map(str, files)) as servers:
        assert servers == [f"127.0.0.1:{ports[k]}" for k in ("5066", "5067")]
        send_a_file(tmp_path, servers)


class Modem:
    """One of our modems with a server; the other place on the air stays silent."""

    def __init__(self, form="tcp", port=0):
        self.tb = gr.top_block()
        self.air = hf.air(2, "clear", 1, 50.0)
        d = station.Description(mode="4539-9600S",
                                modem_server=station.ModemServer(form=form, port=port))
        self.station = station.Station(self.tb, d, self.air.source(0), self.air.sink(0))
        self.tb.connect(self.air.source(1), self.air.sink(1))
        self.server = self.station.modem_server
        self.port = self.server.port()

    def __enter__(self):
        self.tb.start()
        return self

    def __exit__(self, *_):
        self.air.end()
        self.tb.stop()
        self.tb.wait()

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), 5)
        s.settimeout(10)
        return s


def crc(octets):
    n = 0
    for octet in octets:
        for j in range(8):
            bit = (n ^ octet >> j) & 1
            n = n >> 1 ^ (0x9299 if bit else 0)
    return struct.pack(">H", n)


def packet(kind, payload=b""):
    header = b"\x49\x50\x55" + struct.pack(">BH", kind, len(payload))
    return header + crc(header) + (payload + crc(payload) if payload else b"")


GREETING = packet(1, b"\x0c") + packet(2, b"\x0c") + packet(0, b"\x0b")


def read_exactly(s, count):
    octets = b""
    while len(octets) < count:
        got = s.recv(count - len(octets))
        assert got, "the modem has closed the connection"
        octets += got
    return octets


def read_packets(s, count):
    """This many packets of the modem: type and payload."""
    out = []
    for _ in range(count):
        header = read_exactly(s, 8)
        kind, size = struct.unpack(">BH", header[3:6])
        payload = read_exactly(s, size + 2)[:-2] if size else b""
        rest = crc(payload) if size else b""
        assert header + payload + rest == packet(kind, payload)
        out.append((kind, payload))
    return out


def closed(s):
    """True as soon as the far end closes."""
    try:
        while s.recv(65536):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def test_a_terminal_written_by_hand_transmits():
    with Modem() as modem, modem.connect() as s:
        s.sendall(GREETING)
        seen = read_packets(s, 7)
        assert [k for k, _ in seen[:2]] == [1, 2]
        assert [p[0] for _, p in seen[2:]] == [0x0B, 0x0A, 0x09, 0x05, 0x08]
        assert struct.unpack(">II", seen[4][1][1:9]) == (9600, 10368)
        s.sendall(packet(0, b"\x01"))
        assert read_packets(s, 1)[0][1][:2] == b"\x05\x03"  # armed, port ready
        s.sendall(packet(0, b"\x00\x02" + bytes(12) + b"x" * 100) + packet(0, b"\x02"))
        states = []
        while not states or states[-1] != 1:
            states += [p[1] for k, p in read_packets(s, 1) if k == 0 and p[:1] == b"\x05"]
        assert states[:3] == [3, 4, 5] and set(states[2:-1]) == {5}
        assert modem.server.stats()["transmissions"] == 1
        assert modem.station.modem.state().octets_sent == 100


def test_a_second_terminal_is_refused_and_harms_nobody():
    with Modem() as modem, modem.connect() as first:
        first.sendall(GREETING)
        read_packets(first, 7)
        for _ in range(20):
            with modem.connect() as second:
                assert closed(second)
        first.sendall(packet(0, b"\x03"))
        assert read_packets(first, 1)[0][1][0] == 0x05
        assert modem.server.stats()["refused"] == 20


def test_hostile_terminals_are_disconnected_and_the_next_one_is_served():
    with Modem() as modem:
        for garbage in (os.urandom(100000), b"GET / HTTP/1.1\r\n\r\n" * 5000,
                        GREETING + packet(0x33), packet(0, b"\x01"), b"IPU" * 50000,
                        packet(1, b"\x0b")):
            with modem.connect() as s:
                with contextlib.suppress(OSError):
                    s.sendall(garbage)
                assert closed(s)
            assert wait_for(lambda: modem.server.stats()["connected"] == 0)
        with contextlib.ExitStack() as stack:  # waits for the last one to be forgotten
            def served():
                s = stack.enter_context(modem.connect())
                s.sendall(GREETING)
                with contextlib.suppress(AssertionError, OSError):
                    return len(read_packets(s, 7)) == 7
                return False
            assert wait_for(served)


def test_a_terminal_that_goes_while_transmitting_leaves_a_working_modem():
    with Modem() as modem:
        with modem.connect() as s:
            s.sendall(GREETING + packet(0, b"\x01"))
            read_packets(s, 8)
            s.sendall(packet(0, b"\x00\x01" + bytes(12) + b"x" * 4000) + packet(0, b"\x02"))
            assert wait_for(lambda: modem.station.modem.state().transmitting)
        assert wait_for(lambda: not modem.station.modem.state().transmitting)
        assert modem.server.stats()["queued_octets"] == 0
        with modem.connect() as s:
            s.sendall(GREETING)
            assert len(read_packets(s, 7)) == 7


def test_strangers_to_the_control_connection_are_not_heard():
    with Modem("udp") as modem:
        for line in (b"\n", b"UDP 0\n", b"UDP 99999\n", b"x" * 100):
            with modem.connect() as s:
                s.sendall(line)
                assert closed(s)
        with modem.connect() as control, \
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, \
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            udp.bind(("127.0.0.1", 0))
            udp.settimeout(5)
            control.sendall(b"UDP %d\n" % udp.getsockname()[1])
            assert control.recv(100) == b"UDP %d\n" % modem.port
            ping = b"\x11\x00\x00\x05"
            ping += crc(ping)
            stranger.sendto(ping, ("127.0.0.1", modem.port))
            stranger.settimeout(0.3)
            with pytest.raises(TimeoutError):
                stranger.recv(100)
            with modem.connect() as second:
                second.sendall(b"UDP 5\n")
                assert second.recv(100) == b"BUSY\n"
            udp.sendto(ping, ("127.0.0.1", modem.port))
            kinds = {udp.recv(2000)[0] for _ in range(3)}
            assert kinds == {0x11, 0x12, 0x14}  # its own ping, the reply, a status
        assert wait_for(lambda: modem.server.stats()["connected"] == 0)


def test_a_client_finds_its_modem_again():
    port, = netns.free_tcp_ports(1)
    tb = gr.top_block()
    d = station.Description("1.2.0.1", mode="4539-9600S",
                            modem_client=station.ModemClient(port=port))
    client = station.Station(tb, d).modem_client
    tb.start()
    try:
        assert wait_for(lambda: client.stats()["failed"] > 0)
        for _ in range(2):
            with Modem(port=port):
                assert wait_for(client.connected)
            assert wait_for(lambda: not client.connected())
        assert client.stats()["modem_rate_bps"] == 0 and client.stats()["connections"] >= 2
    finally:
        tb.stop()
        tb.wait()


@pytest.mark.parametrize("text, words", [
    ('mode = "4539-600S"', "'address' is missing"),
    ('address = "1.2.0.1"\n[modem_server]', "exclude each other"),
    ('[modem_server]\n[modem_client]', "exclude each other"),
    ('address = "1.2.0.1"\nmode = "auto"\n[modem_client]', "auto"),
    ('address = "1.2.0.1"\nack_mode = "4539-75S"\n[modem_client]', "4539-75S"),
    ('address = "1.2.0.1"\n[modem_client]\nspeed = 1', "'speed' is unknown"),
])
def test_station_files_that_cannot_be(text, words):
    with pytest.raises(station.StationError, match=words):
        station.parse(text)


@pytest.mark.parametrize("form", ["tcp", "udp"])
@pytest.mark.parametrize("head", [
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1:3001\r\nContent-Length: 99\r\n\r\n",
    b"IPU / HTTP/1.1\r\n",
    b"\x16\x03\x01\x00\xff", b"\0\x03\0\x10\x21\x12\xa4\x42"])
def test_a_browser_is_no_terminal(form, head):
    with Modem(form) as modem, modem.connect() as s:
        heard = b""
        with contextlib.suppress(ConnectionError):
            s.sendall(head + (b"UDP 4000\n" if form == "udp" else GREETING))
            while part := s.recv(4096):
                heard += part
        assert heard in (b"", packet(1, b"\x0c"))  # no answer, but the modem's own greeting
