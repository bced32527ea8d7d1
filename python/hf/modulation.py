# SPDX-License-Identifier: GPL-3.0-or-later
"""Octets to one transmission, as a recording."""
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from . import hf_python as _hf
from . import recording

#: Baseband samples made at a time.
PIECE = 1 << 15


#: Is told the share of the work that is done.
Progress = Callable[[float], object]


class Transmission(NamedTuple):
    """What is sent. mode: an hf.mode; agc_blocks: AGC (TLC) training blocks ahead of the preamble,
    up to 7 in 4539 modes of 3200 bit/s and above, up to 255 in 5069 modes; lead_s, tail_s: silence
    before and after; level_db: highest peak, dB of full scale. Of 5069 modes: superframes, how
    often the preamble is sent, 1 to 32, the mode's own number if None; short_preamble: its short
    form, with one super-frame only; eot: an end-of-transmission signal after the last block."""

    mode: Any
    octets: bytes
    agc_blocks: int = 0
    lead_s: float = 0.5
    tail_s: float = 0.5
    level_db: float = -3.0
    superframes: Optional[int] = None
    short_preamble: bool = False
    eot: bool = False

    def _modulator(self) -> Any:
        return _hf.modulator(self.mode, self.octets, self.agc_blocks, eot=self.eot,
                             superframes=self.superframes, short_preamble=self.short_preamble)

    def baseband(self) -> Iterator[np.ndarray]:
        """The transmission between its silences, in pieces; its level is the modulator's, at
        sample_rate()."""
        modulator = self._modulator()
        yield from _silence(self.lead_s, modulator.sample_rate)
        while len(piece := modulator.read(PIECE)):
            yield piece
        yield from _silence(self.tail_s, modulator.sample_rate)

    def sample_rate(self) -> int:
        """Of the baseband, samples/s: 4 for each symbol. Raises ValueError for what cannot be
        modulated."""
        return round(self._modulator().sample_rate)

    def audio(self, rate: int, subcarrier: float) -> Iterator[np.ndarray]:
        """The same around a subcarrier in Hz, real, at rate samples/s."""
        converter = _hf.baseband_to_audio(rate, subcarrier)
        for piece in self.baseband():
            yield converter.push(piece)
        yield converter.finish()


def _silence(seconds: float, sample_rate: float) -> Iterator[np.ndarray]:
    left = round(seconds * sample_rate)
    while left:
        count = min(left, PIECE)
        yield np.zeros(count, np.complex64)
        left -= count


def _measure(pieces: Iterator[np.ndarray]) -> Tuple[float, int]:
    """Largest magnitude and number of samples."""
    peak, count = 0.0, 0
    for piece in pieces:
        if len(piece):
            peak = max(peak, float(np.max(np.abs(piece))))
        count += len(piece)
    return peak, count


def _annotation(t: Transmission, count: int) -> List[Dict[str, Any]]:
    rate = t.sample_rate()
    begin = round(t.lead_s * rate)
    return [{
        "core:sample_start": begin,
        "core:sample_count": count - begin - round(t.tail_s * rate),
        "core:freq_lower_edge": -t.mode.bandwidth_hz / 2,
        "core:freq_upper_edge": t.mode.bandwidth_hz / 2,
        "core:label": str(t.mode),
        "core:comment": f"{len(t.octets)} octets, mode {t.mode}",
    }]


# The first pass of both finds the level and the length, the second one writes.

def _watched(t: Transmission, rate: float, turn: int, pieces: Iterator[np.ndarray],
             progress: Progress) -> Iterator[np.ndarray]:
    """Pieces at rate samples/s; turn: 0 or 1 of the two passes."""
    whole = rate * (t.lead_s + _hf.timing(t.mode).duration(len(t.octets)) + t.tail_s)
    count = 0
    for piece in pieces:
        count += len(piece)
        progress((turn + min(count / whole, 1.0)) / 2)
        yield piece


def write_sigmf(base: str, t: Transmission, progress: Progress = lambda _: None) -> None:
    """Complex baseband at its own rate: base.sigmf-data and base.sigmf-meta. progress: told the
    share that is done, 0 to 1."""
    rate = t.sample_rate()
    peak, _ = _measure(_watched(t, rate, 0, t.baseband(), progress))
    gain = 10 ** (t.level_db / 20) / peak
    recording.write_sigmf(
        base, rate, (piece * gain for piece in _watched(t, rate, 1, t.baseband(), progress)),
        f"HF data transmission, {t.mode}, {len(t.octets)} octets; complex baseband around "
        "the subcarrier",
        lambda count: _annotation(t, count))


def write_wav(file: BinaryIO, t: Transmission, rate: int = 48000, subcarrier: float = 1800.0,
              progress: Progress = lambda _: None) -> None:
    """Audio around subcarrier, Hz: 16 bits, mono; for modes of 3 kHz. progress: told the share
    that is done, 0 to 1. Raises RecordingError if it is too long."""
    peak, count = _measure(_watched(t, rate, 0, t.audio(rate, subcarrier), progress))
    gain = 10 ** (t.level_db / 20) / peak
    recording.write_wav(file, rate, count,
                        (piece * gain for piece in
                         _watched(t, rate, 1, t.audio(rate, subcarrier), progress)))
