/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_access.h"
#include "s5066/dts/peer/node_context.h"
#include "s5066/dts/tx/d_pdu_maker.h"

#include <deque>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Physical links of one node, Channel Access Sublayer type 1 (Annex B): nonexclusive ones on
 *         demand, exclusive ones for hard links.
 *
 * It hears link control C_PDUs and of silence, says what link control goes out, and tells the
 * sublayer above of exclusive links; that only in tell(), when no peer is being worked on.
 */
class soft_links
{
public:
    soft_links(node_context& node, const channel_access& access, const d_pdu_maker& maker)
        : d_node(node), d_access(access), d_maker(maker)
    {
    }

    // What there is
    //! Links that are made, or on their way to it or to their end.
    unsigned count() const;
    //! An exclusive link is asked for.
    bool exclusive_wanted() const;
    //! Others have an exclusive link.
    bool excluded(const peer& p) const;
    //! No links: a broadcast session (A.1.1.3).
    bool broadcast() const { return d_broadcast; }
    void set_broadcast(bool on) { d_broadcast = on; }

    // Making
    //! A link request may go out to it.
    bool may_call(const peer& p) const;
    //! It is due with the transmission that begins; the last one was in that mode.
    bool call_due(const peer& p, const gr::hf::mode& last) const;
    void call(station_time now, peer& p);
    //! An exclusive link is wanted; a peer that nothing can be known of is nullptr.
    void make_exclusive(station_time now, address a, peer* p);

    // Ending
    void begin_break(station_time now, address a, link_break_reason why);
    void break_nonexclusive(station_time now);
    //! It has failed: what waits is given up.
    void lost(station_time now, peer& p, unidata_reject_reason reason);
    //! It is over, whether the peer knows it or not.
    void closed(peer& p);
    //! The peer did not answer a transmission.
    void on_silence(station_time now, peer& p);
    //! From time to time, while the channel is free: idle links end.
    void check(station_time now);

    // C_PDUs
    //! A link control C_PDU came. \return true: a link is made with it
    bool on_c_pdu(station_time now, peer& p, const c_pdu& c, const non_arq_header& h);
    //! Link control of the transmission that begins.
    struct control {
        std::vector<d_pdu> d_pdus;
        std::optional<d_pdu> opening; //!< without which nothing behind it counts
    };
    control next_control(peer& p) const;

    //! Tells the sublayer above what has happened to exclusive links.
    void tell(station_time now);

private:
    struct event {
        address addr;
        bool made = false;
    };

    unsigned exclusive_links() const;
    bool offers_large(const peer& p) const;
    bool upgrade_due(const peer& p, const gr::hf::mode& last) const;
    void make_room(station_time idle_since);
    unsigned tries_until_gone(station_time now, const peer& p) const;
    bool gone(station_time now, const peer& p, unsigned unanswered) const;
    std::optional<link_reject_reason> refusal(const peer& p, bool exclusive) const;
    bool on_request(station_time now, peer& p, unsigned bits, const non_arq_header& h);
    bool on_accepted(station_time now, peer& p, const non_arq_header& h);
    void made(station_time now, peer& p, bool exclusive);
    station_time first_data_wait() const;
    //! Reception window of a link control C_PDU.
    uint16_t window_of(const peer& p, c_pdu_type type) const;
    //! The reception window of the peer's request or acceptance.
    void note_large(peer& p, uint16_t window);
    void refused(station_time now, peer& p, link_reject_reason why);
    static void end_quietly(peer& p);
    d_pdu make_c_pdu(const peer& p, c_pdu_type type, uint8_t low, uint16_t id) const;
    void push_c_pdu(peer& p, c_pdu_type type, uint8_t low);

    node_context& d_node;
    const channel_access& d_access;
    const d_pdu_maker& d_maker;
    bool d_broadcast = false;
    std::deque<event> d_events;
};

} // namespace gr::hf::s5066
