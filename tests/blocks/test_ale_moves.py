# SPDX-License-Identifier: GPL-3.0-or-later
"""A pair of ALE stations leaves a channel that has become worse, without losing its data."""
import functools
import os
from pathlib import Path

import pytest
from gnuradio import analog, blocks, gr, hf
from gnuradio.hf import station
from gnuradio.hf.station import watch

from flow import wait_for

EXAMPLES = Path(os.environ["HF_SOURCE_DIR"]) / "examples"
OCTETS = 400_000
SNR_DB = 22
RATE = 9600
NEVER_S = 24 * 3600
LONGEST_S = 127.5


class Level(gr.hier_block2):
    """Sink of a channel that falls at a station time, s. The samples are counted, so every run
    is the same."""

    def __init__(self, sink, fall_s, db):
        gr.hier_block2.__init__(self, "level", gr.io_signature(1, 1, gr.sizeof_gr_complex),
                                gr.io_signature(0, 0, 0))
        level = blocks.stream_mux(gr.sizeof_gr_complex, [round(fall_s * RATE), 2**31 - 1])
        for k, factor in enumerate((1, 10 ** (db / 20))):
            self.connect(analog.sig_source_c(RATE, analog.GR_CONST_WAVE, 0, factor), (level, k))
        product = blocks.multiply_cc()
        self.connect(self, (product, 0))
        self.connect(level, (product, 1))
        self.connect(product, sink)


class Pair:
    """Two stations on three channels. Channel 0 is the best until it falls, then channel 2 is."""

    def __init__(self, octets, fall_s, fall_db, max_transmission_s, seed=1):
        self.tb = gr.top_block()
        self.airs = [hf.air(2, f"awgn snr={SNR_DB}", seed + k) for k in range(3)]
        self.levels, self.stations, self.logs, self.traffic = [], [], [], []
        for k, name in enumerate("ab"):
            d = station.load(str(EXAMPLES / f"ale_{name}.toml"))
            d.sis_server, d.mode = None, "auto"
            d.data_link["max_transmission_s"] = max_transmission_s
            d.ale.settings["trials"] = 0  # nothing is known of channel 1
            self.levels.append(Level(self.airs[0].sink(k), fall_s, fall_db))
            s = station.Station(self.tb, d, [air.source(k) for air in self.airs],
                                [self.levels[-1], *(air.sink(k) for air in self.airs[1:])])
            self.logs.append(watch.LogWatch())
            for block in (s.ale, s.data_link):
                self.tb.msg_connect(block, "log", self.logs[-1], "log")
            self.traffic.append(hf.traffic(f"1.2.0.{2 - k}", octets if k == 0 else 0))
            s.add_client(self.tb, self.traffic[-1])
            self.stations.append(s)
        self.sam, self.joe = (s.ale for s in self.stations)
        for ale, other in ((self.sam, "JOE"), (self.joe, "SAM")):
            ale.note(other, 2, SNR_DB - 1)  # as sounds would have told
            ale.note(other, 0, SNR_DB)

    def __enter__(self):
        self.tb.start()
        return self

    def __exit__(self, *unused):
        for air in self.airs:
            air.end()
        self.tb.wait()

    def times(self, station_number, *words):
        """Station times, s, of log lines with all these words."""
        return [float(line.split()[0]) for line in self.logs[station_number].lines()
                if all(w in line for w in words)]


def pause_around(times, at):
    """Time from the last entry before to the first one after."""
    return min(t for t in times if t > at) - max(t for t in times if t <= at)


@functools.lru_cache()
def answer_s(octets, max_transmission_s, seed=1):
    """Station time, s, at which JOE begins its first acknowledgement after 30 s."""
    pair = Pair(octets, NEVER_S, 0, max_transmission_s, seed)

    def answers():
        return [t for t in pair.times(1, "ACK-ONLY", "1.2.0.2>1.2.0.1") if t > 30]
    with pair:
        assert wait_for(answers, 60)
    return answers()[0]


def test_a_pair_moves_to_a_better_channel_and_no_octet_is_lost():
    # JOE has read when SAM's transmission ends, and answers.
    pair = Pair(OCTETS, answer_s(OCTETS, LONGEST_S) + 60, -15, LONGEST_S)
    with pair:
        assert wait_for(lambda: pair.traffic[1].state().octets_received > 0, 60)
        began = pair.sam.ale()
        assert (began.channel, began.peer) == (0, "JOE")
        assert wait_for(lambda: pair.times(0, "ALE: ended"), 150)
        assert wait_for(lambda: pair.sam.ale().state == pair.joe.ale().state == "linked", 60)
        assert pair.sam.ale().channel == pair.joe.ale().channel == 2
        assert wait_for(lambda: pair.traffic[0].state().octets_confirmed == OCTETS, 100)
    received = pair.traffic[1].state()
    assert received.octets_received == OCTETS and received.octets_damaged == 0
    # SAM, who had called, has moved the pair, once. The link of STANAG 5066 went on.
    moved = pair.times(0, "ALE: ended on channel 0: JOE: another channel is better")
    assert len(moved) == 1
    assert not pair.times(1, "ALE: transmit", "TO SAM TWAS")
    data = pair.times(1, "DATA-ONLY", "1.2.0.1>1.2.0.2")
    pause = pause_around(data, moved[0])
    longest = max(b - a for a, b in zip(data, data[1:]))
    print(f"\nwithout data for {pause:.1f} s, target 30 s; connections lost {lost(pair)}, "
          f"target 0; longest pause of the whole run {longest:.1f} s")
    assert pause <= 30
    assert lost(pair) == 0


def lost(pair):
    """Links of the data link that failed or were made again. An agreement on large windows is a
    link made again on purpose."""
    return (len(pair.times(1, "link with 1.2.0.1 made")) - 1
            - len(pair.times(1, "link with 1.2.0.1 made, large windows"))
            + sum(len(pair.times(k, "link with", "failed")) for k in (0, 1)))


@pytest.mark.parametrize("moment, after_s, limit_s", [
    ("an acknowledgement begins", -0.2, 30.5),
    # Its preamble still arrives, so the first wait lasts until SAM gives the reception up.
    ("an acknowledgement is under way", 0, 35),
    # Nobody can notice it before the end of SAM's transmission of 15 s.
    ("SAM transmits", 3, 15 + 30)])
def test_a_pair_leaves_a_channel_that_dies(moment, after_s, limit_s, seed=1):
    octets, longest_s = 60_000, 15
    died = answer_s(octets, longest_s, seed) + after_s
    pair = Pair(octets, died, -100, longest_s, seed)
    with pair:
        assert wait_for(lambda: pair.traffic[0].state().octets_confirmed == octets, 300)
    received = pair.traffic[1].state()
    assert received.octets_received == octets and received.octets_damaged == 0
    assert pair.sam.ale().channel == pair.joe.ale().channel == 2
    assert len(pair.times(0, "ALE: ended on channel 0: JOE: silent")) == 1
    # What arrived before is read up to a second later.
    data = pair.times(1, "DATA-ONLY", "1.2.0.1>1.2.0.2")
    pause = min(t for t in data if t > died + 1) - died
    print(f"\ndies while {moment}: without data for {pause:.1f} s, target 30 s, limit here "
          f"{limit_s} s; connections lost {lost(pair)}, target 0")
    assert pause <= limit_s
    assert lost(pair) == 0
