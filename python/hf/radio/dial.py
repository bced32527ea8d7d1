# SPDX-License-Identifier: GPL-3.0-or-later
"""Frequency of a running SDR, with the interface of a rig."""
import contextlib
import threading
from typing import Callable, Optional

from .key import Key
from .rig import RigError, RigState


class SdrState(RigState):
    """State of an SDR. frequency_hz: what an SSB transceiver's dial shows on this channel."""

    def text(self) -> str:
        """The state as text for the user."""
        return f"{self.frequency_hz / 1e6:.6f} MHz on a dial"


class SdrDial:
    """Tunes an SDR like radio.Rig tunes a rig: between transmissions, and by dial frequency. A
    trial plan can therefore give one frequency for all stations."""

    def __init__(self, channel_hz: float, subcarrier_hz: float, tune: Callable[[float], None],
                 transmitting: Callable[[], bool], key: Optional[Key] = None) -> None:
        """channel_hz: middle of the channel now.
        subcarrier_hz: its distance above the dial frequency.
        tune: called with a new middle of the channel, raises RuntimeError and ValueError.
        transmitting: whether a transmission is under way.
        """
        self._above_hz, self._tune, self._transmitting = subcarrier_hz, tune, transmitting
        self._lock = threading.Lock()
        self.key = key
        self.known = SdrState(channel_hz - subcarrier_hz, "USB", 3000)  #: current setting

    def read(self) -> RigState:
        """The current setting."""
        return self.known

    def set(self, frequency_hz: float = 0, mode: str = "", passband_hz: int = 0) -> RigState:
        """Tune to a dial frequency in Hz, 0: unchanged. mode: an upper sideband in hamlib's words,
        or empty. Raises RigError during a transmission, or if the device cannot tune there."""
        if mode and not mode.endswith("USB"):
            raise RigError(f"rig mode = '{mode}': an SDR has upper sideband only")
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
