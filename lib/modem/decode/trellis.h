/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

/*! \brief The trellis of a rate 1/2 code of constraint length K, in butterflies.
 *
 * Register of K bits, newest at bit K-1; a state is its upper K-1, so the step to bit b goes from
 * state s to (s >> 1) | (b << (K-2)). States 2j and 2j+1 lead to j (b = 0) and to j + half
 * (b = 1). Both polynomials have their first and last coefficient set, so the four branches of a
 * butterfly differ in sign only: what 2j -> j sends is the complement of 2j+1 -> j and of
 * 2j -> j+half, and 2j+1 -> j+half sends the same.
 */
template <unsigned K>
struct trellis {
    static constexpr size_t states = size_t{ 1 } << (K - 1);
    static constexpr size_t half = states / 2; //!< butterflies

    float t1[half], t2[half]; //!< +1 if branch 2j -> j sends 0 in T1, T2; else -1

    //! \param mask_t1, mask_t2 as in code_plan
    trellis(uint32_t mask_t1, uint32_t mask_t2)
    {
        constexpr uint32_t ends = 1u << (K - 1) | 1u;
        for (const uint32_t mask : { mask_t1, mask_t2 })
            if ((mask & ends) != ends || mask >> K != 0)
                throw std::invalid_argument(
                    "code of constraint length " + std::to_string(K) + ": polynomial " +
                    std::to_string(mask) + " needs its first and last coefficient");
        for (unsigned j = 0; j < half; ++j) {
            t1[j] = __builtin_parity((2 * j) & mask_t1) ? -1.0f : 1.0f;
            t2[j] = __builtin_parity((2 * j) & mask_t2) ? -1.0f : 1.0f;
        }
    }
};

} // namespace gr::hf::kernel
