/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/coding/convolutional_code.h"

#include <cstddef>
#include <memory>

namespace gr::hf::kernel {

/*! \brief The loops of soft_decoder over the steps of a trellis, for one code.
 *  \details Pairs as in soft_decoder. One metric per state, index as in trellis, the
 *  best near 0.
 */
class soft_steps
{
public:
    virtual ~soft_steps() = default;
    virtual size_t states() const = 0;

    /*! \brief Metrics over \p n steps forward. \p keep (may be null) gets the metrics
     *         before each step, in the order that combine() takes.
     */
    virtual void
    forward(const float* pairs, size_t n, float* metric, float* keep) const = 0;

    //! The same backward, from the last pair to the first.
    virtual void backward(const float* pairs, size_t n, float* metric) const = 0;

    /*! \brief Like backward(). \p out also gets the a-posteriori ratios, from the forward
     *         metrics \p kept before each step.
     */
    virtual void combine(const float* pairs,
                         size_t n,
                         const float* kept,
                         float* metric,
                         float* out) const = 0;
};

/*! \brief Loops for the code of \p p, the fastest for this processor. All variants give
 *         the same numbers.
 *  \throws std::invalid_argument for a constraint length other than 7 and 9
 */
std::unique_ptr<soft_steps> make_soft_steps(const code_plan& p);

//! The variant that every processor can run, for tests.
std::unique_ptr<soft_steps> make_plain_soft_steps(const code_plan& p);

} // namespace gr::hf::kernel
