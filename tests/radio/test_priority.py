# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that serve a radio get priority, if the system and the user allow it."""
import os
import subprocess
import sys

from gnuradio import gr
from gnuradio.hf import radio, station
from gnuradio.hf.radio import live_channel, priority
import pytest

GO = ("import os, sys\n"
      "from gnuradio.hf.radio import priority\n"
      "if sys.argv[1:]: os.setuid(int(sys.argv[1]))\n"
      "priority.go_first()\n"
      "print(os.getpriority(os.PRIO_PROCESS, 0))\n")


def nice_after(*arguments, before=()):
    result = subprocess.run([*before, sys.executable, "-c", GO, *arguments], text=True,
                            capture_output=True, check=True, timeout=120)
    return int(result.stdout)


@pytest.mark.skipif(os.getuid() != 0 or os.getpriority(os.PRIO_PROCESS, 0) != 0,
                    reason="needs the right to a higher priority, and none chosen")
def test_it_goes_first():
    assert nice_after() == priority.NICE


@pytest.mark.skipif(os.getpriority(os.PRIO_PROCESS, 0) != 0, reason="a priority was chosen")
def test_what_the_user_chose_stays():
    assert nice_after(before=("nice", "-n", "5")) == 5


@pytest.mark.skipif(os.getuid() != 0 or os.getpriority(os.PRIO_PROCESS, 0) != 0,
                    reason="needs the right to become another user")
def test_without_the_right_to_it_nothing_happens():
    assert nice_after("65534") == 0


@pytest.mark.parametrize("live", [True, False])
def test_a_live_radio_asks_for_it_and_a_recording_does_not(monkeypatch, live):
    asked = []
    monkeypatch.setattr(priority, "go_first", lambda: asked.append(True))
    r = station.Radio(type="audio", capture="nowhere") if live else station.Radio(
        type="file", recording="nowhere.wav")
    with pytest.raises((station.StationError, RuntimeError), match="nowhere"):
        radio.open_radio(gr.top_block(), station.Description("1.2.0.1", radio=r))
    assert bool(asked) == live


def test_so_does_a_channel_between_devices(monkeypatch):
    asked = []
    monkeypatch.setattr(priority, "go_first", lambda: asked.append(True))
    with pytest.raises(RuntimeError, match="nowhere"):
        live_channel.LiveChannel("awgn snr=15", [("nowhere", "nowhere")], 1, -10.0)
    assert asked
