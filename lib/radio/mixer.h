/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>

namespace gr::hf::kernel {

//! Multiplies a stream by an oscillator with an exact phase, however long it runs.
class mixer
{
public:
    //! \param turns turns of the oscillator per sample
    explicit mixer(double turns) : d_turns(turns)
    {
        for (size_t k = 0; k < d_steps.size(); ++k)
            d_steps[k] = std::polar(1.0, 2 * M_PI * turns * static_cast<double>(k));
    }

    void run(std::complex<float>* x, size_t n)
    {
        if (d_turns == 0)
            return;
        for (size_t i = 0; i < n;) {
            const size_t first = d_at % d_steps.size();
            const size_t count = std::min(n - i, d_steps.size() - first);
            // The phase is exact at the start of each run of steps.
            const double turns = static_cast<double>(d_at - first) * d_turns;
            const std::complex<float> begin(
                std::polar(1.0, 2 * M_PI * (turns - std::floor(turns))));
            for (size_t k = 0; k < count; ++k)
                x[i + k] = product(x[i + k], product(begin, d_steps[first + k]));
            i += count;
            d_at += count;
        }
    }

private:
    // Without the operator's checks for infinities.
    static std::complex<float> product(std::complex<float> a, std::complex<float> b)
    {
        return { a.real() * b.real() - a.imag() * b.imag(),
                 a.real() * b.imag() + a.imag() * b.real() };
    }

    double d_turns;
    std::array<std::complex<float>, 64> d_steps;
    uint64_t d_at = 0;
};

} // namespace gr::hf::kernel
