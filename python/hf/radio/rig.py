# SPDX-License-Identifier: GPL-3.0-or-later
"""Frequency and mode of a transceiver, through hamlib's rigctld."""
import contextlib
from dataclasses import dataclass
import socket
import threading
import time
from typing import Callable, Iterator, List, Optional

from .. import station
from .key import Key

#: Timeout of a command to the rig, s. A change of band moves relays and tuners.
_PATIENCE_S = 3.0
#: Frequencies closer than this are equal, since rigs round to steps of 1 Hz.
_SAME_HZ = 1.0


class RigError(RuntimeError):
    """The rig did not obey. The text says what was asked, and what it did or what to try."""


@dataclass
class RigState:
    """State reported by a rig. Frequency of the dial and passband in Hz, mode in hamlib's
    words."""

    frequency_hz: float
    mode: str
    passband_hz: int

    def text(self) -> str:
        """The state as text for the user."""
        return f"{self.frequency_hz / 1e6:.6f} MHz, {self.mode}, passband {self.passband_hz} Hz"


class Rig:
    """A rig behind rigctld. Each use opens a connection. Keying has another connection and does
    not wait for this one. While frequency or mode are set, keying is refused."""

    def __init__(self, host: str, port: int, key: Optional[Key] = None) -> None:
        self.where = (host, port)
        self.known: Optional[RigState] = None  #: state at the last read
        self.key = key
        self._lock = threading.Lock()

    def read(self) -> RigState:
        """Read the rig's state. Raises RigError."""
        with self._lock, self._connection() as ask:
            return self._read(ask)

    def set(self, frequency_hz: float = 0, mode: str = "", passband_hz: int = 0) -> RigState:
        """Set frequency and mode, then read them back. 0 and empty: unchanged. Passband 0: the
        usual one of the mode. Raises RigError if the rig is keyed, refuses, or reads back another
        value."""
        if passband_hz and not mode:
            raise RigError(f"rig passband_hz = {passband_hz}: needs mode as well")
        with self._lock, contextlib.ExitStack() as stack:
            if self.key is not None:
                try:
                    stack.enter_context(self.key.held_up())
                except RuntimeError as error:
                    raise RigError(f"rig: {error}: neither frequency nor mode is changed"
                                   ) from None
            ask = stack.enter_context(self._connection())
            if ask("t")[0] not in ("0", ""):
                raise RigError("rig: it reports that it is keyed: neither frequency nor mode is "
                               "changed")
            # Set the mode first. Some rigs move the dial with it.
            if mode:
                ask(f"M {mode} {passband_hz}")
            if frequency_hz:
                ask(f"F {frequency_hz:.0f}")
            found = self._read(ask)
        self._compare(found, frequency_hz, mode, passband_hz)
        return found

    def _compare(self, found: RigState, frequency_hz: float, mode: str, passband_hz: int) -> None:
        if frequency_hz and abs(found.frequency_hz - frequency_hz) >= _SAME_HZ:
            raise RigError(f"rig frequency_hz = {frequency_hz:.0f}: the rig went to "
                           f"{found.frequency_hz:.0f} Hz")
        if mode and found.mode != mode:
            raise RigError(f"rig mode = '{mode}': the rig is in '{found.mode}'")
        if passband_hz and found.passband_hz != passband_hz:
            raise RigError(f"rig passband_hz = {passband_hz}: the rig has {found.passband_hz} Hz")

    def _read(self, ask: "Callable[[str], List[str]]") -> RigState:
        frequency, mode = ask("f"), ask("m")
        try:
            self.known = RigState(float(frequency[0]), mode[0], int(mode[1]))
        except (ValueError, IndexError):
            raise RigError(f"{self._name()}: it says '{' '.join(frequency + mode)}' of frequency "
                           "and mode") from None
        return self.known

    def _name(self) -> str:
        return f"rigctld at {self.where[0]}:{self.where[1]}"

    @contextlib.contextmanager
    def _connection(self) -> "Iterator[Callable[[str], List[str]]]":
        try:
            with self._connected() as connection:
                yield lambda command: self._ask(connection, command)
        except OSError as error:
            raise RigError(f"{self._name()}: {error.strerror or error}; is it running (rigctld -m "
                           "MODEL -r DEVICE), and does no other program hold the rig?") from None

    def _connected(self) -> socket.socket:
        """A working connection. rigctld closes the rig after its last client, and drops new
        clients meanwhile, for example a station that restarts at once."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            connection = socket.create_connection(self.where, _PATIENCE_S)
            try:
                self._ask(connection, "t")
                return connection
            except ConnectionError:
                connection.close()
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)
            except BaseException:
                connection.close()
                raise

    def _ask(self, connection: socket.socket, command: str) -> List[str]:
        """Send a command. Returns the lines of the answer."""
        wanted = {"f": 1, "t": 1, "m": 2}.get(command, 1)
        connection.sendall(command.encode("ascii", "replace") + b"\n")
        said, until = b"", time.monotonic() + _PATIENCE_S
        while said.count(b"\n") < wanted and not said.startswith(b"RPRT"):
            connection.settimeout(max(0.001, until - time.monotonic()))
            piece = connection.recv(256)
            if not piece:
                raise ConnectionError("it closed the connection")
            said += piece
            if len(said) > 4096:
                raise OSError("its answer does not end")
        lines = said.decode("ascii", "replace").split("\n")[:-1]
        if lines and lines[0].startswith("RPRT"):
            # Some rigs cannot report whether they are keyed. Our own key is checked elsewhere.
            if command == "t":
                return [""]
            if lines[0] != "RPRT 0":
                raise RigError(f"{self._name()} refused '{command}': {lines[0]}; does this model "
                               "know it (rigctl -m MODEL -u)?")
        return lines


def open_rig(r: station.Radio, key: Optional[Key], say: Callable[[str], None]) -> Optional[Rig]:
    """The rig of a radio, set as in its station file, or None without [radio.rig]. say: called
    with a line for the operator. Raises RigError."""
    if r.rig is None:
        return None
    rig = Rig(r.ptt.host, r.ptt.port, key)
    found = rig.set(r.rig.frequency_hz, r.rig.mode, r.rig.passband_hz) \
        if r.rig.frequency_hz or r.rig.mode else rig.read()
    say(f"rig: {found.text()}")
    return rig
