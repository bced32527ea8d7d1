# SPDX-License-Identifier: GPL-3.0-or-later
"""Each block stands in a flowgraph of examples/, and each of these runs."""
import os
import re
import subprocess

from flowgraph import EXAMPLES, Running
from gnuradio.hf.system import netns
import pytest
import yaml


def test_every_block_stands_in_an_example():
    blocks = {yaml.safe_load(p.read_text())["id"]
              for p in (EXAMPLES.parent / "grc").glob("*.block.yml")}
    shown = {b["id"] for p in EXAMPLES.glob("*.grc")
             for b in yaml.safe_load(p.read_text())["blocks"]
             if b["states"]["state"] == "enabled"}
    assert len(blocks) > 40 and blocks <= shown, blocks - shown


def test_the_page_lists_every_flowgraph():
    page = (EXAMPLES.parent / "docs" / "reference" / "flowgraphs.md").read_text()
    listed = set(re.findall(r"`examples/(\w+)\.grc`", page))
    shown = set(re.findall(r"\(\.\./flowgraphs/(\w+)\.png\)", page))
    assert {p.stem for p in EXAMPLES.glob("*.grc")} == listed == shown


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.grc")), ids=lambda p: p.stem)
def test_a_flowgraph_explains_itself(path):
    flow = yaml.safe_load(path.read_text())
    options = flow["options"]["parameters"]
    assert options["title"] and len(options["description"]) > 40 and options["id"] == path.stem


def test_loopback(tmp_path):
    with Running(tmp_path, "loopback") as flow:
        assert "(mode . 4539-600S)" in flow.until(r"pdu length =", 60, 3)


def test_two_stations(tmp_path):
    with Running(tmp_path, "two_stations", "top.traffic_B.state().octets_received",
                 octets=500) as flow:
        flow.until(r"value 500\n", 120)


def test_audio_loopback(tmp_path):
    with Running(tmp_path, "audio_loopback") as flow:
        assert "(mode . 4539-600S)" in flow.until(r"\(reason \. eom\)", 60, 3)


def test_two_antennas_lose_nothing_on_a_channel_that_one_loses(tmp_path):
    with Running(tmp_path, "two_antennas", channel_spec="poor snr=10") as flow:
        flow.until(r"\(reason \. eom\)", 90, 6)


def test_monitor(tmp_path):
    with Running(tmp_path, "monitor") as flow:
        flow.until(r"\(mode \. 4539-600S\)", 60)
        flow.until("54 4f 20 4a 4f 45", 90)  # TO JOE


def test_ale_call(tmp_path):
    value = "top.traffic_JOE.state().octets_received, top.SAM.ale().channel"
    with Running(tmp_path, "ale_call", value, octets=500) as flow:
        assert "(500, 1)" in flow.until(r"value \(500, ", 120)  # on the better frequency


def test_modem_over_network(tmp_path):
    modem, sis = netns.free_tcp_ports(2)
    with Running(tmp_path, "modem_over_network", "top.traffic_B.state().octets_received",
                 octets=300, speed=4, modem_port=modem, sis_port=sis) as flow:
        flow.until(r"value 300\n", 120)


#: What there is ashore: a web server, and a resolver that answers each name with 192.0.2.7.
SERVE = r"""
import http.server, socket, threading
def resolve():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 53))
    while True:
        q, asker = s.recvfrom(600)
        end = q.index(b"\0", 12) + 5
        s.sendto(q[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + q[12:end] +
                 b"\xc0\x0c\0\1\0\1\0\0\1\0\0\4" + bytes([192, 0, 2, 7]), asker)
threading.Thread(target=resolve, daemon=True).start()
http.server.test(http.server.SimpleHTTPRequestHandler, port=8000, bind="127.0.0.1")
"""
ASK_PAGE = """
import urllib.request
print(urllib.request.urlopen("http://127.0.0.1:8080/page", timeout=100).read().decode(), end="")
"""
#: Asks the resolver at port 5353 for an address.
ASK_NAME = r"""
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(100)
s.sendto(b"\x12\x34\x01\0\0\1\0\0\0\0\0\0\5shore\3org\0\0\1\0\1", ("127.0.0.1", 5353))
print(s.recv(600).hex())
"""


@pytest.mark.skipif(netns.why_not() is not None, reason=str(netns.why_not()))
def test_pep_station(tmp_path):
    (tmp_path / "page").write_text("from the shore")
    names = [f"hf-{x}-{os.getpid()}-8" for x in "AB"]
    with netns.Namespace(names[0]) as ship, netns.Namespace(names[1]) as shore:
        server = subprocess.Popen(shore.command("python3", "-c", SERVE), cwd=tmp_path,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with Running(tmp_path, "pep_station", "top.pep_shore.stats()['connected']",
                         speed=20, netns_ship=ship.name, netns_shore=shore.name) as flow:
                flow.until("value 0", 60)

                def ask(*command):
                    return subprocess.run(ship.command(*command), capture_output=True, text=True,
                                          timeout=120).stdout
                assert " 1 received" in ask("ping", "-c", "1", "-W", "60", "10.66.0.2")
                assert ask("python3", "-c", ASK_PAGE) == "from the shore"
                flow.until("value 1", 20)
                assert bytes([192, 0, 2, 7]).hex() in ask("python3", "-c", ASK_NAME)
        finally:
            server.kill()
            server.wait(20)
