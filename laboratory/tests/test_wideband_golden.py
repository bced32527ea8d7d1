# SPDX-License-Identifier: GPL-3.0-or-later
"""Every stored vector and every digest of the wideband waveforms, symbol by symbol."""
import csv
import hashlib
import json
import pathlib
from typing import Any, Dict, Tuple

import numpy as np
import pytest

import gnuradio.hf as hf
from hflab import experiments

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "vectors" / "waveform"
CASES = json.loads((VECTORS / "wideband.json").read_text())
ARRAYS = np.load(VECTORS / "wideband.npz")
EOM = np.array([0x4B65A5B2 >> (31 - n) & 1 for n in range(32)], np.uint8)
PROBE, DATA = 2, 3


def prbs15(count: int) -> np.ndarray:
    """The golden input: b[n] = b[n-14] xor b[n-15], all ones before, 1000 bits dropped."""
    period = 32767
    bits = [1] * 15
    while len(bits) < 15 + 1000 + period:
        bits.append(bits[-14] ^ bits[-15])
    return np.resize(np.array(bits[1015:], np.uint8), count)


def packed(bits: np.ndarray, order: Any = "big") -> bytes:
    return np.packbits(bits, bitorder=order).tobytes()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def table() -> Dict[Tuple[int, int, str, int], hf.mode]:
    """Modes by bandwidth in kHz, waveform number, interleaver and constraint length."""
    modes = {}
    with (VECTORS / "wb_waveforms.csv").open(encoding="ascii") as file:
        for r in csv.DictReader(file):
            khz, wid = int(r["bw_khz"]), int(r["wid"])
            for il in ("US", "S", "M", "L") if wid else ("S", "M", "L"):
                for k, suffix in ((7, ""), (9, "-k9")):
                    name = f"5069-{khz}k-{r['data_rate_bps']}{il}{suffix}"
                    modes[khz, wid, il, k] = hf.mode(name)
    return modes


MODES = table()


def test_the_prbs_is_the_golden_one():
    assert "".join(map(str, prbs15(64))) == (
        "1010100011111111111100100000000000101100000000001110100000000010")


def test_every_digest():
    with (VECTORS / "wideband_digests.csv").open(encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(MODES) == 1216
    wrong = []
    for r in rows:
        mode = MODES[int(r["bw_khz"]), int(r["wid"]), r["interleaver"], int(r["K"])]
        assert hf.timing(mode).bits_per_block == int(r["input_bits"])
        block = experiments.encode_block(mode, prbs15(int(r["input_bits"])))
        if (sha256(packed(block["fetched"])) != r["sha256_fetched"]
                or sha256(block["numbers"].tobytes()) != r["sha256_data_symbols"]):
            wrong.append(str(mode))
    assert not wrong


def mode_of(case: Dict[str, Any]) -> hf.mode:
    return MODES[case["bw_khz"], case["wid"], case["interleaver"], case["K"]]


def bits_of(case: Dict[str, Any]) -> np.ndarray:
    """Message, end of message and zeros: whole blocks, one to a row."""
    bits = prbs15(case["input_prbs15_bits"])
    if case["eom"]:
        bits = np.concatenate([bits, EOM])
    size = hf.timing(mode_of(case)).bits_per_block
    return np.concatenate([bits, np.zeros(-len(bits) % size, np.uint8)]).reshape(-1, size)


def transmission(case: Dict[str, Any]) -> Dict[str, np.ndarray]:
    """Most messages with an end of message are no whole octets: then it is among the octets."""
    whole = case["input_prbs15_bits"] % 8 == 0
    message = prbs15(case["input_prbs15_bits"]) if whole else bits_of(case).ravel()
    return experiments.symbols(mode_of(case), packed(message, "little"), case["tlc_blocks"],
                               case["eom"] and whole, case["eot"], case["M"], case["M"] == 1,
                               case["pn_mode"] == "running")


def iq(points: np.ndarray) -> bytes:
    """As in the digests: int16 I, Q, each component times 1000 and rounded."""
    pairs = np.stack([points.real, points.imag], axis=1).astype(np.float64)
    return np.rint(pairs * 1000).astype("<i2").tobytes()


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_every_vector(case):
    name = case["name"]
    got = transmission(case)
    numbers, kinds = got["numbers"], got["kinds"]
    assert len(numbers) == case["n_symbols_total"]

    head = ARRAYS[name + ".preamble"]
    assert np.array_equal(numbers[:len(head)], head)
    assert np.all(kinds[:len(head)] < PROBE) and kinds[len(head)] >= PROBE
    assert np.array_equal(numbers[kinds == DATA], ARRAYS[name + ".data"])

    fetched = np.concatenate([experiments.encode_block(mode_of(case), b, n)["fetched"]
                              for n, b in enumerate(bits_of(case))])
    assert len(fetched) == case["n_fetched_bits"]
    assert packed(fetched) == ARRAYS[name + ".fetched"].tobytes()

    # The whole stream: probes, their shifts and the end of transmission are in it.
    assert sha256(iq(got["points"])) == case["sha256_iq_x1000_int16le_iq_interleaved"]
    if case["preamble_derived"]:
        after = got["points"][len(head):]
        assert sha256(iq(after)) == case["sha256_iq_x1000_after_preamble"]


@pytest.mark.parametrize("case", [c for c in CASES if c["wid"]], ids=lambda c: c["name"])
def test_which_probes_are_shifted(case):
    got = transmission(case)
    runs = np.flatnonzero(np.diff(got["kinds"] == DATA))
    # After the preamble's probe, data and probes take turns.
    begins, ends = runs[1::2] + 1, np.append(runs[2::2] + 1, len(got["kinds"]))
    first = got["numbers"][runs[0] + 1 - (ends[0] - begins[0]):runs[0] + 1]
    shifted = [not np.array_equal(got["numbers"][b:b + len(first)], first)
               for b in begins]
    assert shifted == list(map(bool, ARRAYS[case["name"] + ".shifted"]))


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize("khz", [3, 6, 9, 12, 15, 18, 21, 24])
def test_both_readings_of_the_preamble(khz, running):
    """Two super-frames and a TLC block of waveform 7, Medium, K = 9."""
    want = ARRAYS[f"C_preamble_bw{khz}_{'running' if running else 'restart'}"]
    got = experiments.symbols(MODES[khz, 7, "M", 9], b"", 1, superframes=2,
                              running_scrambling=running)
    assert np.array_equal(got["numbers"][:len(want)], want)
    assert got["kinds"][len(want)] == PROBE


@pytest.mark.parametrize("name, superframes, short", [("M32", 32, False),
                                                      ("M1_fixed9", 1, False),
                                                      ("M1_fixed1", 1, True)])
def test_lengths_of_the_preamble(name, superframes, short):
    """Waveform 13, Long, K = 7."""
    want = ARRAYS[f"C_preamble_bw3_{name}_restart"]
    got = experiments.symbols(MODES[3, 13, "L", 7], b"", superframes=superframes,
                              short_preamble=short)
    assert np.array_equal(got["numbers"][:len(want)], want)
    assert got["kinds"][len(want)] == PROBE


def test_what_is_derived_can_be_switched():
    """Above 24 kHz no table says how long a channel symbol is; the data do not change with it."""
    mode = MODES[48, 12, "US", 7]
    derived = experiments.symbols(mode, b"x")
    other = experiments.symbols(mode, b"x", same_chips_above_24_khz=True)
    head, short = 18 * 512, 18 * 256
    assert len(derived["numbers"]) - len(other["numbers"]) == head - short
    assert np.array_equal(derived["points"][head:], other["points"][short:])
    below = MODES[24, 12, "US", 7]
    assert np.array_equal(experiments.symbols(below, b"x")["numbers"],
                          experiments.symbols(below, b"x",
                                              same_chips_above_24_khz=True)["numbers"])


def test_every_array_is_compared():
    names = {c["name"] for c in CASES}
    left = {key for key in ARRAYS if key.rpartition(".")[0] not in names}
    assert len(names) == 180 and len(left) == 19
    assert all(key.startswith("C_preamble_") for key in left)
