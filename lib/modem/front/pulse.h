/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cmath>

namespace gr::hf::kernel {

constexpr double pulse_rolloff = 0.35; //!< 110C Appendix C recommends it for both ends

//! Root raised cosine of unit energy per symbol at \p t symbols from its centre.
inline double root_raised_cosine(double t)
{
    constexpr double a = pulse_rolloff;
    if (std::abs(t) < 1e-9)
        return 1 - a + 4 * a / M_PI;
    if (std::abs(std::abs(4 * a * t) - 1) < 1e-9)
        return a / std::sqrt(2.0) *
               ((1 + 2 / M_PI) * std::sin(M_PI / (4 * a)) +
                (1 - 2 / M_PI) * std::cos(M_PI / (4 * a)));
    const double x = 4 * a * t;
    return (std::sin(M_PI * t * (1 - a)) + x * std::cos(M_PI * t * (1 + a))) /
           (M_PI * t * (1 - x * x));
}

//! Raised cosine, root_raised_cosine() through its matched filter; 1 at \p t = 0.
inline double raised_cosine(double t)
{
    constexpr double a = pulse_rolloff;
    if (std::abs(t) < 1e-9)
        return 1;
    const double x = 2 * a * t;
    const double sinc = std::sin(M_PI * t) / (M_PI * t);
    if (std::abs(std::abs(x) - 1) < 1e-9)
        return M_PI / 4 * sinc;
    return sinc * std::cos(M_PI * a * t) / (1 - x * x);
}

/*! \brief Raised cosine on the half-symbol grid, the pulse in every channel model here.
 *  \details half_symbol_pulse(j) is p(j T/2). Beyond half_symbol_reach it is below
 *  -60 dB and counts as zero. With a much earlier cut, matrices made of it are no longer
 *  positive.
 */
constexpr int half_symbol_reach = 13;
inline float half_symbol_pulse(int j)
{
    static const struct table {
        float v[half_symbol_reach + 1];
        table()
        {
            for (int i = 0; i <= half_symbol_reach; ++i)
                v[i] = static_cast<float>(raised_cosine(i / 2.0));
        }
    } t;
    const int a = j < 0 ? -j : j;
    return a > half_symbol_reach ? 0.0f : t.v[a];
}

} // namespace gr::hf::kernel
