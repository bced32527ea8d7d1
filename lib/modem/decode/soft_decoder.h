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

/*! \brief Soft-in soft-out decoder of a rate 1/2 code of constraint length 7 or 9.
 *         Method: max-log BCJR; docs/receiver.md, "The receiver: the way of a sample".
 *
 * Soft bits as in viterbi_decoder: log-likelihood ratios, positive for 0, two (T1, T2)
 * per decoded bit, zero for a punctured one. The output is the a-posteriori ratio of
 * every coded bit, with the input included. Max-log: the output scales with the input.
 */
class soft_decoder
{
public:
    /*! \brief For the code of \p p without its repetition and puncturing.
     *  \throws std::invalid_argument for a code of another constraint length
     */
    explicit soft_decoder(const code_plan& p);

    /*! \brief Steps beyond the ends of a tail-biting block, forwards and backwards: 43
     *         times the memory. A code punctured to 8/9 needs that.
     */
    size_t wrap() const { return d_wrap; }
    //! Metric of each state, 0 for the best; index as in trellis.
    using metrics = std::vector<float>;

    //! Metrics at the start of a running code: the register is zero.
    metrics at_zero() const;

    /*! \brief Decode one tail-biting block of \p n pairs, at least K - 1; \p posterior
     *         gets 2 n values.
     */
    void decode_tail_biting(const float* pairs, size_t n, std::vector<float>& posterior);

    /*! \brief Decode \p n pairs of a running code. It starts with the metrics \p begin;
     *         its end is open.
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
