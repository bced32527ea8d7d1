/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/front/fourier.h"

#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Spectrum of a short window of samples, and the way back.
 *  \details Windows that start a quarter of their length after each other add up to the
 *  samples. Hann windows in both directions, so that a strong line stays in its bins.
 */
class short_spectrum
{
public:
    using value = std::complex<float>;

    static constexpr size_t overlap = 4; //!< windows that share a sample
    //! Longest window, s: as long as a bit of radio teletype or half a dot of Morse code.
    static constexpr double longest_s = 0.030;

    //! Largest power of two within longest_s.
    static size_t length_at(double sample_rate)
    {
        size_t n = overlap;
        while (2 * static_cast<double>(n) <= longest_s * sample_rate)
            n *= 2;
        return n;
    }

    explicit short_spectrum(size_t length) : d_transform(length), d_window(length)
    {
        const auto n = static_cast<double>(length);
        for (size_t i = 0; i < length; ++i)
            d_window[i] = static_cast<float>(
                0.5 - 0.5 * std::cos(2 * M_PI * (static_cast<double>(i) + 0.5) / n));
    }

    size_t size() const { return d_window.size(); }
    size_t hop() const { return size() / overlap; }

    //! Power of a bin of noise of power 1: sum of the window's squares.
    float energy() const { return 0.375f * static_cast<float>(size()); }

    //! Spectrum of size() samples from \p x on. Bin k is k / size() turns a sample.
    value* of(const value* x)
    {
        value* const s = d_transform.data();
        for (size_t i = 0; i < size(); ++i)
            s[i] = d_window[i] * x[i];
        d_transform.forward();
        return s;
    }

    //! The spectrum, to be changed before add_to().
    value* bins() { return d_transform.data(); }

    //! Add the samples of the spectrum, as it is now, to size() samples from \p y on.
    void add_to(value* y)
    {
        // Squares of four Hann windows add up to 1.5.
        const float scale = 1 / (1.5f * static_cast<float>(size()));
        d_transform.backward();
        for (size_t i = 0; i < size(); ++i)
            y[i] += scale * d_window[i] * d_transform.data()[i];
    }

private:
    fourier d_transform;
    std::vector<float> d_window;
};

} // namespace gr::hf::kernel
