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
 * The register has K bits, the newest at bit K-1. A state is its upper K-1 bits, so bit
 * b leads from state s to (s >> 1) | (b << (K-2)). States 2j and 2j+1 lead to j (b = 0)
 * and to j + half (b = 1). Both polynomials have their first and last coefficient set,
 * so the four branches of a butterfly differ in sign only. 2j -> j sends the complement
 * of 2j+1 -> j and of 2j -> j+half, and the same as 2j+1 -> j+half.
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
