# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports about a receiver that hears nothing, next to nothing, or too much."""
import os
from types import SimpleNamespace

from gnuradio.hf.radio import devices
from gnuradio.hf.radio.audio import Watch
from gnuradio.hf.radio.ear import FLOOR_DB, PATIENCE_S, Ear
import pytest


class Receiver:
    """A meter that a test sets, and a clock."""

    def __init__(self):
        self.time, self.away = 0.0, False
        self.state = SimpleNamespace(peak_db=-20.0, silent_s=0.0, clipped=0)
        self.ear = Ear(lambda: self.state, lambda: self.away, lambda: self.time)

    def after(self, seconds):
        """Lines printed while time advances in steps of a second."""
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


@pytest.mark.parametrize("name, description, listed", [
    ("plughw:CARD=CODEC,DEV=0", "USB Audio CODEC, USB Audio", True),
    ("pulse", "PulseAudio Sound Server", True), ("east_out", "", True),
    ("null", "Discard all samples (playback) or generate zero samples (capture)", False),
    ("lavrate", "Rate Converter Plugin Using Libav/FFmpeg Library", False),
    ("upmix", "Plugin for channel upmix (4,6,8)", False), ("oss", "Open Sound System", False)])
def test_plug_ins_are_no_devices(monkeypatch, name, description, listed):
    monkeypatch.setattr(devices, "_OSS", "/nonexistent/dsp")
    device = devices.Device(name, description, True, True)
    assert devices._is_device(device) == listed
    assert devices.has_card([device]) == ("CARD=" in name)


def test_lines_of_drivers_are_taken_and_later_ones_are_not(capfd):
    with devices.lines_of_drivers() as lines:
        os.write(2, b"ALSA lib: no card\n\nsecond \xff\n")
    assert lines == ["ALSA lib: no card", "second \ufffd"]
    with pytest.raises(RuntimeError), devices.lines_of_drivers():
        raise RuntimeError
    os.write(2, b"afterwards\n")
    assert capfd.readouterr().err == "afterwards\n"


class Device:
    """A sound device whose state a test sets."""

    def __init__(self, **state):
        self.now = SimpleNamespace(open=True, outages=0, trouble="", **state)

    def state(self):
        return SimpleNamespace(**vars(self.now))


class Devices:
    """Both of a station, and a clock."""

    def __init__(self):
        self.time = 0.0
        self.capture = Device(lost=0, overruns=0)
        self.playback = Device(underruns=0, silent_ms=0.0, wanted_ms=100.0, added_ms=0.0)
        self.watch = Watch(48000, self.capture, self.playback, lambda: self.time)

    def after(self, seconds):
        """Lines printed while time advances in steps of a tenth."""
        said = []
        for _ in range(int(10 * seconds)):
            self.time += 0.1
            said += self.watch.lines()
        return said


def test_a_loss_in_pieces_is_one_line():
    d = Devices()
    said = []
    for _ in range(20):
        d.capture.now.lost += 480
        said += d.after(0.1)
    assert said == []
    assert d.after(3) == ["radio: lost 200 ms of received samples, treated as erased "
                          "(200 ms since the start)"]
    d.capture.now.lost += 96000
    assert d.after(3) == ["radio: lost 2.0 s of received samples, treated as erased "
                          "(2.2 s since the start)"]


def test_an_outage_is_its_begin_and_its_end():
    d = Devices()
    d.capture.now.open, d.capture.now.outages, d.capture.now.trouble = False, 1, "read: gone"
    assert d.after(0.1) == ["radio: capture device lost (read: gone); retry every second"]
    for _ in range(100):
        d.capture.now.lost += 4800
        assert d.after(0.1) == []
    assert d.after(5) == []
    d.capture.now.open = True
    assert d.after(3) == ["radio: capture device reopened",
                          "radio: lost 10.0 s of received samples, treated as erased "
                          "(10.0 s since the start)"]


def test_playback_that_ran_empty_tells_what_the_longer_buffer_costs():
    d = Devices()
    p = d.playback.now
    p.underruns, p.silent_ms = 1, 1900.0
    assert d.after(3) == ["radio: playback ran empty for 1900 ms, the computer was too busy "
                          "(once, 1900 ms since the start)"]
    p.underruns, p.silent_ms, p.wanted_ms, p.added_ms = 3, 1930.0, 130.0, 30.0
    (line,) = d.after(3)
    assert "for 30 ms" in line and "(3 times, 1930 ms since the start)" in line
    assert "the buffer is now 130 ms and answers are 30 ms later" in line
