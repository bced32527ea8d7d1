# SPDX-License-Identifier: GPL-3.0-or-later
"""Every way in to HF-PEP with kernel TCP: TPROXY, REDIRECT, SOCKS5 and SOCKS4, HTTP CONNECT, on
IPv4 and IPv6. A host C is routed through station A; a web server runs at station B."""
from contextlib import ExitStack
import os
import socket
import subprocess
import sys
import time

from gnuradio import gr, hf
from gnuradio.hf import station
from gnuradio.hf.station import watch
from gnuradio.hf.system import netns, nftables
import pytest

MODE = "4539-9600US"
NODES = {"A": "1.2.0.1", "B": "1.2.0.2"}
SERVER = {4: "10.99.0.1", 6: "fd99::1"}
# Hosts after station B, and after one that does not exist.
PREFIXES = ["10.99.0.0/24", "fd99::/64"]
NOWHERE, NOBODY = "10.97.0.1", "1.2.0.9"
LISTEN = ["tproxy:3129", "tproxy:[::]:3129", "redirect:3128", "redirect:[::1]:3128",
          "redirect:10.1.0.1:3128", "redirect:[fd01::1]:3128",
          "socks5:1080", "connect:8080"]

pytestmark = pytest.mark.skipif(netns.why_not() is not None,
                                reason=f"no namespaces here: {netns.why_not()}")


class Network:
    """Namespaces, addresses, the two stations and the server."""

    def __init__(self, folder):
        self.folder = folder
        self.exit = ExitStack()
        self.spaces = {n: self.exit.enter_context(netns.Namespace(f"hf-{n}-{os.getpid()}"))
                       for n in "ABC"}
        for space in self.spaces.values():
            space.command_run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=0")
        a, b, c = (self.spaces[n] for n in "ABC")
        subprocess.run(["ip", "link", "add", "lan", "netns", a.name, "type", "veth", "peer",
                        "name", "lan", "netns", c.name], check=True)
        for space, n in ((a, 1), (c, 2)):
            space.command_run("ip", "link", "set", "lan", "up")
            space.command_run("ip", "addr", "add", f"10.1.0.{n}/24", "dev", "lan")
            space.command_run("ip", "addr", "add", f"fd01::{n}/64", "dev", "lan", "nodad")
        for space, via in ((c, "1"), (a, "2")):
            # The address is at A only because the kernel needs it to start connections.
            space.command_run("ip", "route", "add", "default", "via", f"10.1.0.{via}")
            space.command_run("ip", "-6", "route", "add", "default", "via", f"fd01::{via}")
        b.command_run("ip", "addr", "add", f"{SERVER[4]}/32", "dev", "lo")
        b.command_run("ip", "addr", "add", f"{SERVER[6]}/128", "dev", "lo")
        # Further addresses of B, for which nothing is named but one.
        for address in ("10.98.0.1/32", "10.98.0.2/32", "fd98::1/128"):
            b.command_run("ip", "addr", "add", address, "dev", "lo")
        self.make_stations()
        self.serve()

    def make_stations(self):
        self.tb = gr.top_block("ways in")
        mode = hf.mode(MODE)
        self.air = hf.air(2, "clear", 1, 8, mode.mean_power)
        self.stations = {}
        for k, (name, other) in enumerate((("A", "B"), ("B", "A"))):
            pep = station.Pep(LISTEN if name == "A" else [],
                              [f"{NOWHERE}/32={NOBODY}",
                               *(f"{p}={NODES[other]}" for p in ("0.0.0.0/0", "::/0", "."))],
                              allow=[f"{SERVER[4]}:8000-8001", f"[{SERVER[6]}]:8000",
                                     "localhost:8000", "*:8002-8003", "0.0.0.0/0:8002",
                                     "[::/0]:8002", "10.98.0.2:8002"] if name == "B" else [])
            d = station.Description(NODES[name], MODE, netns=self.spaces[name].name, pep=pep,
                                    data_link={"seed": k + 1})
            self.stations[name] = station.Station(self.tb, d, self.air.source(k),
                                                  self.air.sink(k))
        self.log = watch.LogWatch()
        self.tb.msg_connect(self.stations["A"].pep, "log", self.log, "log")
        self.tb.start()
        self.exit.callback(self.tb.wait)
        self.exit.callback(self.tb.stop)
        self.exit.callback(self.air.end)

    def serve(self):
        self.content = os.urandom(2000)
        with open(f"{self.folder}/file", "wb") as file:
            file.write(self.content)
        process = subprocess.Popen(
            self.spaces["B"].command(sys.executable, "-m", "http.server", "--bind", "::",
                                     "--directory", str(self.folder), "8000"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.exit.callback(process.wait)
        self.exit.callback(process.kill)
        probe = ("import socket,sys,time\n"
                 "for _ in range(100):\n"
                 "    try: socket.create_connection(('127.0.0.1', 8000)); sys.exit(0)\n"
                 "    except OSError: time.sleep(0.05)\n"
                 "sys.exit(1)")
        subprocess.run(self.spaces["B"].command(sys.executable, "-c", probe), check=True)

    def curl(self, at, url, *arguments):
        return subprocess.run(self.spaces[at].command(
            "curl", "-sS", "--fail", "--noproxy", "", "--max-time", "60", *arguments, url),
            capture_output=True)


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    n = Network(tmp_path_factory.mktemp("www"))
    with n.exit:
        yield n


@pytest.fixture
def rules(network):
    """Sets rules up at A and takes them away again."""
    active = []

    def use(way, port):
        r = nftables.Rules(way, port, PREFIXES + [f"{NOWHERE}/32"])
        active.append(r)
        network.spaces["A"].nft(r.text())
        for line in r.set_up():
            network.spaces["A"].command_run(*line)

    yield use
    for r in active:
        for line in r.take_down():
            network.spaces["A"].command_run(*line)


def url(version):
    host = SERVER[version] if version == 4 else f"[{SERVER[version]}]"
    return f"http://{host}:8000/file"


@pytest.mark.parametrize("version", [4, 6])
def test_tproxy_for_routed_and_own_connections(network, rules, version):
    rules("tproxy", 3129)
    for at in "CA":
        result = network.curl(at, url(version))
        assert result.stdout == network.content, (at, result.stderr)


@pytest.mark.parametrize("version", [4, 6])
def test_redirect_of_own_connections(network, rules, version):
    rules("redirect", 3128)
    result = network.curl("A", url(version))
    assert result.stdout == network.content, result.stderr


@pytest.mark.parametrize("version", [4, 6])
def test_redirect_of_forwarded_connections(network, rules, version):
    # The kernel redirects them to the address of the device they came in by.
    rules("redirect", 3128)
    result = network.curl("C", url(version))
    assert result.stdout == network.content, result.stderr


@pytest.mark.parametrize("way, port, at", [("redirect", 3128, "A"), ("tproxy", 3129, "C")])
def test_hf_nft_adds_and_deletes(network, way, port, at):
    a = network.spaces["A"]
    rules = [x for prefix in PREFIXES for x in ("--to", prefix)]
    options = ["--way", way, "--port", str(port), *rules]

    def nft(action):
        return subprocess.run(a.command("hf", "nft", action, *options), text=True,
                              capture_output=True)

    def tables():
        return subprocess.run(a.command("nft", "list", "tables"), text=True,
                              capture_output=True).stdout

    def lookups():
        return subprocess.run(a.command("ip", "rule"), text=True, capture_output=True).stdout

    for _ in range(2):  # again after it was taken away
        result = nft("add")
        assert result.returncode == 0, result.stderr
        assert "hf_pep" in tables()
        assert ("5066" in lookups()) == (way == "tproxy")
        result = network.curl(at, url(4))
        assert result.stdout == network.content, result.stderr
        result = nft("delete")
        assert result.returncode == 0, result.stderr
        assert "hf_pep" not in tables() and "5066" not in lookups()
    # Nothing exists to delete, and that is reported.
    result = nft("delete")
    assert result.returncode == 1 and "nft" in result.stderr


@pytest.mark.parametrize("version", [4, 6])
def test_socks5_with_addresses(network, version):
    result = network.curl("A", url(version), "--socks5-hostname", "127.0.0.1:1080")
    assert result.stdout == network.content, result.stderr


def test_socks4_at_the_same_port(network):
    result = network.curl("A", url(4), "--socks4", "127.0.0.1:1080")
    assert result.stdout == network.content, result.stderr


def test_names_are_resolved_at_the_far_side(network):
    # localhost of station B is meant: A has no server there.
    try:
        socket.getaddrinfo("localhost", 8000)
    except socket.gaierror as error:
        pytest.skip(f"this system has no name that can be resolved, not even localhost: {error}")
    for proxy in (["--socks5-hostname", "127.0.0.1:1080"], ["--socks4a", "127.0.0.1:1080"],
                  ["--proxytunnel", "--proxy", "http://127.0.0.1:8080"]):
        result = network.curl("A", "http://localhost:8000/file", *proxy)
        assert result.stdout == network.content, result.stderr


def test_http_connect_on_ipv6(network):
    result = network.curl("A", url(6), "--proxytunnel", "--proxy", "http://127.0.0.1:8080")
    assert result.stdout == network.content, result.stderr


@pytest.mark.parametrize("target, code, http", [
    (f"{SERVER[4]}:8001", 5, b"502"),   # allowed, nobody listens: refused
    (f"{SERVER[4]}:22", 2, b"403"),     # not allowed
    ("other.invalid:8001", 4, b"502"),  # no such name there
    ("localhost:8001", 2, b"403"),      # leads elsewhere than to what is allowed
    # B itself, by addresses that *, 0.0.0.0/0 and ::/0 do not name
    ("localhost:8002", 2, b"403"),
    ("127.0.0.1:8002", 2, b"403"),
    ("127.1:8002", 2, b"403"),          # a name to us, an address to the resolver
    ("0.0.0.0:8002", 2, b"403"),
    ("10.98.0.1:8002", 2, b"403"),
    ("10.98.0.2:8002", 5, b"502"),      # named
    ("::ffff:127.0.0.1:8003", 2, b"403"),
    ("fd98::1:8003", 2, b"403"),
    ("169.254.169.254:8002", 2, b"403"),
])
def test_the_answer_of_the_far_side_reaches_the_client(network, target, code, http):
    host, port = target.rsplit(":", 1)
    if "localhost" in host:
        try:
            socket.getaddrinfo("localhost", 8000)
        except socket.gaierror as error:
            pytest.skip(f"this system has no name that can be resolved: {error}")
    ask = ("import socket,sys\n"
           "s = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 60)\n"
           "s.sendall(bytes.fromhex(sys.argv[2]))\n"
           "data = b''\n"
           "while True:\n"
           "    part = s.recv(4096)\n"
           "    if not part: break\n"
           "    data += part\n"
           "sys.stdout.buffer.write(data)")

    def exchange(listener, request):
        return subprocess.run(network.spaces["A"].command(
            sys.executable, "-c", ask, str(listener), request.hex()),
            capture_output=True, check=True).stdout

    name = host.encode()
    socks = b"\x05\x01\x00\x05\x01\x00\x03" + bytes([len(name)]) + name + \
        int(port).to_bytes(2, "big")
    answer = exchange(1080, socks)
    assert answer[:2] == b"\x05\x00" and answer[2:4] == bytes([5, code])
    # SOCKS4a has one code for every failure.
    answer = exchange(1080, b"\x04\x01" + int(port).to_bytes(2, "big") + b"\0\0\0\1me\0"
                      + name + b"\0")
    assert answer == b"\0" + bytes([91]) + bytes(6)
    target = f"[{host}]:{port}" if ":" in host else target
    answer = exchange(8080, f"CONNECT {target} HTTP/1.1\r\n\r\n".encode())
    assert answer.split()[1] == http


def test_a_station_that_does_not_exist_is_reported_within_a_minute(network, rules):
    rules("redirect", 3128)
    ask = ("import socket,sys\n"
           "s = socket.create_connection((sys.argv[1], 80), 300)\n"
           "s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')\n"
           "try: print(s.recv(4096))\n"
           "except ConnectionResetError: print('reset')")
    begin = network.stations["A"].modem.state().now
    redirected = subprocess.Popen(network.spaces["A"].command(
        sys.executable, "-c", ask, NOWHERE), stdout=subprocess.PIPE, text=True)
    curl = subprocess.Popen(network.spaces["A"].command(
        "curl", "-sS", "--max-time", "300", "--socks5-hostname", "127.0.0.1:1080",
        f"http://{NOWHERE}/"), stderr=subprocess.PIPE, text=True)
    assert redirected.communicate(timeout=300)[0].strip() == "reset"
    said = curl.communicate(timeout=300)[1]
    assert curl.returncode == 97 and "(4)" in said, said  # host unreachable
    assert network.stations["A"].modem.state().now - begin < 65
    lines = [line for line in network.log.lines() if NOBODY in line]
    assert len(lines) == 2 and all(f"{NOWHERE}:80 given up" in line for line in lines)


def test_a_client_of_tproxy_is_reset_as_well(network, rules):
    rules("tproxy", 3129)
    begin = network.stations["A"].modem.state().now
    result = network.curl("C", f"http://{NOWHERE}/", "--max-time", "300")
    assert result.returncode == 56, result.stderr  # failure in receiving: reset
    assert network.stations["A"].modem.state().now - begin < 65


def test_silent_clients_of_socks_make_room(network):
    # One program opens more connections than may be silent at a time, and says nothing.
    silent = subprocess.Popen(network.spaces["A"].command(
        sys.executable, "-c",
        "import resource, socket, sys\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (2048, 2048))\n"
        "s = [socket.create_connection(('127.0.0.1', 1080)) for _ in range(300)]\n"
        "print('here', flush=True)\n"
        "sys.stdin.read()"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert silent.stdout.readline() == "here\n"
        result = network.curl("A", url(4), "--socks5-hostname", "127.0.0.1:1080")
        assert result.stdout == network.content, result.stderr
    finally:
        silent.communicate("")


def test_nothing_is_left_over(network):
    deadline = time.monotonic() + 30
    while any(s.pep.connections() for s in network.stations.values()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    stats = network.stations["A"].pep.stats()
    assert stats["accepted"] == stats["closed"] + stats["reset"]


def test_listeners_stay_on_the_loopback(network):
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", 1080), 1)  # this namespace
    result = network.curl("C", url(4), "--socks5-hostname", "10.1.0.1:1080")
    assert result.returncode != 0
