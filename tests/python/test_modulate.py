# SPDX-License-Identifier: GPL-3.0-or-later
"""hf modulate: levels, formats, wrong use."""
import io
import json
import os
import pty
import subprocess
import wave

import numpy as np
import pytest

from gnuradio import hf as module

MESSAGE = b"THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG 1234567890"


def samples(data: bytes) -> np.ndarray:
    with wave.open(io.BytesIO(data)) as file:
        assert file.getnchannels() == 1 and file.getsampwidth() == 2
        return np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32767


@pytest.mark.parametrize("rate", [8000, 11025, 44100, 48000, 96000])
@pytest.mark.parametrize("level", [-20, -3, 0])
def test_level_duration_and_spectrum(hf, rate, level):
    r = hf("modulate", "--mode", "4539-2400S", "--sample-rate", rate, "--level", level,
           "--lead", "0.25", "--tail", "1", "-", "-", input=MESSAGE)
    assert r.status == 0
    with wave.open(io.BytesIO(r.out)) as file:
        assert file.getframerate() == rate
    x = samples(r.out)
    assert 20 * np.log10(np.max(np.abs(x))) == pytest.approx(level, abs=0.05)
    # Two silences, the transmission, and 20 symbols of pulse.
    expected = 1.25 + module.timing(module.mode("4539-2400S")).duration(len(MESSAGE))
    assert len(x) / rate == pytest.approx(expected + 20 / 2400, abs=0.002)
    assert not np.any(x[:int(0.2 * rate)]) and not np.any(x[-int(0.9 * rate):])
    power = np.abs(np.fft.rfft(x)) ** 2
    f = np.fft.rfftfreq(len(x), 1 / rate)
    inside = power[(f > 1800 - 1620) & (f < 1800 + 1620)].sum()
    assert inside / power.sum() > 0.9999
    assert np.sum(f * power) / np.sum(power) == pytest.approx(1800, abs=20)


def test_subcarrier_and_agc_blocks_change_the_samples(hf):
    plain = hf("modulate", "--mode", "4539-9600S", "-", "-", input=MESSAGE)
    moved = hf("modulate", "--mode", "4539-9600S", "--subcarrier", "2000", "-", "-",
               input=MESSAGE)
    longer = hf("modulate", "--mode", "4539-9600S", "--agc-blocks", "2", "-", "-",
                input=MESSAGE)
    assert plain.status == moved.status == longer.status == 0
    assert len(plain.out) == len(moved.out) and plain.out != moved.out
    assert len(longer.out) - len(plain.out) == pytest.approx(2 * 184 * 20 * 2, abs=4)


def test_input_is_optional_and_files_equal_pipes(hf, tmp_path):
    (tmp_path / "message").write_bytes(MESSAGE)
    assert hf("modulate", "--mode", "4539-600S", "message", "a.wav").status == 0
    assert hf("modulate", "--mode", "4539-600S", "b.wav", input=MESSAGE).status == 0
    piped = hf("modulate", "--mode", "4539-600S", "-", input=MESSAGE).out
    assert (tmp_path / "a.wav").read_bytes() == (tmp_path / "b.wav").read_bytes() == piped


def test_an_empty_message_is_a_transmission(hf):
    r = hf("modulate", "--mode", "4539-600S", "-", "-")
    assert r.status == 0 and len(samples(r.out)) > 48000


@pytest.mark.parametrize("name", [["--complex", "x"], ["x.sigmf-data"], ["x.sigmf-meta"]])
def test_sigmf(hf, tmp_path, name):
    r = hf("modulate", "--mode", "4539-2400S", "--lead", "0.1", "--level", "-6", "-", *name,
           input=MESSAGE)
    assert r.status == 0 and r.out == b""
    meta = json.loads((tmp_path / "x.sigmf-meta").read_text())
    assert meta["global"]["core:datatype"] == "cf32_le"
    assert meta["global"]["core:sample_rate"] == 9600
    assert meta["global"]["core:version"] and meta["global"]["core:description"]
    assert meta["captures"] == [{"core:sample_start": 0}]
    data = np.fromfile(tmp_path / "x.sigmf-data", "<c8")
    assert np.max(np.abs(data)) == pytest.approx(10 ** (-6 / 20), rel=1e-3)
    (note,) = meta["annotations"]
    assert note["core:label"] == "4539-2400S" and note["core:sample_start"] == 960
    assert note["core:sample_start"] + note["core:sample_count"] + 4800 == len(data)
    exact = module.modulate(module.mode("4539-2400S"), MESSAGE)
    part = data[960:960 + note["core:sample_count"]]
    assert np.allclose(part / np.abs(part).max(), exact / np.abs(exact).max(), atol=1e-6)


def test_wrong_mode_is_one_clear_error(hf):
    r = hf("modulate", "--mode", "4539-601S", "-", "-", input=MESSAGE)
    assert r.status == 2 and r.out == b""
    assert '"4539-601S"' in r.err and "600" in r.err
    assert r.err.count("Error") == 1


@pytest.mark.parametrize("arguments, text", [
    (["-", "-"], "--mode"),
    (["--mode", "4539-600S"], "IN"),
    (["--mode", "4539-600S", "a", "b", "c"], "IN"),
    (["--mode", "4539-600S", "--sample-rate", "7999", "-", "-"], "8000"),
    (["--mode", "4539-600S", "--level", "1", "-", "-"], "-60"),
    (["--mode", "4539-600S", "--subcarrier", "300", "-", "-"], "1650"),
    (["--mode", "4539-600S", "--subcarrier", "nan", "-", "-"], "subcarrier"),
    (["--mode", "4539-9600S", "--agc-blocks", "8", "-", "-"], "7"),
    (["--mode", "4539-600S", "--complex", "-", "-"], "SigMF"),
])
def test_wrong_use_exits_with_2_and_says_what_is_allowed(hf, arguments, text):
    r = hf("modulate", *arguments, input=MESSAGE)
    assert r.status == 2 and r.out == b"" and text in r.err


@pytest.mark.parametrize("paths", [["missing", "x.wav"], ["-", "no/such/folder/x.wav"],
                                   ["-", "no/such/folder/x.sigmf-data"], [".", "x.wav"]])
def test_what_cannot_be_opened_is_named(hf, paths):
    r = hf("modulate", "--mode", "4539-600S", *paths, input=MESSAGE)
    assert r.status == 1
    assert "No such file" in r.err or "Is a directory" in r.err


def test_samples_do_not_go_to_a_terminal():
    master, slave = pty.openpty()
    try:
        r = subprocess.run(["hf", "modulate", "--mode", "4539-600S", "-", "-"], input=MESSAGE,
                           stdout=slave, stderr=subprocess.PIPE, timeout=60)
    finally:
        os.close(master)
        os.close(slave)
    assert r.returncode == 2 and b"terminal" in r.stderr


def test_the_peaks_are_what_the_blocks_say():
    """Sinks clip at 1.0: who connects one must know."""
    random = np.random.default_rng(1)
    peaks = [np.max(np.abs(module.modulate(m, random.bytes(max(m.rate_bps, 40)))))
             for m in module.mode.all() if str(m).startswith("4539")]
    assert 1.5 < max(peaks) < 1.6


def test_audio_at_full_scale_does_not_clip(hf):
    r = hf("modulate", "--mode", "4539-9600S", "--level", 0, "-", "-", input=MESSAGE * 40)
    x = np.abs(samples(r.out))
    assert np.max(x) == pytest.approx(1, abs=1e-4)
    assert np.count_nonzero(x > 0.9999) <= 2


def test_wideband_goes_to_complex_samples(hf, tmp_path):
    base = tmp_path / "wide"
    options = ("--mode", "5069-12k-19200US", "--lead", 0.1, "--tail", 0)
    assert hf("modulate", *options, "--complex", "-", base, input=MESSAGE).status == 0
    meta = json.loads((tmp_path / "wide.sigmf-meta").read_text())
    assert meta["global"]["core:sample_rate"] == 4 * 9600
    (note,) = meta["annotations"]
    assert (note["core:sample_start"], note["core:freq_upper_edge"]) == (3840, 6000)
    plain = np.fromfile(tmp_path / "wide.sigmf-data", np.complex64)
    assert hf("modulate", *options, "--complex", "--superframes", 3, "--eot", "--force", "-", base,
              input=MESSAGE).status == 0
    longer = np.fromfile(tmp_path / "wide.sigmf-data", np.complex64)
    # Two more super-frames of 18 channel symbols of 128 chips, and one such symbol at the end.
    assert len(longer) - len(plain) == 4 * (2 * 18 * 128 + 128)


@pytest.mark.parametrize("mode, options, word", [
    ("5069-48k-240000L", [], "--complex"), ("4539-600S", ["--eot"], "end-of-transmission"),
    ("4539-9600S", ["--superframes", 2], "one preamble"),
    ("5069-3k-75S", ["--superframes", 2, "--short-preamble"], "short"),
    ("5069-48k-57600S", [], "1200, 2400")])
def test_wideband_options_are_refused_with_a_reason(hf, mode, options, word):
    r = hf("modulate", "--mode", mode, *options, "-", "-", input=MESSAGE)
    assert r.status == 2 and word in r.err
