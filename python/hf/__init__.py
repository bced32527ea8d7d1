# SPDX-License-Identifier: GPL-3.0-or-later
"""gr-hf: TCP and IP over HF radio.

Blocks (also in GNU Radio Companion under [HF]): modem, tx, rx, ale_tx, ale_rx, ale_station,
channel, air, data_link, pep, ip_client, traffic, sis_server, sis_client, modem_server,
modem_client, ticker, from_audio, to_audio, from_sdr, to_sdr, soapy_source, soapy_sink.
Engines without a flowgraph: mode, timing, modulate(), receiver, ale_words(), ale_modulate(),
ale_receiver, combine(), combining_receiver, channel_model, audio_to_baseband, baseband_to_audio.
"""
from .hf_python import *  # noqa: F401,F403
from .version import __version__  # noqa: F401
from .combination import combine  # noqa: F401
from . import settings as _settings

_settings.document()
