# SPDX-License-Identifier: GPL-3.0-or-later
"""The page that builds a receiver from blocks, and the flowgraphs of the stages."""
import os
from pathlib import Path
import re
import subprocess
import time

import pytest

SOURCE = Path(os.environ["HF_SOURCE_DIR"])
PAGE = SOURCE / "docs" / "how-to" / "blocks.md"


def test_the_receiver_of_the_page_finds_the_octets_of_hf_demodulate(tmp_path, monkeypatch,
                                                                    capsys):
    monkeypatch.chdir(tmp_path)
    pieces = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    names = {}
    for piece in pieces:
        exec(compile(piece, str(PAGE), "exec"), names)
    said = capsys.readouterr().out.strip()
    assert f"`{said}`" in PAGE.read_text()
    (command,) = re.findall(r"^    (hf demodulate .*)$", PAGE.read_text(), re.M)
    subprocess.run(command, shell=True, check=True, capture_output=True, timeout=60)
    assert names["octets"] == names["message"] == (tmp_path / "received.txt").read_bytes()
    assert len(names["points"]) == len(names["labels"]) > 100


@pytest.mark.parametrize("name", ["waveform_step_by_step", "your_own_equaliser"])
def test_flowgraphs_of_stages_receive_what_they_send(name, tmp_path):
    subprocess.run(["grcc", "-o", str(tmp_path), str(SOURCE / "examples" / f"{name}.grc")],
                   check=True, capture_output=True, timeout=60)
    said = tmp_path / "said"
    with said.open("w") as out:
        run = subprocess.Popen(
            ["python3", "-u", f"{name}.py"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=out,
            stderr=subprocess.STDOUT, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
        end = time.monotonic() + 60
        while time.monotonic() < end and said.read_text().count("(reason . eom)") < 3 \
                and run.poll() is None:
            time.sleep(0.2)
        run.kill()
        run.wait(10)
    assert said.read_text().count("(reason . eom)") >= 3, said.read_text()[-2000:]
