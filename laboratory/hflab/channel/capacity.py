# SPDX-License-Identifier: GPL-3.0-or-later
"""Capacity of a channel: the bit rate that no code exceeds, and how far a goodput is from it.

Gaussian input, 3 kHz, the receiver knows the channel, the sender does not. Without fading it is
Shannon's formula. On a Watterson channel the power at each frequency is exponential, whatever the
delays and the Doppler spread, since it is a sum of Gaussian paths. The ergodic capacity is the
mean over that distribution. A transfer that ends within few fades may be above or below it.
"""
import math

from scipy.optimize import brentq
from scipy.special import exp1

BANDWIDTH_HZ = 3000.0
#: SNR at which a goodput is looked for, dB.
LOWEST_DB, HIGHEST_DB = -28.0, 100.0


def capacity_bps(snr_db: float, fading: bool) -> float:
    """bit/s at an SNR in 3 kHz, without fading or with Rayleigh fading."""
    snr = 10 ** (snr_db / 10)
    nats = math.exp(1 / snr) * float(exp1(1 / snr)) if fading else math.log1p(snr)
    return BANDWIDTH_HZ * nats / math.log(2)


def gap_db(goodput_bps: float, snr_db: float, fading: bool) -> float:
    """SNR beyond the one at which the capacity is the goodput, dB. Infinite without goodput."""
    if goodput_bps <= capacity_bps(LOWEST_DB, fading):
        return math.inf
    return snr_db - float(brentq(lambda db: capacity_bps(db, fading) - goodput_bps, LOWEST_DB,
                                 HIGHEST_DB))


def words(goodput_bps: float, snr_db: float, fading: bool) -> str:
    """For a table: the gap, "6.7 dB", or "-" without goodput."""
    gap = gap_db(goodput_bps, snr_db, fading)
    return f"{gap:.1f} dB" if math.isfinite(gap) else "-"
