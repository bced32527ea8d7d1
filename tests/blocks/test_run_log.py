# SPDX-License-Identifier: GPL-3.0-or-later
"""What `hf run` prints: a line for each link with what it carried; details only if wanted."""
import re
import time

import pytest

from gnuradio import hf
from gnuradio.hf import station
from gnuradio.hf.station import running

OCTETS = 6000


@pytest.mark.parametrize("details", [False, True])
def test_a_line_for_each_link(details):
    two = [station.Description(f"1.2.0.{k}", "4539-9600S",
                               data_link={"link_idle_s": 3, "seed": k}) for k in (1, 2)]
    stations = running.Stations(two, "awgn snr=30", 1, 0, details=details)
    clients = [hf.traffic("1.2.0.2", OCTETS), hf.traffic("1.2.0.1", 0)]
    for s, client in zip(stations.stations, clients):
        s.add_client(stations.tb, client)
    lines, deadline = [], time.monotonic() + 120
    with stations:
        while sum("ended" in line for line in lines) < 2:
            assert time.monotonic() < deadline, lines
            time.sleep(0.02)
            lines += stations.new_lines()
    assert clients[1].state().octets_received == OCTETS
    words = [line.split(None, 1)[1] for line in lines]
    assert "1.2.0.1 calling 1.2.0.2" in words
    assert {"1.2.0.1 link with 1.2.0.2 made", "1.2.0.2 link with 1.2.0.1 made"} <= set(words)
    ends = [re.fullmatch(r"(1.2.0.[12]) link with \S+ ended(?: by the peer)?: (\d+) octets sent, "
                         r"(\d+) received, in (\d+) s", text) for text in words if "ended" in text]
    carried = {end[1]: (int(end[2]), int(end[3])) for end in ends}
    # The octets of C_PDUs: at most ten more for each U_PDU of 1500.
    assert OCTETS <= carried["1.2.0.1"][0] < 1.03 * OCTETS
    assert carried["1.2.0.1"] == carried["1.2.0.2"][::-1]
    assert all(3 < int(end[4]) < 60 for end in ends)
    single = [text for text in words if "DATA-ONLY" in text or "receiving" in text]
    assert bool(single) == details
    if not details:
        assert len(words) <= 6, words
