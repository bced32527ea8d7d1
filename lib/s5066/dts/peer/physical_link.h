/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/c_pdu.h"

#include <hf/station_time.h>

#include <cstdint>
#include <optional>
#include <string>

namespace gr::hf::s5066 {

//! Physical link with a peer, CAS-1 (Annex B).
enum class link_state {
    none,    //!< not linked
    calling, //!< a link request goes out with every transmission until it is answered
    made,
    breaking //!< a break request goes out until it is confirmed
};

/*! \brief State of the physical link with one peer (Annex B). The Channel Access Sublayer
 *         (soft_links) changes it; data transfer reads what it allows.
 */
struct physical_link {
    link_state state = link_state::none;
    bool caller = false;          //!< this side made the link
    bool exclusive = false;       //!< the link made is exclusive
    bool wants_exclusive = false; //!< an exclusive link is requested and not yet made
    link_break_reason break_reason = link_break_reason::no_more_data;
    uint16_t request_id = 0; //!< C_PDU ID of our link request, same in repeats
    //! C_PDU ID of the request that made the link.
    std::optional<uint16_t> heard_request_id;
    bool takes_large = false; //!< its last link control announced large windows
    bool reads_5069 = false;  //!< and showed that it reads STANAG 5069 in 3 kHz
    std::optional<uint16_t>
        ended_request_id; //!< of the request that made the last link, now ended
    //! Until the peer shows that it has received our acceptance.
    bool accept_due = false;
    bool accept_now = false;      //!< our acceptance is a reason to transmit
    unsigned tries = 0;           //!< of the link or break request
    station_time called_at{};     //!< time of the first link request
    station_time last_data{};     //!< time of the last data in either direction
    station_time first_data_by{}; //!< T_FIRST; 0: not running
    station_time made_at{};       //!< time at which it was made
    //! Octets of C_PDUs acknowledged and received with ARQ since it was made.
    uint64_t octets_sent = 0, octets_received = 0;

    //! ": 20000 octets sent, 0 received, in 34 s"; empty for a link that was not made.
    std::string moved_in_words(station_time now) const;
    bool none() const { return state == link_state::none; }
    bool calling() const { return state == link_state::calling; }
    bool made() const { return state == link_state::made; }
    bool breaking() const { return state == link_state::breaking; }
    /*! \brief D_PDUs of a connection may be sent: linked, or together with the link
     *         request. Not with the request for an exclusive link, which is only for data
     *         of the hard link.
     */
    bool connected() const { return made() || (calling() && !wants_exclusive); }
    //! T_FIRST has passed without data.
    bool first_data_late(station_time now) const
    {
        return first_data_by > station_time::zero() && now >= first_data_by;
    }

    //! Starts sending link requests with C_PDU \p id.
    void call(station_time now, uint16_t id);
    //! Our request was accepted, or we accepted one.
    void make(station_time now, bool with_exclusive);
    //! Starts sending break requests with C_PDU \p id.
    void begin_break(link_break_reason why, uint16_t id);
    void close();
};

} // namespace gr::hf::s5066
