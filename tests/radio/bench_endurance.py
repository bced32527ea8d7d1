# SPDX-License-Identifier: GPL-3.0-or-later
"""A keyed radio on a sound device at 48 kHz for an hour. Are samples lost without a report? Is the
key ever down for longer than a transmission?

    build/run python3 tests/radio/bench_endurance.py [MINUTES]

The radio receives itself over a cable of its own sound server and transmits every eight seconds.
Each transmission must return after the same number of samples as the last one. Steps that the
radio reports (samples lost, playback that ran empty, idle samples added or left out until it was
keyed) are subtracted. A step that is reported within a minute counts as detected. Prints every
step, a line a minute and the sums.
"""
import os
import pathlib
import sys
import tempfile
import threading
import time

from gnuradio import gr, hf
from gnuradio.hf import radio, station
from gnuradio.hf.radio import priority, probe
import numpy as np
from answering import delay_of
from rig import Rig
import sound
from waiting import until

RATE, MODE = 9600, "4539-3200S"
EVERY = 8 * RATE  # samples
TOLERANCE = 1.0   # sample: 0.1 ms
TOLD_WITHIN = 60 * RATE


class Heard:
    """The latest samples that were received, by their number."""

    def __init__(self):
        self._lock = threading.Lock()
        self._pieces, self._first, self.count = [], 0, 0

    def push(self, x):
        """More of them."""
        with self._lock:
            self._pieces.append(x.copy())
            self.count += len(x)

    def take(self, first, last):
        """Samples first to last - 1; older ones are forgotten."""
        with self._lock:  # without, a piece that comes meanwhile is lost, and looks like a fault
            x = np.concatenate(self._pieces)
            self._pieces = [x[first - self._first:]]
            part, self._first = x[first - self._first:last - self._first], first
        return part


def told(radio_):
    """Reports of the radio that may explain a shift of the samples that return."""
    p, c = radio_.playback.state(), radio_.capture.state()
    return (p.underruns, p.outages, c.lost, c.overruns, c.outages)


def moved(radio_):
    """By how much idle samples move a transmission that is on its way, samples of the modem: while
    it is keyed none are added or left out."""
    until(lambda: radio_.sink.state().keyed)
    s = radio_.sink.state()
    return s.added - s.left_out


def transmissions(radio_, player, heard, minutes):
    """For each: the sample at which it was played, by how much it came back later than idle
    samples make it, and told()."""
    octets = b"is everything there?"
    signal = np.asarray(hf.modulate(MODE, octets))
    signal = signal * (radio_.level / np.max(np.abs(signal)))
    until(lambda: player.count > 5 * RATE)  # servers begin slowly
    at = player.count
    end = at + int(minutes * 60 * RATE)
    while at < end:
        at = max(at + EVERY, player.count + RATE)  # however busy the host is
        player.play(at, signal)
        later = moved(radio_)
        last = at + len(signal) + 2 * RATE
        until(lambda last=last: heard.count > last)
        yield at, delay_of(heard.take(at, last), signal) - later, told(radio_)


def undetected(found):
    """Steps of what came back that nothing was told of within a minute: (s, ms)."""
    steps = []
    for k in range(1, len(found)):
        (_, before, _), (at, now, _) = found[k - 1:k + 1]
        near = [events for t, _, events in found if abs(t - at) <= TOLD_WITHIN]
        if abs(now - before) > TOLERANCE and near[0] == near[-1]:
            steps.append((round(at / RATE), round((now - before) / RATE * 1e3, 2)))
    return steps


def held_down(rig, now):
    """How long the key was down each time, s."""
    times = rig.history + ([(now, False)] if rig.keyed else [])
    return [up - down for (down, _), (up, _) in zip(times[::2], times[1::2])]


def main():
    """Print the findings."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    rig, heard, found = Rig(), Heard(), []
    loads = []
    with tempfile.TemporaryDirectory() as folder, \
            sound.cables(pathlib.Path(folder), ("east",)) as environment:
        os.environ.update(environment)
        priority.go_first()  # as a station does
        tb = gr.top_block()
        r = radio.AudioRadio(tb, station.Radio(
            capture="east_out", playback="east_in",
            ptt=station.Ptt(way="rigctld", port=rig.port)))
        player = probe.Player(heard.push)
        player.set_max_output_buffer(512)
        tb.connect(r.source, player, r.sink)
        tb.start()
        for one in transmissions(r, player, heard, minutes):
            found.append(one)
            loads.append(os.getloadavg()[0])
            step = one[1] - found[-2][1] if len(found) > 1 else 0
            if abs(step) > TOLERANCE:
                print(f"{len(found)}: a step of {step / 9.6:+.2f} ms", flush=True)
            if len(found) % 8 == 0:
                print(f"{len(found)} transmissions, back after {one[1] / 9.6:.2f} ms, "
                      f"told {one[2]}, load {loads[-1]:.0f}", *r.take_lines(), sep="\n  ",
                      flush=True)
        tb.stop()
        tb.wait()
        r.close()
        until(lambda: not rig.keyed)
    downs = held_down(rig, time.monotonic())
    events = found[-1][2]
    seconds = (found[-1][0] - found[0][0]) / RATE
    steps = undetected(found)
    print(f"{seconds / 60:.1f} minutes, {len(found)} transmissions, load {min(loads):.0f} to "
          f"{max(loads):.0f}: told of {events[0]} times empty and {events[2]} samples lost; "
          f"{len(steps)} steps that were not told of (s, ms) {steps}; key down {len(downs)} "
          f"times, {min(downs):.2f} to {max(downs):.2f} s")


if __name__ == "__main__":
    main()
