# SPDX-License-Identifier: GPL-3.0-or-later
"""Between a recording's samples and the modem's: complex baseband at 9600 samples/s.

Everything works in pieces of any size, and remembers what it needs from one to the next.
"""
from fractions import Fraction
from typing import List

import numpy as np
from scipy import signal

#: Samples per second of the engines: four per symbol.
BASEBAND_RATE = 9600
#: Rates at which a whole 3 kHz channel can be represented.
MIN_RATE, MAX_RATE = 8000, 2_000_000

# The pulse ends at 1200 Hz * 1.35 = 1620 Hz from the subcarrier; offsets of 75 Hz are allowed.
_PASS_HZ = 1700.0
# The image of a real signal on 1800 Hz begins at 2 * 1800 - 1620 = 1980 Hz, less the offset.
_STOP_HZ = 1950.0
_RIPPLE_DB = 60.0
# Nothing that measures anything gives larger numbers; their squares still fit a float.
_LARGEST = 1e15


def check_rate(rate: float) -> float:
    """The rate itself; raises ValueError if it is of no use."""
    if not MIN_RATE <= rate <= MAX_RATE:
        raise ValueError(f"sample rate {rate:g}: allowed are {MIN_RATE} to {MAX_RATE} samples/s")
    return rate


def _low_pass(rate: float, pass_hz: float, stop_hz: float) -> np.ndarray:
    """A linear-phase low-pass filter of odd length: its delay is a whole number."""
    taps, beta = signal.kaiserord(_RIPPLE_DB, (stop_hz - pass_hz) / (rate / 2))
    return signal.firwin(taps | 1, (pass_hz + stop_hz) / 2, window=("kaiser", beta), fs=rate)


class Resampler:
    """Polyphase resampling by up/down in pieces; output sample 0 lies at input sample 0."""

    def __init__(self, rate: float, up: int, down: int, pass_hz: float, stop_hz: float) -> None:
        taps = _low_pass(rate * up, pass_hz, stop_hz)
        self._up, self._down = up, down
        self._taps = (taps * up).astype(np.float32)
        self._delay = len(taps) // 2  # in samples at rate * up
        self._buffer = np.zeros(0, np.complex64)
        self._begin = 0  # index of the buffer's first sample
        self._seen = 0
        self._next = 0  # index of the next output sample

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Take input, give all the output that it completes."""
        self._buffer = np.concatenate([self._buffer, samples.astype(np.complex64, copy=False)])
        self._seen += len(samples)
        # Output m needs the input up to position m * down + delay of the up-sampled one.
        end = (self._seen * self._up - 1 - self._delay) // self._down + 1
        return self._take(end)

    def finish(self) -> np.ndarray:
        """The output that still depends on silence after the last sample."""
        end = -(-self._seen * self._up // self._down)
        silence = -(-(self._delay + self._down) // self._up) + 1
        self._buffer = np.concatenate([self._buffer, np.zeros(silence, np.complex64)])
        return self._take(end)

    def _take(self, end: int) -> np.ndarray:
        count = end - self._next
        if count <= 0:
            return np.zeros(0, np.complex64)
        # upfirdn gives every down-th position from the buffer's begin; leading zero taps
        # move that grid onto ours.
        position = self._next * self._down + self._delay - self._begin * self._up
        shift = -position % self._down
        taps = np.concatenate([np.zeros(shift, np.float32), self._taps])
        first = (position + shift) // self._down
        out = signal.upfirdn(taps, self._buffer, self._up, self._down)[first:first + count]
        self._next = end
        # Keep what the next output reaches back to.
        oldest = (end * self._down + self._delay - len(self._taps)) // self._up
        drop = min(oldest - self._begin, len(self._buffer))
        if drop > 0:
            self._buffer = self._buffer[drop:]
            self._begin += drop
        return out.astype(np.complex64, copy=False)


class Mixer:
    """Multiplies by a complex oscillator that runs on from piece to piece."""

    def __init__(self, frequency_hz: float, rate: float) -> None:
        self._step = frequency_hz / rate
        self._at = 0

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Samples moved by the frequency."""
        if self._step == 0:
            return samples.astype(np.complex64, copy=False)
        cycles = (self._at + np.arange(len(samples))) * self._step
        self._at += len(samples)
        return (samples * np.exp(2j * np.pi * (cycles % 1.0))).astype(np.complex64)


class Downconverter:
    """Samples of any rate, real or complex, to baseband at 9600 samples/s.

    rate: samples/s, 8000 to 2 000 000; subcarrier: Hz, what becomes 0 Hz. Samples that are
    not finite, or absurdly large, count as 0. Times are kept: output sample 0 lies at input
    sample 0.
    """

    def __init__(self, rate: float, subcarrier: float) -> None:
        check_rate(rate)
        if not abs(subcarrier) < rate / 2:
            raise ValueError(f"subcarrier {subcarrier:g} Hz: allowed is less than half of "
                             f"{rate:g} samples/s")
        self._mixer = Mixer(-subcarrier, rate)
        self._stages: List[Resampler] = []
        # Fast recordings in two steps: a steep filter is cheap at a low rate only.
        factor = int(rate // 24000)
        if factor > 1:
            self._stages.append(
                Resampler(rate, 1, factor, _PASS_HZ, rate / factor - _STOP_HZ))
            rate /= factor
        ratio = Fraction(BASEBAND_RATE / rate).limit_denominator(20000)
        self._stages.append(
            Resampler(rate, ratio.numerator, ratio.denominator, _PASS_HZ, _STOP_HZ))

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Baseband that these samples complete."""
        samples = np.where(np.abs(samples) < _LARGEST, samples, 0)
        # Real samples hold half of the amplitude of the complex signal at the subcarrier.
        gain = 1 if np.iscomplexobj(samples) else 2
        out = self._mixer.push(samples * gain)
        for stage in self._stages:
            out = stage.push(out)
        return out

    def finish(self) -> np.ndarray:
        """The rest, after the last samples."""
        out = np.zeros(0, np.complex64)
        for stage in self._stages:
            out = np.concatenate([stage.push(out), stage.finish()])
        return out


class Upconverter:
    """Baseband at 9600 samples/s to a real signal on a subcarrier."""

    def __init__(self, rate: int, subcarrier: float) -> None:
        check_rate(rate)
        if not _PASS_HZ - 50 < subcarrier < rate / 2 - _PASS_HZ + 50:
            raise ValueError(
                f"subcarrier {subcarrier:g} Hz: allowed are {_PASS_HZ - 50:g} to "
                f"{rate / 2 - _PASS_HZ + 50:g} Hz at {rate:g} samples/s")
        ratio = Fraction(rate, BASEBAND_RATE)
        # The first image of the pulse begins at 9600 - 1620 Hz; without up-sampling there is
        # none.
        stop_hz = min(BASEBAND_RATE - _PASS_HZ, 0.49 * BASEBAND_RATE * ratio.numerator)
        self._resampler = Resampler(BASEBAND_RATE, ratio.numerator, ratio.denominator, _PASS_HZ,
                                    stop_hz)
        self._mixer = Mixer(subcarrier, rate)

    def push(self, samples: np.ndarray) -> np.ndarray:
        """The real signal that these samples complete."""
        return self._mixer.push(self._resampler.push(samples)).real

    def finish(self) -> np.ndarray:
        """The rest, after the last samples."""
        return self._mixer.push(self._resampler.finish()).real
