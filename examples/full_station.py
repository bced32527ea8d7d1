#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two full stations over a simulated HF channel, in lock step and without a display.

Station A sends octets to station B: through traffic, data link, modem and channel, and up again
at B. Everything runs in station time, as fast as the CPU allows, with the same result every time.
The exit status is 0 only if every octet arrived undamaged.

    build/run python3 examples/full_station.py --mode 4539-9600S --channel "poor snr=30"
"""
import argparse
import sys
import time
from typing import List, Optional

from gnuradio import gr, hf
from gnuradio.hf.station import Description, Station


def arguments(argv: Optional[List[str]]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n", maxsplit=1)[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--mode", default="4539-600S", help="hf info --modes lists all")
    parser.add_argument("--channel", default="poor snr=20", help="channel as in hf.channel")
    parser.add_argument("--octets", type=int, default=20000, help="octets to send")
    parser.add_argument("--seed", type=int, default=1, help="seed of fading and noise")
    parser.add_argument("--limit", type=float, default=3600, metavar="S",
                        help="give up after this station time, s")
    parser.add_argument("--quick", action="store_true", help="send few octets, for tests")
    a = parser.parse_args(argv)
    try:
        hf.mode(a.mode)
        hf.channel_model(a.channel)
    except ValueError as error:
        parser.error(str(error))
    if not 8 <= a.octets <= 100_000_000:
        parser.error(f"--octets {a.octets}: allowed are 8 to 100000000")
    if a.quick:
        a.octets = min(a.octets, 3000)
    return a


def main(argv: Optional[List[str]] = None) -> int:
    """Run the example. Returns the exit status."""
    a = arguments(argv)
    mode = hf.mode(a.mode)
    top = gr.top_block("two HF stations")
    air = hf.air(stations=2, channel=a.channel, seed=a.seed, signal_power=mode.mean_power,
                 duration_s=a.limit)
    stations, traffic = [], []
    for n, (own, peer, octets) in enumerate([("1.2.0.1", "1.2.0.2", a.octets),
                                             ("1.2.0.2", "1.2.0.1", 0)]):
        station = Station(top, Description(address=own, mode=a.mode), air.source(n), air.sink(n))
        client = hf.traffic(peer=peer, octets=octets)
        station.add_client(top, client)
        stations.append(station)
        traffic.append(client)

    print(f"{a.octets} octets from A to B, {a.mode}, channel '{a.channel}'", flush=True)
    begin = shown = time.monotonic()
    top.start()
    while air.now() < a.limit and traffic[0].state().octets_confirmed < a.octets:
        time.sleep(0.02)
        if time.monotonic() - shown > 1:
            shown = time.monotonic()
            print(f"  {air.now():7.1f} s  delivered {traffic[1].state().octets_received}, "
                  f"confirmed {traffic[0].state().octets_confirmed} octets; A is "
                  f"{stations[0].data_link.state().phase}", flush=True)
    air.end()
    top.wait()

    sent, received = traffic[0].state(), traffic[1].state()
    link = stations[0].data_link.stats()
    elapsed = sent.last_confirmed - sent.first_submitted
    if sent.octets_confirmed < a.octets or received.octets_received != a.octets or \
            received.octets_damaged:
        print(f"failed: {received.octets_received} of {a.octets} octets delivered, "
              f"{received.octets_damaged} damaged, {sent.octets_confirmed} confirmed, "
              f"{sent.octets_rejected} rejected", file=sys.stderr)
        return 1
    goodput = 8 * a.octets / elapsed
    print(f"delivered and confirmed: {a.octets} octets in {elapsed:.1f} s of station time "
          f"({time.monotonic() - begin:.1f} s here)")
    print(f"goodput {goodput:.0f} bit/s, utilisation {100 * goodput / mode.rate_bps:.0f} %, "
          f"{link['transmissions']} transmissions, {link['d_pdus_repeated']} D_PDUs repeated")
    return 0


if __name__ == "__main__":
    sys.exit(main())
