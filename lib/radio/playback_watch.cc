/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/playback_watch.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

playback_watch::finding
playback_watch::wrote(uint64_t given, double held_s, double begin, double end)
{
    if (d_empty_at && begin > *d_empty_at + d_block_s) {
        const double lacked = begin - *d_empty_at;
        restart();
        return { lacked, lacked };
    }
    d_empty_at = end + held_s;
    const auto held = static_cast<uint64_t>(std::llround(std::max(held_s, 0.0) * d_rate));
    d_played_before = std::max(d_played_before, given - std::min(given, held));
    const int64_t late = d_clock.arrived(d_played_before + d_silence, end);
    d_silence += static_cast<uint64_t>(std::max(late, -static_cast<int64_t>(d_silence)));
    return { 0, std::max(0.0, static_cast<double>(late) / d_rate) };
}

} // namespace gr::hf::kernel
