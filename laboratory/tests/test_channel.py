# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab channel: the simulated channel against its nominal values."""
from click.testing import CliRunner
import numpy as np

from hflab.channel import models, validation
from hflab.cli.channel import command


def test_the_channel_is_valid(tmp_path):
    plot = tmp_path / "a.png"
    done = CliRunner(mix_stderr=False).invoke(
        command, ["validate", "--hours", "0.5", "--spread", "2", "--plot", str(plot)])
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "BAD" not in done.stdout and "Doppler spectrum at 1.517 d" in done.stdout
    assert plot.read_bytes().startswith(b"\x89PNG")


def bad(monkeypatch, gain, rate):
    monkeypatch.setattr(validation, "taps", lambda *_: (gain, rate))
    return {c.what for c in validation.fading(1.0, 7200.0, 1) if not c.good}


def test_known_mistakes_are_found(monkeypatch):
    # the amplitude designed as the power spectrum: 0.71 of the spread
    narrow = bad(monkeypatch, *validation.taps(2 ** -0.5, 7200.0, 1))
    assert "Doppler spectrum at 1.517 d, dB" in narrow and "rms Doppler, of d" in narrow
    monkeypatch.undo()
    g, rate = validation.taps(1.0, 7200.0, 1)
    # |tap| without its phase
    assert "phase is uniform (KS p)" in bad(monkeypatch, np.abs(g) + 0j, rate)
    # the factor 2 between real and complex
    assert "mean power" in bad(monkeypatch, g * 2 ** 0.5, rate)
    # not Rayleigh: a constant path beside it
    assert "envelope is Rayleigh (KS p)" in bad(monkeypatch, (g + 1) / 2 ** 0.5, rate)


def test_comparison_with_gnu_radio_shows_its_doppler():
    table = models.compare(2.0, 600.0, 1)
    row = next(line for line in table.splitlines() if "1.517 d" in line).split("|")
    ours, theirs = row[3], row[4:-1]
    assert "!" not in ours and all("!" in cell for cell in theirs)
