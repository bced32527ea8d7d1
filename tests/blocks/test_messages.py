# SPDX-License-Identifier: GPL-3.0-or-later
"""Garbage on every message port leaves every block alive."""
import random
import socket

from gnuradio import blocks, gr, hf
from gnuradio.hf import station
import pmt
import pytest

from flow import Listener, Speaker, garbage, pdu, post, wait_for


def test_transmitter():
    top = gr.top_block()
    tx, rx = hf.tx("4539-2400S"), hf.rx()
    top.connect(tx, rx)
    pdus = Listener(top, rx, "pdus")
    top.start()
    # A dictionary and octets are a PDU for this port, whatever else the dictionary says.
    bad = [m for m in garbage() if not (pmt.is_pair(m) and pmt.is_dict(pmt.car(m)) and
                                        pmt.is_u8vector(pmt.cdr(m)))]
    bad += [pdu(b"x", mode="4539-1S"), pdu(b"x", mode="x" * 10000)]
    for message in bad:
        post(tx, "pdus", message)
    assert wait_for(lambda: tx.dropped() == len(bad))
    post(tx, "pdus", pdu(b"still alive"))
    assert wait_for(lambda: pdus.count() == 1)
    top.stop()
    top.wait()
    assert pdus.messages()[0][1] == b"still alive" and tx.transmissions() == 1


def stations(top: gr.top_block, octets: int, live: bool = False):
    """Two stations; gives modems, links and traffic clients."""
    air = hf.air(2, "clear", duration_s=120)
    made = []
    for n, (own, peer) in enumerate([("1.2.0.1", "1.2.0.2"), ("1.2.0.2", "1.2.0.1")]):
        modem, link = hf.modem(lock_step=not live), hf.data_link(own, "4539-2400S")
        client = hf.traffic(peer, octets if n == 0 else 0)
        top.connect(air.source(n), modem, air.sink(n))
        top.msg_connect(modem, "modem", link, "modem")
        top.msg_connect(link, "modem", modem, "modem")
        top.msg_connect(client, "sis", link, "sis")
        top.msg_connect(link, "sis", client, "sis")
        made.append((modem, link, client))
    return air, made


@pytest.mark.parametrize("part, port", [(0, "modem"), (1, "modem"), (1, "sis"), (2, "sis")])
def test_a_station_delivers_in_spite_of_garbage(part, port):
    top = gr.top_block()
    air, made = stations(top, 3000)
    # Messages that claim to answer a tick or a pull are accepted. All others are dropped.
    answers = ("tick_done", "tx_octets") if part == 0 else ("tick_done",)
    bad = []
    for m in garbage():
        kind = ""
        if pmt.is_pair(m) and pmt.is_dict(pmt.car(m)):
            kind = pmt.to_python(pmt.dict_ref(pmt.car(m), pmt.intern("type"), pmt.PMT_NIL))
        if kind not in answers:
            bad.append(m)
    for k in (0, 1):
        for message in bad:
            post(made[k][part], port, message)
    top.start()
    assert wait_for(lambda: made[0][2].state().octets_confirmed == 3000, 60)
    for message in bad:
        post(made[0][part], port, message)
    air.end()
    top.stop()
    top.wait()
    received = made[1][2].state()
    assert received.octets_received == 3000 and received.octets_damaged == 0
    if part == 1:
        assert made[0][1].stats()["bad_messages"] > 10


@pytest.mark.parametrize("live, delay_s, earliest_s", [(False, None, 0), (True, None, 1),
                                                       (True, 0.0, 0), (True, 2.5, 2.5)])
def test_the_first_transmission_waits_for_the_start_delay(live, delay_s, earliest_s):
    top = gr.top_block()
    air = hf.air(2, "clear", duration_s=8, speed=4 if live else 0)
    modem, link = hf.modem(lock_step=not live, start_delay_s=delay_s), hf.data_link("1.2.0.1")
    client = hf.traffic("1.2.0.2", 1000)
    top.connect(air.source(0), modem, air.sink(0))
    top.connect(air.source(1), air.sink(1))
    for a, b, port in ((modem, link, "modem"), (client, link, "sis")):
        top.msg_connect(a, port, b, port)
        top.msg_connect(b, port, a, port)
    status = Listener(top, modem, "status")
    top.run()
    first = min(m["now"] for m, _ in status.messages() if m.get("type") == "tx_start") / 1e9
    assert earliest_s <= first < earliest_s + 1


def test_a_station_in_lock_step_waits_as_its_description_says():
    top = gr.top_block()
    air = hf.air(2, "clear", duration_s=8)
    near = station.Station(top, station.Description("1.2.0.1", "4539-3200S", start_delay_s=2.5),
                           air.source(0), air.sink(0))
    near.add_client(top, hf.traffic("1.2.0.2", 1000))
    top.connect(air.source(1), air.sink(1))
    status = Listener(top, near.modem, "status")
    top.run()
    first = min(m["now"] for m, _ in status.messages() if m.get("type") == "tx_start") / 1e9
    assert 2.5 <= first < 3.5


def test_random_primitives_on_the_sis_port():
    top = gr.top_block()
    air, made = stations(top, 2000)
    r = random.Random(1)
    speaker_ids = [hf.new_client_id() for _ in range(3)]
    head = bytes([0x90, 0xEB, 0x00])
    top.start()
    for _ in range(2000):
        size = r.randrange(0, 60)
        octets = head + bytes([size & 255, size >> 8, r.randrange(40)]) + r.randbytes(size)
        octets = octets[:r.randint(0, len(octets))] if r.random() < 0.3 else octets
        post(made[0][1], "sis", pdu(octets, client=r.choice(speaker_ids)))
    assert wait_for(lambda: made[0][2].state().octets_confirmed == 2000, 60)
    assert made[0][1].stats()["invalid_primitives"] > 100
    air.end()
    top.stop()
    top.wait()
    assert made[1][2].state().octets_damaged == 0


def test_proxy():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    top = gr.top_block()
    block, speaker = hf.pep([f"127.0.0.1:{port}=host:1"], [".=1.2.0.2"]), Speaker()
    listener = Listener(top, block, "sis")
    top.msg_connect(speaker, "out", block, "sis")
    top.start()
    for message in garbage():
        speaker.say(message)
    # Still answers a tick that demands an answer.
    before = listener.count()
    speaker.say(pdu(type="tick", now=10 ** 9, lock_step=True))
    assert wait_for(lambda: any(m.get("type") == "tick_done"
                                for m, _ in listener.messages()[before:]))
    top.stop()
    top.wait()


def test_a_modem_alone_only_receives():
    x = hf.modulate(hf.mode("4539-600S"), b"hello")
    top = gr.top_block()
    modem = hf.modem()
    source, sink = blocks.vector_source_c(x.tolist() + [0] * 9600), blocks.vector_sink_c()
    top.connect(source, modem, sink)
    top.run()
    state = modem.state()
    assert state.receptions == 1 and state.rx_mode == "4539-600S" and not state.receiving
    assert state.octets_received == 5 and state.transmissions == 0
    assert len(sink.data()) == (len(x) + 9600) // 96 * 96 and not any(sink.data())


def test_ticker_gives_the_time():
    top = gr.top_block()
    ticker = hf.ticker(interval_ms=5)
    ticks = Listener(top, ticker, "ticks")
    top.start()
    assert wait_for(lambda: ticks.count() >= 20)
    top.stop()
    top.wait()
    times = [m["now"] for m, octets in ticks.messages() if octets == b""]
    assert times == sorted(times) and 50e6 < times[-1] - times[0] < 10e9


def test_forged_soft_bits_hurt_nothing():
    top = gr.top_block()
    link = hf.data_link("1.2.0.1", "4539-600S")
    listener = Listener(top, link, "modem")
    top.start()
    many = 3_000_000
    forged = [pmt.init_f32vector(2, [float("nan")] * 2), pmt.init_u8vector(1, [1]),
              pmt.init_s8vector(2, [1, -1]), pmt.init_u8vector(many, [128] * many),
              pmt.intern("soft"), pmt.from_long(-1)]
    places = [0, 7, 2 ** 64 - 1, "there", -1.0]
    for number, (ratios, place) in enumerate((r, p) for r in forged for p in places):
        now = (1 + number) * 10 ** 9
        post(link, "modem", pdu(type="rx_start", now=now, mode="4539-600S"))
        post(link, "modem", pdu(b"\x90\xeb" + bytes(200), type="rx_octets", now=now + 1,
                                ratios=ratios, ratios_from=place))
        post(link, "modem", pdu(type="rx_end", now=now + 2, reason="eom", air_time=now + 2))
    post(link, "modem", pdu(type="tick", now=10 ** 11, lock_step=False))
    assert wait_for(lambda: listener.count() >= 1)
    stats = link.stats()
    top.stop()
    top.wait()
    assert stats["receptions"] == len(forged) * len(places)
    assert stats["bad_messages"] == stats["segments_summed"] == stats["headers_recovered"] == 0


def test_soft_bits_are_for_the_data_link_alone():
    x = hf.modulate(hf.mode("4539-600S"), bytes(range(100)))
    top = gr.top_block()
    modem = hf.modem(lock_step=False)
    told, shown = Listener(top, modem, "modem"), Listener(top, modem, "status")
    source, sink = blocks.vector_source_c(x.tolist() + [0] * 19200), blocks.null_sink(8)
    top.connect(source, modem, sink)
    top.run()
    told_octets, shown_octets = ([(m, o) for m, o in listener.messages()
                                  if m["type"] == "rx_octets"] for listener in (told, shown))
    assert [o for _, o in told_octets] == [o for _, o in shown_octets] != []
    # Two for each bit, a block ahead of the octets.
    assert sum(len(m["ratios"]) for m, _ in told_octets) >= 2 * 800
    assert all(m["ratios_from"] < 1000 for m, _ in told_octets)
    assert not any("ratios" in m or "ratios_from" in m for m, _ in shown_octets)
