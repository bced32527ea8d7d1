# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a file of 3000 octets gets from one station to another over sound devices, in real
time, with keyed rigs. Each run has its own sound server, programs and rigs.

    build/run python3 tests/radio/bench_file.py [RUNS [PPM]]

With PPM, the first station's playback device is this much faster than the second station's capture
device, and the way back is slower.
"""
import os
from pathlib import Path
import sys
import tempfile
import time

import crystals
from rig import Rig
import sound
from test_audio import move_a_file


def run(ppm):
    """Message of hf send if the file did not arrive, else empty."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rigs = [Rig(), Rig()]
        try:
            with (crystals.cables(folder, {"west": ppm, "east": -ppm}) if ppm
                  else sound.cables(folder)) as environment:
                return move_a_file(folder, environment, *rigs)
        finally:
            for rig in rigs:
                rig.close()


def main():
    """Print what became of each run, and how many arrived."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    ppm = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    arrived = 0
    for k in range(runs):
        begin = time.monotonic()
        said = run(ppm)
        arrived += not said
        print(f"run {k + 1}: {said.strip() or 'arrived'}, {time.monotonic() - begin:.0f} s, load "
              f"{os.getloadavg()[0]:.0f}", flush=True)
    print(f"{arrived} of {runs} arrived, {ppm:g} ppm between the sound devices")


if __name__ == "__main__":
    main()
