/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/codec.h"
#include "slep/endpoint.h"
#include <hf/station_time.h>

#include <deque>
#include <map>
#include <optional>
#include <set>

namespace gr::hf::slep {

/*! \brief Reliable datagrams from one peer: reassembles segments, drops repeats. */
class datagram_assembler
{
public:
    //! \param limit octets of incomplete datagrams. Beyond that the oldest is dropped
    explicit datagram_assembler(size_t limit) : d_limit(limit) {}

    struct result {
        bool duplicate = false;
        std::optional<octets> whole;
        size_t lost = 0; //!< incomplete datagrams that were dropped to make room
    };
    result put(station_time now, reliable_datagram d);
    //! Drop datagrams incomplete since before \p before. Returns how many.
    size_t drop_older(station_time before);
    //! Arrival of the oldest incomplete datagram.
    std::optional<station_time> oldest() const;
    //! The peer has restarted. Its numbers mean nothing any more.
    void clear();

private:
    struct partial {
        station_time since{};
        std::map<uint8_t, octets> segments;
        std::optional<uint8_t> last;
        size_t size = 0;
    };
    void remember(uint16_t number);
    std::map<uint16_t, partial>::iterator oldest_partial();

    size_t d_limit;
    size_t d_size = 0;
    std::map<uint16_t, partial> d_partial;
    std::deque<uint16_t> d_seen;
};

//! A datagram to be sent, with the state of its parts.
struct outgoing_datagram {
    stream_id handle = 0;
    user_address to;
    uint8_t priority = 0;
    enum class service {
        unreliable, // passed to SIS once
        confirmed,  // until the far node has it; it may arrive twice
        reliable    // until the far node has it, with a number that reveals repeats
    } how = service::unreliable;
    bool arq = true;
    station_time expires{};
    std::vector<octets> parts; // one U_PDU each
    std::set<size_t> to_send;  // indexes of parts that SIS does not have
    size_t unconfirmed = 0;    // parts that SIS has
    size_t size = 0;           // octets of all parts
};

} // namespace gr::hf::slep
