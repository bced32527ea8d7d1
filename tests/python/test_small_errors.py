# SPDX-License-Identifier: GPL-3.0-or-later
"""Small mistakes of operators and their machines, and what they are told."""
import os
import subprocess

from gnuradio.hf import station
from gnuradio.hf.sis import files
import pytest


def hf(*arguments, **environment):
    return subprocess.run(["hf", *arguments], text=True, capture_output=True, timeout=120,
                          env={**os.environ, **environment})


@pytest.mark.parametrize("line, advice", [
    ("address = 1.2.0.1", 'text needs quotes: address = "1.2.0.1"'),
    ('address = "1.2.0.1"\nmode = 4539-600S # fast', 'text needs quotes: mode = "4539-600S"')])
def test_text_without_quotes(tmp_path, line, advice):
    (tmp_path / "s.toml").write_text(line + "\n")
    said = hf("run", "--check", str(tmp_path / "s.toml")).stderr
    assert advice in said


def test_a_station_file_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "s.toml"
    path.write_bytes('\ufeffaddress = "1.2.0.1"\nmode = "4539-600S"\n'.encode())
    assert station.load(str(path)).address == "1.2.0.1"


def test_only_a_like_option_is_proposed():
    far, near = hf("modulate", "--rate", "5"), hf("modulate", "--sample-rat", "5")
    assert far.returncode == near.returncode == 2
    assert "No such option" in far.stderr and "Did you mean" not in far.stderr
    assert "Did you mean --sample-rate?" in near.stderr


def test_a_bad_recording_does_not_hide_the_next(tmp_path):
    (tmp_path / "bad.wav").write_bytes(b"no sound")
    done = hf("ale", "encode", "--to", "JOE", "--from", "SAM", str(tmp_path / "call.wav"))
    assert done.returncode == 0, done.stderr
    done = hf("ale", "decode", str(tmp_path / "bad.wav"), str(tmp_path / "call.wav"))
    assert "SAM" in done.stdout and "bad.wav" in done.stderr
    assert done.returncode == 1 and "1 of 2 recordings could not be read" in done.stderr


def test_programs_of_the_system_are_found_without_their_folder_in_path(tmp_path):
    program = tmp_path / "env.py"
    program.write_text("""
import os, sys
from gnuradio.hf import cli
sys.argv[1:] = ["--version"]
try:
    cli.main()
finally:
    print(os.environ["PATH"])
""")
    done = subprocess.run(["/usr/bin/python3", str(program)], text=True, capture_output=True,
                          env={**os.environ, "PATH": "/usr/bin:/bin"})
    assert "/usr/sbin" in done.stdout.split()[-1].split(":"), done.stderr


@pytest.mark.parametrize("received, kept", [
    ("Lagebericht Füße.txt", "Lagebericht Füße.txt"), ("报告.pdf", "报告.pdf"),
    ("../../etc/passwd", "passwd"), ("..\\boot.ini", "boot.ini"), ("..", "unnamed"),
    ("", "unnamed"), (".profile", "profile"), ("-rf", "_rf"), ("a\nb\u202e\x1b", "a_b__"),
    ("ü" * 150, "ü" * 100)])
def test_names_of_received_files(received, kept):
    assert files.safe_name(received.encode()) == kept


def test_names_that_are_no_utf_8():
    assert files.safe_name("Füße".encode("latin-1")) == "F__e"
