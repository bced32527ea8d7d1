# SPDX-License-Identifier: GPL-3.0-or-later
"""Cost of the filter of an SSB receiver: the table of docs/radio.md.

    build/run python3 tests/modem/bench_filters.py [SECONDS [SEEDS [MODE...]]]

The cost is the extra SNR in dB, against no filter, at which no more than one block of ten is bad.
The SNR is taken before the filter. SECONDS of signal for each seed; by default 100 s and 3 seeds,
which take half an hour of processor time.
"""
import sys
from typing import Optional

from gnuradio.hf.lab import experiments

#: Passbands in audio, Hz, by the width on the radio's knob, kHz.
PASSBANDS = {3.0: (300, 3300), 2.7: (300, 3000), 2.4: (300, 2700), 2.2: (300, 2500)}
#: 6 poles, 1 dB of ripple, 60 dB beyond; and 6.8 ms, linear in phase, 60 dB.
KINDS = {"crystal": "elliptic", "DSP": "fir"}
#: Mode and SNR, dB, from which on it is looked for: on AWGN, on Poor.
MODES = [("4539-600L", -4.0, -1.0), ("4539-3200L", 4.0, 8.0), ("4539-9600VL", 17.0, 20.0)]
SUBCARRIER_HZ = 1800
#: Steps of the search and where it ends, dB.
STEP_DB, MOST_DB = 1.0, 8.0
BAD = 0.1  #: share of the blocks


def needed(mode: str, channel: str, first_db: float, seconds: float, seeds: int
           ) -> Optional[float]:
    """SNR from which on few blocks are bad, dB, between the steps; None: there is none."""
    before = None
    for step in range(round(MOST_DB / STEP_DB) + 1):
        snr = first_db + STEP_DB * step
        trials = [experiments.ber_trial(mode, f"{channel} snr={snr:g}", seconds, seed)
                  for seed in range(1, seeds + 1)]
        bad = sum(t["bad_blocks"] for t in trials) / sum(t["blocks"] for t in trials)
        if bad <= BAD:
            if before is None:
                return snr
            return snr - STEP_DB * (BAD - bad) / (before - bad)
        before = bad
    return None


def main() -> None:
    """Print the table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 100.0
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    columns = [(mode, channel, first) for mode, *firsts in MODES
               if not sys.argv[3:] or mode in sys.argv[3:]
               for channel, first in zip(("awgn", "poor"), firsts)]
    print("| filter | " + " | ".join(f"{mode}, {channel}" for mode, channel, _ in columns) + " |")
    print("|---|" + "---|" * len(columns))
    plain = [needed(mode, channel, first, seconds, seeds) for mode, channel, first in columns]
    print("| none, SNR in dB | "
          + " | ".join("-" if p is None else f"{p:.1f}" for p in plain) + " |", flush=True)
    for width, (low, high) in PASSBANDS.items():
        for kind, form in KINDS.items():
            cells = []
            for (mode, channel, _), own in zip(columns, plain):
                spec = f"{channel} filter={form}:{low - SUBCARRIER_HZ}:{high - SUBCARRIER_HZ}"
                with_it = None if own is None else needed(mode, spec, own - STEP_DB, seconds,
                                                          seeds)
                cells.append("lost" if own is None or with_it is None
                             else f"{with_it - own:.1f}")
            print(f"| {width} kHz ({low} to {high} Hz), {kind} | " + " | ".join(cells) + " |",
                  flush=True)


if __name__ == "__main__":
    main()
