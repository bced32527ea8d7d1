# SPDX-License-Identifier: GPL-3.0-or-later
"""Several recordings of the same transmissions, from different places, decoded together."""
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np

from .. import hf_python as _hf
from ..recordings import recording
from . import demodulation

#: Fewest and most recordings.
LEAST, MOST = 2, 6
#: Largest difference between the starts of two recordings, s, as in combining_receiver.
MAX_DELAY_S = 3.0


@dataclass
class Combined:
    """What recordings had in common.

    messages: as of combining_receiver, in order of time.
    seconds: duration of each recording.
    heard: number of transmissions that each recording has by itself.
    """

    messages: List[Dict[str, Any]] = field(default_factory=list)
    seconds: List[float] = field(default_factory=list)
    heard: List[int] = field(default_factory=list)

    @property
    def shared(self) -> List[Dict[str, Any]]:
        """Messages that at least two recordings have."""
        return [m for m in self.messages if len(m["parts"]) > 1]


def check_count(names: Sequence[str]) -> None:
    """Raise ValueError unless this many recordings can be combined."""
    if not LEAST <= len(names) <= MOST:
        those = f" ({', '.join(names)})" if names else ""
        raise ValueError(f"{len(names)} recording{'s' if len(names) != 1 else ''}{those}: "
                         f"allowed are {LEAST} to {MOST}")


def combine(recordings: Sequence[np.ndarray], bandwidth: int = 3, effort: int = 1,
            zero_interleaver: bool = False, join: bool = True) -> List[Dict[str, Any]]:
    """Decode the transmissions that 2 to 6 recordings have in common, from the soft bits of all.

    recordings: complex baseband samples, 3200/s for each kHz of bandwidth. Each has its own
    noise and fading. They start at most 3 s apart, and their clocks differ by at most 100 ppm.
    The other options are those of hf.receiver. Returns what hf.combining_receiver.combine()
    returns. Raises ValueError for other numbers of recordings.
    """
    check_count([f"array {k}" for k in range(len(recordings))])
    options = {"bandwidth": bandwidth, "effort": effort, "zero_interleaver": zero_interleaver,
               "join": join}
    receivers = _hf.combining_receiver(len(recordings), **options)
    end = demodulation.silence(bandwidth)
    for reading in range(2):
        if reading and not receivers.again():
            break
        for number, samples in enumerate(recordings):
            receivers.push(number, samples)
            receivers.push(number, end)
    messages: List[Dict[str, Any]] = receivers.combine()
    return messages


def demodulate(opened: Callable[[], Sequence[recording.Recording]],
               subcarrier: Optional[float] = None, bandwidth: int = 3,
               progress: Callable[[float], object] = lambda _: None,
               **options: Any) -> Combined:
    """The same for recordings that are files.

    opened: opens all of them. It is called again for a second reading, in which each receiver
    looks for the transmissions that only others have found.
    subcarrier: centre of the signal in all of them, Hz; None: the usual one of each.
    bandwidth: kHz. progress: called at times with the share of the first reading done, 0 to 1.
    options: zero_interleaver, effort and join, as in demodulation.demodulate().

    Raises RecordingError, and ValueError for an impossible bandwidth, rate or subcarrier.
    """
    receivers: Any = None
    for reading in range(2):
        sources = opened()
        if receivers is None:
            receivers = _hf.combining_receiver(len(sources), bandwidth=bandwidth, **options)
        elif not receivers.again():
            break
        basebands = [_baseband(source, bandwidth, subcarrier) for source in sources]
        for pieces in zip_longest(*(b.pieces() for b in basebands)):
            for number, piece in enumerate(pieces):
                if piece is not None:
                    receivers.push(number, *piece)
            if reading == 0:
                progress(sum(source.share() for source in sources) / len(sources))
        for number in range(len(sources)):
            receivers.push(number, demodulation.silence(bandwidth))
    return Combined(receivers.combine(), [b.seconds for b in basebands],
                    [receivers.heard(number) for number in range(len(basebands))])


def _baseband(source: recording.Recording, bandwidth: int, subcarrier: Optional[float]
              ) -> demodulation.Baseband:
    try:
        return demodulation.Baseband(
            source, demodulation.subcarrier_of(source, bandwidth, subcarrier), bandwidth)
    except recording.RecordingError:
        raise
    except ValueError as error:
        raise recording.RecordingError(f"{source.name}: {error}") from None


def bandwidths_of(sources: Sequence[recording.Recording], subcarrier: Optional[float] = None
                  ) -> List[int]:
    """Bandwidths, kHz, that fit all recordings, in the order of the first one."""
    each = [demodulation.bandwidths_of(source, subcarrier) for source in sources]
    return [khz for khz in each[0] if all(khz in other for other in each)] or each[0][:1]


def report(message: Dict[str, Any], names: Sequence[str]) -> demodulation.Report:
    """Report of a message, with the keys of a single recording's.

    start_s and end_s are seconds of the first named recording that took part, and so is
    freq_offset_hz. snr_db is the sum over the recordings, as their powers add up. doppler_hz and
    delay_spread_ms are means. receivers has a dictionary for each recording that took part:
    recording (its name), start_s, freq_offset_hz, snr_db, blocks (of the message's blocks),
    joined.
    """
    times = _hf.timing(message["mode"])
    preamble_s = times.preamble_symbols / times.symbol_rate_bd
    parts = sorted(message["parts"], key=lambda part: part["receiver"])
    first = parts[0]
    start_s = first["begin"] - (0 if message["joined"] else preamble_s)
    blocks = max(message["blocks"], 1)
    end_s = first["begin"] + times.block_begin(blocks - 1) - times.block_begin(0) \
        + times.block_symbols / times.symbol_rate_bd
    weights = [part["blocks"] for part in parts]
    powers = [10 ** (part["snr_db"] / 10) for part in parts]
    result: demodulation.Report = {
        "mode": message["mode"],
        "start_s": round(start_s, 4),
        "end_s": round(end_s, 4),
        "freq_offset_hz": round(first["freq_offset_hz"], 2),
        "snr_db": round(float(10 * np.log10(sum(powers))), 1),
        "octets": len(message["octets"]),
        "sure_octets": len(message["octets"]),
        "ended": "eom" if message["complete"] else "lost",
        "joined": message["joined"],
        "reading": message["reading"],
    }
    for key, digits in demodulation.CHANNEL_DIGITS.items():
        value = (message[key] if key in message
                 else np.average([part[key] for part in parts], weights=weights))
        result[key] = round(float(value), digits)
    result["receivers"] = [{
        "recording": names[part["receiver"]],
        "start_s": round(part["begin"] - (0 if part["joined"] else preamble_s), 4),
        "freq_offset_hz": round(part["freq_offset_hz"], 2),
        "snr_db": round(part["snr_db"], 1),
        "blocks": part["blocks"],
        "joined": part["joined"],
    } for part in parts]
    return result


def no_common(names: Sequence[str], found: Combined) -> str:
    """Why nothing could be combined, for a message."""
    if not any(found.heard):
        each = ", ".join(f"{name} ({s:.1f} s)" for name, s in zip(names, found.seconds))
        return f"no transmission found in {each}"
    each = ", ".join(f"{name} has {count}" for name, count in zip(names, found.heard))
    return (f"the recordings share no transmission ({each}): --combine needs recordings of the "
            f"same one, started at most {MAX_DELAY_S:g} s apart")
