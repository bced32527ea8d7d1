# SPDX-License-Identifier: GPL-3.0-or-later
"""Intermediate results of the receiver for each transmission, as numpy files."""
import os
from typing import Any, Dict, List

import numpy as np

from ..system import output

#: Fields of NNN-blocks.npy, one row for each decoded interleaver block. time: its start, seconds
#: of input. The others are as in the events of hf.receiver.
FIELDS = ["time", "snr_db", "quality", "freq_offset_hz", "doppler_hz", "delay_spread_ms",
          "coded_ber"]

#: Arrays over all blocks of a transmission, concatenated: equalised data symbols, log-likelihood
#: ratios at the decoder's input, channel taps (a row per frame), and power at each delay (a row
#: per block).
ARRAYS = ["symbols", "llrs", "taps", "profile"]


class Dump:
    """Consumes the events of a receiver made with details=True and writes numpy files.

    Transmission NNN (from 001) becomes NNN-blocks.npy (FIELDS by name), NNN-symbols.npy,
    NNN-llrs.npy, NNN-taps.npy and NNN-profile.npy in a folder.

    Delays go in steps of half a symbol, 1/4800 s in 3 kHz. A transmission is kept in memory until
    it ends. Numpy files cannot hold the name of the program that wrote them. The folder must
    therefore hold none at the start, unless force is set. Raises output.OutputError.
    """

    def __init__(self, folder: str, force: bool = False) -> None:
        output.make_folder(folder)
        there = [n for n in sorted(os.listdir(folder)) if n.endswith(".npy")]
        if there and not force:
            raise output.Foreign(f"{os.path.join(folder, there[0])}: exists; give another folder "
                                 "or remove it")
        self._folder = folder
        self._blocks: List[Dict[str, Any]] = []
        self.transmissions = 0

    def handle(self, events: List[Dict[str, Any]]) -> None:
        """Process receiver events, in order."""
        for event in events:
            if event["type"] == "octets" and "symbols" in event:
                self._blocks.append(event)
            elif event["type"] == "end":
                self.finish()

    def finish(self) -> None:
        """Write the files of the current transmission, if it has any block."""
        if not self._blocks:
            return
        self.transmissions += 1
        blocks = np.array([tuple(b[f] for f in FIELDS) for b in self._blocks],
                          dtype=[(f, "f8") for f in FIELDS])
        self._write("blocks", blocks)
        for name in ARRAYS:
            parts = [np.asarray(b[name]) for b in self._blocks]
            self._write(name, np.stack(parts) if name == "profile" else np.concatenate(parts))
        self._blocks = []

    def _write(self, name: str, array: np.ndarray) -> None:
        path = os.path.join(self._folder, f"{self.transmissions:03}-{name}.npy")
        with output.replacing(path) as file:
            np.save(file, array)
