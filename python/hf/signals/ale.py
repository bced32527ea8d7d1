# SPDX-License-Identifier: GPL-3.0-or-later
"""2G ALE (MIL-STD-188-141 Appendix A) in recordings: frames read, and frames to write."""
from dataclasses import dataclass
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, Tuple

import numpy as np

from .. import hf_python as _hf
from ..options import option
from ..recordings import recording, wav

#: Silence fed after the end of a recording, s: three words, so that its last frame ends.
FLUSH_S = 1.5

#: A frame or a word, see hf.ale_receiver.
Event = Dict[str, Any]


#: Decimal places of the figures of an event.
DIGITS = {"start_s": 3, "end_s": 3, "snr_db": 1, "freq_offset_hz": 1, "bit_errors": 1, "score": 2}


def rounded(event: Event) -> Event:
    """The event with figures as far as they mean something, for JSON."""
    return {key: round(value, DIGITS[key]) if key in DIGITS else value
            for key, value in event.items()}


def decode(source: recording.Recording, subcarrier: float,
           progress: Callable[[float], object] = lambda _: None) -> Iterator[Event]:
    """Words and frames of a recording, in order of their ends.

    subcarrier: middle of the 3 kHz channel in the recording, Hz: 1800 for audio.
    progress: called at times with the share of the recording that was read, 0 to 1.

    Raises RecordingError, and ValueError for an impossible rate or subcarrier.
    """
    converter = _hf.audio_to_baseband(source.rate, subcarrier)
    receiver = _hf.ale_receiver()
    for piece in source.pieces():
        yield from receiver.push(converter.push(piece))
        progress(source.share())
    yield from receiver.push(converter.finish())
    yield from receiver.push(np.zeros(round(FLUSH_S * _hf.BASEBAND_RATE), np.complex64))
    yield from receiver.finish()


def address_list(text: str) -> Tuple[str, ...]:
    """Addresses separated by commas."""
    return tuple(part.strip().upper() for part in text.split(",") if part.strip())


@dataclass(frozen=True)
class Frame:
    """A frame to send."""

    own: str = option("", "Own address: 1 to 15 letters and digits.", flag="--from",
                      metavar="ADDRESS", required=True)
    to: Tuple[str, ...] = option((), "Called address, or several, separated by commas: a group. "
                                     "@?@ calls all. Without it the frame is a sound.",
                                 metavar="ADDRESS,...", parse=address_list)
    channels: int = option(0, "Number of channels that the called station scans: the scanning "
                              "call has two words for each.", least=0, most=100)
    text: str = option("", "Text message (AMD), up to 90 characters.", flag="--amd",
                       metavar="TEXT")
    report: bool = option(False, "Ask for a link quality report (LQA).", flag="--lqa")
    quick_id: bool = option(False, "Send the own address before the message, too.")
    twas: bool = option(False, "Conclude with TWAS instead of TIS: no answer is wanted, or the "
                               "link ends.")
    sounds: int = option(2, "How often a sound repeats the address.", least=1, most=1000)

    def words(self) -> List[str]:
        """The words of the frame. Raises ValueError."""
        own = self.own.upper()
        return _hf.ale_words(own, list(self.to), self.channels, own if self.quick_id else "",
                             self.report, self.text, not self.twas, self.sounds)


def write_wav(file: BinaryIO, words: List[str], rate: int = 48000, level_db: float = -3.0,
              lead_s: float = 0.5, tail_s: float = 0.5) -> None:
    """Write words as audio: 16-bit mono WAV.

    rate: samples/s, at least 5100. level_db: peak, dB of full scale. lead_s, tail_s: silence
    before and after.

    Raises RecordingError if it is too long, ValueError.
    """
    audio = 10 ** (level_db / 20) * _hf.ale_modulate(words, rate, 0).real
    parts = [np.zeros(round(lead_s * rate)), audio, np.zeros(round(tail_s * rate))]
    wav.write_wav(file, rate, sum(map(len, parts)), parts)
