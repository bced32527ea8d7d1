# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of a station's radio, and a recording instead of a radio."""
import json
import os
import re
import subprocess

from gnuradio import blocks, gr
from gnuradio.hf.radio import recorder
from gnuradio.hf.recordings import sigmf
import numpy as np
import pmt
import pytest


def run(*arguments, **options):
    return subprocess.run(["hf", "run", *arguments], capture_output=True, text=True, timeout=120,
                          **options)


def station(path, number, more=""):
    path.write_text(f'address = "1.2.0.{number}"\nmode = "4539-3200S"\n[sis_server]\nport = 0\n'
                    + more)
    return str(path)


def files_of(folder):
    """The recordings in a folder, oldest first."""
    return sorted(os.path.join(folder, f) for f in os.listdir(folder)
                  if f.endswith(".sigmf-meta"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The folder of a station that hears a call: it is rung up by another."""
    folder = tmp_path_factory.mktemp("record")
    files = [station(folder / "1.toml", 1),
             station(folder / "2.toml", 2, f'[record]\nfolder = "{folder}/kept"\nfile_s = 3600\n'
                                           'transmitted = true\n')]
    process = subprocess.Popen(["hf", "run", *files, "--channel", "awgn snr=20", "--speed", "50",
                                "--duration", "200"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    port = None
    for line in process.stderr:
        found = re.search(r"station 1.2.0.1.*on port (\d+)", line)
        if found:
            port = found[1]
            break
    ping = subprocess.run(["hf", "console", "ping", "--to", "1.2.0.2", "--server",
                           f"127.0.0.1:{port}", "--count", "1", "--timeout", "20"],
                          capture_output=True, text=True)
    assert "bound" in ping.stderr or ping.returncode in (0, 1)
    out, _ = process.communicate(timeout=100)
    assert process.returncode == 0
    return folder, out


def test_the_recording_has_what_was_received(recorded):
    folder, _ = recorded
    metas = files_of(str(folder / "kept"))
    assert len(metas) == 2  # received and transmitted
    (meta,) = [m for m in metas if "received" in m]
    described = json.loads(open(meta).read())
    heard = [a for a in described["annotations"] if a["core:comment"] == "received"]
    sent = [a for a in described["annotations"] if a["core:comment"] == "transmitted"]
    assert heard and sent and all(a["core:label"].startswith("4539-") for a in heard + sent)
    assert all(abs(a["hf:snr_db"] - 20) < 2 for a in heard)
    assert described["global"]["core:sample_rate"] == 9600
    size = os.path.getsize(sigmf.sigmf_files(meta)[0])
    assert size == pytest.approx(200 * 9600 * 8, rel=0.05)
    assert all(a["core:sample_start"] + a["core:sample_count"] <= size / 8
               for a in described["annotations"])
    assert "core:datetime" in described["captures"][0]


def test_a_recording_is_demodulated_as_it_was_received(recorded):
    folder, _ = recorded
    (meta,) = [m for m in files_of(str(folder / "kept")) if "received" in m]
    heard = [a for a in json.loads(open(meta).read())["annotations"]
             if a["core:comment"] == "received"]
    result = subprocess.run(["hf", "demodulate", "--json", meta], capture_output=True)
    reports = [json.loads(line) for line in result.stderr.decode().splitlines()
               if line.startswith("{")]
    assert [r["mode"] for r in reports] == [a["core:label"] for a in heard]


def test_a_station_hears_a_recording_again(recorded):
    folder, _ = recorded
    (meta,) = [m for m in files_of(str(folder / "kept")) if "received" in m]
    path = station(folder / "3.toml", 2, f'[radio]\ntype = "file"\nrecording = "{meta}"\n')
    first, second = run(path), run(path)
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout and first.stdout
    assert "1.2.0.1" in first.stdout  # who called
    assert f"recording: {meta}, as fast as possible; never transmits" in first.stderr
    assert "default device" not in first.stderr


@pytest.mark.parametrize("more, named", [
    ('[radio]\ntype = "file"\n', "recording"),
    ('[radio]\ntype = "file"\nrecording = "nowhere.wav"\n', "nowhere.wav"),
    ('[record]\nfile_s = 60\n', "folder"),
    ('[record]\nfolder = "x"\nfile_s = 1\n', "file_s = 1")])
def test_what_is_wrong_is_named(tmp_path, more, named):
    result = run(station(tmp_path / "1.toml", 1, more), "--check")
    assert result.returncode == 2 and named in result.stderr and "1.toml" in result.stderr


def record(folder, seconds, file_s, max_octets, said, tags=()):
    tb = gr.top_block()
    r = recorder.Recorder(str(folder), "x", 9600, max_octets, file_s, "a test", said.append)
    x = np.arange(int(seconds * 9600)).astype(np.complex64)
    tb.connect(blocks.vector_source_c(x.tolist(), False, 1, list(tags)), r)
    tb.run()
    return x, r


def test_files_are_cut_and_the_oldest_go(tmp_path):
    other = tmp_path / "y-20200101T000000000Z.sigmf-data"
    other.write_bytes(bytes(1000))
    x, _ = record(tmp_path, 65, 10, 3 * 10 * 9600 * 8, [])
    kept = [m for m in files_of(str(tmp_path))]
    assert len(kept) == 3 and other.exists()
    data = np.concatenate([np.fromfile(sigmf.sigmf_files(m)[0], np.complex64) for m in kept])
    assert np.array_equal(data, x[len(x) - len(data):])
    assert len(data) == 25 * 9600


def test_samples_that_the_radio_lost_are_annotated(tmp_path):
    tags = [gr.tag_utils.python_to_tag((at, pmt.intern("erased"), value, pmt.PMT_NIL))
            for at, value in ((9600, pmt.from_uint64(480)), (10081, pmt.from_uint64(95)),
                              (95990, pmt.from_uint64(30)), (50000, pmt.intern("many")))]
    record(tmp_path, 15, 10, 10 ** 9, [], tags)
    found = [[(a["core:sample_start"], a["core:sample_count"], a["core:label"])
              for a in json.loads(open(m).read())["annotations"]]
             for m in files_of(str(tmp_path))]
    assert found == [[(9600, 576, "lost"), (95990, 10, "lost")], [(0, 20, "lost")]]


def test_a_full_disk_ends_the_recording_not_the_station(tmp_path):
    said = []
    folder = tmp_path / "full"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", str(folder)],
                      capture_output=True).returncode != 0:
        pytest.skip("no right to mount a small file system")
    try:
        _, r = record(folder, 30, 100, 10 ** 9, said)
        assert said == [r.failed] and "No space left" in r.failed
        for data in folder.glob("*.sigmf-data"):
            text = data.with_suffix(".sigmf-meta").read_text()
            assert json.loads(text)["global"]["core:datatype"] == "cf32_le"
    finally:
        subprocess.run(["umount", str(folder)], check=True)
