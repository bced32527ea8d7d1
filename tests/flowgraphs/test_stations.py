# SPDX-License-Identifier: GPL-3.0-or-later
"""Stations on devices: two runs of a flowgraph that hear each other, on cables of a sound server
and on the air of the tests' SDR driver. gr-uhd's own blocks reach that driver through UHD's module
for SoapySDR."""
import os
import shutil

import air
from flowgraph import Running
from gnuradio import uhd
from gnuradio.hf.system import netns
import pytest
import sound

#: Longest wait for 100 octets in one direction, s of real time.
PATIENCE_S = 90


def exchange(folder, name, own, environment=None):
    """Station 1 sends 100 octets to station 2; own: further arguments of each."""
    ports = netns.free_tcp_ports(2)
    value = "top.traffic.state().octets_received, top.traffic.state().octets_damaged"

    def station(k, octets):
        return Running(folder, name, value, environment, str(k), address=f"1.2.0.{k + 1}",
                       peer=f"1.2.0.{2 - k}", octets=octets, port=ports[k], **own[k])
    with station(1, 0) as second:
        second.until("value", 60)
        with station(0, 100):
            assert "(100, 0)" in second.until(r"value \(100, ", PATIENCE_S)


@pytest.mark.skipif(shutil.which("pulseaudio") is None, reason="pulseaudio is not installed")
def test_sound_card_station(tmp_path):
    with sound.cables(tmp_path) as environment:
        exchange(tmp_path, "sound_card_station",
                 [dict(capture="east_out", playback="west_in"),
                  dict(capture="west_out", playback="east_in")], environment)


def plugins():
    if not list(air.PLUGINS.glob("*.so")):
        pytest.skip("built without SoapySDR")
    return {**os.environ, "SOAPY_SDR_PLUGIN_PATH": str(air.PLUGINS)}


def test_soapy_station(tmp_path):
    exchange(tmp_path, "soapy_station",
             [dict(device=air.args(tmp_path / "air", k, "soapy"), latency_s=0.3)
              for k in (0, 1)], plugins())


def test_usrp_station(tmp_path):
    environment = plugins()
    os.environ["SOAPY_SDR_PLUGIN_PATH"] = environment["SOAPY_SDR_PLUGIN_PATH"]
    if not uhd.find(air.args(tmp_path / "air", 0, "uhd")):
        pytest.skip("UHD has no module for SoapySDR")
    exchange(tmp_path, "usrp_station",
             [dict(device=air.args(tmp_path / "air", k, "uhd"), latency_s=0.3)
              for k in (0, 1)], environment)
