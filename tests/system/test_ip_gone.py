# SPDX-License-Identifier: GPL-3.0-or-later
"""The TUN device of a running station is deleted."""
import subprocess
import time

from gnuradio.hf.station import pair, watch
from gnuradio.hf.system import netns
import pytest

pytestmark = pytest.mark.skipif(netns.why_not() is not None, reason=str(netns.why_not()))


@pytest.fixture(name="stations")
def two_stations():
    """A pair, with the log of the IP client of A as attribute."""
    log = watch.LogWatch()

    def connect(p):
        p.tb.msg_connect(p.stations["A"].ip_client, "log", log, "log")

    with pair.Pair(pair.Setting(speed=20), on_made=connect) as p:
        p.log = log
        yield p


def ip(p, *words):
    return subprocess.run(p.namespaces["A"].command("ip", *words), capture_output=True, text=True)


def ping(p):
    return subprocess.run(p.namespaces["A"].command(
        "ping", "-n", "-c", "1", "-W", "30", pair.ADDRESSES["B"]), capture_output=True).returncode


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def share_of_processor(seconds=3.0):
    begin, used = time.monotonic(), time.process_time()
    time.sleep(seconds)
    return (time.process_time() - used) / (time.monotonic() - begin)


def test_a_deleted_device_is_made_again(stations):
    assert ping(stations) == 0
    for _ in range(2):
        assert ip(stations, "link", "del", "hf0").returncode == 0
        wait_for(lambda: ip(stations, "link", "show", "hf0").returncode == 0)
        wait_for(lambda: pair.ADDRESSES["A"] in ip(stations, "addr").stdout)
        assert ping(stations) == 0
    lines = stations.log.lines()
    assert len([line for line in lines if "'hf0' is gone" in line]) == 2
    wait_for(lambda: len([x for x in stations.log.lines() if "is made again" in x]) == 2)


def test_one_that_cannot_be_made_again_costs_no_processor_time(stations):
    assert ping(stations) == 0
    before = share_of_processor()
    # The name is taken before the station can have it back, which may be quicker once.
    subprocess.run(stations.namespaces["A"].command(
        "sh", "-c", "for k in 1 2 3 4 5 6 7 8 9; do ip link del hf0; "
        "ip link add hf0 type veth peer name hf0-peer && exit 0; done; exit 1"), check=True)
    wait_for(lambda: any("cannot make 'hf0'" in line for line in stations.log.lines()))
    # A thread that spins takes all that the machine has left.
    assert share_of_processor() < 2 * before + 0.05
    # Said once, not with every attempt.
    assert len([x for x in stations.log.lines() if "cannot make" in x]) == 1
    assert ip(stations, "link", "del", "hf0").returncode == 0
    wait_for(lambda: any("is made again" in line for line in stations.log.lines()))
    assert ping(stations) == 0
