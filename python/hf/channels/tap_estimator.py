# SPDX-License-Identifier: GPL-3.0-or-later
"""The gains of a channel's paths over time, from the sent and the received signal.

Uses samples before and after each moment. Each gain is a Gaussian process with the
Gaussian Doppler spectrum of an ionospheric path (ITU-R F.1487). Its spread, mean and
power are estimated first. Given these and the noise, the gains are the linear estimate of least
mean square error from all samples (a Wiener smoother), computed in the few eigenvectors of the
process that have power.
"""
import math
from dataclasses import dataclass, field
from typing import Iterator, List, NamedTuple, Tuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import fft, linalg

#: Gains per second and Hz of Doppler spread; MIL-STD-188-110C E.5 asks for 32.
GAINS_PER_SPREAD = 64
#: Shortest and longest time of one gain, s.
SHORTEST_S, LONGEST_S = 0.002, 0.1
#: Period of the Doppler measurement, s: short against fading at 30 Hz, the maximum of F.1487.
LOOK_S = 0.01
#: Least and greatest Doppler spread, Hz.
MIN_SPREAD, MAX_SPREAD = 0.05, 40.0
#: Gains estimated together, and gains shared with a neighbouring stretch: 10 and 1 times the
#: inverse of the spread, so that the middle does not correlate with samples outside.
TOGETHER, SHARED = 10 * GAINS_PER_SPREAD, GAINS_PER_SPREAD
#: Eigenvectors with less of the greatest eigenvalue are discarded.
MIN_EIGENVALUE = 1e-6
#: A path is accepted if noise alone would look like it once in a million times (5 sigma), and if
#: it has more than this share of the power, far below what affects any mode.
SIGMAS, MIN_POWER = 5.0, 10 ** -3.5
MAX_PATHS = 16
#: Delays searched around that of the preamble, s: the receiver's own window is 12.5 ms.
EARLIER_S, LATER_S = 0.0125, 0.0125
#: A block counts as decoded wrongly if its residual exceeds the median by this factor.
WRONG = 3.0
#: Delays nearer to each other than this, samples, are merged: half a symbol.
NEAR = 2.0
#: Search range of the clock error, +- ppm, and length of the stretches compared, s.
MAX_PPM, DRIFT_S = 300.0, 1.0
#: Extra samples on both sides of a piece, for delaying it.
_MARGIN = 4096


class Estimate(NamedTuple):
    """A channel. rate: gains per second; delays_s: of the paths, the least is 0; gains: a row for
    each time, total mean power 1; spreads_hz, shifts_hz: two-sigma Doppler spread and mean of
    each path; noise_per_hz, power: of noise and signal, as received; offset_hz: of the carrier;
    clock_ppm: sender's clock error, positive if fast; used: share of the time that was used."""

    rate: float
    delays_s: np.ndarray
    gains: np.ndarray
    spreads_hz: np.ndarray
    shifts_hz: np.ndarray
    noise_per_hz: float
    power: float
    offset_hz: float
    clock_ppm: float
    used: float


def stretched(x: np.ndarray, ppm: float) -> np.ndarray:
    """The signal as sent with a clock that is fast by ppm, with the same start."""
    if ppm == 0 or len(x) == 0:
        return x
    out = np.empty_like(x)
    piece = 1 << 16
    for begin in range(0, len(x), piece):
        at = np.arange(begin, min(begin + piece, len(x))) * (1 + ppm * 1e-6)
        low = max(0, int(at[0]) - 64)
        part = x[low:int(at[-1]) + 65]
        if not len(part):
            out[begin:] = 0
            break
        part = np.concatenate([part, np.zeros(fft.next_fast_len(len(part)) - len(part))])
        # With eight times the samples, linear interpolation of a signal within 0.17 of the rate
        # is exact to -58 dB.
        fine = fft.ifft(_widened(fft.fft(part), 8))
        where = (at - low) * 8
        index = np.clip(where.astype(int), 0, len(fine) - 2)
        share = where - index
        out[begin:begin + len(at)] = fine[index] * (1 - share) + fine[index + 1] * share
    return out


def _widened(spectrum: np.ndarray, times: int) -> np.ndarray:
    n = len(spectrum)
    wide = np.zeros(n * times, spectrum.dtype)
    wide[:(n + 1) // 2] = spectrum[:(n + 1) // 2]
    wide[-(n // 2):] = spectrum[-(n // 2):]
    return wide * times


@dataclass
class _Profile:
    """Sums over windows: squared matches at each delay from the earliest on; energy of the sent
    signal, and its square; number of windows."""

    matches: np.ndarray
    energy: float = 0.0
    squares: float = 0.0
    windows: int = 0


@dataclass
class _Model:
    """Present estimate of the channel. gains: a row for each window. window: its samples."""

    window: int
    delays: np.ndarray  # samples
    spreads: np.ndarray
    shifts: np.ndarray
    powers: np.ndarray
    noise: float  # of a sample, if it is white
    gains: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), complex))


class Estimator:
    """Estimates one channel. sent, received: aligned samples at the rate (per second), four for
    each symbol; trusted: for each sample whether it was decoded correctly, and counts."""

    def __init__(self, sent: np.ndarray, received: np.ndarray, rate: float,
                 trusted: np.ndarray) -> None:
        self.x, self.y = sent.astype(np.complex64), received.astype(np.complex64)
        self.rate, self.trusted = rate, trusted
        self.earlier, self.later = round(EARLIER_S * rate), round(LATER_S * rate)

    # --- pieces of the signals ---------------------------------------------------------------

    def _delayed(self, begin: int, end: int, delays: np.ndarray, order: int = 0) -> np.ndarray:
        """The sent signal, delayed: (samples, paths); order: of the derivative."""
        low, high = begin - _MARGIN, end + _MARGIN
        part = np.zeros(fft.next_fast_len(high - low), np.complex64)
        inside = slice(max(low, 0), min(high, len(self.x)))
        part[inside.start - low:inside.stop - low] = self.x[inside]
        w = (2j * np.pi * fft.fftfreq(len(part))).astype(np.complex64)
        spectrum = fft.fft(part) * w ** order if order else fft.fft(part)
        out = np.empty((end - begin, len(delays)), np.complex64)
        for k, delay in enumerate(delays):
            out[:, k] = fft.ifft(spectrum * np.exp(-w * np.float32(delay)))[
                _MARGIN:_MARGIN + end - begin]
        return out

    def _pieces(self, window: int) -> Iterator[Tuple[int, int]]:
        """Start and end of pieces of whole windows."""
        step = max(1, (1 << 16) // window) * window
        whole = len(self.y) // window * window
        for begin in range(0, whole, step):
            yield begin, min(begin + step, whole)

    def _statistics(self, window: int, delays: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """For each window, products of the paths with each other and with the received signal."""
        products, matches = [], []
        for begin, end in self._pieces(window):
            sent = self._delayed(begin, end, delays)
            sent *= self.trusted[begin:end, None]
            sent = sent.reshape(-1, window, len(delays))
            turned = np.conj(np.swapaxes(sent, 1, 2))
            products.append(turned @ sent)
            matches.append((turned @ self.y[begin:end].reshape(-1, window, 1))[:, :, 0])
        return (np.concatenate(products).astype(complex),
                np.concatenate(matches).astype(complex))

    def gains_at(self, model: _Model, begin: int, end: int) -> np.ndarray:
        """Gains at each sample, interpolated linearly between the middles of windows."""
        at = (np.arange(begin, end) + 0.5) / model.window - 0.5
        index = np.clip(np.floor(at).astype(int), 0, max(0, len(model.gains) - 2))
        share = np.clip(at - index, 0, 1)[:, None]
        after = np.minimum(index + 1, len(model.gains) - 1)
        return model.gains[index] * (1 - share) + model.gains[after] * share

    def residual(self, model: _Model) -> np.ndarray:
        """The received signal minus the model's."""
        left = self.y.copy()
        for begin, end in self._pieces(model.window):
            left[begin:end] -= np.sum(self._delayed(begin, end, model.delays)
                                      * self.gains_at(model, begin, end), axis=1)
        left[len(self.y) // model.window * model.window:] = 0
        return left

    def noise_of(self, left: np.ndarray) -> float:
        """Power per sample of white noise with the residual's density within the band."""
        power = np.abs(fft.fft(np.where(self.trusted, left, 0))) ** 2
        band = np.abs(fft.fftfreq(len(left))) < 0.5 / 4  # of the symbol rate
        return float(np.mean(power[band]) / max(1, np.sum(self.trusted)))

    # --- Doppler -------------------------------------------------------------------------------

    def doppler(self, delays: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Two-sigma spread and mean, Hz, and power of each path."""
        window = max(4, round(LOOK_S * self.rate))
        products, matches = self._statistics(window, delays)
        size = np.mean(np.trace(products, axis1=1, axis2=2).real) / len(delays)
        raw = np.linalg.solve(products + 0.03 * size * np.eye(len(delays)), matches[:, :, None])
        raw = raw[:, :, 0]
        step = window / self.rate
        spreads, shifts, powers = [], [], []
        for path in raw.T:
            lags = min(len(path) - 1, round(2 / MIN_SPREAD / step))
            spectrum = fft.fft(path, 2 * len(path))
            r = fft.ifft(np.abs(spectrum) ** 2)[:lags + 1] / (len(path) - np.arange(lags + 1))
            spread, shift, power = _shape(r, step)
            spreads.append(spread)
            shifts.append(shift)
            powers.append(power)
        return np.array(spreads), np.array(shifts), np.array(powers)

    # --- gains ---------------------------------------------------------------------------------

    def solver(self, model: _Model) -> "_Solver":
        """Solver for the gains, with this model's delays, spreads, shifts and powers."""
        return _Solver(*self._statistics(model.window, model.delays),
                       model.window / self.rate, model)

    # --- delays --------------------------------------------------------------------------------

    def profile(self, left: np.ndarray, window: int, begin: int = 0, end: int = -1) -> "_Profile":
        """Power at each delay, from the windows of a stretch of the residual."""
        end = min(len(left) if end < 0 else end, len(left) - self.earlier)
        begin = max(begin, self.later)
        size = fft.next_fast_len(window + self.earlier + self.later)
        result = _Profile(np.zeros(self.earlier + self.later + 1))
        count = max(1, (1 << 19) // size) * window
        for first in range(begin, end - window + 1, count):
            last = first + (min(first + count, end) - first) // window * window
            good = np.all(self.trusted[first:last].reshape(-1, window), axis=1)
            heard = left[first:last].reshape(-1, window)[good]
            sent = sliding_window_view(self.x[first - self.later:last + self.earlier],
                                       window + self.later + self.earlier)[::window][good]
            match = fft.ifft(fft.fft(heard, size).conj() * fft.fft(sent, size))
            # match[:, k] belongs to a delay of later - k
            result.matches += np.sum(np.abs(match[:, self.later + self.earlier::-1]) ** 2, axis=0)
            energy = np.sum(np.abs(sent) ** 2, axis=1, dtype=float) * window / sent.shape[1]
            result.energy += float(np.sum(energy))
            result.squares += float(np.sum(energy ** 2))
            result.windows += len(energy)
        return result

    def missing(self, left: np.ndarray, model: _Model) -> float:
        """Delay of another path in the residual, samples; NaN if there is none."""
        window = min(0.5, max(LOOK_S, 1 / (8 * np.max(model.spreads))))
        got = self.profile(left, round(window * self.rate))
        if got.windows == 0:
            return math.nan
        expected = model.noise * got.energy
        for old in model.delays:
            near = np.abs(np.arange(-self.earlier, self.later + 1) - old) < NEAR
            got.matches[near] = 0
        best = int(np.argmax(got.matches))
        power = (got.matches[best] - expected) / got.squares
        if got.matches[best] < expected * (1 + SIGMAS / math.sqrt(got.windows)) \
                or power < MIN_POWER * max(np.sum(model.powers), 1e-30):
            return math.nan
        return float(best - self.earlier)

    def drift(self) -> float:
        """Clock error of the sender, ppm, to about 0.2 ms from start to end. At this error the
        power of all times concentrates most on the same delays."""
        window = round(LOOK_S * self.rate)
        length = max(window, round(DRIFT_S * self.rate))
        parts = [self.profile(self.y, window, b, b + length).matches
                 for b in range(0, len(self.y) - length + 1, length)]
        if len(parts) < 3:
            return 0.0
        spectra = fft.rfft(np.array(parts) - np.min(parts, axis=1, keepdims=True))
        turns = np.outer(np.arange(len(parts)) * length,
                         2j * np.pi * np.arange(spectra.shape[1]) / len(parts[0]))
        tried = np.linspace(-MAX_PPM, MAX_PPM,
                            2 * math.ceil(2e-6 * MAX_PPM * len(parts) * length) + 1)
        sharp = [np.sum(np.abs(np.sum(spectra * np.exp(-1e-6 * ppm * turns), axis=0)) ** 2)
                 for ppm in tried]
        return float(tried[int(np.argmax(sharp))])

    def corrections(self, left: np.ndarray, model: _Model) -> Tuple[np.ndarray, float]:
        """Corrections of each delay, samples, and of the sender's clock, ppm, that fit the
        residual best, to the first order."""
        paths = len(model.delays)
        normal, right = np.zeros((paths + 1, paths + 1)), np.zeros(paths + 1)
        middle, half = len(self.y) / 2, max(1.0, len(self.y) / 2)
        for begin, end in self._pieces(model.window):
            slopes = self._delayed(begin, end, model.delays, 1) * self.gains_at(model, begin, end)
            slopes *= self.trusted[begin:end, None]
            time = (np.arange(begin, end) - middle) / half
            all_slopes = np.column_stack([-slopes, np.sum(slopes, axis=1) * time])
            normal += (all_slopes.conj().T @ all_slopes).real
            right += (all_slopes.conj().T @ left[begin:end]).real
        step = np.linalg.solve(normal + 1e-9 * np.trace(normal) * np.eye(paths + 1), right)
        return step[:-1], float(step[-1] / half * 1e6)


def _shape(r: np.ndarray, step: float) -> Tuple[float, float, float]:
    """Spread, mean and power of a path from the autocorrelation of its noisy gains. Noise is in
    lag 0 alone. For a Gaussian spectrum the logarithm falls with the square of the lag."""
    if len(r) < 4 or not np.abs(r[1]) > 0:
        return MIN_SPREAD, 0.0, float(np.abs(r[0]))
    size = np.abs(r)
    below = np.flatnonzero(size[1:] < 0.7 * size[1])
    k = int(below[0]) + 1 if len(below) else len(r) - 1
    k = max(k, 2)
    fall = math.log(max(size[1] / max(size[k], 1e-30), 1 + 1e-12))
    spread = math.sqrt(2 * fall / (math.pi ** 2 * step ** 2 * (k * k - 1)))
    spread = min(max(spread, MIN_SPREAD), MAX_SPREAD)
    power = float(size[1] * math.exp(min((math.pi * spread * step) ** 2 / 2, 2.0)))
    # Unwrap from lag to lag, or turns would be missed.
    turns = np.unwrap(np.angle(r[1:k + 1]))
    turns -= 2 * math.pi * round((turns[0] - np.angle(r[1])) / (2 * math.pi))
    return spread, float(turns[-1] / (2 * math.pi * step * k)), power


class _Solver:
    """Finds the most likely gains of each window, for one model and any noise."""

    def __init__(self, products: np.ndarray, matches: np.ndarray, step: float, model: _Model
                 ) -> None:
        self.products, self.matches = products, matches
        self.length = min(len(products), TOGETHER)
        self.bases = [_basis(self.length, step, d, f, p)
                      for d, f, p in zip(model.spreads, model.shifts, model.powers)]

    def gains(self, noise: float) -> np.ndarray:
        """Gains, a row for each window. noise: power of a sample."""
        count = len(self.products)
        gains, weights = np.zeros_like(self.matches), np.zeros(count)
        fade = np.minimum(1, (np.arange(self.length) + 1) / (SHARED + 1))
        weight = np.minimum(fade, fade[::-1])
        for begin in range(0, max(1, count - SHARED), TOGETHER - SHARED):
            begin = min(begin, count - self.length)
            part = slice(begin, begin + self.length)
            gains[part] += weight[:, None] * _smoothed(self.products[part], self.matches[part],
                                                       self.bases, noise)
            weights[part] += weight
        return gains / weights[:, None]


def _basis(length: int, step: float, spread: float, shift: float, power: float) -> np.ndarray:
    """Basis of a gain over time, a function in each column, with its expected size."""
    lags = np.arange(length) * step
    # Too wide a spectrum costs little, too narrow a one cuts off part of the gain.
    wide = 1.2 * spread
    # The spectrum has fallen to MIN_EIGENVALUE at 2.6 times the spread.
    most = min(length, 16 + math.ceil(2 * 2.7 * wide * length * step))
    values, vectors = linalg.eigh(linalg.toeplitz(np.exp(-(np.pi * wide * lags) ** 2 / 2)),
                                  subset_by_index=(length - most, length - 1))
    kept = values > MIN_EIGENVALUE * values[-1]
    columns = vectors[:, kept] * np.sqrt(values[kept] * power)
    return columns * np.exp(2j * np.pi * shift * lags)[:, None]


def _smoothed(products: np.ndarray, matches: np.ndarray, bases: List[np.ndarray],
              noise: float) -> np.ndarray:
    """The gains of a stretch with the least mean square error."""
    edges = np.cumsum([0] + [b.shape[1] for b in bases])
    matrix = np.zeros((edges[-1], edges[-1]), complex)
    right = np.zeros(edges[-1], complex)
    for i, a in enumerate(bases):
        rows = slice(edges[i], edges[i + 1])
        right[rows] = a.conj().T @ matches[:, i]
        for j, b in enumerate(bases[:i + 1]):
            block = a.conj().T @ (products[:, i, j][:, None] * b)
            columns = slice(edges[j], edges[j + 1])
            matrix[rows, columns] = block
            matrix[columns, rows] = block.conj().T
    matrix[np.diag_indices(edges[-1])] += noise
    found = linalg.solve(matrix, right, assume_a="pos")
    return np.column_stack([b @ found[edges[i]:edges[i + 1]] for i, b in enumerate(bases)])


def _window(spreads: np.ndarray, shifts: np.ndarray, rate: float) -> int:
    """Number of samples of one gain."""
    widest = float(np.max(spreads + 2 * np.abs(shifts)))
    return max(4, round(rate * min(LONGEST_S, max(SHORTEST_S, 1 / (GAINS_PER_SPREAD * widest)))))


class _Search:
    """Finds paths and their gains, one path after the other."""

    def __init__(self, sent: np.ndarray, received: np.ndarray, rate: float, trusted: np.ndarray,
                 noise: float) -> None:
        self.sent, self.offset = sent, 0.0
        self.ppm = Estimator(sent, received, rate, trusted).drift()
        self.estimator = Estimator(stretched(sent, self.ppm), received, rate, trusted)
        power = float(np.mean(np.abs(received) ** 2) / np.mean(np.abs(sent) ** 2))
        self.model = _Model(4, np.zeros(0), np.array([10.0]), np.zeros(1), np.array([power]),
                            noise)
        self.left = self.estimator.y

    def fit(self) -> None:
        """Estimate Doppler, gains and residual for the present delays."""
        e, m = self.estimator, self.model
        m.spreads, m.shifts, m.powers = e.doppler(m.delays)
        common = float(np.sum(m.shifts * m.powers) / np.sum(m.powers))
        e.y = (e.y * np.exp(-2j * np.pi * common / e.rate * np.arange(len(e.y)))
               ).astype(np.complex64)
        self.offset += common
        m.shifts = m.shifts - common
        m.window = _window(m.spreads, m.shifts, e.rate)
        solver = e.solver(m)
        for _ in range(2):  # the second time with the measured noise
            m.gains = solver.gains(m.noise)
            self.left = e.residual(m)
            m.noise = e.noise_of(self.left)

    def adjust(self, clock: bool) -> None:
        """Correct the delays, and the clock, to reduce the residual."""
        e, m = self.estimator, self.model
        step, ppm = e.corrections(self.left, m)
        m.delays = m.delays + np.clip(step, -1, 1)
        if clock:
            self.ppm += ppm
            e.x = stretched(self.sent, self.ppm).astype(np.complex64)

    def drop_weak(self) -> None:
        """Remove paths with hardly any power, and paths too near to a stronger one."""
        m = self.model
        kept: List[int] = []
        for k in np.argsort(-m.powers):
            if m.powers[k] > MIN_POWER * np.max(m.powers) \
                    and all(abs(m.delays[k] - m.delays[j]) > NEAR for j in kept):
                kept.append(int(k))
        m.delays = m.delays[np.sort(np.array(kept))]

    def run(self) -> None:
        """Find the paths by falling power, then refine delays and clock."""
        m = self.model
        for _ in range(MAX_PATHS):
            delay = self.estimator.missing(self.left, m)
            if math.isnan(delay):
                break
            m.delays = np.append(m.delays, delay)
            for _ in range(2):
                self.fit()
                self.adjust(clock=True)
            self.fit()
        if not len(m.delays):
            raise ValueError("the sent signal is not found in the received one")
        self.drop_weak()
        for _ in range(2):
            self.fit()
            self.adjust(clock=True)
        self.fit()


def estimate(sent: np.ndarray, received: np.ndarray, rate: float, blocks: np.ndarray,
             noise: float) -> Estimate:
    """The channel between two signals, sampled at the rate, four times for each symbol.

    sent: mean power 1; both start at the same time, to a few ms. blocks: first samples of the
    interleaver blocks. A block with a much larger residual than others was decoded wrongly, and
    is not used. noise: power of a sample, a first guess. Raises ValueError if no channel is
    found.
    """
    trusted = np.ones(len(sent), bool)
    search = _Search(sent, received, rate, trusted, noise)
    search.run()
    wrong = _wrong(search.left, blocks)
    if wrong:
        # Search again: wrong blocks may have looked like paths.
        for begin, end in wrong:
            trusted[begin:end] = False
        search = _Search(sent, received, rate, trusted, noise)
        search.run()
    m, e = search.model, search.estimator
    order = np.argsort(m.delays)
    gains = m.gains[:, order]
    power = float(np.mean(np.sum(np.abs(gains) ** 2, axis=1)))
    delays = m.delays[order]
    return Estimate(rate / m.window, (delays - delays[0]) / rate, gains / math.sqrt(power),
                    m.spreads[order], m.shifts[order], m.noise / rate, power, search.offset,
                    search.ppm, float(np.mean(e.trusted)))


def _wrong(left: np.ndarray, blocks: np.ndarray) -> List[Tuple[int, int]]:
    """Start and end of blocks with a much larger residual than others."""
    edges = [0, *(int(b) for b in blocks if 0 < b < len(left)), len(left)]
    pairs = [(a, b) for a, b in zip(edges, edges[1:]) if b > a]
    power = np.array([np.mean(np.abs(left[a:b]) ** 2) for a, b in pairs])
    return [pair for pair, p in zip(pairs, power) if p > WRONG * np.median(power)]
