# SPDX-License-Identifier: GPL-3.0-or-later
"""Every hole made by a sound server is reported, checked sample by sample."""
import os
import signal
import time

from gnuradio import gr, hf
import sound
from ramp import Ramp
from waiting import until

#: PulseAudio: the clock decides after two windows of two seconds.
TOLD_WITHIN_S = 8


def test_a_server_that_stalls_leaves_no_hole_that_nobody_tells_of(tmp_path, monkeypatch):
    with sound.cables(tmp_path, ("east",)) as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        tb = gr.top_block()
        source, ramp = hf.audio_source("east_out"), Ramp()
        sink = hf.audio_sink("east_in")
        tb.connect(source, ramp, sink)
        tb.start()
        try:
            until(lambda: ramp.delay > 0)
            stalls = 0
            while len(ramp.holes) < 8 and stalls < 20:
                time.sleep(2)  # what it held before the last stall is played
                os.kill(environment.server, signal.SIGSTOP)
                # The stall itself, longer than what the device holds.
                time.sleep(1e-3 * sink.state().held_ms + 0.06)
                os.kill(environment.server, signal.SIGCONT)
                stalls += 1
            # Do not stop once enough are reported: surplus reports arrive in this time, too.
            time.sleep(TOLD_WITHIN_S)
        finally:
            tb.stop()
            tb.wait()
    told = sink.state().underruns
    print(f"{stalls} stalls, holes", [(zeros, missing) for _, zeros, missing in ramp.holes],
          f"told {told} times, load", os.getloadavg()[0])
    assert len(ramp.holes) >= 8 and source.state().lost == 0
    # A stall makes a hole. Some samples may come out in the middle of it: two holes, told once or
    # twice. If none come out between two underruns, one hole is told twice.
    times = [at for at, _, _ in ramp.holes]
    apart = 1 + sum(b - a > 1 for a, b in zip(times, times[1:]))
    assert apart <= told <= len(times) + apart
