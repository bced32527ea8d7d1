# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole stations over simulated air: modem, data link, clients."""
import shutil
import subprocess
import time
from typing import Any, Dict, List, Tuple

from gnuradio import gr, hf
from gnuradio.hf.station import Capture, Description, Station
import numpy as np
import pytest

from flow import wait_for


def run(channel: str, mode: str, seconds: float, seed: int = 1, octets: Tuple = (4000, 2500),
        **options: Any) -> Tuple[List[Any], List[Dict[str, int]]]:
    """Two stations send to each other; gives traffic states and statistics of the links."""
    top = gr.top_block()
    air = hf.air(2, channel, seed=seed, duration_s=seconds,
                 signal_power=hf.mode(mode).mean_power)
    clients, links = [], []
    for n, (own, peer) in enumerate([("1.2.0.1", "1.2.0.2"), ("1.2.0.2", "1.2.0.1")]):
        station = Station(top, Description(address=own, mode=mode, **options), air.source(n),
                          air.sink(n))
        client = hf.traffic(peer, octets[n])
        station.add_client(top, client)
        clients.append(client)
        links.append(station)
    top.run()
    return ([c.state() for c in clients], [s.data_link.stats() for s in links])


def values(state: Any) -> Tuple:
    return tuple(getattr(state, name) for name in dir(state) if not name.startswith("_"))


@pytest.mark.parametrize("channel, mode, seconds", [
    ("clear", "4539-600S", 220),
    ("poor snr=22", "4539-1200S", 120),
    ("moderate snr=35 offset=20", "4539-9600S", 30),
])
def test_both_directions_deliver_everything_undamaged_and_repeatably(channel, mode, seconds):
    first, stats = run(channel, mode, seconds)
    assert [s.octets_confirmed for s in first] == [4000, 2500]
    assert [s.octets_received for s in first] == [2500, 4000]
    assert all(s.bound and not s.octets_damaged and not s.octets_rejected for s in first)
    assert all(s["bad_messages"] == 0 and s["invalid_primitives"] == 0 for s in stats)
    again, same = run(channel, mode, seconds)
    assert list(map(values, first)) == list(map(values, again)) and stats == same


def test_another_seed_is_another_history():
    one, two = (run("poor snr=9", "4539-1200S", 60, seed=s, octets=(6000, 0)) for s in (1, 4))
    assert values(one[0][0]) != values(two[0][0])


def test_speed_is_station_time_per_time():
    top = gr.top_block()
    air = hf.air(2, speed=20, duration_s=20)
    for n in range(2):
        top.connect(air.source(n), hf.modem(), air.sink(n))
    begin = time.monotonic()
    top.run()
    # A busy machine may be late, but not so late that it looks like real time.
    assert 0.9 < time.monotonic() - begin < 15
    assert air.now() == pytest.approx(20)


def test_stopping_and_ending_do_not_hang():
    for stop in ("end", "stop"):
        top = gr.top_block()
        air = hf.air(3)
        for n in range(3):
            Station(top, Description(address=f"1.2.0.{n + 1}"), air.source(n), air.sink(n))
        top.start()
        assert wait_for(lambda: air.now() > 1)
        if stop == "end":
            air.end()
        else:
            top.stop()
        top.wait()


def test_captures_are_read_by_tshark(tmp_path):
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    d_pdu, sis = str(tmp_path / "d_pdu.pcap"), str(tmp_path / "sis.pcap")
    top = gr.top_block()
    air = hf.air(2, duration_s=30)
    clients = []
    for n, (own, peer) in enumerate([("1.2.0.1", "1.2.0.2"), ("1.2.0.2", "1.2.0.1")]):
        capture = Capture(d_pdu, sis) if n == 0 else Capture()
        station = Station(top, Description(address=own, mode="4539-9600S", capture=capture),
                          air.source(n), air.sink(n))
        clients.append(hf.traffic(peer, 5000 if n == 0 else 0))
        station.add_client(top, clients[-1])
    top.run()
    assert clients[0].state().octets_confirmed == 5000

    def tshark(path: str, *arguments: str) -> str:
        return subprocess.run(["tshark", "-r", path, *arguments], capture_output=True, text=True,
                              timeout=60, check=True).stdout

    for path in (d_pdu, sis):
        assert tshark(path, "-Y", '_ws.malformed || _ws.expert.severity == "Error"') == ""
    text = tshark(d_pdu, "-V")
    assert "Incorrect" not in text
    kinds = tshark(d_pdu, "-T", "fields", "-e", "s5066dts.type").split()
    assert kinds.count("0") >= 5 and "1" in kinds
    types = tshark(sis, "-T", "fields", "-e", "s5066sis.type").replace(",", " ").split()
    # S_BIND_REQUEST, S_BIND_ACCEPTED, S_UNIDATA_REQUEST, its confirmation.
    assert types.count("1") == 1 and types.count("3") == 1
    assert types.count("20") == 3 and types.count("22") == 3


class Pieces(gr.sync_block):
    """Hands samples on and counts how often it is woken for them."""

    def __init__(self) -> None:
        gr.sync_block.__init__(self, "pieces", in_sig=[np.complex64], out_sig=[np.complex64])
        self.count = self.samples = 0

    def work(self, input_items: List[Any], output_items: List[Any]) -> int:
        n = len(output_items[0])
        self.count += 1
        self.samples += n
        output_items[0][:] = input_items[0][:n]
        return n


def test_paced_air_comes_in_pieces_that_are_worth_waking_for():
    top = gr.top_block()
    air = hf.air(2, "clear", speed=1, duration_s=2)
    pieces = Pieces()
    top.connect(air.source(0), pieces, air.sink(0))
    top.connect(air.source(1), air.sink(1))
    begin = time.monotonic()
    top.run()
    assert time.monotonic() - begin > 1.9  # paced all the same
    assert pieces.samples == 2 * 9600
    # Ticks of 5 ms, shorter where it waits for the other station's samples.
    assert pieces.count <= 1500
