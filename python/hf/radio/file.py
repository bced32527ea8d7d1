# SPDX-License-Identifier: GPL-3.0-or-later
"""Replay of a recording instead of a radio."""
import time
from typing import Iterator, List, Optional, Sequence

from gnuradio import blocks, gr
import numpy as np

from .. import hf_python as _hf
from .. import station
from ..recordings import recording
from ..station.edge import Edge

#: Zeros after the recording, s, in which the receiver finishes the last transmission.
_TAIL_S = 5.0
#: Longest piece in real time, s.
_PACE_S = 0.02


class Replay(gr.sync_block):
    """Baseband of a recording, then _TAIL_S of zeros, then the end. paced: in real time."""

    def __init__(self, path: str, subcarrier_hz: float, modem_rate: float, paced: bool) -> None:
        """Raises recording.RecordingError, or ValueError for rates that do not fit."""
        gr.sync_block.__init__(self, "hf_replay", None, [np.complex64])
        source = recording.open_recording(path)
        self._converter = _hf.audio_to_baseband(
            source.rate, 0 if source.complex_samples else subcarrier_hz, modem_rate)
        self._pieces: Iterator[np.ndarray] = source.pieces()
        self._waiting = np.zeros(0, np.complex64)
        self._tail = int(_TAIL_S * modem_rate)
        self._rate = modem_rate if paced else 0.0
        self._begin: Optional[float] = None
        self._ended = False
        self.over = False       #: all samples were delivered
        self.trouble = ""       #: why the recording could not be read to its end

    def work(self, input_items: Sequence[np.ndarray], output_items: Sequence[np.ndarray]) -> int:
        """See gr.sync_block."""
        y = output_items[0]
        while not len(self._waiting) and not self.over:
            self._waiting = self._next()
        if not len(self._waiting):
            return -1
        n = min(len(y), len(self._waiting))
        if self._rate:
            n = min(n, max(1, int(_PACE_S * self._rate)))
            self._wait()
        y[:n] = self._waiting[:n]
        self._waiting = self._waiting[n:]
        return n

    def _wait(self) -> None:
        """Wait until the samples delivered so far would have been received in real time."""
        now = time.monotonic()
        self._begin = now if self._begin is None else self._begin
        time.sleep(max(0.0, self._begin + self.nitems_written(0) / self._rate - now))

    def _next(self) -> np.ndarray:
        try:
            for piece in self._pieces:
                return np.asarray(self._converter.push(piece), np.complex64)
        except recording.RecordingError as error:
            self.trouble = str(error)
        if not self._ended:
            self._ended = True
            return np.concatenate([np.asarray(self._converter.finish(), np.complex64),
                                   np.zeros(self._tail, np.complex64)])
        self.over = True
        return np.zeros(0, np.complex64)


class FileRadio(Edge):
    """A station that receives a recording and never transmits.

    paced: in real time, otherwise as fast as possible.
    """

    lock_step = True

    def __init__(self, tb: gr.top_block, r: station.Radio, modem_rate: float = 9600) -> None:
        """Raises ValueError that names the recording."""
        self.radio = r
        self.source = self.replay = Replay(r.recording, r.subcarrier_hz, modem_rate, r.paced)
        self.sink = blocks.null_sink(gr.sizeof_gr_complex)
        self._reported = False

    @property
    def over(self) -> bool:
        """Whether the recording has ended."""
        return self.replay.over

    def take_lines(self) -> List[str]:
        """Lines for the operator since the last call."""
        if self.replay.trouble and not self._reported:
            self._reported = True
            return [self.replay.trouble]
        return []
