/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/air/scheduler.h"

namespace gr::hf::sim {

bool scheduler::step()
{
    if (d_events.empty())
        return false;
    const auto it = d_events.begin();
    d_now = it->first.first;
    const auto f = std::move(it->second);
    d_events.erase(it);
    f();
    return true;
}

void scheduler::run_until(station_time t)
{
    while (!d_events.empty() && d_events.begin()->first.first <= t)
        step();
    d_now = t < d_now ? d_now : t;
}

bool scheduler::run_until(const std::function<bool()>& done, station_time limit)
{
    while (!done()) {
        if (d_events.empty() || d_events.begin()->first.first > limit) {
            d_now = limit < d_now ? d_now : limit;
            return false;
        }
        step();
    }
    return true;
}

} // namespace gr::hf::sim
