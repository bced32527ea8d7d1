/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/station_time.h>

#include <algorithm>

namespace gr::hf::s5066 {

/*! \brief Station time that never runs backwards, derived from a clock that may: the
 *         modem restarts, or the computer's clock is set.
 *
 * Deadlines are points in time. If the clock stepped back by an hour, no deadline would
 * pass for an hour. Station time continues from its last value instead.
 */
class monotonic_time
{
public:
    //! Takes the clock reading \p given. \return station time
    station_time advance(station_time given)
    {
        // Threads may call slightly out of order. For such small steps back station time
        // stands still.
        if (of(given) < d_now - min_step)
            d_ahead = d_now - given;
        return d_now = std::max(d_now, of(given));
    }
    //! Station time at the clock reading \p given.
    station_time of(station_time given) const { return given + d_ahead; }
    //! Clock reading at station time \p t.
    station_time clock_at(station_time t) const { return t - d_ahead; }
    station_time now() const { return d_now; }

private:
    static constexpr station_time min_step = std::chrono::seconds(1);

    station_time d_now{};
    station_time d_ahead{}; // of station time over the clock
};

} // namespace gr::hf::s5066
