# SPDX-License-Identifier: GPL-3.0-or-later
"""The air of the test driver for SoapySDR (tests/soapy_driver), for tests: what stations
transmitted and when, and faults to inject."""
import mmap
import os
from pathlib import Path
import struct
import time

import numpy as np

from gnuradio import hf

#: Where the driver is.
PLUGINS = Path(hf.__file__).resolve().parents[3] / "soapy"
#: The layout of struct station in driver_air.h.
FIELDS = ("lose", "lose_mute", "gone", "slow", "bursts", "late", "underflows", "sent", "asked_ns",
          "first_sample", "end_sample", "ready_ns", "worst_ready_ns", "worst_error", "gpio",
          "silent")
CHUNK, CHUNKS, HEADER = 256, 4096, 32
STATION = 8 * len(FIELDS) + CHUNKS * (8 + 8 * CHUNK)


def args(path, station=0, kind="soapy", rate=48000, more=""):
    """Device arguments of a station of that air. kind: soapy or uhd."""
    words = f"driver=hftest,air={path},station={station},rate={rate}{more}"
    return words if kind == "soapy" else f"type=soapy,{words}"


class Air:
    """Opened when the first device has made it."""

    def __init__(self, path):
        deadline = time.monotonic() + 30
        while not (os.path.exists(path) and os.path.getsize(path) >= HEADER + 4 * STATION):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        self.rate = struct.unpack_from("<d", self._map, 16)[0]

    def _at(self, station, name):
        return HEADER + station * STATION + 8 * FIELDS.index(name)

    def get(self, station, name):
        """A field of a station."""
        form = "<d" if name == "worst_error" else "<q"
        return struct.unpack_from(form, self._map, self._at(station, name))[0]

    def put(self, station, name, value):
        """Inject a fault."""
        struct.pack_into("<Q", self._map, self._at(station, name), value)

    def transmitted(self, station, first, count):
        """Samples of the air from a station; zeros where it sent nothing."""
        x = np.zeros(count, np.complex64)
        base = HEADER + station * STATION + 8 * len(FIELDS)
        for k in range(first // CHUNK, (first + count - 1) // CHUNK + 1):
            at = base + (k + 1) % CHUNKS * (8 + 8 * CHUNK)
            if struct.unpack_from("<Q", self._map, at)[0] != k + 1:
                continue
            found = np.frombuffer(self._map, np.complex64, CHUNK, at + 8)
            low, high = max(first, k * CHUNK), min(first + count, (k + 1) * CHUNK)
            x[low - first:high - first] = found[low - k * CHUNK:high - k * CHUNK]
        return x
