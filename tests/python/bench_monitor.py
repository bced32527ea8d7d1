# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether hf monitor finds transmissions near the threshold as often as hf demodulate does.

    build/run python3 tests/python/bench_monitor.py [EACH [DB_BELOW...]]

EACH transmissions (12) in each of 9 channels of a band of 96 kHz, white noise, pauses and
frequency offsets at random; both programs hear the same signals in the same noise. At the SNR on
AWGN that the data of a mode need (hf info --modes), and DB_BELOW dB below it (0 2). Prints how
many are found, in their mode and at their time, how many of these without an error, and what else
was reported.
"""
import pathlib
import sys
import tempfile

import band


def main():
    """Print the table."""
    each = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    below = [float(x) for x in sys.argv[2:]] or [0.0, 2.0]
    print("| mode | SNR | sent | monitor: found, right, else | demodulate: found, right, else |")
    print("|---|---|---|---|---|")
    for mode, threshold in band.THRESHOLD_DB.items():
        for seed, less in enumerate(below, 1):
            wide, sent = band.band(mode, each, seed, threshold - less)
            with tempfile.TemporaryDirectory() as folder:
                cells = [", ".join(map(str, band.counts(heard(pathlib.Path(folder), wide), sent,
                                                        mode)))
                         for heard in (band.heard_by_monitor, band.heard_by_demodulate)]
            print(f"| {mode} | {threshold - less:.1f} | {len(sent)} | {cells[0]} | {cells[1]} |",
                  flush=True)


if __name__ == "__main__":
    main()
