# SPDX-License-Identifier: GPL-3.0-or-later
"""Channel files: the gains of a channel's paths over time, which learned=FILE replays."""
import json
from typing import Any, Dict, Sequence

import numpy as np

from ..system import output
from . import sigmf

#: SigMF extension that declares the hf: keys of a channel file.
EXTENSION = {"name": "hf", "version": "1.0.0", "optional": False}


def write(path: str, rate: float, delays_s: Sequence[float], gains: np.ndarray,
          description: str, more: Dict[str, Any]) -> None:
    """Write a channel file: a SigMF recording of complex floats, a SigMF channel for each path.

    path: either of its two files, or their common stem.
    rate: gains of a path per second.
    delays_s: delay of each path.
    gains: shape (times, paths), scaled here to a mean power of 1.
    more: further keys of the metadata.

    docs/channel.md gives the limits. Replaces existing files without asking. Raises
    output.OutputError.
    """
    gains = np.asarray(gains)
    gains = gains / np.sqrt(np.mean(np.sum(np.abs(gains) ** 2, axis=1)))
    meta = sigmf.sigmf_meta(rate, description, [])
    meta["global"]["core:num_channels"] = len(delays_s)
    meta["global"]["core:extensions"] = [EXTENSION]
    meta["global"]["hf:delays_s"] = [float(d) for d in delays_s]
    meta["global"].update(more)
    data_path, meta_path = sigmf.sigmf_files(path)
    with output.replacing_text(meta_path) as file, output.replacing(data_path) as data:
        data.write(np.ascontiguousarray(gains, "<c8").tobytes())
        json.dump(meta, file, indent=2)
        file.write("\n")
