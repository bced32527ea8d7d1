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
    d_least.reset();
    const int64_t lost = judge(least, now);
    d_window_begin = now;
    return lost;
}

int64_t arrival_clock::judge(double least, double now)
{
    if (!d_before) { // the first window: buffers are still filling
        d_before = least;
        d_before_begin = d_window_begin;
        return 0;
    }
    const double moved = least - *d_before;
    const double allowed =
        std::max(std::clamp(scatters * d_scatter, min_gap_s, sure_gap_s),
                 (now - d_before_begin) * max_drift_ppm * 1e-6);
    if (moved > allowed) {
        if (moved <= sure_gap_s && !d_suspected) {
            d_suspected = least;
            return 0;
        }
        const double lost = std::min(moved, d_suspected.value_or(least) - *d_before);
        d_lost_s += lost;
        keep(*d_before);
        return std::llround(lost * d_rate);
    }
    if (moved < -allowed && d_lost_s > 0) {
        // Only put back what was put in: a device that only started slowly is early now.
        const double back = std::min(-moved, d_lost_s);
        d_lost_s -= back;
        keep(least + back);
        return -std::llround(back * d_rate);
    }
    constexpr double memory = 8; // windows
    d_scatter += (std::min(std::abs(moved), sure_gap_s) - d_scatter) / memory;
    if (d_suspected) // the host was late, nothing else
        d_scatter = std::max(d_scatter, (*d_suspected - *d_before) / scatters);
    if (moved < -allowed)
        d_anchor.reset(); // a slow start, no drift
    keep(least);
    d_latest = least;
    d_latest_time = now;
    if (!d_anchor) {
        d_anchor = d_latest;
        d_anchor_time = now;
    }
    return 0;
}

void arrival_clock::keep(double least)
{
    d_before = least;
    d_before_begin = d_window_begin;
    d_suspected.reset();
}

std::optional<double> arrival_clock::drift_ppm() const
{
    constexpr double min_span_s = 60; // the least lateness scatters by some
                                      // milliseconds
    if (!d_anchor || d_latest_time - *d_anchor_time < min_span_s)
        return {};
    return -1e6 * (d_latest - *d_anchor) / (d_latest_time - *d_anchor_time);
}

} // namespace gr::hf::kernel
