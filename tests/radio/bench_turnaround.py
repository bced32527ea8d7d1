# SPDX-License-Identifier: GPL-3.0-or-later
"""The time from the end of a reception on the air to the first sample of the answer there, without
the decoder's delay and the key's lead, in counts of samples.

    build/run python3 tests/radio/bench_turnaround.py [QUESTIONS]

Over sound devices (a cable of its own sound server, whose delay counts too) with several leads.
Over SDRs (the tests' driver for SoapySDR, and UHD) with several latencies. Nothing is keyed. A
question takes two and a half seconds.
"""
import os
from pathlib import Path
import sys
import tempfile
import time

from gnuradio import blocks, gr
from gnuradio.hf import radio, station
from gnuradio.hf.radio import priority
import numpy as np
import pmt
import sound
from air import Air, PLUGINS, args
from answering import Asking
from waiting import until

os.environ["SOAPY_SDR_PLUGIN_PATH"] = str(PLUGINS)


def over_sound(questions, lead_s, buffer_s):
    """Turnarounds in ms, how often playback ran empty, and what the radio shows of its parts, mean
    over the questions, ms."""
    tb = gr.top_block()
    radios = [radio.AudioRadio(tb, station.Radio(
        capture="east_out", playback="east_in", buffer_s=buffer_s,
        ptt=station.Ptt(lead_s=lead_s))) for _ in range(2)]
    asking = Asking(tb, *radios)
    tb.start()
    until(lambda: asking.player.count > 5 * 9600)  # servers begin slowly
    found, parts = [], []
    for _ in range(questions):
        ends = asking.ask()
        parts.append(radios[1].turnaround_parts_ms())
        if ends is not None:
            found.append((asking.heard_itself(ends[1]) - ends[1]) / 9.6 - 1e3 * lead_s)
    tb.stop()
    tb.wait()
    for r in radios:
        r.close()
    return (found, radios[1].playback.state().underruns,
            {name: np.mean([p[name] for p in parts]) for name in parts[0]})


def over_sdr(questions, kind, latency_s, moments=None):
    """Turnarounds in ms, how many bursts were late, by how much the others came ahead of their
    time at the least, ms, and the turnaround that is shown, ms. moments takes the times
    (time.monotonic()) between which each answer was decided."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "air"
        tb = gr.top_block()
        radios = [radio.SdrRadio(tb, station.Radio(type=kind, sdr=station.Sdr(
            args=args(path, k, kind), frequency_hz=7e6, sample_rate=48000,
            latency_s=latency_s if k else 0.3))) for k in range(2)]
        asking, times = Asking(tb, *radios), blocks.message_debug(False)
        tb.msg_connect(radios[1].source, "time", times, "store")
        tb.start()
        air = Air(path)
        until(lambda: asking.player.count > 9600)
        origin = pmt.to_python(pmt.car(times.get_message(0)))
        origin = origin["seconds"] + origin["fraction"]
        found = []
        for _ in range(questions):
            bursts = air.get(1, "bursts")
            ends = asking.ask()
            if ends is not None:
                told = time.monotonic()
                until(lambda: air.get(1, "bursts") > bursts)
                if moments is not None:  # a piece of the reception is under way before
                    moments.append((told - 0.1, time.monotonic()))
                on_air = air.get(1, "first_sample") / 48000 - origin
                found.append(1e3 * on_air - ends[1] / 9.6)
                # A station that transmits does not hear the next question.
                until(lambda: not radios[1].sink.state().keyed)
        tb.stop()
        tb.wait()
        for r in radios:
            r.close()
        return (found, air.get(1, "late"), 1e-6 * air.get(1, "worst_ready_ns"),
                radios[1].turnaround_ms)


def text(found):
    """Least, middle and most of them."""
    return (f"{min(found):.1f} / {np.median(found):.1f} / {max(found):.1f} ms"
            if found else "none") + f" ({len(found)} answers)"


def main():
    """Print the figures."""
    questions = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    priority.go_first()  # as a station does
    print(f"turnaround, least / middle / most; load {os.getloadavg()[0]:.0f}")
    with tempfile.TemporaryDirectory() as folder, \
            sound.cables(Path(folder), ("east",)) as environment:
        os.environ.update(environment)
        for lead_s, buffer_s in ((0.05, 0.1), (0.1, 0.1), (0.2, 0.1), (0.05, 0.06)):
            found, empty, parts = over_sound(questions, lead_s, buffer_s)
            rest = np.mean(found) - sum(parts.values()) if found else float("nan")
            print(f"audio, lead_s = {lead_s}, buffer_s = {buffer_s}: {text(found)}; ran empty "
                  f"{empty} times; " + ", ".join(f"{k} {v:.0f}" for k, v in parts.items())
                  + f", ticks and host {rest:.0f}", flush=True)
    for kind in ("soapy", "uhd"):
        for latency_s in (0.04, 0.03):
            found, late, ahead, shown = over_sdr(questions, kind, latency_s)
            print(f"{kind}, latency_s = {latency_s}: {text(found)}; shown {shown:.0f} ms; {late} "
                  f"came late, the others {ahead:.0f} ms ahead at the least", flush=True)


if __name__ == "__main__":
    main()
