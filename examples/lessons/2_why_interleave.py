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
# # 2. Why interleave?
#
# The ionosphere fades: for a tenth of a second nothing is received, then everything. A
# convolutional code corrects errors that are spread, but not a gap. The interleaver spreads the
# gap. This lesson erases the same gap twice and compares.

# %%
from gnuradio import blocks, gr, hf
import matplotlib.pyplot as plt
import numpy as np

mode = "4539-600S"
sizes = hf.waveform.sizes(mode)
BLOCKS = 6


def run(items, length, *stages):
    """What the stages make of items in packets of a length."""
    top = gr.top_block()
    if items.dtype == np.uint8:
        source, sink = blocks.vector_source_b(items.tolist()), blocks.vector_sink_b()
        tagger = blocks.stream_to_tagged_stream(1, 1, length, "packet_len")
    else:
        source, sink = blocks.vector_source_f(items.tolist()), blocks.vector_sink_b()
        tagger = blocks.stream_to_tagged_stream(4, 1, length, "packet_len")
    top.connect(source, tagger, *stages, sink)
    top.run()
    return np.array(sink.data(), np.uint8)


# %% [markdown]
# Random bits, encoded: 2 coded bits for each bit. The order in which they go on the air is a
# table.

# %%
bits = np.random.default_rng(1).integers(0, 2, BLOCKS * sizes["input_bits"]).astype(np.uint8)
coded = run(bits, sizes["input_bits"], hf.fec_encoder(mode))
order = hf.waveform.interleaver(mode)
print(f"a block has {len(order)} coded bits; the first ones sent are", order[:8])


# %% [markdown]
# A receiver that is sure of each bit, except in a gap of `LOST` bits on the air in each block.
# Soft bits are positive for 0, negative for 1, and 0 for "no idea".

# %%
LOST = 150


def bit_errors(interleaved):
    """Wrong bits after the decoder."""
    soft = (4.0 - 8.0 * coded).reshape(BLOCKS, -1)
    gap = np.arange(200, 200 + LOST)
    soft[:, order[gap] if interleaved else gap] = 0
    got = run(soft.astype(np.float32).ravel(), sizes["coded_bits"], hf.fec_decoder(mode))
    return np.flatnonzero(got != bits[:len(got)])


without, with_ = bit_errors(False), bit_errors(True)
print(f"{len(without)} wrong bits without interleaver, {len(with_)} with it")
assert len(with_) == 0 and len(without) > 100

# %%
figure, (upper, lower) = plt.subplots(2, 1, figsize=(12, 5))
lost = np.zeros(len(order))
lost[order[200:200 + LOST]] = 1
upper.bar(np.arange(len(order)), lost, width=1)
upper.set(title="Where the gap is after the deinterleaver", xlabel="coded bit", yticks=[])
lower.plot(without, np.ones_like(without), "|", label="without interleaver")
lower.plot(with_, np.zeros_like(with_), "|", label="with it")
lower.set(title="Wrong bits", xlabel="bit", xlim=(0, len(bits)), ylim=(-1, 2), yticks=[])
lower.legend()
plt.show()

# %% [markdown]
# **Question.** The block lasts 0.6 s here, the gap 0.12 s. The mode 4539-600L spreads over 4.8 s.
# Which gap does it survive, and why does nobody use it for a conversation?
