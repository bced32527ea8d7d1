# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that holds a transmitter's key, so that the key cannot stick.

Run as a file of its own, without the rest of the package. The program that transmits writes lines
to its standard input: a JSON table of how to key first, then "down SECONDS" (the longest that the
key may stay down), "up" and, at least every second while the key is down, "alive". It answers in
lines: "ready", "down MS" and "up MS" (what the rig took), "error TEXT", and "broken TEXT" when the
key is not down although it should be.

The key goes up by itself when the input ends (the program died, however), when "alive" stays
away (it hangs), when the time is over, when the connection to the rig is lost, and on SIGTERM. A
key that does not go up is tried again until it does, over a new connection if need be.
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

#: A program that lives says so four times a second; s.
PATIENCE_S = 1.0
#: The longest that a rig may take for one command, s.
RIG_S = 0.5
#: Between two attempts to release a key that does not go up, s.
AGAIN_S = 0.25


class KeyTrouble(Exception):
    """The key does not do what it should; the text says why and what to try."""


class Way:
    """How a key is reached."""

    def fileno(self) -> Optional[int]:
        """What becomes readable when lost() is worth asking; None: nothing ever does."""
        return None

    def lost(self) -> str:
        """Why a key that is down cannot be trusted any more; empty: it can."""
        return ""


class Nothing(Way):
    """No key beside the audio: VOX, a tone in it, or a transmitter that keys itself."""

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
        self.set(False)

    def set(self, down: bool) -> None:
        """Key down or up, confirmed by the rig."""
        try:
            if self.socket is None:
                self.connect()
                if not down:
                    return
            self.ask(self.on if down else "T 0")
        except OSError as error:
            self.close()
            raise KeyTrouble(self.trouble(error)) from None

    def trouble(self, error: OSError) -> str:
        """In words."""
        host, port = self.where
        return (f"rigctld at {host}:{port}: {error.strerror or error}; is it running (rigctld -m "
                "MODEL -r DEVICE), and does no other program hold the rig?")

    def fileno(self) -> Optional[int]:
        return self.socket.fileno() if self.socket is not None else None

    def lost(self) -> str:
        """Nobody was asked anything: what is there to read is the end of the connection."""
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

    def connect(self) -> None:
        """A connection, and the key up on it, whatever it was left in; raises OSError or
        KeyTrouble."""
        until = time.monotonic() + RIG_S
        while True:
            self.socket = socket.create_connection(self.where, RIG_S)
            try:
                return self.ask("T 0")
            except ConnectionError:
                # rigctld closes the rig after its last client, and drops who comes meanwhile.
                self.close()
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def ask(self, command: str) -> None:
        """One command, and its answer in time; raises OSError or KeyTrouble."""
        assert self.socket is not None
        self.socket.settimeout(RIG_S)
        self.socket.sendall(command.encode() + b"\n")
        said, until = b"", time.monotonic() + RIG_S
        while not said.endswith(b"\n"):
            self.socket.settimeout(max(0.001, until - time.monotonic()))
            piece = self.socket.recv(256)
            if not piece:
                raise ConnectionError("it closed the connection")
            said += piece
            if len(said) > 4096:
                raise OSError("it talks without end")
        if said.strip() != b"RPRT 0":
            self.close()
            answer = said.decode("ascii", "replace").strip()
            raise KeyTrouble(f"rigctld refused '{command}': {answer}; does this model know PTT "
                             "(rigctl -m MODEL -u), or wants it -P RIG?")

    def close(self) -> None:
        """What comes late from a connection given up must not count for the next one."""
        if self.socket is not None:
            self.socket.close()
            self.socket = None


class Serial(Way):
    """RTS or DTR of a serial port, both low at other times."""

    LINES = {"rts": 0x004, "dtr": 0x002}
    TIOCMBIS, TIOCMBIC, BOTH = 0x5416, 0x5417, 0x006

    def __init__(self, c: Dict[str, Any]) -> None:
        self.device, self.line = c["device"], self.LINES[c["line"]]
        self.inverted = c["inverted"]
        try:
            self.fd = os.open(self.device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            # The system may raise both on opening.
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
        """Key down or up: report 0, then four registers, of which the second is the pins and
        the third their direction."""
        pins = self.mask if down != self.inverted else 0
        try:
            os.write(self.fd, bytes((0, 0, pins, self.mask, 0)))
        except OSError as error:
            raise KeyTrouble(f"CM108 at {self.device}: {error.strerror}") from None


class Command(Way):
    """A program of the operator's: COMMAND... 1 keys, COMMAND... 0 releases."""

    def __init__(self, c: Dict[str, Any]) -> None:
        self.command: List[str] = c["command"]
        self.set(False)

    def set(self, down: bool) -> None:
        """Key down or up; the program must end in time, and with status 0."""
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
    """A line of a GPIO chip, by libgpiod: its version 1 of Debian 12, or version 2."""

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
                # The line lives as long as its chip.
                self.chip = gpiod.Chip(self.device)
                wire = self.chip.get_line(self.number)
                wire.request(consumer="hf key", type=gpiod.LINE_REQ_DIR_OUT,
                             flags=gpiod.LINE_REQ_FLAG_ACTIVE_LOW if c["inverted"] else 0,
                             default_vals=[0])
                self.write = lambda down: wire.set_value(int(down))
        except (OSError, ValueError) as error:
            raise KeyTrouble(f"gpio line {self.number} of {self.device}: {error}; gpioinfo shows "
                             "the lines that there are and who holds them") from None
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
    """What the key is to be, what it is, and until when it may stay."""

    def __init__(self, config: Dict[str, Any]) -> None:
        self.key = WAYS[config["way"]](config)
        self.down = False          # what it is, as far as known
        self.until = 0.0           # it may stay down so long
        self.alive = 0.0           # when the program last said that it lives
        self.stuck = False         # it does not go up
        self.again = 0.0           # when to try next
        self.said = ""             # of errors in a row, the last one

    def set(self, down: bool) -> None:
        """Key down or up, and say what it took."""
        begin = time.monotonic()
        try:
            self.key.set(down)
        except KeyTrouble as error:
            self.complain("broken" if down else "error", str(error))
            # Whether the rig keyed cannot be known: it is released in any case.
            self.stuck = self.down = True
            self.again = time.monotonic() + AGAIN_S
            self.until = 0
            return
        self.down, self.stuck, self.said = down, False, ""
        say(f"{'down' if down else 'up'} {1e3 * (time.monotonic() - begin):.1f}")

    def complain(self, word: str, text: str) -> None:
        """Say what is wrong, once for all attempts in a row to release the key."""
        if word == "broken" or text != self.said:
            say(f"{word} {text}")
        self.said = text

    def hear(self, line: str) -> None:
        """A line from the program."""
        word, _, rest = line.partition(" ")
        self.alive = time.monotonic()
        if word == "down":
            self.until = self.alive + float(rest)
            self.set(True)
        elif word == "up":
            self.set(False)

    def watched(self) -> List[int]:
        """What to wait for beside the program."""
        fd = self.key.fileno() if self.down and not self.stuck else None
        return [] if fd is None else [fd]

    def look(self) -> float:
        """Release what must be released; returns when to look again at the latest, s from now."""
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
            why = f"the key was released: the program has not been alive for {PATIENCE_S} s"
        elif self.watched():
            why = self.key.lost()
        if why:
            self.complain("broken", why)
            self.set(False)
        return max(0.0, min(self.until, self.alive + PATIENCE_S) - now)

    def release(self) -> None:
        """The end: the key up, tried for some seconds."""
        until = time.monotonic() + 5
        while True:
            self.set(False)
            if not self.down or time.monotonic() > until:
                return
            time.sleep(AGAIN_S)


def say(line: str) -> None:
    """To the program, if it still listens."""
    try:
        os.write(1, (line.replace("\n", " ") + "\n").encode())
    except OSError:
        pass


def lines(data: bytearray) -> List[str]:
    """Take whole lines off."""
    *whole, rest = bytes(data).split(b"\n")
    data[:] = rest
    return [w.decode("utf-8", "replace") for w in whole]


def main() -> int:
    """Until the input ends."""
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
