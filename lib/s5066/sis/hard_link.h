/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/between/outgoing.h"
#include "s5066/config/node_config.h"
#include "s5066/config/node_stats.h"
#include "s5066/pdu/c_pdu.h"
#include "s5066/pdu/s_pdu.h"
#include "s5066/pdu/s_primitive.h"
#include "s5066/words/timers.h"

#include <optional>
#include <vector>

namespace gr::hf::s5066 {

//! Calls from hard links up into the sublayer that contains them.
class hard_link_user
{
public:
    //! A bound client.
    struct bound {
        client_id client = 0;
        uint8_t sap = 0;
        uint8_t rank = 0;
    };

    virtual ~hard_link_user() = default;
    virtual void to_client(client_id c, const s_primitive& p) = 0;
    //! Sends by the expedited service.
    virtual void to_node(station_time now, address a, const s_pdu& s) = 0;
    virtual std::optional<bound> client_at(uint8_t sap) const = 0;
    //! Starts an exclusive physical link; hard_links::on_link_made() or on_link_down()
    //! follows.
    virtual void make_link(station_time now, address a) = 0;
    virtual void break_link(station_time now, address a) = 0;
    //! Breaks all nonexclusive links: the called side needs its exclusive link for
    //! itself.
    virtual void break_nonexclusive(station_time now) = 0;
    //! The result of hard_links::allows() has changed.
    virtual void rules_changed(station_time now) = 0;
};

/*! \brief Hard links of one node (A.3.2.2). Only one at a time is in use or being set up;
 *         others may still be ending.
 *
 * Calls of hard_link_user are made from within the functions here.
 */
class hard_links
{
public:
    hard_links(const node_config& config, hard_link_user& user)
        : d_config(config), d_user(user)
    {
    }

    // Calls of clients
    //! S_HARD_LINK_ESTABLISH by \p by; \p l names a remote node.
    void establish(station_time now, const hard_link_user::bound& by, const hard_link& l);
    /*! \brief S_HARD_LINK_TERMINATE, from the client that requested the hard link or was
     *         asked for type 2 (A.2.1.19, A.3.2.2.3).
     *  \return false if the client has no hard link with \p remote. Nothing happens and
     *         no answer is sent, since S_HARD_LINK_TERMINATED is for clients of a hard
     *         link (A.2.1.22).
     */
    bool terminate(station_time now, client_id c, address remote);
    //! S_HARD_LINK_ACCEPT. \return false if there is nothing to accept
    bool accept(station_time now, client_id c, const hard_link& l);
    //! S_HARD_LINK_REJECT. \return false if there is nothing to reject
    bool reject(station_time now, client_id c, const hard_link& l, uint8_t reason);
    //! The client is no longer bound.
    void client_gone(station_time now, client_id c);

    // Calls from the sublayers below
    //! One of S_PDU types 3 to 7.
    void on_s_pdu(station_time now, address from, const s_pdu& s);
    void on_link_made(station_time now, address a);
    void on_link_down(station_time now, address a);
    //! Ends all: no hard link is possible in EMCON or in a broadcast session.
    void end_all(station_time now);

    //! True if \p o may be sent now; false if it must wait for the end of the hard link
    //! (A.1.1.2).
    bool allows(const outgoing& o) const;
    //! True if client \p c may use the hard link, or if there is none.
    bool open_to(const hard_link_user::bound& c) const;
    //! True if the physical link with \p a is needed.
    bool uses(address a) const;
    //! The hard link that is established.
    std::optional<hard_link> established() const;

    void on_time(station_time now);
    std::optional<due> next_due() const;

private:
    enum class state {
        calling,    // exclusive physical link requested
        requesting, // S_PDU 3 sent
        asking,     // S_HARD_LINK_INDICATION sent
        made
    };
    struct session {
        state at = state::calling;
        hard_link link; // as our client sees it
        bool caller = false;
        uint8_t rank = 0;
        // Our client that requested it, or was asked (type 2).
        std::optional<client_id> client;
        uint8_t own_sap = 0;     // SAP of that client
        uint8_t peer_sap = 0;    // SAP of the remote client
        station_time deadline{}; // in the states requesting and asking
    };
    // S_PDU 6 is sent, S_PDU 7 has not arrived.
    struct ending {
        address remote;
        hard_link link;
        std::optional<client_id> client; // to be notified at the end
        station_time deadline{};
    };

    bool wins(const session& next) const;
    void tell_rejected(const session& s, hard_link_reject_reason why);
    void tell_terminated(const session& s, hard_link_end_reason why);
    void refuse(station_time now, address a, uint8_t reason);
    void on_request(station_time now, address from, const s_pdu& s);
    void take_over(station_time now, session next);
    void set_made(station_time now);
    void send(station_time now, address a, s_pdu_type type, uint8_t low);
    void give_up(station_time now, uint8_t s_pdu_reason, bool tell_at_end);
    void drop(station_time now);
    void release(station_time now, address a);
    void ended(station_time now, size_t index, hard_link_end_reason why);

    const node_config& d_config;
    hard_link_user& d_user;
    std::optional<session> d_session;
    std::vector<ending> d_endings;
};

} // namespace gr::hf::s5066
