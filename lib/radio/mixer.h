/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>

namespace gr::hf::kernel {

//! Multiplies a stream by an oscillator whose phase is exact however long it runs.
class mixer
{
public:
    //! \param turns of the oscillator per sample
    explicit mixer(double turns)
        : d_turns(turns), d_step(std::polar(1.0, 2 * M_PI * turns))
    {
    }

    void run(std::complex<float>* x, size_t n)
    {
        if (d_turns == 0)
            return;
        for (size_t i = 0; i < n; ++i, ++d_at) {
            // Errors of the products do not add up for long.
            if (d_at % 64 == 0) {
                const double turns = static_cast<double>(d_at) * d_turns;
                d_phase = std::polar(1.0, 2 * M_PI * (turns - std::floor(turns)));
            }
            const std::complex<float> w(d_phase);
            x[i] = { x[i].real() * w.real() - x[i].imag() * w.imag(),
                     x[i].real() * w.imag() + x[i].imag() * w.real() };
            d_phase = { d_phase.real() * d_step.real() - d_phase.imag() * d_step.imag(),
                        d_phase.real() * d_step.imag() + d_phase.imag() * d_step.real() };
        }
    }

private:
    double d_turns;
    std::complex<double> d_step, d_phase{ 1, 0 };
    uint64_t d_at = 0;
};

} // namespace gr::hf::kernel
