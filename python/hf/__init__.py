# SPDX-License-Identifier: GPL-3.0-or-later
"""gr-hf: TCP and IP over HF radio.

Blocks (also in GNU Radio Companion under [HF]): modem, tx, rx, ale_tx, ale_rx, ale_station,
channel, air, data_link, pep, ip_client, traffic, sis_server, sis_client, modem_server,
modem_client, ticker, from_audio, to_audio, from_sdr, to_sdr, soapy_source, soapy_sink.
Stages of a waveform: tx_chain, rx_chain, and what they are made of (docs/how-to/blocks.md); its
tables as numpy arrays: waveform.
Engines without a flowgraph: mode, timing, modulate(), receiver, ale_words(), ale_modulate(),
ale_receiver, combine(), combining_receiver, channel_model, audio_to_baseband, baseband_to_audio.
"""
import os as _os
import sys as _sys
from typing import Any as _Any, List as _List

from .version import __version__  # noqa: F401

_MODULES = {_name.split(".")[0] for _name in _os.listdir(_os.path.dirname(__file__))}


def _load() -> None:
    """The blocks and engines. They take half a second, so that `hf --help` does without."""
    from . import hf_python
    from .signals.combination import combine
    from .station import settings
    blocks = {name: value for name, value in vars(hf_python).items() if name[0] != "_"}
    globals().update({**blocks, **globals(), "combine": combine, "_loaded": True})
    settings.document()


def __getattr__(name: str) -> _Any:
    if name == "__all__":
        return [known for known in __dir__() if not known.startswith("_")]
    if name.startswith("_") or name in _MODULES or "_loaded" in globals():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _load()
    return getattr(_sys.modules[__name__], name)


def __dir__() -> _List[str]:
    if "_loaded" not in globals():
        _load()
    return [name for name in globals() if not name.startswith("_") or name.startswith("__")]
