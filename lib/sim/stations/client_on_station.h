/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/stations/station.h"
#include "slep/client_driver.h"

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
        : d_scheduler(s), d_station(at)
    {
        d_engine.emplace(c);
        attach();
        drain();
    }
    client_on_station(const client_on_station&) = delete;

    Engine& engine() { return *d_engine; }

    //! Does the engine's work besides SIS. False if there was none.
    std::function<bool()> edge;

    //! Call it after each event for the engine.
    void drain()
    {
        if (d_busy)
            return;
        d_busy = true;
        slep::exchange(
            *d_engine,
            [this] { return edge && edge(); },
            [this](const auto& v) { d_station.send_octets(d_client, v); });
        d_busy = false;
        const auto t = d_engine->next_deadline();
        if (!t || (d_wake && *d_wake <= *t && *d_wake > d_scheduler.now()))
            return;
        d_wake = t;
        d_scheduler.at(*t, [this, when = *t] {
            if (d_wake == when)
                d_wake.reset();
            slep::run_deadlines(*d_engine, d_scheduler.now());
            drain();
        });
    }

    //! The client itself restarts with \p c.
    template <class Config>
    void restart(const Config& c)
    {
        d_station.detach(d_client);
        d_engine.emplace(c);
        attach();
        drain();
    }

protected:
    void attach()
    {
        d_client = d_station.attach_octets(
            [this](station_time now, const std::vector<uint8_t>& v) {
                d_engine->sis_in(now, v.data(), v.size());
                drain();
            });
    }
    station_time now() const { return d_scheduler.now(); }

private:
    scheduler& d_scheduler;
    station& d_station;
    std::optional<Engine> d_engine;
    s5066::client_id d_client = 0;
    bool d_busy = false;
    std::optional<station_time> d_wake;
};

} // namespace gr::hf::sim
