# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a command is: on a terminal only, from the fourth second on, with the time left."""
import io
import os
import subprocess
import sys
import time
from typing import Any, List

import click
import numpy as np
import pytest
from rich.console import Console

from gnuradio import hf
from gnuradio.hf.channels import impair, learn
from gnuradio.hf.cli import _progress
from gnuradio.hf.recordings import recording, wav
from gnuradio.hf.signals import demodulation, modulation
from gnuradio.hf.simulation import scenarios
from gnuradio.hf.simulation import simulator


class Clock:
    """A clock that advances only on request."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind of terminal does not depend on where the tests run."""
    monkeypatch.setenv("TERM", "xterm")


def made(total: float = 1.0, terminal: bool = True) -> Any:
    clock, written = Clock(), io.StringIO()
    console = Console(file=written, force_terminal=terminal, width=80)
    return _progress.Progress("work", total, console=console, clock=clock), clock, written


def until(condition: Any) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_time_that_is_left_follows_from_what_is_done():
    progress, clock, _ = made(total=40)
    clock.now = 30
    assert progress.words() == (0.0, "30 s so far")
    progress.at(10)
    assert progress.words() == (0.25, " 25 %, 1:30 min left")
    # Until the next step the time that is left falls.
    clock.now = 60
    progress.at(10)
    assert progress.words() == (0.25, " 25 %, 1:00 min left")
    clock.now = 200
    assert progress.words() == (0.25, " 25 %, 0 s left")
    clock.now = 6000
    progress.add(10)
    assert progress.words() == (0.5, " 50 %, 1:40 h left")
    progress.share(1.5)
    assert progress.words() == (1.0, "100 %, 0 s left")


def test_short_work_shows_nothing():
    progress, _, written = made()
    with progress:
        progress.share(0.5)
    assert written.getvalue() == ""


def test_long_work_shows_a_line_that_is_gone_at_the_end(monkeypatch):
    monkeypatch.setattr(_progress, "DELAY_S", 0.01)
    progress, _, written = made()
    before = sys.stderr
    with progress:
        progress.at(0.25, "second part")
        until(lambda: "second part" in written.getvalue())
        click.echo("a result", err=True)
        until(lambda: "a result\n" in written.getvalue())
    assert sys.stderr is before
    assert " 25 %" in written.getvalue()
    assert written.getvalue().endswith("\x1b[2K")  # the line is erased


def test_streams_are_redirected_before_the_first_drawing(monkeypatch):
    streams = []
    monkeypatch.setattr(_progress.Live, "start", lambda _: streams.append(sys.stderr))
    monkeypatch.setattr(_progress.Live, "stop", lambda _: None)
    monkeypatch.setattr(_progress, "DELAY_S", 0.01)
    progress, _, _ = made()
    with progress:
        until(lambda: streams)
    assert isinstance(streams[0], _progress._Above)


def test_without_a_terminal_nothing_is_shown(monkeypatch):
    monkeypatch.setattr(_progress, "DELAY_S", 0.0)
    progress, _, written = made(terminal=False)
    with progress:
        time.sleep(0.1)
        assert not progress._timer.is_alive()
    assert written.getvalue() == ""


def test_work_that_waits_for_others_prints_lines_without_a_terminal(monkeypatch):
    monkeypatch.setattr(_progress, "DELAY_S", 0.01)
    monkeypatch.setattr(_progress, "EVERY_S", 0.01)
    clock, written = Clock(), io.StringIO()
    console = Console(file=written, force_terminal=False, width=20)
    with _progress.Progress("a file with a long name", 40, console=console, clock=clock,
                            lines=True) as progress:
        until(lambda: "a file with a long name: 0 s so far\n" in written.getvalue())
        clock.now = 30
        progress.at(10)
        until(lambda: "a file with a long name: 25 %, 1:30 min left\n" in written.getvalue())
    said = written.getvalue()
    time.sleep(0.05)
    assert written.getvalue() == said and "\x1b" not in said


def rising(shares: List[float]) -> bool:
    return shares == sorted(shares) and all(0 <= s <= 1 for s in shares)


def test_engines_tell_how_far_they_are():
    shares: List[float] = []
    simulator.simulate("4539-75S", 20_000_000, progress=shares.append)
    assert shares and rising(shares)
    run, = scenarios.parse('duration_s = 400000\n[[station]]\nname = "A"\n[[station]]\n'
                           'name = "B"\n[[traffic]]\nfrom = "A"\nto = "B"\n')
    shares.clear()
    run.scenario.run(shares.append)
    assert shares and rising(shares)
    shares.clear()
    simulator.simulate_real("4539-600S", 3000, progress=shares.append)
    assert rising(shares)


def test_a_recording_tells_how_far_it_was_read(tmp_path):
    path = str(tmp_path / "x.wav")
    with open(path, "wb") as file:
        wav.write_wav(file, 48000, 960000, [np.zeros(960000)])
    shares: List[float] = []
    source = recording.open_recording(path)
    demodulation.demodulate(source, demodulation.Reception(), progress=shares.append)
    assert len(shares) > 10 and rising(shares) and shares[-1] == 1.0


@pytest.fixture(name="faded", scope="module")
def faded_recording(tmp_path_factory):
    """A transmission of ten seconds, and its remaining part. Returns the shares reported
    meanwhile."""
    folder = tmp_path_factory.mktemp("faded")
    t = modulation.Transmission(hf.mode("4539-600S"), bytes(600))
    made: List[float] = []
    with open(folder / "made.wav", "wb") as file:
        modulation.write_wav(file, t, progress=made.append)
    shares: List[float] = []
    impair.impair(lambda: recording.open_recording(str(folder / "made.wav")),
                  str(folder / "faded.wav"), "poor snr=25", 1, 1800.0, -3.0,
                  progress=shares.append)
    return folder, made, shares


def test_a_transmission_and_a_channel_tell_how_far_they_are(faded, tmp_path):
    folder, made, shares = faded
    for found in (made, shares):
        assert len(found) > 6 and rising(found) and found[-1] == 1.0
    shares = []
    modulation.write_sigmf(str(tmp_path / "x"), modulation.Transmission(
        hf.mode("5069-12k-19200S"), bytes(6000)), shares.append)
    assert len(shares) > 4 and rising(shares) and shares[-1] == 1.0
    shares = []
    learn.learn(str(folder / "faded.wav"), str(tmp_path / "c.sigmf-meta"), progress=shares.append)
    assert len(shares) > 4 and rising(shares)


def test_a_pipe_does_not_tell_how_far_it_was_read():
    ours, theirs = os.pipe()
    os.close(theirs)
    with os.fdopen(ours, "rb") as file:
        pipe = recording.Recording("a pipe", 48000, False, file, lambda _: np.zeros(1), 1)
        assert pipe.share() == 0.0


SWALLOWED = """
import os, signal, sys, time
from gnuradio.hf import cli

os.register_at_fork(after_in_parent=lambda: signal.raise_signal(signal.SIGINT))

def command(**options):
    if os.fork() == 0:
        os._exit(0)
    time.sleep(60)

cli.hf.main = command
try:
    cli.main()
except KeyboardInterrupt:
    sys.exit(7)
"""


def test_an_interrupt_in_a_callback_that_ignores_it_is_not_lost() -> None:
    result = subprocess.run([sys.executable, "-c", SWALLOWED], timeout=50, check=False,
                            stderr=subprocess.PIPE)
    assert result.returncode == 7, result.stderr
