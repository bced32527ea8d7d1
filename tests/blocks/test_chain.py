# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages of the waveform chain, against the whole modems."""
import gc
import os
import random
import time

from gnuradio import blocks, gr, hf
import numpy as np
import pmt
import pytest

from flow import Listener, Speaker, pdu, wait_for

#: All of 4539, two of our own robust family, and of 5069 two modes in each bandwidth.
NARROW = [str(m) for m in hf.mode.all() if str(m).startswith("4539")] + ["grhf-150S", "grhf-200S"]


def wideband():
    """Two modes of each bandwidth: the Walsh words, and the densest constellation."""
    chosen = []
    for khz in (3, 6, 9, 12, 15, 18, 21, 24, 30, 36, 42, 48):
        of_band = [m for m in hf.mode.all() if str(m).startswith(f"5069-{khz}k-")
                   and m.interleaver == "S" and m.constraint_length == 7]
        of_band.sort(key=lambda m: m.rate_bps)
        chosen += [str(of_band[0]), str(of_band[-1])]
    return chosen


WIDE = wideband()


def octets_of(mode, blocks_filled=1.5):
    """A message of so many interleaver blocks, but no more than 3000 octets."""
    bits = hf.waveform.sizes(mode)["input_bits"]
    return random.Random(mode).randbytes(min(3000, max(8, int(bits * blocks_filled / 8))))


def sent(octets, sender, count):
    """The first count samples that a sender makes of a message."""
    top, speaker, sink = gr.top_block(), Speaker(), blocks.vector_sink_c()
    top.msg_connect(speaker, "out", sender, "pdus")
    top.connect(sender, sink)
    top.start()
    speaker.say(pdu(octets))
    assert wait_for(lambda: len(sink.data()) >= count)
    top.stop()
    top.wait()
    return np.array(sink.data()[:count], np.complex64)


def samples(mode, octets, gap_ms):
    rate = 4 * hf.waveform.sizes(mode)["symbol_rate"]
    return len(hf.modulate(mode, octets)) + 2 * round(gap_ms * 1e-3 * rate)


@pytest.mark.parametrize("mode", NARROW + WIDE)
def test_the_transmit_chain_equals_the_modulator(mode):
    octets = octets_of(mode)
    count = samples(mode, octets, 10)
    chain = sent(octets, hf.tx_chain(mode, gap_ms=10), count)
    np.testing.assert_array_equal(chain, sent(octets, hf.tx(mode, gap_ms=10), count))
    assert np.abs(chain).max() > 0.5


@pytest.mark.parametrize("mode, agc_blocks", [("4539-9600S", 3), ("5069-12k-6400S", 20)])
def test_agc_blocks_are_sent(mode, agc_blocks):
    expected = hf.modulate(mode, b"x", agc_blocks=agc_blocks)
    assert len(expected) > len(hf.modulate(mode, b"x"))
    np.testing.assert_array_equal(
        sent(b"x", hf.tx_chain(mode, agc_blocks=agc_blocks, gap_ms=0), len(expected)), expected)


def test_reinserted_preambles_stand_where_the_modulator_has_them():
    mode = "4539-9600US"
    octets = random.Random(1).randbytes(12 * 1024)  # more than one cycle of 72 frames
    count = samples(mode, octets, 0)
    np.testing.assert_array_equal(sent(octets, hf.tx_chain(mode, gap_ms=0), count),
                                  hf.modulate(mode, octets))


def test_the_level_of_the_transmit_chain_is_that_of_the_modulator():
    mode, octets = "4539-9600S", octets_of("4539-9600S")
    count = samples(mode, octets, 10)
    expected = sent(octets, hf.tx(mode, gap_ms=10, level=0.9), count)
    assert 0.5 < np.abs(expected).max() <= 0.9
    np.testing.assert_array_equal(sent(octets, hf.tx_chain(mode, gap_ms=10, level=0.9), count),
                                  expected)
    later = hf.tx_chain(mode, gap_ms=10)
    later.set_level(0.9)
    np.testing.assert_array_equal(sent(octets, later, count), expected)


def test_a_continuous_chain_makes_zeros_around_whole_transmissions():
    mode, octets = "4539-4800S", octets_of("4539-4800S")
    top, speaker, sink = gr.top_block(), Speaker(), blocks.vector_sink_c()
    chain = hf.tx_chain(mode, gap_ms=0, continuous=True)
    expected = hf.modulate(mode, octets)
    top.msg_connect(speaker, "out", chain, "pdus")
    top.connect(chain, blocks.throttle(gr.sizeof_gr_complex, 96000), sink)
    top.start()
    assert wait_for(lambda: len(sink.data()) > 0)
    speaker.say(pdu(octets))
    assert wait_for(lambda: any(str(t.key) == "tx_eob" for t in sink.tags()))
    top.stop()
    top.wait()
    got = np.array(sink.data(), np.complex64)
    first = np.flatnonzero(got)[0] - np.flatnonzero(expected)[0]
    np.testing.assert_array_equal(got[first:first + len(expected)], expected)
    assert not got[:first].any() and not got[first + len(expected):].any()


def received(samples_, *stages):
    """PDUs of a receiver for an array of samples; a second of silence follows."""
    top = gr.top_block()
    pdus = Listener(top, stages[-1], "pdus")
    top.connect(blocks.vector_source_c(samples_.tolist()), *stages)
    top.run()
    assert wait_for(lambda: pdus.count() > 0, 5)
    return pdus.messages()


def air(mode, octets):
    rate = int(4 * hf.waveform.sizes(mode)["symbol_rate"])
    silence = np.zeros(rate // 2, np.complex64)
    return np.concatenate([silence, hf.modulate(mode, octets), silence])


@pytest.mark.parametrize("mode", NARROW + WIDE)
def test_the_receive_chain_equals_the_receiver(mode):
    octets = octets_of(mode, 2.5)
    x = air(mode, octets)
    ((meta, got),) = received(x, hf.rx_chain(mode))
    whole = hf.rx(effort=0, bandwidth=hf.mode(mode).bandwidth_hz // 1000, join=False,
                  zero_interleaver=hf.mode(mode).interleaver == "Z")
    ((of_rx, expected),) = received(x, whole)
    assert got == expected == octets
    assert meta["mode"] == of_rx["mode"] == mode and meta["reason"] == "eom"
    assert meta["quality"] > 0.5 and abs(meta["freq_offset_hz"]) < 2


@pytest.mark.parametrize("mode", ["4539-75S", "4539-600S", "4539-12800N", "5069-12k-12800S"])
@pytest.mark.parametrize("silence", [0, 1, 30])
def test_a_transmission_that_begins_with_the_recording(mode, silence):
    octets = octets_of(mode, 2)
    x = np.concatenate([np.zeros(silence), hf.modulate(mode, octets), np.zeros(20_000)])
    ((_, got),) = received(x.astype(np.complex64), hf.rx_chain(mode))
    assert got == octets


def test_transmissions_follow_each_other():
    mode = "4539-1200S"
    messages = [random.Random(k).randbytes(n) for k, n in enumerate([40, 1, 300])]
    got = received(np.concatenate([air(mode, m) for m in messages]), hf.rx_chain(mode))
    assert [o for _, o in got] == messages
    assert [m["reason"] for m, _ in got] == ["eom"] * 3


def test_a_transmission_of_another_mode_is_none_of_ours():
    top, chain = gr.top_block(), hf.rx_chain("4539-600S")
    finder, probe = hf.preamble_finder("4539-600S"), blocks.tag_debug(8, "", "hf_start")
    probe.set_display(False)
    probe.set_save_all(True)
    pdus = Listener(top, chain, "pdus")
    source = blocks.vector_source_c(air("4539-1200S", b"hello").tolist())
    top.connect(source, chain)
    top.connect(source, finder, probe)
    top.run()
    (tag,) = probe.current_tags()
    assert pmt.to_python(tag.value)["mode"] == "4539-1200S" and finder.found() == 1
    assert pdus.count() == 0


def test_a_transmission_cut_off_is_delivered_as_lost():
    mode, octets = "4539-600S", random.Random(3).randbytes(400)
    x = air(mode, octets)
    ((meta, got),) = received(x[:len(x) // 2], hf.rx_chain(mode))
    assert meta["reason"] == "lost" and len(got) > 50 and octets.startswith(got[:-8])


@pytest.mark.parametrize("make, item, right", [
    (hf.fec_encoder, 1, "input_bits"), (hf.block_interleaver, 1, "coded_bits"),
    (hf.symbol_mapper, 1, "coded_bits"), (hf.frame_builder, 8, "data_symbols"),
    (hf.block_deinterleaver, 4, "coded_bits"), (hf.fec_decoder, 4, "coded_bits")])
def test_a_wrong_length_ends_the_flowgraph_and_is_named(make, item, right, capfd):
    top = gr.top_block()
    source = blocks.null_source(item)
    tagger = blocks.stream_to_tagged_stream(item, 1, 100, "packet_len")
    block = make("4539-600S")
    top.connect(source, tagger, block, blocks.null_sink(
        {hf.fec_encoder: 1, hf.block_interleaver: 1, hf.symbol_mapper: 8, hf.frame_builder: 8,
         hf.block_deinterleaver: 4, hf.fec_decoder: 1}[make]))
    begin = time.monotonic()
    top.start()
    top.wait()
    assert time.monotonic() - begin < 20
    said = capfd.readouterr()
    expected = hf.waveform.sizes("4539-600S")[right]
    assert f"packet_len = 100: a block of 4539-600S has {expected} items" in said.out + said.err


def test_garbage_is_dropped_and_counted():
    top, speaker = gr.top_block(), Speaker()
    framer = hf.message_framer("4539-600S")
    top.msg_connect(speaker, "out", framer, "pdus")
    top.connect(framer, blocks.null_sink(1))
    top.start()
    speaker.say(pmt.PMT_NIL)
    speaker.say(pdu(b"x", mode="4539-1200S"))
    assert wait_for(lambda: framer.dropped() == 2)
    top.stop()
    top.wait()


def test_start_tags_that_nobody_made_are_ignored():
    x = air("4539-600S", b"hello")
    nonsense = [pmt.PMT_T, pmt.make_dict(), pmt.dict_add(pmt.make_dict(), pmt.intern("mode"),
                                                         pmt.intern("4539-600S"))]
    tags = [gr.tag_utils.python_to_tag((1000 * k, pmt.intern("hf_start"), v, pmt.PMT_F))
            for k, v in enumerate(nonsense)]
    top, mode = gr.top_block(), "4539-600S"
    finder, equaliser, demapper = hf.preamble_finder(mode), hf.equaliser(mode), \
        hf.soft_demapper(mode)
    parser = hf.message_parser(mode)
    pdus = Listener(top, parser, "pdus")
    top.connect(blocks.vector_source_c(x.tolist(), False, 1, tags), finder, equaliser, demapper,
                hf.block_deinterleaver(mode), hf.fec_decoder(mode), parser)
    top.connect((equaliser, 1), (demapper, 1))
    top.run()
    assert wait_for(lambda: pdus.count() == 1) and pdus.messages()[0][1] == b"hello"


def buffers():
    """Buffers of streams that this process holds: GNU Radio makes them of shared memory."""
    with open("/proc/sysvipc/shm", encoding="ascii") as table:
        lines = table.read().splitlines()
    creator = lines[0].split().index("cpid")
    return sum(int(line.split()[creator]) == os.getpid() for line in lines[1:])


def test_chains_that_are_gone_hold_no_buffers():
    def run(chain, speaker):
        top = gr.top_block()
        if isinstance(chain, hf.tx_chain):
            top.msg_connect(speaker, "out", chain, "pdus")
            top.connect(chain, blocks.null_sink(8))
        else:
            top.connect(blocks.vector_source_c([0] * 9600), chain)
        top.start()
        during.append(buffers())
        top.stop()
        top.wait()

    during, before = [], buffers()
    for make in (hf.tx_chain, hf.rx_chain):
        for _ in range(3):
            run(make("4539-600S"), Speaker())
    gc.collect()
    if max(during) == before:
        pytest.skip("GNU Radio makes its buffers of something else here")
    assert buffers() <= before + 2
