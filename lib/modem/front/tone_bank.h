/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/piecewise_tone.h"

#include <complex>
#include <cstddef>
#include <deque>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Describes several carriers that are keyed or move: a piecewise_tone for each, and
 *         the sum of their tones.
 */
class tone_bank
{
public:
    using value = std::complex<float>;

    //! \param count number of carriers
    //! \param memory samples that the power of a carrier is averaged over
    tone_bank(double sample_rate, size_t count, double memory);

    //! Forget everything.
    void restart();

    //! Take the next \p n samples of carrier \p number and of a share of the wanted signal,
    //! whose power is \p signal. Every carrier gets every sample.
    void push(size_t number, const value* x, size_t n, float signal);

    //! Append the sum of the tones at the samples that are settled for all carriers, each
    //! sample once, to \p out.
    void take(std::vector<value>& out);

    //! Settle all samples taken so far.
    void finish();

private:
    struct carrier {
        piecewise_tone tone;
        float power = 0;
        std::vector<value> settled = {};
    };

    float d_follow; // share of a sample in the average
    std::vector<carrier> d_carriers;
};

} // namespace gr::hf::kernel
