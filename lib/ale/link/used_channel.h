/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/station_time.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

namespace gr::hf::ale {

//! Goodput that the channel in use has promised, as a mean over the last two minutes.
class used_channel
{
public:
    static constexpr station_time window = std::chrono::minutes(2);

    void clear() { d_seen.clear(); }
    //! Traffic was received whose SNR promises \p bps.
    void note(double bps, station_time now)
    {
        d_seen.emplace_back(now, bps);
        // The oldest entry covers the start of the window.
        while (d_seen.size() > 2 && d_seen[1].first <= now - window)
            d_seen.pop_front();
    }
    //! bit/s, weighted by time; empty: not yet used for the whole window.
    std::optional<double> mean_bps() const
    {
        if (d_seen.empty() || d_seen.back().first - d_seen.front().first < window)
            return std::nullopt;
        const station_time from = d_seen.back().first - window;
        double sum = 0;
        for (size_t k = 1; k < d_seen.size(); ++k) {
            const auto& [begin, before] = d_seen[k - 1];
            const auto& [end, after] = d_seen[k];
            sum += to_seconds(end - std::max(begin, from)) * (before + after) / 2;
        }
        return sum / to_seconds(window);
    }

private:
    std::deque<std::pair<station_time, double>> d_seen; // when, bit/s
};

} // namespace gr::hf::ale
