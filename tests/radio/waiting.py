# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for what another process or thread does."""
import time
from typing import Callable


def until(condition: Callable[[], object], patience_s: float = 60) -> float:
    """Waits until it holds; how long that took, s. Fails when patience is over."""
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() < begin + patience_s, "did not happen"
        time.sleep(0.01)
    return time.monotonic() - begin
