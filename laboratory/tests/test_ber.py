# SPDX-License-Identifier: GPL-3.0-or-later
"""hf-lab ber: figures that repeat, tables, interruptions, wrong use."""
import random

import pytest
from click.testing import CliRunner

from gnuradio import hf
from hflab.cli import bench
from hflab.cli.ber import command
from gnuradio.hf.simulation import block_errors as errors
from hflab import sweep
from hflab.receiver import acquisition, ber, curves
from hflab.receiver import standard
from hflab.receiver import tally
from hflab import experiments

POINT = ber.Point("4539-600S", "awgn snr=-1", 4.0)


def measure(store, jobs=2, point=POINT, stop=ber.Stop(20, 40), one=ber.trial):
    with sweep.Pool(jobs).open() as workers:
        return ber.measure(point, stop, workers, store, one=one)


def without_cpu(result):
    return result._replace(cpu_s=0)


def test_a_trial_counts_errors_and_losses():
    good = experiments.ber_trial("4539-2400S", "awgn snr=15 offset=40", 3, 1)
    assert good["errors"] == 0 and good["bad_blocks"] == 0 and good["found"] and good["ended"]
    assert good["receptions"] == 1 and good["blocks"] == 5
    assert good["offset_hz"] == pytest.approx(40, abs=1)
    gone = experiments.ber_trial("4539-2400S", "awgn snr=-30", 3, 1)
    assert not gone["found"] and gone["errors"] == gone["bits"] // 2
    assert gone["bad_blocks"] == gone["blocks"]
    with pytest.raises(ValueError, match="effort"):
        experiments.ber_trial("4539-2400S", "awgn snr=15", 3, 1, effort=3)


def test_the_number_of_processors_changes_nothing():
    one, three = measure(ber.store(), 1), measure(ber.store(), 3)
    assert without_cpu(one) == without_cpu(three)
    assert 0 < one.bad_blocks < one.blocks
    low, high = one.ber_interval()
    assert low < one.ber < high


def test_an_interrupted_sweep_goes_on(tmp_path):
    path = tmp_path / "sweep.csv"
    store = ber.store(str(path))
    whole = measure(store)
    store.close()
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:3]) + "\n" + lines[3][:20])  # two trials and a piece
    calls = []

    def counted(point, seed):
        calls.append(seed)
        return ber.trial(point, seed)

    store = ber.store(str(path))
    again = measure(store, one=counted)
    store.close()
    assert without_cpu(again) == without_cpu(whole)
    assert calls and min(calls) == 3
    calls.clear()
    assert without_cpu(measure(ber.store(str(path)), 1, one=counted)) == without_cpu(whole)
    assert calls == []


def test_intervals_are_those_of_clopper_and_pearson():
    assert ber.interval(0, 100, 0.95) == pytest.approx((0, 0.0362), abs=1e-4)
    assert ber.interval(10, 100, 0.95) == pytest.approx((0.0490, 0.1762), abs=1e-4)
    assert ber.interval(5, 5, 0.95)[1] == 1


def test_the_estimate_lies_in_the_interval_as_printed():
    rng = random.Random(1)
    for _ in range(2000):
        blocks = rng.randint(1, 3000)
        bad = rng.choice([0, blocks, rng.randint(0, blocks)])
        bits = blocks * 1000
        r = ber.Result(POINT, 1, bits, rng.randint(bad, max(bad, bad * 500)), blocks, bad, 0, 0,
                       0, 1.0, 1.0)
        cells = [c.strip() for c in ber.table([r]).splitlines()[-1].split("|")]
        low, high = map(float, cells[4].split(" to "))
        assert "0.0e" not in cells[4]
        assert low <= float(cells[3]) <= high, cells
        exact = r.ber_interval()
        assert low <= exact[0] and exact[1] <= high
        assert high <= exact[1] * 1.1 + 1e-12 and low >= exact[0] * 0.9 - 1e-12


@pytest.mark.parametrize("text, values", [
    ("20:26:1", [20, 21, 22, 23, 24, 25, 26]), ("-3:3:2", [-3, -1, 1, 3]), ("5:5:1", [5]),
    ("0:1:0.1", [0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1]), ("0:1:0.4", [0, .4, .8]),
    ("0.1:0.7:0.3", [.1, .4, .7]), ("1,3,2.5", [1, 3, 2.5]), ("-0.3:0:0.1", [-.3, -.2, -.1, 0])])
def test_a_range_holds_both_of_its_ends(text, values):
    assert sweep.values(text) == pytest.approx(values, abs=1e-9)


@pytest.mark.parametrize("text", ["1:2", "1:2:0", "1:2:-1", "2:1:1", "0:1e9:1", "a:b:c", "nan:1:1",
                                  "0:inf:1", ""])
def test_what_is_no_range_is_said(text):
    with pytest.raises(ValueError, match="FIRST:LAST:STEP"):
        sweep.values(text)


def test_every_row_of_the_standard_can_be_run():
    rows = standard.rows()
    assert len(rows) == 35 + 177
    assert len({r.id for r in rows}) == len(rows)
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


def test_targets_are_below_the_limits_and_measured_there():
    wide = standard.wideband_rows()
    assert all(r.target_db is not None and r.target_db <= r.snr_db for r in wide)
    by_id = {r.id: r for r in wide}
    assert by_id["D48-8-POOR"].target_db == 17.5 and by_id["D12-3-POOR"].target_db == 4.0
    assert by_id["D24-8-AWGN"].target_db == pytest.approx(13.5)
    asked = []

    def run(point, stop):
        asked.append((point.channel, stop.bad_blocks))
        return ber.Result(point, 1, 100000, 0, 10, 0, 0, 0, 0, 1, 1)

    outcome = standard.check(by_id["D48-8-POOR"], 1, 1, False, run, at_target=True)
    assert asked == [("paths=0:0:1,2:0:1 snr=17.5", standard.MISSED_AFTER)]
    assert outcome.met and outcome.needs_db == 17.5
    assert "| 23 | 17.5 |" in standard.table([outcome])
    with pytest.raises(ValueError, match="no target"):
        standard.check(standard.narrowband_rows()[0], 1, 1, False, run, at_target=True)


def test_a_row_is_accepted_where_enough_is_shown():
    row = {r.id: r for r in standard.wideband_rows()}["D12-8-POOR"]
    asked = []

    def run(point, stop, seed):
        snr = float(point.channel.split("snr=")[1])
        asked.append((snr, stop.bits, seed))
        blocks = stop.bits // 100000
        # 17.5: too many errors; 18: as many as allowed, never shown; 18.5: one lost; 19: shown.
        bad = {17.5: blocks // 2, 18.0: blocks // 5}.get(snr, 0)
        return ber.Result(point, 3, stop.bits, bad * {17.5: 100, 18.0: 4}.get(snr, 0), blocks, bad,
                          int(snr == 18.5), 0, 0, stop.air_s, 1)

    outcome = standard.accept(row, 1, run)
    assert outcome.needs_db == outcome.at_db == 19.0
    assert (outcome.at_limit.bits, outcome.at_limit.air_s) == (3_000_000, 600.0)
    assert [a[1:] for a in asked if a[0] == 17.5] == [(1_500_000, 1), (1_500_000, 1_000_001)]
    assert [bits for snr, bits, _ in asked if snr == 18.0] == [
        1_500_000, 1_500_000, 3_000_000, 3_000_000, 4_500_000, 4_500_000]
    assert len([a for a in asked if a[0] == 18.5]) == 2

    def hopeless(point, stop, seed):
        return ber.Result(point, 1, stop.bits, stop.bits // 10, 30, 30, 0, 0, 0, stop.air_s, 1)

    missed = standard.accept(row, 1, hopeless)
    assert (missed.needs_db, missed.at_db) == (None, 23.0) and not missed.met
    with pytest.raises(ValueError, match="no target"):
        standard.accept(standard.narrowband_rows()[0], 1, run)


@pytest.mark.parametrize("more", [["--seed", "5"], ["--scale", "0.1"], ["--search"],
                                  ["--at-target"]])
def test_accepting_takes_no_other_amount_or_seeds(more):
    done = CliRunner(mix_stderr=False).invoke(
        command, ["standard", "--row", "D12-8-POOR", "--accept", *more])
    assert done.exit_code == 2 and "--a" in done.stderr


def test_the_bound_is_poisson():
    point = ber.Point("5069-3k-600L", "awgn snr=0")
    none = ber.Result(point, 1, 1_000_000, 0, 100, 0, 0, 0, 0, 1, 1)
    assert standard.upper_bound(none) == pytest.approx(3.689e-6, rel=1e-3)
    four = none._replace(errors=40, bad_blocks=4)  # 4 events: at most 10.24
    assert standard.upper_bound(four) == pytest.approx(1.024e-4, rel=1e-3)


def test_acquisition_is_counted():
    easy = acquisition.Condition("4539-600S", "awgn", 5.0, 0.995)
    with sweep.Pool(2).open() as workers:
        good = acquisition.measure(easy, 20, workers, 1, tally.counts())
        bad = acquisition.measure(easy._replace(snr_db=-30), 20, workers, 1, tally.counts())
    assert (good.found, bad.found) == (20, 0)
    table = acquisition.table([good, bad])
    assert "| 20 of 20 | 100.0 % |" in table and "MISSED" in table
    # every mode has a threshold on AWGN and one on its fading channel
    assert len(acquisition.conditions()) == 2 * len(acquisition.FADING)


def test_acquisition_of_a_bandwidth():
    weakest = acquisition.conditions(12, 2)[0]
    # 0.7 dB above the ideal receiver of waveform 0, which needs -10.7 dB.
    assert weakest == ("5069-12k-300S", "awgn", -10.0, 0.995, 2)
    assert [c.channel for c in acquisition.conditions(48)].count("poor") == 11
    # The mode's own number of super-frames, as in the files of measurements.
    three, one = acquisition.conditions(3, waveforms=(0, 3))[::2]
    assert (three.mode, three.preambles, one.preambles) == ("5069-3k-75S", 3, 1)
    assert "| 5069-3k-75S | 3 | awgn |" in acquisition.table([acquisition.Outcome(three, 1, 1)])
    with sweep.Pool(2).open() as workers:
        found = acquisition.measure(weakest, 10, workers, 1, tally.counts())
    assert found.found >= 9
    assert "| 5069-12k-300S | 2 | awgn | -10 |" in acquisition.table([found])


def run(*arguments):
    done = CliRunner(mix_stderr=False).invoke(command, arguments)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def test_acquisition_by_command():
    assert "| 5069-6k-150S | 2 | awgn |" in run("acquisition", "--bandwidth", "6", "--trials", "1",
                                                "--waveform", "0")


def test_what_was_found_and_heard_is_kept(tmp_path):
    counts, noise = str(tmp_path / "found.csv"), str(tmp_path / "noise.csv")
    silence = ("noise", "--hours", "0.01", "--bandwidth", "6", "--csv", noise, "-j", "1")
    said = run(*silence)
    assert said == run(*silence)
    assert "6 kHz, awgn snr=0: 0 found in 0.01 h of noise" in said
    easy = acquisition.Condition("5069-6k-6400S", "awgn", 20.0, 0.995)
    with sweep.Pool(1).open() as workers:
        with tally.counts(counts) as kept:
            first = acquisition.measure(easy, 3, workers, 1, kept)
        # Kept points are not measured again. Only additional ones are.
        with tally.counts(counts) as again:
            assert [r.found for r in again.rows()] == [3]
            again.add(again.rows()[0]._replace(found=2))
            assert acquisition.measure(easy, 3, workers, 1, again).found == 2
            assert acquisition.measure(easy, 4, workers, 1, again).found == 4
    assert first.found == 3
    assert [r.trials for r in sweep.read(tally.Found, counts)] == [3, 3, 4]
    with tally.counts(counts) as compact:
        assert [r.trials for r in compact.rows()] == [4]
    assert [r.seconds for r in sweep.read(tally.Noise, noise)] == [36.0]
    (tmp_path / "bad.csv").write_text(",".join(tally.Found._fields) + "\nx,y,z,1,1,1,1\n")
    with pytest.raises(ValueError, match="bad.csv, line 2"):
        tally.counts(str(tmp_path / "bad.csv"))


def test_upper_bound_of_false_starts():
    assert tally.most_a_day(0, 24) == pytest.approx(3.0, abs=0.01)  # the rule of three
    assert tally.most_a_day(1, 48) == pytest.approx(4.74 / 2, abs=0.01)
    rows = [tally.Noise(3, "awgn snr=0", 1, 1800.0, seed, found)
            for seed, found in ((1, ""), (2, "5069-3k-75S 4539-75S"))]
    assert "| 3 kHz | awgn snr=0 | 1.0 | 2 |" in tally.noise_table(rows)


def test_threshold_lies_between_the_points_around_it():
    def at(snr, bad, lost=0):
        return errors.Point("5069-3k-600S", "awgn", snr, 10, lost, 100, bad, 0.5, 20260101)

    curves = {("awgn", "5069-3k-600S"): [at(0, 50), at(2, 10, 2), at(4, 0), at(6, 1)]}
    share = 1 - 0.9 * 0.8  # of lost transmissions and bad blocks at 2 dB
    found = errors.threshold("5069-3k-600S", "awgn", curves)
    assert found == (pytest.approx(2 + 2 * (share - 0.1) / share, abs=0.06), "5069-3k-600S")
    wide = next(str(m) for m in hf.mode.all() if m.waveform == 3 and m.bandwidth_hz == 48000
                and m.interleaver == "S" and m.constraint_length == 7)
    assert errors.threshold(wide, "awgn", curves) == found
    assert errors.threshold("5069-3k-600S", "poor", curves) is None
    curves[("awgn", "5069-3k-600S")].append(at(8, 20))
    assert errors.threshold("5069-3k-600S", "awgn", curves) is None


def test_what_is_found_in_noise_is_counted():
    with sweep.Pool(2).open() as workers:
        assert acquisition.noise("awgn snr=0", 0.2, ber.Reception(), workers) == []
    # and a signal is not missed: a transmission is not noise
    heard = hf.receiver().push(hf.modulator(hf.mode("4539-600S"), b"x").read(1 << 20))
    assert any(e["type"] == "start" for e in heard)


def test_trials_run_on_a_dask_cluster():
    distributed = pytest.importorskip("distributed", reason="python3-distributed is not installed")
    with distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None,
                                  host="127.0.0.1") as cluster:
        done = CliRunner(mix_stderr=False).invoke(command, [
            "run", "--mode", "4539-600S", "--snr", "-1", "--seconds", "4", "--max-bad", "20",
            "--max-time", "40", "--scheduler", cluster.scheduler_address])
        faults = CliRunner(mix_stderr=False).invoke(bench.command, [
            "faults", "--hours", "2", "--each", "1", "--scheduler", cluster.scheduler_address])
    assert done.exit_code == 0, done.stderr
    assert faults.exit_code == 0 and "2 runs, seeds 1 to 2" in faults.stdout
    here = measure(ber.store())
    assert f"{here.bad_blocks} of {here.blocks}" in done.stdout


def test_every_experiment_can_run_on_a_dask_cluster():
    """All of them have the options of the pool."""
    for group, names in ((command, ["run", "standard", "acquisition", "noise"]),
                         (bench.command, ["link", "faults", "papers", "interactive", "adaptive",
                                          "curves"])):
        for name in names:
            assert {"jobs", "scheduler"} <= {p.name for p in group.commands[name].params}, name


def test_command(tmp_path):
    runner = CliRunner(mix_stderr=False)
    plot = tmp_path / "a.png"
    done = runner.invoke(command, ["run", "--mode", "4539-600S", "--snr", "-2,8", "--seconds",
                                   "2", "--max-time", "10", "--plot", str(plot)])
    assert done.exit_code == 0, done.stderr
    assert "| 4539-600S | awgn snr=8 | 0.00e+00" in done.stdout
    assert plot.read_bytes().startswith(b"\x89PNG")
    done = runner.invoke(command, ["standard", "--row", "P03", "--scale", "0.005"])
    assert done.exit_code == 0, done.stderr
    assert "| P03 | 4539-2400L | AWGN | 10 | 10 | 1e-05 | 0.0e+00" in done.stdout
    assert "| met |" in done.stdout


@pytest.mark.parametrize("arguments, text", [
    (["run", "--snr", "1"], "--mode"),
    (["run", "--mode", "4539-600S"], "--snr"),
    (["run", "--mode", "4539-601S", "--snr", "1"], "4539-601S"),
    (["run", "--mode", "4539-600S", "--snr", "1:2"], "FIRST:LAST:STEP"),
    (["run", "--mode", "4539-600S", "--snr", "1", "--channel", "wet"], "wet"),
    (["run", "--mode", "4539-600S", "--snr", "1", "--genie", "--diversity", "2"], "--genie"),
    (["run", "--mode", "4539-600S", "--snr", "1", "--bound", "--diversity", "2"], "--bound"),
    (["standard", "--bound"], "--bound goes with --search"),
    (["standard", "--row", "P99"], "P01 to P35"),
    (["standard", "--at-target", "--search"], "only one of"),
    (["standard", "--row", "P03", "--at-target"], "no row P03"),
    (["acquisition", "--bandwidth", "7"], "--bandwidth"),
    (["noise", "--channel", "dry"], "dry"),
])
def test_wrong_use(arguments, text):
    done = CliRunner(mix_stderr=False).invoke(command, arguments)
    assert done.exit_code == 2
    assert text in done.stderr


def test_the_receiver_is_above_the_bound_and_near_it():
    wrong = {r: sum(ber.trial(ber.Point("4539-9600S", "poor snr=21", 13, 1, r), s).errors
                    for s in (1, 2)) for r in (ber.Receiver.HF, ber.Receiver.BOUND)}
    assert wrong[ber.Receiver.BOUND] < wrong[ber.Receiver.HF]
    outcome = CliRunner(mix_stderr=False).invoke(command, [
        "standard", "--row", "P03", "--scale", "0.001", "--search", "--bound"])
    head, _, row = outcome.stdout.splitlines()[:3]
    needs, bound, above = (float(dict(zip(head.split("|"), row.split("|")))[f" {name} dB "])
                           for name in ("needs", "bound", "above it"))
    assert above == needs - bound and 4 < bound < 10  # of a single block
    with pytest.raises(ValueError, match="clock"):
        ber.trial(ber.Point("4539-9600S", "poor snr=9 clock=9", 3, 1, ber.Receiver.BOUND), 1)


def test_a_known_channel_helps_the_receiver():
    own = sum(experiments.ber_trial("4539-9600S", "poor snr=21", 13, s)["errors"] for s in (1, 2))
    known = sum(experiments.ber_trial("4539-9600S", "poor snr=21", 13, s, genie=True)["errors"]
                for s in (1, 2))
    assert known < own * 3 / 4
    with pytest.raises(ValueError, match="clock"):
        experiments.ber_trial("4539-9600S", "poor snr=23 clock=10", 3, 1, genie=True)


def test_a_file_of_trials_is_drawn(tmp_path):
    path, picture = str(tmp_path / "t.csv"), tmp_path / "t.png"
    store = ber.store(path)
    result = measure(store)
    store.close()
    outcome = CliRunner().invoke(command, ["plot", path, str(picture)])
    assert outcome.exit_code == 0 and picture.stat().st_size > 1000
    assert f"{result.ber:.2e}" in outcome.output
    outcome = CliRunner().invoke(command, ["plot", path + "x", str(picture)])
    assert outcome.exit_code == 1 and "no such file" in outcome.output


def test_no_error_seen_is_an_arrow_below_its_upper_bound(monkeypatch, tmp_path):
    from matplotlib import axes
    arrows, points = [], []
    annotate, semilogy = axes.Axes.annotate, axes.Axes.semilogy
    monkeypatch.setattr(axes.Axes, "annotate", lambda self, text, xy, xytext, **k: (
        arrows.append((xytext, xy)), annotate(self, text, xy, xytext, **k))[1])
    monkeypatch.setattr(axes.Axes, "semilogy", lambda self, x, y, *a, **k: (
        points.extend(zip(x, y)), semilogy(self, x, y, *a, **k))[1])
    results = [ber.Result(ber.Point("4539-600S", f"awgn snr={snr}", 1, 1), 1, 100_000,
                          errors, 10, bad, 0, 0, 0, 1, 1)
               for snr, errors, bad in ((2, 100, 3), (4, 0, 0))]
    path = tmp_path / "curves.png"
    curves.draw(results, str(path))
    assert path.stat().st_size > 1000
    assert points == [(2.0, 1e-3)]
    (tail, head), = arrows
    bound = results[1].ber_interval()[1]
    assert tail == (4.0, bound) and head[0] == 4.0 and head[1] < bound
    assert 3e-5 < bound < 4e-5  # 3.7 over 100000 bits
