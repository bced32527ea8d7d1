# SPDX-License-Identifier: GPL-3.0-or-later
"""hf demodulate --combine: recordings of one transmission from several places."""
import numpy as np
import pytest

from gnuradio import hf as module
from gnuradio.hf.recordings import wav
from gnuradio.hf.signals import combination, demodulation

MODE = "4539-3200S"
MESSAGE = np.random.default_rng(1).bytes(3000)


def heard(spec, seed, lead_s=0.5, mode=MODE, octets=MESSAGE):
    lead = np.zeros(round(9600 * lead_s), np.complex64)
    sent = np.concatenate([lead, module.modulate(mode, octets), np.zeros(9600, np.complex64)])
    return module.channel_model(spec, seed, module.mode(mode).mean_power).process(sent)


def write(path, samples, rate):
    """Baseband samples as a WAV file."""
    converter = module.baseband_to_audio(rate, 1800.0)
    audio = np.concatenate([converter.push(samples), converter.finish()])
    audio *= 0.5 / np.max(np.abs(audio))
    with open(path, "wb") as file:
        wav.write_wav(file, rate, len(audio), iter([audio]))


def four(folder, octets=MESSAGE):
    """Four places on independent Poor channels, none of which suffices."""
    names = [f"{name}.wav" for name in ("oslo", "graz", "porto", "cork")]
    for k, (name, rate) in enumerate(zip(names, (8000, 48000, 11025, 44100))):
        spec = f"poor snr=6 clock={30 * k - 45} offset={20 * k - 30}"
        write(folder / name, heard(spec, 100 + k, 0.5 + 0.8 * k, octets=octets), rate)
    return names


def test_four_places_hear_what_none_hears(hf, tmp_path):
    names = four(tmp_path)
    for name in names:
        assert hf("demodulate", name).out != MESSAGE
    r = hf("demodulate", "--json", "--combine", *names)
    assert r.status == 0 and r.out == MESSAGE
    (report,) = r.reports()
    single = hf("demodulate", "--json", names[2]).reports()[0]
    assert set(report) == set(single) | {"receivers"}
    assert report["mode"] == MODE and report["ended"] == "eom" and not report["joined"]
    assert report["octets"] == len(MESSAGE)
    assert report["start_s"] == pytest.approx(0.5, abs=0.03)
    duration = module.timing(MODE).duration(len(MESSAGE))
    assert report["end_s"] - report["start_s"] == pytest.approx(duration, abs=0.01)
    assert [one["recording"] for one in report["receivers"]] == names
    for k, one in enumerate(report["receivers"]):
        assert one["start_s"] == pytest.approx(0.5 + 0.8 * k, abs=0.03)
        assert one["freq_offset_hz"] == pytest.approx(20 * k - 30, abs=2)
    text = hf("demodulate", "--combine", *names).err
    assert all(f"\n  {name}: from " in text for name in names)


# Kinds of waveform: Walsh words, uncoded, a running code, wideband.
@pytest.mark.parametrize("mode, snr", [("4539-75S", -4), ("4539-4800N", 14), ("4539-600S", 0),
                                       ("4539-2400L", 6), ("5069-3k-1200S", 3)])
def test_kinds_of_waveforms(mode, snr):
    octets = MESSAGE[:60 if mode == "4539-75S" else 400]
    each = [heard(f"awgn snr={snr} clock={40 * k} offset={10 * k}", 7 + k, 0.5 + k, mode, octets)
            for k in range(3)]
    (message,) = module.combine(each)
    assert message["octets"] == octets and message["mode"] == mode and message["complete"]
    assert {part["receiver"] for part in message["parts"]} == {0, 1, 2}
    delays = [part["begin"] - part["receiver"] for part in message["parts"]]
    assert max(delays) - min(delays) < 0.03


def test_a_wide_bandwidth():
    mode = "5069-12k-4800S"
    sent = module.modulate(mode, MESSAGE)
    each = []
    for k in range(2):
        quiet = np.zeros(38400 * (1 + k) // 2, np.complex64)
        model = module.channel_model("awgn snr=8 bandwidth=12", 3 + k,
                                     module.mode(mode).mean_power, 38400)
        each.append(model.process(np.concatenate([quiet, sent, quiet])))
    (message,) = module.combine(each, bandwidth=12)
    assert message["octets"] == MESSAGE and len(message["parts"]) == 2


def test_a_second_reading_finds_a_start_that_only_others_have_found():
    # At 2 dB on Poor, receivers often miss the preamble of 0.12 s.
    each = [heard("poor snr=2", 300 + k, 0.5 + k / 2) for k in range(4)]
    silence = demodulation.silence()
    receivers = module.combining_receiver(4)
    started = []
    for reading in range(2):
        for k, samples in enumerate(each):
            receivers.push(k, samples)
            receivers.push(k, silence)
        parts = max((m["parts"] for m in receivers.combine()), key=len)
        started.append(sum(not part["joined"] for part in parts))
        assert receivers.again() == (reading == 0)
    assert started[0] < started[1]


def test_a_transmission_that_one_place_missed_is_there_too(hf, tmp_path):
    names = four(tmp_path)
    other = b"only cork hears this"
    quiet = np.zeros(4 * 9600, np.complex64)
    samples = np.concatenate([heard("awgn snr=20", 9), quiet,
                              heard("awgn snr=20", 10, octets=other)])
    write(tmp_path / "cork.wav", samples, 8000)
    r = hf("demodulate", "--json", "--combine", *names)
    assert r.status == 0 and r.out == MESSAGE + other
    assert [len(report["receivers"]) > 1 for report in r.reports()] == [True, False]


def test_one_that_hears_nothing_is_named(hf, tmp_path):
    names = four(tmp_path)
    write(tmp_path / "deaf.wav", module.channel_model("awgn snr=0", 5).process(
        np.zeros(9600 * 12, np.complex64)), 8000)
    r = hf("demodulate", "--combine", "-q", *names, "deaf.wav")
    assert r.status == 0 and r.out == MESSAGE
    assert r.err.startswith("hf: warning: deaf.wav: took no part")


@pytest.mark.parametrize("arguments, said", [
    ([], "0 recordings: allowed are 2 to 6"),
    (["a.wav"], "1 recording (a.wav): allowed are 2 to 6"),
    ([f"{k}.wav" for k in range(7)], "7 recordings (0.wav, "),
    (["a.wav", "-"], "-: standard input cannot be read twice"),
    (["a.wav", "a.wav"], "a.wav: is named twice"),
    (["a.wav", "./a.wav"], "./a.wav: is named twice"),
    (["a.wav", "b.wav", "--diversity", "c.wav"], "--diversity does not go with --combine"),
    (["a.wav", "b.wav", "--dump", "folder"], "--dump does not go with --combine"),
])
def test_wrong_use(hf, tmp_path, arguments, said):
    (tmp_path / "a.wav").touch()
    r = hf("demodulate", "--combine", *arguments)
    assert r.status == 2 and said in r.err and not r.out


def test_bad_recordings(hf, tmp_path):
    write(tmp_path / "a.wav", heard("awgn snr=20", 1), 8000)
    write(tmp_path / "b.wav", heard("awgn snr=20", 2, octets=MESSAGE[::-1]), 8000)
    write(tmp_path / "late.wav", heard("awgn snr=20", 2, 8), 8000)
    write(tmp_path / "empty.wav", np.full(9600, 1e-3, np.complex64), 8000)
    (tmp_path / "text.wav").write_text("no recording")
    for other, said in (
            ("b.wav", "share no transmission (a.wav has 1, b.wav has 1)"),
            ("late.wav", "started at most 3 s apart"),
            ("empty.wav", "share no transmission (a.wav has 1, empty.wav has 0)"),
            ("none.wav", "none.wav: "), ("text.wav", "text.wav: ")):
        r = hf("demodulate", "--combine", "a.wav", other)
        assert r.status == 1 and said in r.err and not r.out, other
        assert r.err.count("\n") == 1, r.err
    write(tmp_path / "empty2.wav", np.full(9600, 1e-3, np.complex64), 8000)
    r = hf("demodulate", "--combine", "empty.wav", "empty2.wav")
    assert r.status == 1 and "no transmission found in empty.wav (1.0 s), empty2.wav" in r.err


def test_several_recordings_need_the_option(hf):
    r = hf("demodulate", "a.wav", "b.wav")
    assert r.status == 2 and "2 recordings (a.wav, b.wav): more than one need --combine" in r.err


def test_numbers_of_arrays():
    for count in (0, 1, 7):
        with pytest.raises(ValueError, match=f"{count} recording.*allowed are 2 to 6"):
            combination.combine([np.zeros(10, np.complex64)] * count)
        with pytest.raises(ValueError, match=f"receivers = {count} is not in 2 to 6"):
            module.combining_receiver(count)
    with pytest.raises(ValueError, match="receiver 2: allowed are 0 to 1"):
        module.combining_receiver(2).push(2, np.zeros(10, np.complex64))
