# SPDX-License-Identifier: GPL-3.0-or-later
"""Level of the transmitted samples: hf.tx and hf.modem."""
import random

from gnuradio import blocks, gr, hf
import numpy as np
import pmt
import pytest

from flow import pdu, post, wait_for

#: Modes of STANAG 4539, with 4 samples for each of 2400 symbols/s.
ALL = [str(m) for m in hf.mode.all() if str(m).startswith("4539")]


def transmit(mode, octets, **parameters):
    """Samples that hf.tx makes from one message."""
    return samples_of(hf.tx(mode, gap_ms=0, **parameters), octets)


def samples_of(tx, octets):
    """Samples that a transmitter makes from one message."""
    top, sink = gr.top_block(), blocks.vector_sink_c()
    top.connect(tx, sink)
    top.start()
    post(tx, "pdus", pdu(octets))
    assert wait_for(lambda: any(pmt.to_python(t.key) == "tx_eob" for t in sink.tags()))
    top.stop()
    top.wait()
    return np.array(sink.data(), np.complex64)


def from_modem(**parameters):
    """Samples that a modem makes in 8 s of an exchange without answer."""
    top, sink = gr.top_block(), blocks.vector_sink_c()
    air = hf.air(2, "clear", duration_s=8)
    modem, link = hf.modem(**parameters), hf.data_link("1.2.0.1")
    client = hf.traffic("1.2.0.2", 1000)
    top.connect(air.source(0), modem, air.sink(0))
    top.connect(modem, sink)
    top.connect(air.source(1), air.sink(1))
    for a, b, port in ((modem, link, "modem"), (client, link, "sis")):
        top.msg_connect(a, port, b, port)
        top.msg_connect(b, port, a, port)
    top.run()
    return np.array(sink.data(), np.complex64)


@pytest.mark.parametrize("level", [0.001, 0.8, 10])
def test_samples_are_in_proportion(level):
    plain = transmit("4539-600S", b"hello")
    assert np.array_equal(plain, transmit("4539-600S", b"hello", level=1.6))
    np.testing.assert_allclose(transmit("4539-600S", b"hello", level=level),
                               plain * np.float32(level / 1.6), rtol=1e-6)


@pytest.mark.parametrize("make", [
    lambda: hf.tx("4539-600S"), lambda: hf.tx_chain("4539-600S"), hf.modem, hf.ale_tx,
    lambda: hf.ale_station(["SAM"], 1)])
def test_a_level_set_later_must_be_in_its_range(make):
    block = make()
    block.set_level(0.5)
    for level in (0, 11, float("nan")):
        with pytest.raises(ValueError, match=f"level {level:g}: allowed are 0.001 to 10"):
            block.set_level(level)


def test_a_level_set_later_counts_from_then_on():
    tx = hf.tx("4539-600S", gap_ms=0)
    tx.set_level(0.4)
    plain = transmit("4539-600S", b"hello")
    np.testing.assert_allclose(samples_of(tx, b"hello"), plain / 4, rtol=1e-6)


def test_no_mode_goes_beyond_its_level():
    # A minute of random octets in each mode; some peaks come close to the limit.
    peaks = {m: float(np.max(np.abs(hf.modulate(hf.mode(m), random.Random(1).randbytes(
        60 * hf.mode(m).rate_bps // 8))))) for m in ALL}
    assert max(peaks.values()) <= 1.6, max(peaks, key=peaks.get)
    assert max(peaks.values()) > 1.5


def test_the_modem_has_the_same_level():
    plain, half = from_modem(), from_modem(level=0.8)
    assert 1.2 < np.max(np.abs(plain)) <= 1.6
    np.testing.assert_allclose(half, plain / 2, rtol=1e-6)
    assert np.max(np.abs(half)) <= 0.8


@pytest.mark.parametrize("level", [0, -1, 0.0009, 10.1, float("nan"), float("inf")])
@pytest.mark.parametrize("make", [lambda level: hf.tx("4539-600S", level=level),
                                  lambda level: hf.modem(level=level)])
def test_a_level_that_cannot_be_is_refused(make, level):
    with pytest.raises(ValueError, match="level .*: allowed are 0.001 to 10"):
        make(level)
