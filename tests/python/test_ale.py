# SPDX-License-Identifier: GPL-3.0-or-later
"""hf ale: frames to audio and back, and the Python interface."""
import json
from pathlib import Path
import subprocess
from typing import Any, List
import wave

import numpy as np
import pytest

from gnuradio import hf
from gnuradio.hf.recordings import wav
from gnuradio.hf.signals import ale


def run(*arguments: Any, **options: Any) -> subprocess.CompletedProcess:
    return subprocess.run(["hf", "ale", *map(str, arguments)], capture_output=True, timeout=120,
                          **options)


def frames(path: Path, *arguments: Any) -> List[Any]:
    r = run("decode", "--json", *arguments, path)
    assert r.returncode == 0, r.stderr
    return [json.loads(line) for line in r.stdout.splitlines()]


@pytest.mark.parametrize("rate", [8000, 44100])
def test_a_call_with_a_message(tmp_path, rate):
    path = tmp_path / "call.wav"
    r = run("encode", "--from", "sam", "--to", "joe", "--channels", 2, "--lqa", "--amd",
            "Qrv 14109", "--sample-rate", rate, path)
    assert r.returncode == 0, r.stderr
    assert r.stdout.decode().splitlines()[-4:] == ["CMD:QRV", "DATA: 14", "REP:109", "TIS:SAM"]
    found, = frames(path)
    assert found["text"] == 'TO JOE LQA wanted AMD "QRV 14109" TIS SAM'
    assert found["kind"] == "call" and found["from"] == "SAM" and found["to"] == ["JOE"]
    assert found["words"] == 2 * 2 + 2 + 1 + 3 + 1 and found["bit_errors"] == 0
    assert found["start_s"] == pytest.approx(0.5, abs=0.002)
    with wave.open(str(path)) as file:
        assert file.getframerate() == rate
        assert file.getnframes() == pytest.approx(rate * (1 + 11 * 0.392), abs=2)


def test_a_sound_and_its_words(tmp_path):
    path = tmp_path / "sound.wav"
    assert run("encode", "--from", "DC7SU", "--twas", path).returncode == 0
    r = run("decode", "--words", path)
    lines = r.stdout.decode().splitlines()
    assert [line.split("Hz")[1].strip() for line in lines] == [
        "TWAS:DC7", "DATA:SU@", "TWAS:DC7", "DATA:SU@", "TWAS DC7SU"]


def test_samples_by_pipes():
    sent = run("encode", "--from", "SAM", "--to", "@?@", "--twas", "-")
    assert sent.returncode == 0 and b"TWAS:SAM" in sent.stderr
    heard = run("decode", "-", input=sent.stdout)
    assert heard.returncode == 0 and b"TO @?@ TWAS SAM" in heard.stdout


def test_complex_recordings_and_other_subcarriers(tmp_path):
    words = hf.ale_words("SAM", ["JOE"])
    samples = np.concatenate([np.zeros(9600), hf.ale_modulate(words), np.zeros(9600)])
    path = tmp_path / "wide.cf32"
    samples.astype(np.complex64).tofile(path)
    arguments = ["--format", "cf32le", "--sample-rate", 9600]
    assert frames(path, *arguments)[0]["text"] == "TO JOE TIS SAM"
    shifted = samples * np.exp(2j * np.pi * 1000 / 9600 * np.arange(len(samples)))
    shifted.astype(np.complex64).tofile(path)
    assert run("decode", *arguments, path).returncode == 1
    assert frames(path, *arguments, "--subcarrier", 1000)[0]["text"] == "TO JOE TIS SAM"


def test_noise_has_no_frame(tmp_path):
    path = tmp_path / "noise.wav"
    noise = np.clip(np.random.default_rng(1).normal(0, 0.1, 80000), -1, 1)
    with open(path, "wb") as file:
        wav.write_wav(file, 8000, len(noise), [noise])
    r = run("decode", path)
    assert r.returncode == 1 and r.stdout == b"" and b"no frame found" in r.stderr


@pytest.mark.parametrize("arguments, why", [
    (["--from", "S+M"], "S+M"), (["--from", "SAM", "--amd", "HI"], "a sound carries neither"),
    (["--from", "SAM", "--to", "JOE", "--amd", "A" * 91], "1 to 90"),
    (["--from", "SAM", "--to", "A@B"], "A@B"), (["--to", "JOE"], "--from")])
def test_wrong_frames(tmp_path, arguments, why):
    r = run("encode", *arguments, tmp_path / "x.wav")
    assert r.returncode == 2 and why in r.stderr.decode()
    assert not (tmp_path / "x.wav").exists()


def test_files_of_others_are_not_overwritten(tmp_path):
    path = tmp_path / "mine.wav"
    path.write_text("mine")
    assert run("encode", "--from", "SAM", path).returncode == 2
    assert path.read_text() == "mine"
    r = run("decode", path)
    assert r.returncode == 1 and "mine.wav" in r.stderr.decode()


def test_library():
    frame = ale.Frame(own="sam", to=ale.address_list("joe, bob"), quick_id=True, text="hello")
    assert frame.words() == ["TO:JOE", "REP:BOB", "TO:JOE", "REP:BOB", "FROM:SAM", "CMD:HEL",
                             "DATA:LO ", "TIS:SAM"]
    with pytest.raises(ValueError, match="as TO:BOB"):
        hf.ale_modulate(["TO:BO"])
    receiver = hf.ale_receiver()
    events = receiver.push(np.concatenate([hf.ale_modulate(frame.words()),
                                           np.zeros(9600, np.complex64)]))
    assert [e["word"] for e in events if e["type"] == "word"] == frame.words()
    found, = [e for e in events if e["type"] == "frame"]
    assert found["to"] == ["JOE", "BOB"] and found["quick_id"] == "SAM"
    assert found["commands"][0]["amd"] == "HELLO"
    assert receiver.finish() == []
