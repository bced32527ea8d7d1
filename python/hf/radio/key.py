# SPDX-License-Identifier: GPL-3.0-or-later
"""A transmitter's key: a block that receives key messages, and a process that keys."""
import contextlib
from dataclasses import asdict
import json
import os
import subprocess
import sys
import threading
import time
from typing import Any, Callable, Iterator, List, Optional

from gnuradio import gr
import pmt

from .. import station

#: Period of the keep-alive to the keyer process, s.
_ALIVE_S = 0.25
#: A device without sample progress for this long is lost; s.
_STALLED_S = 0.75
#: Longest transmission, s. STANAG 5066 Annex C limits the EOT to 127.5 s, and the last D_PDU may
#: start within it. The preamble and the radio's delays come on top.
_LONGEST_S = 140.0


class Key(gr.basic_block):
    """Keys the transmitter on messages from the key port of hf.to_audio.

    A separate process holds the key. It releases the key when this program dies or hangs, or its
    samples stop. Displays read latency_ms, errors() and down. If the key is up when it should be
    down, port events reports tx_damaged with reason unkeyed, and the modem ends the transmission.
    """

    def __init__(self, ptt: station.Ptt, progress: Callable[[], int],
                 say: Callable[[str], None], usable: Callable[[], bool] = lambda: True
                 ) -> None:
        """progress: any count that grows while samples flow to the device.
        say: called with lines for the operator, from other threads.
        usable: whether the device is open. If not, nothing is keyed.
        Raises RuntimeError if the key cannot be opened.
        """
        gr.basic_block.__init__(self, name="hf_key", in_sig=None, out_sig=None)
        self.down = False              #: state confirmed by the keyer
        self.latency_ms: Optional[float] = None  #: time that the rig took for the last key down
        self.highest_latency_ms = 0.0
        self._lead_ms = 1e3 * ptt.lead_s
        self._wanted = False
        self._held_up = False
        self._unanswered = 0  # commands to the keyer without answer
        self._progress, self._say, self._usable = progress, say, usable
        self._errors: List[str] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        config = {k: v for k, v in asdict(ptt).items() if k not in ("lead_s", "tail_s")}
        self._keyer = subprocess.Popen(
            [sys.executable, "-I", os.path.join(os.path.dirname(__file__), "keyer.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self._write(json.dumps(config))
        first = self._keyer.stdout.readline().decode("utf-8", "replace").strip()
        if first != "ready":
            self._keyer.wait(10)
            raise RuntimeError("ptt: " + (first.removeprefix("error ") or "the keyer ended"))
        self.message_port_register_out(pmt.intern("events"))
        self.message_port_register_in(pmt.intern("key"))
        self.set_msg_handler(pmt.intern("key"), self._on_key)
        self._threads = [threading.Thread(target=f, daemon=True)
                         for f in (self._hear, self._watch)]
        for t in self._threads:
            t.start()

    def errors(self) -> List[str]:
        """The last hundred errors."""
        with self._lock:
            return list(self._errors)

    def close(self) -> None:
        """Release the key and end the process. May be called more than once."""
        if self._ended.is_set():
            return
        self._ended.set()
        try:
            self._keyer.stdin.close()
        except OSError:
            pass
        try:
            self._keyer.wait(10)
        except subprocess.TimeoutExpired:
            self._trouble("the keyer does not end; is the transmitter still keyed?")
        self._threads[0].join(1)
        self.down = False

    @contextlib.contextmanager
    def held_up(self) -> Iterator[None]:
        """Prevent keying inside the block, for a change of frequency. Raises RuntimeError while
        the key is down."""
        with self._lock:
            if self._wanted or self.down or self._unanswered:
                raise RuntimeError("the transmitter is keyed")
            self._held_up = True
        try:
            yield
        finally:
            self._held_up = False

    def _on_key(self, message: Any) -> None:
        meta = pmt.to_python(pmt.car(message)) if pmt.is_pair(message) else None
        if not isinstance(meta, dict) or meta.get("type") != "key":
            return
        down = bool(meta.get("down"))
        if down and not self._usable():
            self._give_up("not keyed: the playback device is lost")
            return
        with self._lock:
            refused = down and self._held_up
            self._wanted = down and not refused
            self._unanswered += not refused
        if refused:
            self._give_up("not keyed: frequency or mode of the rig is being changed")
            return
        self._write(f"down {_LONGEST_S}" if self._wanted else "up")

    def _write(self, line: str) -> None:
        try:
            self._keyer.stdin.write(line.encode() + b"\n")
            self._keyer.stdin.flush()
        except (OSError, ValueError):
            if not self._ended.is_set():
                self._trouble("the keyer is gone")

    def _trouble(self, text: str) -> None:
        with self._lock:
            self._errors = self._errors[-99:] + [text]
        self._say(f"ptt: {text}")

    def _give_up(self, text: str) -> None:
        """Report an error that ends the transmission under way."""
        self._trouble(text)
        self.message_port_pub(pmt.intern("events"), pmt.cons(
            pmt.to_pmt({"type": "tx_damaged", "reason": "unkeyed"}), pmt.init_u8vector(0, [])))

    def _broken(self, text: str) -> None:
        """The keyer reports that the key is not in the requested state."""
        with self._lock:
            wanted, self._wanted = self._wanted, False
        (self._give_up if wanted else self._trouble)(text)

    def _hear(self) -> None:
        """Process the keyer's messages."""
        for raw in self._keyer.stdout:
            word, _, rest = raw.decode("utf-8", "replace").strip().partition(" ")
            if word == "error":
                self._trouble(rest)
            elif word == "broken":
                self._broken(rest)
            elif word in ("down", "up"):
                with self._lock:
                    self.down = word == "down"
                    self._unanswered = max(0, self._unanswered - 1)
                if self.down:
                    self._took(float(rest))
        self._unanswered = 0
        if not self._ended.is_set():
            self.down = False
            self._broken("the keyer has ended: keying is no longer possible")

    def _took(self, ms: float) -> None:
        self.latency_ms = ms
        if ms > max(self._lead_ms, self.highest_latency_ms):
            self._say(f"ptt: the rig took {ms:.0f} ms to key, more than the lead of "
                      f"{self._lead_ms:.0f} ms: the start of a transmission is lost; raise "
                      "lead_s")
        self.highest_latency_ms = max(self.highest_latency_ms, ms)

    def _watch(self) -> None:
        """Send keep-alives while samples flow."""
        last, since = -1, time.monotonic()
        while not self._ended.wait(_ALIVE_S):
            count, now = self._progress(), time.monotonic()
            if count != last:
                last, since = count, now
            if not self._wanted:
                continue
            if now - since < _STALLED_S:
                self._write("alive")
            else:
                with self._lock:
                    self._wanted = False
                    self._unanswered += 1
                self._write("up")
                self._give_up(f"no samples for {now - since:.1f} s while keyed: released")
