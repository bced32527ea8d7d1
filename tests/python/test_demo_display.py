# SPDX-License-Identifier: GPL-3.0-or-later
"""Display of hf demo: a table for 80 columns, times of the stations, shares of a named rate."""
import io
from types import SimpleNamespace

from gnuradio.hf.cli import demo
from gnuradio.hf.simulation import demo as exchange
from gnuradio.hf.station import watch
import pytest
from rich.console import Console

EVENTS = {
    "A": [watch.Event("tx_start", 60.0, "4539-9600S"), watch.Event("tx_end", 63.0),
          watch.Event("rx_start", 70.0, "4539-9600VL"), watch.Event("rx_end", 90.0),
          watch.Event("tx_start", 99.0, "4539-9600S")],
    "B": [watch.Event("rx_start", 98.9, "4539-9600S")],
}


def stations(mode_text="4539-9600VL"):
    """Replaces a demo at 100 s of station time."""
    made, watches = {}, {}
    for name, transmits in (("A", True), ("B", False)):
        state = SimpleNamespace(now=100.0, transmitting=transmits, receiving=not transmits,
                                tx_mode="4539-9600US", rx_mode="4539-2400L", receptions=1,
                                snr_db=29.6 if transmits else -3.2)
        made[name] = SimpleNamespace(modem=SimpleNamespace(state=lambda s=state: s))
        watches[name] = SimpleNamespace(events=lambda n=name: EVENTS[n])
    return SimpleNamespace(stations=made, pair=SimpleNamespace(watches=watches),
                           mode_text=mode_text, mode=SimpleNamespace(rate_bps=9600),
                           now=lambda: 100.0)


@pytest.mark.parametrize("utf8", [True, False])
def test_the_table_fits_80_columns(utf8):
    console = Console(file=io.StringIO(), width=80, color_system=None)
    task = "curl fetches 100000 kB from B to A"
    console.print(demo.status(stations(), task, 0.5, "50000.0 of 100000 kB, 6568 bit/s", utf8))
    text = console.file.getvalue()
    lines = text.splitlines()
    assert "\u2026" not in text, "something was cut"
    assert max(map(len, lines)) <= 80
    assert task in text and "station time 100 s" in text and "6568 bit/s" in text
    for name, state, mode, snr in (("A 1.2.0.1", "transmits", "9600US", "30 dB"),
                                   ("B 1.2.0.2", "receives", "2400L", "-3 dB")):
        (line,) = [x for x in lines if name in x]
        assert state in line and mode in line and snr in line
    assert len(lines) == 5 and ("#" in text) != utf8


def test_the_strip_shows_who_was_on_the_air():
    # 28 characters of 2 s: from 44 s to 100 s.
    a = demo.strip(EVENTS["A"], 100.0, "#=.")
    assert len(a) == demo.STRIP
    assert a == "." * 8 + "##" + "..." + "=" * 11 + "..." + "#"
    assert demo.strip(EVENTS["B"], 100.0, "#=.") == "." * 27 + "="
    assert demo.strip([], 5.0, "#=.") == "." * 28


def test_round_trips_are_station_time_on_a_busy_machine():
    shown = demo.Watch(stations(), None, None)
    # Five times real time; then the machine is busy and the stations stand still for 3 s.
    shown.times = [(1000.0, 0.0), (1001.0, 5.0), (1004.0, 5.0), (1006.0, 15.0)]
    said = ("PING 10.66.0.2\n"
            "[1000.600000] 64 bytes from 10.66.0.2: icmp_seq=1 ttl=63 time=500 ms\n"
            "[1004.400000] 64 bytes from 10.66.0.2: icmp_seq=2 ttl=63 time=3500 ms\n"
            "3 packets transmitted, 2 received\n")
    assert exchange.round_trips(said, shown.station_time) == pytest.approx([2.5, 2.5])


def test_the_share_names_its_rate():
    assert exchange.goodput_text(stations(), 4800, 0) == "4800 bit/s, 50.0 % of 9600 bit/s"
    adaptive = stations("auto")
    sent = [(0.0, 10.0, "4539-75S"), (20.0, 30.0, "4539-600S"), (40.0, 70.0, "4539-4800S")]
    events = [e for begin, end, mode in sent for e in (watch.Event("tx_start", begin, mode),
                                                       watch.Event("tx_end", end))]
    adaptive.pair.watches["B"] = SimpleNamespace(events=lambda: events)
    # Octets sent before the file do not count.
    assert exchange.goodput_text(adaptive, 1875, 15.0) == (
        "1875 bit/s, 50.0 % of 3750 bit/s, mean rate of B (600 to 4800)")
    assert exchange.goodput_text(adaptive, 0, 80.0) == "0 bit/s"
