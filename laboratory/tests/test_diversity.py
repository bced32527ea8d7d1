# SPDX-License-Identifier: GPL-3.0-or-later
"""The gain of two antennas."""
from click.testing import CliRunner

from hflab import experiments
from hflab.cli.ber import command as ber_command

MODE = "4539-6400S"


def test_two_fading_antennas_are_better_than_either():
    point = (MODE, "poor snr=15")
    alone = [experiments.ber_trial(*point, seconds=6, seed=s) for s in range(1, 5)]
    pair = [experiments.ber_trial(*point, seconds=6, seed=s, second="poor snr=15")
            for s in range(1, 5)]
    errors = [sum(t["errors"] for t in trials) for trials in (alone, pair)]
    assert errors[0] > 300 and errors[1] * 20 < errors[0]
    assert all(t["found"] and t["ended"] and t["receptions"] == 1 for t in pair)


def test_bit_error_rates_of_two_antennas():
    done = CliRunner(mix_stderr=False).invoke(ber_command, [
        "run", "--mode", "4539-600S", "--channel", "flutter", "--snr", "8", "--seconds", "1",
        "--max-time", "3", "--diversity", "2", "-j", "1"])
    assert done.exit_code == 0, done.stderr
    assert "flutter snr=8 | flutter snr=8" in done.stdout.replace("\\|", "|")
    assert CliRunner().invoke(ber_command, ["standard", "--diversity", "2"]).exit_code == 2
