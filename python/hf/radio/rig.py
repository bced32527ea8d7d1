# SPDX-License-Identifier: GPL-3.0-or-later
"""Frequency and mode of a transceiver, through hamlib's rigctld."""
import contextlib
from dataclasses import dataclass
import socket
import threading
import time
from typing import Callable, Iterator, List, Optional, Tuple

from .. import station
from .key import Key

#: Timeout of a command to the rig, s. A change of band moves relays and tuners.
_PATIENCE_S = 3.0
#: Wait for the answer whether a server wants a VFO with each command, s. Only rigctld knows it.
_VFO_S = 1.0
#: Least step of a dial, Hz. Frequencies closer than a step are equal.
_STEP_HZ = 1.0


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
        if mode and found.mode != mode:
            raise RigError(f"rig mode = '{mode}': the rig is in '{found.mode}'")
        off = frequency_hz and abs(found.frequency_hz - frequency_hz) >= _STEP_HZ
        if not off and (not passband_hz or found.passband_hz == passband_hz):
            return
        step_hz, filters = self._abilities()
        if off and abs(found.frequency_hz - frequency_hz) >= step_hz:
            raise RigError(f"rig frequency_hz = {frequency_hz:.0f}: the rig went to "
                           f"{found.frequency_hz:.0f} Hz")
        nearest = min(filters, key=lambda hz: abs(hz - passband_hz), default=passband_hz)
        if passband_hz and found.passband_hz not in (passband_hz, nearest):
            raise RigError(f"rig passband_hz = {passband_hz}: the rig has {found.passband_hz} Hz")

    def _abilities(self) -> "Tuple[float, List[int]]":
        """Smallest step of the dial, Hz, and the filters of the rig, Hz, as far as the server
        tells them. On a connection of its own, as the end of the answer depends on the version."""
        steps, filters, part = [], [], 0
        try:
            with contextlib.closing(_Connection(self.where)) as connection:
                connection.send("\\dump_state")
                # Three numbers, then ranges (received, transmitted), steps and filters. A line of
                # zeros ends each.
                for _ in range(1000):
                    words = connection.line(time.monotonic() + _PATIENCE_S).split()
                    if not words or words[0] == "RPRT":
                        break
                    if len(words) > 1 and not any(word.strip("0.x") for word in words):
                        part += 1
                        if part == 4:
                            break
                    elif part == 2:
                        steps.append(float(words[1]))
                    elif part == 3:
                        filters.append(int(float(words[1])))
        except (OSError, ValueError, IndexError):
            pass
        return min((hz for hz in steps if hz > 0), default=_STEP_HZ), [hz for hz in filters if hz]

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
            with contextlib.closing(self._connected()) as connection:
                yield lambda command: self._ask(connection, command)
        except OSError as error:
            raise RigError(f"{self._name()}: {error.strerror or error}; is it running (rigctld -m "
                           "MODEL -r DEVICE), and does no other program hold the rig?") from None

    def _connected(self) -> "_Connection":
        """A working connection. rigctld closes the rig after its last client, and drops new
        clients meanwhile, for example a station that restarts at once."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            connection = _Connection(self.where)
            try:
                connection.find_vfo()
                if connection.ended:
                    # A server that knows no chk_vfo, and may answer it later.
                    connection.close()
                    connection = _Connection(self.where)
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

    def _ask(self, connection: "_Connection", command: str) -> List[str]:
        """Send a command. Returns the lines of the answer."""
        wanted = 2 if command == "m" else 1
        connection.send(command)
        lines: List[str] = []
        until = time.monotonic() + _PATIENCE_S
        try:
            while len(lines) < wanted and not (lines and lines[0].startswith("RPRT")):
                lines.append(connection.line(until))
        except TimeoutError:
            raise OSError(f"it answered '{command}' by " + (
                f"'{connection.text(lines)}' and nothing more" if connection.text(lines)
                else "nothing")) from None
        if lines[0].startswith("RPRT"):
            # Some rigs cannot report whether they are keyed. Our own key is checked elsewhere.
            if command == "t":
                return [""]
            if lines[0].split()[1:] != ["0"]:
                raise RigError(f"{self._name()} refused '{command}': {lines[0]}; does this model "
                               "know it (rigctl -m MODEL -u)?")
        elif command[:1] in "FM":
            raise RigError(f"{self._name()}: it says '{lines[0]}' of '{command}'")
        return lines


class _Connection:
    """Lines to and from a server of hamlib's protocol."""

    def __init__(self, where: "Tuple[str, int]") -> None:
        self._socket = socket.create_connection(where, _PATIENCE_S)
        self._said = b""
        self._vfo = False  # each command names one
        self.ended = False  # an answer is missing, so the next one may be that

    def close(self) -> None:
        """Drop the connection."""
        self._socket.close()

    def find_vfo(self) -> None:
        """Ask whether the server wants a VFO with each command (rigctld -o), as hamlib's own
        client does."""
        self.send("\\chk_vfo")
        try:
            words = self.line(time.monotonic() + _VFO_S).split()
        except TimeoutError:
            self.ended = True
            return
        # rigctld says 1, older ones CHKVFO 1. Others answer by an error.
        self._vfo = words in (["1"], ["CHKVFO", "1"])

    def send(self, command: str) -> None:
        """Send a command."""
        name, _, values = command.partition(" ")
        if self._vfo and not name.startswith("\\"):
            name += " currVFO"
        self._socket.settimeout(_PATIENCE_S)
        self._socket.sendall(f"{name} {values}".strip().encode("ascii", "replace") + b"\n")

    def line(self, until: float) -> str:
        """The next line, without its end. Raises OSError."""
        while True:
            line, end, rest = self._said.partition(b"\n")
            if end:
                self._said = rest
                return line.decode("ascii", "replace").strip()
            self._socket.settimeout(max(0.001, until - time.monotonic()))
            piece = self._socket.recv(4096)
            if not piece:
                raise ConnectionError("it closed the connection")
            self._said += piece
            if len(self._said) > 1 << 16:
                raise OSError("its answer does not end")

    def text(self, lines: List[str]) -> str:
        """Lines and the part of one that has arrived, for messages."""
        return " ".join([*lines, self._said.decode("ascii", "replace").strip()]).strip()[:200]


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
