# SPDX-License-Identifier: GPL-3.0-or-later
"""hf nft and what a station file says about HF-PEP."""
import subprocess

from gnuradio import hf
from gnuradio.hf import station
from gnuradio.hf.station import pair
from gnuradio.hf.system import netns, nftables
import pytest


def test_printed_rules():
    result = subprocess.run(["hf", "nft", "print", "--way", "tproxy", "--port", "3129", "--to",
                             "10.0.0.0/8", "--to", "fd00::/8", "--dport", "80"],
                            text=True, capture_output=True, check=True)
    text = result.stdout
    assert "ip daddr { 10.0.0.0/8 } tcp dport != 3129 tcp dport { 80 } tproxy ip to :3129" in text
    assert "tproxy ip6 to :3129" in text
    assert "# ip -6 route add local ::/0 dev lo table 5066" in text


@pytest.mark.parametrize("arguments, named", [
    (("tproxi", 1, ["10.0.0.0/8"]), "tproxi"), (("redirect", 0, ["10.0.0.0/8"]), "0"),
    (("redirect", 1, []), "prefix"), (("redirect", 1, ["10.0.0.1/8"]), "10.0.0.1/8"),
    (("redirect", 1, ["10.0.0.0/8"], ["http"]), "http")])
def test_wrong_rules_are_named(arguments, named):
    with pytest.raises(ValueError, match=named):
        nftables.Rules(*arguments)


def test_station_file():
    d = station.parse("""
address = "1.2.0.1"
[pep]
listen = ["socks5:1080"]
routes = [".=1.2.0.2"]
[[pep.rule]]
port = 22
class = 1
max = 4
over = "wait"
[[pep.rule]]
compress = "on"
[pep.settings]
opens_per_s_peer = 5
""")
    assert d.pep.allow == []
    assert d.pep.rule_words() == ["port=22 class=1 max=4 over=wait", "compress=on"]
    assert d.pep.settings == {"opens_per_s_peer": 5}
    assert set(d.pep.settings) <= set(hf.pep.settings())


@pytest.mark.parametrize("options, named", [
    ({"allow": ["10.0.0.1"]}, "10.0.0.1"), ({"rules": ["colour=red"]}, "colour"),
    ({"listeners": ["socks4:1080"]}, "socks4"), ({"listeners": ["redirect:0"]}, "0"),
    ({"listeners": ["tproxy:host:1"]}, "host"), ({"settings": {"opens": 1}}, "opens_burst"),
    ({"settings": {"opens_per_s": 0}}, "0.01"), ({"settings": {"opens_burst": 1e9}}, "1"),
    ({"settings": {"connections_per_peer": 5000}}, "4096")])
def test_wrong_settings_are_named(options, named):
    arguments = {"listeners": [], "routes": [], **options}
    with pytest.raises(ValueError, match=named):
        hf.pep(**arguments)


@pytest.mark.skipif(netns.why_not() is not None, reason=str(netns.why_not()))
@pytest.mark.parametrize("mode, accepted", [("4539-1200S", True), ("4539-9600S", False)])
def test_rules_know_the_rate_of_the_link(mode, accepted):
    setting = pair.Setting(mode=mode, speed=20, allow=[f"{pair.ADDRESSES['B']}:*"],
                           pep_rules=[{"rate_min": 4800, "action": "reject"}])
    with pair.Pair(setting) as p:
        ask = ("import socket,sys\n"
               f"s = socket.create_connection(('{pair.ADDRESSES['B']}', 9), 60)\n"
               "s.recv(1)")
        a = p.stations["A"]
        while a.modem.state().now < 1:  # station time is under way, and with it the rate
            pass
        subprocess.run(p.namespaces["A"].command("/usr/bin/python3", "-c", ask),
                       capture_output=True, timeout=100)
        stats = a.pep.stats()
        assert (stats["accepted"], stats["rejected"]) == ((1, 0) if accepted else (0, 1))


def test_the_default_list_can_be_left_out():
    assert hf.pep.settings()["default_rules"] == 1
    hf.pep([], [], rules=["port=22"], settings={"default_rules": 0})
