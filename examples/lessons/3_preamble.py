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
# # 3. The preamble
#
# Nobody tells the receiver that a transmission comes. It starts with symbols that the receiver
# knows, and the receiver looks for them all the time. This lesson finds a transmission that is
# weaker than the noise.

# %%
from gnuradio import blocks, gr, hf
import matplotlib.pyplot as plt
import numpy as np
import pmt

mode, SNR_DB, OFFSET_HZ, START = "4539-600S", 0, 30, 12345
rate = 9600
sent = np.concatenate([np.zeros(START), hf.modulate(mode, b"Hello, HF"), np.zeros(rate)])
heard = hf.channel_model(f"awgn snr={SNR_DB} offset={OFFSET_HZ}", seed=3).process(
    sent.astype(np.complex64))

# %% [markdown]
# Correlate with the known symbols. A frequency offset turns their phases, so that a long
# correlation cancels out. So correlate short stretches, and add their magnitudes. The preamble
# of this mode repeats a segment of 480 symbols, with a count in it: the peak has lower
# neighbours.

# %%
known = hf.waveform.preamble(mode)
STRETCH = 32  # symbols: 13 ms, in which 30 Hz turn the phase by 140 degrees


def correlation(stretch):
    """Sum of the magnitudes of all stretches of the preamble, at each sample."""
    total = np.zeros(len(heard) - 4 * len(known))
    for first in range(0, len(known), stretch):
        piece = np.zeros(4 * stretch, np.complex64)
        piece[::4] = known[first:first + stretch]
        at = heard[4 * first:4 * first + len(total) + len(piece) - 1]
        total += np.abs(np.correlate(at, piece, "valid"))[:len(total)]
    return total


whole, pieces = correlation(len(known)), correlation(STRETCH)
found = int(np.argmax(pieces))
print(f"start {START}, found {found - 40} (the pulse begins 40 samples before its symbol)")
print(f"of {len(known)} symbols {whole.max():.0f} add up at once, {pieces.max():.0f} in stretches")
assert abs(found - 40 - START) <= 2
assert whole.max() < 0.2 * len(known) < pieces.max()  # the offset spoils the whole one

# %% [markdown]
# The block of the receive chain does the same, in all modes at once, and measures the offset.

# %%
top, finder = gr.top_block(), hf.preamble_finder(mode)
probe = blocks.tag_debug(gr.sizeof_gr_complex, "", "hf_start")
probe.set_display(False)
probe.set_save_all(True)
top.connect(blocks.vector_source_c(heard.tolist()), finder, probe)
top.run()
(tag,) = probe.current_tags()
report = pmt.to_python(tag.value)
print(report["mode"], f"{report['freq_offset_hz']:.1f} Hz, {report['snr_db']:.1f} dB")
assert report["mode"] == mode and abs(report["freq_offset_hz"] - OFFSET_HZ) < 3

# %%
figure, (upper, middle, lower) = plt.subplots(3, 1, figsize=(12, 7), sharex=True)
upper.plot(np.abs(heard))
upper.set(title=f"What is heard, SNR {SNR_DB} dB: who sees the start?")
middle.plot(whole)
middle.set(title="Correlation with the whole preamble at once")
lower.plot(pieces)
lower.set(title=f"In stretches of {STRETCH} symbols", xlabel="sample")
plt.show()

# %% [markdown]
# **Question.** Shorter stretches bear more offset. Why not take 4 symbols? Try it, then lower
# `SNR_DB`.
