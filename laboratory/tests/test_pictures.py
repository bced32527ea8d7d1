# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of measurements: title, labels, legends that cover no data."""
import os
import sys
from typing import Any, Callable, Dict, List

import pytest

from gnuradio.hf.pictures import style
from hflab.channel import models, validation
from hflab.link import adaptive
from hflab.programs import tcp
from hflab.receiver import ber, curves

sys.path.insert(0, os.path.join(os.environ["HF_SOURCE_DIR"], "tests", "python"))
from figures import inspect_figure  # noqa: E402


def results() -> List[ber.Result]:
    """Two curves on two channels, with points at which no error was seen."""
    return [ber.Result(ber.Point(mode, f"{name} snr={snr}"), 1, 100_000, errors, 100,
                       min(errors, 100), 0, 0, 0, 1.0, 1.0)
            for name in ("awgn", "poor") for mode in ("4539-600S", "4539-2400S")
            for snr, errors in ((0, 40_000), (5, 3_000), (10, 20), (15, 0), (20, 0))]


DRAWN: Dict[str, Callable[[str], Any]] = {
    "curves": lambda path: curves.draw(results(), path),
    "tcp": lambda path: tcp.plot(path, "A transfer", [
        tcp.Sample(k, 1000 * k, 3.0) for k in range(1, 20)], 9600),
    "channel": lambda path: validation.draw(2.0, 60.0, 1, path),
    "models": lambda path: models.draw(2.0, 60.0, 1, path),
    "adaptive": lambda path: adaptive.draw([
        adaptive.Cell(name, snr, 80.0, 100.0 * (snr > 0), "4539-600S")
        for name in list(adaptive.CHANNELS)[:2] for snr in (0.0, 10.0)], path),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_says_what_it_shows(name, tmp_path, monkeypatch):
    seen = []
    save = style.save

    def check(figure: Any, path: str) -> None:
        inspect_figure(figure)
        seen.append(figure)
        save(figure, path)

    monkeypatch.setattr(style, "save", check)
    DRAWN[name](str(tmp_path / "x.png"))
    assert len(seen) == 1


def test_what_stands_on_the_background_differs_from_it(monkeypatch):
    monkeypatch.setenv("HF_PICTURES", "dark")
    monkeypatch.setattr(style, "save", lambda figure, _: figures.append(figure))
    figures: List[Any] = []
    DRAWN["adaptive"]("x.png")
    colours = {text.get_color() for text in figures[0].axes[0].texts
               if text.get_text() == "no mode"}
    assert colours == {style.foreground()}


def test_lines_for_print_differ_without_colours(monkeypatch):
    monkeypatch.setenv("HF_PICTURES", "print")
    monkeypatch.setattr(style, "save", lambda figure, _: figures.append(figure))
    figures: List[Any] = []
    DRAWN["models"]("x.png")
    patterns = [line._unscaled_dash_pattern for line in figures[0].axes[0].lines]
    assert len(set(map(str, patterns))) == len(patterns) > 1
