/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "channel/counter_random.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief The gain of one Rayleigh-fading path: complex Gaussian, mean power 1, Gaussian
 *         Doppler spectrum exp(-2 f^2 / d^2), where d is the two-sigma spread.
 *
 * White Gaussian noise passes the filter exp(-pi^2 d^2 t^2), the transform of the square
 * root of the power spectrum, cut where it falls to 1e-3 of its peak. Values are
 * generated at 64 d or more and interpolated linearly (MIL-STD-188-110C E.5 asks for 32
 * d and 1e-2). Stationary from the first sample on. Never renormalised: fading alone
 * sets the power over a short time.
 */
class fading_tap
{
public:
    /*! \param sample_rate samples/s
     *  \param spread_hz   two-sigma Doppler spread d, above 0, at most sample_rate / 16
     *  \param random      the stream of this tap
     *  \throws std::invalid_argument
     */
    fading_tap(double sample_rate, double spread_hz, counter_random random);

    //! The gain at the next \p n samples.
    void produce(std::complex<float>* out, size_t n);

    //! Samples between two generated values.
    size_t step() const { return d_step; }

    //! Generated value number \p index, at sample index * step(). No state.
    std::complex<float> value(uint64_t index) const;

    //! The gain at any sample, as from produce(). No state; slow.
    std::complex<float> at(double sample) const
    {
        const double place = std::max(sample, 0.0) / static_cast<double>(d_step);
        const auto index = static_cast<uint64_t>(place);
        const auto from = value(index), to = value(index + 1);
        return from + (to - from) * static_cast<float>(place - std::floor(place));
    }

private:
    std::vector<float> d_h; // filter, unit energy
    size_t d_step;
    counter_random d_random;
    std::vector<std::complex<float>> d_noise; // ring of the last d_h.size() numbers
    uint64_t d_index = 0;                     // of d_to
    size_t d_phase = 0;                       // sample between d_from and d_to
    std::complex<float> d_from, d_to;

    std::complex<float> next_value();
};

} // namespace gr::hf::kernel
