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
# # 4. The ionosphere
#
# A signal on HF arrives by several ways, each of which fades. ITU-R F.520 calls two equal ways
# 2 ms apart, with a Doppler spread of 1 Hz, a *poor* channel. This lesson shows what that does
# to 3 kHz.

# %%
from gnuradio import hf
import matplotlib.pyplot as plt
import numpy as np

RATE, SECONDS = 9600, 600
channel = hf.channel_model("poor", seed=7)
times = np.arange(0, SECONDS, 0.05)
gains = channel.gains((times * RATE).tolist())  # a row for each time, a column for each way
delays = np.array(channel.delays_s)
print(f"{len(delays)} ways, {1e3 * (delays[1] - delays[0]):.1f} ms apart")
assert gains.shape == (len(times), 2) and abs(delays[1] - delays[0] - 2e-3) < 1e-9

# %% [markdown]
# Each way is a complex Gaussian process: its power is distributed exponentially. So a way is 10
# dB below its mean for 1 - exp(-0.1) = 9.5 % of the time.

# %%
power = np.abs(gains) ** 2 / np.mean(np.abs(gains) ** 2)
share = np.mean(power < 0.1)
print(f"10 dB below the mean for {100 * share:.1f} % of the time")
assert 0.07 < share < 0.12

# %% [markdown]
# Two ways add at one frequency and cancel at another: 2 ms apart, a notch every 500 Hz.

# %%
frequencies = np.linspace(-1500, 1500, 301)
transfer = gains @ np.exp(-2j * np.pi * np.outer(delays, frequencies))
level_db = 20 * np.log10(np.abs(transfer) + 1e-9)
spectrum = np.abs(np.fft.ifft(level_db - level_db.mean(axis=1, keepdims=True), axis=1)) ** 2
period = 3000 / (1 + np.argmax(spectrum[:, 1:20].mean(axis=0)))
print(f"a notch every {period:.0f} Hz")
assert period == 500

# %% [markdown]
# All of 3 kHz together fade less deeply than one frequency: that is diversity, and the
# equaliser and the interleaver live on it.

# %%
whole = np.mean(np.abs(transfer) ** 2, axis=1)
whole /= whole.mean()
share_whole = np.mean(whole < 0.1)
print(f"the whole channel is 10 dB down for {100 * share_whole:.1f} % of the time")
assert share_whole < share / 3

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5))
shown = times < 30
picture = left.imshow(level_db[shown], aspect="auto", origin="lower", vmin=-25, vmax=8,
                      extent=(-1500, 1500, 0, 30))
left.set(title="Gain, dB", xlabel="Hz", ylabel="s")
figure.colorbar(picture)
right.plot(times[shown], 10 * np.log10(power[shown, 0]), label="one way")
right.plot(times[shown], 10 * np.log10(whole[shown]), label="the whole channel")
right.set(title="Power, dB", xlabel="s", ylim=(-30, 10))
right.legend()
plt.show()

# %% [markdown]
# **Question.** `flutter` has a Doppler spread of 10 Hz, `good` 0.1 Hz. Which interleaver
# bridges the fades of each? Change the channel and look at how long a fade lasts.
