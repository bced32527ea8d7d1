/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/station_time.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace gr::hf::sim {

/*! \brief Virtual time: runs events in order of time. Events of the same time run in
 *         order of entry.
 */
class scheduler
{
public:
    station_time now() const { return d_now; }
    //! Runs \p f at \p t. Runs it at once if \p t is in the past.
    void at(station_time t, std::function<void()> f)
    {
        d_events.emplace(std::make_pair(t < d_now ? d_now : t, d_next++), std::move(f));
    }
    //! Runs the next event. \return false if there is none
    bool step();
    //! Runs everything up to and including \p t. Time is \p t afterwards.
    void run_until(station_time t);
    //! Runs until \p done or until \p limit. \return the last answer of \p done
    bool run_until(const std::function<bool()>& done, station_time limit);
    size_t pending() const { return d_events.size(); }

private:
    std::map<std::pair<station_time, uint64_t>, std::function<void()>> d_events;
    station_time d_now{};
    uint64_t d_next = 0;
};

} // namespace gr::hf::sim
