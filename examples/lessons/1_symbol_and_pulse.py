# SPDX-License-Identifier: GPL-3.0-or-later
# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 1. A symbol and its pulse
#
# A modem sends symbols: complex numbers, 2400 of them each second in a channel of 3 kHz. This
# lesson shows how a symbol becomes a pulse, how the pulses overlap on the air, and how the
# receiver takes them apart again.

# %%
from gnuradio import hf
import matplotlib.pyplot as plt
import numpy as np

mode = "4539-600S"
sent = hf.waveform.preamble(mode)          # known symbols, which every transmission starts with
samples = hf.modulate(mode, b"Hello, HF")  # complex baseband, 4 samples for each symbol
rate = int(4 * hf.waveform.sizes(mode)["symbol_rate"])
print(f"{len(sent)} symbols of the preamble, {rate} samples/s")

# %% [markdown]
# The pulse is a root raised cosine of roll-off 0.35. Twice in a row, in the transmitter and in
# the receiver, it makes a raised cosine. That one is 1 at its own symbol and 0 at all others.

# %%
ROLL_OFF = 0.35
t = np.arange(-10, 10.01, 0.25) + 1e-9  # in symbols
pulse = (np.sin(np.pi * t * (1 - ROLL_OFF))
         + 4 * ROLL_OFF * t * np.cos(np.pi * t * (1 + ROLL_OFF))) / (
             np.pi * t * (1 - (4 * ROLL_OFF * t) ** 2))
both = np.convolve(pulse, pulse) / 4
at_symbols = both[len(both) // 2 % 4::4]
print("highest value at another symbol:", round(np.sort(np.abs(at_symbols))[-2], 4))
assert np.sort(np.abs(at_symbols))[-2] < 0.02

# %% [markdown]
# The samples in the middle of each symbol, without and with the receiver's pulse.

# %%
plain = samples[40::4][:len(sent)]
matched = (np.convolve(samples, pulse) / 4)[80::4][:len(sent)]
errors = [np.sqrt(np.mean(np.abs(x - sent) ** 2)) for x in (plain, matched)]
print(f"error without the second pulse {errors[0]:.3f}, with it {errors[1]:.4f}")
assert errors[1] < 0.02 and errors[0] > 5 * errors[1]

# %%
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 4))
left.plot(t, pulse, label="one pulse")
left.plot(np.arange(-80, 81) / 4, both, label="two in a row")
left.set(xlim=(-6, 6), xlabel="symbols", title="Pulses")
left.legend()
for axis, points, title in ((middle, plain, "Without"), (right, matched, "With")):
    axis.plot(points.real, points.imag, ".")
    axis.set(title=f"{title} the second pulse", xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), aspect="equal")
plt.show()

# %% [markdown]
# **Question.** The symbols need 2400 Hz, the channel has 3000 Hz. Which roll-off would fill it
# exactly, and what would you pay for a smaller one? Change `ROLL_OFF` and look at the left
# picture.
