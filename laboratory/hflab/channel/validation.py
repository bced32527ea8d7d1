# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the simulated channel against closed forms: MIL-STD-188-110C E.7 and more."""
import math
from typing import Any, Callable, List, NamedTuple, Tuple

import numpy as np
from scipy import signal, stats

from gnuradio.hf import hf_python as hf
from gnuradio.hf.pictures import style

RATE = 9600
#: Called with the share of the work that is done.
Progress = Callable[[float], object]
TAP_RATE = 2000  # the lowest that the channel takes; a tap needs far less
BANDWIDTH = 3000.0


class Check(NamedTuple):
    """A figure, its expected value, its tolerance, and the reason for the tolerance."""

    what: str
    measured: float
    expected: float
    tolerance: float
    basis: str

    @property
    def good(self) -> bool:
        return abs(self.measured - self.expected) <= self.tolerance


def taps(spread: float, seconds: float, seed: int, progress: Progress = lambda _: None
         ) -> Tuple[np.ndarray, float]:
    """The gain of one fading path over time, and its samples per second, about 64 per Hz.
    progress: called with the share that is done, 0 to 1."""
    model = hf.channel_model(f"paths=0:0:{spread!r}", seed, 1.0, TAP_RATE)
    step = max(1, int(TAP_RATE / (64 * spread)))
    piece = np.ones(step * 20000, np.complex64)
    whole = left = math.ceil(seconds * TAP_RATE / step)
    out = []
    while left > 0:
        out.append(model.process(piece)[::step][:left].astype(np.complex128))
        left -= len(out[-1])
        progress(1 - left / whole)
    return np.concatenate(out), TAP_RATE / step


def spectrum(gain: np.ndarray, rate: float, spread: float) -> Tuple[np.ndarray, np.ndarray]:
    """Frequency in units of the spread, and power in dB against its middle."""
    length = int(40 / spread * rate)
    f, p = signal.welch(gain, rate, ("kaiser", 14), length, return_onesided=False,
                        detrend=False)
    order = np.argsort(f)
    x, p = f[order] / spread, p[order]
    middle = np.abs(x) < 0.15
    return x, 10 * np.log10(p / np.mean(p[middle] / np.exp(-2 * x[middle] ** 2)))


def fading(spread: float, seconds: float, seed: int, progress: Progress = lambda _: None
           ) -> List[Check]:
    """Statistics of one path of our channel. progress: as for taps()."""
    return statistics(*taps(spread, seconds, seed, progress), spread)


def statistics(g: np.ndarray, rate: float, spread: float) -> List[Check]:
    """Statistics of a fading gain. The tolerances hold for a correct channel in more than 99 %
    of all seeds, or are the standard's where those are wider."""
    seconds = len(g) / rate
    independent = spread * seconds  # coherence times, roughly
    result = [Check("mean power", float(np.mean(np.abs(g) ** 2)), 1,
                    3 / math.sqrt(math.sqrt(math.pi) * independent), "3 sigma")]
    apart = g[::math.ceil(1.5 / spread * rate)]  # correlation 2e-5
    power = np.mean(np.abs(g) ** 2)
    result += [
        Check("envelope is Rayleigh (KS p)", float(stats.kstest(
            np.abs(apart), "rayleigh", (0, math.sqrt(power / 2))).pvalue), 1, 0.998, "p > 0.002"),
        Check("phase is uniform (KS p)", float(stats.kstest(
            np.angle(apart), "uniform", (-math.pi, 2 * math.pi)).pvalue), 1, 0.998, "p > 0.002"),
        Check("I and Q correlate", float(np.corrcoef(apart.real, apart.imag)[0, 1]), 0,
              3 / math.sqrt(len(apart)), "3 sigma")]
    for t in (0.1, 0.25, 0.5, 1.0):
        lag = round(t / spread * rate)
        exact = lag / rate * spread
        r = float((np.vdot(g[:-lag], g[lag:]) / (len(g) - lag)).real / power)
        result.append(Check(f"autocorrelation at {t}/d", r,
                            math.exp(-(math.pi * exact) ** 2 / 2),
                            3 / math.sqrt(independent), "3 sigma"))
    x, p = spectrum(g, rate, spread)
    for at, level, tolerance in ((1.517, -20, 1.5), (1.858, -30, 2.0)):
        near = np.abs(np.abs(x) - at) < 0.03
        result.append(Check(f"Doppler spectrum at {at} d, dB", float(np.mean(p[near])), level,
                            tolerance, "E.7.4"))
    inside = np.abs(x) < 2.5
    linear = 10 ** (p[inside] / 10)
    rms = math.sqrt(float(np.sum(x[inside] ** 2 * linear) / np.sum(linear)))
    result.append(Check("rms Doppler, of d", rms, 0.5, max(0.01, 1.5 / math.sqrt(independent)),
                        "1 %"))
    envelope = np.abs(g) / math.sqrt(power)
    for rho in (0.3, 1.0):
        below = envelope < rho
        count = int(np.sum(below[1:] & ~below[:-1]))
        per_second = math.sqrt(math.pi) * spread * rho * math.exp(-rho ** 2)
        expected = per_second * seconds
        result.append(Check(f"fades below {rho} of rms, per s", count / seconds, per_second,
                            per_second * max(0.03, 4 / math.sqrt(expected)), "4 sigma or 3 %"))
        length = math.expm1(rho ** 2) / (math.sqrt(math.pi) * spread * rho)
        result.append(Check(f"mean fade below {rho} of rms, s", float(np.sum(below)) / rate
                            / max(count, 1), length,
                            length * max(0.05, 4 / math.sqrt(expected)), "4 sigma or 5 %"))
    return result


def _noise(seconds: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n = int(seconds * RATE)
    return ((rng.normal(size=n) + 1j * rng.normal(size=n)) / math.sqrt(2)).astype(np.complex64)


def steady(seconds: float, seed: int) -> List[Check]:
    """Noise, flatness, delays and powers of paths that do not fade."""
    result = []
    for snr in (0.0, 20.0):
        x = _noise(seconds, seed)
        y = hf.channel_model(f"awgn snr={snr!r}", seed, 1.0, RATE).process(x)
        per_hertz = float(np.mean(np.abs(y - x).astype(np.float64) ** 2)) / RATE
        result.append(Check(f"SNR in 3 kHz at {snr:g} dB",
                            -10 * math.log10(per_hertz * BANDWIDTH), snr, 0.25, "E.7.2"))
    # A fractional delay is a filter: flat over the band of the waveforms.
    impulse = np.zeros(4096, np.complex64)
    impulse[0] = 1
    band = np.abs(np.fft.fftfreq(len(impulse), 1 / RATE)) < 1620
    worst = 0.0
    for delay in (0.33, 2.0, 5.123):
        h = np.fft.fft(hf.channel_model(f"paths={delay!r}:0:0", seed, 1.0, RATE).process(impulse))
        worst = max(worst, float(np.max(np.abs(20 * np.log10(np.abs(h[band]))))))
    result.append(Check("flatness over +-1620 Hz, dB", worst, 0, 0.5, "E.7.1"))
    x = _noise(seconds, seed + 1)
    for delay in (2.0, 5.123):
        spec = f"paths=0:0:0,{delay!r}:-6:0"
        y = hf.channel_model(spec, seed, 1.0, RATE).process(x)
        f, cross = signal.csd(x, y, RATE, nperseg=4096, return_onesided=False)
        h = np.fft.ifft(cross * (np.abs(f) < 4000)) / np.mean(np.abs(x) ** 2) * RATE
        first, second = (int(np.argmax(np.abs(part))) for part in (h[:20], h[20:200]))
        second += 20
        fine = np.exp(2j * np.pi * np.outer(np.linspace(-1, 1, 401), f) / RATE) * (
            np.abs(f) < 4000)
        spot = np.exp(2j * np.pi * f * second / RATE)
        shape = np.abs(fine @ (cross * spot))
        start = np.abs(fine @ (cross * np.exp(2j * np.pi * f * first / RATE)))
        at = [k + (int(np.argmax(s)) - 200) / 200 for k, s in ((second, shape), (first, start))]
        result.append(Check(f"delay of the path at {delay:g} ms, ms",
                            1000 * (at[0] - at[1]) / RATE, delay, 0.01, "0.1 sample"))
        result.append(Check("its power against the first, dB",
                            20 * math.log10(np.max(shape) / np.max(start)), -6, 0.2, "0.2 dB"))
    return result


def independence(spread: float, seconds: float, seed: int,
                 progress: Progress = lambda _: None) -> List[Check]:
    """Check powers and independence of the two paths of a fading channel. progress: as for
    taps()."""
    model = hf.channel_model(f"paths=0:0:{spread!r},10:0:{spread!r}", seed, 1.0, RATE)
    period = 2 * 96
    train = np.zeros(period * 500, np.complex64)
    train[::period] = 1
    out = []
    pieces = math.ceil(seconds * RATE / len(train))
    for number in range(pieces):
        out.append(model.process(train).reshape(-1, period)[:, [0, 96]])
        progress((number + 1) / pieces)
    g = np.concatenate(out)
    apart = g[::math.ceil(1.5 / spread * RATE / period)]
    power = np.mean(np.abs(g) ** 2, axis=0)
    correlation = np.abs(np.vdot(apart[:, 0], apart[:, 1])) / len(apart) / math.sqrt(
        power[0] * power[1])
    sigma = 1 / math.sqrt(math.sqrt(math.pi) * spread * seconds)
    return [Check("power of two equal paths, sum", float(np.sum(power)), 1, 3 * sigma, "3 sigma"),
            Check("power of the second, share", float(power[1] / np.sum(power)), 0.5, 2 * sigma,
                  "3 sigma"),
            Check("paths correlate", float(correlation), 0, 3 / math.sqrt(len(apart)),
                  "3 sigma")]


def table(checks: List[Check]) -> str:
    """The checks as a Markdown table."""
    lines = ["| what | measured | expected | allowed +- | basis | |", "|---|---|---|---|---|---|"]
    lines += [f"| {c.what} | {c.measured:.4g} | {c.expected:.4g} | {c.tolerance:.2g} | {c.basis} "
              f"| {'good' if c.good else 'BAD'} |" for c in checks]
    return "\n".join(lines)


def draw(spread: float, seconds: float, seed: int, path: str) -> None:
    """Draw Doppler spectrum and envelope of one path beside their theoretical curves."""
    g, rate = taps(spread, seconds, seed)
    with style.figure(1, 2, height=4.6) as (figure, axes):
        figure.suptitle(f"One fading path: {spread:g} Hz two-sigma, {seconds:g} s, seed {seed}")
        _spectrum_panel(axes[0], *spectrum(g, rate, spread))
        _envelope_panel(axes[1], np.abs(g))
        style.save(figure, path)


def _spectrum_panel(left: Any, x: np.ndarray, p: np.ndarray) -> None:
    left.plot(x, p, label="measured")
    left.plot(x, -20 * math.log10(math.e) * x ** 2, "--", label="exp(-2 f$^2$/d$^2$)")
    left.set(xlim=(-2.5, 2.5), ylim=(-60, 5), xlabel="frequency f by the spread d",
             ylabel="power density, dB",
             title="Doppler spectrum")
    left.errorbar([-1.858, -1.517, 1.517, 1.858], [-30, -20, -20, -30], [2, 1.5, 1.5, 2],
                  fmt="none", color=style.foreground(), capsize=4,
                  label="allowed (E.7.4)")
    left.grid(True)
    left.legend(loc="lower center")


def _envelope_panel(right: Any, envelope: np.ndarray) -> None:
    right.hist(envelope, 100, density=True, label="measured")
    r = np.linspace(0, 3, 200)
    right.plot(r, 2 * r * np.exp(-r ** 2), "--", label="Rayleigh")
    right.set(xlabel="envelope by its root mean square", ylabel="probability density",
              title="Envelope")
    right.grid(True)
    right.legend(loc="upper right")
