# SPDX-License-Identifier: GPL-3.0-or-later
"""Octets to a recording of one transmission."""
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from .. import hf_python as _hf
from ..recordings import sigmf, wav

#: Baseband samples per piece.
PIECE = 1 << 15


#: Called with the share of the work that is done, 0 to 1.
Progress = Callable[[float], object]


class Transmission(NamedTuple):
    """A transmission to be modulated.

    mode: an hf.mode.
    agc_blocks: AGC (TLC) training blocks before the preamble, up to 7 in 4539 modes of 3200 bit/s
    and above, up to 255 in 5069 modes.
    lead_s, tail_s: silence before and after.
    level_db: highest peak, dB of full scale.

    For 5069 modes only:
    superframes: how often the preamble is sent, 1 to 32, None for the mode's own number.
    short_preamble: its short form, with one super-frame only.
    eot: append an end-of-transmission signal.
    """

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
        """The transmission with its silences, in pieces, at the modulator's level and
        sample_rate()."""
        modulator = self._modulator()
        yield from _silence(self.lead_s, modulator.sample_rate)
        while len(piece := modulator.read(PIECE)):
            yield piece
        yield from _silence(self.tail_s, modulator.sample_rate)

    def sample_rate(self) -> int:
        """Rate of the baseband, samples/s, 4 for each symbol. Raises ValueError if the
        transmission cannot be modulated."""
        return round(self._modulator().sample_rate)

    def audio(self, rate: int, subcarrier: float) -> Iterator[np.ndarray]:
        """The transmission as real audio around a subcarrier in Hz, at rate samples/s."""
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


# Both writers make two passes. The first finds level and length, the second writes.

def _watched(t: Transmission, rate: float, turn: int, pieces: Iterator[np.ndarray],
             progress: Progress) -> Iterator[np.ndarray]:
    """Pass pieces through and report progress. rate: samples/s. turn: 0 or 1, the pass."""
    whole = rate * (t.lead_s + _hf.timing(t.mode).duration(len(t.octets)) + t.tail_s)
    count = 0
    for piece in pieces:
        count += len(piece)
        progress((turn + min(count / whole, 1.0)) / 2)
        yield piece


def write_sigmf(base: str, t: Transmission, progress: Progress = lambda _: None) -> None:
    """Write complex baseband at its own rate to base.sigmf-data and base.sigmf-meta."""
    rate = t.sample_rate()
    peak, _ = _measure(_watched(t, rate, 0, t.baseband(), progress))
    gain = 10 ** (t.level_db / 20) / peak
    sigmf.write_sigmf(
        base, rate, (piece * gain for piece in _watched(t, rate, 1, t.baseband(), progress)),
        f"HF data transmission, {t.mode}, {len(t.octets)} octets; complex baseband around "
        "the subcarrier",
        lambda count: _annotation(t, count))


def write_wav(file: BinaryIO, t: Transmission, rate: int = 48000, subcarrier: float = 1800.0,
              progress: Progress = lambda _: None) -> None:
    """Write audio around subcarrier (Hz) as 16-bit mono WAV, for modes of 3 kHz. Raises
    RecordingError if it is too long."""
    peak, count = _measure(_watched(t, rate, 0, t.audio(rate, subcarrier), progress))
    gain = 10 ** (t.level_db / 20) / peak
    wav.write_wav(file, rate, count,
                  (piece * gain for piece in
                   _watched(t, rate, 1, t.audio(rate, subcarrier), progress)))
