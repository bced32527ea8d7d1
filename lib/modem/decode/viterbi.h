/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/coding/convolutional_code.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Soft-decision Viterbi decoder of a rate 1/2 code of constraint length 7 or 9.
 *
 * Soft bits are log-likelihood ratios, positive for 0, two (T1, T2) per decoded bit, any
 * common scale; zero is an erasure (punctured).
 */
class viterbi_decoder
{
public:
    /*! \brief For the code of \p p without its repetition and puncturing.
     *  \throws std::invalid_argument for a code of another constraint length
     */
    explicit viterbi_decoder(const code_plan& p);
    ~viterbi_decoder();

    //! Bits that a running decoder holds back: 6.5 constraint lengths.
    size_t decision_delay() const { return d_delay; }
    //! Steps beyond the ends of a tail-biting block: 32 times the memory of K - 1.
    size_t wrap() const { return d_wrap; }

    //! Running decoder: the encoder's register was zero before the first pair.
    void reset();

    /*! \brief Decode \p n more pairs of a running code.
     *  \details Appends to \p bits every bit that is at least decision_delay() old.
     */
    void decode_running(const float* pairs, size_t n, std::vector<uint8_t>& bits);

    /*! \brief Decode one tail-biting block of \p n pairs, at least K - 1.
     *  \details Pair k has bit (k + K - 1) mod n as newest. \p bits gets the n bits in
     *  order.
     */
    void decode_tail_biting(const float* pairs, size_t n, std::vector<uint8_t>& bits);

private:
    class steps;
    template <unsigned K>
    class steps_of;

    void advance(const float* pairs, size_t n);
    void trace_back(size_t steps, std::vector<uint8_t>& newest_first) const;

    unsigned d_memory; // bits of a state
    size_t d_delay, d_wrap;
    size_t d_words; // of decisions in each step
    std::unique_ptr<steps> d_steps;
    std::vector<float> d_metric;
    std::vector<uint64_t> d_decisions; // per step: bit s tells the predecessor of state s
};

} // namespace gr::hf::kernel
