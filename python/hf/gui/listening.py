# SPDX-License-Identifier: GPL-3.0-or-later
"""What a station's receiver hears, as a stream for browsers: PCM of 16 bits in an endless WAV."""
from collections import deque
import math
import struct
import threading
from typing import Any, Deque, List

from gnuradio import analog, blocks, gr
import numpy as np

#: Listeners of a station at a time.
MAX_LISTENERS = 4
#: Length of a piece, and what is kept for a browser that reads too slowly, s.
PIECE_S, MAX_KEPT_S = 0.1, 2.0
#: Highest sample rate that every browser plays, samples/s: channels up to 15 kHz.
MAX_RATE = 48000.0
#: Where the middle of the channel is heard, as a share of the sample rate: at 1800 Hz in 3 kHz, as
#: in the audio of a radio.
MIDDLE = 1800 / 9600
#: Magnitude to which the gain is adjusted, of full scale, and its speeds, per sample: about 10 ms
#: against loud signals and a second afterwards, as the AGC of a receiver.
LEVEL, ATTACK, DECAY = 0.2, 1e-2, 1e-4

Pieces = Deque[bytes]


class Listening(gr.sync_block):
    """Copies a real signal to those who listen."""

    def __init__(self, tb: gr.top_block, source: Any, sample_rate: float) -> None:
        """source: block with complex baseband at sample_rate, at most MAX_RATE."""
        gr.sync_block.__init__(self, name="hf_listening", in_sig=[np.float32], out_sig=None)
        self.sample_rate = int(sample_rate)
        self.set_output_multiple(round(PIECE_S * sample_rate))
        self._lock = threading.Lock()
        self._listeners: List[Pieces] = []
        tb.connect(source, blocks.rotator_cc(2 * math.pi * MIDDLE), blocks.complex_to_real(),
                   analog.agc2_ff(ATTACK, DECAY, LEVEL), self)

    def work(self, input_items: Any, output_items: Any) -> int:
        """Give the samples to all listeners."""
        with self._lock:
            if self._listeners:
                limited = np.clip(input_items[0], -1, 1)
                piece = (32767 * limited).astype("<i2").tobytes()
                for pieces in self._listeners:
                    pieces.append(piece)
        return len(input_items[0])

    def begin(self) -> "Pieces | None":
        """Listen: pieces arrive in a queue that drops the oldest. None: too many listen."""
        with self._lock:
            if len(self._listeners) >= MAX_LISTENERS:
                return None
            pieces: Pieces = deque(maxlen=round(MAX_KEPT_S / PIECE_S))
            self._listeners.append(pieces)
            return pieces

    def end(self, pieces: Pieces) -> None:
        """Listen no longer."""
        with self._lock:
            self._listeners = [p for p in self._listeners if p is not pieces]

    def header(self) -> bytes:
        """The start of a WAV file of unknown length."""
        unknown = 0xFFFFFFFF
        return struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", unknown, b"WAVE", b"fmt ", 16, 1, 1,
                           self.sample_rate, 2 * self.sample_rate, 2, 16, b"data", unknown)
