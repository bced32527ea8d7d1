# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that holds a transmitter's key, so that the key cannot stick.

This file runs alone, without the rest of the package. The transmitting program writes lines to its
standard input. The first line is a JSON table that says how to key. Then follow "down SECONDS"
(the longest time that the key may stay down), "up", and at least every second while the key is
down "alive". It answers with the lines "ready", "down MS" and "up MS" (time that the rig took),
"error TEXT", and "broken TEXT" if the key is up when it should be down.

The keyer releases the key by itself when its input ends (the program died), when no "alive"
arrives (the program hangs), when the time is over, when the connection to the rig is lost, and on
SIGTERM. It retries until the key is up, over a new connection if necessary.
"""
import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from typing import Any, Dict, List, Optional

#: Release the key after this time without "alive", s. The program sends four a second.
PATIENCE_S = 1.0
#: Timeout of a command to the rig, s.
RIG_S = 0.5
#: Wait for the answer whether a server wants a VFO with each command, s.
VFO_S = 1.0
#: Timeout of the first command, s: a rig on a slow CAT line is opened by it.
OPEN_S = 5.0
#: Retry interval for a key that does not go up, s.
AGAIN_S = 0.25


class KeyTrouble(Exception):
    """The key does not work. The text says why and what to try."""


class Way:
    """A way of keying."""

    def fileno(self) -> Optional[int]:
        """Descriptor that becomes readable when lost() should be called, or None."""
        return None

    def lost(self) -> str:
        """Why a key that is down can no longer be trusted. Empty if it can."""
        return ""


class Nothing(Way):
    """No separate key: VOX, a tone in the audio, or a transmitter that keys itself."""

    def __init__(self, _: Dict[str, Any]) -> None:
        pass

    def set(self, down: bool) -> None:
        """Key down or up."""


class Rigctld(Way):
    """Hamlib's rigctld over TCP: T 1 (microphone) or T 3 (data), T 0."""

    def __init__(self, c: Dict[str, Any]) -> None:
        self.where = (c["host"], c["port"])
        self.on = "T 3" if c["data"] else "T 1"
        self.socket: Optional[socket.socket] = None
        self.vfo: Optional[bool] = None  # whether each command names one (rigctld -o)
        self.set(False, OPEN_S)

    def set(self, down: bool, patience_s: float = RIG_S) -> None:
        """Key down or up, confirmed by the rig. patience_s: timeout of the connection's first
        command."""
        try:
            if self.socket is None:
                self.connect(patience_s)
                if not down:
                    return
            self.ask(self.on if down else "T 0", RIG_S)
        except OSError as error:
            self.close()
            raise KeyTrouble(self.trouble(error)) from None

    def trouble(self, error: OSError) -> str:
        """Error text with advice."""
        host, port = self.where
        return (f"rigctld at {host}:{port}: {error.strerror or error}; is it running (rigctld -m "
                "MODEL -r DEVICE), and does no other program hold the rig?")

    def fileno(self) -> Optional[int]:
        return self.socket.fileno() if self.socket is not None else None

    def lost(self) -> str:
        """See Way.lost(). No answer is pending, so readable means that the connection ended."""
        assert self.socket is not None
        self.socket.settimeout(0)
        try:
            if self.socket.recv(4096):
                return ""
            raise ConnectionError("it closed the connection while keyed")
        except BlockingIOError:
            return ""
        except OSError as error:
            self.close()
            return self.trouble(error)

    def connect(self, patience_s: float) -> None:
        """Connect, and release the key in case it was left down. Raises OSError or KeyTrouble."""
        until = time.monotonic() + RIG_S
        while True:
            self.socket = socket.create_connection(self.where, RIG_S)
            try:
                if self.vfo is None:
                    self.find_vfo()
                return self.ask("T 0", patience_s)
            except ConnectionError:
                # After its last client, rigctld closes the rig and drops clients meanwhile.
                self.close()
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def find_vfo(self) -> None:
        """Ask whether the server wants a VFO with each command, as hamlib's own client does. Other
        servers answer by an error, or not at all."""
        try:
            words = self.answer("\\chk_vfo", VFO_S).split()
            self.vfo = words in (["1"], ["CHKVFO", "1"])
        except TimeoutError:
            self.vfo = False
            self.close()  # the answer may come later
            self.socket = socket.create_connection(self.where, RIG_S)

    def ask(self, command: str, patience_s: float) -> None:
        """Send a command and wait for its answer. Raises OSError or KeyTrouble."""
        sent = command.replace("T ", "T currVFO ") if self.vfo else command
        answer = self.answer(sent, patience_s)
        if answer != "RPRT 0":
            self.close()
            raise KeyTrouble(f"rigctld refused '{command}': {answer}; does this model know PTT "
                             "(rigctl -m MODEL -u), or does it need -P RIG?")

    def answer(self, command: str, patience_s: float) -> str:
        """The answer to a command, one line. Raises OSError."""
        assert self.socket is not None
        self.socket.settimeout(patience_s)
        self.socket.sendall(command.encode() + b"\n")
        said, until = b"", time.monotonic() + patience_s
        while not said.endswith(b"\n"):
            self.socket.settimeout(max(0.001, until - time.monotonic()))
            piece = self.socket.recv(256)
            if not piece:
                raise ConnectionError("it closed the connection")
            said += piece
            if len(said) > 4096:
                raise OSError("its answer does not end")
        return said.decode("ascii", "replace").strip()

    def close(self) -> None:
        """Drop the connection, so that a late answer is not taken for that of a later command."""
        if self.socket is not None:
            self.socket.close()
            self.socket = None


class Serial(Way):
    """RTS or DTR of a serial port. Both are low when not keyed."""

    LINES = {"rts": 0x004, "dtr": 0x002}
    TIOCMBIS, TIOCMBIC, BOTH = 0x5416, 0x5417, 0x006

    def __init__(self, c: Dict[str, Any]) -> None:
        self.device, self.line = c["device"], self.LINES[c["line"]]
        self.inverted = c["inverted"]
        try:
            self.fd = os.open(self.device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            # The system may raise both lines on opening.
            self.bits(self.TIOCMBIC, self.BOTH)
            self.set(False)
        except OSError as error:
            raise KeyTrouble(
                f"serial port {self.device}: {error.strerror}; is it the right name, and does "
                "this user belong to the group dialout?") from None

    def bits(self, request: int, which: int) -> None:
        """Set or clear modem lines."""
        fcntl.ioctl(self.fd, request, struct.pack("I", which))

    def set(self, down: bool) -> None:
        """Key down or up."""
        try:
            self.bits(self.TIOCMBIS if down != self.inverted else self.TIOCMBIC, self.line)
        except OSError as error:
            raise KeyTrouble(f"serial port {self.device}: {error.strerror}") from None


class Cm108(Way):
    """A GPIO pin of a sound chip of the CM108 family, over its hidraw device."""

    def __init__(self, c: Dict[str, Any]) -> None:
        self.device, self.mask = c["device"], 1 << (c["pin"] - 1)
        self.inverted = c["inverted"]
        try:
            self.fd = os.open(self.device, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            raise KeyTrouble(f"CM108 at {self.device}: {error.strerror}; hidraw devices need a "
                             "rule of udev to be writable") from None
        self.set(False)

    def set(self, down: bool) -> None:
        """Key down or up. Octets: report 0, then four registers. The second register holds the
        pins, the third their direction."""
        pins = self.mask if down != self.inverted else 0
        try:
            os.write(self.fd, bytes((0, 0, pins, self.mask, 0)))
        except OSError as error:
            raise KeyTrouble(f"CM108 at {self.device}: {error.strerror}") from None


class Command(Way):
    """The operator's own program: COMMAND... 1 keys, COMMAND... 0 releases."""

    def __init__(self, c: Dict[str, Any]) -> None:
        self.command: List[str] = c["command"]
        self.set(False)

    def set(self, down: bool) -> None:
        """Key down or up. The program must end with status 0 within RIG_S."""
        name = " ".join(self.command)
        try:
            ended = subprocess.run([*self.command, "1" if down else "0"], timeout=RIG_S,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            raise KeyTrouble(f"command '{name}': still running after {RIG_S} s") from None
        except OSError as error:
            raise KeyTrouble(f"command '{name}': {error.strerror}") from None
        if ended.returncode != 0:
            said = ended.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            raise KeyTrouble(f"command '{name}': status {ended.returncode} "
                             + "".join(said))


class Gpio(Way):
    """A line of a GPIO chip, through libgpiod 1 (Debian 12) or 2."""

    def __init__(self, c: Dict[str, Any]) -> None:
        self.device, self.number = c["device"], c["gpio_line"]
        try:
            import gpiod
        except ImportError:
            raise KeyTrouble("gpio: the module gpiod is missing (Debian: python3-libgpiod)"
                             ) from None
        try:
            if hasattr(gpiod, "request_lines"):
                line = gpiod.line
                request = gpiod.request_lines(
                    self.device, consumer="hf key", config={self.number: gpiod.LineSettings(
                        direction=line.Direction.OUTPUT, active_low=c["inverted"],
                        output_value=line.Value.INACTIVE)})
                self.write = lambda down: request.set_value(
                    self.number, line.Value.ACTIVE if down else line.Value.INACTIVE)
            else:
                # Keep the chip. Its lines are released with it.
                self.chip = gpiod.Chip(self.device)
                wire = self.chip.get_line(self.number)
                wire.request(consumer="hf key", type=gpiod.LINE_REQ_DIR_OUT,
                             flags=gpiod.LINE_REQ_FLAG_ACTIVE_LOW if c["inverted"] else 0,
                             default_vals=[0])
                self.write = lambda down: wire.set_value(int(down))
        except (OSError, ValueError) as error:
            raise KeyTrouble(f"gpio line {self.number} of {self.device}: {error}; gpioinfo shows "
                             "all lines and who holds them") from None
        self.set(False)

    def set(self, down: bool) -> None:
        """Key down or up."""
        try:
            self.write(down)
        except OSError as error:
            raise KeyTrouble(f"gpio line {self.number} of {self.device}: {error}") from None


WAYS = {"none": Nothing, "tone": Nothing, "rigctld": Rigctld, "serial": Serial, "cm108": Cm108,
        "gpio": Gpio, "command": Command}


class Keyer:
    """State machine of the key, with its time limits."""

    def __init__(self, config: Dict[str, Any]) -> None:
        self.key = WAYS[config["way"]](config)
        self.down = False          # state, as far as known
        self.until = 0.0           # latest time to release it
        self.alive = 0.0           # time of the last line from the program
        self.stuck = False         # it does not go up
        self.again = 0.0           # time of the next retry
        self.said = ""             # the last of consecutive errors

    def set(self, down: bool) -> None:
        """Key down or up, and report the time it took."""
        begin = time.monotonic()
        try:
            self.key.set(down)
        except KeyTrouble as error:
            self.complain("broken" if down else "error", str(error))
            # The rig may have keyed. Release it in any case.
            self.stuck = self.down = True
            self.again = time.monotonic() + AGAIN_S
            self.until = 0
            return
        self.down, self.stuck, self.said = down, False, ""
        say(f"{'down' if down else 'up'} {1e3 * (time.monotonic() - begin):.1f}")

    def complain(self, word: str, text: str) -> None:
        """Report an error, but only once for consecutive attempts to release the key."""
        if word == "broken" or text != self.said:
            say(f"{word} {text}")
        self.said = text

    def hear(self, line: str) -> None:
        """Process a line from the program."""
        word, _, rest = line.partition(" ")
        self.alive = time.monotonic()
        if word == "down":
            self.until = self.alive + float(rest)
            self.set(True)
        elif word == "up":
            self.set(False)

    def watched(self) -> List[int]:
        """Descriptors to wait for besides standard input."""
        fd = self.key.fileno() if self.down and not self.stuck else None
        return [] if fd is None else [fd]

    def look(self) -> float:
        """Release the key if necessary. Returns the time until the next call at the latest, s."""
        now = time.monotonic()
        if not self.down:
            return 3600
        if self.stuck:
            if now >= self.again:
                self.set(False)
            return max(0.0, self.again - now)
        why = ""
        if now >= self.until:
            why = "the key was released: the longest transmission is over"
        elif now >= self.alive + PATIENCE_S:
            why = f"the key was released: no \"alive\" from the program for {PATIENCE_S} s"
        elif self.watched():
            why = self.key.lost()
        if why:
            self.complain("broken", why)
            self.set(False)
        return max(0.0, min(self.until, self.alive + PATIENCE_S) - now)

    def release(self) -> None:
        """Release the key at the end, with retries for 5 s."""
        until = time.monotonic() + 5
        while True:
            self.set(False)
            if not self.down or time.monotonic() > until:
                return
            time.sleep(AGAIN_S)


def say(line: str) -> None:
    """Write a line to the program. Ignored if it no longer listens."""
    try:
        os.write(1, (line.replace("\n", " ") + "\n").encode())
    except OSError:
        pass


def lines(data: bytearray) -> List[str]:
    """Remove complete lines from data and return them."""
    *whole, rest = bytes(data).split(b"\n")
    data[:] = rest
    return [w.decode("utf-8", "replace") for w in whole]


def main() -> int:
    """Serve the key until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    ending: List[int] = []
    wake, woken = os.pipe()
    for fd in (wake, woken):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(woken)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda n, _: ending.append(n))
    heard = bytearray()
    first: List[str] = []
    while not first:
        piece = os.read(0, 65536)
        if not piece:
            return 0
        heard += piece
        first = lines(heard)
    try:
        keyer = Keyer(json.loads(first[0]))
    except KeyTrouble as error:
        say(f"error {error}")
        return 1
    say("ready")
    for line in first[1:]:
        keyer.hear(line)
    while not ending:
        wait = keyer.look()
        ready, _, _ = select.select([0, wake, *keyer.watched()], [], [], wait)
        if 0 not in ready:
            continue
        piece = os.read(0, 65536)
        if not piece:
            break
        heard += piece
        for line in lines(heard):
            keyer.hear(line)
    keyer.release()
    return 0


if __name__ == "__main__":
    sys.exit(main())
