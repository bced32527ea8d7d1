# SPDX-License-Identifier: GPL-3.0-or-later
"""TLS apart with curl, servers with good and bad certificates, and the kernel's TCP."""
import os
import stat
import subprocess
import sys
import time

from gnuradio.hf import hf_python as _hf
from gnuradio.hf.station import pair, watch
from gnuradio.hf.system import netns
import pytest
from tls_server import NAME, PORTS

pytestmark = pytest.mark.skipif(netns.why_not() is not None,
                                reason=f"no namespaces here: {netns.why_not()}")
HERE = os.path.dirname(os.path.abspath(__file__))
ADDRESS = pair.ADDRESSES["B"]
RULES = [{"tls": "apart"}, {"tls": "apart", "port": "8441-8445"},
         {"tls": "apart", "port": "8446-8448", "accept": "late"}]


class Network:
    """Two stations at 9600 bit/s, and the servers beside one of them."""

    def __init__(self, folder, speed):
        self.folder = folder
        with open(os.path.join(HERE, "../../docs/architecture.md"), "rb") as file:
            self.page = file.read()[:10_000]
        (folder / "page").write_bytes(self.page)
        self.log = watch.LogWatch()
        self.pair = pair.Pair(pair.Setting(speed=speed, allow=[f"{ADDRESS}:*"], pep_rules=RULES,
                                           channel="clear"), True, self.describe, self.made)

    def describe(self, name, d):
        d.pep.ca = str(self.folder / f"ca-{name}")
        d.pep.listen = d.pep.listen + ["socks5:1080", "connect:8080"]

    def made(self, p):
        p.tb.msg_connect(p.stations["A"].pep, "log", self.log, "log")

    def __enter__(self):
        os.environ.update(SSL_CERT_FILE=str(self.folder / "ca.pem"), SSL_CERT_DIR="/nonexistent")
        self.pair.__enter__()
        self.server = subprocess.Popen(
            self.pair.namespaces["B"].command(sys.executable, f"{HERE}/tls_server.py",
                                              str(self.folder), ADDRESS),
            stdout=subprocess.PIPE, text=True)
        assert self.server.stdout.readline() == "ready\n"
        self.trust()
        return self

    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()
        self.pair.__exit__()
        for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
            del os.environ[name]

    def trust(self):
        """Export the certificate of A's authority, as hf pep ca --export."""
        authority = _hf.tls_authority(str(self.folder / "ca-A"))
        (self.folder / "near.pem").write_text(authority.certificate)
        return authority

    def curl(self, what, *more, trusts="near.pem"):
        return subprocess.run(
            self.pair.namespaces["A"].command(
                "curl", "-sS", "-v", "--max-time", "60", "--cacert", str(self.folder / trusts),
                "--resolve", f"{NAME}:{PORTS[what]}:{ADDRESS}", *more,
                f"https://{NAME}:{PORTS[what]}/"), capture_output=True, timeout=100,
            env={k: v for k, v in os.environ.items() if "proxy" not in k.lower()})

    def lines(self):
        return "\n".join(self.log.lines())

    def counts(self):
        """Transmissions of both stations and octets on the air, once all is quiet."""
        def now():
            return (sum(s.data_link.stats()["transmissions"]
                        for s in self.pair.stations.values()), self.pair.octets_over_hf())

        found = None
        while found != (found := now()):
            time.sleep(4)
        return found


@pytest.fixture(scope="module", name="network")
def slow_network(tmp_path_factory):
    with Network(tmp_path_factory.mktemp("tls"), 10) as made:
        yield made


def test_a_page_at_9600_against_hf_pep(tmp_path, capsys):
    """In real time, since the near handshake takes time of the host."""
    with Network(tmp_path, 1) as network:
        assert network.curl("through", trusts="ca.pem").returncode == 0  # the link exists now
        rows = {}
        for what in ("through", "good"):
            before, begin = network.counts(), time.monotonic()
            done = network.curl(what, trusts="ca.pem" if what == "through" else "near.pem")
            took = time.monotonic() - begin
            assert done.returncode == 0 and done.stdout == network.page, done.stderr.decode()
            rows[what] = [b - a for a, b in zip(before, network.counts())] + [took]
    (plain, plain_octets, plain_s), (apart, apart_octets, apart_s) = rows.values()
    with capsys.disabled():
        print(f"\nHTTPS page of 10 kB at 9600: HF-PEP {plain} transmissions, {plain_octets} "
              f"octets, {plain_s:.1f} s; TLS apart {apart}, {apart_octets} octets "
              f"({100 * apart_octets / plain_octets:.0f} %), {apart_s:.1f} s")
    assert plain - apart >= 2
    assert apart_octets <= 0.4 * plain_octets


@pytest.mark.parametrize("what, reason, status", [
    ("expired", "has expired", 16), ("wrong name", "for another name", 18),
    ("self signed", "self signed or of an unknown issuer", 17)])
def test_a_bad_certificate_is_refused_with_its_reason(network, what, reason, status):
    done = network.curl(what)
    assert done.returncode in (35, 52, 56) and not done.stdout, done.stderr.decode()
    assert f"no TLS with {ADDRESS}:{PORTS[what]} at 1.2.0.2: the certificate of the server" in \
        network.lines()
    assert reason in network.lines()


def test_with_late_accept_the_program_sees_an_alert(network):
    done = network.curl("late expired")
    assert done.returncode in (35, 60) and not done.stdout
    assert b"TLS alert, certificate expired" in done.stderr, done.stderr.decode()
    done = network.curl("late")
    assert done.returncode == 0 and done.stdout == network.page


def test_the_protocol_is_one_that_the_server_has(network):
    done = network.curl("good", "--http1.1", "--tls-max", "1.2")
    assert done.stdout == network.page and b"TLSv1.2" in done.stderr
    assert b"server accepted http/1.1" in done.stderr
    assert b"server accepted h2" in network.curl("late h2").stderr
    ask = ("import socket, ssl\n"
           "c = ssl.create_default_context(cafile='near.pem')\n"
           "c.set_alpn_protocols(['h2'])\n"
           f"s = c.wrap_socket(socket.create_connection(('{ADDRESS}', 443)), "
           f"server_hostname='{NAME}')\n"
           "assert s.selected_alpn_protocol() == 'h2'\n"
           "try: print(s.recv(1))\n"
           "except OSError: print(b'')")
    done = subprocess.run(network.pair.namespaces["A"].command("/usr/bin/python3", "-c", ask),
                          cwd=network.folder, capture_output=True, timeout=60)
    assert done.stdout == b"b''\n", done.stderr.decode()
    assert f"no TLS with {ADDRESS}:443 at 1.2.0.2: TLS failed" in network.lines()


def test_an_end_without_close_notify_is_no_end(network):
    """The page is whole, but only the end of the connection would say so."""
    done = network.curl("no close_notify")
    assert done.stdout == network.page
    assert done.returncode == 56, done.stderr.decode()


@pytest.mark.parametrize("way", [("--socks5-hostname", "127.0.0.1:1080"),
                                 ("--proxytunnel", "--proxy", "http://127.0.0.1:8080"),
                                 ("--socks5", "127.0.0.1:1080")])
def test_every_explicit_way_in(network, way):
    if "--socks5-hostname" in way or "--proxytunnel" in way:
        # These ask for a name, which A has no route for: the address in its place.
        way = (*way, "--connect-to", f"{NAME}:443:{ADDRESS}:443")
    done = network.curl("good", *way)
    assert done.stdout == network.page, done.stderr.decode()


def test_the_key_is_private_and_rotate_invalidates(network):
    authority = _hf.tls_authority(str(network.folder / "ca-A"))
    assert stat.S_IMODE(os.stat(authority.path).st_mode) == 0o600
    assert network.curl("good").returncode == 0
    authority.rotate()
    assert network.curl("good").returncode == 60  # curl does not trust the new one yet
    assert "the program has ended its TLS session" in network.lines()
    network.trust()
    assert network.curl("good").stdout == network.page
    assert stat.S_IMODE(os.stat(authority.path).st_mode) == 0o600


def test_a_rule_needs_an_authority(tmp_path):
    with pytest.raises(ValueError, match="needs ca"):
        _hf.pep([], [], rules=["tls=apart"])
    assert _hf.pep([], [], ca=str(tmp_path / "none")) and not (tmp_path / "none").exists()
    with pytest.raises(RuntimeError, match="/proc/none"):
        _hf.pep([], [], rules=["tls=apart"], ca="/proc/none")


def test_hf_pep_ca_prints_exports_and_rotates(tmp_path):
    def ca(*arguments, status=0):
        done = subprocess.run(["hf", "pep", "ca", *arguments], capture_output=True, text=True,
                              env={**os.environ, "XDG_DATA_HOME": str(tmp_path)}, timeout=60)
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    first = ca()
    assert "authority: made, for every host\n" in first and f"{tmp_path}/gr-hf/ca/ca.key" in first
    assert ca().splitlines()[3] == first.splitlines()[3]
    exported = tmp_path / "hf.pem"
    ca("--export", str(exported))
    assert "BEGIN CERTIFICATE" in exported.read_text() and "KEY" not in exported.read_text()
    rotated = ca("--rotate", "--export", str(exported))
    assert "made again" in rotated and rotated.splitlines()[3] != first.splitlines()[3]
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    assert "not written by hf" in ca("--export", str(other), status=2)
    station = tmp_path / "s.toml"
    station.write_text(f'address = "1.2.0.1"\n[pep]\nca = "{tmp_path}/own"\n')
    assert f"{tmp_path}/own/ca.key" in ca(str(station))
    os.chmod(tmp_path / "own" / "ca.key", 0o644)
    assert "others may read the key" in ca(str(station), status=1)
    limited = tmp_path / "limited.toml"
    limited.write_text(f'address = "1.2.0.1"\n[pep]\nca = "{tmp_path}/limited"\n[[pep.rule]]\n'
                       'tls = "apart"\nnames = "shop.example,news.example"\n')
    assert "made, for news.example, shop.example\n" in ca(str(limited))


def test_a_rule_may_limit_the_authority_to_names(tmp_path):
    assert _hf.tls_names(["tls=apart names=b.example,a.example", "port=22"]) == [
        "a.example", "b.example"]
    assert _hf.tls_names(["tls=apart names=a.example", "tls=apart port=8443"]) == []
    folder = str(tmp_path / "ca")
    _hf.pep([], [], rules=["tls=apart names=a.example"], ca=folder)
    assert _hf.tls_authority(folder).names == ["a.example"]
    for rules in (["tls=apart names=b.example"], ["tls=apart"]):
        with pytest.raises(RuntimeError, match="not for the names of the rules"):
            _hf.pep([], [], rules=rules, ca=folder)
    for bad in ("tls=apart names=A.example", "tls=apart names=a,,b", "tls=apart names=*.a",
                "names=a.example", "tls=apart names=.a"):
        with pytest.raises(ValueError, match="names"):
            _hf.pep([], [], rules=[bad], ca=folder)
