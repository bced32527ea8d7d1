# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the time of a link goes: by numbers made for it, and in a transfer of two stations."""
from gnuradio.hf.gui import cost, glance
from gnuradio.hf.gui.remaining import Transmission
import pytest
from transfers import transfer


def turn(c, begin, counters, sent, done, waits=True):
    """A turn of 20 s with 15 s on the air at 1600 bit/s, which is room for 3000 octets, sampled
    every second. sent: octets that it adds to the counters. done: octets that have arrived when it
    ends."""
    spans = [Transmission("5069-3k-1600S", begin, None)]
    for k in range(20):
        if k == 0:
            for name, octets in sent.items():
                counters[name] = counters.get(name, 0) + octets
        if k == 15:
            spans[0].end = begin + 15
        phase = "transmitting" if k < 15 else "waiting for an answer"
        c.note(begin + k, {"phase": phase}, counters, spans, done[0] if k < 18 else done[1],
               0, waits or k < 18)


def test_the_shares_are_those_of_the_counters():
    c, counters = cost.Cost(), {}
    c.note(0, {"phase": "idle"}, counters, [], 0, 0, False)
    c.note(1, {"phase": "idle"}, counters, [], 0, 0, True)
    assert c.take() is None
    turn(c, 2, counters, {"octets_sent": 2400}, (0, 1500))
    assert c.take() is None  # the acknowledgement of this turn may still come
    turn(c, 22, counters, {"octets_sent": 2900, "octets_sent_again": 600,
                           "octets_sent_as_fill": 200}, (1500, 3900), waits=False)
    # 40 s, of which 30 s on the air, with room for 6000 octets: 3900 of data, 600 again, 200 in
    # free space, so 600 of headers and 900 of preambles and the rest of blocks.
    shares = c.take()
    assert sum(shares.values()) == pytest.approx(1)
    time_s = 40  # up to the last acknowledgement, with the second in which data came
    assert shares == pytest.approx({
        "data": 30 / time_s * 3900 / 6000, "turnaround": 10 / time_s,
        "loss": 30 / time_s * 600 / 6000, "protocol": 30 / time_s * 600 / 6000,
        "padding": 30 / time_s * 900 / 6000})


def test_a_silent_time_between_two_pieces_of_work_costs_nothing():
    c, counters = cost.Cost(), {}
    c.note(1, {"phase": "idle"}, counters, [], 0, 0, True)
    turn(c, 2, counters, {"octets_sent": 3000}, (0, 2900), waits=False)
    before = c.take()
    for now in range(22, 900):
        c.note(now, {"phase": "idle"}, counters, [], 2900, 0, False)
    assert c.take() == before


def test_no_turns_are_kept_beyond_the_bound():
    c, counters = cost.Cost(), {}
    for k in range(3 * cost.MAX_TURNS):
        turn(c, 20 * k, counters, {"octets_sent": 3000}, (2900 * k, 2900 * (k + 1)))
    assert len(c._turns) == cost.MAX_TURNS
    shares = c.take()
    assert shares["data"] == pytest.approx(0.75 * 2900 / 3000, abs=0.01)
    assert shares["turnaround"] == pytest.approx(0.25, abs=0.01)


def test_words_name_the_data_first():
    shares = {"data": 0.4, "turnaround": 0.42, "loss": 0.001, "protocol": 0.1, "padding": 0.079}
    assert glance.cost_in_words(shares) == \
        ("40 % data", "42 % turnaround, 10 % protocol, 8 % padding")
    assert glance.cost_in_words(None) == ("", "")


# With bit errors, D_PDUs become short: about 110 octets with 25 of header.
@pytest.mark.parametrize("ber, max_protocol", [(0, 0.05), (2e-4, 0.25)])
def test_a_transfer_spends_on_data_what_it_carries(ber, max_protocol):
    octets, samples = 60000, []
    for both, view in transfer("4539-3200S", octets, ber):
        view.sample()
        samples.append((both.now(), view.progress.take()))
        stats = both.stations["A"].data_link.stats()
    shares = samples[-1][1]["cost"]
    begin = next(at for at, s in samples if s["waiting_octets"])
    goodput = 8 * octets / (samples[-1][0] - begin)
    # The file's last acknowledgement and its receipt are not in the last whole turn.
    assert shares["data"] * 3200 == pytest.approx(goodput, rel=0.1)
    assert sum(shares.values()) == pytest.approx(1)
    assert (stats["octets_sent_again"] > 0) == (shares["loss"] > 0) == (ber > 0)
    assert 0 < shares["protocol"] < max_protocol and 0 < shares["turnaround"] < 0.3
