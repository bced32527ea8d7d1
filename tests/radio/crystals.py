# SPDX-License-Identifier: GPL-3.0-or-later
"""Sound cables whose two ends have their own clocks: samples played at one rate come out at
another, resampled, as between two sound cards with different crystals."""
import contextlib
import fcntl
import os
import threading
import time

import numpy as np
import sound

RATE = 48000
#: Octets that wait in a pipe at the most: 85 ms.
_PIPE = 8192
#: Samples later than this will not arrive, s: a server that plays nothing writes nothing.
_LATE_S = 0.2
#: The crystals are looked at so often, s.
_STEP_S = 0.005


class Cable:
    """Reads samples played at RATE (1 + ppm) samples/s of the host's clock and writes them at
    RATE."""

    def __init__(self, played, heard, ppm):
        """played, heard: pipes, which the server holds as well."""
        self._in = os.open(played, os.O_RDONLY | os.O_NONBLOCK)
        self._out = os.open(heard, os.O_RDWR | os.O_NONBLOCK)
        for pipe in (self._in, self._out):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)
        self._step = 1 + 1e-6 * ppm
        self._x = np.zeros(4)   # not used up
        self._at = 1.0          # position of the next output sample in it
        self._given = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self):
        """End it."""
        self._ended.set()
        self._thread.join()
        os.close(self._in)
        os.close(self._out)

    def _run(self):
        begin = time.monotonic()
        while not self._ended.wait(_STEP_S):
            self._give(int((time.monotonic() - begin) * RATE) - self._given)

    def _give(self, n):
        at = self._at + self._step * np.arange(n)
        lacks = max(0, int(at[-1]) + 3 - len(self._x)) if n else 0
        try:
            data = os.read(self._in, 2 * lacks) if lacks else b""
        except BlockingIOError:
            data = b""
        if len(data) < 2 * lacks and n > _LATE_S * RATE:  # nobody plays
            data += bytes(2 * lacks - len(data))
        self._x = np.concatenate([self._x, np.frombuffer(data, "<i2").astype(float)])
        at = at[at.astype(int) + 3 <= len(self._x)]  # the rest after it has arrived
        n = len(at)
        k, f = at.astype(int), at % 1
        a, b, c, d = (self._x[k + j] for j in (-1, 0, 1, 2))
        # Cubic through four samples (Lagrange).
        y = (b + f * (c - a / 3 - b / 2 - d / 6 + f * ((a + c) / 2 - b + f * (
            (d - a) / 6 + (b - c) / 2))))
        with contextlib.suppress(BlockingIOError):  # nobody listens
            os.write(self._out, np.round(np.clip(y, -32768, 32767)).astype("<i2").tobytes())
        self._given += n
        self._at += self._step * n
        used = int(self._at) - 1
        self._x, self._at = self._x[used:], self._at - used


@contextlib.contextmanager
def cables(folder, ppm):
    """As sound.cables(); ppm: of each cable by its name, by which what plays into it is faster."""
    with sound.cables(folder, ()) as environment, contextlib.ExitStack() as stack:
        for name, off in ppm.items():
            pipes = [str(folder / f"{name}_{end}.pipe") for end in ("played", "heard")]
            form = [f"rate={RATE}", "format=s16le", "channels=1", "channel_map=mono"]
            sound.pactl(environment, "load-module", "module-pipe-sink", f"sink_name={name}",
                        f"file={pipes[0]}", *form)
            sound.pactl(environment, "load-module", "module-pipe-source",
                        f"source_name={name}.heard", f"file={pipes[1]}", *form)
            with open(folder / "asound.conf", "a") as file:
                server = environment["PULSE_SERVER"]
                for end, device in (("in", name), ("out", f"{name}.heard")):
                    file.write(f'pcm.{name}_{end} {{ type pulse; server "{server}"; '
                               f'device "{device}" }}\n')
            stack.callback(Cable(*pipes, off).close)
        yield environment
