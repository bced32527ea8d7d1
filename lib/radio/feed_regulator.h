/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace gr::hf::kernel {

/*! \brief Keeps a device's buffer full by what waits in front of it.
 *
 * A sound card does not tell how much it holds. But what waits ahead of it does: as long as
 * something always waits, its buffer is full. Once a second the least that waited decides: nothing, and a
 * little is to be added, since the card's clock may be faster than ours; much, and some is left
 * out, since that is only delay.
 */
class feed_regulator
{
public:
    //! Added in a second in which the queue ran empty: ten times what 100 ppm take.
    static constexpr double step_s = 1e-3;
    //! As much may always wait: one block of gr-audio's ALSA sink, which takes 10 ms at a time.
    static constexpr double most_s = 15e-3;

    //! \param sample_rate of the device, samples/s
    explicit feed_regulator(double sample_rate) : d_rate(sample_rate) {}

    /*! \brief So much waits now.
     *  \param seconds that wait
     *  \param samples handed to the device so far
     *  \returns once a second what to add (negative: to leave out), s
     */
    std::optional<double> queued(double seconds, uint64_t samples)
    {
        d_least = std::min(d_least, seconds);
        if (static_cast<double>(samples - d_begin) < d_rate)
            return {};
        const double least = d_least;
        d_begin = samples;
        d_least = std::numeric_limits<double>::max();
        if (least <= 0)
            return step_s;
        if (least > most_s)
            return most_s / 2 - least;
        return 0;
    }

private:
    double d_rate, d_least = std::numeric_limits<double>::max();
    uint64_t d_begin = 0;
};

} // namespace gr::hf::kernel
