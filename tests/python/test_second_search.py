# SPDX-License-Identifier: GPL-3.0-or-later
"""hf demodulate: carriers far off, and inverted spectra, where the first search finds nothing."""
import json
import random

import numpy as np
import pytest

from gnuradio import hf as module
from gnuradio.hf.cli import demodulate as program
from gnuradio.hf.signals import demodulation

RATE = 9600
RAW = ("demodulate", "--json", "--format", "cf32le", "--sample-rate", RATE, "-")


def heard(mode, offset_hz, inverted=False, seed=1):
    """Octets, and samples of their transmission at 25 dB."""
    octets = random.Random(seed).randbytes(300)
    x = module.modulate(module.mode(mode), octets)
    x = np.concatenate([np.zeros(4800), x, np.zeros(4800)]).astype(np.complex64)
    y = module.channel_model("awgn snr=25", seed=seed).process(x)
    y = y.conj() if inverted else y
    turn = np.exp(2j * np.pi * offset_hz / RATE * np.arange(len(y)))
    return octets, (y * turn).astype(np.complex64)


@pytest.mark.parametrize("mode", ["4539-3200S", "4539-600S", "5069-3k-3200S"])
@pytest.mark.parametrize("offset_hz, inverted", [(120, False), (-160, False), (200, False),
                                                 (0, True), (-60, True), (180, True)])
def test_found_with_its_offset_and_sideband(hf, mode, offset_hz, inverted):
    octets, samples = heard(mode, offset_hz, inverted, abs(offset_hz))
    r = hf(*RAW, input=samples.tobytes())
    assert r.status == 0 and r.out == octets
    (report,) = r.reports()
    assert report["mode"] == mode and report["ended"] == "eom"
    assert report["freq_offset_hz"] == pytest.approx(offset_hz, abs=1)
    assert report.get("sideband") == ("inverted" if inverted else None)


def test_in_audio_and_in_plain_words(hf):
    octets, samples = heard("4539-600S", 150, inverted=True)
    audio = samples * np.exp(2j * np.pi * 1800 / RATE * np.arange(len(samples)))
    raw = ("demodulate", "--format", "f32le", "--sample-rate", RATE)
    r = hf(*raw, input=audio.real.astype(np.float32).tobytes())
    assert r.status == 0 and r.out == octets
    assert "offset +150." in r.err and r.err.strip().endswith("sideband: inverted")


def test_i_and_q_exchanged(hf):
    octets, samples = heard("4539-1200S", 30)
    exchanged = samples.imag + 1j * samples.real
    r = hf(*RAW, input=exchanged.astype(np.complex64).tobytes())
    assert r.status == 0 and r.out == octets
    assert r.reports()[0]["sideband"] == "inverted"


def test_in_a_named_bandwidth(hf):
    octets = random.Random(2).randbytes(500)
    x = module.modulate(module.mode("5069-12k-12800S"), octets)
    x = np.concatenate([np.zeros(9600), x, np.zeros(9600)])
    x = (x * np.exp(-2j * np.pi * 200 / 38400 * np.arange(len(x)))).astype(np.complex64)
    r = hf("demodulate", "--json", "--format", "cf32le", "--sample-rate", 38400, "--bandwidth", 12,
           "-", input=x.tobytes())
    assert r.status == 0 and r.out == octets
    assert r.reports()[0]["freq_offset_hz"] == pytest.approx(-200, abs=1)


def test_the_error_says_what_was_searched(hf):
    noise = np.random.default_rng(1).normal(0, 0.1, 8 * RATE).astype(np.float32)
    r = hf("demodulate", "--format", "f32le", "--sample-rate", RATE, input=noise.tobytes())
    assert r.status == 1 and r.out == b""
    assert "no transmission found in 8.0 s, up to 250 Hz off and in either sideband" in r.err


def test_the_searches_overlap():
    views = [demodulation.View(), *demodulation.second_search(3)]
    assert len(set(views)) == 6
    for inverted in (False, True):
        shifts = sorted(view.shift_hz for view in views if view.inverted == inverted)
        # The receiver accepts 20 Hz more than the 75 that it searches.
        assert all(b - a <= 2 * 95 for a, b in zip(shifts, shifts[1:]))
        assert shifts[0] - 95 <= -demodulation.MAX_OFFSET_HZ
        assert shifts[-1] + 95 >= demodulation.MAX_OFFSET_HZ


def events(octets):
    """Events of a transmission. Without octets it was only taken for one."""
    yield {"type": "start", "mode": "5069-6k-1200S", "time": 0.1, "freq_offset_hz": 1.0,
           "snr_db": 3.0, "joined": False}
    if octets:
        yield {"type": "octets", "octets": octets, "snr_db": 9.0, "reading": "standard"}
    yield {"type": "end", "time": 0.5, "reason": "eom" if octets else "lost"}


@pytest.mark.parametrize("with_data", [9, None])
def test_a_bandwidth_without_data_is_reported_only_if_none_has(monkeypatch, tmp_path, capfdbinary,
                                                               with_data):
    def receive(source, reception, subcarrier, view, **how):
        list(source.pieces())
        if not view.shift_hz and not view.inverted and view.khz in (6, 9, 12):
            reception.handle(events(b"data" if view.khz == with_data else b""))
        return 1.0

    monkeypatch.setattr(demodulation, "demodulate", receive)
    path = tmp_path / "x.f32le"
    path.write_bytes(bytes(4 * 48000))
    arguments = ["--json", "--format", "f32le", "--sample-rate", "48000", str(path)]
    with pytest.raises(SystemExit) as status:
        program.command.main(arguments, prog_name="hf demodulate")
    out, err = capfdbinary.readouterr()
    reports = [json.loads(line) for line in err.splitlines() if line.startswith(b"{")]
    assert [r["octets"] for r in reports] == ([4] if with_data else [0])
    assert out == (b"data" if with_data else b"")
    assert status.value.code == (0 if with_data else 1)
    assert with_data or b"1 transmission(s) found, none complete" in err
