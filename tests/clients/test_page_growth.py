# SPDX-License-Identifier: GPL-3.0-or-later
"""The state that a station keeps for its page does not grow. bench_day.py measures a day."""
import time
import tracemalloc

from bench_day import Day, bounds, period
from gnuradio.hf.gui import d_pdus, snapshot
from gnuradio.hf.station import watch
import pmt
import pytest


@pytest.fixture(name="small")
def small_bounds(monkeypatch):
    """Bounds that are reached in seconds."""
    for name in ("MAX_SPANS", "MAX_BLOCKS", "MAX_LINES"):
        monkeypatch.setattr(snapshot, name, 20)
    monkeypatch.setattr(d_pdus, "MAX_BINS", 20)
    return {name: most for name, most in bounds().items() if name != "connections"}


def until(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_all_histories_of_a_running_station_end_at_their_bounds(small, tmp_path):
    with period(0.05), Day(str(tmp_path), 100) as day:
        until(lambda: small.items() <= day.look().lengths.items())
        first = day.look()
        until(lambda: day.look().connections >= first.connections + 3)
        last = day.look()
        assert small.items() <= last.lengths.items()
        assert last.states_read > 0 and last.hours > first.hours
        # A connection more or less may be open, with a socket at both ends of each proxy.
        assert last.files <= first.files + 8 and last.threads <= first.threads + 2
        assert last.state_octets < 1.5 * first.state_octets


def message(kind, at, profile=None, **more):
    """A message of the status port of a modem. profile: a vector of floats, as a modem sends."""
    meta = pmt.to_pmt({"type": kind, "now": int(at * 1e9), **more})
    if profile is not None:
        meta = pmt.dict_add(meta, pmt.intern("profile"), profile)
    return pmt.cons(meta, pmt.make_u8vector(0, 0))


def an_hour(status, log, counts, hour):
    """Messages of a busy station: a transmission and a reception each 20 s, a block each second.
    """
    symbols = pmt.cons(pmt.make_dict(), pmt.init_c32vector(256, [1 + 1j] * 256))
    profile = pmt.init_f32vector(64, [0.1] * 64)
    for k in range(180):
        at = 3600.0 * hour + 20 * k
        status._on_status(message("tx_start", at, mode="4539-9600S"))
        status._on_status(message("tx_end", at + 5))
        status._on_status(message("rx_start", at + 6, mode="4539-9600S"))
        for b in range(10):
            status._on_status(message("rx_octets", at + 7 + b, snr_db=20.5 + k / 100, quality=1.0))
            status._on_status(message("channel", at + 7 + b, doppler_hz=1.5 + k / 1000,
                                      delay_spread_ms=2.5, freq_offset_hz=0.1, coded_ber=0.01,
                                      profile=profile))
        status._on_block(symbols)
        status._on_status(message("rx_end", at + 18, reason="eom"))
        text = f"1.2.0.1>1.2.0.2 DATA-ONLY fsn {k} 1023 octets eot 35.0 @4539-600S".encode()
        meta = pmt.make_dict()
        for key, value in (("now", pmt.from_uint64(int(at * 1e9))), ("d_pdus", pmt.from_uint64(1)),
                           ("d_pdu", pmt.intern("sent"))):
            meta = pmt.dict_add(meta, pmt.intern(key), value)
        line = pmt.cons(meta, pmt.init_u8vector(len(text), list(text)))
        log._on_log(line)
        counts._on_log(line)


def test_a_day_of_messages_leaves_no_more_memory_than_a_few_hours():
    status, counts = snapshot.StatusWatch(), d_pdus.DPduCounts()
    log = watch.LogWatch(max_lines=snapshot.MAX_LINES)
    tracemalloc.start()
    try:
        for hour in range(5):  # bins hold 4 hours
            an_hour(status, log, counts, hour)
        before = tracemalloc.get_traced_memory()[0]
        for hour in range(5, 25):
            an_hour(status, log, counts, hour)
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    taken = status.take()
    assert len(taken["spans"]) == snapshot.MAX_SPANS
    assert len(taken["blocks"]) == snapshot.MAX_BLOCKS
    assert len(counts.take()) == d_pdus.MAX_BINS and counts.take()[-1][counts.NEW] == 1
    assert len(log.lines()) == snapshot.MAX_LINES
    assert after - before < 20_000, f"{after - before} octets more"
