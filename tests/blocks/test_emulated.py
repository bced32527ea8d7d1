# SPDX-License-Identifier: GPL-3.0-or-later
"""Stations on emulated modems: the modem port without samples."""
import time

from gnuradio import blocks, gr, hf
from gnuradio.hf.simulation import simulator
from gnuradio.hf.station import watch
from gnuradio.hf.station import Description, Station, StationError
import pmt
import pytest

from flow import wait_for

PEERS = [("1.2.0.1", "1.2.0.2"), ("1.2.0.2", "1.2.0.1")]


def stations(top, air, mode, octets):
    clients, made = [], []
    for n, (own, peer) in enumerate(PEERS):
        station = Station(top, Description(address=own, mode=mode),
                          emulated_modem=air.modem(n))
        client = hf.traffic(peer, octets[n])
        station.add_client(top, client)
        clients.append(client)
        made.append(station)
    return clients, made


@pytest.mark.parametrize("mode, ber", [
    ("4539-75S", 0), ("4539-9600S", 1e-5), ("5069-18k-57600S", 0), ("5069-48k-240000S", 1e-5),
])
def test_both_directions_deliver_everything_undamaged(mode, ber):
    top = gr.top_block()
    air = hf.emulated_air(2, ber=ber, speed=0)
    octets = [40000, 2500] if mode != "4539-75S" else [400, 250]
    clients, made = stations(top, air, mode, octets)
    top.start()
    assert wait_for(lambda: [c.state().octets_confirmed for c in clients] == octets, 60)
    assert [c.state().octets_received for c in clients] == octets[::-1]
    assert not any(c.state().octets_damaged or c.state().octets_rejected for c in clients)
    assert all(s.data_link.stats()["bad_messages"] == 0 for s in made)
    state = made[0].modem.state()
    assert state.tx_mode.startswith(mode[:9]) and state.octets_sent > octets[0]
    assert state.transmissions > 0 and state.receptions > 0 and state.late_answers == 0
    top.stop()
    top.wait()


class Messages(gr.basic_block):
    """Keeps the messages that it gets."""

    def __init__(self):
        gr.basic_block.__init__(self, name="messages", in_sig=None, out_sig=None)
        self.got = []
        self.message_port_register_in(pmt.intern("in"))
        self.set_msg_handler(pmt.intern("in"), self.keep)

    def keep(self, message):
        self.got.append(message)


def test_lines_of_the_log_are_no_symbols():
    """GNU Radio keeps every symbol for ever: a station would grow with each line."""
    top, kept = gr.top_block(), Messages()
    air = hf.emulated_air(2, speed=0)
    clients, made = stations(top, air, "4539-9600S", [5000, 0])
    top.msg_connect(made[0].data_link, "log", kept, "in")
    top.start()
    assert wait_for(lambda: clients[0].state().octets_confirmed == 5000 and len(kept.got) > 5, 60)
    top.stop()
    top.wait()
    records = [watch.log_record(m) for m in kept.got]
    assert all(r is not None and 0 <= r.time <= air.now() for r in records)
    data = [r for r in records if r.text.startswith("1.2.0.1>1.2.0.2 DATA-ONLY fsn ")]
    assert data and all((r.d_pdu, r.d_pdus, r.acknowledges) == ("sent", 1, False) for r in data)
    acks = [r for r in records if r.acknowledges]
    assert acks and all(r.text.startswith("1.2.0.2>1.2.0.1 ACK-ONLY") and r.d_pdu == "received"
                        for r in acks)
    assert watch.log_record(pmt.intern("0.0 a symbol")) is None


def test_it_takes_the_time_that_the_event_simulator_says():
    expected = simulator.simulate("4539-1200S", 5000)["time_s"]
    top = gr.top_block()
    air = hf.emulated_air(2, speed=100)
    clients, _ = stations(top, air, "4539-1200S", [5000, 0])
    top.start()
    assert wait_for(lambda: clients[1].state().octets_received == 5000)
    # 100 times real time, looked at every 10 ms.
    assert expected - 0.5 <= air.now() <= expected + 6
    top.stop()
    top.wait()


def test_speed_is_station_time_per_time_and_a_stop_does_not_hang():
    top = gr.top_block()
    air = hf.emulated_air(2, speed=20)
    stations(top, air, "4539-600S", [0, 0])
    for _ in range(2):
        first = air.now()
        begin = time.monotonic()
        top.start()
        assert wait_for(lambda: air.now() > first + 10)
        assert 0.4 < time.monotonic() - begin < 3
        top.stop()
        top.wait()


def test_nothing_gets_through_a_disturbance_and_everything_after_it():
    top = gr.top_block()
    air = hf.emulated_air(2, speed=200)
    clients, _ = stations(top, air, "4539-1200S", [3000, 0])
    with pytest.raises(ValueError, match="-1.*0 and above"):
        air.disturb(-1)
    air.disturb(40)
    top.start()
    assert wait_for(lambda: air.now() > 35)
    assert clients[1].state().octets_received == 0 or air.now() > 40
    assert wait_for(lambda: clients[1].state().octets_received == 3000, 60)
    assert air.now() > 40
    top.stop()
    top.wait()


def test_modems_without_data_links_only_tick():
    top = gr.top_block()
    air = hf.emulated_air(2, speed=0)
    modems = [air.modem(0), air.modem(1)]
    for m in modems:
        top.msg_connect(m, "status", blocks.message_debug(), "store")
    top.start()
    assert wait_for(lambda: modems[1].state().now > 5)
    top.stop()
    top.wait()


def test_a_station_has_one_bandwidth():
    assert all(m.receivable for m in hf.mode.all())
    mode = "5069-12k-19200S"
    assert Description(address="1.2.0.1", mode=mode).bandwidth_khz == 12
    Description(address="1.2.0.1", mode=mode, bandwidth=12).check()
    for wrong in (dict(mode=mode, bandwidth=3), dict(mode="4539-600S", bandwidth=12),
                  dict(mode=mode, ack_mode="4539-75S")):
        with pytest.raises(StationError, match="12 kHz|3 kHz"):
            Station(gr.top_block(), Description(address="1.2.0.1", **wrong))


def test_each_modem_once():
    air = hf.emulated_air(2)
    air.modem(1)
    for station in (1, 2, -1):
        with pytest.raises(ValueError, match=str(station)):
            air.modem(station)
