# SPDX-License-Identifier: GPL-3.0-or-later
"""hf nft and what a station file says about HF-PEP."""
import subprocess

from gnuradio import hf
from gnuradio.hf import nftables, station
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
