# SPDX-License-Identifier: GPL-3.0-or-later
"""Radios between a modem and the air. Each has a source and a sink of complex baseband at the
modem's rate, and hides the details of its device."""
from typing import Any, Callable, List

from gnuradio import gr

from .. import station
from ..station.edge import Edge
from . import priority
from .audio import AudioRadio
from .file import FileRadio
from .recorder import Recorder
from .rig import Rig
from .sdr import SdrRadio
from .wide import WideReceiver
from .wide_sdr import WideSdrRadio

__all__ = ["AudioRadio", "FileRadio", "Recorder", "Rig", "SdrRadio", "WideReceiver",
           "WideSdrRadio", "open_radio", "record"]

_KINDS = {"audio": AudioRadio, "file": FileRadio, "soapy": SdrRadio, "uhd": SdrRadio}


def open_radio(tb: gr.top_block, d: station.Description) -> Edge:
    """Open the radio of a station and connect its blocks to each other. The station must have one.
    A live radio raises the program's priority, see priority.go_first(). Raises StationError for a
    wrong file and RuntimeError for a device or rig that does not work. Both name the file."""
    assert d.radio is not None
    if d.radio.type != "file":
        priority.go_first()  # before the device starts its threads
    where = f"{d.where} [radio]: " if d.where else "[radio]: "
    try:
        if d.ale is not None and d.ale.wide:
            return WideSdrRadio(tb, d.radio, d.ale.frequencies_hz, d.sample_rate)
        return _KINDS[d.radio.type](tb, d.radio, d.sample_rate)
    except (ValueError, RuntimeError) as error:
        kind = station.StationError if isinstance(error, ValueError) else RuntimeError
        raise kind(where + str(error).split("\n", 1)[0]) from None


def record(tb: gr.top_block, s: station.Station, received: Any, rate: float,
           say: Callable[[str], None]) -> List[Recorder]:
    """Record what the station's file asks for. Call before the flowgraph starts.

    received: block with the station's baseband; rate: its samples/s. Keep the returned recorders
    while the flowgraph runs. Raises output.OutputError.
    """
    r = s.description.record
    if r is None:
        return []
    recorders = []
    streams = [(received, "received")] + ([(s.modem, "transmitted")] if r.transmitted else [])
    for block, what in streams:
        recorder = Recorder(r.folder, f"{s.description.name}-{what}", rate,
                            r.max_mb * 1000000 // len(streams), r.file_s,
                            f"station {s.description.name}, {what}", say)
        tb.connect(block, recorder)
        tb.msg_connect(s.modem, "status", recorder, "status")
        recorders.append(recorder)
    return recorders
