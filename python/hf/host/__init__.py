# SPDX-License-Identifier: GPL-3.0-or-later
"""Host ports: programs made for the modems of radio amateurs use a station's data link.

A session is two call signs and a byte stream with flush and abort (session.py). It is one HF-PEP
stream between the engines of two stations (engine.py). The ports translate (ardop.py, vara.py,
agwpe.py). Frames without a session go as U_PDUs without ARQ (frames.py, kiss.py).
"""
from .ports import HostPorts

__all__ = ["HostPorts"]
