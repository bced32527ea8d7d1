# SPDX-License-Identifier: GPL-3.0-or-later
"""Transmitter, channel and receiver blocks."""
import random

from gnuradio import blocks, gr, hf
import numpy as np
import pmt
import pytest

from flow import Listener, pdu, post, wait_for


@pytest.mark.parametrize("mode", ["4539-75S", "4539-600S", "4539-1200L", "4539-2400V",
                                  "4539-4800N", "4539-3200US", "4539-6400S", "4539-9600M",
                                  "4539-12800N", "grhf-200S"])
@pytest.mark.parametrize("channel", ["clear", "awgn snr=28 offset=30"])
def test_octets_go_through(mode, channel):
    if "snr" in channel and mode == "4539-12800N":
        channel = "awgn snr=40 offset=30"
    top = gr.top_block()
    tx, rx = hf.tx(mode), hf.rx()
    model = hf.channel(channel, signal_power=hf.mode(mode).mean_power)
    top.connect(tx, model, rx)
    pdus, events = Listener(top, rx, "pdus"), Listener(top, rx, "events")
    messages = [random.Random(k).randbytes(n) for k, n in enumerate([1, 100, 333])]
    top.start()
    for message in messages:
        post(tx, "pdus", pdu(message))
    assert wait_for(lambda: pdus.count() == 3 and [
        m["type"] for m, _ in events.messages()].count("rx_end") == 3)
    top.stop()
    top.wait()
    assert [octets for _, octets in pdus.messages()] == messages
    offset = 30 if "offset" in channel else 0
    for meta, octets in pdus.messages():
        assert meta["mode"] == mode and meta["reason"] == "eom"
        assert meta["freq_offset_hz"] == pytest.approx(offset, abs=2)
        duration = hf.timing(hf.mode(mode)).duration(len(octets))
        assert (meta["end_sample"] - meta["start_sample"]) / 9600 == pytest.approx(duration,
                                                                                   abs=0.003)
    assert tx.transmissions() == 3 and rx.receptions() == 3 and tx.dropped() == 0
    kinds = [meta["type"] for meta, _ in events.messages()]
    assert kinds.count("rx_start") == kinds.count("rx_end") == 3
    assert b"".join(o for m, o in events.messages()
                    if m["type"] == "rx_octets") == b"".join(messages)


def test_a_transmission_is_joined_without_its_preamble():
    octets = random.Random(2).randbytes(6000)
    x = hf.modulate("5069-3k-3200S", octets)
    y = hf.channel_model("awgn snr=20", seed=4).process(
        np.concatenate([x[30000:], np.zeros(9600)]).astype(np.complex64))
    got = []
    for join in (False, True):
        top, rx = gr.top_block(), hf.rx(join=join)
        pdus = Listener(top, rx, "pdus")
        top.connect(blocks.vector_source_c(y.tolist()), rx)
        top.run()
        got.append([o for _, o in pdus.messages()])
    # Long blocks last 7.68 s and hold 3072 octets.
    assert got == [[], [octets[3072:]]]


def test_events_say_what_the_channel_was():
    top = gr.top_block()
    tx, rx = hf.tx("4539-2400S"), hf.rx()
    model = hf.channel("paths=0:0:1,2:0:1 snr=20", seed=3)
    top.connect(tx, model, rx)
    pdus, events = Listener(top, rx, "pdus"), Listener(top, rx, "events")
    top.start()
    post(tx, "pdus", pdu(random.Random(1).randbytes(3000)))
    assert wait_for(lambda: pdus.count() == 1)
    top.stop()
    top.wait()
    found = events.messages()
    keys = {"doppler_hz", "delay_spread_ms", "coded_ber", "profile", "quality"}
    assert not keys & set(found[0][0]) and found[0][0]["type"] == "rx_start"
    blocks_ = [m for m, o in found if m["type"] == "rx_octets" and o]
    assert len(blocks_) >= 15
    for m in blocks_:
        assert keys <= set(m) and 0 <= m["coded_ber"] <= 0.5
        assert len(m["profile"]) > 10 and sum(m["profile"]) == pytest.approx(1, abs=1e-3)
    # Two paths of equal power 2 ms apart: two standard deviations are 2 ms.
    assert np.mean([m["delay_spread_ms"] for m in blocks_]) == pytest.approx(2, abs=0.7)
    assert 0.2 < np.mean([m["doppler_hz"] for m in blocks_]) < 3
    (meta, _), = pdus.messages()
    assert (keys - {"profile"}) <= set(meta) and "profile" not in meta


def test_zeros_between_transmissions_if_asked_for():
    top = gr.top_block()
    tx = hf.tx("4539-600S", gap_ms=50, continuous=True)
    sink = blocks.vector_sink_c()
    top.connect(tx, blocks.throttle(gr.sizeof_gr_complex, 200000), sink)
    top.start()
    assert wait_for(lambda: len(sink.data()) > 20000)
    assert not any(sink.data()) and tx.transmissions() == 0
    post(tx, "pdus", pdu(b"hello"))
    assert wait_for(lambda: tx.transmissions() == 1)
    length = len(sink.data())
    assert wait_for(lambda: len(sink.data()) > length + 100000)
    top.stop()
    top.wait()
    assert [pmt.symbol_to_string(t.key) for t in sink.tags()] == ["tx_sob", "tx_eob"]
    begin, end = [t.offset for t in sink.tags()]
    data = np.array(sink.data())
    np.testing.assert_allclose(data[begin:end + 1],
                               hf.modulate(hf.mode("4539-600S"), b"hello"), atol=1e-6)
    assert not data[:begin].any() and not data[end + 1:].any()


def test_a_pdu_chooses_its_mode():
    top = gr.top_block()
    tx, rx = hf.tx("4539-600S", agc_blocks=2), hf.rx()
    top.connect(tx, rx)
    pdus = Listener(top, rx, "pdus")
    top.start()
    modes = ["4539-9600S", "4539-600S", "4539-75S", "4539-3200VS"]
    for mode in modes:
        post(tx, "pdus", pdu(mode.encode(), mode=mode))
    assert wait_for(lambda: pdus.count() == 4)
    top.stop()
    top.wait()
    assert [(m["mode"], o.decode()) for m, o in pdus.messages()] == [(x, x) for x in modes]


def test_a_mode_of_another_bandwidth_is_dropped():
    top = gr.top_block()
    tx, sink = hf.tx("4539-600S"), blocks.vector_sink_c()
    top.connect(tx, sink)
    for mode in ("5069-48k-240000L", "4539-600S"):
        post(tx, "pdus", pdu(b"hello", mode=mode))
    top.start()
    assert wait_for(lambda: tx.transmissions() == 1)
    assert tx.dropped() == 1
    top.stop()
    top.wait()


def test_tags_and_silence():
    top = gr.top_block()
    tx, sink = hf.tx("4539-600S", gap_ms=50), blocks.vector_sink_c()
    top.connect(tx, sink)
    # Before the start: a second PDU that comes when all is silent again has a gap of its own.
    for _ in range(2):
        post(tx, "pdus", pdu(b"hello"))
    top.start()
    length = len(hf.modulate(hf.mode("4539-600S"), b"hello"))
    # Silence before each and after the last one.
    total = 2 * length + 3 * 480
    assert wait_for(lambda: len(sink.data()) == total)
    top.stop()
    top.wait()
    tags = sorted((t.offset, pmt.symbol_to_string(t.key)) for t in sink.tags())
    assert tags == [(480, "tx_sob"), (480 + length - 1, "tx_eob"),
                    (960 + length, "tx_sob"), (960 + 2 * length - 1, "tx_eob")]
    data = np.array(sink.data())
    assert np.array_equal(data[480:480 + length].astype(np.complex64),
                          hf.modulate(hf.mode("4539-600S"), b"hello"))
    assert not data[:480].any() and not data[-480:].any()


def test_too_many_pdus_are_dropped_and_counted():
    top = gr.top_block()
    # Long transmissions, of which the sink takes a little only.
    tx, head, sink = hf.tx("4539-75S"), blocks.head(gr.sizeof_gr_complex, 10), blocks.null_sink(8)
    top.connect(tx, head, sink)
    for k in range(100):
        post(tx, "pdus", pdu(bytes(400)))
    top.start()
    assert wait_for(lambda: tx.dropped() >= 100 - 64 - 2)
    assert tx.dropped() <= 100 - 64
    top.stop()
    top.wait()


@pytest.mark.parametrize("spec", ["clear", "awgn snr=5", "poor snr=20 offset=10 drift=1",
                                  "flutter sweep=3", "paths=0:0:0,1.5:-6:2 gain=-3"])
def test_channel_block_equals_the_model(spec):
    rng = np.random.default_rng(1)
    x = (rng.normal(size=20000) + 1j * rng.normal(size=20000)).astype(np.complex64)

    def block(seed):
        top = gr.top_block()
        source, sink = blocks.vector_source_c(x.tolist()), blocks.vector_sink_c()
        top.connect(source, hf.channel(spec, seed=seed, signal_power=2), sink)
        top.run()
        return np.array(sink.data(), np.complex64)

    model = hf.channel_model(spec, seed=4, signal_power=2).process(x)
    assert np.array_equal(block(4), model)
    if "snr" in spec or "flutter" in spec:
        assert not np.array_equal(block(5), model)


def test_the_air_sets_the_pace_of_a_sender_that_has_none():
    """A message is on the air soon after it was given, not behind all zeros made before."""
    top, air = gr.top_block(), hf.air(2, "clear", duration_s=600)
    tx, rx = hf.tx("4539-600S", continuous=True), hf.rx()
    pdus = Listener(top, rx, "pdus")
    top.connect(tx, air.sink(0))
    top.connect(air.source(1), rx)
    top.connect(blocks.null_source(8), air.sink(1))
    top.connect(air.source(0), blocks.null_sink(8))
    top.start()
    for count in (1, 2, 3):
        given = air.now()
        post(tx, "pdus", pdu(b"hello"))
        assert wait_for(lambda: pdus.count() == count or air.now() > given + 60)
        assert pdus.count() == count
    top.stop()
    top.wait()


def test_the_channel_of_an_air_can_change_while_it_runs():
    top, air = gr.top_block(), hf.air(2, "clear", duration_s=0.5)
    with pytest.raises(ValueError, match="much"):
        air.set_channel("awgn snr=much")
    air.set_channel("gain=-6")
    heard = []
    for k in range(2):
        sink = blocks.vector_sink_c()
        top.connect(blocks.vector_source_c([1 + 0j] * 9600), air.sink(k))
        top.connect(air.source(k), sink)
        heard.append(sink)
    top.run()
    for sink in heard:
        data = np.array(sink.data())
        assert len(data) == 4800
        np.testing.assert_allclose(np.abs(data[2400:]), 10 ** (-6 / 20), rtol=1e-3)


def test_a_channel_set_later_starts_from_its_seed():
    x = np.ones(20000, np.complex64)
    channel = hf.channel("clear", seed=4)
    with pytest.raises(ValueError, match="snr"):
        channel.set_spec("awgn snr=much")
    channel.set_spec("flutter snr=5")
    top, sink = gr.top_block(), blocks.vector_sink_c()
    top.connect(blocks.vector_source_c(x.tolist()), channel, sink)
    top.run()
    np.testing.assert_array_equal(np.array(sink.data(), np.complex64),
                                  hf.channel_model("flutter snr=5", seed=4).process(x))


def test_the_end_of_the_input_ends_a_reception():
    x = hf.modulate(hf.mode("4539-1200S"), bytes(1000))
    top = gr.top_block()
    source, rx = blocks.vector_source_c(x[:len(x) // 2].tolist()), hf.rx()
    top.connect(source, rx)
    top.run()
    assert rx.receptions() == 1
