# SPDX-License-Identifier: GPL-3.0-or-later
"""Stations that find each other by ALE, with a data link above and samples below."""
import os
from pathlib import Path
import re

from gnuradio import hf
from gnuradio.hf import station
from gnuradio.hf.station import ale_tuner, running
import pmt
import pytest

from flow import wait_for

EXAMPLES = Path(os.environ["HF_SOURCE_DIR"]) / "examples"
OCTETS = 500


def descriptions(**more):
    found = [station.load(str(EXAMPLES / f"ale_{k}.toml")) for k in "ab"]
    for d in found:
        d.sis_server = None
        for key, value in more.items():
            setattr(d.ale, key, value)
    return found


def run(two, channel="awgn snr=10", before=lambda stations: None):
    """Send from A to B until the link has ended. Returns the log, and what B received."""
    stations = running.Stations(two, channel, 1, 0)
    clients = []
    for k, s in enumerate(stations.stations):
        clients.append(hf.traffic(f"1.2.0.{2 - k}", OCTETS if k == 0 else 0))
        s.add_client(stations.tb, clients[-1])
    before(stations)
    with stations:
        a, b = (s.ale for s in stations.stations)
        assert wait_for(lambda: clients[0].state().octets_confirmed == OCTETS, 100)
        assert wait_for(lambda: a.ale().state == b.ale().state == "scanning", 100)
        return [line for log in stations.logs for line in log.lines()], clients[1].state()


def test_the_example_stations_link_send_and_part():
    lines, received = run(descriptions())
    ale = sorted((float(line.split()[0]), line) for line in lines if "ALE: " in line)
    text = "\n".join(line for _, line in ale)
    assert re.search("TO JOE TIS SAM(.|\n)*TO SAM TIS JOE(.|\n)*TO JOE TIS SAM(.|\n)*linked"
                     "(.|\n)*ended(.|\n)*TO JOE TWAS SAM", text), text
    assert received.octets_received == OCTETS and received.octets_damaged == 0


def test_a_call_goes_to_the_best_channel_first_and_a_wide_peer_is_quick():
    two = descriptions(wide=True)
    for d, other in zip(two, ("JOE", "SAM")):
        d.ale.scanned = {other: 0}
    lines, received = run(two, before=lambda s: s.stations[0].ale.note("JOE", 2, 30))
    first = next(line for line in lines if "ALE: transmit" in line)
    assert "on channel 2: TO JOE TIS SAM" in first
    data = next(line for line in lines if "DATA-ONLY" in line)
    # From the wish of the data link at the start: 2 s to listen, 4.3 s of handshake.
    assert float(data.split()[0]) < 8
    assert received.octets_received == OCTETS


def test_only_known_peers_and_possible_settings():
    with pytest.raises(ValueError, match="channels"):
        hf.ale_station(["SAM"], 0)
    with pytest.raises(ValueError, match="address 'sam'"):
        hf.ale_station(["sam"], 1)
    with pytest.raises(ValueError, match="streams"):
        hf.ale_station(["SAM"], 3, wide=True)
    with pytest.raises(ValueError, match="idle_s"):
        hf.ale_station(["SAM"], 3, settings={"idle_s": 1})
    with pytest.raises(ValueError, match="allowed are tune_s"):
        hf.ale_station(["SAM"], 3, settings={"tun_s": 1})
    with pytest.raises(ValueError, match="address 'joe'"):
        hf.ale_station(["SAM"], 3, {"1.2.0.2": "joe"})
    with pytest.raises(ValueError, match="one of our own"):
        hf.ale_station(["SAM"], 3, {"1.2.0.2": "SAM"})
    with pytest.raises(ValueError, match="channel 3"):
        hf.ale_station(["SAM"], 3).note("JOE", 3, 10)
    assert hf.ale_station.settings()["sounding_s"] == 0


def test_the_tuner_follows_and_reports_a_deaf_rig_once():
    class Rig:
        def __init__(self):
            self.at, self.deaf = [], False

        def set(self, frequency_hz):
            if self.deaf:
                raise RuntimeError("rig: no answer")
            self.at.append(frequency_hz)

    rig, said = Rig(), []
    tuner = ale_tuner.AleTuner(rig, [1e6, 2e6], said.append)

    def tune(channel):
        meta = pmt.dict_add(pmt.make_dict(), pmt.intern("type"), pmt.intern("tune"))
        meta = pmt.dict_add(meta, pmt.intern("ale_channel"), pmt.from_uint64(channel))
        tuner._on_ale(pmt.cons(meta, pmt.init_u8vector(0, [])))

    tune(1)
    assert wait_for(lambda: rig.at == [2e6])
    rig.deaf = True
    tune(0)
    assert wait_for(lambda: said == ["ALE: rig: no answer"])
    tune(1)
    tuner.stop()
    assert len(said) == 1
