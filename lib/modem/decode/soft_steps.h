/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/coding/convolutional_code.h"

#include <cstddef>
#include <memory>

namespace gr::hf::kernel {

/*! \brief The loops of soft_decoder over the steps of a trellis, for one code.
 *  \details Pairs as there; a metric for each state, index as in trellis, the best near 0.
 */
class soft_steps
{
public:
    virtual ~soft_steps() = default;
    virtual size_t states() const = 0;

    /*! \brief Metrics over \p n steps forward; \p keep (may be null) gets those before each
     *         step, in the order that combine() takes.
     */
    virtual void
    forward(const float* pairs, size_t n, float* metric, float* keep) const = 0;

    //! The same backward, from the last pair to the first.
    virtual void backward(const float* pairs, size_t n, float* metric) const = 0;

    /*! \brief As backward(), and \p out gets the a-posteriori ratios, from the forward
     *         metrics \p kept before each step.
     */
    virtual void combine(const float* pairs,
                         size_t n,
                         const float* kept,
                         float* metric,
                         float* out) const = 0;
};

/*! \brief For the code of \p p, in the fastest way that this processor has. All ways give the
 *         same numbers.
 *  \throws std::invalid_argument for a constraint length other than 7 and 9
 */
std::unique_ptr<soft_steps> make_soft_steps(const code_plan& p);

//! The same in the way that every processor has: for tests.
std::unique_ptr<soft_steps> make_plain_soft_steps(const code_plan& p);

} // namespace gr::hf::kernel
