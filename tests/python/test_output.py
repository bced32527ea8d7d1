# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that commands write: they overwrite no input and no foreign file, and leave nothing half
done."""
import contextlib
import errno
import io
import json
import os
import stat
import subprocess
from typing import NamedTuple

from click.testing import CliRunner
import numpy as np
import pytest

from gnuradio import blocks, gr
from gnuradio.hf import station
from gnuradio.hf.cli import console, hf as hf_group, run, sim
from gnuradio.hf.recordings import sigmf
from gnuradio.hf.system import output

MESSAGE = b"the only copy of something that matters\n"
MODULATE = ("modulate", "--mode", "4539-2400S")
SCENARIO = """
duration_s = 60
[[station]]
name = "A"
[[station]]
name = "B"
[[traffic]]
kind = "bulk"
from = "A"
to = "B"
octets = 1000
"""


@pytest.fixture
def message(tmp_path):
    path = tmp_path / "message.txt"
    path.write_bytes(MESSAGE)
    return path


class Done(NamedTuple):
    """Status and output of a command."""

    status: int
    out: bytes
    err: str


@pytest.fixture
def inside(monkeypatch, tmp_path):
    """hf in this process, in an empty folder: its start takes longer than most of this."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, input=b""):
        done = CliRunner(mix_stderr=False).invoke(hf_group, [str(a) for a in arguments], input)
        ended = (type(None), SystemExit)
        assert isinstance(done.exception, ended), done.exception
        return Done(done.exit_code, done.stdout_bytes, done.stderr)

    return run


def left_behind(folder):
    return [p for p in os.listdir(folder) if p.endswith(".part")]


def test_a_forgotten_output_does_not_cost_the_message(inside, message):
    for arguments in ((message,), ("-", message), (message, message), ("--complex", message)):
        r = inside(*MODULATE, *arguments)
        assert message.read_bytes() == MESSAGE
        assert r.status == 2 or arguments[0] == "--complex"
    assert "message.txt" in inside(*MODULATE, "message.txt").err
    # Not even one of ours, and not under another name.
    assert inside(*MODULATE, message, "a.wav").status == 0
    wav = (message.parent / "a.wav").read_bytes()
    assert inside(*MODULATE, "a.wav").status == 2
    os.symlink("message.txt", message.parent / "link")
    os.link(message, message.parent / "hard")
    for name in ("link", "hard", "./message.txt"):
        assert inside(*MODULATE, "--force", message, name).status == 2
    assert inside(*MODULATE, "--force", "-", "message.txt", input=b"x").status == 0
    assert (message.parent / "a.wav").read_bytes() == wav
    assert (message.parent / "hard").read_bytes() == MESSAGE


def test_standard_input_and_output_are_compared_as_well(message):
    with open(message, "rb") as source:
        r = subprocess.run(["hf", *MODULATE, "--force", "-", message], stdin=source,
                           capture_output=True)
    assert r.returncode == 2 and message.read_bytes() == MESSAGE
    with open(message, "ab") as target:
        r = subprocess.run(["hf", *MODULATE, message, "-"], stdout=target,
                           stderr=subprocess.PIPE)
    assert r.returncode == 2 and message.read_bytes() == MESSAGE
    wav = message.parent / "a.wav"
    subprocess.run(["hf", *MODULATE, message, wav], check=True)
    before = wav.read_bytes()
    with open(wav, "ab") as target:
        r = subprocess.run(["hf", "demodulate", wav], stdout=target, stderr=subprocess.PIPE)
    assert r.returncode == 2 and wav.read_bytes() == before


def test_only_what_hf_has_written_is_replaced_without_force(inside, message):
    folder = message.parent
    assert inside(*MODULATE, message, "a.wav").status == 0
    assert inside(*MODULATE, message, "a.wav").status == 0  # again
    assert inside(*MODULATE, "--complex", message, "b").status == 0
    assert inside(*MODULATE, "--complex", message, "b").status == 0
    (folder / "d.sigmf-data").write_bytes(MESSAGE)
    done = inside(*MODULATE, message, "d.sigmf-meta")
    assert done.status == 2 and "--force" in done.err
    assert (folder / "d.sigmf-data").read_bytes() == MESSAGE
    (folder / "e.wav").write_bytes(b"RIFF\0\0\0\0WAVE made by another program, not by gr-hf 1")
    assert inside(*MODULATE, message, "e.wav").status == 2
    assert inside(*MODULATE, "--force", message, "e.wav").status == 0
    assert inside("demodulate", "e.wav").out == MESSAGE
    (folder / "notes").write_bytes(b"gr-hf 0.1 made this: a note of mine")
    assert inside(*MODULATE, message, "notes").status == 2


def test_the_channel_does_not_eat_its_recording(inside, message):
    folder = message.parent
    assert inside(*MODULATE, message, "a.wav").status == 0
    before = (folder / "a.wav").read_bytes()
    for force in ((), ("--force",)):
        r = inside("channel", *force, "awgn snr=20", "a.wav", "a.wav")
        assert r.status == 2 and "a.wav" in r.err
        assert (folder / "a.wav").read_bytes() == before
    assert inside(*MODULATE, "--complex", message, "b").status == 0
    before = (folder / "b.sigmf-data").read_bytes()
    for name in ("b", "b.sigmf-meta", "b.sigmf-data"):
        assert inside("channel", "--force", "awgn snr=20", "b.sigmf-meta", name).status == 2
        assert (folder / "b.sigmf-data").read_bytes() == before
    assert inside("channel", "awgn snr=20", "a.wav", "message.txt").status == 2
    assert message.read_bytes() == MESSAGE
    assert inside("channel", "awgn snr=20", "a.wav", "c.wav").status == 0
    assert inside("demodulate", "c.wav").out == MESSAGE


@pytest.mark.parametrize("arguments", [
    (*MODULATE, "-", "/dev/full"), (*MODULATE, "-", "-"),
    ("channel", "awgn snr=20", "a.wav", "/dev/full"),
    ("demodulate", "a.wav"), ("info",), ("info", "--json"),
    ("sim", "--octets", "1000", "--json"),
])
def test_a_full_disk_is_one_line(hf, message, arguments):
    assert hf(*MODULATE, message, "a.wav").status == 0
    with open("/dev/full", "wb") as full:
        r = subprocess.run(["hf", *arguments], input=b"x", stdout=full, stderr=subprocess.PIPE,
                           cwd=message.parent, timeout=120)
    err = r.stderr.decode()
    assert r.returncode == 1, err
    assert "No space left on device" in err and "Traceback" not in err and "Exception" not in err
    assert not left_behind(message.parent)


@pytest.mark.parametrize("name, text", [
    ("none/x.png", "No such file"), ("x.xyz", "name ends in"), ("mine.png", "--force"),
    ("/proc/x.png", "/proc/x.png")])
@pytest.mark.parametrize("arguments", [
    ("demo", "--picture"), ("sim", "s.toml", "--timeline"),
    ("console", "throughput", "--to", "1.2.0.2", "--plot")])
def test_a_picture_that_cannot_be_drawn_is_said_before_the_work(inside, message, arguments,
                                                                name, text):
    (message.parent / "mine.png").write_bytes(b"\x89PNG\r\n another program's")
    (message.parent / "s.toml").write_text(SCENARIO)
    done = inside(*arguments, name)
    assert done.status in (1, 2) and text in done.err, done.err
    assert done.out == b"" and not (message.parent / "t.csv").exists()


def csv_commands():
    return [
        (("console", "ping", "--to", "1.2.0.2", "--csv"), console.PING_COLUMNS),
        (("console", "throughput", "--to", "1.2.0.2", "--csv"), console.THROUGHPUT_COLUMNS),
        (("console", "ping", "--to", "1.2.0.2", "--report"), None),
    ]


@pytest.mark.parametrize("command, columns", csv_commands())
def test_tables_do_not_replace_what_is_not_theirs(inside, message, command, columns):
    done = inside(*command, "message.txt")
    assert done.status == 2 and "message.txt" in done.err and "--force" in done.err
    assert message.read_bytes() == MESSAGE
    if columns is not None:
        output.write_csv(str(message.parent / "own.csv"), columns, [])
        output.check(str(message.parent / "own.csv"), first_line=output.first_line(columns))


def test_a_scenario_keeps_foreign_files_in_its_folder_and_itself(inside, message):
    folder = message.parent
    (folder / "flows.csv").write_text(SCENARIO)
    r = inside("sim", "flows.csv", "--csv", ".")
    assert r.status == 2 and (folder / "flows.csv").read_text() == SCENARIO
    (folder / "s.toml").write_text(SCENARIO)
    (folder / "stations.csv").write_text("name,place\nA,here\n")
    os.rename(folder / "flows.csv", folder / "t.toml")
    assert inside("sim", "s.toml", "--csv", ".").status == 2
    assert (folder / "stations.csv").read_text() == "name,place\nA,here\n"
    for _ in range(2):
        assert inside("sim", "s.toml", "--csv", "new/folder", "--timeline", "t.svg").status == 0
    assert sorted(os.listdir(folder / "new/folder")) == sorted(f"{t}.csv" for t in sim.TABLES)
    assert (folder / "t.svg").read_bytes().startswith(b"<?xml")


def test_folders_for_results_are_made(inside, message):
    folder = message.parent
    done = inside("receive", "message.txt/x")
    assert done.status == 1 and "message.txt/x" in done.err
    # No server is there; the folder is checked first.
    assert inside("receive", "in/box", "--server", "127.0.0.1:1").status == 1
    assert (folder / "in/box").is_dir()


def test_what_breaks_off_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        with output.replacing(str(path)) as file:
            file.write(b"half")
            file.flush()
            assert path.read_bytes() == b"old" and len(os.listdir(tmp_path)) == 2
            raise KeyboardInterrupt
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["f"]
    with pytest.raises(RuntimeError):
        sigmf.write_sigmf(str(tmp_path / "s"), 9600, broken(), "", lambda _: [])
    assert os.listdir(tmp_path) == ["f"]


def broken():
    yield np.zeros(10, np.complex64)
    raise RuntimeError("the second piece cannot be made")


def test_links_and_rights_stay(tmp_path):
    (tmp_path / "deep").mkdir()
    target = tmp_path / "deep" / "f"
    target.write_bytes(b"old")
    target.chmod(0o640)
    os.symlink("deep/f", tmp_path / "link")
    with output.replacing(str(tmp_path / "link")) as file:
        file.write(b"new")
    assert os.path.islink(tmp_path / "link") and target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        with output.replacing(str(tmp_path / "fresh")) as file:
            file.write(b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o640


def test_two_outputs_need_two_names(tmp_path):
    path = str(tmp_path / "f")
    with pytest.raises(output.Refused, match="two outputs"):
        output.check_all([path, str(tmp_path / "." / "f")])
    output.check_all(["/dev/null", "/dev/null"])
    assert os.listdir(tmp_path) == []


def test_a_station_does_not_capture_into_a_letter(message):
    top = gr.top_block()
    for name in ("d_pdu", "sis"):
        d = station.Description("1.2.0.1", capture=station.Capture(**{name: str(message)}))
        with pytest.raises(station.StationError, match="message.txt"):
            station.Station(top, d, blocks.null_source(8), blocks.null_sink(8))
    assert message.read_bytes() == MESSAGE


def test_captures_of_stations_are_known_from_others(tmp_path):
    head = bytes.fromhex("4d3cb2a1 02000400 0000000000000000 00000400")
    d_pdu, sis = head + bytes([237, 0, 0, 0]), head + bytes([101, 0, 0, 0])
    packet = bytes(16) + b"\x45" + bytes(11) + b"\x0a\0\0\x01\x0a\0\x01\x01"
    for octets, ours in ((d_pdu, True), (d_pdu + b"x", True), (sis, True), (sis + packet, True),
                         (sis + bytes(60), False), (head + bytes([1, 0, 0, 0]), False),
                         (b"\xd4\xc3\xb2\xa1" + head[4:] + bytes([237, 0, 0, 0]), False)):
        path = tmp_path / "c.pcap"
        path.write_bytes(octets)
        assert output.is_ours(str(path)) == ours, octets


def test_pictures_name_the_program(tmp_path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure = pyplot.figure()
    for ending in output.PICTURES:
        path = str(tmp_path / f"p{ending}")
        output.save_figure(figure, path)
        assert output.is_ours(path), ending
        figure.savefig(path)
        assert not output.is_ours(path), ending
    pyplot.close(figure)


def test_sigmf_tells_who_recorded_it(tmp_path):
    base = str(tmp_path / "r")
    sigmf.write_sigmf(base, 9600, iter([np.zeros(10, np.complex64)]), "", lambda _: [])
    assert all(map(output.is_ours, sigmf.sigmf_files(base)))
    meta = json.loads((tmp_path / "r.sigmf-meta").read_text())
    meta["global"]["core:recorder"] = "another"
    (tmp_path / "r.sigmf-meta").write_text(json.dumps(meta))
    assert not any(map(output.is_ours, sigmf.sigmf_files(base)))


@pytest.mark.parametrize("number, ends", [(errno.ENOSPC, False), (errno.EPIPE, True)])
def test_log_lines_that_a_full_disk_refuses_end_no_station(number, ends):
    class Refusing(io.StringIO):
        def flush(self):
            raise OSError(number, os.strerror(number))

    with contextlib.redirect_stdout(Refusing()), \
            pytest.raises(OSError) if ends else contextlib.nullcontext():
        run.print_log(["a line"])


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_closed_standard_streams_are_no_traceback(tmp_path, closed):
    # Standard input is empty without one, and a WAV file must not take its number.
    command = ["hf", "demodulate", "-"] if closed == 0 else ["hf", *MODULATE, "-", "a.wav"]
    done = subprocess.run(command, cwd=tmp_path, preexec_fn=lambda: os.close(closed), text=True,
                          stdin=None if closed == 0 else subprocess.DEVNULL,
                          stdout=None if closed == 1 else subprocess.PIPE,
                          stderr=None if closed == 2 else subprocess.PIPE, check=False)
    assert "Traceback" not in (done.stderr or "")
    if closed == 0:
        assert done.returncode == 1 and "standard input: is empty" in done.stderr
    else:
        assert done.returncode == 0
        assert (tmp_path / "a.wav").read_bytes()[:4] == b"RIFF"
