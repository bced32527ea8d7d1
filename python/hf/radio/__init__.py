# SPDX-License-Identifier: GPL-3.0-or-later
"""Radios: what stands between a modem and the air. Every edge has source and sink, complex
baseband at the modem's rate, and keeps what is special about its device to itself."""
from typing import Any

from gnuradio import gr

from .. import station
from .audio import AudioRadio

__all__ = ["AudioRadio", "open_radio"]

_KINDS = {"audio": AudioRadio}


def open_radio(tb: gr.top_block, d: station.Description) -> Any:
    """Open the radio of a station, which must have one; its blocks are connected among
    themselves. Raises StationError, which names the file."""
    assert d.radio is not None
    where = f"{d.where} [radio]: " if d.where else "[radio]: "
    try:
        return _KINDS[d.radio.type](tb, d.radio)
    except (ValueError, RuntimeError) as error:
        raise station.StationError(where + str(error).split("\n", 1)[0]) from None
