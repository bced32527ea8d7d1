# SPDX-License-Identifier: GPL-3.0-or-later
"""hf ber: figures that repeat, tables, interruptions, wrong use."""
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner

from gnuradio import hf
from gnuradio.hf.cli.ber import command
from gnuradio.hf.measure import acquisition, ber, standard

POINT = ber.Point("4539-600S", "awgn snr=-1", 4.0)


def measure(store, jobs=2, point=POINT, stop=ber.Stop(20, 40)):
    with ThreadPoolExecutor(jobs) as executor:
        return ber.measure(point, stop, executor, jobs, store)


def without_cpu(result):
    return result._replace(cpu_s=0)


def test_a_trial_counts_errors_and_losses():
    good = hf.ber_trial("4539-2400S", "awgn snr=15 offset=40", 3, 1)
    assert good["errors"] == 0 and good["bad_blocks"] == 0 and good["found"] and good["ended"]
    assert good["receptions"] == 1 and good["blocks"] == 5
    assert good["offset_hz"] == pytest.approx(40, abs=1)
    gone = hf.ber_trial("4539-2400S", "awgn snr=-30", 3, 1)
    assert not gone["found"] and gone["errors"] == gone["bits"] // 2
    assert gone["bad_blocks"] == gone["blocks"]
    with pytest.raises(ValueError, match="effort"):
        hf.ber_trial("4539-2400S", "awgn snr=15", 3, 1, effort=3)


def test_the_number_of_processors_changes_nothing():
    one, three = measure(ber.Store(), 1), measure(ber.Store(), 3)
    assert without_cpu(one) == without_cpu(three)
    assert 0 < one.bad_blocks < one.blocks
    low, high = one.ber_interval()
    assert low < one.ber < high


def test_an_interrupted_sweep_goes_on(tmp_path, monkeypatch):
    path = tmp_path / "sweep.csv"
    store = ber.Store(str(path))
    whole = measure(store)
    store.close()
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:3]) + "\n" + lines[3][:20])  # two trials and a piece
    calls = []
    real = ber.trial
    monkeypatch.setattr(ber, "trial", lambda p, s: calls.append(s) or real(p, s))
    store = ber.Store(str(path))
    again = measure(store)
    store.close()
    assert without_cpu(again) == without_cpu(whole)
    assert calls and min(calls) == 3
    calls.clear()
    assert without_cpu(measure(ber.Store(str(path)), 1)) == without_cpu(whole)
    assert calls == []


def test_intervals_are_those_of_clopper_and_pearson():
    assert ber.interval(0, 100, 0.95) == pytest.approx((0, 0.0362), abs=1e-4)
    assert ber.interval(10, 100, 0.95) == pytest.approx((0.0490, 0.1762), abs=1e-4)
    assert ber.interval(5, 5, 0.95)[1] == 1


def test_every_row_of_the_standard_can_be_run():
    rows = standard.rows()
    assert len(rows) == 35
    for row in rows:
        assert hf.mode(row.mode).rate_bps > 0
        hf.channel_model(row.channel)
    by_id = {r.id: r for r in rows}
    assert by_id["P14"].mode == "4539-9600VL" and by_id["P14"].snr_db == 31
    assert by_id["P25"].channel == "awgn offset=75 sweep=3.5" and by_id["P25"].whole
    assert by_id["P23"].max_ber is None
    assert standard.ideal_awgn_db(9600) == pytest.approx(18.4, abs=0.3)


def test_the_search_finds_the_edge():
    row = standard.Row("X", "4539-600S", "awgn", 10.0, 1e-5, 1, False, "")

    def run(point, stop):
        snr = float(point.channel.split("snr=")[1])
        errors = 0 if snr >= 3.3 else 1000
        return ber.Result(point, 1, 100000, errors, 10, errors > 0, 0, 0, 0, 1, 1)

    assert standard.check(row, 1, 1, True, run).needs_db == 3.5
    bad = standard.check(row._replace(snr_db=2.0), 1, 1, True, run)
    assert not bad.met and bad.needs_db is None


def test_acquisition_is_counted():
    easy = acquisition.Condition("4539-600S", "awgn", 5.0, 0.995)
    with ThreadPoolExecutor(2) as executor:
        good = acquisition.measure(easy, 20, executor, 2, ber.Store(), 1)
        bad = acquisition.measure(easy._replace(snr_db=-30), 20, executor, 2, ber.Store(), 1)
    assert (good.found, bad.found) == (20, 0)
    table = acquisition.table([good, bad])
    assert "| 20 of 20 | 100.0 % |" in table and "MISSED" in table
    # every mode has a threshold on AWGN and one on its fading channel
    assert len(acquisition.conditions()) == 2 * len(acquisition.FADING)


def test_what_is_found_in_noise_is_counted():
    with ThreadPoolExecutor(2) as executor:
        assert acquisition.silence("awgn snr=0", 0.2, 1, executor, 1) == []
    # and something that is there is not missed: a transmission is not noise
    heard = hf.receiver().push(hf.modulator(hf.mode("4539-600S"), b"x").read(1 << 20))
    assert any(e["type"] == "start" for e in heard)


def test_trials_run_on_a_dask_cluster():
    distributed = pytest.importorskip("distributed", reason="python3-distributed is not installed")
    with distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None,
                                  host="127.0.0.1") as cluster:
        done = CliRunner(mix_stderr=False).invoke(command, [
            "--mode", "4539-600S", "--snr", "-1", "--seconds", "4", "--max-bad", "20",
            "--max-time", "40", "--scheduler", cluster.scheduler_address])
    assert done.exit_code == 0, done.stderr
    here = measure(ber.Store())
    assert f"{here.bad_blocks} of {here.blocks}" in done.stdout


def test_command(tmp_path):
    runner = CliRunner(mix_stderr=False)
    plot = tmp_path / "a.png"
    done = runner.invoke(command, ["--mode", "4539-600S", "--snr", "-2,8", "--seconds", "2",
                                   "--max-time", "10", "--plot", str(plot)])
    assert done.exit_code == 0, done.stderr
    assert "| 4539-600S | awgn snr=8 | 0.00e+00" in done.stdout
    assert plot.read_bytes().startswith(b"\x89PNG")
    done = runner.invoke(command, ["--standard", "--row", "P03", "--scale", "0.005"])
    assert done.exit_code == 0, done.stderr
    assert "| P03 | 4539-2400L | AWGN | 10 | 1e-05 | 0.0e+00" in done.stdout
    assert "| met |" in done.stdout


@pytest.mark.parametrize("arguments, text", [
    ([], "either --standard"),
    (["--mode", "4539-600S"], "--mode needs --snr"),
    (["--mode", "4539-601S", "--snr", "1"], "4539-601S"),
    (["--mode", "4539-600S", "--snr", "1:2"], "FIRST:LAST:STEP"),
    (["--mode", "4539-600S", "--snr", "1", "--channel", "wet"], "wet"),
    (["--standard", "--row", "P99"], "P01 to P35"),
    (["--standard", "--acquisition"], "either --standard"),
    (["--silence", "1", "--channel", "dry"], "dry"),
])
def test_wrong_use(arguments, text):
    done = CliRunner(mix_stderr=False).invoke(command, arguments)
    assert done.exit_code == 2
    assert text in done.stderr


def test_a_known_channel_bounds_the_receiver():
    own = sum(hf.ber_trial("4539-9600S", "poor snr=21", 13, s)["errors"] for s in (1, 2))
    known = sum(hf.ber_trial("4539-9600S", "poor snr=21", 13, s, genie=True)["errors"]
                for s in (1, 2))
    assert known < own * 3 / 4
    with pytest.raises(ValueError, match="clock"):
        hf.ber_trial("4539-9600S", "poor snr=23 clock=10", 3, 1, genie=True)
    outcome = CliRunner().invoke(command, ["--standard", "--genie"])
    assert outcome.exit_code == 2 and "--genie needs --mode" in outcome.output


def test_a_file_of_trials_is_drawn(tmp_path):
    path, picture = str(tmp_path / "t.csv"), tmp_path / "t.png"
    store = ber.Store(path)
    result = measure(store)
    store.close()
    outcome = CliRunner().invoke(command, ["--csv", path, "--plot", str(picture)])
    assert outcome.exit_code == 0 and picture.stat().st_size > 1000
    assert f"{result.ber:.2e}" in outcome.output
    outcome = CliRunner().invoke(command, ["--csv", path + "x", "--plot", str(picture)])
    assert outcome.exit_code == 1 and "no such file" in outcome.output
