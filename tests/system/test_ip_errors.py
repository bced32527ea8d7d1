# SPDX-License-Identifier: GPL-3.0-or-later
"""ICMP errors of the IP client reach the programs of the host, and its addresses outlive a
device that is switched off and on. Real TUN devices, sockets and ping."""
import subprocess
import sys
import time

from gnuradio.hf.station import pair
from gnuradio.hf.system import netns
import pytest

pytestmark = pytest.mark.skipif(netns.why_not() is not None, reason=str(netns.why_not()))
OWN = {4: "10.66.0.1", 6: "fd66::1"}
FAR = {4: "10.66.0.2", 6: "fd66::2"}
NOBODY = {4: "10.66.0.9", 6: "fd66::9"}

#: Sends a datagram as a browser that tries QUIC, and says what recv() raises.
QUIC = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
u = socket.socket(family, socket.SOCK_DGRAM)
u.settimeout(20)
u.connect((sys.argv[1], 443))
u.send(bytes(1200))
try:
    u.recv(100)
except OSError as error:
    print(type(error).__name__)
"""


@pytest.fixture(scope="module")
def stations():
    def with_ipv6(name, description):
        other = pair.OTHER[name]
        c = description.ip_client
        c.address += f", {OWN[6] if name == 'A' else FAR[6]}/64"
        c.routes = [*c.routes, f"{FAR[6] if name == 'A' else OWN[6]}/128={pair.NODES[other]}"]
        # Default of distributions: sources are checked against the routes.
        for setting in ("ipv6.conf.all.disable_ipv6=0", "ipv6.conf.default.disable_ipv6=0",
                        "ipv4.conf.all.rp_filter=1", "ipv4.conf.default.rp_filter=1"):
            subprocess.run(["ip", "netns", "exec", description.netns, "sysctl", "-qw",
                            f"net.{setting}"], check=True)
    with pair.Pair(pair.Setting(speed=20), on_description=with_ipv6) as p:
        yield p


def run(stations, *command):
    result = subprocess.run(stations.namespaces["A"].command(*command), capture_output=True,
                            text=True, timeout=60)
    return result.stdout + result.stderr


@pytest.mark.parametrize("family", [4, 6])
def test_quic_is_refused_at_once(stations, family):
    assert run(stations, sys.executable, "-c", QUIC, FAR[family]) == "ConnectionRefusedError\n"


@pytest.mark.parametrize("family", [4, 6])
def test_nobody_there_is_said(stations, family):
    said = run(stations, "ping", "-n", "-c", "1", "-W", "20", NOBODY[family])
    assert f"From {OWN[family]}" in said and "nreachable" in said, said


@pytest.mark.parametrize("family", [4, 6])
def test_the_station_is_the_first_hop(stations, family):
    said = run(stations, "ping", "-n", "-c", "1", "-W", "20", "-t", "1", FAR[family])
    assert f"From {OWN[family]}" in said and "exceeded" in said, said


def test_addresses_come_back_with_the_device(stations):
    def addresses():
        return run(stations, "ip", "-o", "addr", "show", "hf0")
    before = addresses()
    assert OWN[4] in before and OWN[6] in before
    for _ in range(2):
        run(stations, "ip", "link", "set", "hf0", "down")
        run(stations, "ip", "link", "set", "hf0", "up")
        deadline = time.monotonic() + 20
        while OWN[6] not in addresses():
            assert time.monotonic() < deadline, addresses()
            time.sleep(0.05)
    assert OWN[4] in addresses()
    for family in (4, 6):
        said = run(stations, "ping", "-n", "-c", "1", "-W", "50", FAR[family])
        assert "1 received" in said, said
    # One that was taken away on purpose stays away.
    run(stations, "ip", "addr", "del", f"{OWN[6]}/64", "dev", "hf0")
    said = run(stations, "ping", "-n", "-c", "1", "-W", "50", FAR[4])
    assert "1 received" in said and OWN[6] not in addresses()
