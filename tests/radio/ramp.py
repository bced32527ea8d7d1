# SPDX-License-Identifier: GPL-3.0-or-later
"""Effect of a sound cable on each sample: input samples are numbered, so that each hole and each
missing sample shows at the output."""
import time

from gnuradio import gr
import numpy as np

#: Samples after which the numbers repeat; each is one step of 16 bits.
NUMBERS = 32749


class Ramp(gr.sync_block):
    """Between a capture and a playback device: numbers out, one for each sample in."""

    def __init__(self):
        gr.sync_block.__init__(self, "hf_ramp", [np.float32], [np.float32])
        self.count = 0
        self._last = None  # number and place of the last sample that was not zero
        self.holes = []    # (time.monotonic(), zeros, samples missing after them)
        self.delay = 0     # samples, of the last one

    def work(self, input_items, output_items):
        """See gr.sync_block."""
        n = min(len(output_items[0]), 480)
        output_items[0][:n] = (1 + (self.count + np.arange(n)) % NUMBERS) / 32768
        numbers = np.rint(input_items[0][:n] * 32768).astype(int)
        places = np.flatnonzero(numbers > 0)
        if len(places):
            self._look(numbers[places] - 1, self.count + places)
        self.count += n
        return n

    def _look(self, numbers, places):
        if self._last is not None:
            steps = np.diff(numbers, prepend=self._last[0]) % NUMBERS
            widths = np.diff(places, prepend=self._last[1])
            for k in np.flatnonzero((steps != 1) | (widths != 1)):
                self.holes.append((time.monotonic(), int(widths[k]) - 1, int(steps[k]) - 1))
        self._last = int(numbers[-1]), int(places[-1])
        self.delay = int(places[-1] - numbers[-1]) % NUMBERS
