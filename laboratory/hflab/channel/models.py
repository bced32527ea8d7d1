# SPDX-License-Identifier: GPL-3.0-or-later
"""Our fading beside GNU Radio's models: where they agree and where they do not.

GNU Radio sums sinusoids, whose Doppler spectrum is that of a receiver that moves among
reflectors (Clarke: two peaks with hard edges at the highest Doppler frequency). HF paths have
the Gaussian spectrum of Watterson. The highest Doppler frequency is chosen for equal rms
Doppler, so that fades are as frequent and as long. Only the shape of the spectrum differs.
"""
import math
from typing import Any, Callable, Dict, Tuple

import numpy as np

from gnuradio import blocks, channels, gr

from . import validation
from gnuradio.hf.pictures import style

#: Number of sinusoids in GNU Radio's examples, and a large one.
FEW, MANY = 8, 64


def _run(model: Any, seconds: float, spread: float) -> Tuple[np.ndarray, float]:
    """Gain of a GNU Radio block for a constant signal, like validation.taps() for our channel."""
    step = max(1, int(validation.TAP_RATE / (64 * spread)))
    count = math.ceil(seconds * validation.TAP_RATE / step)
    top = gr.top_block()
    sink = blocks.vector_sink_c()
    top.connect(blocks.vector_source_c([1] * 10000, True), model,
                blocks.keep_one_in_n(gr.sizeof_gr_complex, step),
                blocks.head(gr.sizeof_gr_complex, count), sink)
    top.run()
    return np.array(sink.data(), np.complex128), validation.TAP_RATE / step


def _flat(sinusoids: int) -> Callable[[float, float, int], Tuple[np.ndarray, float]]:
    def run(spread: float, seconds: float, seed: int) -> Tuple[np.ndarray, float]:
        highest = spread / math.sqrt(2)
        return _run(channels.fading_model(sinusoids, highest / validation.TAP_RATE, False, 4.0,
                                          seed), seconds, spread)
    return run


def _selective(spread: float, seconds: float, seed: int) -> Tuple[np.ndarray, float]:
    highest = spread / math.sqrt(2)
    return _run(channels.selective_fading_model(FEW, highest / validation.TAP_RATE, False, 4.0,
                                                seed, [0.0], [1.0], 8), seconds, spread)


#: Gains of one path, by the name of their model.
MODELS: Dict[str, Callable[[float, float, int], Tuple[np.ndarray, float]]] = {
    "hf.channel": validation.taps,
    f"fading_model, N={FEW}": _flat(FEW),
    f"fading_model, N={MANY}": _flat(MANY),
    f"selective_fading_model, N={FEW}": _selective,
}


def compare(spread: float, seconds: float, seed: int,
            progress: validation.Progress = lambda _: None) -> str:
    """A Markdown table: the figures of validation.statistics() for each model. ! marks those out
    of tolerance. progress: called with the share that is done, 0 to 1."""
    columns = {}
    for number, (name, make) in enumerate(MODELS.items()):
        columns[name] = validation.statistics(*make(spread, seconds, seed), spread)
        progress((number + 1) / len(MODELS))
    lines = ["| what | expected | " + " | ".join(columns) + " |",
             "|---|---|" + "---|" * len(columns)]
    for rows in zip(*columns.values()):
        cells = [f"{c.measured:.4g}{'' if c.good else ' !'}" for c in rows]
        lines.append(f"| {rows[0].what} | {rows[0].expected:.4g} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(spread: float, seconds: float, seed: int, path: str) -> None:
    """Doppler spectra and autocorrelations of the models as a picture."""
    with style.figure(1, 2, height=4.6) as (figure, axes):
        figure.suptitle(f"Models of a fading path: {spread:g} Hz two-sigma, {seconds:g} s")
        _panels(axes, spread, seconds, seed)
        style.save(figure, path)


def _panels(axes: Any, spread: float, seconds: float, seed: int) -> None:
    for number, (name, make) in enumerate(MODELS.items()):
        # Two curves are nearly equal: dash the upper one. For print all lines differ anyway.
        last = number == len(MODELS) - 1 and style.theme() != "print"
        line = {"linestyle": "--"} if last else {}
        g, rate = make(spread, seconds, seed)
        x, p = validation.spectrum(g, rate, spread)
        lags = np.arange(0, int(2 / spread * rate))
        power = np.mean(np.abs(g) ** 2)
        r = [float(np.vdot(g[:len(g) - k], g[k:]).real) / (len(g) - k) / power for k in lags]
        axes[0].plot(x, p, label=name, **line)
        axes[1].plot(lags / rate * spread, r, label=name, **line)
    axes[0].set(xlim=(-2.5, 2.5), ylim=(-60, 20), xlabel="frequency f by the spread d",
                ylabel="power density, dB", title="Doppler spectrum")
    axes[1].set(xlabel="lag times the spread d", ylabel="correlation",
                title="Autocorrelation")
    for axis in axes:
        axis.grid(True)
    axes[1].legend(loc="upper right")
