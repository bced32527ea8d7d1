# SPDX-License-Identifier: GPL-3.0-or-later
"""The frequency of an SDR while it runs."""
from types import SimpleNamespace

from gnuradio import hf
from gnuradio.hf.gui import controls
from gnuradio.hf.radio.rig import RigError
import numpy as np
import pytest
from answering import delay_of
from sdr import KINDS, Loop
from waiting import until


@pytest.mark.parametrize("kind", KINDS)
def test_it_changes_between_transmissions(tmp_path, kind):
    signal = 0.2 * np.asarray(hf.modulate("4539-3200S", b"before and after"))
    with Loop(tmp_path, kind) as loop:
        dial = loop.radio.rig
        assert dial.known.frequency_hz == 7e6 - 1800
        assert dial.set(7050000, "PKTUSB").frequency_hz == 7050000
        assert dial.read().text() == "7.050000 MHz on a dial"
        assert loop.radio.radio.sdr.frequency_hz == 7051800
        for hz, mode in ((500e6, ""), (7e6, "LSB")):
            with pytest.raises(RigError, match="frequency_hz = 5|LSB"):
                dial.set(hz, mode)
        assert dial.known.frequency_hz == 7050000
        at = loop.play(signal)
        until(lambda: loop.radio.sink.state().keyed)
        with pytest.raises(RigError, match="transmits"):
            dial.set(7060000)
        delay = loop.radio.sink.state().delay_s
        y = loop.received(at + int(9600 * delay) + len(signal) + 500)
        assert abs(delay_of(y[at:], signal) - 9600 * delay) < 1
        until(lambda: not loop.radio.sink.state().keyed)
        assert dial.set(7060000).frequency_hz == 7060000


@pytest.mark.parametrize("kind", KINDS)
def test_a_device_that_was_lost_comes_back_on_the_new_frequency(tmp_path, kind):
    with Loop(tmp_path, kind) as loop:
        device = loop.radio._device_in
        until(lambda: loop.player.count > 9600)
        loop.air.put(0, "gone", 1)
        until(lambda: not device.state().open)
        loop.radio.rig.set(7100000)
        loop.air.put(0, "gone", 0)
        until(lambda: device.state().open)
        assert loop.radio.rig.known.frequency_hz == 7100000


def test_the_page_may_set_it():
    asked = []

    def set_(hz):
        if asked:
            raise RigError("SDR: it transmits: the frequency is not changed")
        asked.append(hz)

    stations = SimpleNamespace(
        air=None, radio_of=[SimpleNamespace(rig=SimpleNamespace(set=set_)), None],
        stations=[SimpleNamespace(description=SimpleNamespace(name=n), data_link=None)
                  for n in ("near", "far")])
    set_frequency = controls.controls_of(stations, [])["frequency"]
    set_frequency("near", "7100000")
    assert asked == [7100000]
    for name, value, named in (("near", 7e6, "transmits"), ("far", 7e6, "far"),
                               ("near", 0, "1 to 6e9"), ("near", "much", "much")):
        with pytest.raises(ValueError, match=named):
            set_frequency(name, value)
