/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/track/channel_equations.h"

#include <complex>
#include <cstddef>
#include <vector>

namespace gr::hf::kernel {

/*! \brief What the dense and the sparse estimate of the synchroniser have in common.
 */
struct synchroniser_parts {
    // Assumed noise at first, as a share of the power.
    static constexpr float first_noise = 0.25f;
    // Lower limits: noise as a share of the power, and rows left to estimate the noise.
    static constexpr float min_noise = 1e-5f, min_rows = 8;

    //! The symbols as certain beliefs, those that are 0 as unknown. \p fixed outlives it.
    static belief_function beliefs_of(const std::vector<std::complex<float>>& fixed)
    {
        return [&fixed](int64_t n) {
            const auto i = static_cast<size_t>(n); // a negative n becomes large
            return i < fixed.size() && fixed[i] != std::complex<float>{}
                       ? symbol_belief{ fixed[i], 0 }
                       : symbol_belief{ 0, 1 };
        };
    }
};

} // namespace gr::hf::kernel
