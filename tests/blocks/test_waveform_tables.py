# SPDX-License-Identifier: GPL-3.0-or-later
"""hf.waveform: the tables say what the modulator sends."""
from gnuradio import hf
import numpy as np
import pytest


@pytest.mark.parametrize("mode", ["4539-600S", "4539-2400L", "4539-6400M", "4539-12800N",
                                  "5069-24k-9600S"])
def test_a_transmission_can_be_made_of_the_tables(mode):
    """Everything but the code: symbols demapped with the tables are those of the preamble, the
    probes, and words of the alphabet."""
    w, sizes = hf.waveform, hf.waveform.sizes(mode)
    points, numbers = w.constellation(mode), w.numbers(mode)
    assert points.dtype == np.complex64 and np.abs(points).max() == pytest.approx(1, abs=1e-4)
    assert len(numbers) == 2 ** sizes["bits_per_symbol"] == len(set(numbers.tolist()))
    order = w.interleaver(mode)
    assert sorted(order.tolist()) == list(range(sizes["coded_bits"]))
    cycle = w.cycle(mode)
    frame = sizes["unknown"] + sizes["known"]
    assert len(cycle) == sizes["frames_per_cycle"] * frame + sizes["reinserted"]
    assert np.count_nonzero(cycle == 0) == sizes["frames_per_cycle"] * sizes["unknown"]
    scrambling = w.scrambling(mode)
    assert len(scrambling) == sizes["data_symbols"]
    # The symbols on the air, through the matched filter.
    octets = bytes(range(64))
    x = hf.modulate(mode, octets)
    t = np.arange(-10, 10.01, 0.25) + 1e-9
    b = 0.35
    pulse = (np.sin(np.pi * t * (1 - b)) + 4 * b * t * np.cos(np.pi * t * (1 + b))) / (
        np.pi * t * (1 - (4 * b * t) ** 2))
    y = np.convolve(x, pulse)[80::4] / 4
    head = w.preamble(mode)
    np.testing.assert_allclose(y[:len(head)], head, atol=0.02)
    block = y[len(head):len(head) + sizes["frames_per_block"] * frame]
    known = cycle[:len(block)]
    np.testing.assert_allclose(block[known != 0], known[known != 0], atol=0.02)
    data = block[known == 0]
    nearest = np.abs(data[:, None] - points[None, :])
    assert nearest.min(axis=1).max() < 0.03
    number = nearest.argmin(axis=1)
    back = (number - scrambling) % 8 if len(points) == 8 else number ^ scrambling
    assert set(back.tolist()) <= set(numbers.tolist())


def test_walsh_words_have_32_chips():
    words = hf.waveform.words("4539-75S")
    assert words.shape == (8, 32) and set(words.ravel().tolist()) == {0, 4}
    assert hf.waveform.words("4539-600S").shape == (0, 0)


def test_the_scrambling_of_a_block_repeats_after_a_cycle():
    for mode in hf.mode.all():
        sizes = hf.waveform.sizes(mode)
        period = sizes["frames_per_cycle"] // sizes["frames_per_block"]
        first = hf.waveform.scrambling(mode)
        assert len(first) == sizes["data_symbols"] and first.max() < 256
        np.testing.assert_array_equal(first, hf.waveform.scrambling(mode, block=period))


def test_an_unknown_mode_is_refused():
    with pytest.raises(ValueError, match="4539-1S"):
        hf.waveform.constellation("4539-1S")
