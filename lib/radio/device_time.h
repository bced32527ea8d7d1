/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cmath>
#include <cstdint>

namespace gr::hf::kernel {

/*! \brief A time of a device's own clock: whole seconds and the rest, exact however long
 *         the device has been running.
 */
struct device_time {
    int64_t seconds = 0;
    double fraction = 0; //!< s, 0 to 1

    //! This time plus \p samples at \p rate samples/s; exact far below a nanosecond for
    //! years.
    device_time after(int64_t samples, double rate) const
    {
        const long double s = static_cast<long double>(samples) / rate + fraction;
        const long double whole = std::floor(s);
        return { seconds + static_cast<int64_t>(whole), static_cast<double>(s - whole) };
    }
};

//! Time from \p b to \p a, s.
inline double operator-(const device_time& a, const device_time& b)
{
    return static_cast<double>(a.seconds - b.seconds) + (a.fraction - b.fraction);
}

} // namespace gr::hf::kernel
