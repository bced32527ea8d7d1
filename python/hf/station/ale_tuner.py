# SPDX-License-Identifier: GPL-3.0-or-later
"""Frequency changes of an ALE station on a transceiver or SDR."""
import queue
import threading
from typing import Any, Callable, List, Optional

from gnuradio import gr
import pmt


class AleTuner(gr.basic_block):
    """Follows the port ale of hf.ale_station: tunes the rig for each PDU of type tune.

    A thread of its own waits for the rig. Of several channels that wait only the last counts.
    """

    def __init__(self, rig: Any, frequencies_hz: List[float], say: Callable[[str], None]) -> None:
        """rig: radio.Rig or another object with its set(). say: called with a line for the
        operator when the rig does not obey, once until it obeys again."""
        gr.basic_block.__init__(self, name="hf_ale_tuner", in_sig=None, out_sig=None)
        self._rig, self._frequencies_hz, self._say = rig, frequencies_hz, say
        self._wanted: "queue.Queue[Optional[int]]" = queue.Queue()
        self._failed = False
        self.message_port_register_in(pmt.intern("ale"))
        self.set_msg_handler(pmt.intern("ale"), self._on_ale)
        self._thread = threading.Thread(target=self._run, name="hf ale tuner", daemon=True)
        self._thread.start()

    def _on_ale(self, message: Any) -> None:
        meta = pmt.car(message)
        kind = pmt.dict_ref(meta, pmt.intern("type"), pmt.PMT_NIL)
        channel = pmt.dict_ref(meta, pmt.intern("ale_channel"), pmt.PMT_NIL)
        if pmt.eq(kind, pmt.intern("tune")) and pmt.is_uint64(channel):
            self._wanted.put(pmt.to_uint64(channel))

    def _run(self) -> None:
        while True:
            channel = self._wanted.get()
            while not self._wanted.empty():
                channel = self._wanted.get()
            if channel is None:
                return
            try:
                self._rig.set(self._frequencies_hz[channel])
                self._failed = False
            except RuntimeError as error:
                if not self._failed:
                    self._say(f"ALE: {error}")
                self._failed = True

    def stop(self) -> bool:
        """Called by GNU Radio at the end."""
        self._wanted.put(None)
        self._thread.join(5)
        return True
