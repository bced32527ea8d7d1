# SPDX-License-Identifier: GPL-3.0-or-later
"""All pictures that commands draw: title, labels, legends that cover no data, size, themes."""
import os
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import numpy as np
import pytest

from gnuradio.hf.channels import learn, tap_estimator
from gnuradio.hf.simulation import scenarios
from gnuradio.hf.sis import console
from gnuradio.hf.station import watch
from gnuradio.hf.system import output
from figures import inspect_figure
from gnuradio.hf.pictures import exchange, style, throughput, timeline


def simulated(path: str) -> None:
    """A scenario with every kind of fault and several flows."""
    run = scenarios.load(os.path.join(os.environ["HF_SOURCE_DIR"],
                                      "examples/scenarios/faults.toml"), 0.1)[0]
    run.scenario.record = True
    timeline.draw(path, "Faults", run.scenario, run.scenario.run())


RANDOM = np.random.default_rng(1)
HEARD = (RANDOM.normal(size=96000) + 1j * RANDOM.normal(size=96000)).astype(np.complex64)
STATIONS = {"A": [watch.Transmission(1, 3, "4539-600S", True)],
            "B": [watch.Transmission(4, 9, "4539-9600S")]}
LEARNED = learn.Learned("4539-600S", 40.0, 0.5, 18.0, tap_estimator.Estimate(
    100.0, np.array([0.0, 2e-3]), RANDOM.normal(size=(4000, 2)) * (1 + 1j) / 1.4,
    np.array([1.0, 1.0]), np.array([0.0, 0.1]), 1e-5, 1.0, 0.2, 0.0, 0.99))
DRAWN: Dict[str, Callable[[str], Any]] = {
    "timeline": simulated,
    "exchange": lambda path: exchange.draw(path, "An exchange", STATIONS, [
        exchange.Progress(3, 0), exchange.Progress(9, 20000)], {"A": HEARD, "B": HEARD}),
    "throughput": lambda path: throughput.draw(path, "Throughput", [
        console.Sample(k, 100 * k, 50 * k) for k in range(1, 20)]),
    "learned": lambda path: learn.draw(LEARNED, path),
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
    assert size_of(tmp_path / "x.png")[0] == 1000


def size_of(path: Path) -> Tuple[int, int]:
    """Size of a PNG, pixels."""
    head = path.read_bytes()[16:24]
    return int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")


@pytest.mark.parametrize("theme, dark, width", [("light", False, 1000), ("dark", True, 1000),
                                                ("print", False, 2000)])
@pytest.mark.parametrize("name", ["exchange", "learned", "timeline"])
def test_themes(name, theme, dark, width, tmp_path, monkeypatch):
    from PIL import Image
    monkeypatch.setenv("HF_PICTURES", theme)
    path = tmp_path / "x.png"
    DRAWN[name](str(path))
    assert size_of(path)[0] == width
    corner = Image.open(path).convert("L").getpixel((2, 2))
    assert corner < 60 if dark else corner == 255


@pytest.mark.parametrize("name", ["exchange", "timeline"])
def test_bars_for_print_differ_without_colours(name, monkeypatch):
    """Each kind of bar has a pattern of its own, in the picture as in the legend."""
    monkeypatch.setattr(style, "save", lambda figure, _: figures.append(figure))
    figures: List[Any] = []
    for theme in ("light", "print"):
        monkeypatch.setenv("HF_PICTURES", theme)
        DRAWN[name]("x.png")
    plain, printed = ([p for p in figure.axes[0].get_legend().get_patches()
                       if p.get_label() != "on the air"] for figure in figures)
    assert {p.get_hatch() for p in plain} <= {None, ""}
    assert len({p.get_hatch() for p in printed}) == len(printed) > 1
    drawn = {p.get_hatch() for p in [*figures[1].axes[0].patches,
                                     *figures[1].axes[0].collections]}
    assert {p.get_hatch() for p in printed} <= drawn


def test_a_theme_that_there_is_not_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_PICTURES", "sepia")
    with pytest.raises(output.OutputError, match="light, dark, print"):
        DRAWN["exchange"](str(tmp_path / "x.png"))


def test_the_exchange_shows_who_acknowledged(tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr(style, "save", lambda figure, _: figures.append(figure))
    DRAWN["exchange"](str(tmp_path / "x.png"))
    axis = figures[0].axes[0]
    marks = [tuple(map(float, line.get_xydata()[0])) for line in axis.lines
             if line.get_marker() == "D"]
    assert marks == [(2.0, 0.0)]  # in the middle of what A sent, in its row
    assert "acknowledges" in [text.get_text() for text in axis.get_legend().get_texts()]


def test_acknowledgements_belong_to_the_transmission_that_follows():
    sent = [watch.Transmission(0.7, 3, "4539-600S"), watch.Transmission(5, 6, "4539-600S"),
            watch.Transmission(8, 9, "4539-600S")]
    watch.mark_acknowledgements(sent, [4.9])  # made just before its transmission
    assert [t.acknowledges for t in sent] == [False, True, False]
