# SPDX-License-Identifier: GPL-3.0-or-later
"""2G ALE measured: how often two stations link in one handshake (MIL-STD-188-141B Table A-II), and
how often a waiting station reads a frame where there is none."""
from dataclasses import dataclass
from typing import Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from gnuradio.hf import hf_python as hf
from gnuradio.hf.options import option
from .. import experiments, sweep
from . import ber

RATE = 9600
#: SNR in 3 kHz at which 95 % of the handshakes must be read, dB: by the standard, and ours.
REQUIRED = {"awgn": (0.0, -6.0), "good": (8.5, -3.0), "poor": (11.0, 0.0)}
#: Points that are measured by default.
POINTS = (("awgn", -9.0), ("awgn", -8.0), ("awgn", -7.0), ("awgn", -6.0), ("awgn", 0.0),
          ("good", -6.0), ("good", -3.0), ("good", 0.0), ("good", 3.0), ("good", 8.5),
          ("poor", -3.0), ("poor", -1.5), ("poor", 0.0), ("poor", 3.0), ("poor", 11.0))
#: Noise and signals of other modems are heard in pieces of this length, s, each with its seed.
PIECE_S = 600.0
#: Modes that are sent where no frame may be read, at this SNR in dB.
OTHERS = ("4539-75S", "4539-75L", "4539-150S", "4539-300S", "4539-600S", "4539-1200S",
          "4539-2400S", "4539-3200S", "4539-6400S", "4539-9600S", "4539-12800N", "5069-3k-75S",
          "5069-3k-1200S", "5069-3k-9600S")
OTHERS_SNR_DB = 20.0


def parse_point(text: str) -> Tuple[Tuple[str, float], ...]:
    """Points of a text CHANNEL:DB,CHANNEL:DB. Raises ValueError."""
    points = []
    for part in text.split(","):
        channel, _, snr = part.rpartition(":")
        try:
            hf.channel_model(channel)
            points.append((channel, float(snr)))
        except ValueError:
            raise ValueError(f'"{part}": allowed is CHANNEL:DB, for example good:-3') from None
    return tuple(points)


@dataclass(frozen=True)
class Options:
    """Options of the measurement."""

    points: Tuple[Tuple[str, float], ...] = option(
        POINTS, "Channels as in hf-lab ber, each with its SNR in 3 kHz, dB.  [default: 15 points]",
        metavar="CHANNEL:DB,...", parse=parse_point)
    tries: int = option(200, "Handshakes at each point.", least=1)
    channels: int = option(1, "Channels that both stations scan. 1: they stay on one.", least=1,
                           most=100)
    offset: float = option(0.0, "Frequency offset, Hz.", metavar="HZ", least=-100, most=100)
    seed: int = option(1, "First seed; each handshake has its own.", least=0)
    hours: float = option(1.0, "Hours of noise, and of other modems, in which a station that "
                               "waits for an answer may read no frame.", least=0, most=1000)


class Linked(NamedTuple):
    """Calls of one point. linked: in the first handshake. at_last: with the repeats of the
    default settings. false_links: to a station that did not send. strangers: stations heard that
    do not exist."""

    channel: str
    snr_db: float
    offset_hz: float
    seed: int
    tries: int
    linked: int
    at_last: int
    false_links: int
    strangers: int

    @property
    def interval(self) -> Tuple[float, float]:
        """95 % interval of the probability (Clopper-Pearson)."""
        return ber.interval(self.linked, self.tries, 0.95)


class Heard(NamedTuple):
    """Time in which no frame was sent, and frames that were read."""

    what: str
    seed: int
    seconds: float
    frames: int


def linking(channel: str, snr_db: float, o: Options) -> Linked:
    """Handshakes of one point."""
    words = f"{channel} snr={snr_db} offset={o.offset}"
    results = [experiments.ale_handshake(words, o.seed + k, o.channels) for k in range(o.tries)]
    return Linked(channel, snr_db, o.offset, o.seed, o.tries,
                  sum(r.linked for r in results), sum(r.linked_at_last for r in results),
                  sum(r.false_links for r in results), sum(r.strangers for r in results))


def noise(seed: int, seconds: float) -> Heard:
    """Noise alone."""
    samples = np.zeros(round(seconds * RATE), np.complex64)
    return Heard("noise", seed, seconds,
                 len(experiments.ale_frames(
                     hf.channel_model("awgn snr=0", seed=seed).process(samples))))


def other_modem(mode: str, seed: int, seconds: float) -> Heard:
    """Transmissions of a data modem, one after the other."""
    rng = np.random.default_rng(seed)
    want = round(seconds * RATE)
    parts: List[np.ndarray] = []
    while sum(map(len, parts)) < want:
        octets = max(1, round(20.0 * hf.mode(mode).rate_bps / 8))
        parts += [hf.modulate(mode, rng.bytes(octets)), np.zeros(RATE, np.complex64)]
    path = hf.channel_model(f"awgn snr={OTHERS_SNR_DB}", seed=seed)
    samples = path.process(np.concatenate(parts)[:want])
    return Heard(mode, seed, seconds, len(experiments.ale_frames(samples)))


def quiet_jobs(o: Options) -> Iterator[Tuple[str, int, float]]:
    """What is heard, seed and seconds of each piece without a frame: as long in noise as in the
    signals of other modems."""
    pieces = int(np.ceil(o.hours * 3600 / PIECE_S))
    for k in range(pieces):
        yield "noise", o.seed + k, PIECE_S
    for k in range(pieces):
        yield OTHERS[k % len(OTHERS)], o.seed + k, PIECE_S


def hear(what: str, seed: int, seconds: float) -> Heard:
    """One piece of quiet_jobs()."""
    return noise(seed, seconds) if what == "noise" else other_modem(what, seed, seconds)


def link_table(rows: List[Linked]) -> str:
    """Handshakes beside the targets, as Markdown."""
    def words(row: Linked) -> List[str]:
        low, high = row.interval
        required, ours = REQUIRED.get(row.channel, (None, None))
        met = "" if row.snr_db != ours else "met" if row.linked >= 0.95 * row.tries else "missed"
        return [row.channel, f"{row.snr_db:g}", f"{row.linked} of {row.tries}",
                f"{row.linked / row.tries:.1%}", f"{low:.1%} to {high:.1%}",
                f"{row.at_last / row.tries:.1%}", str(row.false_links), str(row.strangers),
                "" if required is None else f"95 % at {required:g} / {ours:g}", met]
    return sweep.table(["channel", "SNR dB", "linked", "share", "95 % interval",
                        "with repeats", "false links", "strangers",
                        "standard / target", ""], map(words, rows))


def quiet_table(rows: List[Heard]) -> str:
    """Frames read where there was none, as Markdown."""
    def line(name: str, some: List[Heard]) -> List[str]:
        hours = sum(row.seconds for row in some) / 3600
        return [name, f"{hours:.1f}", str(sum(row.frames for row in some)), "0"]
    of_noise = [row for row in rows if row.what == "noise"]
    others = [row for row in rows if row.what != "noise"]
    return sweep.table(["heard", "hours", "frames", "target"],
                       [line("noise", of_noise), line("other modems", others)])


def missed(rows: List[Linked], quiet: List[Heard]) -> List[str]:
    """What fell short of its target."""
    found = [f"{row.channel} at {row.snr_db:g} dB: {row.linked} of {row.tries}" for row in rows
             if row.snr_db == REQUIRED.get(row.channel, (None, None))[1]
             and row.linked < 0.95 * row.tries]
    return found + [f"{row.what}, seed {row.seed}: {row.frames} frames" for row in quiet
                    if row.frames]


def measure(o: Options, workers: sweep.Workers) -> Iterator[Tuple[Optional[Linked],
                                                                  Optional[Heard]]]:
    """All points, then all pieces without a frame."""
    for row in sweep.run(linking, [(c, snr, o) for c, snr in o.points], workers):
        yield row, None
    for heard in sweep.run(hear, quiet_jobs(o), workers):
        yield None, heard
