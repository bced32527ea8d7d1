/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/half_symbol_stream.h"
#include "modem/track/channel_equations.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Measures noise and delays on a stretch of decided chips.
 *
 * A plain correlation with the chips also sees each path's other chips, 15 dB below the
 * path at every delay. So it solves for the strongest delays jointly, each with a gain
 * that may change linearly within the stretch. The residual is noise.
 */
class walsh_meter
{
public:
    //! \param taps of the window of delays
    //! \param early tap of delay 0
    walsh_meter(size_t taps, size_t early);

    /*! \brief Measure on symbols \p begin .. \p end - 1 of \p y. \p chips gives all chips
     *         around.
     *  \param strength strength of each tap; the strongest taps are used
     *  \param noise first guess of the variance of a half-symbol row
     */
    void add(const half_symbol_stream& y,
             int64_t begin,
             int64_t end,
             const belief_function& chips,
             const std::vector<float>& strength,
             float noise);

    //! Es / N0 since the last call; 0 if there was no stretch.
    double es_over_n0();

    //! Power of each tap.
    const std::vector<float>& profile() const { return d_profile; }

    //! Follow half_symbol_stream::move().
    void move(int rows);

private:
    size_t d_taps, d_early;
    std::vector<float> d_profile;
    double d_noise = 0; // slow mean
    double d_gain_sum = 0, d_noise_sum = 0;
    size_t d_count = 0;
};

} // namespace gr::hf::kernel
