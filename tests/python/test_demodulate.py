# SPDX-License-Identifier: GPL-3.0-or-later
"""hf demodulate: rates, formats, pipes, several transmissions, other makers, bad input."""
import hashlib
import io
import json
import os
from pathlib import Path
import random
import resource
import struct
import subprocess
import sys

import numpy as np
import pytest

from gnuradio import hf as module
from gnuradio.hf.recordings import recording
from gnuradio.hf.signals import demodulation

MESSAGE = b"THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG 1234567890"
RECORDINGS = Path(os.environ.get("HF_RECORDINGS") or
                  Path(os.environ["HF_SOURCE_DIR"]).parent / "shared" / "data" / "recordings")


def audio(rate: int, mode: str = "4539-600S", octets: bytes = MESSAGE) -> bytes:
    """A WAV with one transmission."""
    return subprocess.run(
        ["hf", "modulate", "--mode", mode, "--sample-rate", str(rate), "-", "-"], input=octets,
        capture_output=True, check=True, timeout=60).stdout


def wav(samples: np.ndarray, rate: int = 48000, tag: int = 1, channels: int = 1) -> bytes:
    """A WAV of any format."""
    data = samples.tobytes()
    width = samples.dtype.itemsize
    head = struct.pack("<HHIIHH", tag, channels, rate, rate * channels * width,
                       channels * width, 8 * width)
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", 16)
            + head + b"data" + struct.pack("<I", len(data)) + data)


@pytest.mark.parametrize("rate, mode", [
    (8000, "4539-9600S"), (8000, "grhf-200S"), (8001, "4539-600S"), (9600, "4539-9600S"),
    (11025, "4539-600S"),
    (11025, "4539-9600S"), (44100, "4539-9600S"), (48000, "4539-600S"), (96000, "4539-9600S"),
    (192000, "4539-600S")])
def test_any_sample_rate(hf, rate, mode):
    r = hf("demodulate", "--json", "-", input=audio(rate, mode))
    assert r.status == 0 and r.out == MESSAGE
    (report,) = r.reports()
    assert report["mode"] == mode and report["ended"] == "eom"
    assert report["octets"] == len(MESSAGE)
    # The centre of the first symbol lies 10 symbols after the first sample.
    assert report["start_s"] == pytest.approx(0.5 + 10 / 2400, abs=0.001)
    duration = module.timing(module.mode(mode)).duration(len(MESSAGE))
    assert report["end_s"] - report["start_s"] == pytest.approx(duration, abs=0.002)
    assert report["freq_offset_hz"] == pytest.approx(0, abs=0.5)
    assert report["snr_db"] > 30


@pytest.mark.parametrize("mode", [str(m) for m in module.mode.all()
                                  if str(m) in ("4539-75S", "4539-75L", "4539-1200L",
                                                "4539-2400V", "4539-4800N", "4539-3200US",
                                                "4539-6400VL", "4539-12800N")])
def test_pipe_of_two_commands(hf, mode, tmp_path):
    message = random.Random(mode).randbytes(300)
    (tmp_path / "message").write_bytes(message)
    r = subprocess.run(f"hf modulate --mode {mode} - - < message | hf demodulate - > copy",
                       shell=True, cwd=tmp_path, capture_output=True, timeout=120)
    assert r.returncode == 0, r.stderr
    assert (tmp_path / "copy").read_bytes() == message


def test_sigmf_there_and_back(hf, tmp_path):
    assert hf("modulate", "--mode", "4539-2400L", "--complex", "-", "x",
              input=MESSAGE).status == 0
    for name in ("x.sigmf-data", "x.sigmf-meta"):
        r = hf("demodulate", "--json", name)
        assert r.status == 0 and r.out == MESSAGE and r.reports()[0]["mode"] == "4539-2400L"


def test_sigmf_of_integers_at_another_rate(hf, tmp_path):
    x = module.modulate(module.mode("4539-1200S"), MESSAGE)
    x = np.repeat(np.concatenate([np.zeros(4800), x, np.zeros(4800)]), 2) * 8000
    pairs = np.column_stack([x.real, x.imag]).astype(">i2")
    (tmp_path / "y.sigmf-data").write_bytes(pairs.tobytes())
    (tmp_path / "y.sigmf-meta").write_text(json.dumps(
        {"global": {"core:datatype": "ci16_be", "core:sample_rate": 19200}}))
    r = hf("demodulate", "y.sigmf-meta")
    assert r.status == 0 and r.out == MESSAGE


@pytest.mark.parametrize("kind", ["u1", "i2", "i4", "f4", "f8", "extensible"])
def test_wav_formats(hf, kind):
    data = np.frombuffer(audio(48000)[44:], "<i2") / 32768
    if kind == "u1":
        text = wav((128 + 100 * data).astype("u1"))
    elif kind[0] == "i":
        text = wav((data * 2.0 ** (8 * int(kind[1]) - 1)).astype("<" + kind))
    elif kind == "extensible":
        plain = wav((data * 32767).astype("<i2"))
        extra = struct.pack("<HHI", 22, 16, 0) + struct.pack("<H", 1) + bytes(14)
        text = (plain[:16] + struct.pack("<I", 40) + struct.pack("<H", 0xFFFE) + plain[22:36]
                + extra + plain[36:])
    else:
        text = wav(data.astype("<" + kind), tag=3)
    r = hf("demodulate", "-", input=text)
    assert r.status == 0 and r.out == MESSAGE


def test_raw_formats(hf):
    data = np.frombuffer(audio(48000)[44:], "<i2") / 32768
    for kind, text in (("s16le", (data * 32767).astype("<i2")), ("f32le", data.astype("<f4"))):
        r = hf("demodulate", "--format", kind, "--sample-rate", "48000", input=text.tobytes())
        assert r.status == 0 and r.out == MESSAGE
    x = module.modulate(module.mode("4539-600S"), MESSAGE)
    r = hf("demodulate", "--format", "cf32le", "--sample-rate", "9600",
           input=np.concatenate([x, np.zeros(960, np.complex64)]).tobytes())
    assert r.status == 0 and r.out == MESSAGE


def test_two_channels_as_i_and_q_or_the_first_one(hf):
    x = 0.3 * module.modulate(module.mode("4539-600S"), MESSAGE)
    x = np.concatenate([x, np.zeros(9600, np.complex64)])
    both = np.column_stack([x.real, x.imag]).astype("<f4")
    r = hf("demodulate", "--iq", input=wav(both, 9600, tag=3, channels=2))
    assert r.status == 0 and r.out == MESSAGE
    left = np.frombuffer(audio(48000)[44:], "<i2")
    noise = np.random.default_rng(1).integers(-9999, 9999, len(left))
    r = hf("demodulate", input=wav(np.column_stack([left, noise]).astype("<i2"), channels=2))
    assert r.status == 0 and r.out == MESSAGE and "2 channels" in r.err


def test_other_subcarrier(hf):
    text = subprocess.run(["hf", "modulate", "--mode", "4539-600S", "--subcarrier", "2500", "-",
                           "-"], input=MESSAGE, capture_output=True).stdout
    assert hf("demodulate", "--subcarrier", "2500", input=text).out == MESSAGE
    assert hf("demodulate", input=text).status == 1


def test_every_transmission_is_found(hf):
    pieces = [(m, random.Random(m).randbytes(100 + 50 * k)) for k, m in
              enumerate(["4539-600S", "4539-9600S", "4539-75S", "4539-3200VS", "4539-2400L"])]
    data = b"".join(audio(16000, m, o)[44:] for m, o in pieces)
    r = hf("demodulate", "--json", input=wav(np.frombuffer(data, "<i2"), 16000))
    assert r.status == 0 and r.out == b"".join(o for _, o in pieces)
    assert [x["mode"] for x in r.reports()] == [m for m, _ in pieces]
    assert [x["octets"] for x in r.reports()] == [len(o) for _, o in pieces]
    starts = [x["start_s"] for x in r.reports()]
    assert starts == sorted(starts)


def test_noise_fading_and_offset(hf):
    octets = random.Random(3).randbytes(400)
    x = module.modulate(module.mode("4539-600S"), octets)
    x = np.concatenate([np.zeros(9600), x, np.zeros(9600)]).astype(np.complex64)
    y = module.channel_model("moderate snr=15 offset=50", seed=4).process(x)
    r = hf("demodulate", "--json", "--format", "cf32le", "--sample-rate", "9600",
           input=y.tobytes())
    assert r.status == 0 and r.out == octets
    (report,) = r.reports()
    assert report["freq_offset_hz"] == pytest.approx(50, abs=2)
    assert 5 < report["snr_db"] < 22


@pytest.mark.parametrize("name, mode", [("serial_tone_600S", "4539-600S"),
                                        ("serial_tone_1200L", "4539-1200L")])
def test_recordings_of_another_maker(hf, name, mode):
    page = (Path(os.environ["HF_SOURCE_DIR"]) / "tests/recordings/README.md").read_text()
    path = RECORDINGS / f"{name}.s16le"
    if not path.exists():
        pytest.skip(f"no recording {path} (tests/recordings/README.md says where to get it)")
    assert f"`{path.name}` | {mode} | {hashlib.sha256(path.read_bytes()).hexdigest()} |" in page
    r = hf("demodulate", "--json", "--format", "s16le", "--sample-rate", "48000", str(path))
    assert r.status == 0 and r.out == MESSAGE
    (report,) = r.reports()
    assert report["mode"] == mode and report["ended"] == "eom"
    assert report["freq_offset_hz"] == pytest.approx(0, abs=0.5)


def test_octets_come_while_the_input_is_still_open():
    message = random.Random(1).randbytes(3000)
    text = audio(8000, "4539-9600S", message)
    with subprocess.Popen(["hf", "demodulate", "-q"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as p:
        p.stdin.write(text)
        p.stdin.flush()
        got = b""
        while len(got) < 2000:
            got += p.stdout.read1(4096)
        p.stdin.close()
        got += p.stdout.read()
    assert got == message and p.returncode == 0


def test_a_transmission_is_joined_in_its_midst(hf):
    octets = random.Random(2).randbytes(6000)
    x = module.modulate(module.mode("5069-3k-3200S"), octets)
    y = module.channel_model("awgn snr=20", seed=4).process(
        np.concatenate([x[30000:], np.zeros(9600)]).astype(np.complex64))
    raw = ("demodulate", "--json", "--format", "cf32le", "--sample-rate", "9600")
    assert hf(*raw, "--no-join", input=y.tobytes()).out == b""
    r = hf(*raw, input=y.tobytes())
    # Long blocks last 7.68 s and hold 3072 octets. An incomplete message is no success.
    assert r.status == 1 and r.out == octets[3072:] and "none complete" in r.err
    (report,) = r.reports()
    assert report["mode"] == "5069-3k-3200S" and report["joined"] and report["ended"] == "eom"
    (quiet,) = hf(*raw[:1], *raw[2:], input=y.tobytes()).err.splitlines()[:1]
    assert quiet.endswith("ended: eom, its start was missed")


def test_truncated_transmission_is_lost_and_no_success(hf):
    text = audio(48000, "4539-600S", bytes(300))
    r = hf("demodulate", "--json", input=text[:len(text) // 2 + 1])
    assert r.status == 1
    (report,) = r.reports()
    assert report["ended"] == "lost" and 0 < report["octets"] < 300
    assert report["sure_octets"] <= report["octets"]
    assert "none complete" in r.err and "early" in r.err


BAD_INPUT = {
    "nothing": (b"", "empty"),
    "one octet": (b"R", "is not WAV"),
    "only RIFF": (b"RIFF", "is not WAV"),
    "text": (b"hello, world, this is no recording", "is not WAV"),
    "FLAC": (b"fLaC" + bytes(100), "Other sound formats are read from files only"),
    "MP3": (b"\xff\xfb" + bytes(100), "Other sound formats are read from files only"),
    "no chunk": (b"RIFF\0\0\0\0WAVE", "cut off"),
    "half a chunk": (b"RIFF\0\0\0\0WAVEfmt ", "cut off"),
    "no layout": (b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0", "cut off"),
    "huge layout": (b"RIFF\0\0\0\0WAVEfmt \xff\xff\xff\xff" + bytes(100), "damaged"),
    "layout missing": (b"RIFF\0\0\0\0WAVEdata" + bytes(100), "does not describe the samples"),
    "no data": (b"RIFF\0\0\0\0WAVE" + bytes(9000), "no samples"),
    "MP3 in WAV": (wav(np.zeros(100, "<i2"), tag=85), "format 85"),
    "no channel": (wav(np.zeros(100, "<i2"), channels=0), "0 channels"),
    "slow": (wav(np.zeros(100, "<i2"), 4000), "sample rate 4000"),
    "rate zero": (wav(np.zeros(100, "<i2"), 0), "sample rate 0"),
    "no samples": (wav(np.zeros(0, "<i2")), "no transmission found in 0.0 s"),
    "silence": (wav(np.zeros(24000, "<i2"), 8000), "no transmission found in 3.0 s"),
    "NaN": (wav(np.full(96000, np.nan, "<f4"), tag=3), "no transmission found in 2.0 s"),
    "huge": (wav(np.full(96000, 3e38, "<f4"), tag=3), "no transmission found in 2.0 s"),
    "noise": (wav(np.random.default_rng(1).normal(0, 3000, 480000).astype("<i2")),
              "no transmission found in 10.0 s"),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_one_clear_error(hf, name):
    text, message = BAD_INPUT[name]
    r = hf("demodulate", "-", input=text)
    assert r.status == 1 and r.out == b""
    assert message in r.err and len(r.err.splitlines()) <= 2


def test_samples_that_are_no_numbers_do_not_hide_a_transmission(hf):
    x = (np.frombuffer(audio(48000)[44:], "<i2") / 32768).astype("<f4")
    x[:3000] = np.nan
    x[-3000:] = np.inf
    r = hf("demodulate", input=wav(x, tag=3))
    assert r.status == 0 and r.out == MESSAGE


@pytest.mark.parametrize("meta", ["", "[]", "{}", '{"global": 1}', "[" * 9999,
                                  '{"global": {"core:datatype": "cf32_le"}}',
                                  '{"global": {"core:datatype": "x", "core:sample_rate": 1}}',
                                  '{"global": {"core:datatype": "cf32_le",'
                                  ' "core:sample_rate": "NaN"}}'])
def test_bad_sigmf(hf, tmp_path, meta):
    (tmp_path / "x.sigmf-meta").write_text(meta)
    (tmp_path / "x.sigmf-data").write_bytes(bytes(80))
    r = hf("demodulate", "x.sigmf-meta")
    assert r.status == 1 and r.out == b"" and "x.sigmf" in r.err


@pytest.mark.parametrize("arguments", [["--format", "s16le"], ["--sample-rate", "48000"],
                                       ["--format", "mp3", "--sample-rate", "48000"],
                                       ["--sample-rate", "1", "--format", "s16le"]])
def test_wrong_use_exits_with_2(hf, arguments):
    assert hf("demodulate", *arguments, "-").status == 2


def test_missing_files(hf, tmp_path):
    for name in ("missing.wav", "missing.sigmf-data", "."):
        r = hf("demodulate", name)
        assert r.status == 1 and ("No such file" in r.err or "directory" in r.err)


def test_long_recordings_need_little_memory(tmp_path):
    """Five minutes at 48000 samples/s: 115 MB as complex numbers."""
    rate, minutes = 48000, 5
    count = rate * 60 * minutes
    head = wav(np.zeros(0, "<i2"), rate)[:40] + struct.pack("<I", 2 * count)
    with open(tmp_path / "long.wav", "wb") as file:
        file.write(head)
        file.truncate(44 + 2 * count)
    r = subprocess.run(["hf", "demodulate", "--bandwidth", "3", "long.wav"], cwd=tmp_path,
                       capture_output=True, timeout=120)
    assert r.returncode == 1 and b"300.0 s" in r.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 180_000


@pytest.mark.parametrize("mode", ["5069-48k-240000S", "5069-24k-9600S"])
def test_the_bandwidth_of_a_recording_is_found(hf, tmp_path, mode):
    message = bytes(range(256)) * 4
    assert hf("modulate", "--mode", mode, "--complex", "-", "wide", input=message).status == 0
    r = hf("demodulate", "--json", "wide.sigmf-meta")
    assert r.status == 0 and r.out == message
    assert [report["mode"] for report in r.reports()] == [mode]
    # Raw samples say nothing but their rate.
    rate = 16 * module.mode(mode).bandwidth_hz // 5
    r = hf("demodulate", "--json", "--format", "cf32le", "--sample-rate", rate, "-",
           input=(tmp_path / "wide.sigmf-data").read_bytes())
    assert r.status == 0 and r.out == message


def test_a_pipe_is_read_again_in_other_bandwidths(hf, tmp_path):
    message = bytes(range(256))
    mode = "5069-12k-12800S"
    assert hf("modulate", "--mode", mode, "--complex", "-", "x", input=message).status == 0
    samples = np.fromfile(tmp_path / "x.sigmf-data", "<c8")
    # Around 6300 Hz of audio, at which a channel of 12 kHz has its middle.
    audio_rate = 38400
    turn = np.exp(2j * np.pi * 6300 / audio_rate * np.arange(len(samples)))
    text = wav((20000 * (samples * turn).real).astype("<i2"), audio_rate)
    r = hf("demodulate", "--json", "-", input=text)
    assert r.status == 0 and r.out == message
    assert [report["mode"] for report in r.reports()] == [mode]


def test_nothing_waits_for_linear_algebra():
    """Threads of OpenBLAS wait for work by sched_yield(): 4 to 9 % of a short run."""
    script = """
import ctypes, re, runpy, shutil, sys
sys.argv = ["hf", "--version"]
try:
    runpy.run_path(shutil.which("hf"), run_name="__main__")
except SystemExit:
    pass
import numpy
found = re.search(r"/\\S*openblas\\S*", open("/proc/self/maps").read())
print(ctypes.CDLL(found.group()).openblas_get_num_threads() if found else "none")
"""
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    out = subprocess.run([sys.executable, "-c", script],
                         env=environment, capture_output=True, text=True, check=True,
                         timeout=60).stdout
    if out.split()[-1] == "none":
        pytest.skip("numpy does not use OpenBLAS here")
    assert out.split()[-1] == "1"


def test_the_ratio_is_that_of_the_mean_power():
    reports = []
    reception = demodulation.Reception(report=reports.append)
    reception.handle([{"type": "start", "mode": "4539-75S", "time": 0.0, "freq_offset_hz": 0.0,
                       "snr_db": 0.0, "joined": False}]
                     + [{"type": "octets", "octets": b"x", "snr_db": snr, "reading": "standard"}
                        for snr in (-3.0, -90.0)]
                     + [{"type": "end", "time": 1.0, "reason": "eom"}])
    assert reports[0]["snr_db"] == pytest.approx(-6.0)


def test_hints_come_first_and_what_does_not_fit_not_at_all():
    source = recording.Recording("x", 48000.0, True, io.BytesIO(), lambda data: None, 8)
    assert demodulation.bandwidths_of(source) == [15, 3, 6, 9, 12, 18]
    source.annotations = [{"core:label": "voice", "core:freq_lower_edge": -3000,
                           "core:freq_upper_edge": 3000}, {"core:label": "5069-9k-9600L"}]
    assert demodulation.bandwidths_of(source) == [9, 6, 15, 3, 12, 18]
    source.complex_samples = False
    assert demodulation.bandwidths_of(source) == [9, 6, 3, 12, 15, 18]
    assert demodulation.bandwidths_of(source, 1800.0) == [3]
    source.rate = 8000.0
    assert demodulation.bandwidths_of(source) == [3]


def test_a_bandwidth_that_is_none_is_refused(hf):
    assert hf("modulate", "--mode", "5069-12k-12800S", "--complex", "-", "x",
              input=MESSAGE).status == 0
    wrong = hf("demodulate", "--bandwidth", 5, "x.sigmf-meta")
    assert wrong.status != 0 and "3, 6, 9, 12" in wrong.err


def dumped(hf, tmp_path, mode, bandwidth="3"):
    """Arrays by name of a single transmission in mode, over a channel without echoes."""
    (tmp_path / "text").write_bytes(MESSAGE * 4)
    assert hf("modulate", "--mode", mode, "--complex", "text", "clean").status == 0
    assert hf("channel", "awgn snr=30", "clean.sigmf-meta", "noisy").status == 0
    result = hf("demodulate", "--bandwidth", bandwidth, "--dump", "stages", "noisy.sigmf-meta")
    assert result.status == 0 and result.out.startswith(MESSAGE), result.err
    return {p.stem[4:]: np.load(p) for p in (tmp_path / "stages").glob("001-*.npy")}


@pytest.mark.parametrize("mode, points", [("4539-600S", 2), ("4539-2400S", 8), ("4539-3200S", 4)])
def test_stages_of_the_receiver_can_be_dumped(hf, tmp_path, mode, points):
    stages = dumped(hf, tmp_path, mode)
    assert set(stages) == {"blocks", "symbols", "llrs", "taps", "profile"}
    blocks, symbols = stages["blocks"], stages["symbols"]
    timing = module.timing(mode)
    assert len(blocks) >= 1 and len(symbols) > 0
    assert (abs(blocks["snr_db"] - 30) < 4).all()
    # PSK without its scrambling: as many phases as the alphabet has points.
    turns = np.angle(symbols) / (2 * np.pi) * points
    assert abs(turns - np.round(turns)).max() < 0.25
    assert abs(np.abs(symbols) - 1).mean() < 0.1
    # Each symbol has as many ratios as its alphabet has bits.
    assert len(stages["llrs"]) == len(symbols) * {2: 1, 4: 2, 8: 3}[points]
    assert stages["taps"].shape[1] == stages["profile"].shape[1]
    assert stages["profile"].shape[0] == len(blocks)
    assert (abs(stages["profile"].sum(axis=1) - 1) < 1e-3).all()
    # One path: its tap has nearly all of the power.
    power = abs(stages["taps"]) ** 2
    assert (power.max(axis=1) > 0.6 * power.sum(axis=1)).all()
    assert timing.block_symbols * len(blocks) >= len(symbols)


def test_words_have_ratios_and_no_symbols(hf, tmp_path):
    stages = dumped(hf, tmp_path, "4539-75S")
    assert len(stages["symbols"]) == len(stages["taps"]) == 0 < len(stages["llrs"])


def test_arrays_are_not_replaced_unasked(hf, tmp_path):
    dumped(hf, tmp_path, "4539-600S")
    before = (tmp_path / "stages" / "001-llrs.npy").stat().st_mtime_ns
    again = ["demodulate", "--dump", "stages", "noisy.sigmf-meta"]
    result = hf(*again)
    assert result.status == 2 and "stages/001-blocks.npy: exists" in result.err
    assert (tmp_path / "stages" / "001-llrs.npy").stat().st_mtime_ns == before
    assert hf(*again, "--force").status == 0


def test_details_change_nothing_that_is_received():
    samples = module.modulate("4539-9600S", MESSAGE * 10)
    noisy = module.channel_model("poor snr=25").process(np.concatenate(
        [samples, np.zeros(30000, np.complex64)]))
    plain = module.receiver().push(noisy)
    detailed = module.receiver(details=True).push(noisy)
    assert len(plain) == len(detailed) > 1
    for a, b in zip(plain, detailed):
        assert all(np.all(a[key] == b[key]) for key in a)
    assert any("symbols" in e for e in detailed) and not any("symbols" in e for e in plain)
