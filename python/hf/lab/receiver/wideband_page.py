# SPDX-License-Identifier: GPL-3.0-or-later
"""Page of the measured wideband waveforms, from files that `hf ber` keeps:
margins to the standard's limits, the two codes, acquisition, and false starts in noise."""
import math
import os
from typing import Dict, List, Optional, Sequence, Tuple

from ... import hf_python as hf
from .. import sweep
from . import acquisition, ber, standard, tally

MARGINS, CODES, ACQUISITION, NOISE = (f"wideband-{name}.csv" for name in
                                      ("margins", "codes", "acquisition", "noise"))
#: Bit error rate at which codes are compared.
COMPARED_AT = 1e-4


def snr_at(points: Sequence[Tuple[float, float]], rate: float) -> Optional[float]:
    """SNR at which curve \\p points, of SNR and bit error rate, falls through \\p rate:
    interpolated in its logarithm between the neighbours, None beyond the ends. A point without
    errors ends the curve."""
    curve = sorted(points)
    for (low, above), (high, below) in zip(curve, curve[1:]):
        if above >= rate > below > 0:
            share = math.log(above / rate) / math.log(above / below)
            return low + share * (high - low)
    return None


def codes_table(results: Sequence[ber.Result]) -> str:
    """Gain of constraint length 9 over 7 on AWGN, for modes measured with both."""
    curves: Dict[Tuple[str, str], List[ber.Result]] = {}
    for r in results:
        if r.point.channel.startswith("awgn "):
            curves.setdefault((r.point.mode, "awgn"), []).append(r)
    ideal = {k: standard.wideband_ideal_db(k) for k in (7, 9)}
    lines = ["| mode | waveform | channel | K = 7, dB | K = 9, dB | gain, dB | ideal receiver's "
             "gain at 1e-5 on AWGN | bits, K = 7 / 9 |", "|---|---|---|---|---|---|---|---|"]

    def place(key: Tuple[str, str]) -> Tuple[str, int, int]:
        m = hf.mode(key[0])
        return key[1], m.bandwidth_hz, m.waveform or 0

    for mode, channel in sorted(curves, key=place):
        other = curves.get((mode + "-k9", channel))
        if mode.endswith("-k9") or other is None:
            continue
        both = [curves[mode, channel], other]
        needs = [snr_at([(float(r.point.channel.split("snr=")[1]), r.ber) for r in c],
                        COMPARED_AT) for c in both]
        said = ["-" if n is None else f"{n:.2f}" for n in needs]
        gain = "-" if None in needs else f"{needs[0] - needs[1]:.2f}"  # type: ignore[operator]
        wid = hf.mode(mode).waveform
        best = f"{ideal[7][wid] - ideal[9][wid]:.1f}"
        bits = " / ".join(f"{sum(r.bits for r in c):.1e}" for c in both)
        lines.append(f"| {mode} | {wid} | {channel} | {said[0]} | {said[1]} | {gain} | {best} | "
                     f"{bits} |")
    return "\n".join(lines)


def faded_codes_table(results: Sequence[ber.Result]) -> str:
    """The same two codes where blocks are lost in fades: bad ones of both over the same channels,
    and the SNR at which one in ten is bad."""
    pairs: Dict[Tuple[str, str], Dict[float, Dict[int, ber.Result]]] = {}
    for r in results:
        channel, snr = r.point.channel.split(" snr=")
        if channel != "awgn":
            k9 = r.point.mode.endswith("-k9")
            mode = r.point.mode[:-len("-k9")] if k9 else r.point.mode
            pairs.setdefault((channel, mode), {}).setdefault(float(snr), {})[9 if k9 else 7] = r
    lines = ["| mode | waveform | channel | bad blocks at SNR, dB: K = 7, K = 9, of | one in ten "
             "bad, dB: K = 7, K = 9 | gain, dB |", "|---|---|---|---|---|---|"]
    for (channel, mode), by_snr in sorted(
            pairs.items(), key=lambda p: (p[0][0], hf.mode(p[0][1]).waveform or 0)):
        both = {snr: found for snr, found in sorted(by_snr.items())
                if len(found) == 2 and found[7].blocks == found[9].blocks}
        if not both:
            continue
        counts = "; ".join(f"{snr:g}: {f[7].bad_blocks}, {f[9].bad_blocks}, {f[7].blocks}"
                           for snr, f in both.items())
        needs = [snr_at([(snr, f[k].bad_blocks / f[k].blocks) for snr, f in both.items()], 0.1)
                 for k in (7, 9)]
        said = ", ".join("-" if n is None else f"{n:.1f}" for n in needs)
        gain = "-" if None in needs else f"{needs[0] - needs[1]:.1f}"  # type: ignore[operator]
        lines.append(f"| {mode} | {hf.mode(mode).waveform} | {channel} | {counts} | {said} | "
                     f"{gain} |")
    return "\n".join(lines)


#: How a cell of the table of margins says it; {} is the margin in dB.
SAID = {"shown": "**{:g}**", "met": "{:g}", "open": "{:g} ?", "MISSED": "less than {:g}"}


def _margin_table(cells: Dict[Tuple[str, int, int], str]) -> str:
    """Cells by condition, waveform and bandwidth."""
    bandwidths = sorted({b for _, _, b in cells})
    lines = ["| dB below the limit | " + " | ".join(f"{b} kHz" for b in bandwidths) + " |",
             "|---|" + "---|" * len(bandwidths)]
    lines += [f"| {kind}, waveform {wid} | "
              + " | ".join(cells.get((kind, wid, b), "") for b in bandwidths) + " |"
              for kind, wid in sorted({(k, w) for k, w, _ in cells})]
    return "\n".join(lines)


#: Heads of the tables of measured rows.
ROW_HEAD = ("| row | mode | limit dB | measured at | bits | signal s | bad blocks | with fresh "
            "seeds | lost | BER | 97.5 % up to | |\n|---" + 11 * "|---" + "|")


class Measured:
    """Measured results of the standard's rows. results: all trials; fresh: those among them with
    seeds of the second family."""

    def __init__(self, results: Sequence[ber.Result], fresh: Sequence[ber.Result]) -> None:
        # The longest of several runs at one place counts.
        self._of = {(r.point.mode, r.point.channel): r
                    for r in sorted(results, key=lambda r: r.air_s)}
        self._fresh = {r.point: r for r in fresh}

    def at(self, row: standard.Row, snr_db: float) -> Optional[ber.Result]:
        """Result of the row at that SNR. None: not measured."""
        return self._of.get((row.mode, f"{row.channel} snr={snr_db:g}"))

    def line(self, row: standard.Row, snr_db: float, r: ber.Result) -> str:
        """The result as a line under ROW_HEAD."""
        other = self._fresh.get(r.point)
        with_fresh = f"{other.bad_blocks} of {other.blocks}" if other else "-"
        return (f"| {row.id} | {row.mode} | {row.snr_db:g} | {snr_db:g} | {r.bits} | "
                f"{r.air_s:.0f} | {r.bad_blocks} of {r.blocks} | {with_fresh} | "
                f"{r.lost + r.cut} of {r.trials} | {r.ber:.1e} | "
                f"{standard.upper_bound(r):.1e} | {standard.verdict(row, r)} |")


def kind_of(row: standard.Row) -> str:
    """Condition of the row: AWGN, POOR, STATIC, UP75, DOWN75 or SWEEP."""
    return row.id.split("-")[2]


def margins(measured: Measured) -> str:
    """The rows of table D-LII that were measured from our targets on: two tables."""
    cells: Dict[Tuple[str, int, int], str] = {}
    lines = [ROW_HEAD]
    for row in standard.wideband_rows():
        kind = kind_of(row)
        if row.target_db is None or kind not in ("AWGN", "POOR"):
            continue
        m = hf.mode(row.mode)
        cell = (kind, m.waveform or 0, m.bandwidth_hz // 1000)
        at_db = round(row.target_db, 2)
        while at_db <= row.snr_db:
            r = measured.at(row, at_db)
            if r is not None:
                word = standard.verdict(row, r)
                said = SAID[word].format(round(row.snr_db - at_db, 2))
                # The place where the row is shown, or else the first, which is the target.
                if word == "shown" or cell not in cells:
                    cells[cell] = said
                lines.append(measured.line(row, at_db, r))
            at_db = round(at_db + standard.ACCEPT_STEP_DB, 2)
    return _margin_table(cells) + "\n\n" + "\n".join(lines)


def other_conditions(measured: Measured) -> str:
    """The rows with static paths or a sweep of frequency, at our targets."""
    lines = [ROW_HEAD]
    for row in standard.wideband_rows():
        if row.target_db is not None and kind_of(row) not in ("AWGN", "POOR") and row.max_ber:
            r = measured.at(row, round(row.target_db, 2))
            lines += [] if r is None else [measured.line(row, row.target_db, r)]
    return "\n".join(lines)


def acquired(rows: Sequence[tally.Found]) -> str:
    """The table of acquisition, counts of equal conditions added."""
    sums: Dict[acquisition.Condition, List[int]] = {}
    for r in rows:
        target = acquisition.TARGETS["awgn" if r.channel == "awgn" else "fading"]
        total = sums.setdefault(acquisition.Condition(r.mode, r.channel, r.snr_db, target,
                                                      r.superframes), [0, 0])
        total[0] += r.trials
        total[1] += r.found

    def place(c: acquisition.Condition) -> Tuple[int, int, str, int]:
        m = hf.mode(c.mode)
        return m.bandwidth_hz, m.waveform or 0, c.channel, c.superframes

    return acquisition.table([acquisition.Outcome(c, *sums[c]) for c in sorted(sums, key=place)])


def page(folder: str) -> str:
    """The whole page, of the files in a folder. Raises ValueError or OSError for one that is not
    there or damaged."""
    def rows(kind: type, name: str) -> list:
        return sweep.read(kind, os.path.join(folder, name))

    trials = rows(ber.Trial, MARGINS)
    measured = Measured(ber.results(trials), ber.results(trials, standard.FAMILIES[1]))
    codes = ber.results(rows(ber.Trial, CODES))
    return f"""# Wideband waveforms, measured

Written by `hf ber wideband-page docs/measurements`, from the files beside it, which the commands
below go on filling. SNR counts in the mode's bandwidth; Poor is two paths, 2 ms, 1 Hz. Seeds are 1
and the following ones, and those that a table names.

## Margins to table D-LII

`hf ber standard --row "D12-*" --accept --csv docs/measurements/{MARGINS}`: each row not at its
limit but so far below it: at our target, and above it in steps of {standard.ACCEPT_STEP_DB:g} dB
while it is not shown there. In bold what is shown: {standard.SHOWN_S:.0f} s and
{standard.SHOWN_BITS:.0e} bits, half of them with fresh seeds (from {standard.FAMILIES[1]} on),
nothing lost, and the upper bound ({standard.CONFIDENCE:g} %, Poisson, of bad blocks) within 1e-5.
With a question mark: more errors than 1e-5, in too few blocks to tell. Empty: not measured.
Targets on AWGN are of the ideal receiver in 3 kHz. In 48 kHz waveform 3 carries 1/2 bit in each
of its data symbols (half of all; rate 1/2) where it carries 1/3 in 3 kHz (three quarters; rate
1/3): 1.8 dB less energy per bit at the same SNR.

{margins(measured)}

## Static paths, sweeps of frequency

`hf ber standard --row "D*-STATIC" --accept --csv docs/measurements/{MARGINS}`, SWEEP alike:
paths of D-LIII and D-LXV that stand still, at 50 dB; a sweep of +-75 Hz by 3.5 Hz/s (D.6.5),
{standard.SPARE_DB:g} dB below the standard's SNR. Shifts of +-75 Hz have no bit error rate to
pass, they are to be held.

{other_conditions(measured)}

## Constraint length 9 against 7

`hf ber run --mode 5069-3k-9600L --mode 5069-3k-9600L-k9 --snr 16.9:17.9:0.2 --seconds 26
--max-bad 1000 --max-time 620 --csv docs/measurements/{CODES}`: SNR at a bit error rate of
{COMPARED_AT:g}, interpolated; equal seeds. "-": the curve does not pass that rate between two
points that have errors. With 60 blocks a point, some tens of them with errors near that rate, a
figure is good to 0.1 dB or so. Asked was 1 dB on AWGN and 0.5 dB on Poor; the ideal receiver gains
0.3 to 0.7 dB with waveforms 8 to 12, so that 1 dB is not there to be had.

{codes_table(codes)}

On Poor, where fades take blocks (`--channel poor --snr 20,21.5 --seconds 20.6 --max-bad 1000
--max-time 820`): both codes over the same channels and noise, so that the difference counts more
than each count.

{faded_codes_table(codes)}

## Acquisition at the threshold of the data

`hf ber acquisition --bandwidth 3 --waveform 0 --csv
docs/measurements/{ACQUISITION}`, and with `--superframes` for others than the mode's
own: one block of each waveform, found in its mode. Own are
two of waveform 0, three in 3 kHz, two of waveform 1 in 3 kHz, one of all others.

{acquired(rows(tally.Found, ACQUISITION))}

## Noise alone

`hf ber noise --hours 24 --bandwidth 12 --csv docs/measurements/{NOISE}`: target less than one
false start in 24 h.

{tally.noise_table(rows(tally.Noise, NOISE))}
"""
