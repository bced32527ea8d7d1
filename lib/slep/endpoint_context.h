/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/endpoint.h"

#include <bitset>
#include <deque>

namespace gr::hf::slep {

//! The earliest of several times, some of which may be unset.
class earliest
{
public:
    void add(const std::optional<station_time>& t)
    {
        if (t && (!d_first || *t < *d_first))
            d_first = t;
    }
    std::optional<station_time> get() const { return d_first; }

private:
    std::optional<station_time> d_first;
};

/*! \brief Shared by the parts of one endpoint: settings, the time of the current call,
 *         counters, events for the user. It decides nothing. Each part keeps its own
 *         state.
 */
struct endpoint_context {
    //! \throws std::invalid_argument names the value and what is allowed.
    explicit endpoint_context(const endpoint_config& c) : config((c.validate(), c)) {}

    endpoint_config config;
    station_time now{};
    endpoint_stats stats;
    //! Since then the node takes no data: it is not bound, or has stopped its clients.
    std::optional<station_time> stopped_at = station_time(0);
    std::bitset<256> listening; //!< extended addresses that accept streams and datagrams
    std::deque<event> events;
    uint64_t last_id = 0; //!< last id of a stream, datagram or control PDU; ids are never
                          //!< used twice

    uint64_t new_id() { return ++last_id; }
    //! Adds an event for the user.
    void tell(event::type t,
              stream_id s,
              const user_address& from,
              octets data = {},
              uint8_t code = 0)
    {
        event e;
        e.what = t;
        e.stream = s;
        e.from = from;
        e.data = std::move(data);
        e.code = code;
        events.push_back(std::move(e));
    }
};

} // namespace gr::hf::slep
