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
# # 5. Equalising
#
# Two ways 2 ms apart: each symbol is heard again five symbols later, over its successors. The
# receiver measures the channel by symbols that it knows, the mini-probes, and takes the echo
# out. This lesson compares the constellation before and after.

# %%
from gnuradio import blocks, gr, hf
import matplotlib.pyplot as plt
import numpy as np
import pmt

mode, CHANNEL = "4539-2400S", "poor snr=25"
octets = np.random.default_rng(1).bytes(1500)
silence = np.zeros(4800, np.complex64)
heard = hf.channel_model(CHANNEL, seed=5).process(
    np.concatenate([silence, hf.modulate(mode, octets), silence]))

# %% [markdown]
# The receive chain up to the equaliser. Its tags carry the taps of the channel at each frame.

# %%
top = gr.top_block()
finder, equaliser = hf.preamble_finder(mode), hf.equaliser(mode)
points, variances = blocks.vector_sink_c(), blocks.vector_sink_f()
top.connect(blocks.vector_source_c(heard.tolist()), finder, equaliser, points)
top.connect((equaliser, 1), variances)
top.run()
tags = [t for t in points.tags() if str(t.key) == "taps"]
taps = np.array([pmt.c32vector_elements(t.value) for t in tags])
equalised = np.array(points.data())
print(f"{len(equalised)} points, {len(taps)} measurements of {taps.shape[1]} taps")

# %% [markdown]
# How far are the points from the nearest point of the constellation? Before: one sample for
# each symbol of the whole transmission, at the best of the four phases.

# %%
ideal = hf.waveform.constellation(mode)


def error(x):
    """Root mean square distance from the nearest ideal point, at the best rotation."""
    x = x / np.sqrt(np.mean(np.abs(x) ** 2))
    turned = [x * np.exp(1j * a) for a in np.linspace(0, np.pi / 4, 9)[:-1]]
    return min(np.sqrt(np.mean(np.min(np.abs(y[:, None] - ideal), axis=1) ** 2)) for y in turned)


body = heard[6000:6000 + 4 * 2000]
before = min((body[k::4] for k in range(4)), key=error)
data = equalised[:2000]
print(f"error before {error(before):.2f}, after {error(data):.2f}")
assert error(data) < 0.7 * error(before)

# %%
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 4))
left.plot(before.real, before.imag, ".", markersize=2)
left.set(title="As heard", aspect="equal")
middle.plot(data.real, data.imag, ".", markersize=2)
middle.set(title="Equalised", aspect="equal", xlim=(-1.8, 1.8), ylim=(-1.8, 1.8))
right.imshow(np.abs(taps), aspect="auto", origin="lower")
right.set(title="Taps of the channel", xlabel="half symbols", ylabel="frame")
plt.show()

# %% [markdown]
# **Question.** The right picture shows two ways that fade. What happens to the points while one
# of them is gone, and while both are? Plot `np.array(variances.data())` beside it.
