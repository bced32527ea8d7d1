# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of a receiver that hears nothing, next to nothing, or too much."""
from types import SimpleNamespace

from gnuradio.hf.radio.ear import FLOOR_DB, PATIENCE_S, Ear
import pytest


class Receiver:
    """A meter that a test sets, and a clock."""

    def __init__(self):
        self.time, self.away = 0.0, False
        self.state = SimpleNamespace(peak_db=-20.0, silent_s=0.0, clipped=0)
        self.ear = Ear(lambda: self.state, lambda: self.away, lambda: self.time)

    def after(self, seconds):
        """Lines said while the time goes on in steps of a second."""
        said = []
        for _ in range(int(seconds)):
            self.time += 1
            said += self.ear.lines()
        return said


@pytest.mark.parametrize("peak_db, silent_s, word", [(-200.0, 40.0, "deaf"),
                                                     (FLOOR_DB - 1, 0.0, "turn the receiver up")])
def test_a_receiver_that_hears_nothing_is_told_once(peak_db, silent_s, word):
    r = Receiver()
    assert r.after(5) == []
    r.state.peak_db, r.state.silent_s = peak_db, silent_s
    assert r.after(PATIENCE_S - 1) == []
    (line,) = r.after(100)
    assert word in line
    r.state.peak_db, r.state.silent_s = -20.0, 0.0
    assert r.after(50) == ["radio: hears again"]


def test_silence_while_it_transmits_or_is_lost_says_nothing():
    r = Receiver()
    r.state.peak_db, r.state.silent_s, r.away = -200.0, 40.0, True
    assert r.after(200) == []
    r.away = False
    assert r.after(PATIENCE_S - 1) == []  # counted from then on
    assert len(r.after(2)) == 1


def test_clipping_is_told_with_its_count_and_not_too_often():
    r = Receiver()
    r.after(1)
    r.state.clipped = 5
    assert r.after(1) == ["radio: 5 received samples clipped: turn the receiver down"]
    r.state.clipped = 9
    assert r.after(PATIENCE_S - 2) == []
    assert r.after(5) == ["radio: 4 received samples clipped: turn the receiver down"]
    assert r.after(100) == []
