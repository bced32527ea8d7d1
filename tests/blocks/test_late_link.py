# SPDX-License-Identifier: GPL-3.0-or-later
"""A live modem and a data link that does not always answer in time."""
import threading
import time

from gnuradio import blocks, gr, hf
import numpy as np
import pmt

from flow import wait_for


class _Ticks(gr.sync_block):
    """Silence, one tick of the modem for each that is given."""

    def __init__(self):
        gr.sync_block.__init__(self, "ticks", None, [np.complex64])
        self.given, self.over = threading.Semaphore(0), False
        self.set_output_multiple(96)

    def work(self, input_items, output_items):
        while not self.given.acquire(timeout=0.05):
            if self.over:
                return -1
        output_items[0][:96] = 0
        return 96


class _Link(gr.basic_block):
    """Answers each tick, and then gives the next one; once it is late."""

    def __init__(self, ticks, late_at):
        gr.basic_block.__init__(self, "link", None, None)
        self._port, self._ticks, self._late_at = pmt.intern("modem"), ticks, late_at
        self.asked, self.go_on, self.key_at = [], threading.Event(), {}
        self.message_port_register_in(self._port)
        self.message_port_register_out(self._port)
        self.set_msg_handler(self._port, self._on_message)

    def _on_message(self, message):
        meta = pmt.to_python(pmt.car(message))
        if meta["type"] == "pull":
            self._reply("tx_octets", bytes(10), last=True)
        if meta["type"] != "tick":
            return
        self.asked.append(meta["now"])
        if len(self.asked) == self._late_at:
            self._ticks.given.release()
            self.go_on.wait(10)
        else:
            time.sleep(0.002)  # in time, but not before the modem looks
        key = len(self.asked) > self._late_at + 5 and len(self.asked) % 200 == 0
        self._reply("tick_done", mode="4539-4800S" if key else None)
        if key:
            self.key_at[len(self.key_at)] = meta["now"]
        if len(self.asked) != self._late_at:
            self._ticks.given.release()

    def _reply(self, kind, octets=b"", **values):
        meta = pmt.dict_add(pmt.make_dict(), pmt.intern("type"), pmt.intern(kind))
        for key, value in values.items():
            if value is not None:
                value = pmt.intern(value) if isinstance(value, str) else pmt.to_pmt(value)
                meta = pmt.dict_add(meta, pmt.intern(key), value)
        self.message_port_pub(self._port, pmt.cons(
            meta, pmt.init_u8vector(len(octets), list(octets))))


def test_a_data_link_that_was_late_once_answers_in_time_again():
    ticks = _Ticks()
    link, told = _Link(ticks, 10), blocks.message_debug(False)
    modem = hf.modem(lock_step=False, start_delay_s=0)
    tb = gr.top_block()
    tb.connect(ticks, modem, blocks.null_sink(gr.sizeof_gr_complex))
    tb.msg_connect(modem, "modem", link, "modem")
    tb.msg_connect(link, "modem", modem, "modem")
    tb.msg_connect(modem, "status", told, "store")
    tb.start()
    ticks.given.release()
    assert wait_for(lambda: len(link.asked) == 10)
    time.sleep(0.1)  # longer than the modem waits
    link.go_on.set()
    assert wait_for(lambda: len(link.key_at) == 8, 60)
    ticks.over = True
    tb.stop()
    tb.wait()
    status = [pmt.to_python(pmt.car(told.get_message(k))) for k in range(told.num_messages())]
    begun = [m["now"] for m in status if m["type"] == "tx_start"]
    # On a busy machine some answers are late. A slow link is late each time.
    print("asked to key", link.key_at, "keyed", begun)
    assert set(begun) & set(link.key_at.values())
