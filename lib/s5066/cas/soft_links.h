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

/*! \brief Physical links of one node, Channel Access Sublayer type 1 (Annex B):
 *         nonexclusive ones on demand, exclusive ones for hard links.
 *
 * It handles link control C_PDUs and silence, and decides what link control is sent. It
 * notifies the sublayer above of exclusive links, but only in tell(), when no peer is
 * being worked on.
 */
class soft_links
{
public:
    soft_links(node_context& node, const channel_access& access, const d_pdu_maker& maker)
        : d_node(node), d_access(access), d_maker(maker)
    {
    }

    // State
    //! Number of links made, being made or being ended.
    unsigned count() const;
    //! True if an exclusive link is requested.
    bool exclusive_wanted() const;
    //! True if another peer has an exclusive link.
    bool excluded(const peer& p) const;
    //! True in a broadcast session, in which there are no links (A.1.1.3).
    bool broadcast() const { return d_broadcast; }
    void set_broadcast(bool on) { d_broadcast = on; }

    // Making
    //! True if a link request may be sent to \p p.
    bool may_call(const peer& p) const;
    //! True if a request is due with the transmission about to start. \p last: mode of
    //! the one before.
    bool call_due(const peer& p, const gr::hf::mode& last) const;
    void call(station_time now, peer& p);
    //! Requests an exclusive link; \p p is nullptr if there is no room for another peer.
    void make_exclusive(station_time now, address a, peer* p);

    // Ending
    void begin_break(station_time now, address a, link_break_reason why);
    void break_nonexclusive(station_time now);
    //! The link has failed: data that wait are given up.
    void lost(station_time now, peer& p, unidata_reject_reason reason);
    //! The link is over, whether the peer knows it or not.
    void closed(peer& p);
    //! The peer did not answer a transmission.
    void on_silence(station_time now, peer& p);
    /*! \brief The peer has answered. Gives up if it neither accepts nor refuses a link, or
     *         does not confirm its end, after as many tries as with a silent peer.
     */
    void on_evasion(station_time now, peer& p);
    //! Call regularly while the channel is free: ends idle links.
    void check(station_time now);

    // C_PDUs
    //! Handles a link control C_PDU. \return true if it makes a link
    bool on_c_pdu(station_time now, peer& p, const c_pdu& c, const non_arq_header& h);
    //! Link control for the transmission about to start.
    struct control {
        std::vector<d_pdu> d_pdus;
        //! The one of d_pdus that makes the link. The data after it need it.
        std::optional<d_pdu> opening;
    };
    control next_control(peer& p) const;

    //! Notifies the sublayer above of changes of exclusive links.
    void tell(station_time now);

private:
    struct event {
        address addr;
        bool made = false;
    };

    unsigned exclusive_links() const;
    bool adapts_in_3_khz() const;
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
    //! Takes the reception window of the peer's request or acceptance.
    void note_window(peer& p, uint16_t shown);
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
