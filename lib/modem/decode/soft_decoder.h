/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/decode/soft_steps.h"
#include "waveform/coding/convolutional_code.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Soft-in soft-out decoder of a rate 1/2 code of constraint length 7 or 9: max-log BCJR.
 *
 * Soft bits as in viterbi_decoder: log-likelihood ratios, positive for 0, two (T1, T2) per
 * decoded bit, zero for a punctured one. What comes out is the a-posteriori ratio of every
 * coded bit, the one that came in included. Max-log: the output scales with the input.
 */
class soft_decoder
{
public:
    /*! \brief Of the code of \p p, its repetition and puncturing aside.
     *  \throws std::invalid_argument for a code of another constraint length
     */
    explicit soft_decoder(const code_plan& p);

    /*! \brief Steps that a tail-biting block is run round beyond its ends, forwards and backwards:
     *         43 times the memory, which a code punctured to 8/9 needs.
     */
    size_t wrap() const { return d_wrap; }
    //! Metric of each state, 0 for the best; index as in trellis.
    using metrics = std::vector<float>;

    //! The metrics at the begin of a running code: the register is zero.
    metrics at_zero() const;

    /*! \brief One tail-biting block of \p n pairs, at least K - 1; \p posterior gets 2 n values.
     */
    void decode_tail_biting(const float* pairs, size_t n, std::vector<float>& posterior);

    /*! \brief A piece of \p n pairs of a running code that begins with the metrics \p begin
     *         and goes on unknown.
     *  \returns the metrics at its end
     */
    metrics decode_running(const float* pairs,
                           size_t n,
                           const metrics& begin,
                           std::vector<float>& posterior);

private:
    void backward_window(const float* pairs, size_t n, size_t from, size_t to, bool ring);

    static constexpr size_t window = 512;
    std::unique_ptr<soft_steps> d_steps;
    size_t d_wrap;
    std::vector<float> d_alpha; // before each step of a window
    std::vector<float> d_out;
    metrics d_forward, d_backward;
};

} // namespace gr::hf::kernel
