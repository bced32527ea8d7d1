# SPDX-License-Identifier: GPL-3.0-or-later
"""SNR between two places by hour and frequency, as VOACAP predicts it: facts for `hf-lab day`.

The table beside this file was made once. With voacapl (public domain) and its data installed by
makeitshfbc, `python3 -m hflab.link.propagation > propagation.csv` makes it again.
"""
import csv
from dataclasses import dataclass
import os
import subprocess
import sys
from typing import Dict, List, TextIO

#: The table of this package.
PATH = os.path.join(os.path.dirname(__file__), "propagation.csv")

#: What the table is of. The frequencies divide 4 to 18 MHz into equal ratios.
CIRCUIT = ("Oslo to the Azores (59.91 N 10.75 E, 37.74 N 25.67 W), March, sunspot number 100, "
           "1 kW, 0 dBi at both ends, residential noise (-145 dBW/Hz at 3 MHz)")
MHZ = (4.0, 5.8, 8.5, 12.4, 18.0)

#: Noise bandwidth of the SNR in the table. VOACAP's is 1 Hz.
BANDWIDTH_DB = 34.8

DECK = """LINEMAX      55       number of lines-per-page
COEFFS    CCIR
TIME          1   24    1    1
MONTH      2026 3.00
SUNSPOT    100.
LABEL     Oslo                Azores
CIRCUIT   59.91N    10.75E    37.74N    25.67W  S     0
SYSTEM       1. 145. 3.00  90. 45.0 3.00 0.10
FPROB      1.00 1.00 1.00 0.00
ANTENNA       1    1    2   30     0.000[default/isotrope     ]  0.0    1.0000
ANTENNA       2    2    2   30     0.000[default/isotrope     ]  0.0    0.0000
FREQUENCY {frequencies}
METHOD       30    0
EXECUTE
QUIT
"""


@dataclass(frozen=True)
class Prediction:
    """One frequency in one hour. SNR in 3 kHz, over the days of the month."""

    hour: int            #: UTC, 0 to 23: from this hour on
    mhz: float
    snr_db: float        #: median
    low_db: float        #: below the median: exceeded on 90 % of the days
    high_db: float       #: above the median: exceeded on 10 %
    muf_day: float       #: share of the days on which the MUF is above the frequency
    muf_mhz: float       #: median MUF of the hour


def read(path: str = PATH) -> List[Prediction]:
    """The predictions of a table. Raises OSError, ValueError."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [Prediction(int(r["hour"]), *(float(r[k]) for k in (
            "mhz", "snr_db", "low_db", "high_db", "muf_day", "muf_mhz"))) for r in rows]


def parse(text: str) -> List[Prediction]:
    """The predictions in an output of VOACAP's method 30, by hour and frequency. Raises ValueError
    for numbers that cannot be read."""
    found: List[Prediction] = []
    rows: Dict[str, List[str]] = {}
    for line in text.splitlines():
        name = line[66:].strip()
        # Columns of 5: the hour or nothing, the MUF, then up to 11 frequencies.
        columns = [line[k:k + 5].strip() for k in range(6, 66, 5)]
        if name == "FREQ":
            rows = {"hour": [line[:6].strip()]}
        rows[name] = columns
        if name == "SNR UP" and "hour" in rows:
            for k in range(1, len(columns)):
                if float(rows["FREQ"][k]) > 0:
                    found.append(Prediction(
                        int(float(rows["hour"][0])) % 24, float(rows["FREQ"][k]),
                        round(float(rows["SNR"][k]) - BANDWIDTH_DB, 1),
                        float(rows["SNR LW"][k]), float(rows["SNR UP"][k]),
                        float(rows["MUFday"][k]), float(rows["FREQ"][0])))
    return sorted(found, key=lambda p: (p.hour, p.mhz))


def predict(folder: str, program: str = "voacapl") -> List[Prediction]:
    """Run voacapl with its folder of data (itshfbc). Raises OSError, ValueError."""
    run = os.path.join(folder, "run")
    frequencies = "".join(f"{f:5.2f}" for f in MHZ) + " 0.00" * (11 - len(MHZ))
    with open(os.path.join(run, "gr-hf.dat"), "w", encoding="ascii") as file:
        file.write(DECK.format(frequencies=frequencies))
    subprocess.run([program, "-s", folder, "gr-hf.dat", "gr-hf.out"], check=True, timeout=300,
                   stdout=subprocess.DEVNULL)
    with open(os.path.join(run, "gr-hf.out"), encoding="ascii", errors="replace") as file:
        found = parse(file.read())
    if len(found) != 24 * len(MHZ):
        raise ValueError(f"VOACAP gave {len(found)} values, not {24 * len(MHZ)}")
    return found


def write(predictions: List[Prediction], file: TextIO) -> None:
    """Write the table as CSV."""
    file.write(f"# SNR by VOACAP (voacapl, method 30). {CIRCUIT}\n")
    file.write("hour,mhz,snr_db,low_db,high_db,muf_day,muf_mhz\n")
    for p in predictions:
        file.write(f"{p.hour},{p.mhz:g},{p.snr_db:g},{p.low_db:g},{p.high_db:g},{p.muf_day:g},"
                   f"{p.muf_mhz:g}\n")


if __name__ == "__main__":
    write(predict(os.path.expanduser("~/itshfbc")), sys.stdout)
