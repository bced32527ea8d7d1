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
# # 6. Coding and soft bits
#
# A demodulator could say 0 or 1. It says more: how sure it is. The decoder weighs each bit by
# that. This lesson measures what it is worth.

# %%
from gnuradio import blocks, gr, hf
import matplotlib.pyplot as plt
import numpy as np

mode = "4539-600S"  # rate 1/2, constraint length 7
sizes = hf.waveform.sizes(mode)
BLOCKS = 150
random = np.random.default_rng(1)


def run(source, item, length, stage):
    """What a stage makes of a source, in packets of a length."""
    top, sink = gr.top_block(), blocks.vector_sink_b()
    top.connect(source, blocks.stream_to_tagged_stream(item, 1, length, "packet_len"), stage, sink)
    top.run()
    return np.array(sink.data(), np.uint8)


bits = random.integers(0, 2, BLOCKS * sizes["input_bits"]).astype(np.uint8)
coded = run(blocks.vector_source_b(bits.tolist()), 1, sizes["input_bits"], hf.fec_encoder(mode))

# %% [markdown]
# Send +1 for 0 and -1 for 1 through white noise. The log-likelihood ratio of a value y is 2 y /
# variance. A hard decision keeps only its sign.

# %%
ebn0_db = np.arange(0, 8.1, 1)
rates = {"uncoded": [], "hard": [], "soft": []}
for db in ebn0_db:
    variance = 1 / (2 * 0.5 * 10 ** (db / 10))  # each bit is sent as two coded bits
    y = 1 - 2.0 * coded + np.sqrt(variance) * random.standard_normal(len(coded))
    llr = 2 * y / variance
    for name, soft in (("soft", llr), ("hard", 3 * np.sign(llr))):
        got = run(blocks.vector_source_f(soft.tolist()), 4, sizes["coded_bits"],
                  hf.fec_decoder(mode))
        rates[name].append(np.mean(got != bits[:len(got)]))
    noise = np.sqrt(variance / 2) * random.standard_normal(len(bits))
    rates["uncoded"].append(np.mean((1 - 2.0 * bits + noise < 0) != bits))
    print(f"{db:.0f} dB:", *(f"{name} {values[-1]:.5f}" for name, values in rates.items()))

# %% [markdown]
# The Eb/N0 at which one bit in a hundred is wrong, by interpolation of the logarithms.


# %%
def needed(name, rate=1e-2):
    """Eb/N0 for a bit error rate, dB."""
    logs = np.log10(np.maximum(rates[name], 1e-6))
    return np.interp(-np.log10(rate), -logs, ebn0_db)


gain = needed("hard") - needed("soft")
print(f"soft bits are worth {gain:.1f} dB, the code {needed('uncoded') - needed('soft'):.1f} dB")
assert 1.3 < gain < 3.0

# %%
figure, axis = plt.subplots(figsize=(8, 5))
for name, values in rates.items():
    axis.semilogy(ebn0_db, np.maximum(values, 1e-6), "o-", label=name)
axis.set(xlabel="Eb/N0, dB", ylabel="bit error rate", ylim=(1e-5, 1),
         title="What certainty is worth")
axis.grid(True)
axis.legend()
plt.show()

# %% [markdown]
# **Question.** Below a certain Eb/N0 the coded curves are above the uncoded one. Why does a
# code make things worse there?
