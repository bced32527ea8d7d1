# SPDX-License-Identifier: GPL-3.0-or-later
"""hf channel: recordings go through it; a right channel passes --validate, wrong ones do not."""
import numpy as np
from click.testing import CliRunner
from gnuradio import blocks, gr, hf

from gnuradio.hf import impair, recording
from gnuradio.hf.cli.channel import command
from gnuradio.hf.cli.demodulate import command as demodulate
from gnuradio.hf.cli.modulate import command as modulate
from gnuradio.hf.measure import channel, channel_models

SPEC = "moderate snr=25 offset=20 clock=20 impulses=1:10 carriers=900:-30 step=-3:0.7"


def test_the_channel_is_valid(tmp_path):
    plot = tmp_path / "a.png"
    done = CliRunner(mix_stderr=False).invoke(
        command, ["--validate", "--hours", "0.5", "--spread", "2", "--plot", str(plot)])
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "BAD" not in done.stdout and "Doppler spectrum at 1.517 d" in done.stdout
    assert plot.read_bytes().startswith(b"\x89PNG")


def bad(monkeypatch, gain, rate):
    monkeypatch.setattr(channel, "taps", lambda *_: (gain, rate))
    return {c.what for c in channel.fading(1.0, 7200.0, 1) if not c.good}


def test_known_mistakes_are_found(monkeypatch):
    # the amplitude designed as the power spectrum: 0.71 of the spread
    narrow = bad(monkeypatch, *channel.taps(2 ** -0.5, 7200.0, 1))
    assert "Doppler spectrum at 1.517 d, dB" in narrow and "rms Doppler, of d" in narrow
    monkeypatch.undo()
    g, rate = channel.taps(1.0, 7200.0, 1)
    # |tap| without its phase
    assert "phase is uniform (KS p)" in bad(monkeypatch, np.abs(g) + 0j, rate)
    # the factor 2 between real and complex
    assert "mean power" in bad(monkeypatch, g * 2 ** 0.5, rate)
    # not Rayleigh: a constant path beside it
    assert "envelope is Rayleigh (KS p)" in bad(monkeypatch, (g + 1) / 2 ** 0.5, rate)


def run(tool, *arguments):
    return CliRunner(mix_stderr=False).invoke(tool, [str(a) for a in arguments])


def test_audio_goes_through_it(tmp_path):
    clean, faded, message = tmp_path / "a.wav", tmp_path / "b.wav", tmp_path / "m"
    message.write_bytes(b"over the ionosphere " * 20)
    assert run(modulate, "--mode", "4539-600S", message, clean).exit_code == 0
    done = run(command, SPEC, clean, faded)
    assert done.exit_code == 0, done.stderr
    done = run(demodulate, faded)
    assert done.exit_code == 0 and done.stdout_bytes == message.read_bytes()
    # what noise does to it is what was asked for: nothing comes through far below 0 dB
    assert run(command, "awgn snr=-25", clean, faded).exit_code == 0
    assert run(demodulate, faded).exit_code == 1


def test_command_block_and_engine_give_the_same_samples(tmp_path):
    rng = np.random.default_rng(1)
    x = (rng.normal(size=30000) + 1j * rng.normal(size=30000)).astype(np.complex64)
    recording.write_sigmf(str(tmp_path / "a"), 12000, iter([x]), "noise", lambda _: [])
    power = impair.signal_power(iter([x]), 12000)
    engine = hf.channel_model(SPEC, 7, power, 12000).process(x)
    done = run(command, SPEC, tmp_path / "a.sigmf-meta", tmp_path / "b", "--seed", 7)
    assert done.exit_code == 0, done.stderr
    written = np.fromfile(tmp_path / "b.sigmf-data", np.complex64)
    gain = 10 ** (-3 / 20) / np.max(np.abs(engine))
    np.testing.assert_allclose(written, engine * gain, atol=2e-6)
    top = gr.top_block()
    sink = blocks.vector_sink_c()
    top.connect(blocks.vector_source_c(x.tolist()), hf.channel(SPEC, 7, power, 12000), sink)
    top.run()
    np.testing.assert_allclose(np.array(sink.data()), engine, atol=1e-4)


def test_wrong_use_is_told(tmp_path):
    silent = tmp_path / "s.wav"
    with open(silent, "wb") as file:
        recording.write_wav(file, 8000, 8000, iter([np.zeros(8000)]))
    for arguments, text in (((), "CHANNEL IN OUT"), (("poor",), "CHANNEL IN OUT"),
                            (("poor", silent, tmp_path / "o", "--validate"), "CHANNEL IN OUT"),
                            (("pour", silent, tmp_path / "o"), "pour"),
                            (("poor", silent, tmp_path / "o"), "no signal"),
                            (("poor", tmp_path / "none.wav", tmp_path / "o"), "none.wav")):
        done = run(command, *arguments)
        assert done.exit_code != 0 and text in done.stderr, done.stderr


def test_comparison_with_gnu_radio_shows_its_doppler():
    table = channel_models.compare(2.0, 600.0, 1)
    row = next(line for line in table.splitlines() if "1.517 d" in line).split("|")
    ours, theirs = row[3], row[4:-1]
    assert "!" not in ours and all("!" in cell for cell in theirs)
