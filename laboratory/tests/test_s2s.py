# SPDX-License-Identifier: GPL-3.0-or-later
"""Ordinary connections between two Prosody, over TCP through the IP client."""
from gnuradio.hf.system import netns
import pytest

from hflab.programs import prosody

if why := prosody.why_not() or netns.why_not():
    pytest.skip(why, allow_module_level=True)

from hflab.programs import s2s  # noqa: E402


def test_the_first_message_pays_for_the_connections():
    first, *later = s2s.round_trips(9600, 2)
    assert len(later) == 2 and 0.5 < min(later) <= max(later) < first < 120
