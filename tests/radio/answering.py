# SPDX-License-Identifier: GPL-3.0-or-later
"""A modem that answers each reception at once, and the turnaround of its radio.

Turnaround is the time from the end of a reception on the air to the first sample of the answer
there, without the decoder's delay and the key's lead. All times are counts of samples."""
import sys
import threading

from gnuradio import blocks, gr, hf
from gnuradio.hf.radio import probe
import numpy as np
import pmt
from waiting import until

# Of the interpreter, s: the answerer stands for a data link, which waits for no other thread of
# Python; by default that may take 5 ms, and so long a modem waits for the answer to a tick.
sys.setswitchinterval(1e-4)

#: Octets of the question. The answer is the same.
MODE, TEXT = "4539-3200S", b"what time is it?"


class Answerer(gr.basic_block):
    """Replaces a data link: answers each reception, in the tick in which the modem reports its
    end."""

    def __init__(self):
        gr.basic_block.__init__(self, name="hf_answerer", in_sig=None, out_sig=None)
        self._port = pmt.intern("modem")
        self._lock = threading.Lock()
        self._wanted = False
        self._ends = []
        self.message_port_register_in(self._port)
        self.message_port_register_out(self._port)
        self.set_msg_handler(self._port, self._on_message)

    @property
    def ends(self):
        """Of each reception the sample at which it was over on the air, and that up to which the
        modem had received when it told."""
        with self._lock:
            return list(self._ends)

    def _on_message(self, message):
        meta = pmt.to_python(pmt.car(message))
        kind = meta["type"]
        if kind == "rx_end" and meta["reason"] == "eom":
            self._wanted = True
            with self._lock:
                self._ends.append((round(meta["air_time"] * 9600e-9),
                                   round(meta["now"] * 9600e-9)))
        elif kind == "tick":
            self._reply("tick_done", mode=MODE if self._wanted else None)
            self._wanted = False
        elif kind == "pull":
            self._reply("tx_octets", TEXT, last=True)

    def _reply(self, kind, octets=b"", **values):
        meta = pmt.dict_add(pmt.make_dict(), pmt.intern("type"), pmt.intern(kind))
        for key, value in values.items():
            if value is not None:
                value = pmt.intern(value) if isinstance(value, str) else pmt.to_pmt(value)
                meta = pmt.dict_add(meta, pmt.intern(key), value)
        self.message_port_pub(self._port, pmt.cons(
            meta, pmt.init_u8vector(len(octets), list(octets))))


def delay_of(y, x):
    """Samples by which x is found later in y, with a fraction."""
    c = np.abs(np.correlate(y, x, "valid"))
    k = int(np.argmax(c))
    if not 0 < k < len(c) - 1:
        return float(k)
    a, b, d = c[k - 1], c[k], c[k + 1]
    return k + 0.5 * (a - d) / (a - 2 * b + d)


class Asking:
    """A radio that asks, and one that answers; the flowgraph is not running."""

    def __init__(self, tb, asking, answering):
        """Radios as radio.open_radio() gives them."""
        self.signal = np.asarray(hf.modulate(MODE, TEXT))
        self.signal = self.signal * (asking.level / np.max(np.abs(self.signal)))
        self.player, self.answerer = probe.Player(), Answerer()
        self.player.set_max_output_buffer(512)
        self.modem = hf.modem(lock_step=False, level=answering.level, start_delay_s=0)
        self._heard = []
        self._tap = probe.Player(lambda x: self._heard.append(x.copy()))
        tb.connect(asking.source, self.player, asking.sink)
        tb.connect(answering.source, self.modem, answering.sink)
        tb.connect(answering.source, self._tap, blocks.null_sink(gr.sizeof_gr_complex))
        tb.msg_connect(self.modem, "modem", self.answerer, "modem")
        tb.msg_connect(self.answerer, "modem", self.modem, "modem")

    def ask(self):
        """One question. Gives the sample at which it was over at the radio that answers, and
        that up to which this had received when it knew; None if it was not understood."""
        before = len(self.answerer.ends)
        begin = self.player.count + 4800
        self.player.play(begin, self.signal)
        over = begin + len(self.signal) + 3 * 9600
        until(lambda: len(self.answerer.ends) > before or self.player.count > over)
        found = self.answerer.ends[before:]
        return found[0] if found else None

    def heard_itself(self, told):
        """For a radio that hears itself: the sample with which its answer begins."""
        n = told + 9600 + len(self.signal)
        until(lambda: sum(map(len, self._heard)) >= n)
        return told + delay_of(np.concatenate(self._heard)[told:n], self.signal)
