# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated modem against real waveforms in lock step: the same exchange, sample by sample."""
import pytest

from gnuradio import hf
from gnuradio.hf.cli.sim import run_real


@pytest.mark.parametrize("mode, octets, arq", [
    ("4539-9600S", 200_000, True), ("4539-9600VL", 60_000, True), ("4539-2400L", 25_000, True),
    ("4539-1200S", 20_000, True), ("4539-300S", 4_000, True), ("4539-4800S", 60_000, False)])
def test_times_agree_within_two_percent(mode, octets, arq):
    real = run_real(mode, octets, 2042, arq, "awgn snr=40", 1, {}, 1000, False)
    emulated = hf.simulate(mode, octets, arq=arq, seed=1)
    assert real["complete"] and emulated["complete"]
    assert real["octets_delivered"] == emulated["octets_delivered"] == octets
    assert real["time_s"] == pytest.approx(emulated["time_s"], rel=0.02)
    assert real["transmissions"] == emulated["transmissions"]
    assert real["tx_time_s"] == pytest.approx(emulated["tx_time_s"], rel=0.02)
