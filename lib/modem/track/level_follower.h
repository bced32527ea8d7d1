/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/half_symbol_stream.h"
#include "modem/front/level_steps.h"
#include "modem/front/sample_buffer.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>

namespace gr::hf::kernel {

/*! \brief Takes level steps out of a stream. They confuse the amplitudes of 64QAM, and the
 *         channel is interpolated over a time much longer than a step.
 */
class level_follower
{
public:
    //! \param begin first input sample to look at
    level_follower(const symbol_grid& grid, int64_t begin)
        : d_steps(grid), d_begin(begin), d_next(begin)
    {
    }

    /*! \brief Look at the samples of \p in that \p y has read.
     *  \param changed called with the first row of \p y that a step has changed
     */
    template <class Changed>
    void follow(const sample_buffer& in, half_symbol_stream& y, const Changed& changed)
    {
        const auto& erased = in.erased();
        auto e = std::lower_bound(erased.begin(), erased.end(), d_next);
        for (; d_next < y.needs(); ++d_next) {
            const bool known = e == erased.end() || e->sample != d_next;
            if (!known)
                ++e;
            const float power = d_next < in.begin() ? 0 : std::norm(*in.at(d_next));
            const auto step = known ? d_steps.push(power) : d_steps.push_unknown();
            if (step)
                changed(y.rescale(d_begin + step->sample, 1 / std::sqrt(step->ratio)));
        }
    }

private:
    level_steps d_steps;
    int64_t d_begin, d_next; // input samples
};

} // namespace gr::hf::kernel
