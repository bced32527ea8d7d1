/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace gr::hf::kernel {

/*! \brief Keeps a playback device's buffer at a target level, by adding or leaving out
 *         samples.
 *
 * The device's clock differs from that of the samples. A host that stalled lets the
 * device run empty, then delivers everything late. Once a second the highest level
 * decides: a busy host lowers the level for a moment, but nothing raises it.
 */
class feed_regulator
{
public:
    /*! A lack smaller than this is ignored, s: devices take and report 10 ms at once, and
     * an addition may soon be too much.
     */
    static constexpr double tolerance_s = 15e-3;
    /*! A surplus smaller than this is ignored, s. The highest level shows in every
     * window, so a surplus can safely be left out: it delays every answer.
     */
    static constexpr double surplus_s = 1e-3;

    /*! \param sample_rate of the samples counted in reported(), samples/s
     *  \param target_s target level of the device
     */
    feed_regulator(double sample_rate, double target_s)
        : d_rate(sample_rate), d_target(target_s)
    {
    }

    //! Target level from now on, s.
    void set_target(double s) { d_target = s; }

    /*! \brief Level just after samples were written.
     *  \param held_s written and not played yet, s
     *  \param samples total handed to the device
     *  \returns once a second the time to add (negative: to leave out), s
     */
    std::optional<double> reported(double held_s, uint64_t samples)
    {
        const double since = static_cast<double>(samples - d_begin) / d_rate;
        if (since >= settled_s) // until then the last correction has an effect
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
