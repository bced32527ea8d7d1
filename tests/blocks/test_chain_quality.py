# SPDX-License-Identifier: GPL-3.0-or-later
"""The receive chain loses at most 1 dB against hf.rx with effort 0, on AWGN and CCIR Poor."""
import random

from gnuradio import blocks, gr, hf
import numpy as np
import pytest

from flow import Listener, wait_for

MESSAGES = 20
#: Mode, and SNR in 3 kHz at which the receiver of effort 0 fails for a part of the messages.
POINTS = [("4539-75S", -10, -4), ("4539-600S", -2, 4), ("4539-1200S", 1, 8), ("4539-2400S", 6, 13),
          ("4539-4800S", 9, 16), ("4539-9600S", 17, 25)]


def samples(mode, channel, seed):
    """One transmission of 1.5 s of data after a channel, and the message."""
    octets = random.Random(seed).randbytes(max(8, int(hf.mode(mode).rate_bps * 1.5 / 8)))
    silence = np.zeros(4800, np.complex64)
    x = np.concatenate([silence, hf.modulate(mode, octets), silence, silence])
    model = hf.channel_model(channel, seed=seed, signal_power=hf.mode(mode).mean_power)
    return model.process(x), octets


def failures(mode, channel, make):
    """Messages of MESSAGES that a receiver does not deliver as they were sent."""
    failed = 0
    for seed in range(1, MESSAGES + 1):
        x, octets = samples(mode, channel, seed)
        top, receiver = gr.top_block(), make()
        pdus = Listener(top, receiver, "pdus")
        top.connect(blocks.vector_source_c(x.tolist()), receiver)
        top.run()
        wait_for(lambda: octets in [o for _, o in pdus.messages()], 0.3)
        failed += octets not in [o for _, o in pdus.messages()]
    return failed


@pytest.mark.parametrize("kind", ["awgn", "poor"])
@pytest.mark.parametrize("mode, awgn, poor", POINTS)
def test_it_is_within_a_decibel(mode, awgn, poor, kind):
    snr = awgn if kind == "awgn" else poor
    whole = failures(mode, f"{kind} snr={snr}", lambda: hf.rx(effort=0, join=False))
    chain = failures(mode, f"{kind} snr={snr + 1}", lambda: hf.rx_chain(mode))
    print(f"{mode} {kind} {snr} dB: hf.rx {whole}, chain at {snr + 1} dB {chain} of {MESSAGES}")
    assert chain <= whole and whole < MESSAGES
