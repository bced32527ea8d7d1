/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace gr::hf::s5066 {

//! Counters seen from one source for one destination. Each is new once.
class replay_window
{
public:
    //! Counters below the highest that may still arrive. Less urgent U_PDUs arrive late.
    static constexpr size_t span = 1024;

    //! Nothing seen yet.
    replay_window() = default;
    //! After a restart: all counters up to \p highest count as seen.
    explicit replay_window(uint64_t highest) : d_highest(highest), d_any(true)
    {
        d_seen.set();
    }

    bool any() const { return d_any; }
    uint64_t highest() const { return d_highest; }
    //! Whether \p counter was not seen yet and is not older than the window.
    bool is_new(uint64_t counter) const
    {
        if (!d_any || counter > d_highest)
            return true;
        const uint64_t age = d_highest - counter;
        return age < span && !d_seen[age];
    }
    //! Marks \p counter, for which is_new() was true, as seen.
    void add(uint64_t counter)
    {
        if (!d_any || counter > d_highest) {
            const uint64_t step = d_any ? counter - d_highest : span;
            d_seen = step < span ? d_seen << step : std::bitset<span>();
            d_highest = counter;
            d_any = true;
        }
        d_seen.set(d_highest - counter);
    }

private:
    uint64_t d_highest = 0;
    std::bitset<span> d_seen; // bit k: counter d_highest - k
    bool d_any = false;
};

} // namespace gr::hf::s5066
