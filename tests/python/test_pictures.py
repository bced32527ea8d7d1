# SPDX-License-Identifier: GPL-3.0-or-later
"""All pictures that commands draw: title, labels, legends that cover no data, size, themes."""
import os
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import numpy as np
import pytest

from gnuradio.hf import console, output, watch
from gnuradio.hf.lab.channel import learn, models, tap_estimator, validation
from gnuradio.hf.lab.link import adaptive, scenarios
from gnuradio.hf.lab.pictures import exchange, style, throughput, timeline
from gnuradio.hf.lab.programs import tcp
from gnuradio.hf.lab.receiver import ber, curves


def results() -> List[ber.Result]:
    """Two curves on two channels, with points at which no error was seen."""
    return [ber.Result(ber.Point(mode, f"{name} snr={snr}"), 1, 100_000, errors, 100,
                       min(errors, 100), 0, 0, 0, 1.0, 1.0)
            for name in ("awgn", "poor") for mode in ("4539-600S", "4539-2400S")
            for snr, errors in ((0, 40_000), (5, 3_000), (10, 20), (15, 0), (20, 0))]


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
    "curves": lambda path: curves.draw(results(), path),
    "exchange": lambda path: exchange.draw(path, "An exchange", STATIONS, [
        exchange.Progress(3, 0), exchange.Progress(9, 20000)], {"A": HEARD, "B": HEARD}),
    "throughput": lambda path: throughput.draw(path, "Throughput", [
        console.Sample(k, 100 * k, 50 * k) for k in range(1, 20)]),
    "tcp": lambda path: tcp.plot(path, "A transfer", [
        tcp.Sample(k, 1000 * k, 3.0) for k in range(1, 20)], 9600),
    "learned": lambda path: learn.draw(LEARNED, path),
    "channel": lambda path: validation.draw(2.0, 60.0, 1, path),
    "models": lambda path: models.draw(2.0, 60.0, 1, path),
    "adaptive": lambda path: adaptive.draw([
        adaptive.Cell(name, snr, 80.0, 100.0 * (snr > 0), "4539-600S")
        for name in list(adaptive.CHANNELS)[:2] for snr in (0.0, 10.0)], path),
}


def inspect_figure(figure: Any) -> None:
    """Elements that every picture must have."""
    figure.canvas.draw()
    panels = [a for a in figure.axes if a.get_label() != "<colorbar>"]
    assert (figure._suptitle and figure._suptitle.get_text()) or any(
        a.get_title() or a.get_title("left") for a in panels)
    edge = figure.bbox
    for axis in panels:
        assert axis.get_ylabel()
        assert axis.get_xlabel() or axis.get_shared_x_axes().get_siblings(axis) != [axis]
        legend = axis.get_legend()
        if legend is None:
            continue
        box = legend.get_window_extent()
        assert box.x0 >= edge.x0 - 1 and box.x1 <= edge.x1 + 1, "legend is cut"
        for line in axis.lines:
            # Lines in coordinates of data alone; lines across the panel have no points to hide.
            if line.get_transform() == axis.transData:
                inside = box.count_contains(axis.transData.transform(line.get_xydata()))
                assert inside == 0, f"legend covers {inside} points of {line.get_label()}"


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
@pytest.mark.parametrize("name", ["curves", "exchange", "learned", "timeline"])
def test_themes(name, theme, dark, width, tmp_path, monkeypatch):
    from PIL import Image
    monkeypatch.setenv("HF_PICTURES", theme)
    path = tmp_path / "x.png"
    DRAWN[name](str(path))
    assert size_of(path)[0] == width
    corner = Image.open(path).convert("L").getpixel((2, 2))
    assert corner < 60 if dark else corner == 255


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
        DRAWN["curves"](str(tmp_path / "x.png"))


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
