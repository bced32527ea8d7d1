# SPDX-License-Identifier: GPL-3.0-or-later
"""Two antennas and one modem: better than either, and no worse than one if the other is dead."""
import json
import wave

from click.testing import CliRunner
from gnuradio import blocks, gr, hf
import numpy as np
import pmt
import pytest

from gnuradio.hf.cli.demodulate import command as demodulate
from gnuradio.hf.recordings import sigmf, wav
from gnuradio.hf.signals import demodulation

MODE = "4539-6400S"
MESSAGE = np.random.default_rng(1).integers(0, 256, 3200, dtype=np.uint8).tobytes()


def sent(mode=MODE, octets=MESSAGE):
    quiet = np.zeros(4800, np.complex64)
    return np.concatenate([quiet, hf.modulate(mode, octets), quiet])


def heard(spec, seed, signal):
    return hf.channel_model(spec, seed, hf.mode(MODE).mean_power, 9600).process(signal)


def both(first, second, mode=MODE, **options):
    """Octets, how it ended, and the receiver."""
    receiver = hf.diversity_receiver(**options)
    silence = demodulation.silence()
    events = receiver.push(first, second) + receiver.push(silence, silence)
    starts = [e for e in events if e["type"] == "start"]
    assert [e["mode"] for e in starts] == [mode]
    assert events[0]["type"] == "start" and events[-1]["type"] == "end"
    times = [e["time"] for e in events if e["type"] == "octets"]
    assert times == sorted(times)
    return (b"".join(e["octets"] for e in events if e["type"] == "octets"),
            events[-1]["reason"], receiver)


def test_blocks_are_decoded_from_both():
    a, b = (heard("poor snr=22", seed, sent()) for seed in (1, 2))
    octets, reason, receiver = both(a, b)
    assert octets == MESSAGE and reason == "eom"
    assert receiver.joint_blocks == receiver.blocks == 4


@pytest.mark.parametrize("other", ["clear gain=-200", "awgn snr=-40"])
@pytest.mark.parametrize("dead_first", [False, True])
def test_a_dead_or_deaf_one_changes_nothing(other, dead_first):
    good = heard("moderate snr=20", 3, sent())
    lost = heard(other, 4, sent())
    alone = hf.receiver()
    events = alone.push(good) + alone.push(demodulation.silence())
    expected = b"".join(e["octets"] for e in events if e["type"] == "octets")
    octets, reason, receiver = both(*((lost, good) if dead_first else (good, lost)))
    assert octets == expected and reason == "eom" and receiver.joint_blocks == 0


@pytest.mark.parametrize("dies", [0, 1])
@pytest.mark.parametrize("noise", [False, True])
def test_one_that_dies_on_the_way_does_not_take_the_other_along(dies, noise):
    message = 6 * MESSAGE  # for longer than the lost one may be in a fade
    signals = [heard("awgn snr=25", seed, sent(octets=message)) for seed in (5, 6)]
    rest = signals[dies][2 * 9600:]
    rest[:] = heard("awgn snr=25", 7, np.zeros(len(rest), np.complex64)) if noise else 0
    octets, reason, receiver = both(*signals)
    assert octets == message and reason == "eom"
    assert 0 < receiver.joint_blocks < receiver.blocks


@pytest.mark.parametrize("first_s, second_s", [(3, 3), (0, 3), (3, 9), (9, 3)])
def test_one_that_missed_the_begin_joins_the_other(first_s, second_s):
    mode, octets = "5069-3k-3200S", 3 * MESSAGE
    signals = [heard("awgn snr=15", seed, sent(mode, octets)) for seed in (5, 6)]
    for signal, missed_s in zip(signals, (first_s, second_s)):
        signal[:9600 * missed_s] = 0
    got, reason, receiver = both(*signals, mode)
    # Long blocks, 7.68 s and 3072 octets each, of 16 short ones.
    assert got == octets[3072 if min(first_s, second_s) > 0 else 0:] and reason == "eom"
    shared = min(51 - 16 * ((s + 7) // 8) for s in (first_s, second_s))
    # Blocks received before both receivers knew the mode are decoded alone.
    assert shared - 3 <= receiver.joint_blocks <= shared


@pytest.mark.parametrize("mode, options", [("4539-75S", {}), ("4539-4800N", {}),
                                           ("4539-1200S", {"effort": 0})])
def test_what_cannot_be_decoded_together_is_heard_by_one(mode, options):
    octets = b"one of them will do"
    signal = heard("awgn snr=25", 8, sent(mode, octets))
    got, reason, receiver = both(signal, signal, mode, **options)
    assert got == octets and reason == "eom" and receiver.blocks == 0


def test_as_many_samples_of_each():
    with pytest.raises(ValueError, match="10 samples of the first antenna need as many"):
        hf.diversity_receiver().push(np.zeros(10, np.complex64), np.zeros(9, np.complex64))


def test_pieces_are_of_the_same_time():
    def pieces(*lengths):
        at = 0
        for n in lengths:
            yield np.arange(at, at + n).astype(np.complex64), np.zeros(n, np.float32)
            at += n
    joined = list(demodulation.together(pieces(3, 0, 4), pieces(5, 5)))
    assert all(len(a[0]) == len(a[1]) == len(b[0]) == len(b[1]) for a, b in joined)
    first, second = (np.concatenate([p[k][0] for p in joined]) for k in (0, 1))
    assert list(first.real) == [*range(7), 0, 0, 0] and list(second.real) == list(range(10))


def test_recordings_of_two_antennas(tmp_path):
    def run(*arguments):
        return CliRunner(mix_stderr=False).invoke(demodulate, [str(a) for a in arguments])
    for name, seed in (("a", 1), ("b", 2)):
        samples = heard("poor snr=20", seed, sent())
        sigmf.write_sigmf(str(tmp_path / name), 9600, iter([samples]), "", lambda _: [])
    first, second = (tmp_path / f"{name}.sigmf-meta" for name in "ab")
    done = run(first, "--diversity", second)
    assert done.exit_code == 0 and done.stdout_bytes == MESSAGE
    assert done.stderr.count("\n") == 1
    assert run(first, "--diversity", tmp_path / "none.wav").exit_code == 1
    with open(tmp_path / "x.wav", "wb") as file:
        wav.write_wav(file, 9600, 10, iter([np.zeros(10)]))
    done = run(first, "--diversity", tmp_path / "x.wav")
    assert done.exit_code == 1 and "both audio or both complex" in done.stderr


def two_channels(path, a, b):
    """A WAV file with audio of two antennas around 1800 Hz."""
    turn = np.exp(2j * np.pi * 1800 / 9600 * np.arange(len(a)))
    frames = np.stack([(x * turn).real for x in (a, b)], axis=1)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(9600)
        file.writeframes(np.round(8000 * np.clip(frames, -4, 4)).astype("<i2").tobytes())


@pytest.mark.parametrize("form", ["wav", "sigmf-meta"])
def test_two_channels_of_a_recording_are_two_antennas(tmp_path, form):
    def run(*arguments):
        return CliRunner(mix_stderr=False).invoke(demodulate, [str(a) for a in arguments])
    dead = hf.channel_model("awgn snr=-40", 3, hf.mode(MODE).mean_power, 9600)
    a, b = dead.process(sent()), heard("poor snr=25", 2, sent())
    path = tmp_path / f"both.{form}"
    if form == "wav":
        two_channels(path, a / np.max(np.abs(a)), b)
    else:
        joined = np.stack([a, b], axis=1).astype("<c8")
        (tmp_path / "both.sigmf-data").write_bytes(joined.tobytes())
        meta = sigmf.sigmf_meta(9600, "", [])
        meta["global"]["core:num_channels"] = 2
        path.write_text(json.dumps(meta))
    # Only the second channel has a signal.
    done = run(path, "--diversity", "channels")
    assert done.exit_code == 0 and done.stdout_bytes == MESSAGE
    assert "warning" not in done.stderr
    assert run(path, "--channel", "left").exit_code == 1
    if form == "wav":
        # Without a choice the other channel is tried.
        done = run(path)
        assert done.exit_code == 0 and "channel: right" in done.stderr


def test_one_channel_is_not_two_antennas(tmp_path):
    with open(tmp_path / "one.wav", "wb") as file:
        wav.write_wav(file, 9600, 10, iter([np.zeros(10)]))
    for name, said in ((tmp_path / "one.wav", "has 1 channel"), ("-", "of a WAV file")):
        done = CliRunner(mix_stderr=False).invoke(
            demodulate, [str(name), "--diversity", "channels"], input=b"RIFF")
        assert done.exit_code == 1 and said in done.stderr, done.stderr


def test_a_flowgraph_with_two_antennas():
    fading = [heard("poor snr=25", seed, sent()) for seed in (1, 2)]
    dead = np.zeros_like(fading[0])
    for streams in (fading, (dead, fading[1])):
        tb, rx, done = gr.top_block(), hf.rx(antennas=2), blocks.message_debug(False)
        for port, x in enumerate(streams):
            x = np.concatenate([x, demodulation.silence()])
            tb.connect(blocks.vector_source_c(x.tolist()), (rx, port))
        tb.msg_connect(rx, "pdus", done, "store")
        tb.run()
        assert rx.receptions() == done.num_messages() == 1
        assert bytes(pmt.u8vector_elements(pmt.cdr(done.get_message(0)))) == MESSAGE
