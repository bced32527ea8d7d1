# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversion between sample rates and the readers of recordings, without a receiver."""
import io
import random
import re
import struct

import numpy as np
import pytest

from gnuradio.hf import audio_to_baseband, baseband_to_audio
from gnuradio.hf.recordings import recording, wav


def tone(rate: float, frequency: float, seconds: float, real: bool = True) -> np.ndarray:
    x = np.exp(2j * np.pi * frequency * np.arange(int(rate * seconds)) / rate)
    return x.real.astype(np.float32) if real else x.astype(np.complex64)


def convert(converter, x: np.ndarray, sizes) -> np.ndarray:
    out, at = [], 0
    while at < len(x):
        n = next(sizes)
        out.append(converter.push(x[at:at + n]))
        at += n
    return np.concatenate(out + [converter.finish()])


def whole():
    while True:
        yield 1 << 30


def pieces(seed: int):
    r = random.Random(seed)
    while True:
        yield r.choice([0, 1, 2, 7, 100, 4096])


@pytest.mark.parametrize("rate", [8000, 8001, 9600, 11025, 12345, 44100, 48000, 96000, 250000])
def test_down_keeps_amplitude_time_and_frequency(rate):
    # A tone 500 Hz above the subcarrier, as a real signal.
    y = convert(audio_to_baseband(rate, 1800), tone(rate, 2300, 0.5), whole())
    assert len(y) == pytest.approx(4800, abs=2)
    expected = tone(9600, 500, 0.6, real=False)[:len(y)]
    middle = slice(400, -400)
    # The image is suppressed. Phase 0 at time 0 shows that no delay remains.
    assert np.max(np.abs(y[middle] - expected[middle])) < 5e-3


@pytest.mark.parametrize("rate, subcarrier", [(8000, 1800), (11025, 1500), (48000, 0)])
def test_down_does_not_depend_on_how_the_input_is_cut(rate, subcarrier):
    x = np.random.default_rng(1).normal(size=rate // 2).astype(np.float32)
    a = convert(audio_to_baseband(rate, subcarrier), x, whole())
    for seed in range(3):
        b = convert(audio_to_baseband(rate, subcarrier), x, pieces(seed))
        assert len(a) == len(b) and np.allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("rate", [8000, 9600, 11025, 44100, 48000, 192000])
def test_up_and_down_again_changes_nothing(rate):
    rng = np.random.default_rng(2)
    spectrum = np.zeros(9600, complex)
    spectrum[np.r_[0:1600, -1600:0]] = rng.normal(size=3200) + 1j * rng.normal(size=3200)
    x = np.fft.ifft(spectrum).astype(np.complex64)
    x /= np.abs(x).max()
    audio = convert(baseband_to_audio(rate, 1800), x, pieces(3))
    assert audio.dtype == np.float32 and len(audio) == pytest.approx(rate, abs=1)
    y = convert(audio_to_baseband(rate, 1800), audio, pieces(4))
    error = (y[:9600] - x[:len(y)])[500:-500]
    assert np.sqrt(np.mean(np.abs(error) ** 2)) < 3e-3 * np.sqrt(np.mean(np.abs(x) ** 2))


@pytest.mark.parametrize("rate", [0, -1, 7999, 2_000_001, float("nan"), float("inf")])
def test_bad_rates_are_named(rate):
    with pytest.raises(ValueError, match=f"rate {re.escape(f'{rate:.7g}')}.*8000 to 2000000"):
        audio_to_baseband(rate, 1800)


@pytest.mark.parametrize("make, subcarrier", [(audio_to_baseband, 24000),
                                              (audio_to_baseband, float("nan")),
                                              (baseband_to_audio, 1600),
                                              (baseband_to_audio, 22500)])
def test_bad_subcarriers_are_named(make, subcarrier):
    with pytest.raises(ValueError, match=f"subcarrier {subcarrier:g} Hz"):
        make(48000, subcarrier)


def header(tag=1, channels=1, rate=48000, bits=16, size=2000) -> bytes:
    frame = channels * bits // 8
    return (b"RIFF" + struct.pack("<I", min(36 + size, 0xFFFFFFFF)) + b"WAVEfmt " +
            struct.pack("<IHHIIHH", 16, tag, channels, rate, rate * frame, frame, bits) +
            b"LIST\3\0\0\0abc\0" + b"data" + struct.pack("<I", size))


def read(monkeypatch, data: bytes, **options) -> np.ndarray:
    stdin = type("Stdin", (), {"buffer": io.BytesIO(data)})
    monkeypatch.setattr("sys.stdin", stdin)
    source = recording.open_recording("-", **options)
    out = list(source.pieces())
    return np.concatenate(out) if out else np.zeros(0, np.float32)


def test_scales_of_all_wav_formats(monkeypatch):
    values = np.array([-1, -0.5, 0, 0.25])
    octets = {
        (1, 8): (values * 128 + 128).astype("u1").tobytes(),
        (1, 16): (values * 2 ** 15).astype("<i2").tobytes(),
        (1, 24): b"".join(int(v * 2 ** 23).to_bytes(3, "little", signed=True) for v in values),
        (1, 32): (values * 2 ** 31).astype("<i4").tobytes(),
        (3, 32): values.astype("<f4").tobytes(),
        (3, 64): values.astype("<f8").tobytes(),
    }
    for (tag, bits), data in octets.items():
        x = read(monkeypatch, header(tag, 1, 48000, bits, len(data)) + data)
        assert x.dtype == np.float32 and list(x) == list(values), (tag, bits)


def test_what_follows_the_samples_is_not_taken_for_samples(monkeypatch):
    assert len(read(monkeypatch, header(size=200) + bytes(200) + b"LIST" + bytes(100))) == 100


def chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)


def test_samples_of_all_data_chunks_are_read(monkeypatch):
    x = np.random.default_rng(1).integers(-9999, 9999, 5 * 512 * 2).astype("<i2")
    parts = [part.tobytes() for part in x.reshape(5, -1)]
    data = header(1, 2, 12000, 16, len(parts[0])) + parts[0] + b"".join(
        chunk(b"kiwi", bytes(11)) + chunk(b"data", part) for part in parts[1:])
    found = read(monkeypatch, data, iq=True)
    assert np.array_equal(found.view(np.float32) * 2 ** 15, x)
    assert np.array_equal(read(monkeypatch, data + chunk(b"LIST", bytes(9)), iq=True), found)


def test_what_is_not_read_is_reported(monkeypatch):
    for tail, warning in ((bytes(100), "is no chunk of WAV"),
                          (chunk(b"data", bytes(100))[:50], "ends 58 octets early")):
        stdin = type("Stdin", (), {"buffer": io.BytesIO(header(size=200) + bytes(200) + tail)})
        monkeypatch.setattr("sys.stdin", stdin)
        source = recording.open_recording("-")
        assert sum(map(len, source.pieces())) >= 100
        assert any(warning in line for line in source.warnings), source.warnings


def test_a_file_above_4_gib_is_read_beyond_its_wrapped_size(tmp_path):
    path = tmp_path / "long.wav"
    with open(path, "wb") as file:
        file.write(header(size=2000))
        file.truncate(len(header()) + (1 << 32) + 2000)
    count = 0
    for piece in recording.open_recording(str(path)).pieces():
        count += len(piece)
        if count > 200_000:
            return
    raise AssertionError(f"{count} samples")


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF, 0x7FFFFFFF])
def test_unknown_sizes_mean_until_the_end(monkeypatch, size):
    assert len(read(monkeypatch, header(size=size) + bytes(200_000))) == 100_000


def test_mutated_recordings_never_do_more_than_refuse(monkeypatch):
    r = random.Random(5)
    good = header(3, 2, 48000, 32, 400) + r.randbytes(400)
    refused = 0
    for _ in range(20000):
        data = bytearray(good)
        for _ in range(r.randint(1, 4)):
            data[r.randrange(60)] = r.choice([0, 1, 255, r.randrange(256)])
        data = data[:r.randint(0, len(data))] if r.random() < 0.3 else data
        try:
            x = read(monkeypatch, bytes(data), iq=r.random() < 0.3)
            assert x.dtype in (np.float32, np.complex64) and len(x) <= len(good)
        except recording.RecordingError as error:
            refused += 1
            assert str(error).startswith("standard input: ")
    assert 2000 < refused < 20000


def test_a_wav_too_long_for_its_header_is_refused():
    with pytest.raises(recording.RecordingError, match="more than a WAV file can hold"):
        wav.write_wav(io.BytesIO(), 48000, 1 << 31, [])
