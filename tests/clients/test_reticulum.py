# SPDX-License-Identifier: GPL-3.0-or-later
"""Unmodified Reticulum over two stations, as in docs/how-to/tcp-programs.md.

HF_FOREIGN_PYTHON names a Python with rns and lxmf (pip install rns lxmf).
"""
import contextlib
import os
import pathlib
import re
import subprocess

import pytest

PYTHON = os.environ.get("HF_FOREIGN_PYTHON", "")
HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
PAGE = (HERE.parents[1] / "docs/how-to/tcp-programs.md").read_text()


def interface(where):
    """The interface as the page prints it: ashore first, then on the ship."""
    section = PAGE.partition("## Reticulum")[2].partition("\n## ")[0]
    blocks = re.findall(r"\n\n((?:    .*\n)+)", section)
    assert len(blocks) == 2 and all("[[HF]]" in block for block in blocks)
    return blocks[("shore", "ship").index(where)]


@contextlib.contextmanager
def started(*command):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def line_with(process, word):
    for line in process.stdout:
        if word in line:
            return line
    raise AssertionError(f"ended before {word!r}")


def node(folder, where, *words):
    (folder / where).mkdir()
    (folder / where / "config").write_text(
        "[reticulum]\nenable_transport = No\nshare_instance = No\n[logging]\nloglevel = 3\n"
        f"[interfaces]\n{interface(where)}")
    return started(PYTHON, str(HERE / "lxmf_node.py"), str(folder / where), *words)


def test_a_message_of_2000_octets(tmp_path):
    if not PYTHON or subprocess.run([PYTHON, "-c", "import RNS, LXMF"],
                                    capture_output=True).returncode != 0:
        pytest.skip("HF_FOREIGN_PYTHON names no Python with rns and lxmf")
    files = [str(EXAMPLES / f"programs_{where}.toml") for where in ("ship", "shore")]
    with started("hf", "run", "--quiet", *files) as stations:
        line_with(stations, "1.2.0.2  HF-PEP: listens on")
        with node(tmp_path, "shore", "receive") as shore:
            address = line_with(shore, "address").split()[1]
            with node(tmp_path, "ship", "send", address, "3") as ship:
                took = [float(re.search(r"confirmed ([\d.]+)", line_with(ship, "confirmed"))[1])
                        for _ in range(3)]
            assert line_with(shore, "got").split()[1] == "2000"
    print(f"LXMF message of 2000 octets at 9600 bit/s: {took[0]} s with Reticulum's own link, "
          f"then {took[1:]} s (target 8 s)")
    assert max(took[1:]) <= 8 and took[0] <= 12
