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
