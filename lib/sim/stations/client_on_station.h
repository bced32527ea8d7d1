/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/stations/station.h"

#include <functional>
#include <optional>

namespace gr::hf::sim {

/*! \brief The engine of a subnetwork client on a station of the event simulator.
 *  \details \p Engine has sis_in(), poll_sis(), next_deadline() and on_deadline().
 */
template <class Engine>
class client_on_station
{
public:
    template <class Config>
    client_on_station(scheduler& s, station& at, const Config& c)
        : engine(c), d_scheduler(s), d_station(at)
    {
        d_client =
            at.attach_octets([this](station_time now, const std::vector<uint8_t>& v) {
                engine.sis_in(now, v.data(), v.size());
                drain();
            });
        drain();
    }

    //! Does the engine's work besides SIS. False if there was none.
    std::function<bool()> edge;

    //! Call it after each event for the engine.
    void drain()
    {
        if (d_busy)
            return;
        d_busy = true;
        for (bool again = true; again;) {
            again = edge && edge();
            while (auto v = engine.poll_sis()) {
                again = true;
                d_station.send_octets(d_client, *v);
            }
        }
        d_busy = false;
        const auto t = engine.next_deadline();
        if (!t || (d_wake && *d_wake <= *t && *d_wake > d_scheduler.now()))
            return;
        d_wake = t;
        d_scheduler.at(*t, [this, when = *t] {
            if (d_wake == when)
                d_wake.reset();
            if (const auto due = engine.next_deadline(); due && *due <= d_scheduler.now())
                engine.on_deadline(d_scheduler.now());
            drain();
        });
    }

    Engine engine;

private:
    scheduler& d_scheduler;
    station& d_station;
    s5066::client_id d_client = 0;
    bool d_busy = false;
    std::optional<station_time> d_wake;
};

} // namespace gr::hf::sim
