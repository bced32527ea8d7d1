/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/burst_finder.h"

#include <complex>
#include <cstddef>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Removes bursts of noise from complex baseband: samples found by burst_finder
 *         become zero and are marked as erased.
 */
class impulse_blanker
{
public:
    //! An output sample. \p erased: missing share of it, 0 to 1.
    struct passed {
        std::complex<float> value;
        float erased = 0;
    };

    //! \param sample_rate in samples/s
    explicit impulse_blanker(double sample_rate)
        : d_finder([sample_rate] {
              burst_finder::options o;
              o.sample_rate = sample_rate;
              return o;
          }()),
          d_kept(d_finder.delay() + 1)
    {
    }

    //! Delay from input to output, samples.
    size_t delay() const { return d_finder.delay(); }

    /*! \brief Take the next sample; returns the sample delay() before it, if any.
     *  \param erased share that is already missing
     */
    std::optional<passed> push(std::complex<float> x, float erased = 0)
    {
        const bool hit = d_finder.push(std::norm(x), erased < 0.5f);
        d_kept[d_place] = { x, erased };
        d_place = d_place + 1 < d_kept.size() ? d_place + 1 : 0;
        if (d_count < delay()) {
            ++d_count;
            return std::nullopt;
        }
        const passed& oldest = d_kept[d_place];
        return hit ? passed{ 0, 1 } : oldest;
    }

    //! Drop the samples not returned yet.
    void restart()
    {
        d_count = 0;
        d_finder.restart();
    }

private:
    burst_finder d_finder;
    std::vector<passed> d_kept;
    size_t d_place = 0; // of the next sample
    size_t d_count = 0; // samples waiting
};

} // namespace gr::hf::kernel
