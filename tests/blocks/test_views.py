# SPDX-License-Identifier: GPL-3.0-or-later
"""The port blocks of receivers, and the displays that are fed by it."""
import os
import subprocess
import sys

from gnuradio import blocks, gr, hf
import numpy as np
import pmt
import pytest

KEYS = {"type", "now", "mode", "snr_db", "quality", "freq_offset_hz", "doppler_hz",
        "delay_spread_ms", "coded_ber", "profile", "taps"}


def received(mode: str, octets: int):
    """Metadata and symbols of each block that hf.rx tells of one message on a path with echo."""
    noisy = hf.channel_model("paths=0:0:0,2:-3:0 snr=30").process(np.concatenate(
        [hf.modulate(mode, bytes(octets)), np.zeros(40000, np.complex64)]))
    top = gr.top_block()
    rx, debug = hf.rx(), blocks.message_debug()
    source = blocks.vector_source_c(noisy.tolist())
    top.connect(source, rx)
    top.msg_connect(rx, "blocks", debug, "store")
    top.run()
    messages = [debug.get_message(k) for k in range(debug.num_messages())]
    return [(pmt.to_python(pmt.car(m)), pmt.to_python(pmt.cdr(m))) for m in messages]


def test_each_block_is_told_with_its_symbols_and_taps():
    told = received("4539-2400S", 300)
    assert len(told) >= 2
    for meta, symbols in told:
        assert set(meta) == KEYS and meta["mode"] == "4539-2400S" and meta["type"] == "block"
        assert 100 < len(symbols) <= 2048
        turns = np.angle(symbols) / (2 * np.pi) * 8
        assert abs(turns - np.round(turns)).mean() < 0.1
        assert len(meta["taps"]) == len(meta["profile"])
        # Both paths are there, 2 ms apart: 9.6 half symbols.
        strong = np.flatnonzero(np.abs(meta["taps"]) > 0.3 * np.abs(meta["taps"]).max())
        assert 7 <= strong.max() - strong.min() <= 13
    assert [m["now"] for m, _ in told] == sorted(m["now"] for m, _ in told)


def test_of_many_symbols_some_are_told():
    (meta, symbols), *_ = received("4539-9600VL", 2000)
    assert 1024 < len(symbols) <= 2048
    assert np.abs(symbols).max() < 1.5


def test_without_a_listener_nothing_is_kept():
    """The same transmission costs no message. Received data go out on the other ports."""
    top = gr.top_block()
    rx, debug = hf.rx(), blocks.message_debug()
    samples = np.concatenate([hf.modulate("4539-2400S", b"text"), np.zeros(40000, np.complex64)])
    source = blocks.vector_source_c(samples.tolist())
    top.connect(source, rx)
    top.msg_connect(rx, "pdus", debug, "store")
    top.run()
    assert debug.num_messages() == 1


SCRIPT = """
import os
import sys
from PyQt5 import Qt
from gnuradio import blocks, gr, hf
from gnuradio.hf.gui import views
import numpy as np
application = Qt.QApplication(sys.argv)
top = gr.top_block()
samples = np.concatenate([hf.modulate("4539-2400S", bytes(300)), np.zeros(40000, np.complex64)])
source, rx = blocks.vector_source_c(samples.tolist()), hf.rx()
shown = [views.constellation(), views.impulse_response(), *map(views.history, views.history.KEYS)]
waterfall = views.waterfall()
top.connect(source, rx)
top.connect(source, waterfall)
for view in shown:
    top.msg_connect(rx, "blocks", view, "blocks")
assert all(view.qwidget() for view in [*shown, waterfall])
for view in shown[1:]:
    taken = view.convert.points
    def points(block, taken=taken, view=view):
        view.drawn = taken(block)
        return view.drawn
    view.convert.points = points
top.run()
import time
until = time.monotonic() + 30
while not all(getattr(v, "drawn", []) for v in shown[1:]) and time.monotonic() < until:
    time.sleep(0.05)
assert abs(sum(shown[1].drawn) - 1) < 1e-3
assert all(len(v.drawn) >= 2 for v in shown[2:]), [v.drawn for v in shown]
try:
    views.history("weather")
    raise SystemExit("took a figure that there is not")
except ValueError as error:
    assert "snr_db" in str(error)
# Qt's and GNU Radio's objects, torn down in the order of the interpreter's end, disagree.
sys.stdout.flush()
os._exit(0)
"""


def test_displays_draw_what_they_are_told(tmp_path):
    pytest.importorskip("PyQt5")
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True,
                          timeout=120, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
    assert done.returncode == 0, done.stderr[-2000:]
