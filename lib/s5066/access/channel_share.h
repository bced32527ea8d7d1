/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/address.h"

#include <hf/time.h>

#include <cstddef>
#include <cstdint>
#include <map>

namespace gr::hf::s5066 {

/*! \brief Which stations have data for a shared channel, and whose turn it is: that of the one
 *         that has waited longest.
 *
 * All stations hear who transmits data, so each keeps the same list by listening, and nothing
 * goes on the air for it. A station is on the list from its first transmission with data until
 * it lets its turn pass.
 */
class channel_share
{
public:
    //! \p a began a transmission with data.
    void served(address a, station_time begin);
    //! \p a has not been served after all: its transmission was not answered.
    void unserved(address a);
    /*! \brief \p a was the first to begin on the free channel: whoever has waited longer has
     *         nothing to send and leaves the list, but counts in recent() for a while.
     */
    void began_first(address a);
    //! \p a is on the list.
    bool has(address a) const;
    //! Stations on the list.
    size_t stations() const;
    //! Stations on the list, and those that have left it lately.
    size_t recent() const { return d_served.size(); }
    //! Stations that have waited longer than \p a; none if it is not on the list.
    unsigned ahead_of(address a) const;
    //! \p a has waited longer than \p b, and both are on the list.
    bool is_ahead(address a, address b) const;
    //! Takes out all that were served before \p t, and those not on the list before \p recent.
    void forget_before(station_time t, station_time recent);

private:
    struct times {
        station_time last{};   // begin of the last transmission with data
        station_time before{}; // of the one before it
        bool once = true;      // there is none before
        bool left = false;     // not on the list any more
    };
    std::map<uint32_t, times> d_served; // by raw address
};

} // namespace gr::hf::s5066
