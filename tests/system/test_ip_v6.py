# SPDX-License-Identifier: GPL-3.0-or-later
"""The IP client with an IPv6 address of its own: ping over HF, and its ICMPv6 errors."""
import subprocess
import sys

from gnuradio import hf
from gnuradio.hf.station import pair
from gnuradio.hf.system import netns
import pytest

ADDRESSES = {"A": "fd66::1", "B": "fd66::2"}


def with_ipv6(name, description):
    """Both families on one device."""
    other = "B" if name == "A" else "A"
    c = description.ip_client
    c.address = f"{c.address}, {ADDRESSES[name]}/64"
    c.routes = [*c.routes, f"{ADDRESSES[other]}/128={pair.NODES[other]}"]
    subprocess.run(["ip", "netns", "exec", description.netns, "sysctl", "-qw",
                    "net.ipv6.conf.all.disable_ipv6=0", "net.ipv6.conf.default.disable_ipv6=0"],
                   check=True)


@pytest.mark.skipif(netns.why_not() is not None, reason=str(netns.why_not()))
def test_both_families_cross():
    with pair.Pair(pair.Setting(speed=20), on_description=with_ipv6) as p:
        def ping(address, *more):
            return subprocess.run(p.namespaces["A"].command("ping", "-n", "-c", "1", "-W", "30",
                                                            *more, address),
                                  capture_output=True, text=True)
        for address in (ADDRESSES["B"], pair.ADDRESSES["B"]):
            result = ping(address)
            assert result.returncode == 0, result.stdout + result.stderr
        # Nobody has it: the error comes from our own IPv6 address.
        result = ping("fd66::9")
        assert result.returncode == 1
        assert f"From {ADDRESSES['A']}" in result.stdout and "nreachable" in result.stdout


@pytest.mark.parametrize("address", [
    "", "10.66.0.1", "10.66.0.1/33", "fd66::1/129", "fd66::1/0", "10.66.0.1/24, 10.66.1.1/24",
    "10.66.0.1/24, fd66::1/64, fd66::2/64", "10.66.0.1/24 x"])
def test_wrong_addresses_are_named(address):
    with pytest.raises(ValueError, match="10.66.0.1/24, fd66::1/64"):
        hf.ip_client("hf9", address, [])


@pytest.mark.skipif(netns.why_not() is not None, reason=str(netns.why_not()))
def test_a_system_without_ipv6_is_named():
    code = ("from gnuradio import hf\n"
            "try:\n    hf.ip_client('hf9', '10.66.9.1/24, fd66::1/64', []).start()\n"
            "except RuntimeError as error:\n    print(error)")
    done = subprocess.run(
        ["unshare", "-n", "sh", "-c", 'sysctl -qw net.ipv6.conf.default.disable_ipv6=1; "$@"',
         "sh", sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "IPv6 is switched off" in done.stdout and "root" not in done.stdout, done.stderr
