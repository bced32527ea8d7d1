/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/station_time.h>

#include <optional>

namespace gr::hf::slep {

/* How the engine of a subnetwork client is driven, in a flowgraph and in the simulators. An
 * engine has sis_in(), poll_sis(), next_deadline() and on_deadline().
 */

//! Calls on_deadline() until the next deadline is later than \p now.
template <class Engine>
void run_deadlines(Engine& engine, station_time now)
{
    // A deadline that moves itself into the past would loop here forever.
    for (int round = 0; round < 100; ++round) {
        const auto due = engine.next_deadline();
        if (!due || *due > now)
            return;
        engine.on_deadline(now);
    }
}

/*! \brief Lets engine and edge work until neither has more to do.
 *  \param edge does the engine's work besides SIS; false if there was none
 *  \param send takes each primitive for the node
 */
template <class Engine, class Edge, class Send>
void exchange(Engine& engine, Edge&& edge, Send&& send)
{
    for (bool again = true; again;) {
        again = edge();
        while (const auto primitive = engine.poll_sis()) {
            send(*primitive);
            again = true;
        }
    }
}

} // namespace gr::hf::slep
