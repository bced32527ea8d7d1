/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/between/outgoing.h"
#include "s5066/config/node_config.h"
#include "s5066/config/node_stats.h"
#include "s5066/pdu/s_primitive.h"
#include "s5066/sis/hard_link.h"
#include "s5066/words/timers.h"

#include <deque>
#include <functional>
#include <map>
#include <set>

namespace gr::hf::s5066 {

//! A client of the Subnetwork Interface Sublayer, whether it holds a SAP or not.
struct sis_client {
    hard_link_user::bound who;
    bool is_bound = false;
    delivery_mode service; //!< what it bound for
    bool flow_on = true;
    bool told_off = false; //!< by S_SUBNET_AVAILABILITY, because of a hard link

    unsigned invalid = 0; //!< primitives
    station_time keep_alive_at{};
    bool keep_alive_asked = false;
    std::optional<station_time> keep_alive_sent; //!< last, asking or answering
    std::set<const outgoing*> expedited;         //!< not yet delivered or failed
    double expedited_credit = 0;                 //!< of requests, refilled with time
    station_time expedited_at{};
};

/*! \brief Clients of one node (A.2.1): who holds which SAP, whose place a higher rank takes,
 *         whether they are alive, and the primitives that go out to them.
 */
class sis_clients
{
public:
    //! \param unbound called when a client has lost its SAP, whatever the reason
    sis_clients(const node_config& config,
                node_stats& stats,
                std::function<void(station_time, client_id)> unbound)
        : d_config(config), d_stats(stats), d_unbound(std::move(unbound))
    {
    }

    //! The client with this number, a new one if need be.
    sis_client& arrive(client_id c);
    //! Forgets one that holds no SAP if there are too many: it may bind again at any time.
    void forget_one();
    //! Its connection has ended; what was to go to it is dropped.
    void gone(station_time now, client_id c);
    //! Null if there is none with this number.
    sis_client* find(client_id c);
    //! Null if nobody holds this SAP.
    sis_client* at(uint8_t sap);
    const sis_client* at(uint8_t sap) const
    {
        return const_cast<sis_clients*>(this)->at(sap);
    }
    //! Client numbers by SAP, of those that hold one.
    const std::map<uint8_t, client_id>& saps() const { return d_saps; }

    /*! \brief Queues a primitive for a client; what nobody polls is dropped in the end.
     *  \param numbering see sis_output
     */
    void send(client_id c, const s_primitive& p, uint64_t numbering = 0);
    //! The next of them.
    std::optional<sis_output> poll();

    /*! \brief S_BIND_REQUEST of a client (A.2.1.1), answered.
     *  \param broadcast a broadcast session, in which nobody can bind for ARQ
     *  \return whether it holds the SAP
     */
    bool bind(station_time now, sis_client& k, const s_bind_request& r, bool broadcast);
    //! Takes its SAP away; \p why is told to it if there is a reason.
    void unbind(station_time now, sis_client& k, std::optional<unbind_reason> why);
    //! A primitive that it must not send; too many end its binding.
    void invalid(station_time now, sis_client& k);
    //! Ends the binding of all that hold a SAP for ARQ.
    void unbind_arq(station_time now, unbind_reason why);
    //! One more expedited request is more than a client may make (A.2.1.6).
    bool too_many_expedited(station_time now, sis_client& k) const;

    //! S_KEEP_ALIVE of a client.
    void on_keep_alive(station_time now, sis_client& k);
    void on_time(station_time now);
    std::optional<due> next_due() const;

private:
    bool all_places_taken() const;
    bool make_room(station_time now, uint8_t rank);
    std::optional<bind_reject_reason> refusal(station_time now,
                                              const sis_client& k,
                                              const s_bind_request& r,
                                              bool broadcast);
    station_time next_keep_alive(station_time now) const;
    void send_keep_alive(station_time now, sis_client& k);

    const node_config& d_config;
    node_stats& d_stats;
    std::function<void(station_time, client_id)> d_unbound;
    std::map<client_id, sis_client> d_clients;
    std::map<uint8_t, client_id> d_saps;
    std::deque<sis_output> d_out;
    size_t d_out_octets = 0;
};

} // namespace gr::hf::s5066
