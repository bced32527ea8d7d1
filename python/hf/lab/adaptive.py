# SPDX-License-Identifier: GPL-3.0-or-later
"""Goodput of adaptive stations on real waveforms beside the best fixed mode of each channel and
SNR."""
from concurrent.futures import ProcessPoolExecutor
import csv
from dataclasses import dataclass
import os
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from .. import hf_python as hf
from .. import output

#: Name in the table, words of hf.channel.
CHANNELS = {"AWGN": "awgn", "ITU-R Good": "good", "ITU-R Moderate": "moderate",
            "ITU-R Poor": "poor", "3 ms, 10 Hz": "paths=0:0:10,3:0:10"}
SNRS_DB = (0, 5, 10, 15, 20, 25, 30)
RATES = (75, 150, 300, 600, 1200, 2400, 3200, 4800, 6400, 8000, 9600)
TARGET = 95.0  # % of the best fixed mode
COLUMNS = ("channel", "snr_db", "seconds", "seed", "adaptive_bps", "best_bps", "best_mode")


@dataclass(frozen=True)
class Cell:
    """One channel at one SNR (dB in 3 kHz): goodput in bit/s of station time."""

    channel: str
    snr_db: float
    seconds: float
    seed: int
    adaptive_bps: float
    best_bps: float
    best_mode: str

    @property
    def share(self) -> Optional[float]:
        """Adaptive goodput in % of the best fixed mode; None where no mode gets through."""
        return 100 * self.adaptive_bps / self.best_bps if self.best_bps > 0 else None


def goodput(mode: str, channel: str, snr_db: float, seconds: float, seed: int) -> float:
    """bit/s that one station delivers to the other by ARQ in so many seconds of station time, from
    the first call on."""
    # More than the fastest mode carries, so that the time ends it.
    octets = int(9600 * seconds / 8) + 10000
    # All modes on the same air: the noise is that of the adaptive stations.
    result = hf.simulate_real(mode, octets, channel=f"{CHANNELS[channel]} snr={snr_db}",
                              seed=seed, limit_s=seconds,
                              signal_power=hf.mode(hf.fastest_mode("auto")).mean_power)
    if result["octets_altered"]:
        raise RuntimeError(f"{mode}, {channel}, {snr_db} dB: {result['octets_altered']} octets "
                           "were altered")
    return 8 * result["octets_delivered"] / seconds


def best_fixed(channel: str, snr_db: float, seconds: float, seed: int, near_bps: float
               ) -> Tuple[float, str]:
    """Goodput of the best fixed mode, and its name. The search begins with the rate that the
    goodput near_bps suggests and goes both ways until two rates in a row are no better."""
    seen: Dict[int, Tuple[float, str]] = {}

    def of(rate: int) -> Tuple[float, str]:
        if rate not in seen:
            seen[rate] = max((goodput(f"4539-{rate}{il}", channel, snr_db, seconds, seed),
                              f"4539-{rate}{il}") for il in "SL")
        return seen[rate]

    start = min(range(len(RATES)), key=lambda k: abs(RATES[k] - 1.1 * near_bps))
    best = of(RATES[start])
    for step in (1, -1):
        worse, k = 0, start + step
        while worse < 2 and 0 <= k < len(RATES):
            # A mode cannot deliver more than its rate.
            if RATES[k] <= best[0] and step < 0:
                break
            found = of(RATES[k])
            # Where nothing has come through yet, only slower modes can tell.
            worse = 0 if found[0] > best[0] or (step < 0 and best[0] == 0) else worse + 1
            best = max(best, found)
            k += step
    return best


def measure_cell(channel: str, snr_db: float, seconds: float, seed: int) -> Cell:
    """One cell; all its runs have the same channel realisation."""
    ours = goodput("auto", channel, snr_db, seconds, seed)
    best, mode = best_fixed(channel, snr_db, seconds, seed, ours)
    return Cell(channel, snr_db, seconds, seed, ours, best, mode if best > 0 else "none")


def load(path: str) -> List[Cell]:
    """Cells of a file that save() wrote. Raises OSError, ValueError or KeyError."""
    with open(path, newline="", encoding="utf-8") as file:
        return [Cell(r["channel"], float(r["snr_db"]), float(r["seconds"]), int(r["seed"]),
                     float(r["adaptive_bps"]), float(r["best_bps"]), r["best_mode"])
                for r in csv.DictReader(file)]


def save(path: str, cells: Sequence[Cell]) -> None:
    """Write the cells as CSV, in the order of the table."""
    order = list(CHANNELS)
    rows = sorted(cells, key=lambda c: (order.index(c.channel), c.snr_db))
    output.write_csv(path, list(COLUMNS),
                     ([getattr(c, name) for name in COLUMNS] for c in rows))


def measure(channels: Sequence[str], snrs_db: Sequence[float], seconds: float, seed: int,
            jobs: int = 0, known: Sequence[Cell] = ()) -> Iterator[Cell]:
    """The cells as they are done, in so many processes (0: one for each processor); those that
    are known are not measured again."""
    have = {(c.channel, c.snr_db, c.seconds, c.seed) for c in known}
    with ProcessPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        waiting = [pool.submit(measure_cell, channel, snr_db, seconds, seed)
                   for channel in channels for snr_db in snrs_db
                   if (channel, snr_db, seconds, seed) not in have]
        for one in waiting:
            yield one.result()


def report(cells: Sequence[Cell]) -> str:
    """Markdown: what the adaptive stations reach of the best fixed mode, by channel and SNR."""
    snrs = sorted({c.snr_db for c in cells})
    lines = ["| channel | " + " | ".join(f"{s:g} dB" for s in snrs) + " |",
             "|---|" + "---|" * len(snrs)]
    for channel in CHANNELS:
        row = {c.snr_db: c for c in cells if c.channel == channel}
        if row:
            lines.append(f"| {channel} | "
                         + " | ".join(_cell(row.get(s)) for s in snrs) + " |")
    judged = [c.share for c in cells if c.share is not None]
    met = sum(share >= TARGET for share in judged)
    lines.append("")
    lines.append(f"{met} of {len(judged)} cells reach {TARGET:g} % of the best fixed mode.")
    return "\n".join(lines)


def _cell(cell: Optional[Cell]) -> str:
    if cell is None:
        return "-"
    if cell.share is None:
        return "no mode"
    said = f"{cell.share:.0f} %"
    said = said if cell.share >= TARGET else f"**{said}**"
    return f"{said}: {cell.adaptive_bps:.0f} of {cell.best_bps:.0f} ({cell.best_mode[5:]})"


def draw(cells: Sequence[Cell], path: str) -> None:
    """The shares as a map, channel by SNR; the format follows from the name."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    import numpy as np
    snrs = sorted({c.snr_db for c in cells})
    names = [name for name in CHANNELS if any(c.channel == name for c in cells)]
    shares = np.full((len(names), len(snrs)), np.nan)
    for c in cells:
        if c.share is not None:
            shares[names.index(c.channel), snrs.index(c.snr_db)] = c.share
    figure, axis = plt.subplots(figsize=(1.3 * len(snrs) + 3, 0.8 * len(names) + 2),
                                layout="constrained")
    image = axis.imshow(shares, vmin=50, vmax=100, cmap="viridis", aspect="auto")
    for row, name in enumerate(names):
        for column, snr in enumerate(snrs):
            share = shares[row, column]
            text = "no mode" if np.isnan(share) else f"{share:.0f} %"
            axis.text(column, row, text, ha="center", va="center",
                      color="white" if share < 80 else "black")
    axis.set(title="Adaptive stations: goodput in % of the best fixed mode",
             xlabel="SNR in 3 kHz, dB", xticks=range(len(snrs)), yticks=range(len(names)))
    axis.set_xticklabels([f"{s:g}" for s in snrs])
    axis.set_yticklabels(names)
    figure.colorbar(image, label="% of the best fixed mode")
    output.save_figure(figure, path, dpi=110)
    plt.close(figure)
