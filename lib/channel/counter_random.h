/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>

namespace gr::hf::kernel {

/*! \brief Random numbers as a pure function of (seed, stream, index).
 *
 * There is no state. Any stretch of any stream can be repeated, in any order and on any
 * machine. So hours of fading are reproducible. Mixing is two rounds of the finaliser of
 * SplitMix64.
 */
class counter_random
{
public:
    counter_random(uint64_t seed, uint64_t stream)
        : d_key(mix(seed + 0x9E3779B97F4A7C15u) ^ mix(mix(stream) + 0xD1B54A32D192ED03u))
    {
    }

    //! 64 uniform bits for \p index.
    uint64_t bits(uint64_t index) const
    {
        return mix(d_key + mix(index * 0x9E3779B97F4A7C15u + 1));
    }

    //! Circular complex Gaussian of mean power 1 for \p index.
    std::complex<float> gaussian(uint64_t index) const
    {
        const uint64_t a = bits(2 * index), b = bits(2 * index + 1);
        // (0, 1], so that the logarithm is finite
        const double u = (static_cast<double>(a >> 11) + 1.0) * 0x1p-53;
        const float r = static_cast<float>(std::sqrt(-std::log(u)));
        const float phi = static_cast<float>(b >> 40) * (6.2831853f * 0x1p-24f);
        return { r * std::cos(phi), r * std::sin(phi) };
    }

private:
    static uint64_t mix(uint64_t z)
    {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    uint64_t d_key;
};

} // namespace gr::hf::kernel
