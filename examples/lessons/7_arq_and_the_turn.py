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
# # 7. ARQ and the turn
#
# One frequency, two stations: while one sends, the other listens. The data link (STANAG 5066)
# sends for a while, then turns the channel over for an acknowledgement. Each turn costs
# preambles, an interleaver block and the radio's switching. This lesson measures how long one
# should speak.

# %%
from gnuradio.hf.simulation import simulator
import matplotlib.pyplot as plt
import numpy as np

MODE, OCTETS = "4539-1200S", 100_000

# %% [markdown]
# The simulator runs the data links of two stations in virtual time: exact times, no samples.


# %%
def goodput(max_transmission_s, loss):
    """Octets/s that arrive in order, at the longest transmission allowed."""
    result = simulator.simulate(MODE, OCTETS, loss=loss, seed=1, settings={
        "max_transmission_s": max_transmission_s, "turnaround_s": 0.3})
    assert result["complete"] and result["octets_delivered"] == OCTETS
    return OCTETS / result["time_s"]


# %% [markdown]
# A clean channel, and one on which every fifth transmission is missed altogether.

# %%
lengths = [10, 20, 40, 60, 80, 120]
clean = [goodput(s, 0) for s in lengths]
bad = [goodput(s, 0.2) for s in lengths]
for s, a, b in zip(lengths, clean, bad):
    print(f"{s:4d} s: {a:5.1f} octets/s clean, {b:5.1f} with losses")
assert clean == sorted(clean) and clean[-1] > 1.3 * clean[0] and clean[-1] < 150
assert all(a >= b for a, b in zip(clean, bad))

# %% [markdown]
# 1200 bit/s are 150 octets/s. What is missing went into turns. If a turn costs T seconds, a
# transmission of L seconds leaves the share L / (L + T).

# %%
turn_s = lengths[1] * (150 / clean[1] - 1)
print(f"a turn costs about {turn_s:.1f} s")
figure, axis = plt.subplots(figsize=(8, 5))
axis.plot(lengths, clean, "o-", label="clean")
axis.plot(lengths, bad, "o-", label="one in five missed")
fine = np.linspace(1, 120)
axis.plot(fine, 150 * fine / (fine + turn_s), "--", label=f"L / (L + {turn_s:.1f} s)")
axis.set(xlabel="longest transmission, s", ylabel="octets/s", ylim=(0, 150),
         title=f"{MODE}: how long should one speak?")
axis.legend()
plt.show()

# %% [markdown]
# **Question.** A person types on the other side and waits for the echo. Which length would you
# choose now, and what does it cost a file transfer?
