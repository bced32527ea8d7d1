# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole band of a wide SDR as a stream with one sample for each tick of its clock."""
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

#: Longest queue of samples, s. When it is full, the device loses samples and reports that.
_WAITING_S = 4.0
_LONGEST_WAIT_S = 0.2


class _Samples(gr.sync_block):
    """Queues a device's samples, with zeros for lost ones."""

    def __init__(self, rate: float, lost: Callable[[int], None]) -> None:
        gr.sync_block.__init__(self, "hf_wide_samples", [np.complex64], None)
        self._timeline, self._lost, self._rate = _hf.rx_timeline(rate), lost, rate
        self._leave_out = 0
        self._waiting: "queue.Queue[np.ndarray]" = queue.Queue()
        self._count = 0  # samples in the queue
        self._lock = threading.Lock()
        self.over = False

    def work(self, input_items: Sequence[np.ndarray], output_items: Sequence[np.ndarray]) -> int:
        """See gr.sync_block."""
        x, done = input_items[0], 0
        with self._lock:
            full = self._count > _WAITING_S * self._rate
        if full and not self.over:  # the device reports samples that nobody reads
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
                # Zeros for a device that was lost. Its clock may have changed.
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
        """The next samples, or None after _LONGEST_WAIT_S."""
        try:
            x = self._waiting.get(timeout=_LONGEST_WAIT_S)
        except queue.Empty:
            return None
        with self._lock:
            self._count -= len(x)
        return x


class WideReceiver:
    """A device with the interface of a recording, as far as hf monitor needs it."""

    complex_samples = True

    def __init__(self, r: station.Radio, say: Callable[[str], None],
                 seconds: Optional[float] = None) -> None:
        """r: of type soapy or uhd, with its sample rate and transmit = false.
        say: called with lines for the operator.
        seconds: duration, None for no limit.
        Raises RuntimeError if the device cannot be opened, ValueError for an unsupported setting.
        """
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
        """Elapsed share of the duration. 0 without a limit."""
        return self._taken / self.rate / self._seconds if self._seconds else 0.0

    def pieces(self) -> Iterator[np.ndarray]:
        """Samples as they arrive, until the time is over or stop() is called."""
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
            self.warnings.append(f"{self.name}: {self._lost} samples were lost and replaced by "
                                 "zeros")

    def stop(self) -> None:
        """End soon. Callable from any thread or signal handler."""
        self._samples.over = True
