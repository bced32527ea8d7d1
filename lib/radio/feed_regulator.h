/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace gr::hf::kernel {

/*! \brief Keeps what a playback device holds at a target, by samples added or left out.
 *
 * The device's clock is not that of the samples that come, and a host that stalled lets the device run
 * empty and then brings everything late. Once a second the most that the device held decides: a busy
 * host makes it hold less for a moment, but nothing makes it hold more.
 */
class feed_regulator
{
public:
    /*! Less than this below the target is left alone, s: devices take and give 10 ms at once, and
     *  what is added may soon be too much. */
    static constexpr double tolerance_s = 15e-3;
    /*! Less than this above it, s: what a device holds at the most it holds in every window, so that
     *  nothing is lost by leaving out what is delay for every answer. */
    static constexpr double surplus_s = 1e-3;

    /*! \param sample_rate of what \p samples counts in reported(), samples/s
     *  \param target_s what the device is to hold
     */
    feed_regulator(double sample_rate, double target_s)
        : d_rate(sample_rate), d_target(target_s)
    {
    }

    //! From now on the device is to hold so much, s.
    void set_target(double s) { d_target = s; }

    /*! \brief So much was held just after samples were written.
     *  \param held_s written and not heard yet, s
     *  \param samples handed to the device so far
     *  \returns once a second what to add (negative: to leave out), s
     */
    std::optional<double> reported(double held_s, uint64_t samples)
    {
        const double since = static_cast<double>(samples - d_begin) / d_rate;
        if (since >= settled_s) // until then the last correction goes on
            d_most = std::max(d_most, held_s);
        if (since < window_s)
            return {};
        const double away = d_target - d_most;
        d_begin = samples;
        d_most = 0;
        return away > tolerance_s || away < -surplus_s ? away : 0;
    }

private:
    static constexpr double window_s = 1, settled_s = 0.5;

    double d_rate, d_target, d_most = 0;
    uint64_t d_begin = 0;
};

} // namespace gr::hf::kernel
