#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several receivers of one transmission, combined on numpy arrays.

Sends one message over independent fading channels to several places. Each place has its own
clock, start time and carrier offset. Prints what each receives, and what all receive together.

    build/run python3 examples/combine_recordings.py --places 4 --snr 5
"""
import argparse
import sys
from typing import List, Optional

import numpy as np

from gnuradio import hf

#: Silence after the transmission. A receiver waits 10 s for a faded signal to return.
SILENCE = np.zeros(12 * 9600, np.complex64)


def arguments(argv: Optional[List[str]]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n", maxsplit=1)[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--mode", default="4539-3200S")
    parser.add_argument("--places", type=int, default=4, help="2 to 6")
    parser.add_argument("--channel", default="poor", help="channel as in hf.channel, without snr=")
    parser.add_argument("--snr", type=float, default=5, help="dB in 3 kHz, at every place")
    parser.add_argument("--octets", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="send few octets, for tests")
    a = parser.parse_args(argv)
    try:
        a.mode = hf.mode(a.mode)
        hf.channel_model(a.channel)
    except ValueError as error:
        parser.error(str(error))
    if not 2 <= a.places <= 6:
        parser.error(f"places {a.places}: allowed are 2 to 6")
    if a.quick:
        a.octets, a.snr = min(a.octets, 800), max(a.snr, 10)
    return a


def recording(a: argparse.Namespace, message: bytes, place: int) -> np.ndarray:
    """Baseband samples of the transmission as one place receives it."""
    draw = np.random.default_rng([a.seed, place])
    lead = np.zeros(round(9600 * draw.uniform(0.5, 3)), np.complex64)
    spec = (f"{a.channel} snr={a.snr} clock={draw.uniform(-50, 50):.1f} "
            f"offset={draw.uniform(-60, 60):.1f}")
    channel = hf.channel_model(spec, seed=10 * a.seed + place, signal_power=a.mode.mean_power)
    return np.concatenate([channel.process(np.concatenate([lead, hf.modulate(a.mode, message)])),
                           SILENCE])


def right(message: bytes, got: bytes) -> int:
    """Octets that are right, in their place."""
    common = min(len(message), len(got))
    return int(np.sum(np.frombuffer(message[:common], np.uint8)
                      == np.frombuffer(got[:common], np.uint8)))


def main(argv: Optional[List[str]] = None) -> int:
    """Run the example. Returns the exit status."""
    a = arguments(argv)
    message = np.random.default_rng(a.seed).bytes(a.octets)
    recordings = [recording(a, message, place) for place in range(a.places)]
    for place, samples in enumerate(recordings):
        got = b"".join(e["octets"] for e in hf.receiver().push(samples) if e["type"] == "octets")
        print(f"place {place}: {right(message, got)} of {a.octets} octets are right")
    messages = hf.combine(recordings)
    for m in messages:
        print(f"together: {right(message, m['octets'])} of {a.octets} octets are right, "
              f"{m['mode']}")
        for part in m["parts"]:
            print("  place {receiver}: data from {begin:.2f} s, {blocks} blocks, "
                  "SNR {snr_db:.1f} dB".format(**part))
    return 0 if any(m["octets"] == message for m in messages) else 1


if __name__ == "__main__":
    sys.exit(main())
