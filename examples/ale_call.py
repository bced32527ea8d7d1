#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""2G ALE without a flowgraph: a call through a simulated HF channel, read at several SNRs.

    build/run python3 examples/ale_call.py --to JOE --channel good --snr -6 -3 0
"""
import argparse
import sys
from typing import List, Optional

import numpy as np

from gnuradio import hf

RATE = 9600


def arguments(argv: Optional[List[str]]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n", maxsplit=1)[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--to", default="JOE", help="called address")
    parser.add_argument("--from", dest="own", default="SAM", help="own address")
    parser.add_argument("--channels", type=int, default=4, help="number that the called scans")
    parser.add_argument("--amd", default="QRV 14109", help="text message")
    parser.add_argument("--channel", default="good", help="channel as in hf.channel, without snr=")
    parser.add_argument("--snr", nargs="+", type=float, default=[-6, -3, 0, 6],
                        help="dB in 3 kHz")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="one SNR, for tests")
    a = parser.parse_args(argv)
    try:
        a.words = hf.ale_words(a.own, [a.to], a.channels, text=a.amd)
        hf.channel_model(a.channel)
    except ValueError as error:
        parser.error(str(error))
    if a.quick:
        a.snr = a.snr[-1:]
    return a


def main(argv: Optional[List[str]] = None) -> int:
    """Run the example. Returns the exit status."""
    a = arguments(argv)
    silence = np.zeros(2 * RATE, np.complex64)
    samples = np.concatenate([silence, hf.ale_modulate(a.words), silence])
    read = 0
    for snr in a.snr:
        channel = hf.channel_model(f"{a.channel} snr={snr}", seed=a.seed)
        receiver = hf.ale_receiver()
        for event in receiver.push(channel.process(samples)) + receiver.finish():
            if event["type"] == "frame":
                read += 1
                print(f"{snr:5g} dB: {event['text']}, {event['words']} of {len(a.words)} words, "
                      f"{event['snr_db']:.1f} dB")
    return 0 if read else 1


if __name__ == "__main__":
    sys.exit(main())
