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

//! A client of the Subnetwork Interface Sublayer, bound to a SAP or not.
struct sis_client {
    hard_link_user::bound who;
    bool is_bound = false;
    delivery_mode service; //!< service type of its bind
    bool flow_on = true;
    //! S_SUBNET_AVAILABILITY "off" was sent, because of a hard link.
    bool flow_off_sent = false;

    unsigned invalid = 0; //!< invalid primitives received
    station_time keep_alive_at{};
    bool keep_alive_asked = false;
    //! Last one sent, as a query or an answer.
    std::optional<station_time> keep_alive_sent;
    std::set<const outgoing*> expedited; //!< requests not yet delivered or failed
    //! Requests still allowed, refilled with time.
    double expedited_credit = 0;
    station_time expedited_at{};
};

/*! \brief Clients of one node (A.2.1): their SAPs and ranks, their keep-alives, and the
 *         primitives queued for them.
 */
class sis_clients
{
public:
    //! \param unbound called when a client has lost its SAP for any reason
    sis_clients(const node_config& config,
                node_stats& stats,
                std::function<void(station_time, client_id)> unbound)
        : d_config(config), d_stats(stats), d_unbound(std::move(unbound))
    {
    }

    //! The client with this number, created if needed.
    sis_client& arrive(client_id c);
    //! Removes one unbound client if there are too many; it may bind again at any time.
    void forget_one();
    //! The client's connection has ended; primitives queued for it are dropped.
    void gone(station_time now, client_id c);
    //! Null if no client has this number.
    sis_client* find(client_id c);
    //! Null if no client holds this SAP.
    sis_client* at(uint8_t sap);
    const sis_client* at(uint8_t sap) const
    {
        return const_cast<sis_clients*>(this)->at(sap);
    }
    //! Client numbers by SAP, of bound clients.
    const std::map<uint8_t, client_id>& saps() const { return d_saps; }

    /*! \brief Queues a primitive for a client; primitives beyond 8 MiB not polled are
     *         dropped.
     *  \param numbering see sis_output
     */
    void send(client_id c, const s_primitive& p, uint64_t numbering = 0);
    //! The next queued primitive.
    std::optional<sis_output> poll();

    /*! \brief Handles and answers S_BIND_REQUEST of a client (A.2.1.1).
     *  \param broadcast in a broadcast session, where no client can bind for ARQ
     *  \return true if the client holds the SAP
     */
    bool bind(station_time now, sis_client& k, const s_bind_request& r, bool broadcast);
    //! Takes its SAP away; sends S_UNBIND_INDICATION if \p why is set.
    void unbind(station_time now, sis_client& k, std::optional<unbind_reason> why);
    //! The client sent an invalid primitive; too many end its binding.
    void invalid(station_time now, sis_client& k);
    //! Unbinds all clients that are bound for ARQ.
    void unbind_arq(station_time now, unbind_reason why);
    //! Counts one more expedited request; true if it exceeds the limits of a client
    //! (A.2.1.6).
    bool too_many_expedited(station_time now, sis_client& k) const;

    //! Handles S_KEEP_ALIVE of a client.
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
