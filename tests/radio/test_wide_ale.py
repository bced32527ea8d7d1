# SPDX-License-Identifier: GPL-3.0-or-later
"""Two ALE stations on wide SDRs: each hears three channels at once and transmits on one."""
import os

from gnuradio import hf
from gnuradio.hf import radio, station
from gnuradio.hf.station import running
import numpy as np
import pytest
from air import Air, PLUGINS, args
from sdr import LATENCY_S
from waiting import until

os.environ["SOAPY_SDR_PLUGIN_PATH"] = str(PLUGINS)
RATE = 96000
MIDDLE_HZ = 7100000
#: On the dial, 15 kHz apart around the middle.
CHANNELS = [MIDDLE_HZ - 1800 + hz for hz in (-15000, 0, 15000)]
NAMES = ("SAM", "JOE")


def description(folder, number, kind="soapy", channels=CHANNELS, rate=RATE, more=""):
    path = folder / f"station{number}.toml"
    path.write_text(f'''
address = "1.2.0.{number + 1}"
mode = "4539-1200S"
[data_link]
turnaround_s = 0.3
[ale]
addresses = ["{NAMES[number]}"]
frequencies_hz = {channels}
wide = true
[ale.peers]
"1.2.0.{2 - number}" = "{NAMES[1 - number]}"
[ale.scanned]
{NAMES[1 - number]} = 0
[ale.settings]
tune_s = 0.3
[radio]
type = "{kind}"
{more}
[radio.sdr]
args = "{args(folder / 'air', number, kind, rate, ',channel=awgn snr:25')}"
frequency_hz = {MIDDLE_HZ}
sample_rate = {rate}
latency_s = {LATENCY_S}
''')
    return station.load(str(path))


def peak_hz(air, number):
    """Where a station's transmission has most power, from the middle of the band."""
    count = RATE // 2
    end = air.get(number, "end_sample") or air.get(number, "first_sample") + count
    power = np.abs(np.fft.fft(air.transmitted(number, end - count, count))) ** 2
    smooth = np.convolve(np.fft.fftshift(power), np.ones(1000), "same")
    return (np.argmax(smooth) - count // 2) * RATE / count


@pytest.mark.parametrize("kind", ("soapy", "uhd"))
def test_wide_stations_link_on_the_best_of_three_channels(tmp_path, kind):
    found = [description(tmp_path, k, kind) for k in (0, 1)]
    stations = running.Stations(found, "", 1, 0, radio.open_radio)
    traffic = [hf.traffic(f"1.2.0.{2 - k}", 3000 if k == 0 else 0) for k in (0, 1)]
    for s, t in zip(stations.stations, traffic):
        s.add_client(stations.tb, t)
    sam, joe = (s.ale for s in stations.stations)
    sam.note("JOE", 2, 20)  # as a sound would have shown
    with stations:
        until(lambda: sam.ale().state == joe.ale().state == "linked")
        assert sam.ale().channel == joe.ale().channel == 2
        air = Air(tmp_path / "air")
        until(lambda: traffic[0].state().octets_confirmed == 3000, 120)
        until(lambda: air.get(0, "bursts") > 2)
        assert peak_hz(air, 0) == pytest.approx(15000, abs=1700)
    received = traffic[1].state()
    assert received.octets_received == 3000 and received.octets_damaged == 0
    assert sam.ale().failures == joe.ale().failures == 0


@pytest.mark.parametrize("change, said", [
    ({"channels": [7200000]}, "channel 7200000 Hz is outside of what the SDR receives at once, "
                              "7061300 to 7135100 Hz"),
    ({"rate": 0}, r"needs \[radio.sdr\] sample_rate"),
    ({"kind": "audio"}, "needs an SDR")])
def test_a_file_that_cannot_be_wide(tmp_path, change, said):
    if change.get("kind") == "audio":
        path = tmp_path / "station.toml"
        description(tmp_path, 0)
        text = (tmp_path / "station0.toml").read_text().split("[radio]")[0]
        path.write_text(text + '[radio]\ntype = "audio"\n')
        with pytest.raises(station.StationError, match=said):
            station.load(str(path))
        return
    with pytest.raises(station.StationError, match=said):
        description(tmp_path, 0, **change)
