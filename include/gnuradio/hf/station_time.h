/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <chrono>

namespace gr::hf {

/*! \brief Station time: nanoseconds since the station's modem started.
 *
 * It is derived from the count of received samples, never from the host's clock, so that
 * a station behaves the same on a radio, in a lock-step flowgraph and in the event
 * simulator.
 */
using station_time = std::chrono::nanoseconds;

//! Seconds as a floating-point number, for computing and printing.
constexpr double to_seconds(station_time t)
{
    return std::chrono::duration<double>(t).count();
}

//! Station time from seconds; the fraction below one nanosecond is rounded.
constexpr station_time from_seconds(double s)
{
    return station_time(static_cast<station_time::rep>(s * 1e9 + (s < 0 ? -0.5 : 0.5)));
}

} // namespace gr::hf
