# SPDX-License-Identifier: GPL-3.0-or-later
"""hf channel: recordings go through it."""
import json

import numpy as np
import pytest
from click.testing import CliRunner
from gnuradio import blocks, gr, hf

from gnuradio.hf.channels import impair
from gnuradio.hf.cli.channel import command
from gnuradio.hf.cli.demodulate import command as demodulate
from gnuradio.hf.cli.modulate import command as modulate
from gnuradio.hf.recordings import sigmf, wav

SPEC = "moderate snr=25 offset=20 clock=20 impulses=1:10 carriers=900:-30 step=-3:0.7"


def test_the_power_is_that_of_the_signal_and_of_nothing_weaker():
    """Blocks of 20 ms count that are at most 15 dB below the strongest."""
    rate, block = 9600, 192
    # Between two full blocks a signal 14 dB weaker counts. One 16 dB weaker and silence do not.
    for level_db, counts in ((-14, True), (-14.9, True), (-15.1, False), (-16, False)):
        weak = np.full(block, 10 ** (level_db / 20), np.complex64)
        full, silence = np.ones(block, np.complex64), np.zeros(block, np.complex64)
        x = np.concatenate([silence, full, weak, weak, full, silence])
        expected = (1 + 10 ** (level_db / 10)) / 2 if counts else 1.0
        for piece in (len(x), 100, block):
            pieces = (x[k:k + piece] for k in range(0, len(x), piece))
            assert abs(impair.signal_power(pieces, rate) / expected - 1) < 1e-4
    # A burst of 10 ms fills half a block.
    burst = np.zeros(block * 5, np.complex64)
    burst[:block // 2] = 1
    assert abs(impair.signal_power(iter([burst]), rate) - 0.5) < 1e-4
    assert impair.signal_power(iter([np.zeros(1000, np.complex64)]), rate) == 0


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
    # the noise is as strong as asked for: nothing gets through far below 0 dB
    assert run(command, "awgn snr=-25", clean, faded).exit_code == 0
    assert run(demodulate, faded).exit_code == 1


def test_command_block_and_engine_give_the_same_samples(tmp_path):
    rng = np.random.default_rng(1)
    x = (rng.normal(size=30000) + 1j * rng.normal(size=30000)).astype(np.complex64)
    sigmf.write_sigmf(str(tmp_path / "a"), 12000, iter([x]), "noise", lambda _: [])
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
        wav.write_wav(file, 8000, 8000, iter([np.zeros(8000)]))
    for arguments, text in (((), "CHANNEL IN OUT"), (("poor",), "CHANNEL IN OUT"),
                            (("pour", silent, tmp_path / "o"), "pour"),
                            (("poor", silent, tmp_path / "o"), "no signal"),
                            (("poor", tmp_path / "none.wav", tmp_path / "o"), "none.wav")):
        done = run(command, *arguments)
        assert done.exit_code != 0 and text in done.stderr, done.stderr


def test_audio_and_complex_recordings_get_the_same_noise(tmp_path):
    """Noise beside the channel must not be mirrored into it where a signal becomes real."""
    octets = bytes(range(256)) * 8
    (tmp_path / "message").write_bytes(octets)
    snrs = []
    for source, target, options in (("x.wav", "y.wav", []),
                                    ("x.sigmf-data", "y.sigmf-data", ["--complex"])):
        message, source, target = (str(tmp_path / n) for n in ("message", source, target))
        assert run(modulate, "--mode", "4539-3200S", *options, message, source).exit_code == 0
        assert run(command, "awgn snr=18", source, target).exit_code == 0
        r = run(demodulate, "--json", target)
        assert r.exit_code == 0 and r.stdout_bytes == octets
        snrs.append(json.loads(r.stderr.splitlines()[0])["snr_db"])
    assert snrs[0] == pytest.approx(snrs[1], abs=0.5)
