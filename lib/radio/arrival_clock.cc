/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/arrival_clock.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

int64_t arrival_clock::arrived(uint64_t samples, double now)
{
    if (!d_first) {
        d_first = now;
        d_window_begin = now;
    }
    const double late = now - *d_first - static_cast<double>(samples) / d_rate;
    d_least = d_least ? std::min(*d_least, late) : late;
    if (now - d_window_begin < window_s)
        return 0;
    const double least = *d_least;
    const double span = now - d_window_begin;
    d_window_begin = now;
    d_least.reset();
    if (!d_before) { // the first window: buffers were still filling
        d_before = least;
        return 0;
    }
    const double moved = least - *d_before;
    // Two windows lie between the two least ones at the most.
    const double allowed = std::max(least_gap_s, 2 * span * most_drift_ppm * 1e-6);
    if (std::abs(moved) > allowed && (moved > 0 || d_lost_s > 0)) {
        // What was never lost cannot be taken back: a device that only began slowly is early now.
        const double lost = moved > 0 ? moved : -std::min(-moved, d_lost_s);
        d_lost_s += lost;
        d_before = least - lost;
        return std::llround(lost * d_rate);
    }
    if (std::abs(moved) > allowed)
        d_anchor.reset(); // it began slowly, and that was no drift
    d_before = least;
    d_latest = least;
    d_latest_time = now;
    if (!d_anchor) {
        d_anchor = d_latest;
        d_anchor_time = now;
    }
    return 0;
}

std::optional<double> arrival_clock::drift_ppm() const
{
    constexpr double least_span_s = 60; // least latenesses scatter by some milliseconds
    if (!d_anchor || d_latest_time - *d_anchor_time < least_span_s)
        return {};
    return -1e6 * (d_latest - *d_anchor) / (d_latest_time - *d_anchor_time);
}

} // namespace gr::hf::kernel
