# SPDX-License-Identifier: GPL-3.0-or-later
"""DNS-PEP with real clients: dig and getent in the namespace of A, a resolver in that of B."""
from contextlib import ExitStack
import os
import shutil
import socket
import subprocess
import sys
import time

from gnuradio import gr, hf
from gnuradio.hf import station
from gnuradio.hf.system import netns
import pytest

MODE = "4539-9600US"
pytestmark = pytest.mark.skipif(netns.why_not() is not None,
                                reason=f"no namespaces here: {netns.why_not()}")

# A resolver that knows names below example.org. It prints its queries on standard output.
RESOLVER = '''
import socket, struct, sys, threading
def answer(q, tcp):
    end = q.index(0, 12) + 5
    name, kind = q[12:end - 4], struct.unpack(">H", q[end - 4:end - 2])[0]
    print("tcp" if tcp else "udp", kind, name[1:1 + name[0]].decode(), flush=True)
    if b"nosuch" in name:
        return q[:2] + b"\\x81\\x83" + q[4:6] + bytes(6) + q[12:end]
    data = {1: [bytes([192, 0, 2, 7])], 28: [socket.inet_pton(socket.AF_INET6, "2001:db8::7")],
            16: [bytes([200]) + bytes(range(33, 33 + 90)) * 2 + bytes(20)] * 9}.get(kind, [])
    records = b"".join(b"\\xc0\\x0c" + struct.pack(">HHIH", kind, 1, 30, len(d)) + d for d in data)
    body = q[4:6] + struct.pack(">HHH", len(data), 0, 0) + q[12:end] + records
    if len(body) > 1200 and not tcp:
        return q[:2] + b"\\x83\\x80" + q[4:6] + bytes(6) + q[12:end]
    return q[:2] + b"\\x81\\x80" + body
def serve_tcp():
    s = socket.create_server(("127.0.0.1", 53))
    while True:
        c = s.accept()[0]
        n = struct.unpack(">H", c.recv(2))[0]
        a = answer(c.recv(n), True)
        c.sendall(struct.pack(">H", len(a)) + a)
        c.close()
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(("127.0.0.1", 53))
threading.Thread(target=serve_tcp, daemon=True).start()
print("ready", flush=True)
while True:
    q, peer = u.recvfrom(4096)
    u.sendto(answer(q, False), peer)
'''


class Network:
    """Two stations; A's clients are answered from the far resolver."""

    def __init__(self, folder):
        self.exit = ExitStack()
        self.log = folder / "asked"
        self.spaces = {n: self.exit.enter_context(netns.Namespace(f"hf-dns{n}-{os.getpid()}"))
                       for n in "AB"}
        for space in self.spaces.values():
            space.command_run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=0")
        with open(self.log, "wb") as out:
            resolver = subprocess.Popen(self.spaces["B"].command(sys.executable, "-c", RESOLVER),
                                        stdout=out)
        self.exit.callback(resolver.wait)
        self.exit.callback(resolver.kill)
        deadline = time.monotonic() + 20
        while not self.log.read_bytes():
            assert resolver.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        # The file that ip netns exec shows to the programs inside as /etc/resolv.conf.
        etc = f"/etc/netns/{self.spaces['A'].name}"
        os.makedirs(etc)
        self.exit.callback(shutil.rmtree, etc)
        with open(f"{etc}/resolv.conf", "w", encoding="ascii") as file:
            file.write("nameserver 127.0.0.1\noptions timeout:1 attempts:5\n")
        with open(f"{etc}/nsswitch.conf", "w", encoding="ascii") as file:
            file.write("hosts: dns\n")
        self.tb = gr.top_block("dns")
        air = hf.air(2, "clear", 1, 2, hf.mode(MODE).mean_power)
        dns = {"A": station.Dns(["127.0.0.1", "[::1]:53"], [".=1.2.0.2"],
                                local=["station.hf=10.66.0.1"]),
               "B": station.Dns(resolver="127.0.0.1", peers=["1.2.0.1"])}
        self.stations = {}
        for k, (name, address) in enumerate((("A", "1.2.0.1"), ("B", "1.2.0.2"))):
            d = station.Description(address, MODE, netns=self.spaces[name].name, dns=dns[name],
                                    data_link={"seed": k + 1})
            self.stations[name] = station.Station(self.tb, d, air.source(k), air.sink(k))
        self.tb.start()
        self.exit.callback(self.tb.wait)
        self.exit.callback(self.tb.stop)
        self.exit.callback(air.end)

    def run(self, *command):
        return subprocess.run(self.spaces["A"].command(*command), text=True, timeout=120,
                              capture_output=True)

    def dig(self, *arguments):
        return self.run("dig", "+timeout=2", "+tries=9", "@127.0.0.1", *arguments)

    def asked(self, name):
        return [line.split()[:2] for line in self.log.read_text().splitlines()
                if line.split()[-1] == name]

    def stats(self, station_name="A"):
        return self.stations[station_name].dns.stats()


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    n = Network(tmp_path_factory.mktemp("dns"))
    with n.exit:
        yield n


def test_dig(network):
    before = network.stats()["asked"]
    result = network.dig("+short", "first.example.org")
    assert result.stdout == "192.0.2.7\n", result
    # The answer held the other family, too. Repeated queries do not go over HF.
    assert network.dig("+short", "first.example.org", "AAAA").stdout == "2001:db8::7\n"
    assert network.dig("+short", "+tcp", "FIRST.example.org").stdout == "192.0.2.7\n"
    assert network.stats()["asked"] == before + 1
    assert sorted(network.asked("first")) == [["udp", "1"], ["udp", "28"]]


def test_getent(network):
    before = network.stats()["asked"]
    result = network.run("getent", "ahosts", "second.example.org")
    assert "192.0.2.7" in result.stdout and "2001:db8::7" in result.stdout, result
    assert network.stats()["asked"] == before + 1


def test_over_ipv6(network):
    result = network.run("dig", "+timeout=9", "@::1", "+short", "third.example.org")
    assert result.stdout == "192.0.2.7\n", result


def test_a_repeated_query_gets_one_reply(network):
    # The same query three times while it is on its way, then one that is answered here.
    code = ("import socket, struct\n"
            "def ask(number, name):\n"
            "    labels = b''.join(bytes([len(l)]) + l for l in name.split(b'.'))\n"
            "    head = struct.pack('>HHHHHH', number, 0x100, 1, 0, 0, 0)\n"
            "    u.send(head + labels + b'\\0' + struct.pack('>HH', 1, 1))\n"
            "u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
            "u.settimeout(60)\n"
            "u.connect(('127.0.0.1', 53))\n"
            "for _ in range(3):\n"
            "    ask(1, b'repeated.example.org')\n"
            "first = u.recv(4096)\n"
            "ask(2, b'station.hf')\n"
            "print(first[1], u.recv(4096)[1])\n")
    result = network.run(sys.executable, "-c", code)
    assert result.stdout == "1 2\n", result
    assert sorted(network.asked("repeated")) == [["udp", "1"], ["udp", "28"]]


def test_no_such_name_and_local_names(network):
    assert "status: NXDOMAIN" in network.dig("nosuch.example.org").stdout
    assert network.dig("+short", "station.hf").stdout == "10.66.0.1\n"
    before = network.stats()["asked"]
    assert "status: NXDOMAIN" in network.dig("printer.local").stdout
    assert network.dig("+short", "first.example.org", "TYPE65").stdout == ""
    assert network.stats()["asked"] == before


def test_long_answers_by_tcp_on_both_sides(network):
    # 1.8 kB: truncated by UDP at the far resolver, and for the client here.
    result = network.dig("long.example.org", "TXT")
    assert result.stdout.count("\tTXT\t") == 9, result
    assert "(TCP)" in result.stdout
    assert ["tcp", "16"] in network.asked("long")


def test_garbage(network):
    code = ("import os, socket\n"
            "u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
            "for k in range(2000):\n"
            "    u.sendto(os.urandom(k % 300), ('127.0.0.1', 53))\n"
            "for k in range(20):\n"
            "    t = socket.create_connection(('127.0.0.1', 53))\n"
            "    t.sendall(os.urandom(50))\n"
            "    t.close()\n")
    assert network.run(sys.executable, "-c", code).returncode == 0
    assert network.dig("+short", "first.example.org").stdout == "192.0.2.7\n"
    assert network.stats()["malformed"] > 100


def test_a_port_in_use_is_named(network):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(RuntimeError, match=f"127.0.0.1:{port}"):
            hf.dns_pep([f"127.0.0.1:{port}"], [])


@pytest.mark.parametrize("arguments, named", [
    ({"listen": ["localhost"]}, "localhost"), ({"routes": ["example.org"]}, "example.org"),
    ({"resolver": "9.9.9"}, "9.9.9"), ({"peers": ["x"]}, "'x'"), ({"local": ["a"]}, "'a'"),
    ({"settings": {"ttl": 1}}, "ttl_min_s"), ({"settings": {"ipv6": 2}}, "ipv6")])
def test_wrong_settings_are_named(arguments, named):
    with pytest.raises(ValueError, match=named):
        hf.dns_pep(**{"listen": [], "routes": [], **arguments})
