/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "radio/device_time.h"

#include <cstdint>
#include <optional>

namespace gr::hf::kernel {

/*! \brief The count of received samples against the clock of a device that says at which time
 *         a sample was taken (tags rx_time).
 *
 * Station time is that count, so that what the device has lost must be put back, and what it
 * gives twice left out: the count never steps back and never jumps.
 */
class rx_timeline
{
public:
    //! A step of the device's clock that is longer is no loss: its time was set anew.
    static constexpr double longest_gap_s = 600;
    //! Samples that come again, at most: a longer step back is a clock that was set anew.
    static constexpr double longest_repeat_s = 1;

    //! What is to be done before the next sample is taken.
    struct verdict {
        uint64_t lost = 0;     //!< so many samples are missing: put them in
        uint64_t repeated = 0; //!< so many of the next ones were there already
        bool anew = false;     //!< the device's time was set: origin() has moved
    };

    //! \param sample_rate of the device, samples/s, positive
    explicit rx_timeline(double sample_rate) : d_rate(sample_rate) {}

    //! The next sample was taken at \p t.
    verdict at(const device_time& t);
    //! The next time will be that of another clock.
    void forget_time() { d_origin.reset(); }
    //! So many samples were counted: taken, or put in for lost ones.
    void counted(uint64_t samples) { d_count += samples; }

    uint64_t count() const { return d_count; }
    //! Of sample 0; empty before any time was told.
    std::optional<device_time> origin() const { return d_origin; }

private:
    const double d_rate;
    uint64_t d_count = 0;
    std::optional<device_time> d_origin;
};

} // namespace gr::hf::kernel
