/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/codec.h"
#include "slep/endpoint.h"
#include <hf/time.h>

#include <deque>
#include <map>
#include <optional>
#include <set>

namespace gr::hf::slep {

/*! \brief Reliable datagrams from one peer: puts segments together, drops repeats. */
class datagram_assembler
{
public:
    //! \param limit octets of incomplete datagrams; the oldest goes when there are more
    explicit datagram_assembler(size_t limit) : d_limit(limit) {}

    struct result {
        bool duplicate = false;
        std::optional<octets> whole;
        size_t lost = 0; //!< incomplete datagrams that had to make room
    };
    result put(station_time now, reliable_datagram d);
    //! Drop what is incomplete since before \p before; returns how many.
    size_t drop_older(station_time before);
    //! When the oldest incomplete datagram began.
    std::optional<station_time> oldest() const;
    //! The peer started anew: its numbers mean nothing any more.
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

//! A datagram that waits to be sent, and what became of its parts.
struct outgoing_datagram {
    stream_id handle = 0;
    user_address to;
    uint8_t priority = 0;
    enum class service {
        unreliable, // given to SIS once
        confirmed,  // until the far node has it, possibly twice
        reliable    // until the far node has it, with a number: repeats are known
    } how = service::unreliable;
    bool arq = true;
    station_time expires{};
    std::vector<octets> parts; // U_PDUs
    std::set<size_t> to_send;  // indexes of parts that SIS does not have
    size_t unconfirmed = 0;    // parts that SIS has
    size_t size = 0;           // of all parts
};

} // namespace gr::hf::slep
