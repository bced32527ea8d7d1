# SPDX-License-Identifier: GPL-3.0-or-later
"""How surely a 5069 transmission is joined whose preamble the receiver missed."""
import random
from dataclasses import dataclass
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ... import demodulation
from ... import hf_python as hf
from ...options import option
from .. import sweep
from . import standard

#: Missed part of a transmission, s: its preamble and the start of its data.
MISSED_S = 2.0
#: Long blocks of a transmission; the first is missed, the second is the one to be joined.
LONG_BLOCKS = 3
#: Carrier offsets are drawn from what a receiver must bear (110C C.6.3), Hz to either side.
OFFSET_HZ = 75.0
#: Noise after it, s.
AFTER_S = 2.0


class Condition(NamedTuple):
    """A mode, and a channel with its SNR in the mode's bandwidth, dB."""

    mode: str
    channel: str
    snr_db: float


class Trial(NamedTuple):
    """One transmission. first: joined at its second Long block. later: joined at a later one.
    right: all octets after joining are right. wrong: another mode that was found."""

    first: bool
    later: bool
    right: bool
    wrong: Optional[str]


class Row(NamedTuple):
    """A condition's trials."""

    condition: Condition
    trials: List[Trial]


def conditions(bandwidth_khz: int, waveforms: Sequence[int] = (),
               interleavers: Sequence[str] = ("S",)) -> List[Condition]:
    """Waveforms 1 to 13, or those of a list: on AWGN at the SNR at which data are wanted to come,
    on Poor at the standard's limit."""
    modes = {(m.waveform, m.interleaver): str(m) for m in hf.mode.all()
             if m.bandwidth_hz == 1000 * bandwidth_khz and m.waveform is not None
             and m.constraint_length == 7}
    # The limits are the same in every bandwidth, which is where an SNR counts.
    rows = {r.id: r for r in standard.wideband_rows()}
    result = []
    for waveform in waveforms or range(1, 14):
        for letter in interleavers:
            if (waveform, letter) not in modes:
                continue
            awgn, poor = (rows.get(f"D3-{waveform}-{kind}") for kind in ("AWGN", "POOR"))
            mode = modes[waveform, letter]
            if awgn is not None and awgn.target_db is not None:
                result.append(Condition(mode, "awgn", round(awgn.target_db, 2)))
            if poor is not None:
                result.append(Condition(mode, "poor", poor.snr_db))
    return result


def trial(condition: Condition, seed: int) -> Trial:
    """One transmission of random octets, its offset drawn by the seed."""
    mode = hf.mode(condition.mode)
    bandwidth = mode.bandwidth_hz // 1000
    rate = demodulation.baseband_rate(bandwidth)
    longest = hf.timing(standard.wideband_modes()[bandwidth, mode.waveform])
    long_s = longest.block_symbols / longest.symbol_rate_bd
    octets_per_long = round(mode.rate_bps * long_s / 8)
    draw = random.Random(seed)
    octets = draw.randbytes(LONG_BLOCKS * octets_per_long - 16)
    sent = np.array(hf.modulate(condition.mode, octets))
    sent[:round(MISSED_S * rate)] = 0
    spec = (f"{condition.channel} snr={condition.snr_db:g} bandwidth={bandwidth} "
            f"offset={draw.uniform(-OFFSET_HZ, OFFSET_HZ):.2f}")
    model = hf.channel_model(spec, seed, mode.mean_power, rate)
    silence = np.zeros(round(AFTER_S * rate), np.complex64)
    heard = model.process(np.concatenate([sent, silence]).astype(np.complex64))
    receiver = hf.receiver(bandwidth=bandwidth)
    events = [e for at in range(0, len(heard), rate) for e in receiver.push(heard[at:at + rate])]
    starts = [e for e in events if e["type"] == "start"]
    got = b"".join(e["octets"] for e in events if e["type"] == "octets")
    wrong = next((str(e["mode"]) for e in starts if str(e["mode"]) != condition.mode), None)
    if not starts or wrong is not None:
        return Trial(False, False, False, wrong)
    # A block begins where its Long block does, so whole blocks are missing.
    first = len(octets) - len(got) < octets_per_long * 3 // 2
    return Trial(first, not first, octets.endswith(got) and len(got) > 0, None)


def measure(wanted: Sequence[Condition], trials: int, seed: int,
            workers: sweep.Workers) -> Iterator[Row]:
    """Every condition with seeds from that one on."""
    for condition in wanted:
        points = [(condition, seed + k) for k in range(trials)]
        yield Row(condition, list(sweep.run(trial, points, workers)))


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    return sweep.table(["mode", "channel", "SNR, dB", "joined at the first block", "later", "not",
                        "every octet from there on right", "wrong modes"], map(_cells, rows))


def _cells(row: Row) -> List[str]:
    (mode, channel, snr_db), trials = row
    first, later = sum(t.first for t in trials), sum(t.later for t in trials)
    wrong = " ".join(t.wrong for t in trials if t.wrong is not None)
    return [mode, channel, f"{snr_db:g}", f"{first} of {len(trials)}", str(later),
            str(len(trials) - first - later), str(sum(t.right for t in trials)), wrong or "-"]


@dataclass(frozen=True)
class Options:
    """Options of hf bench late-entry."""

    bandwidth: int = option(3, "Bandwidth of the waveforms.", metavar="KHZ")
    waveforms: Tuple[int, ...] = option((), "Only this one; may be repeated.", flag="--waveform",
                                        least=1, most=13)
    interleavers: Tuple[str, ...] = option(("S",), "May be repeated.", flag="--interleaver",
                                           choices=("US", "S", "M", "L"))
    trials: int = option(10, "Transmissions of each mode and channel.", least=1)
    seed: int = option(1, "Seed of the first of them.", least=0)

    def __post_init__(self) -> None:
        if not self.conditions():
            raise ValueError(f"bandwidth {self.bandwidth} has none of these waveforms")

    def conditions(self) -> List[Condition]:
        """Every mode and channel to measure."""
        return conditions(self.bandwidth, self.waveforms, self.interleavers)
