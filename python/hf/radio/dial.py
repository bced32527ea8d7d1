# SPDX-License-Identifier: GPL-3.0-or-later
"""The frequency of an SDR while it runs, used as that of a rig."""
import contextlib
import threading
from typing import Callable, Optional

from .key import Key
from .rig import RigError, RigState


class SdrState(RigState):
    """frequency_hz is that of the dial an SSB transceiver would show on the same channel."""

    def text(self) -> str:
        """For people."""
        return f"{self.frequency_hz / 1e6:.6f} MHz on a dial"


class SdrDial:
    """Sets an SDR as radio.Rig sets a rig: between transmissions, and by the dial, so that a trial
    plan names one frequency for all stations."""

    def __init__(self, channel_hz: float, subcarrier_hz: float, tune: Callable[[float], None],
                 transmitting: Callable[[], bool], key: Optional[Key] = None) -> None:
        """channel_hz: middle of the channel now; subcarrier_hz: so much above the dial; tune: goes
        to another middle of the channel, raises RuntimeError and ValueError; transmitting: whether
        a transmission is under way."""
        self._above_hz, self._tune, self._transmitting = subcarrier_hz, tune, transmitting
        self._lock = threading.Lock()
        self.key = key
        self.known = SdrState(channel_hz - subcarrier_hz, "USB", 3000)  #: what it is set to

    def read(self) -> RigState:
        """What it is set to."""
        return self.known

    def set(self, frequency_hz: float = 0, mode: str = "", passband_hz: int = 0) -> RigState:
        """Go to that dial frequency, Hz; 0: as it is. mode: an upper sideband in hamlib's words,
        or empty. Raises RigError if it transmits, or the device cannot."""
        if mode and not mode.endswith("USB"):
            raise RigError(f"rig mode = '{mode}': an SDR has upper sideband alone")
        if not frequency_hz:
            return self.known
        with self._lock, contextlib.ExitStack() as stack:
            try:
                if self.key is not None:
                    stack.enter_context(self.key.held_up())
                if self._transmitting():
                    raise RuntimeError("it transmits")
                self._tune(frequency_hz + self._above_hz)
            except (RuntimeError, ValueError) as error:
                raise RigError(f"SDR: {error}: the frequency is not changed") from None
            self.known = SdrState(frequency_hz, self.known.mode, self.known.passband_hz)
        return self.known
