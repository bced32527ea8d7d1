# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a flowgraph of examples/ as a user does: grcc, then the program that it makes."""
import os
from pathlib import Path
import re
import subprocess
import sys
import time

EXAMPLES = Path(os.environ["HF_SOURCE_DIR"]) / "examples"
#: Starts a flowgraph without a display and prints a value of it ten times a second.
WATCHED = """
import importlib, time
top = getattr(importlib.import_module({name!r}), {name!r})(**{arguments!r})
top.start()
while True:
    print("value", ({value}), flush=True)
    time.sleep(0.1)
"""


def compiled(name: str, folder: Path) -> Path:
    """What grcc makes of a flowgraph."""
    made = folder / f"{name}.py"
    if not made.exists():
        run = subprocess.run(["grcc", "-o", str(folder), str(EXAMPLES / f"{name}.grc")],
                             capture_output=True, text=True, timeout=120)
        assert run.returncode == 0 and made.exists(), run.stdout + run.stderr
    return made


class Running:
    """A flowgraph that runs. value: an expression of its blocks (top.NAME) that is printed;
    without it the program itself runs, with the arguments of its command line."""

    def __init__(self, folder, name, value="", environment=None, label="", **arguments):
        program = compiled(name, folder)
        self.log = folder / f"{name}{label}.log"
        command = [sys.executable, "-u"]
        if value:
            command += ["-c", WATCHED.format(name=name, arguments=arguments, value=value)]
        else:
            command += [str(program)]
            for key, given in arguments.items():
                command += [f"--{key.replace('_', '-')}", str(given)]
        self.out = self.log.open("w")
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=self.out, stderr=subprocess.STDOUT,
            env={**(environment or os.environ), "QT_QPA_PLATFORM": "offscreen"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(20)
        self.process.stdin.close()
        self.out.close()

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def until(self, pattern: str, seconds: float, count: int = 1) -> str:
        """Waits until a pattern has been printed, that many times. Returns the output."""
        end = time.monotonic() + seconds
        while True:
            text = self.said()
            if len(re.findall(pattern, text)) >= count:
                return text
            assert time.monotonic() < end and self.process.poll() is None, text[-3000:]
            time.sleep(0.1)


def run_lesson(path: Path, folder: Path) -> None:
    """A lesson as a script: it asserts what it says, ends in a picture and a question, and leaves
    nothing behind."""
    text = path.read_text()
    cells = re.split(r"^# %%", text, flags=re.M)
    assert "plt.show()" in text and "\nassert " in text and "**Question.**" in cells[-1]
    run = subprocess.run([sys.executable, str(path)], cwd=folder, capture_output=True, text=True,
                         timeout=60, env={**os.environ, "MPLBACKEND": "Agg"})
    assert run.returncode == 0, run.stdout + run.stderr
    assert not list(folder.iterdir())
