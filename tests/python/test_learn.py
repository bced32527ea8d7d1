# SPDX-License-Identifier: GPL-3.0-or-later
"""hf channel --learn: the paths of a simulated recording come out as they were; the file plays."""
import json
import os
import re
import subprocess
import time

import numpy as np
import pytest
from click.testing import CliRunner
from gnuradio import gr, hf

from gnuradio.hf import station
from gnuradio.hf.channels import learn, tap_estimator
from gnuradio.hf.cli.channel import command
from gnuradio.hf.cli.demodulate import command as demodulate
from gnuradio.hf.recordings import channel_file, recording, sigmf
from gnuradio.hf.trial import findings


def run(tool, *arguments):
    return CliRunner(mix_stderr=False).invoke(tool, [str(a) for a in arguments])


def read(path):
    meta = json.loads(open(path, encoding="utf-8").read())["global"]
    gains = np.fromfile(path.replace("-meta", "-data"), "<c8")
    return meta, gains.reshape(-1, meta["core:num_channels"])


def record(spec, seed, folder, seconds, snr_db, mode, radios="offset=17 clock=-12"):
    """Write a recording of a transmission through a simulated channel, with noise and errors of
    the radios, and a channel file of the true paths. Returns their names.

    The true channel has 200 gains per second, and neither offset nor noise.
    """
    base = os.path.join(folder, f"{spec}-{seed}")
    timing, kind = hf.timing(mode), hf.mode(mode)
    octets = timing.octets_in(int(seconds * timing.symbol_rate_bd / timing.block_symbols))
    random = np.random.default_rng(seed)
    rate = 4 * timing.symbol_rate_bd
    signal = hf.modulate(mode, random.integers(0, 256, octets, dtype=np.uint8).tobytes())
    lead = np.zeros(int(0.5 * rate), np.complex64)
    model = hf.channel_model(f"{spec} {radios} snr={snr_db:g}", seed, kind.mean_power, rate)
    heard = model.process(np.concatenate([lead, signal, np.zeros(int(rate), np.complex64)]))
    sigmf.write_sigmf(base, rate, iter([heard]), f"{mode} over {spec}, seed {seed}",
                      lambda _: [])
    # Clock errors of a few ppm are negligible here, and their delay is not part of the paths.
    paths = hf.channel_model(spec, seed, 1.0, rate)
    gains_rate = rate / 48
    at = len(lead) + np.arange(0, len(signal), 48)
    delays = np.array(paths.delays_s)
    channel_file.write(base + "-true", gains_rate, list(delays - delays.min()), paths.gains(at),
                       f"the true {spec}, seed {seed}", {})
    return base + ".sigmf-meta", base + "-true.sigmf-meta"


def at(gains, rate, times):
    return np.stack([np.interp(times, np.arange(len(g)) / rate, g) for g in gains.T], axis=1)


def error(true, found, times):
    """Normalised mean square error, up to a carrier: it counts as offset."""
    products = np.sum(np.conj(true) * found, axis=1)
    turned = max((abs(np.sum(products * np.exp(-2j * np.pi * f * times))), f)
                 for f in np.linspace(-1, 1, 4001))[1]
    found = found * np.exp(-2j * np.pi * turned * times)[:, None]
    share = np.vdot(true, found) / np.vdot(true, true)
    return float(np.sum(np.abs(found / share - true) ** 2) / np.sum(np.abs(true) ** 2)), turned


@pytest.fixture(scope="module")
def poor(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learn")
    recorded, true = record("poor", 3, str(folder), 8.0, 18.0, "4539-2400S")
    done = run(command, "--learn", recorded, "--out", folder / "found")
    assert done.exit_code == 0, done.stderr
    return folder, true, str(folder / "found.sigmf-meta"), done


def test_paths_come_out_as_they_were(poor):
    _, true_path, found_path, done = poor
    (_, true), (meta, found) = read(true_path), read(found_path)
    assert meta["hf:delays_s"] == pytest.approx([0, 0.002], abs=1e-5)
    assert abs(meta["hf:offset_hz"] - 17) < 1 and abs(meta["hf:clock_ppm"] + 12) < 2
    assert 0.3 < min(meta["hf:spreads_hz"]) and max(meta["hf:spreads_hz"]) < 2.5
    assert np.mean(np.sum(np.abs(found) ** 2, axis=1)) == pytest.approx(1, abs=1e-3)
    times = np.arange(0.1, 7, 0.01)
    # The first gain of a file is that of the middle of its first window.
    late = 0.5 / meta["core:sample_rate"]
    nmse, turned = error(at(true, 200, times), at(found, meta["core:sample_rate"], times - late),
                         times)
    assert nmse < 10 ** -2.5
    assert abs(meta["hf:offset_hz"] + turned - 17) < 0.02
    assert "| 2.0" in done.stdout and "learned=" in done.stderr
    assert meta["hf:mode"] == "4539-2400S" and meta["hf:used"] == 1


def test_the_noise_is_told_and_not_kept(poor):
    folder, _, found_path, _ = poor
    meta, found = read(found_path)
    # in the recording the SNR is 18 dB for the long-term mean of the channel
    long_term = hf.channel_model("poor", 3, 1.0, 9600)
    gains = long_term.gains(4800 + np.arange(0, 8 * 9600, 96))
    power = np.mean(np.sum(np.abs(gains) ** 2, axis=1))
    assert abs(meta["hf:snr_db"] - 18 - 10 * np.log10(power)) < 0.7
    # how noise alone would look: gains that differ from one to the next
    assert np.mean(np.abs(np.diff(found, 2, axis=0)) ** 2) < 1e-3
    clean, played = folder / "clean.sigmf-meta", folder / "played"
    signal = hf.modulate("4539-600S", b"as on Tuesday " * 20)
    sigmf.write_sigmf(str(folder / "clean"), 9600, iter([signal]), "", lambda _: [])
    done = run(command, f"learned={found_path} snr=20", clean, played)
    assert done.exit_code == 0, done.stderr
    done = run(demodulate, str(played) + ".sigmf-meta")
    assert done.stdout_bytes == b"as on Tuesday " * 20


def test_a_block_that_was_decided_wrongly_is_left_out():
    rate, random = 9600, np.random.default_rng(1)
    sent = hf.modulate("4539-2400S", random.integers(0, 256, 2400, dtype=np.uint8).tobytes())
    model = hf.channel_model("poor snr=15", 5, 1.0, rate)
    received = model.process(sent)
    blocks = np.arange(0, len(sent), rate)
    wrong = sent.copy()
    wrong[3 * rate:4 * rate] = hf.modulate("4539-2400S", bytes(range(255)) * 9)[rate:2 * rate]
    found = tap_estimator.estimate(wrong, received, rate, blocks, 0.3)
    assert found.used == pytest.approx(1 - rate / len(sent), abs=1e-3)
    assert len(found.delays_s) == 2
    times = np.arange(0.5, len(sent) / rate - 1, 0.01)
    times = times[(times < 2.8) | (times > 4.2)]
    nmse, _ = error(model.gains(times * rate),
                    at(found.gains, found.rate, times - 0.5 / found.rate), times)
    assert nmse < 10 ** -2.2


@pytest.mark.parametrize("ppm", [-150, 80])
def test_fast_clocks_are_found(ppm, tmp_path):
    recorded, _ = record("moderate", 2, str(tmp_path), 10.0, 15.0, "4539-1200S", f"clock={ppm}")
    found = learn.learn(recorded, str(tmp_path / "found")).channel
    assert abs(found.clock_ppm - ppm) < 3
    assert found.delays_s == pytest.approx([0, 0.001], abs=2e-5)


def test_what_cannot_be_learned_from_is_refused(tmp_path):
    noise = np.random.default_rng(1).normal(size=(2, 20000)).astype(np.float32)
    sigmf.write_sigmf(str(tmp_path / "noise"), 9600, iter([noise[0] + 1j * noise[1]]), "",
                      lambda _: [])
    done = run(command, "--learn", tmp_path / "noise.sigmf-meta")
    assert done.exit_code == 1 and "no transmission is decoded" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["noise.sigmf-data", "noise.sigmf-meta"]
    assert run(command, "--learn", tmp_path / "none.wav").exit_code == 1
    assert run(command, "--out", "x").exit_code == 2
    assert run(command, "--learn", "x.wav", "poor", "a.wav", "b.wav").exit_code == 2
    done = run(command, f"learned={tmp_path}/noise.sigmf-meta", "a.wav", "b.wav")
    assert done.exit_code == 1
    # Nothing of the user's is replaced.
    (tmp_path / "mine.sigmf-meta").write_text("{}")
    done = run(command, "--learn", tmp_path / "noise.sigmf-meta", "--out", tmp_path / "mine")
    assert done.exit_code == 2 and "not written by hf" in done.stderr


def test_files_that_are_no_channels_are_named(tmp_path):
    channel_file.write(str(tmp_path / "a"), 50, [0, 0.001], np.ones((10, 2)), "", {})
    first, second = hf.channel_model(f"learned={tmp_path}/a").delays_s
    assert second - first == pytest.approx(0.001)
    meta = json.loads((tmp_path / "a.sigmf-meta").read_text())
    for key, value in (("core:datatype", "ci16_le"), ("core:sample_rate", 0),
                       ("hf:delays_s", [0, 7]), ("core:num_channels", 3)):
        wrong = {**meta, "global": {**meta["global"], key: value}}
        (tmp_path / "b.sigmf-meta").write_text(json.dumps(wrong))
        with pytest.raises(ValueError, match=re.escape(f"{tmp_path}/b.sigmf-meta: {key}")):
            hf.channel_model(f"learned={tmp_path}/b")


def test_the_longest_transmission_counts(tmp_path):
    parts = []
    for octets in (40, 900):
        parts += [np.zeros(9600, np.complex64), hf.modulate("4539-1200S", bytes(range(200)) * 5)
                  if octets > 100 else hf.modulate("4539-600S", bytes(octets))]
    parts.append(np.zeros(9600, np.complex64))
    sigmf.write_sigmf(str(tmp_path / "two"), 9600, iter(parts), "", lambda _: [])
    got = learn.heard(recording.open_recording(str(tmp_path / "two.sigmf-meta")), 0.0, 3)
    assert got.mode == "4539-1200S" and got.start_s > 2


@pytest.fixture
def channel(tmp_path):
    """Words of a channel that was written here: two paths that turn against each other."""
    path = tmp_path / "two paths.sigmf-meta"
    turns = np.exp(2j * np.pi * 0.2 * np.arange(3000) / 50)
    channel_file.write(str(path), 50, [0, 1e-3],
                       np.stack([np.ones_like(turns), 0.5 * turns], axis=1), "of a test", {})
    return f'learned="{path}"'


def test_blocks_of_stations_talk_over_a_learned_channel(channel):
    mode = hf.mode("4539-2400S")
    air = hf.air(2, f"{channel} snr=25", 1, 0.0, mode.mean_power)
    tb, clients, nodes = gr.top_block(), [], ["1.2.0.1", "1.2.0.2"]
    for k, node in enumerate(nodes):
        s = station.Station(tb, station.Description(node, str(mode)), air.source(k), air.sink(k))
        clients.append(hf.traffic(nodes[1 - k], 2000 if k == 0 else 0))
        s.add_client(tb, clients[-1])
    tb.start()
    deadline = time.monotonic() + 120
    while clients[0].state().octets_confirmed < 2000 and time.monotonic() < deadline:
        time.sleep(0.05)
    air.end()
    tb.stop()
    tb.wait()
    assert clients[0].state().octets_confirmed == 2000


def hf_(*arguments):
    done = subprocess.run(["hf", *arguments], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done


def test_the_demo_runs_over_a_learned_channel(channel, tmp_path):
    done = hf_("demo", "--rate", "2400", "--size", "1000", "--speed", "1000", "--channel", channel,
               "--snr", "25", "--picture", str(tmp_path / "demo.png"))
    assert "of 2400 bit/s" in done.stderr and (tmp_path / "demo.png").exists()


def test_station_files_and_trials_run_over_a_learned_channel(channel, tmp_path):
    for number in (1, 2):
        (tmp_path / f"{number}.toml").write_text(f'address = "1.2.0.{number}"\n'
                                                 'mode = "4539-2400S"\n')
    files = [str(tmp_path / f"{number}.toml") for number in (1, 2)]
    hf_("run", *files, "--channel", f"{channel} snr=25", "--duration", "2", "--speed", "100")
    (tmp_path / "plan.toml").write_text(
        'name = "learned"\nperiod_s = 60\nguard_s = 1\n'
        + "".join(f'[[station]]\naddress = "1.2.0.{n}"\nfile = "{n}.toml"\n' for n in (1, 2))
        + '[[test]]\nkind = "ping"\ncount = 1\noctets = 50\nsender = "1.2.0.1"\nslot_s = 30\n'
        + f"[air]\nchannel = '{channel} snr=25'\n")
    hf_("trial", "run", str(tmp_path / "plan.toml"), "--dry", "--rounds", "1", "--folder",
        str(tmp_path / "kept"))
    (ping,) = findings.read([str(tmp_path / "kept" / f"1.2.0.{k}.db") for k in (1, 2)]).rows
    assert ping.states == {"done": 1} and len(ping.round_trips) == 1
