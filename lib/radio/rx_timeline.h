/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "radio/device_time.h"

#include <cstdint>
#include <optional>

namespace gr::hf::kernel {

/*! \brief The count of received samples, corrected by a device's clock that gives the
 *         time of samples (tags rx_time).
 *
 * Station time is that count. So lost samples must be put back, and repeated ones left
 * out. The count never steps back and never jumps.
 */
class rx_timeline
{
public:
    //! A longer step of the device's clock is no loss: its time was set.
    static constexpr double longest_gap_s = 600;
    //! A longer step back is no repetition: the clock was set.
    static constexpr double longest_repeat_s = 1;

    //! Action before the next sample is taken.
    struct verdict {
        uint64_t lost = 0;         //!< missing samples to put in
        uint64_t repeated = 0;     //!< repeated samples to skip
        bool time_was_set = false; //!< the device's time was set: origin() has moved
    };

    //! \param sample_rate of the device, samples/s, positive
    explicit rx_timeline(double sample_rate) : d_rate(sample_rate) {}

    //! The next sample was taken at time \p t.
    verdict at(const device_time& t);
    //! The next time will come from another clock.
    void forget_time() { d_origin.reset(); }
    //! \p samples samples were counted: taken, or put in for lost ones.
    void counted(uint64_t samples) { d_count += samples; }

    uint64_t count() const { return d_count; }
    //! Time of sample 0; empty before any time was reported.
    std::optional<device_time> origin() const { return d_origin; }

private:
    const double d_rate;
    uint64_t d_count = 0;
    std::optional<device_time> d_origin;
};

} // namespace gr::hf::kernel
