# SPDX-License-Identifier: GPL-3.0-or-later
"""Utilisation of 9600 bit/s by the data link over sound devices in real time, next to lock step.

    build/run python3 tests/radio/bench_utilisation.py [OCTETS]

Two stations over cables of their own sound server, without keying. Then the same over the
simulated air, clear, in lock step, started as late as a radio starts. (A station that had been
silent leaves longer pauses to others at first, which has nothing to do with sound.) Prints the
utilisation of both (payload confirmed by the peer, over time and data rate), from each end of a
transmission of the sender to the start of its next, and the losses of the devices. 200 kB take
3 minutes.
"""
import os
import pathlib
import sys
import tempfile
import time

from gnuradio import gr, hf
from gnuradio.hf import radio, station, watch
import sound

MODE, RATE_BPS = "4539-9600S", 9600
NODES = ["1.2.0.1", "1.2.0.2"]
#: Start of a radio: sound systems fill their buffers meanwhile.
START_DELAY_S = 1.0


def utilisation(client):
    """Figures of the U_PDUs that a traffic client sent and its peer confirmed."""
    s = client.state()
    return 8 * s.octets_confirmed / (s.last_confirmed - s.first_submitted) / RATE_BPS


def exchange(octets, add_station, ended):
    """Move them from the first station to the second; gives the utilisation, and the pauses
    between transmissions of the first, s."""
    tb = gr.top_block("utilisation")
    clients, seen = [], watch.ModemWatch()
    for k in range(2):
        s = add_station(tb, k)
        if k == 0:
            tb.msg_connect(s.modem, "status", seen, "status")
        clients.append(hf.traffic(NODES[1 - k], octets if k == 0 else 0))
        s.add_client(tb, clients[-1])
    tb.start()
    deadline = time.monotonic() + 4 * 8 * octets / RATE_BPS + 60
    while clients[0].state().octets_confirmed < octets and time.monotonic() < deadline:
        time.sleep(0.1)
    ended()
    tb.stop()
    tb.wait()
    if clients[0].state().octets_confirmed < octets:
        raise SystemExit(f"only {clients[0].state().octets_confirmed} of {octets} octets arrived")
    sent = watch.transmissions(seen.events(), 0)
    return utilisation(clients[0]), [b.begin - a.end for a, b in zip(sent, sent[1:])]


def over_lock_step(octets):
    """On the simulated air, clear."""
    air = hf.air(2, "clear", 1, 0.0, hf.mode(MODE).mean_power)
    return exchange(octets, lambda tb, k: station.Station(
        tb, station.Description(NODES[k], MODE, start_delay_s=START_DELAY_S), air.source(k),
        air.sink(k)), air.end)


def over_sound(octets):
    """On sound devices; the radios as well."""
    radios = []

    def add_station(tb, k):
        hears, speaks = ("east", "west")[::1 if k == 0 else -1]
        d = station.Description(NODES[k], MODE, start_delay_s=START_DELAY_S, radio=station.Radio(
            capture=f"{hears}_out", playback=f"{speaks}_in"))
        r = radio.open_radio(tb, d)
        radios.append(r)
        return station.Station(tb, d, r.source, r.sink, r.lock_step, level=r.level)

    return exchange(octets, add_station, lambda: [r.close() for r in radios]), radios


def main():
    """Print both figures."""
    octets = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    lock_step, pauses = over_lock_step(octets)
    print("lock step: pauses of", " ".join(f"{p:.2f}" for p in pauses), "s", flush=True)
    with tempfile.TemporaryDirectory() as folder, \
            sound.cables(pathlib.Path(folder)) as environment:
        os.environ.update(environment)
        (real_time, pauses), radios = over_sound(octets)
    print("sound devices: pauses of", " ".join(f"{p:.2f}" for p in pauses), "s")
    print(f"{octets} octets in {MODE}: lock step {100 * lock_step:.2f} %, sound devices in real "
          f"time {100 * real_time:.2f} % ({100 * (real_time / lock_step - 1):+.2f} %), load "
          f"{os.getloadavg()[0]:.0f}")
    for r in radios:
        p, c = r.playback.state(), r.capture.state()
        print(f"{r.radio.playback}: ran empty {p.underruns} times; {r.radio.capture}: "
              f"{c.lost} samples lost")


if __name__ == "__main__":
    main()
