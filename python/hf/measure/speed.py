# SPDX-License-Identifier: GPL-3.0-or-later
"""How many times faster than real time the engines and the flowgraph work. Engines by processor
time, so that other work on the machine does not count; the flowgraph by the clock."""
import time
from typing import List, NamedTuple, Tuple

import numpy as np

from .. import hf_python as hf

SAMPLE_RATE = 9600
MODES = ["4539-75S", "4539-600S", "4539-2400L", "4539-3200S", "4539-9600S", "4539-9600VL"]
# At 9600 bit/s, at least: normal and highest effort. No target is set for one pass.
TARGETS = {1: 60, 2: 10}


class Speed(NamedTuple):
    """Times real time; flowgraph: two stations in lock step, both directions simulated."""

    mode: str
    modulator: float
    receiver: Tuple[float, ...]  # by effort: 0, 1, 2
    idle_receiver: float
    flowgraph: float


def octets_for(mode: "hf.mode", seconds: float) -> int:
    """Octets of a transmission of about so many seconds."""
    return max(int(mode.rate_bps * seconds / 8), 16)


def measure(text: str, seconds: float) -> Speed:
    """Measure one mode with about so many seconds of signal."""
    from ..cli.sim import run_real
    mode = hf.mode(text)
    payload = np.random.default_rng(1).bytes(octets_for(mode, seconds))
    begin = time.thread_time()
    samples = hf.modulate(mode, payload)
    modulator = time.thread_time() - begin
    # The end of a message is told some symbols after its last sample.
    samples = np.concatenate([samples, np.zeros(SAMPLE_RATE // 2, np.complex64)])
    duration = len(samples) / SAMPLE_RATE

    rng = np.random.default_rng(2)
    noise = (rng.normal(size=len(samples)) + 1j * rng.normal(size=len(samples))) * 0.02
    heard = (samples + noise).astype(np.complex64)
    busy = []
    for effort in (0, 1, 2):
        receiver = hf.receiver(effort=effort)
        begin = time.thread_time()
        events = receiver.push(heard)
        busy.append(duration / (time.thread_time() - begin))
        if b"".join(e["octets"] for e in events if e["type"] == "octets") != payload:
            raise RuntimeError(f"{text}, effort {effort}: the receiver did not give back "
                               "what was sent")
    begin = time.thread_time()
    receiver.push(noise.astype(np.complex64))
    idle = time.thread_time() - begin

    begin = time.perf_counter()
    result = run_real(text, octets_for(mode, seconds), 2042, True, "awgn snr=30", 1, {},
                      20 * seconds + 200, False)
    flowgraph = result["end_s"] / (time.perf_counter() - begin)
    return Speed(text, duration / modulator, tuple(busy), duration / idle, flowgraph)


def table(rows: List[Speed]) -> str:
    """The rows as a Markdown table."""
    lines = ["| mode | modulator | receiver, effort 0 | 1 | 2 | receiver, noise | two stations |",
             "|---|---|---|---|---|---|---|"]
    for r in rows:
        cells = [f"{r.modulator:.0f}"]
        for effort, reached in enumerate(r.receiver):
            target = TARGETS.get(effort) if "-9600" in r.mode else None
            cells.append(f"{reached:.0f}" + (f" (target {target})" if target else ""))
        cells += [f"{r.idle_receiver:.0f}", f"{r.flowgraph:.0f}"]
        lines.append(f"| {r.mode} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
