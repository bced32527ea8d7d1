# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures for several tests of radios."""
import pytest
from rig import Rig


@pytest.fixture
def rig():
    """A rig that speaks rigctld's protocol, and remembers how it was keyed."""
    found = Rig()
    yield found
    found.close()
