/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/address.h"

#include <hf/station_time.h>

#include <cstddef>
#include <cstdint>
#include <map>

namespace gr::hf::s5066 {

/*! \brief List of the stations with data for a shared channel. The turn goes to the
 *         station that has waited longest.
 *
 * All stations hear who transmits data, so each keeps the same list by listening, without
 * signalling. A station is on the list from its first transmission with data until it
 * lets its turn pass.
 */
class channel_share
{
public:
    //! \p a started a transmission with data.
    void served(address a, station_time begin);
    //! \p a was not served after all: its transmission was not answered.
    void unserved(address a);
    /*! \brief \p a was the first to start on the free channel. Stations that have waited
     *         longer have nothing to send. They leave the list, but count in recent() for
     *         a while.
     */
    void began_first(address a);
    //! True if \p a is on the list.
    bool has(address a) const;
    //! Stations on the list.
    size_t stations() const;
    //! Stations on the list, and those that left it recently.
    size_t recent() const { return d_served.size(); }
    //! Stations that have waited longer than \p a; none if it is not on the list.
    unsigned ahead_of(address a) const;
    //! True if \p a and \p b are on the list and \p a has waited longer.
    bool is_ahead(address a, address b) const;
    //! Removes stations served before \p t, and those that left the list and were served
    //! before \p recent.
    void forget_before(station_time t, station_time recent);

private:
    struct times {
        station_time last{};   // start of the last transmission with data
        station_time before{}; // start of the one before it
        bool once = true;      // there is none before
        bool left = false;     // no longer on the list
    };
    std::map<uint32_t, times> d_served; // by raw address
};

} // namespace gr::hf::s5066
