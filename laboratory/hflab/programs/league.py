# SPDX-License-Identifier: GPL-3.0-or-later
"""League table of open modems: goodput of one message over the same channel realisations.

Every modem sends the same number of octets one way, without ARQ, in frames that each end with a
CRC. A frame counts by its payload if its CRC is good. The SNR is the mean power of the modem's
signal over the noise in 3 kHz. The goodput of a modem is that of its best mode.
"""
import csv
from dataclasses import dataclass
import functools
import math
from pathlib import Path
import random
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple
import zlib

import numpy as np

from gnuradio.hf import hf_python as hf
from gnuradio.hf.options import option
from gnuradio.hf.signals import demodulation
from .. import sweep
from ..channel import capacity
from .foreign_modems import Modem, RATE, Sent, ardop, codec2

CHANNELS = ("awgn", "good", "moderate", "poor")
#: Noise before and after a signal, s. Neither counts as air time.
BEFORE_S, AFTER_S = 1.0, 2.0
#: Octets of a frame of ours with its CRC-32, as many as a frame of datac3 with its CRC-16.
FRAME = 128
CRC = 4
DEVIATIONS = 1.96  # of a normal distribution: 95 %
PUBLISHED = Path(__file__).parents[1] / "link" / "published_league.csv"


class Trial(NamedTuple):
    """One message. The first six fields are its key in a store. accepted: payload octets."""

    channel: str
    snr_db: float
    octets: int
    modem: str
    mode: str
    seed: int
    accepted: int
    air_s: float

    @property
    def goodput_bps(self) -> float:
        """Accepted octets over air time, bit/s."""
        return 8 * self.accepted / self.air_s


class Best(NamedTuple):
    """Best mode of a modem in a cell, and the 95 % interval of its goodput, bit/s."""

    mode: str
    goodput_bps: float
    low_bps: float
    high_bps: float


class Cell(NamedTuple):
    """A channel at an SNR. best: by name of the modem; None: the modem is not installed."""

    channel: str
    snr_db: float
    best: Dict[str, Optional[Best]]


def payloads(octets: bytes, frame: int) -> List[bytes]:
    """A message in pieces of at most this number of octets, one for each frame."""
    return [octets[at:at + frame] for at in range(0, len(octets), frame)]


def accepted(sent: Sequence[bytes], got: Sequence[bytes]) -> int:
    """Octets of the payloads that have arrived, each once. got: payloads with a good CRC. One
    that was never sent, or that has padding other than zeros, does not count."""
    arrived = {piece for payload in got for piece in sent
               if payload[:len(piece)] == piece and not any(payload[len(piece):])}
    return sum(map(len, arrived))


def with_crc(payload: bytes) -> bytes:
    """A frame: the payload and its CRC-32."""
    return payload + zlib.crc32(payload).to_bytes(CRC, "big")


def good_frames(octets: bytes) -> List[bytes]:
    """Payloads of the frames with a good CRC in a received message. Every frame but the last has
    128 octets."""
    frames = payloads(octets, FRAME)
    return [f[:-CRC] for f in frames if len(f) > CRC and with_crc(f[:-CRC]) == f]


def _send_ours(mode: str, pieces: Sequence[bytes]) -> Sent:
    samples = np.asarray(hf.modulate(mode, b"".join(map(with_crc, pieces))))
    return Sent(samples, float(np.mean(np.abs(samples) ** 2)), len(samples) / RATE)


def _receive_ours(_mode: str, _count: int, heard: np.ndarray) -> List[bytes]:
    """Receive by the ordinary receiver, which finds the mode by itself."""
    receiver = hf.receiver()
    messages: List[bytearray] = []
    for piece in [*np.array_split(heard, math.ceil(len(heard) / RATE)), demodulation.silence()]:
        for event in receiver.push(piece):
            if event["type"] == "start":
                messages.append(bytearray())
            elif event["type"] == "octets":
                messages[-1] += event["octets"]
    return [payload for message in messages for payload in good_frames(bytes(message))]


OURS = Modem("gr-hf",
             tuple(f"4539-{rate}{interleaver}" for rate in
                   (75, 150, 300, 600, 1200, 2400, 3200, 4800, 6400, 8000, 9600)
                   for interleaver in "SL"),
             lambda _mode: FRAME - CRC, _send_ours, _receive_ours)


def modems() -> List[Modem]:
    """Every modem. One that is not installed has no modes."""
    return [OURS, codec2(), ardop()]


def _modem(name: str) -> Modem:
    return next(modem for modem in modems() if modem.name == name)


@functools.lru_cache(maxsize=None)
def at_most(name: str, mode: str, octets: int) -> float:
    """Goodput of a mode if every frame arrives, bit/s."""
    modem = _modem(name)
    pieces = payloads(bytes(octets), modem.frame(mode))
    return 8 * octets / modem.send(mode, pieces).air_s


def trial(channel: str, snr_db: float, octets: int, name: str, mode: str, seed: int) -> Trial:
    """Send one message. The seed sets payload, fading and noise, for every modem alike."""
    modem = _modem(name)
    pieces = payloads(random.Random(seed).randbytes(octets), modem.frame(mode))
    sent = modem.send(mode, pieces)
    model = hf.channel_model(f"{channel} snr={snr_db:g}", seed, sent.power, RATE)
    quiet = [np.zeros(round(s * RATE), np.complex64) for s in (BEFORE_S, AFTER_S)]
    heard = model.process(np.concatenate([quiet[0], sent.samples, quiet[1]])
                          .astype(np.complex64))
    got = modem.receive(mode, len(pieces), heard)
    return Trial(channel, snr_db, octets, name, mode, seed, accepted(pieces, got), sent.air_s)


def interval(share: float, trials: int) -> Tuple[float, float]:
    """95 % interval of a mean of values between 0 and 1, by Wilson. Each trial counts as one
    event, because fading hits its frames together."""
    z2 = DEVIATIONS ** 2 / trials
    middle = (share + z2 / 2) / (1 + z2)
    half = math.sqrt(z2 * (share * (1 - share) + z2 / 4)) / (1 + z2)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def summary(rows: Sequence[Trial]) -> Best:
    """Mean goodput of the trials of a mode, with its interval."""
    most = 8 * rows[0].octets / rows[0].air_s
    mean = sum(row.goodput_bps for row in rows) / len(rows)
    low, high = interval(mean / most, len(rows))
    return Best(rows[0].mode, mean, low * most, high * most)


@dataclass(frozen=True)
class Options:
    """Options of hf-lab bench league."""

    channels: Tuple[str, ...] = option(("awgn", "poor"), "May be repeated.", flag="--channel",
                                       choices=CHANNELS)
    snrs_db: Tuple[float, ...] = option((0.0, 10.0, 20.0), "SNR in 3 kHz, dB: FIRST:LAST:STEP or "
                                        "A,B,C.", flag="--snr", metavar="DB", parse=sweep.values)
    octets: int = option(1500, "Octets of a message.", least=1, most=100_000)
    trials: int = option(5, "Messages of each mode.", least=1)
    seed: int = option(1, "Seed of the first message.", least=0)

    def cells(self) -> List[Tuple[str, float]]:
        """Channels and SNRs to measure."""
        return [(channel, snr_db) for channel in self.channels for snr_db in self.snrs_db]


def store(path: Optional[str], force: bool = False) -> "sweep.Store[Trial]":
    """Trials that are kept in a file."""
    return sweep.Store(Trial, 6, path, force=force)


def best(modem: Modem, channel: str, snr_db: float, wanted: Options,
         run: Callable[[List[Tuple[Any, ...]]], Sequence[Trial]]) -> Optional[Best]:
    """Best mode of a modem in a cell, None without any mode. run: measures points.

    The modes are tried from the fastest down, until none of the rest can be better.
    """
    bounds = {mode: at_most(modem.name, mode, wanted.octets) for mode in modem.modes}
    found: Optional[Best] = None
    for mode in sorted(bounds, key=lambda mode: -bounds[mode]):
        if found is not None and bounds[mode] <= found.goodput_bps:
            break
        new = summary(run([(channel, snr_db, wanted.octets, modem.name, mode, wanted.seed + k)
                           for k in range(wanted.trials)]))
        if found is None or new.goodput_bps > found.goodput_bps:
            found = new
    return found


def measure(wanted: Options, workers: sweep.Workers, kept: "sweep.Store[Trial]"
            ) -> Iterator[Cell]:
    """Every cell."""
    def run(points: List[Tuple[Any, ...]]) -> List[Trial]:
        rows = []
        for row in sweep.run(trial, points, workers, kept.get):
            kept.add(row)
            rows.append(row)
        return rows

    for channel, snr_db in wanted.cells():
        yield Cell(channel, snr_db, {modem.name: best(modem, channel, snr_db, wanted, run)
                                     for modem in modems()})


def published() -> Dict[Tuple[str, float], float]:
    """Published goodput by channel and SNR, bit/s."""
    with open(PUBLISHED, newline="", encoding="utf-8") as file:
        return {(row["channel"], float(row["snr_db"])): float(row["goodput_bps"])
                for row in csv.DictReader(file)}


def _words(found: Optional[Best]) -> str:
    if found is None:
        return "not installed"
    if found.goodput_bps == 0:
        return f"0 (to {found.high_bps:.0f})"
    return (f"{found.goodput_bps:.0f} ({found.low_bps:.0f} to {found.high_bps:.0f}), "
            + found.mode.replace("4539-", ""))


def report(cells: Sequence[Cell], octets: int, trials: int) -> str:
    """The cells as a Markdown table. The target of ours is the best of the other columns."""
    names = [modem.name for modem in modems()]
    foreign = published()
    rows = []
    for cell in cells:
        ours = cell.best[OURS.name]
        value = foreign.get((cell.channel, cell.snr_db))
        others = [found.goodput_bps for name, found in cell.best.items()
                  if name != OURS.name and found is not None]
        target = max([*others, *([value] if value is not None else [])], default=None)
        reached = ours.goodput_bps if ours is not None else 0.0
        wanted = "-" if target is None else f"{target:.0f}"
        rows.append([cell.channel, f"{cell.snr_db:g}",
                     *(_words(cell.best[name]) for name in names),
                     "-" if value is None else f"{value:.0f}",
                     wanted if target is None or reached >= target else f"**{wanted}**, missed",
                     capacity.words(reached, cell.snr_db, cell.channel != "awgn")])
    head = ["channel", "SNR, dB", *(f"{name}, bit/s" for name in names), "published, bit/s",
            "target: best of the others", "gap to capacity"]
    return (sweep.table(head, rows) + f"\n\nMessages of {octets} octets one way without ARQ, "
            f"{trials} of each mode, with 95 % intervals and the best mode. The published column "
            "has ARQ both ways. It was octets per minute in 3 kHz, with mail overhead, on another "
            "simulator, so a higher figure without ARQ shows no advantage.")
