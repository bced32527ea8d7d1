# SPDX-License-Identifier: GPL-3.0-or-later
"""A wide SDR heard as a whole: its samples in order, one for each tick of its clock."""
import queue
import threading
import time
from typing import Any, Callable, Iterator, List, Optional, Sequence

from gnuradio import gr
import numpy as np
import pmt

from .. import hf_python as _hf
from .. import station
from .sdr import SdrEvents, open_device

#: What waits for whoever takes the samples, s; then the device loses some, and says so.
_WAITING_S = 4.0
_LONGEST_WAIT_S = 0.2


class _Samples(gr.sync_block):
    """Hands on what a device gives, with zeros for what it has lost."""

    def __init__(self, rate: float, lost: Callable[[int], None]) -> None:
        gr.sync_block.__init__(self, "hf_wide_samples", [np.complex64], None)
        self._timeline, self._lost, self._rate = _hf.rx_timeline(rate), lost, rate
        self._leave_out = 0
        self._waiting: "queue.Queue[np.ndarray]" = queue.Queue()
        self._count = 0  # samples that wait
        self._lock = threading.Lock()
        self.over = False

    def work(self, input_items: Sequence[np.ndarray], output_items: Sequence[np.ndarray]) -> int:
        """See gr.sync_block."""
        x, done = input_items[0], 0
        with self._lock:
            full = self._count > _WAITING_S * self._rate
        if full and not self.over:  # the device notes what is not taken from it
            time.sleep(0.01)
            return 0
        begin = self.nitems_read(0)
        for tag in sorted(self.get_tags_in_window(0, 0, len(x)), key=lambda t: t.offset):
            at = tag.offset - begin
            self._take(x[done:at])
            done = at
            if pmt.eq(tag.key, pmt.intern("rx_time")):
                when = pmt.to_python(tag.value)
                missing, self._leave_out = self._timeline.at(int(when[0]), float(when[1]))
                if missing:
                    self._lost(missing)
                    self._put(np.zeros(missing, np.complex64))
            elif pmt.eq(tag.key, pmt.intern("erased")):
                # Zeros that stand for a device that was lost: its clock may be another then.
                self._timeline.forget_time()
        self._take(x[done:])
        return len(x)

    def _take(self, x: np.ndarray) -> None:
        skip = min(self._leave_out, len(x))
        self._leave_out -= skip
        if len(x) > skip:
            self._put(x[skip:].copy())

    def _put(self, x: np.ndarray) -> None:
        self._timeline.counted(len(x))
        with self._lock:
            self._count += len(x)
        self._waiting.put(x)

    def get(self) -> Optional[np.ndarray]:
        """The next ones; None if none came within some time."""
        try:
            x = self._waiting.get(timeout=_LONGEST_WAIT_S)
        except queue.Empty:
            return None
        with self._lock:
            self._count -= len(x)
        return x


class WideReceiver:
    """A device to be read as a recording is: pieces(), rate and what else hf monitor needs."""

    complex_samples = True

    def __init__(self, r: station.Radio, say: Callable[[str], None],
                 seconds: Optional[float] = None) -> None:
        """r: of type soapy or uhd, with its sample rate, transmit = false; say: takes lines for
        the operator; seconds: to the end, None: none. Raises RuntimeError if the device cannot
        be opened, ValueError for what it does not have."""
        self.rate = r.sdr.sample_rate
        self.name, self.warnings = r.sdr.args, []  # type: str, List[str]
        self._say, self._seconds = say, seconds
        self._taken, self._lost = 0, 0
        device: Any = open_device(r, self.rate)[0]
        self._samples = _Samples(self.rate, self._lose)
        self._tb = gr.top_block("hf wide")
        self._tb.connect(device, self._samples)
        self._events = SdrEvents(self.rate, say)
        self._tb.msg_connect(device, "events", self._events, "events")

    def _lose(self, samples: int) -> None:
        self._lost += samples
        self._say(f"{samples} received samples were lost ({1e3 * samples / self.rate:.1f} ms)")

    def share(self) -> float:
        """Of the time that was asked for; 0 if none was."""
        return self._taken / self.rate / self._seconds if self._seconds else 0.0

    def pieces(self) -> Iterator[np.ndarray]:
        """Samples as they come, until the time is over or stop() is called."""
        most = None if self._seconds is None else round(self._seconds * self.rate)
        self._tb.start()
        try:
            while not self._samples.over and (most is None or self._taken < most):
                x = self._samples.get()
                if x is not None:
                    x = x if most is None else x[:most - self._taken]
                    self._taken += len(x)
                    yield x
        finally:
            self._samples.over = True
            self._tb.stop()
            self._tb.wait()
        if self._lost:
            self.warnings.append(f"{self.name}: {self._lost} samples were lost; zeros stood for "
                                 "them")

    def stop(self) -> None:
        """End soon; from any thread or a signal's handler."""
        self._samples.over = True
