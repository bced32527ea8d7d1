# SPDX-License-Identifier: GPL-3.0-or-later
"""Flows of the IP client that wait for the data link are reported: by the block, on the page's
state, in hf top. Real TUN devices and sockets."""
import json
import subprocess
import sys
import time
import urllib.request

from gnuradio.hf.cli import top
from gnuradio.hf.gui import snapshot, web, words
from gnuradio.hf.station import pair
from gnuradio.hf.system import netns
import pytest
from rich.console import Console

pytestmark = pytest.mark.skipif(netns.why_not() is not None, reason=str(netns.why_not()))

#: Sends datagrams of 1000 octets to ports 4001 and 4002, three times as many to the second.
FLOOD = """
import socket, sys
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind((sys.argv[1], 4000))
for k in range(400):
    u.sendto(bytes(1000), (sys.argv[2], 4001 if k % 4 == 0 else 4002))
"""


def test_what_waits_is_told_flow_by_flow():
    views = []

    def slow(name, description):
        description.ip_client.filter = [{"name": "flood", "proto": "udp", "port": "4001-4002"}]

    def see(p):
        views.extend(snapshot.StationView(p.tb, s) for s in p.stations.values())

    setting = pair.Setting(mode="4539-600S", speed=1)
    with pair.Pair(setting, on_description=slow, on_made=see) as p:
        client = p.stations["A"].ip_client
        assert client.flows() == []
        subprocess.run(p.namespaces["A"].command(
            sys.executable, "-c", FLOOD, pair.ADDRESSES["A"], pair.ADDRESSES["B"]), check=True,
            timeout=30)
        deadline = time.monotonic() + 30
        # 400 datagrams less what SIS holds: about 168 kB.
        while sum(f.octets for f in client.flows()) < 200_000:
            assert time.monotonic() < deadline, [vars(f) for f in client.flows()]
            time.sleep(0.05)
        page = web.WebServer(snapshot.Snapshots(views, "test"))
        try:
            with urllib.request.urlopen(page.url + "api/state", timeout=20) as answer:
                state = json.load(answer)
        finally:
            page.close()
    most, other = state["stations"][0]["flows"]
    assert (most["src"], most["dst"]) == ("10.66.0.1:4000", "10.66.0.2:4002")
    assert (other["src"], other["dst"]) == ("10.66.0.1:4000", "10.66.0.2:4001")
    for flow in (most, other):
        assert flow["protocol"] == "UDP" and flow["node"] == "1.2.0.2"
        assert not flow["interactive"] and 0 <= flow["oldest_s"] < 60
        assert flow["octets"] == 1028 * flow["packets"]
    assert most["octets"] > other["octets"]
    assert state["stations"][1]["flows"] == []
    console = Console(width=80, record=True, file=open("/dev/null", "w", encoding="utf-8"))
    console.print(top.picture(state, False))
    shown = console.export_text()
    assert f"{words.amount(most['octets'] + other['octets'])} of IP packets" in shown
    assert max(map(len, shown.splitlines())) <= 80


#: Accepts connections.
SERVER = """
import socket
listener = socket.create_server(("0.0.0.0", 8000))
print("listening", flush=True)
while True:
    listener.accept()[0].close()
"""
#: Connects, each time after a line, and prints a line.
CLIENT = """
import socket, sys
for line in sys.stdin:
    socket.create_connection((sys.argv[1], 8000), timeout=60).close()
    print("connected", flush=True)
"""


def wait_until_quiet(p, seconds=5.0):
    """Until neither station has had anything to send for so long (station time)."""
    quiet = p.now()
    while p.now() < quiet + seconds:
        quiet = p.now() if p.busy() else quiet
        time.sleep(0.02)


@pytest.mark.parametrize("mode, limit_s, max_s", [
    ("4539-9600S", 0.48, 1.0), ("5069-48k-240000S", 0.66, 1.0)])
def test_a_tcp_connection_through_the_ip_client_takes_one_turn(mode, limit_s, max_s):
    """limit_s: of two transmissions of the shortest block, without any wait. The shortest of five
    counts, since the kernel's answer is in real time on a busy machine."""
    took = []
    with pair.Pair(pair.Setting(mode=mode, speed=4, pep_ports=None)) as p:
        server = p.start("B", [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
        assert server.stdout.readline() == "listening\n"
        client = subprocess.Popen(
            p.namespaces["A"].command(sys.executable, "-c", CLIENT, pair.ADDRESSES["B"]),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            for _ in range(5):
                wait_until_quiet(p)
                begin = p.now()
                client.stdin.write("\n")
                client.stdin.flush()
                assert client.stdout.readline() == "connected\n"
                took.append(p.now() - begin)
        finally:
            client.kill()
            client.wait()
    assert limit_s <= min(took) <= max_s, took
