# SPDX-License-Identifier: GPL-3.0-or-later
"""Real waveforms in one thread: against the emulated modem, and against a flowgraph of the same
stations."""
import json
import subprocess
import time

from gnuradio import gr, hf
from gnuradio.hf import station
from gnuradio.hf.simulation import simulator
from gnuradio.hf.station import watch
import numpy as np
import pytest


@pytest.mark.parametrize("mode, octets, arq", [
    ("4539-9600S", 200_000, True), ("4539-9600VL", 60_000, True), ("4539-2400L", 25_000, True),
    ("4539-1200S", 20_000, True), ("4539-300S", 4_000, True), ("4539-4800S", 60_000, False),
    ("5069-12k-19200S", 20_000, True), ("auto:12k", 60_000, True)])
def test_times_agree_within_two_percent(mode, octets, arq):
    real = simulator.simulate_real(mode, octets, 2042, arq, channel="awgn snr=40", limit_s=1000)
    emulated = simulator.simulate(mode, octets, arq=arq, seed=1)
    assert real["complete"] and emulated["complete"]
    assert real["octets_altered"] == 0
    assert real["octets_delivered"] == emulated["octets_delivered"] == octets
    assert real["time_s"] == pytest.approx(emulated["time_s"], rel=0.02)
    assert real["transmissions"] == emulated["transmissions"]
    assert real["tx_time_s"] == pytest.approx(emulated["tx_time_s"], rel=0.02)


def test_240_kbit_s_takes_the_emulated_time():
    mode, octets = "5069-48k-240000S", 600_000
    real = simulator.simulate_real(mode, octets, channel="awgn snr=40", limit_s=300)
    emulated = simulator.simulate(mode, octets)
    assert real["complete"] and real["octets_altered"] == 0
    assert real["time_s"] == pytest.approx(emulated["time_s"], rel=0.02)
    assert real["transmissions"] == emulated["transmissions"]


@pytest.mark.parametrize("mode, octets", [
    ("5069-48k-240000S", 500_000), ("5069-18k-57600S", 100_000), ("4539-9600S", 30_000)])
def test_hf_pep_takes_the_emulated_time(mode, octets):
    content = np.random.default_rng(2).bytes(octets)
    real, emulated = (simulator.simulate_tcp(mode, content, channel=channel, acquainted=False)
                      for channel in ("awgn snr=40", None))
    # Both compare what the server has read with what the client wrote.
    assert real["complete"] and emulated["complete"]
    assert real["total_s"] == pytest.approx(emulated["total_s"], rel=0.02)
    assert real["end_s"] == pytest.approx(emulated["end_s"], rel=0.02)
    # Decoding is a large part of a turn or two: the emulated modem assumes 0.1 s of it.
    for time_s in ("connect_s", "confirmed_s", "close_s"):
        assert real[time_s] == pytest.approx(emulated[time_s], rel=0.02, abs=0.15), time_s
    assert real["transmissions"] == emulated["transmissions"]


def test_hf_pep_over_waveforms_says_what_it_cannot_have():
    with pytest.raises(ValueError, match="ber, loss"):
        simulator.simulate_tcp("4539-9600S", b"octets", ber=1e-5, channel="clear")
    with pytest.raises(ValueError, match="loud"):
        simulator.simulate_tcp("4539-9600S", b"octets", channel="loud")


def test_the_command_moves_octets_through_hf_pep():
    def sim(*arguments):
        return subprocess.run(["hf", "sim", "--pep", "--json", *arguments], capture_output=True,
                              text=True, timeout=300)

    emulated, real = (sim("--mode", "4539-9600S", "--octets", "20000", *more)
                      for more in ([], ["--real", "--channel", "awgn snr=30"]))
    assert (emulated.returncode, real.returncode) == (0, 0), emulated.stderr + real.stderr
    a, b = json.loads(emulated.stdout), json.loads(real.stdout)
    assert a["complete"] and b["complete"]
    assert a["total_s"] == pytest.approx(b["total_s"], rel=0.02)
    assert a["goodput_bps"] == pytest.approx(8 * 20000 / a["total_s"])
    refused = sim("--u-pdu", "500")
    assert refused.returncode == 2 and "--pep" in refused.stderr


def test_auto_uses_robust_modes_at_minus_10_db():
    # 185 bit/s with 10,000 octets. 4539 alone has 57.
    auto, narrow = (simulator.simulate_real(mode, 4000, channel="awgn snr=-10", limit_s=1500)
                    for mode in ("auto", "auto:4539"))
    assert auto["complete"] and narrow["complete"]
    assert auto["octets_altered"] == 0
    assert auto["time_s"] < 0.6 * narrow["time_s"]


def test_noise_that_nothing_survives_is_not_complete():
    lost = simulator.simulate_tcp("4539-9600S", b"octets", channel="awgn snr=-20",
                                  acquainted=False)
    assert not lost["complete"] and lost["total_s"] < 0


def flowgraph(mode, octets, channel, seed, lines):
    """The same with blocks, until everything is confirmed and the given number of lines is logged.
    Returns the log of the nodes and the result."""
    nodes = ["1.2.0.1", "1.2.0.2"]
    tb = gr.top_block("two stations")
    m = hf.mode(hf.reference_mode(mode))
    air = hf.air(2, channel, seed, 0.0, m.mean_power, 1000, bandwidth=m.bandwidth_hz // 1000)
    clients, logs = [], []
    for k in range(2):
        d = station.Description(nodes[k], mode, data_link={"seed": 2 * seed + k})
        s = station.Station(tb, d, air.source(k), air.sink(k))
        clients.append(hf.traffic(nodes[1 - k], octets if k == 0 else 0))
        s.add_client(tb, clients[-1])
        logs.append(watch.LogWatch("AB"[k] + " "))
        tb.msg_connect(s.data_link, "log", logs[-1], "log")
    tb.start()
    deadline = time.monotonic() + 300
    while (clients[0].state().octets_confirmed < octets
           or sum(len(log.lines()) for log in logs) < lines):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    air.end()
    tb.stop()
    tb.wait()
    return [line for log in logs for line in log.lines()], clients[1].state()


@pytest.mark.parametrize("mode, octets, channel", [
    ("4539-9600S", 60_000, "awgn snr=30"), ("auto", 20_000, "poor snr=18"),
    ("5069-12k-12800S", 10_000, "awgn snr=15"),
    ("4539-1200S", 6_000, "poor snr=6")])
def test_events_are_those_of_the_flowgraph(mode, octets, channel):
    ours = []
    alone = simulator.simulate_real(mode, octets, channel=channel, seed=3, limit_s=1000,
                                    log=lambda t, line: ours.append((t, line)))
    theirs, received = flowgraph(mode, octets, channel, 3, len(ours))
    assert alone["complete"]
    assert alone["time_s"] == received.last_received
    # The flowgraph runs on for a moment after the last confirmation.
    for name in "AB":
        told = [f"{t:9.2f} {line}" for t, line in ours if line.startswith(name)]
        seen = [line for line in theirs if line.split()[1] == name]
        assert len(told) > 5
        assert seen[:len(told)] == told
