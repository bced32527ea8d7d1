# SPDX-License-Identifier: GPL-3.0-or-later
"""Transmissions near the threshold in a wide band of noise, heard by hf monitor and, each channel
cut out by a transform of the whole, by hf demodulate: the same signals in the same noise."""
from dataclasses import dataclass
import json
import subprocess

from gnuradio import hf
from gnuradio.hf.recordings import sigmf
import numpy as np

RATE, NARROW = 96000, 9600
CENTRES = [3000 * k for k in range(-12, 13, 3)]  # Hz; neighbours hear nothing of each other
OCTETS = 12
#: SNR in 3 kHz on AWGN that the data of a mode need, dB: hf info --modes.
THRESHOLD_DB = {"4539-75S": -7.4, "4539-600S": -0.9, "4539-2400S": 7.4, "4539-9600S": 18.3}


@dataclass
class Sent:
    """One of the transmissions."""

    centre: int
    start_s: float
    octets: bytes


def band(mode, each, seed, snr_db=None):
    """A band with this many transmissions in each channel, and random pauses and frequency offsets
    (40 Hz). Returns the samples and the transmissions."""
    random = np.random.default_rng(seed)
    sent, narrow = [], []
    for centre in CENTRES:
        pieces, count = [], 0
        for _ in range(each):
            pause = int(random.integers(NARROW // 2, 2 * NARROW))
            octets = random.bytes(OCTETS)
            offset_hz = random.uniform(-40, 40)
            sent.append(Sent(centre, (count + pause) / NARROW, octets))
            signal = np.asarray(hf.modulate(mode, octets))
            turns = offset_hz * np.arange(len(signal)) / NARROW + random.uniform()
            signal = signal * np.exp(2j * np.pi * turns)
            pieces += [np.zeros(pause), signal]
            count += pause + len(signal)
        narrow.append(np.concatenate(pieces))
    length = (max(map(len, narrow)) // NARROW + 2) * NARROW
    spectrum = np.zeros(length * RATE // NARROW, complex)
    for centre, x in zip(CENTRES, narrow):
        s = np.fft.fft(x, length)
        at = (np.fft.fftfreq(length, 1 / length).astype(int) + centre * length // NARROW)
        spectrum[at % len(spectrum)] += s * (RATE / NARROW)
    wide = np.fft.ifft(spectrum)
    ratio = 10 ** ((THRESHOLD_DB[mode] if snr_db is None else snr_db) / 10)
    power = hf.mode(mode).mean_power / ratio  # of noise in 3 kHz
    noise = random.normal(size=(len(wide), 2)) @ [1, 1j] * np.sqrt(power / 2 * RATE / 3000)
    return (wide + noise).astype(np.complex64), sent


def cut(wide, centre):
    """The band within 4.8 kHz of a centre, at 9600 samples/s, by one transform of the whole."""
    spectrum = np.fft.fft(wide)
    length = len(wide) * NARROW // RATE
    at = np.fft.fftfreq(length, 1 / length).astype(int) + centre * length // NARROW
    return (np.fft.ifft(spectrum[at % len(spectrum)]) * (NARROW / RATE)).astype(np.complex64)


def heard_by_monitor(folder, wide):
    """(channel, start, mode, octets) of each transmission."""
    sigmf.write_sigmf(str(folder / "band"), RATE, [wide], "a test", lambda _: [])
    result = subprocess.run(
        ["hf", "monitor", "--channels=" + ",".join(map(str, CENTRES)),
         str(folder / "band.sigmf-meta"), "--payload", str(folder / "heard")],
        capture_output=True, text=True, check=True)
    found = []
    for line in result.stdout.splitlines():
        r = json.loads(line)
        file = folder / "heard" / f"{r['channel_hz']:+.0f}-{r['start_s']:.2f}.bin"
        found.append((r["channel_hz"], r["start_s"], r["mode"],
                      file.read_bytes() if file.exists() else b""))
    return found


def heard_by_demodulate(folder, wide):
    """The same by hf demodulate, a channel at a time."""
    found = []
    for centre in CENTRES:
        base = folder / f"narrow{centre}"
        sigmf.write_sigmf(str(base), NARROW, [cut(wide, centre)], "a test", lambda _: [])
        result = subprocess.run(["hf", "demodulate", "--json", f"{base}.sigmf-meta"],
                                capture_output=True, check=False)
        assert result.returncode in (0, 1), result.stderr  # 1: there was nothing
        octets = result.stdout
        for line in result.stderr.decode().splitlines():
            if line.startswith("{") and "start_s" in (r := json.loads(line)):
                found.append((centre, r["start_s"], r["mode"], octets[:r["octets"]]))
                octets = octets[r["octets"]:]
    return found


def counts(found, sent, mode):
    """How many were found in their mode, and how many of them without an error; what else was."""
    rest, there, right = list(found), 0, 0
    for s in sent:
        for f in rest:
            if f[0] == s.centre and f[2] == mode and abs(f[1] - s.start_s) < 0.3:
                rest.remove(f)
                there += 1
                right += f[3][:OCTETS] == s.octets
                break
    return there, right, len(rest)
