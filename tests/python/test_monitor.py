# SPDX-License-Identifier: GPL-3.0-or-later
"""Many channels in one wide recording."""
import json
import os
import re

from gnuradio import hf as module
from gnuradio.hf.recordings import sigmf
import numpy as np
import pytest
import band

RATE = 96000


def tone(hz, seconds=1.0):
    return np.exp(2j * np.pi * hz * np.arange(int(seconds * RATE)) / RATE).astype(np.complex64)


@pytest.mark.parametrize("centre", [0, 3000, -12340, 20007.5])
def test_a_channel_keeps_its_signal_and_nothing_else(centre):
    x = tone(centre + 1500) + 100 * tone(centre + 5000) + 100 * tone(centre - 4000)
    cutter = module.channeliser(RATE, [0, centre])
    y = np.concatenate([cutter.push(p)[1] for p in np.array_split(x, 41)])[500:-50]
    t = (500 + np.arange(len(y))) / 9600 - cutter.delay_s
    left = y * np.exp(-2j * np.pi * 1500 * t)
    assert abs(np.mean(left)) == pytest.approx(1, abs=1e-3)
    assert np.max(np.abs(left - np.mean(left))) < 1e-2


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="47000"):
        module.channeliser(RATE, [47000])
    with pytest.raises(ValueError, match="96001"):
        module.channeliser(96001, [0])
    found = module.channeliser.grid(RATE, 3000)
    assert found == [3000 * k for k in range(-14, 15)]


def test_every_transmission_of_a_band_is_found(hf, tmp_path):
    """Three stations, two of them at once, in noise; each on its channel."""
    random = np.random.default_rng(3)
    x = (random.normal(size=(5 * RATE, 2)) @ [1, 1j]).astype(np.complex64) * 0.3
    sent = {}
    for centre, mode, at in ((-30000, "4539-3200S", 0.5), (3000, "4539-1200S", 0.7),
                             (30007, "4539-4800S", 2.0)):
        octets = os.urandom(60)
        sent[centre] = mode, octets, at
        narrow = np.asarray(module.modulate(mode, octets))
        spectrum = np.fft.fft(narrow, 2 * len(narrow))
        wide = np.zeros(2 * len(narrow) * RATE // 9600, np.complex64)
        half = len(narrow)
        wide[:half], wide[-half:] = spectrum[:half], spectrum[half:]
        wide = np.fft.ifft(wide)[:len(narrow) * RATE // 9600] * (RATE / 9600)
        first = int(at * RATE)
        t = np.arange(len(wide)) / RATE
        x[first:first + len(wide)] += (wide * np.exp(2j * np.pi * centre * t))[:len(x) - first]
    sigmf.write_sigmf(str(tmp_path / "band"), RATE, [x], "a test", lambda _: [])
    r = hf("monitor", "--channels", "-30000,-3000,3000,30007", tmp_path / "band.sigmf-meta",
           "--payload", tmp_path / "heard")
    assert r.status == 0
    found = {report["channel_hz"]: report for report in map(json.loads, r.out.splitlines())}
    assert set(found) == set(sent) and "3 transmissions in 4 channels" in r.err
    assert re.search(r" [1-9]\d* channels in real time per processor$", r.err.strip())
    for centre, (mode, octets, at) in sent.items():
        report = found[centre]
        assert report["mode"] == mode and report["ended"] == "eom"
        assert report["start_s"] == pytest.approx(at, abs=0.01)
        assert abs(report["freq_offset_hz"]) < 1
        (file,) = (tmp_path / "heard").glob(f"{centre:+d}-*.bin")
        assert file.read_bytes()[:60] == octets


@pytest.mark.parametrize("mode", sorted(band.THRESHOLD_DB))
def test_transmissions_near_the_threshold_are_found_as_by_demodulate(tmp_path, mode):
    wide, sent = band.band(mode, 1, 1)
    found = [band.counts(heard(tmp_path, wide), sent, mode)
             for heard in (band.heard_by_monitor, band.heard_by_demodulate)]
    print(mode, "of", len(sent), "found, without error, and something else:", *found)
    assert min(found[0][0], found[1][0]) >= len(sent) - 1


def test_frames_of_2g_ale_in_every_channel(hf, tmp_path):
    random = np.random.default_rng(3)
    x = (random.normal(size=(8 * RATE, 2)) @ [1, 1j]).astype(np.complex64)
    sent = {-30000: ("JOE", 1.0), 3000: ("ANN", 1.5), 30007: ("BOB", 2.0)}
    for centre, (own, at) in sent.items():
        wide = module.ale_modulate(module.ale_words(own, ["SAM"], 2), RATE, 1800 - centre)
        first = int(at * RATE)
        x[first:first + len(wide)] += wide
    sigmf.write_sigmf(str(tmp_path / "band"), RATE, [x], "a test", lambda _: [])
    r = hf("monitor", "--ale", "--channels", "-30000,-3000,3000,30007",
           tmp_path / "band.sigmf-meta")
    assert r.status == 0 and "3 frames in 4 channels" in r.err
    found = {report["channel_hz"]: report for report in map(json.loads, r.out.splitlines())}
    assert set(found) == set(sent)
    for centre, (own, at) in sent.items():
        assert found[centre]["text"] == f"TO SAM TIS {own}"
        assert found[centre]["start_s"] == pytest.approx(at, abs=0.01)
        assert found[centre]["snr_db"] == pytest.approx(10 * np.log10(RATE / 3000 / 2), abs=1.5)
    assert hf("monitor", "--ale", "--grid", "3000", "--payload", tmp_path / "x",
              tmp_path / "band.sigmf-meta").status == 2


def test_the_help_names_the_files_of_octets(hf):
    assert "CHANNEL-START.bin" in hf("monitor", "--help").out.decode()


@pytest.mark.parametrize("arguments, named", [
    (["x.sigmf-meta"], "--grid"), (["--channels", "a,b", "x.sigmf-meta"], "a,b"),
    (["--grid", "3000", "--channels", "0", "x.sigmf-meta"], "--grid"),
    (["--grid", "3000", "x.sigmf-meta"], "x.sigmf-")])
def test_wrong_use_is_told(hf, arguments, named):
    r = hf("monitor", *arguments)
    assert r.status in (1, 2) and named in r.err
