# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends a recording through the simulated channel into another recording."""
from typing import Callable, Iterator

import numpy as np

from .. import hf_python as _hf
from ..recordings import recording, sigmf, wav
from ..system import output

#: Length of the blocks in which the signal is detected, s.
_BLOCK_S = 0.02
#: A block counts as signal if it is at most this much weaker than the strongest, dB.
_SIGNAL_RANGE_DB = 15.0

#: Passes over a recording: for its power, for the level of the result, for the result.
READINGS = 3
#: Opens the recording from its start.
Opener = Callable[[], recording.Recording]


def _baseband(source: recording.Recording, subcarrier: float) -> Iterator[np.ndarray]:
    """Complex samples: those of the recording, or of an audio recording at 9600 samples/s."""
    if source.complex_samples:
        yield from source.pieces()
        return
    down = _hf.audio_to_baseband(source.rate, subcarrier)
    for piece in source.pieces():
        yield down.push(piece)
    yield down.finish()


def signal_power(pieces: Iterator[np.ndarray], rate: float) -> float:
    """Mean power of complex samples while there is a signal; 0 if there is none.

    The signal is where blocks of 20 ms are within 15 dB of the strongest.
    """
    block = max(1, round(_BLOCK_S * rate))
    rest = np.zeros(0, np.complex64)
    powers = [np.zeros(0)]
    for piece in pieces:
        rest = np.concatenate([rest, piece])
        whole = len(rest) // block * block
        powers.append(np.mean(np.abs(rest[:whole].reshape(-1, block)).astype(np.float64) ** 2, 1))
        rest = rest[whole:]
    power = np.concatenate(powers)
    if not len(power) or not np.max(power) > 0:
        return 0.0
    return float(np.mean(power[power > np.max(power) * 10 ** (-_SIGNAL_RANGE_DB / 10)]))


def impair(opener: Opener, target: str, spec: str, seed: int, subcarrier: float,
           level: float, force: bool = False,
           progress: Callable[[float], object] = lambda _: None) -> float:
    """Send a recording through the channel. Returns the signal power that its SNR refers to.

    opener: called three times, for measuring, for levelling, for writing. An audio recording
    becomes a WAV file at target, a complex one SigMF. subcarrier: Hz, of audio; level:
    highest peak of the result, dB of full scale; force: replace files at target that are not
    ours, but never the input; progress: called with the share that is done, 0 to 1, unless a pipe
    is read. Raises ValueError for a wrong spec or a recording without signal, RecordingError,
    output.OutputError.
    """
    turn = 0  # of READINGS

    def opened() -> recording.Recording:
        nonlocal turn
        turn += 1
        return opener()

    def with_progress(again: recording.Recording) -> Iterator[np.ndarray]:
        for piece in _baseband(again, subcarrier):
            yield piece
            progress((turn - 1 + again.share()) / READINGS)

    source = opened()
    targets = sigmf.sigmf_files(target) if source.complex_samples else [target]
    output.check_all(targets, source.paths, force)
    rate = source.rate if source.complex_samples else _hf.BASEBAND_RATE
    _hf.channel_model(spec, seed, 1.0, rate)  # raises before anything is read
    power = signal_power(with_progress(source), rate)
    if power == 0:
        raise recording.RecordingError(f"{source.name}: holds no signal")

    def result() -> Iterator[np.ndarray]:
        model = _hf.channel_model(spec, seed, power, rate)
        again = opened()
        out = (model.process(piece.astype(np.complex64, copy=False))
               for piece in with_progress(again))
        if again.complex_samples:
            yield from out
            return
        up = _hf.baseband_to_audio(round(again.rate), subcarrier)
        for piece in out:
            yield up.push(piece)
        yield up.finish()

    peak, count = 0.0, 0
    for piece in result():
        peak = max(peak, float(np.max(np.abs(piece), initial=0)))
        count += len(piece)
    if not peak > 0:
        raise recording.RecordingError(f"{source.name}: nothing is left of it after '{spec}'")
    gain = 10 ** (level / 20) / peak
    pieces = (piece * gain for piece in result())
    if source.complex_samples:
        sigmf.write_sigmf(sigmf.sigmf_base(target), round(source.rate), pieces,
                          f"{source.name} through the channel '{spec}', seed {seed}",
                          lambda _: [])
    else:
        with output.replacing(target) as file:
            wav.write_wav(file, round(source.rate), count, pieces)
    return power
