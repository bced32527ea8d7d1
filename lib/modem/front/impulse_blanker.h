/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/burst_finder.h"
#include "modem/front/pulse_shape.h"

#include <complex>
#include <cstddef>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Removes bursts of noise from complex baseband: samples found by burst_finder
 *         become zero and are marked as erased. Of pulses of a known shape, only the
 *         middle.
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
          d_shape(d_finder.reach(), d_finder.average()), d_kept(d_finder.delay() + 1)
    {
    }

    //! Delay from input to output, samples.
    size_t delay() const { return d_finder.delay(); }

    /*! \brief Take the next sample; returns the sample delay() before it, if any.
     *  \param erased share that is already missing
     */
    std::optional<passed> push(std::complex<float> x, float erased = 0)
    {
        d_kept[d_place] = { x, erased };
        const bool hit =
            d_finder.push(std::norm(x),
                          erased < 0.5f,
                          [this](const burst_finder::burst& b) { take_out(b); });
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
    void take_out(const burst_finder::burst& b)
    {
        // The samples kept, the oldest first.
        const size_t n = d_kept.size();
        const int64_t origin = d_finder.latest() - static_cast<int64_t>(delay());
        d_work.resize(n);
        for (size_t i = 0; i < n; ++i)
            d_work[i] = d_kept[(d_place + 1 + i) % n].value;
        const auto rest = d_shape.take_out(origin,
                                           d_work.data(),
                                           static_cast<int64_t>(n),
                                           b.first - origin,
                                           b.last - origin,
                                           b.before);
        if (!rest) {
            d_finder.erase_with_skirts(b);
            return;
        }
        for (size_t i = 0; i < n; ++i)
            d_kept[(d_place + 1 + i) % n].value = d_work[i];
        for (size_t k = 0; k < rest->erased.size(); ++k)
            if (rest->erased[k])
                d_finder.erase(origin + rest->first + static_cast<int64_t>(k));
    }

    burst_finder d_finder;
    pulse_shape<std::complex<float>> d_shape;
    std::vector<std::complex<float>> d_work;
    std::vector<passed> d_kept;
    size_t d_place = 0; // of the next sample
    size_t d_count = 0; // samples waiting
};

} // namespace gr::hf::kernel
