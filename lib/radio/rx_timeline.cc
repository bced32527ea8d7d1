/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/rx_timeline.h"

#include <cmath>

namespace gr::hf::kernel {

rx_timeline::verdict rx_timeline::at(const device_time& t)
{
    verdict v;
    const auto count = static_cast<int64_t>(d_count);
    if (!d_origin) {
        d_origin = t.after(-count, d_rate);
        return v;
    }
    const double step = t - d_origin->after(count, d_rate);
    if (step > longest_gap_s || step < -longest_repeat_s) {
        d_origin = t.after(-count, d_rate);
        v.time_was_set = true;
        return v;
    }
    // Drivers round times to their unit: less than half a sample is no step.
    const int64_t samples = std::llround(step * d_rate);
    if (samples > 0)
        v.lost = static_cast<uint64_t>(samples);
    else
        v.repeated = static_cast<uint64_t>(-samples);
    return v;
}

} // namespace gr::hf::kernel
