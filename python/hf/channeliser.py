# SPDX-License-Identifier: GPL-3.0-or-later
"""Many channels out of one wide recording: fast convolution, one transform for all channels."""
from typing import List, Sequence

import numpy as np

#: Length of a block, s; half of it is new each time. Centres fall on multiples of 10 Hz, the rest
#: is turned back sample by sample.
BLOCK_S = 0.1
#: Share of a channel's rate to either side that passes, and where nothing does any more:
#: the modem's signal of 3 kHz at 9600 samples/s fills 0.17.
PASS, STOP = 0.19, 0.33


class Channeliser:
    """Cuts channels out of a complex stream, each as baseband at its own, lower rate.

    The response between PASS and STOP is half a cosine, whose echo in time is far shorter
    than the half block that is thrown away.
    """

    def __init__(self, rate: float, centres_hz: Sequence[float], channel_rate: float = 9600.0
                 ) -> None:
        """rate: of the stream, samples/s, a multiple of 20 and at least twice the channels';
        centres_hz: from the middle of the stream. Raises ValueError that names what does not
        fit."""
        if rate % 20 or rate < 2 * channel_rate:
            raise ValueError(f"{rate:g} samples/s: allowed are multiples of 20 from "
                             f"{2 * channel_rate:g} on")
        for hz in centres_hz:
            if abs(hz) > rate / 2 - STOP * channel_rate:
                raise ValueError(f"channel at {hz:+.0f} Hz: allowed are centres within "
                                 f"{rate / 2 - STOP * channel_rate:.0f} Hz of the middle")
        self.rate, self.channel_rate = rate, channel_rate
        self._size = round(BLOCK_S * rate)
        self._hop = self._size // 2
        self._out = round(BLOCK_S * channel_rate)
        self._bins = [round(hz * BLOCK_S) for hz in centres_hz]
        self._rest_hz = [hz - b / BLOCK_S for hz, b in zip(centres_hz, self._bins)]
        f = np.abs(np.fft.fftfreq(self._out))
        slope = np.clip((f - PASS) / (STOP - PASS), 0, 1)
        self._response = (0.5 + 0.5 * np.cos(np.pi * slope)).astype(np.float32)
        #: Where in the spectrum of a block each bin of a channel lies.
        around = np.fft.fftfreq(self._out, 1 / self._out).astype(int)
        self._places = np.array([(b + around) % self._size for b in self._bins]).reshape(
            len(self._bins), self._out)
        self._held = np.zeros(self._hop, np.complex64)
        self._blocks = 0

    def push(self, x: np.ndarray) -> List[np.ndarray]:
        """Take samples; for each channel what they complete, all equally long."""
        self._held = np.concatenate([self._held, x.astype(np.complex64)])
        made = []
        while len(self._held) >= self._size:
            made.append(self._block(self._held[:self._size]))
            self._held = self._held[self._hop:]
        if not made:
            return [np.zeros(0, np.complex64) for _ in self._bins]
        return list(np.concatenate(made, axis=1))

    def _block(self, x: np.ndarray) -> np.ndarray:
        spectrum = np.fft.fft(x)
        narrow = np.fft.ifft(spectrum[self._places] * self._response, axis=1)
        quarter = self._out // 4
        kept = narrow[:, quarter:quarter + self._out // 2] * (self._out / self._size)
        # A block begins half a block later than the one before, which turns odd bins by half a
        # turn; what lies between the bins goes on turning.
        first = self._blocks * (self._out // 2)
        t = (first + np.arange(self._out // 2)) / self.channel_rate
        for k, (b, hz) in enumerate(zip(self._bins, self._rest_hz)):
            if b % 2 and self._blocks % 2:
                kept[k] = -kept[k]
            if hz:
                kept[k] = kept[k] * np.exp(-2j * np.pi * hz * t)
        self._blocks += 1
        return kept.astype(np.complex64)

    @property
    def delay_s(self) -> float:
        """The output lies so much behind the input: its sample 0 is of this time before it."""
        return BLOCK_S / 4


def grid(rate: float, spacing_hz: float, channel_rate: float = 9600.0) -> List[float]:
    """Centres from one end of a stream to the other, one of them in its middle."""
    most = int((rate / 2 - STOP * channel_rate) // spacing_hz)
    return [k * spacing_hz for k in range(-most, most + 1)]
