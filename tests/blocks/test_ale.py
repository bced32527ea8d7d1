# SPDX-License-Identifier: GPL-3.0-or-later
"""Transmitter and receiver of 2G ALE in a flowgraph."""
from gnuradio import gr, hf
import pytest

from flow import Listener, pdu, post, wait_for

FRAMES = ['TO JOE LQA wanted AMD "HELLO \\"JOE\\"" TIS SAM'.replace("\\", ""), "TWAS SAM",
          "TO SAM TO ANNIE LQA 12 dB 3 bit errors 2 ms TWAS JOE"]


def test_frames_go_through():
    top = gr.top_block()
    tx, rx = hf.ale_tx(channels=2, gap_ms=1500), hf.ale_rx()
    top.connect(tx, hf.channel("awgn snr=3 offset=-60"), rx)
    frames, words = Listener(top, rx, "frames"), Listener(top, rx, "words")
    top.start()
    for text in FRAMES:
        post(tx, "frames", pdu(text.encode()))
    post(tx, "frames", pdu(b"TO JOE"))
    assert wait_for(lambda: frames.count() == 3)
    top.stop()
    top.wait()
    found = frames.messages()
    assert [octets.decode() for _, octets in found] == FRAMES
    assert [meta["type"] for meta, _ in found] == ["call", "sound", "close"]
    for meta, _ in found:
        assert meta["snr_db"] == pytest.approx(3, abs=1.5)
        assert meta["freq_offset_hz"] == pytest.approx(-60, abs=5)
    begin, end = found[1][0]["start_sample"], found[1][0]["end_sample"]
    assert (end - begin) / 9600 == pytest.approx(2 * 0.392, abs=0.01)
    texts = [octets.decode() for _, octets in words.messages()]
    assert texts[:3] == ["TO:JOE"] * 3 and "CMD:HEL" in texts
    assert all(0.5 < meta["quality"] <= 1 for meta, _ in words.messages())
    assert tx.dropped() == 1 and rx.frames() == 3


@pytest.mark.parametrize("wrong", [{"channels": 101}, {"sounds": 0}, {"gap_ms": -1},
                                   {"level": 0}])
def test_wrong_parameters(wrong):
    name, = wrong
    with pytest.raises(ValueError, match=name):
        hf.ale_tx(**wrong)
