# SPDX-License-Identifier: GPL-3.0-or-later
"""Flowgraphs that the Companion writes in C++: compiled against the build tree, and run."""
import os
from pathlib import Path
import shutil
import socket
import subprocess
import time

from flowgraph import EXAMPLES
from gnuradio.hf.system import netns
import pytest
import yaml

BUILD = Path(os.environ["HF_BUILD_DIR"])
SOURCE = Path(os.environ["HF_SOURCE_DIR"])


def generated(path, folder):
    """The C++ source that grcc writes."""
    run = subprocess.run(["grcc", "-o", str(folder), str(path)], capture_output=True, text=True,
                         timeout=120)
    made = folder / path.stem / f"{path.stem}.cpp"
    assert run.returncode == 0 and made.exists(), run.stdout + run.stderr
    return made


def build(source, *more):
    """Compiles as the CMakeLists.txt beside it would; more: of the compiler."""
    run = subprocess.run(
        ["c++", "-std=c++17", "-O0", f"-I{SOURCE}/include", f"-I{SOURCE}/include/gnuradio",
         str(source), *more], capture_output=True, text=True, timeout=400)
    assert run.returncode == 0, run.stderr[-3000:]


LIBRARIES = [f"-L{BUILD}/lib/blocks", "-lgnuradio-hf", "-lgnuradio-network", "-lgnuradio-blocks",
             "-lgnuradio-runtime", "-lgnuradio-pmt", "-lboost_program_options",
             "-lfmt"]


@pytest.fixture(autouse=True)
def compiler():
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler")


def test_datagrams_come_out_as_they_went_in(tmp_path):
    source = generated(EXAMPLES / "cpp_loopback.grc", tmp_path)
    for words in ("find_package(gnuradio-hf)", "gnuradio::gnuradio-hf"):
        assert words in (source.parent / "CMakeLists.txt").read_text()
    program = tmp_path / "program"
    build(source, "-o", str(program), *LIBRARIES)
    messages = [os.urandom(n) for n in (1, 50, 300)]
    (port,) = netns.free_tcp_ports(1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        s.settimeout(120)
        process = subprocess.Popen([program, "--from_port", str(port), "--to_port",
                                    str(s.getsockname()[1])], stdout=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 30
            while f":{port:04X} " not in Path("/proc/net/udp").read_text():
                assert time.monotonic() < end and process.poll() is None
                time.sleep(0.05)
            for message in messages:
                s.sendto(message, ("127.0.0.1", port))
            assert [s.recv(2000) for _ in messages] == messages
        finally:
            process.kill()
            process.wait(20)


def test_stations_are_compiled(tmp_path):
    """Modem and data link, the other blocks with C++ templates, with their defaults."""
    def state(x):
        return {"coordinate": [x, 8], "rotation": 0, "state": "enabled"}
    blocks = [("silence", "blocks_null_source", {"type": "complex"}),
              ("nobody", "blocks_null_sink", {"type": "complex"}),
              ("modem", "hf_modem", {}), ("link", "hf_data_link", {"mode": "4539-600S"})]
    path = tmp_path / "station.grc"
    path.write_text(yaml.safe_dump({
        "options": {"parameters": {"id": "station", "generate_options": "no_gui",
                                   "output_language": "cpp"}, "states": state(8)},
        "blocks": [{"name": n, "id": i, "parameters": p, "states": state(200)}
                   for n, i, p in blocks],
        "connections": [["silence", "0", "modem", "0"], ["modem", "0", "nobody", "0"],
                        ["modem", "modem", "link", "modem"], ["link", "modem", "modem", "modem"]],
        "metadata": {"file_format": 1}}))
    build(generated(path, tmp_path), "-fsyntax-only")
