/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/time.h>

#include <algorithm>

namespace gr::hf::s5066 {

/*! \brief Station time that never runs back, made of a clock that may: of a modem that was restarted,
 *         of a computer whose clock is set.
 *
 * Deadlines are points in time. If the clock stepped back by an hour, nothing would be due for an
 * hour. Here time goes on from where it was.
 */
class monotonic_time
{
public:
    //! The clock shows \p given. \return station time
    station_time advance(station_time given)
    {
        // Calls of several threads come a little out of order: time stands still for that long.
        if (of(given) < d_now - least_step) {
            d_ahead = d_now - given;
        }
        return d_now = std::max(d_now, of(given));
    }
    //! Station time when the clock shows \p given.
    station_time of(station_time given) const { return given + d_ahead; }
    //! What the clock shows at station time \p t.
    station_time clock_at(station_time t) const { return t - d_ahead; }
    station_time now() const { return d_now; }

private:
    static constexpr station_time least_step = std::chrono::seconds(1);

    station_time d_now{};
    station_time d_ahead{}; // of the clock
};

} // namespace gr::hf::s5066
