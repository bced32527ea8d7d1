# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of other programs: containers, number formats, channels, low rates, SigMF."""
import hashlib
import json
import struct
import subprocess
import tarfile

import numpy as np
import pytest
import soundfile

from gnuradio.hf import hf_python
from gnuradio.hf.recordings import recording, sigmf
from gnuradio.hf.signals import modulation

MESSAGE = bytes(range(256)) * 2
RATE = 48000


def made(rate=RATE, mode="4539-2400S", complex_samples=False):
    """A transmission, with a little noise."""
    base = modulation.Transmission(hf_python.mode(mode), MESSAGE)
    pieces = base.baseband() if complex_samples else base.audio(rate, 1800.0)
    x = np.concatenate(list(pieces))
    x = x / (1.5 * np.abs(x).max())
    noise = np.random.default_rng(1).normal(0, 0.003, len(x))
    return (x + noise).astype(np.complex64 if complex_samples else np.float32)


@pytest.fixture(name="audio", scope="module")
def an_audio():
    return made()


@pytest.fixture(name="baseband", scope="module")
def a_baseband():
    """Complex samples at 9600 samples/s."""
    return made(complex_samples=True)


def demodulate(*arguments):
    """Octets, reports, and the last line that is none."""
    done = subprocess.run(["hf", "demodulate", "--json", *map(str, arguments)],
                          capture_output=True, timeout=120)
    lines = done.stderr.decode().splitlines()
    reports = [json.loads(line) for line in lines if line.startswith("{")]
    return done.stdout, reports, "\n".join(line for line in lines if not line.startswith("{"))


CONTAINERS = [("AU", "PCM_16"), ("AU", "ULAW"), ("AIFF", "PCM_24"), ("CAF", "PCM_16"),
              ("W64", "PCM_16"), ("RF64", "PCM_16"), ("FLAC", "PCM_16"), ("OGG", "VORBIS"),
              ("MP3", "MPEG_LAYER_III"), ("WAV", "ALAW"), ("WAV", "ULAW"), ("WAV", "IMA_ADPCM"),
              ("WAV", "MS_ADPCM"), ("WAVEX", "PCM_24"), ("WAV", "FLOAT"), ("WAV", "PCM_U8")]


@pytest.mark.parametrize("container, numbers", CONTAINERS)
def test_a_container_of_another_program(tmp_path, audio, container, numbers):
    if not soundfile.check_format(container, numbers):
        pytest.skip(f"this libsndfile has no {container} {numbers}")
    path = tmp_path / "heard.sound"
    soundfile.write(path, audio, RATE, numbers, format=container)
    octets, reports, said = demodulate("--bandwidth", "3", path)
    assert octets == MESSAGE and reports[0]["ended"] == "eom", said


def test_without_the_library_the_reason_is_said(tmp_path, audio, monkeypatch):
    path = tmp_path / "heard.flac"
    soundfile.write(path, audio[:1000], RATE, format="FLAC")
    monkeypatch.setitem(__import__("sys").modules, "soundfile", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(recording.RecordingError, match="python3-soundfile is not installed"):
        recording.open_recording(str(path))


def test_ffmpeg_reads_what_the_library_does_not(tmp_path, audio, monkeypatch):
    """A program of that name writes WAV to its standard output, as ffmpeg does."""
    soundfile.write(tmp_path / "x.wav", audio[:5000], RATE, "FLOAT")
    program = tmp_path / "ffmpeg"
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/x.wav\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "heard.m4a").write_bytes(b"\0\0\0\x20ftypM4A " + bytes(500))
    source = recording.open_recording(str(tmp_path / "heard.m4a"))
    assert np.array_equal(np.concatenate(list(source.pieces())), audio[:5000])


def header(channels, rate, bits, frame, size, tag=1, start=b"RIFF"):
    ds64 = b"ds64" + struct.pack("<IQQQI", 28, 0, size, 0, 0) if start != b"RIFF" else b""
    return start + struct.pack("<I", 0xFFFFFFFF) + b"WAVE" + ds64 + b"fmt " + struct.pack(
        "<IHHIIHH", 16, tag, channels, rate, rate * frame, frame, bits) + b"data" + struct.pack(
        "<I", size if start == b"RIFF" else 0xFFFFFFFF)


def test_24_bits_in_32_and_bw64(tmp_path):
    values = np.array([-1, -0.5, 0, 0.25])
    data = (values * 2 ** 31).astype("<i4").tobytes()
    for start in (b"RIFF", b"BW64", b"RF64"):
        path = tmp_path / "x.wav"
        path.write_bytes(header(1, RATE, 24, 4, len(data), start=start) + data)
        source = recording.open_recording(str(path))
        assert list(np.concatenate(list(source.pieces()))) == list(values)


@pytest.mark.parametrize("name, kind, offset, scale", [
    ("cu8", "u1", 127.5, 100), ("cs8", "i1", 0, 100), ("cs16le", "<i2", 0, 20000)])
def test_raw_samples_of_sdr_sticks(tmp_path, baseband, name, kind, offset, scale):
    numbers = np.round(baseband.view(np.float32) * scale + offset).astype(kind)
    path = tmp_path / "stick.raw"
    path.write_bytes(numbers.tobytes())
    octets, _, said = demodulate("--format", name, "--sample-rate", 9600, path)
    assert octets == MESSAGE, said


@pytest.mark.parametrize("name, kind, offset", [("u8", "u1", 128), ("s8", "i1", 0)])
def test_raw_audio_of_8_bits(tmp_path, audio, name, kind, offset):
    path = tmp_path / "x.raw"
    path.write_bytes(np.round(audio * 120 + offset).astype(kind).tobytes())
    octets, _, said = demodulate("--format", name, "--sample-rate", RATE, "--bandwidth", 3, path)
    assert octets == MESSAGE, said


def low(x, rate, to):
    """Another rate, by the spectrum."""
    count = round(len(x) * to / rate)
    spectrum = np.fft.fft(x)
    half = min(count, len(x)) // 2
    kept = np.zeros(count, complex)
    kept[:half], kept[-half:] = spectrum[:half], spectrum[-half:]
    y = np.fft.ifft(kept) * count / len(x)
    return y.astype(np.complex64) if np.iscomplexobj(x) else y.real.astype(np.float32)


@pytest.mark.parametrize("rate", [6300, 7000, 7350, 7999])
def test_audio_below_8000_samples(tmp_path, audio, rate):
    path = tmp_path / "slow.wav"
    soundfile.write(path, low(audio, RATE, rate), rate)
    octets, reports, said = demodulate(path)
    assert octets == MESSAGE, said
    assert reports[0]["start_s"] == pytest.approx(0.5 + 10 / 2400, abs=0.002)


@pytest.mark.parametrize("rate", [3200, 4000, 6000])
def test_complex_samples_below_8000(tmp_path, baseband, rate):
    path = tmp_path / "slow.raw"
    path.write_bytes(low(baseband, 9600, rate).tobytes())
    octets, _, said = demodulate("--format", "cf32le", "--sample-rate", rate, path)
    assert octets == MESSAGE, said


@pytest.mark.parametrize("rate", [1000, 5999])
def test_a_rate_too_low_for_a_channel_is_refused(tmp_path, rate):
    path = tmp_path / "slow.wav"
    soundfile.write(path, np.zeros(1000), rate)
    assert f"sample rate {rate}: allowed are 6000" in demodulate(path)[2]


def stereo(tmp_path, left, right, rate=RATE):
    path = tmp_path / "stereo.wav"
    count = max(len(left), len(right))
    both = np.zeros((count, 2), np.float32)
    both[:len(left), 0], both[:len(right), 1] = left, right
    soundfile.write(path, both, rate)
    return path


def test_the_right_channel_and_iq_are_tried(tmp_path, audio, baseband):
    noise = np.random.default_rng(2).normal(0, 0.01, len(audio)).astype(np.float32)
    octets, reports, said = demodulate("--bandwidth", 3, stereo(tmp_path, noise, audio))
    assert octets == MESSAGE and reports[0]["channel"] == "right", said
    octets, reports, said = demodulate(stereo(tmp_path, baseband.real, baseband.imag, 9600))
    assert octets == MESSAGE and reports[0]["channel"] == "I/Q", said
    octets, reports, said = demodulate("--bandwidth", 3, stereo(tmp_path, audio, noise))
    assert octets == MESSAGE and "channel" not in reports[0], said


def test_a_channel_can_be_chosen(tmp_path, audio):
    other = made(mode="4539-1200S")
    path = stereo(tmp_path, audio, other)
    for side, mode in (("left", "4539-2400S"), ("right", "4539-1200S")):
        octets, reports, said = demodulate("--bandwidth", 3, "--channel", side, path)
        assert octets == MESSAGE and reports[0]["mode"] == mode, said


def test_nothing_in_any_channel_is_said(tmp_path):
    rng = np.random.default_rng(3)
    path = stereo(tmp_path, *rng.normal(0, 0.01, (2, 48000)).astype(np.float32), 9600)
    assert "neither in its channels nor in both as I and Q" in demodulate(path)[2]


def test_monitor_takes_a_sound_file_of_iq(tmp_path, baseband):
    wide = low(baseband, 9600, RATE)
    path = stereo(tmp_path, wide.real, wide.imag)
    done = subprocess.run(["hf", "monitor", "--channels", "0", str(path)], capture_output=True,
                          timeout=60, text=True)
    assert json.loads(done.stdout.splitlines()[0])["mode"] == "4539-2400S", done.stderr


def sigmf_files(folder, data, captures=({"core:sample_start": 0},), name="x", **fields):
    """Write a recording. Returns the path of its metadata."""
    (folder / f"{name}.sigmf-data").write_bytes(data)
    meta = {"global": {"core:datatype": "cf32_le", "core:sample_rate": 9600,
                       "core:version": "1.2.0", **{f"core:{k}": v for k, v in fields.items()}},
            "captures": list(captures), "annotations": []}
    path = folder / f"{name}.sigmf-meta"
    path.write_text(json.dumps(meta))
    return path


def samples(path):
    source = recording.open_recording(str(path))
    return np.concatenate(list(source.pieces())), source


def test_sigmf_headers_and_trailing_octets_are_no_samples(tmp_path):
    x = np.arange(100).astype(np.complex64)
    octets = x.tobytes()
    data = b"H" * 13 + octets[:40 * 8] + b"I" * 7 + octets[40 * 8:] + b"T" * 21
    for offset in (0, 1000):
        path = sigmf_files(tmp_path, data, (
            {"core:sample_start": offset, "core:header_bytes": 13},
            {"core:sample_start": offset + 20},
            {"core:sample_start": offset + 40, "core:header_bytes": 7}),
            trailing_bytes=21, offset=offset, sha512=hashlib.sha512(data).hexdigest())
        found, source = samples(path)
        assert np.array_equal(found, x) and not source.warnings


def test_sigmf_archive(tmp_path, baseband):
    meta = sigmf_files(tmp_path, baseband.tobytes())
    archive = tmp_path / "packed.sigmf"
    with tarfile.open(archive, "w") as tar:
        for ending in ("meta", "data"):
            tar.add(tmp_path / f"x.sigmf-{ending}", f"x/x.sigmf-{ending}")
    meta.unlink()
    octets, _, said = demodulate(archive)
    assert octets == MESSAGE, said
    with tarfile.open(archive, "w") as tar:
        for name in "ab":
            tar.add(tmp_path / "x.sigmf-data", f"{name}.sigmf-meta")
    with pytest.raises(recording.RecordingError, match="holds 2 recordings: a.sigmf-meta, b"):
        samples(archive)
    archive.write_bytes(b"no archive")
    with pytest.raises(recording.RecordingError, match="is no SigMF archive"):
        samples(archive)


def test_sigmf_samples_in_another_file(tmp_path):
    x = np.arange(10).astype(np.complex64)
    path = sigmf_files(tmp_path, b"", dataset="other.bin")
    (tmp_path / "other.bin").write_bytes(x.tobytes())
    assert np.array_equal(samples(path)[0], x)


@pytest.mark.parametrize("name, kind", [("ru16_le", "<u2"), ("ri16_be", ">i2"), ("ru32_be", ">u4"),
                                        ("ri8", "i1"), ("ru8", "u1"), ("rf64_le", "<f8")])
def test_sigmf_numbers(tmp_path, name, kind):
    values = np.array([-0.5, 0, 0.25])
    numbers = values if kind[-2] == "f" else values * 2.0 ** (8 * np.dtype(kind).itemsize - 1)
    if "u" in kind:
        numbers = numbers + 2.0 ** (8 * np.dtype(kind).itemsize - 1)
    path = sigmf_files(tmp_path, numbers.astype(kind).tobytes(), datatype=name)
    assert list(samples(path)[0]) == list(values)


@pytest.mark.parametrize("fields, why", [
    ({"metadata_only": True}, "core:metadata_only: the recording has no samples"),
    ({"extensions": [{"name": "signal", "version": "1", "optional": False}]},
     "needs the extension 'signal'"),
    ({"dataset": "../other.bin"}, "core:dataset"), ({"dataset": 5}, "core:dataset"),
    ({"trailing_bytes": -1}, "core:trailing_bytes -1"), ({"offset": "x"}, "core:offset x"),
    ({"version": "2.0.0"}, "core:version '2.0.0'"), ({"num_channels": 0}, "0 channel"),
    ({"datatype": "cf16_le"}, "core:datatype 'cf16_le'")])
def test_sigmf_fields_that_are_refused(tmp_path, fields, why):
    with pytest.raises(recording.RecordingError, match=why):
        samples(sigmf_files(tmp_path, bytes(80), **fields))


def test_sigmf_fields_that_describe_change_nothing(tmp_path):
    x = np.arange(10).astype(np.complex64)
    describing = {name: "x" for name in sigmf.DESCRIPTIVE}
    optional = [{"name": "antenna", "version": "1", "optional": True}]
    found, source = samples(sigmf_files(tmp_path, x.tobytes(), extensions=optional, **describing))
    assert np.array_equal(found, x) and not source.warnings
    _, source = samples(sigmf_files(tmp_path, x.tobytes(), fresh=1, sha512="00"))
    assert any("core:fresh is not known" in w for w in source.warnings)
    assert any("core:sha512 is another one" in w for w in source.warnings)


def test_sigmf_collections_are_named(tmp_path):
    (tmp_path / "all.sigmf-collection").write_text("{}")
    with pytest.raises(recording.RecordingError, match="name one of its recordings"):
        samples(tmp_path / "all.sigmf-collection")
