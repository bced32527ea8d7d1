#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engines without a flowgraph: modulator, HF channel and receiver on numpy arrays.

Sends one message through a simulated channel in several modes and at several SNRs, and prints
the bit error rates.

    build/run python3 examples/modulate_demodulate.py --mode 4539-1200S --snr 4 8 12
"""
import argparse
import sys
from typing import List, Optional, Tuple

import numpy as np

from gnuradio import hf

#: Silence before and after the transmission, half a second at 9600 samples/s.
SILENCE = np.zeros(4800, np.complex64)


def arguments(argv: Optional[List[str]]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n", maxsplit=1)[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--mode", nargs="+",
                        default=["4539-75S", "4539-600S", "4539-2400S", "4539-9600S"])
    parser.add_argument("--channel", default="poor", help="channel as in hf.channel, without snr=")
    parser.add_argument("--snr", nargs="+", type=float, default=[10, 20, 30],
                        help="dB in 3 kHz")
    parser.add_argument("--octets", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="send few octets, for tests")
    a = parser.parse_args(argv)
    try:
        a.mode = [hf.mode(text) for text in a.mode]
        hf.channel_model(a.channel)
    except ValueError as error:
        parser.error(str(error))
    if a.quick:
        a.octets, a.snr = min(a.octets, 60), a.snr[-1:]
    return a


def receive(samples: np.ndarray) -> Tuple[Optional[str], bytes]:
    """Mode and octets of the first transmission in the samples."""
    mode, octets = None, b""
    for event in hf.receiver().push(samples):
        if event["type"] == "start":
            mode = event["mode"]
        elif event["type"] == "octets":
            octets += event["octets"]
        else:
            break
    return mode, octets


def bit_errors(a: bytes, b: bytes) -> int:
    """Bits that differ. A missing bit counts as half an error, as a guess would."""
    common = min(len(a), len(b))
    x = np.frombuffer(a[:common], np.uint8) ^ np.frombuffer(b[:common], np.uint8)
    return int(np.unpackbits(x).sum()) + 4 * (len(a) - common)


def main(argv: Optional[List[str]] = None) -> int:
    """Run the example. Returns the exit status."""
    a = arguments(argv)
    message = np.random.default_rng(a.seed).bytes(a.octets)
    recognised = 0
    print("mode          SNR dB  recognised as  octets  bit error rate")
    for mode in a.mode:
        samples = np.concatenate([SILENCE, hf.modulate(mode, message), SILENCE])
        for snr in a.snr:
            channel = hf.channel_model(f"{a.channel} snr={snr}", seed=a.seed,
                                       signal_power=mode.mean_power)
            found, octets = receive(channel.process(samples))
            recognised += found == str(mode)
            errors = bit_errors(message, octets)
            print(f"{str(mode):12s} {snr:7g}  {found or 'nothing':13s} {len(octets):7d}  "
                  f"{errors / (8 * a.octets):.2e}", flush=True)
    return 0 if recognised else 1


if __name__ == "__main__":
    sys.exit(main())
