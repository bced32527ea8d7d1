/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Soft-decision Viterbi decoder of the rate 1/2, K = 7 code (133, 171).
 *
 * Soft bits are log-likelihood ratios, positive for 0, two (T1, T2) per decoded bit, any
 * common scale; zero is an erasure (punctured).
 */
class viterbi_decoder
{
public:
    //! Bits that a running decoder keeps back: 6.5 constraint lengths.
    static constexpr size_t decision_delay = 45;
    //! Steps that a tail-biting block is run round beyond its ends.
    static constexpr size_t wrap = 192;

    //! Running decoder: the encoder's register was zero before the first pair.
    void reset();

    /*! \brief Decode \p n more pairs of a running code.
     *  \details Appends to \p bits every bit that is at least decision_delay old.
     */
    void decode_running(const float* pairs, size_t n, std::vector<uint8_t>& bits);

    /*! \brief Decode one tail-biting block of \p n pairs, at least 6.
     *  \details Pair k has bit (k + 6) mod n as newest; \p bits gets the n bits in order.
     */
    void decode_tail_biting(const float* pairs, size_t n, std::vector<uint8_t>& bits);

private:
    static constexpr size_t states = 64;

    void steps(const float* pairs, size_t n);
    void trace_back(size_t steps, std::vector<uint8_t>& newest_first) const;

    std::array<float, states> d_metric{};
    std::vector<uint64_t> d_decisions; // per step: bit s, which predecessor state s took
};

} // namespace gr::hf::kernel
