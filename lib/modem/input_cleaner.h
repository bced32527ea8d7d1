/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/find/filter_choice.h"
#include "modem/front/carrier_canceller.h"
#include "modem/front/impulse_blanker.h"
#include "modem/front/moving_carriers.h"
#include "modem/front/sample_buffer.h"

#include <complex>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

//! Removes bursts of noise and carriers of other stations, and undoes the filter of the radio.
class input_cleaner
{
public:
    /*! \param grid of the input
     *  \param periods_s periods of what the waveforms repeat, which is no carrier
     */
    input_cleaner(const symbol_grid& grid, const std::vector<double>& periods_s)
        : filter(grid), d_blanker(grid.sample_rate()), d_steady(grid, periods_s),
          d_moving(grid)
    {
    }

    //! The next sample, and its missing share. What is ready is appended to \p out.
    void push(std::complex<float> x, float missing, sample_buffer& out)
    {
        const auto y = d_blanker.push(x, missing);
        if (!y)
            return;
        const auto [white, erased] = filter.push(y->value, y->erased);
        const auto clean = d_steady.push(white, erased > mostly);
        d_moving.push(erased > mostly ? white : clean, erased, d_steady.repeating(), out);
    }

    //! The next sample is sample \p next.
    void restart(int64_t next)
    {
        d_blanker.restart();
        filter.restart(next);
        d_steady.restart();
        d_moving.restart();
    }

    filter_choice filter; //!< of the radio

private:
    // Above this missing share a sample is of no use to the canceller.
    static constexpr float mostly = 0.5f;

    impulse_blanker d_blanker;
    carrier_canceller d_steady;
    moving_carriers d_moving;
};

} // namespace gr::hf::kernel
