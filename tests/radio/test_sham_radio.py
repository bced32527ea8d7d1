# SPDX-License-Identifier: GPL-3.0-or-later
"""A radio is added as docs/where-to-put-things.md says: here is one that nobody sells. Stations,
their page and the operator's lines use it without knowing it."""
import time

from gnuradio import hf
from gnuradio.hf import radio, station
from gnuradio.hf.gui import snapshot
from gnuradio.hf.station import edge, radio_tables, running

OCTETS = 3000


class ShamRadio(edge.Edge):
    """One end of a wire between two stations."""

    lock_step = True
    wire = None

    def __init__(self, tb, r, modem_rate=9600):
        if ShamRadio.wire is None:
            ShamRadio.wire = (hf.air(2, "awgn snr=25", 1, 0.0, 1.0, 1000), [])
        air, ends = ShamRadio.wire
        self.source, self.sink = air.source(len(ends)), air.sink(len(ends))
        self.closed = False
        ends.append(self)

    def take_lines(self):
        return ["sham radio: nothing to report"]

    def close(self):
        ShamRadio.wire[0].end()
        self.closed = True


def test_two_stations_talk_over_it(monkeypatch):
    monkeypatch.setitem(radio._KINDS, "sham", ShamRadio)
    monkeypatch.setattr(radio_tables, "RADIO_TYPES", [*radio_tables.RADIO_TYPES, "sham"])
    monkeypatch.setattr(ShamRadio, "wire", None)
    stations = running.Stations(
        [station.Description(f"1.2.0.{k}", "4539-3200S", radio=station.Radio(type="sham"))
         for k in (1, 2)], "clear", 1, 0, radio.open_radio)
    views = [snapshot.StationView(stations.tb, s, r)
             for s, r in zip(stations.stations, stations.radios)]
    clients = [hf.traffic("1.2.0.2", OCTETS), hf.traffic("1.2.0.1", 0)]
    for s, client in zip(stations.stations, clients):
        s.add_client(stations.tb, client)
    with stations:
        deadline = time.monotonic() + 120
        while clients[0].state().octets_confirmed < OCTETS:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert stations.medium == "on the air" and not stations.over() and stations.now() > 1
        assert any(line.endswith("1.2.0.1 sham radio: nothing to report")
                   for line in stations.new_lines())
    assert clients[1].state().octets_received == OCTETS
    assert all(view.take()["radio"] == {} for view in views)
    assert all(r.closed for r in stations.radios)
