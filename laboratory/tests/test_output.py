# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that measurements write: they overwrite no input and no foreign file."""
import pytest

from gnuradio.hf.simulation.block_errors import Point
from gnuradio.hf.system import output
from hflab.cli import tcp
from hflab.receiver import ber

MESSAGE = b"the only copy of something that matters\n"


@pytest.mark.parametrize("content", [MESSAGE, b"mode,channel\n1,2\n", b"\xff\xfe\x00"])
def test_a_store_of_trials_is_not_made_of_something_else(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(output.Refused, match="t.csv"):
        ber.store(str(path))
    assert path.read_bytes() == content


@pytest.fixture(name="message")
def fixture_message(tmp_path):
    path = tmp_path / "message.txt"
    path.write_bytes(MESSAGE)
    return path


@pytest.mark.parametrize("command, columns", [
    (("ber", "run", "--mode", "4539-600S", "--snr", "10", "--csv"), ber.Trial._fields),
    (("bench", "curves", "--mode", "4539-600S"), Point._fields),
    (("tcp", "serve", "--port", "0", "--csv"), tcp.SERIES_COLUMNS),
    (("tcp", "send", "127.0.0.1", "--port", "1", "--csv"), tcp.measure.Times._fields)])
def test_tables_do_not_replace_what_is_not_theirs(hf, message, command, columns):
    done = hf(*command, "message.txt")
    assert done.status == 2 and "message.txt" in done.err and "--force" in done.err
    assert message.read_bytes() == MESSAGE
    output.write_csv(str(message.parent / "own.csv"), list(columns), [])
    output.check(str(message.parent / "own.csv"), first_line=output.first_line(list(columns)))


def test_folders_for_results_are_made(hf, message):
    done = hf("bench", "papers", "--table", "HF-PEP", "--rate", "240000", "--quick", "--out",
              "no/such/folder")
    assert done.status == 0, done.err
    folder = message.parent
    assert (folder / "no/such/folder/papers.md").read_text().startswith("# The published")
    (folder / "papers.md").write_bytes(MESSAGE)
    assert hf("bench", "papers", "--quick", "--out", ".").status == 2
    assert (folder / "papers.md").read_bytes() == MESSAGE
    done = hf("bench", "tshark", "--out", "message.txt/x")
    assert done.status == 1 and "message.txt/x" in done.err


@pytest.mark.parametrize("arguments", [
    ("channel", "validate", "--hours", "100", "--plot"), ("tcp", "serve", "--port", "0", "--plot"),
    ("ber", "run", "--mode", "4539-600S", "--snr", "10", "--seconds", "600", "--plot")])
def test_a_picture_that_cannot_be_drawn_is_reported_first(hf, message, arguments):
    assert message.exists()
    done = hf(*arguments, "none/x.png")
    assert done.status in (1, 2) and "No such file" in done.err
