# SPDX-License-Identifier: GPL-3.0-or-later
"""What the filter of a radio's receiver costs, in dB of SNR before the filter.

Transmissions pass through the simulated channel as recordings of audio at 48000 samples/s, as
`hf modulate`, `hf channel` and `hf demodulate` make and read them.
"""
from dataclasses import dataclass
import os
import random
import tempfile
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from ... import demodulation, modulation, recording
from ... import hf_python as hf
from ...options import option
from .. import sweep
from ..receiver import ber
from . import impair

#: Passbands in audio, Hz, by the width on the radio's knob, kHz.
PASSBANDS = {3.0: (300, 3300), 2.7: (300, 3000), 2.4: (300, 2700), 2.2: (300, 2500)}
#: 6 poles, 1 dB of ripple, 60 dB beyond; and 6.8 ms, linear in phase, 60 dB.
KINDS = {"crystal": "elliptic", "DSP": "fir"}
#: Modes and the SNR, dB, at which the search begins on AWGN and on Poor.
MODES = {"4539-300S": (-6.0, -1.0), "4539-1200S": (1.0, 7.0), "4539-6400S": (12.0, 20.0),
         "4539-9600S": (17.0, 27.0)}
CHANNELS = ("awgn", "poor")
SUBCARRIER_HZ = 1800
AUDIO_RATE = 48000
#: Steps of the search, and the largest cost that is looked for, dB.
STEP_DB, MOST_DB = 1.0, 8.0
#: Steps above the first SNR within which a mode must work without a filter.
MOST_STEPS = 12
BAD = 0.1  #: share of bad blocks at which the SNR is taken


class Trial(NamedTuple):
    """One transmission. All but the last two fields are its key in a store."""

    mode: str
    channel: str
    seconds: float
    seed: int
    blocks: int
    bad_blocks: int


class Filter(NamedTuple):
    """A row of the table."""

    name: str
    words: str  #: of the channel; empty: no filter


#: None, then every filter from wide to narrow.
FILTERS = [Filter("none, SNR in dB", "")] + [
    Filter(f"{width} kHz ({low} to {high} Hz), {kind}",
           f"filter={form}:{low - SUBCARRIER_HZ}:{high - SUBCARRIER_HZ}")
    for width, (low, high) in PASSBANDS.items() for kind, form in KINDS.items()]


def trial(mode: str, channel: str, seconds: float, seed: int) -> Trial:
    """Send octets through the channel as a recording, and count bad interleaver blocks."""
    timing = hf.timing(hf.mode(mode))
    blocks = max(2, round(seconds * timing.symbol_rate_bd / timing.block_symbols))
    count = timing.octets_in(blocks)
    octets = random.Random(seed).randbytes(count)
    with tempfile.TemporaryDirectory() as folder:
        sent, heard = (os.path.join(folder, name) for name in ("sent.wav", "heard.wav"))
        with open(sent, "wb") as file:
            modulation.write_wav(file, modulation.Transmission(hf.mode(mode), octets, tail_s=2.5),
                                 AUDIO_RATE, SUBCARRIER_HZ)
        impair.impair(lambda: recording.open_recording(sent), heard, channel, seed,
                      SUBCARRIER_HZ, -3.0)
        got: List[bytes] = []
        demodulation.demodulate(recording.open_recording(heard),
                                demodulation.Reception(got.append), SUBCARRIER_HZ)
    received = b"".join(got)
    step = timing.bits_per_block // 8
    starts = range(0, count, step)
    bad = sum(octets[at:at + step] != received[at:at + step] for at in starts)
    return Trial(mode, channel, seconds, seed, len(starts), bad)


#: Measures the share of bad blocks of a mode over a channel.
Share = Callable[[str, str], float]


def needed(share: Share, mode: str, channel: str, words: str, first_db: float,
           most_steps: int) -> Optional[float]:
    """SNR with few bad blocks, dB, interpolated between two steps. None: not within most_steps.

    first_db: SNR of the first step. If blocks are good there, the search goes down.
    """
    def at(snr: float) -> float:
        return share(mode, f"{channel} snr={snr:g} {words}".strip())

    snr, bad = first_db, at(first_db)
    while bad <= BAD:  # an SNR without any signal ends this
        snr -= STEP_DB
        bad = at(snr)
    while snr < first_db + STEP_DB * most_steps:
        before, snr = bad, snr + STEP_DB
        bad = at(snr)
        if bad <= BAD:
            return snr - STEP_DB * (BAD - bad) / (before - bad)
    return None


@dataclass(frozen=True)
class Options:
    """Options of hf ber filters."""

    modes: Tuple[str, ...] = option(tuple(MODES), "May be repeated.", flag="--mode",
                                    choices=tuple(MODES))
    channels: Tuple[str, ...] = option(CHANNELS, "awgn or poor; may be repeated.",
                                       flag="--channel", choices=CHANNELS)
    seconds: float = option(26.0, "Length of one transmission.", least=1, most=600)
    trials: int = option(4, "Transmissions of each figure.", least=1, metavar="N")

    def columns(self) -> List[Tuple[str, str, float]]:
        """Mode, channel, and SNR in dB at which the search begins."""
        return [(mode, channel, MODES[mode][CHANNELS.index(channel)])
                for mode in self.modes for channel in self.channels]


def store(path: Optional[str] = None) -> "sweep.Store[Trial]":
    """Transmissions, in a CSV file or in memory."""
    return sweep.Store(Trial, 4, path)


class Bench:
    """Measures the cells of the table, row by row."""

    def __init__(self, wanted: Options, kept: "sweep.Store[Trial]",
                 workers: sweep.Workers) -> None:
        self._wanted, self._kept, self._workers = wanted, kept, workers
        self._plain: Dict[Tuple[str, str], Optional[float]] = {}

    def row(self, of: Filter) -> List[str]:
        """Cells of a filter: SNR without a filter, which comes first, then what each costs."""
        cells = []
        for mode, channel, first in self._wanted.columns():
            if not of.words:
                snr = needed(self._share, mode, channel, "", first, MOST_STEPS)
                self._plain[mode, channel] = snr
                cells.append("-" if snr is None else f"{snr:.1f}")
                continue
            plain = self._plain[mode, channel]
            snr = None if plain is None else needed(
                self._share, mode, channel, of.words, float(round(plain)),
                round(MOST_DB / STEP_DB))
            cells.append("lost" if snr is None or plain is None else f"{snr - plain:.1f}")
        return [of.name] + cells

    def _share(self, mode: str, channel: str) -> float:
        """Share of bad blocks."""
        ber.check(mode, channel)
        points = [(mode, channel, self._wanted.seconds, seed)
                  for seed in range(1, self._wanted.trials + 1)]
        done = list(sweep.run(trial, points, self._workers, self._kept.get))
        for one in done:
            self._kept.add(one)
        return sum(t.bad_blocks for t in done) / sum(t.blocks for t in done)
