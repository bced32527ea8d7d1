# SPDX-License-Identifier: GPL-3.0-or-later
"""Measuring many points, and the options of an experiment on the command line."""
from dataclasses import dataclass
import itertools
import threading
from typing import NamedTuple, Optional, Tuple

import click
from click.testing import CliRunner
import pytest

from gnuradio.hf.cli._options import options
from hflab import sweep
from gnuradio.hf.options import option


class Row(NamedTuple):
    name: str
    number: int
    good: bool
    value: float


def made(number, value):
    return Row("a", number, True, float(value))


@pytest.mark.parametrize("processes", [False, True])
def test_rows_come_in_the_order_of_the_points(processes):
    with sweep.Pool(3).open(processes) as workers:
        rows = list(sweep.run(made, [(n, n * n) for n in range(20)], workers))
    assert rows == [made(n, n * n) for n in range(20)]


def test_points_may_be_endless_and_few_are_measured_ahead():
    asked = []
    with sweep.Pool(2).open() as workers:
        source = sweep.run(lambda n: asked.append(n) or n, ((n,) for n in itertools.count()),
                           workers)
        assert [next(source) for _ in range(5)] == [0, 1, 2, 3, 4]
        source.close()
    assert len(asked) <= 6


def test_what_is_known_is_not_measured():
    with sweep.Pool(1).open() as workers:
        assert list(sweep.run(lambda n: -n, [(1,), (2,), (3,)], workers,
                              lambda n: 100 if n == 2 else None)) == [-1, 100, -3]


def test_an_error_of_a_point_is_that_of_the_sweep():
    started = threading.Event()

    def fails(n):
        started.set()
        raise ValueError(f"point {n}")

    with sweep.Pool(2).open() as workers, pytest.raises(ValueError, match="point 7"):
        list(sweep.run(fails, [(7,), (8,)], workers))
    assert started.is_set()


def test_a_store_resumes_and_forgets_a_line_that_was_cut_off(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [Row("a, b", 1, True, 0.1), Row("", 2, False, 1e-9), Row("a, b", 3, True, 2.0)]
    with sweep.Store(Row, 2, str(path)) as store:
        for row in rows:
            store.add(row)
    assert path.read_text().splitlines()[:2] == ["name,number,good,value", '"a, b",1,1,0.1']
    path.write_text(path.read_text() + "a,4,1,3")  # another row would be a,4,1,37.5
    with sweep.Store(Row, 2, str(path), lambda row: row.number != 3) as store:
        assert store.rows() == rows[:2]
        assert store.get("a, b", 1) == rows[0] and store.get("a, b", 3) is None
        store.add(rows[1]._replace(value=7.0))
    assert sweep.read(Row, str(path)) == [*rows[:2], rows[1]._replace(value=7.0)]
    with sweep.Store(Row, 2, str(path)) as store:
        assert store.rows() == [rows[0], rows[1]._replace(value=7.0)]
    path.write_text("name,number,good,value\na,1,1,x\n")
    with pytest.raises(ValueError, match="rows.csv, line 2: not a row of name, number"):
        sweep.Store(Row, 2, str(path))


def test_a_store_replaces_a_foreign_file_only_by_force(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("a letter\n")
    with pytest.raises(ValueError, match="not written by hf"):
        sweep.Store(Row, 2, str(path))
    with sweep.Store(Row, 2, str(path), force=True) as store:
        assert store.rows() == []
    assert path.read_text() == "name,number,good,value\n"


def test_a_table_is_markdown():
    assert sweep.table(["a", "b"], [[1, "x"], ["2", ""]]) == (
        "| a | b |\n|---|---|\n| 1 | x |\n| 2 |  |")


def test_a_cluster_that_is_not_there_is_reported():
    pytest.importorskip("distributed", reason="python3-distributed is not installed")
    with pytest.raises(ValueError, match="scheduler"):
        with sweep.Pool(0, "tcp//x").open():
            pass


@dataclass(frozen=True)
class Common:
    seed: int = option(1, "Seed.", least=0)


@dataclass(frozen=True)
class Wanted(Common):
    names: Tuple[str, ...] = option(("x", "y"), "Names.", flag="--name", required=False)
    widths: Tuple[int, ...] = option((3,), "Widths.", flag="--width", choices=(3, 6))
    width: Optional[int] = option(None, "One.", flag="--one", choices=(3, 6))
    height: int = option(6, "Another.", choices=(3, 6))
    snrs: Tuple[float, ...] = option((), "SNR.", flag="--snr", parse=sweep.values, required=True)
    loud: bool = option(False, "Loud.")

    def __post_init__(self) -> None:
        if self.loud and self.seed == 7:
            raise ValueError("not 7")


def called(*arguments):
    got = []

    @click.command()
    @options(Wanted, "wanted")
    @click.option("--other", default=5)
    def command(wanted: Wanted, other: int) -> None:
        got.append((wanted, other))

    done = CliRunner().invoke(command, arguments)
    return got[0] if got else done.output


def test_options_are_made_of_a_dataclass():
    assert called("--snr", "1:3:1") == (Wanted(snrs=(1.0, 2.0, 3.0)), 5)
    assert called("--snr", "1,2", "--name", "a", "--name", "b", "--width", "6", "--one", "3",
                  "--loud", "--seed", "9", "--other", "4") == (
        Wanted(9, ("a", "b"), (6,), 3, 6, (1.0, 2.0), True), 4)
    for wrong, text in ((["--snr", "1:x:1"], "FIRST:LAST:STEP"), ([], "--snr"),
                        (["--snr", "1", "--width", "4"], "--width"),
                        (["--snr", "1", "--seed", "-1"], "--seed"),
                        (["--snr", "1", "--seed", "7", "--loud"], "not 7")):
        assert text in called(*wrong)
    help_text = called("--help")
    assert help_text.index("--name") < help_text.index("--seed")
    assert "[default: x, y]" in help_text and "[3|6]" in help_text
