/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/backlog.h"
#include "s5066/node_config.h"
#include "s5066/node_stats.h"
#include "s5066/outgoing.h"
#include "s5066/queue_state.h"
#include "s5066/sis/hard_link.h"
#include "s5066/sis/s_pdu.h"
#include "s5066/sis/sis.h"
#include "s5066/sis_upper.h"

#include <deque>
#include <list>
#include <map>
#include <set>

namespace gr::hf::s5066 {

//! What the Subnetwork Interface Sublayer needs from the sublayers below it.
class sis_lower
{
public:
    virtual ~sis_lower() = default;
    //! Queues a DATA C_PDU for another node.
    virtual void submit(sim_time now, outgoing_ptr o) = 0;
    //! C_PDUs in all queues that were never sent.
    virtual backlog unsent() const = 0;
    //! Takes back all C_PDUs of which nothing was sent.
    virtual std::vector<outgoing_ptr> withdraw() = 0;
    /*! \brief Makes an exclusive physical link; sis_server::on_link_made() or on_link_down()
     *         is called later.
     */
    virtual void make_link(sim_time now, address a) = 0;
    //! Breaks the link, or gives up making it.
    virtual void break_link(sim_time now, address a) = 0;
    //! Breaks all nonexclusive links.
    virtual void break_nonexclusive(sim_time now) = 0;
    //! The node takes S_PDUs of S5066-EP9.
    virtual bool takes_compact_confirm(address a) const = 0;
};

/*! \brief Subnetwork Interface Sublayer of one node (Annex A): clients, SAPs, primitives,
 *         sessions, confirmations, flow control. U_PDUs are in sis_delivery.cc.
 */
class sis_server : public sis_upper, private hard_link_user
{
public:
    sis_server(const node_config& config, node_stats& stats, sis_lower& lower);

    void sis_in(sim_time now, client_id c, const uint8_t* p, size_t n);
    void client_gone(sim_time now, client_id c);
    std::optional<std::pair<client_id, std::vector<uint8_t>>> poll();

    // sis_upper
    unsigned
    on_s_pdu(sim_time now, const s_pdu_origin& from, const uint8_t* p, size_t n) override;
    void on_delivered(const outgoing& o) override;
    bool on_failed(const outgoing& o, unidata_reject_reason reason) override;
    void on_link_made(sim_time now, address a) override
    {
        d_hard_links.on_link_made(now, a);
    }
    void on_link_down(sim_time now, address a) override
    {
        d_hard_links.on_link_down(now, a);
    }
    bool hard_link_uses(address a) const override { return d_hard_links.uses(a); }
    void update_flow() override;

    std::optional<hard_link> hard_link_established() const
    {
        return d_hard_links.established();
    }
    void set_broadcast(sim_time now, bool on);
    void set_emcon(sim_time now, bool on);

    /*! \brief High water mark in octets of C_PDUs not yet sent, of all clients.
     *  \details Beyond it a client is stopped (S_DATA_FLOW_OFF) that has its equal share of
     *  the mark or more waiting. So a client is never stopped by what others have sent, and one
     *  alone can use all of it.
     */
    void set_water_marks(size_t high);
    //! No bound client is stopped.
    bool flow_on() const;
    unsigned bound_clients() const { return static_cast<unsigned>(d_saps.size()); }
    //! C_PDU octets that wait for the end of a hard link.
    size_t held_octets() const { return d_held_backlog.total(); }
    //! Adds these C_PDUs.
    void add_waiting(queue_states& all) const
    {
        for (const auto& o : d_held) {
            all.add(*o);
        }
    }

    void on_time(sim_time now);
    std::optional<sim_time> next_deadline() const;

private:
    struct client {
        bound who;
        bool is_bound = false;
        delivery_mode service;
        unsigned invalid = 0;
        sim_time keep_alive_at{};
        bool keep_alive_asked = false;
        bool flow_on = true;
        std::optional<sim_time> keep_alive_sent; // last, asking or answering
        bool told_off = false; // by S_SUBNET_AVAILABILITY, because of a hard link
        std::set<const outgoing*> expedited; // not yet delivered or failed
        double expedited_credit = 0;         // of requests, refilled with time
        sim_time expedited_at{};
    };
    // A client confirmation that is waited for.
    struct confirm {
        outgoing_ptr o;
        sim_time deadline{};
    };

    // hard_link_user
    void to_client(client_id c, const s_primitive& p) override { send(c, p); }
    void to_node(sim_time now, address a, const s_pdu& s) override;
    std::optional<bound> client_at(uint8_t sap) const override;
    void make_link(sim_time now, address a) override { d_lower.make_link(now, a); }
    void break_link(sim_time now, address a) override { d_lower.break_link(now, a); }
    void break_nonexclusive(sim_time now) override { d_lower.break_nonexclusive(now); }
    void rules_changed(sim_time now) override;
    void tell_availability();
    node_status on_the_air() const;

    void send(client_id c, const s_primitive& p);
    void send_all(const s_primitive& p);
    void take(sim_time now, client_id c, client& k, const uint8_t* p, size_t n);
    void invalid(sim_time now, client_id c, client& k);
    void unbind(sim_time now, client_id c, client& k, std::optional<unbind_reason> why);
    void on_bind(sim_time now, client_id c, client& k, const s_bind_request& r);
    bool all_places_taken() const;
    bool make_room(sim_time now, uint8_t rank);
    void send_keep_alive(sim_time now, client_id c, client& k);
    void on_keep_alive(sim_time now, client_id c, client& k);
    void on_establish(sim_time now, client_id c, client& k, const hard_link& l);
    void on_unidata(sim_time now, client_id c, client& k, s_unidata_request r);
    std::optional<unidata_reject_reason> refusal(const s_unidata_request& r,
                                                 const delivery_mode& mode) const;
    bool too_many_expedited(sim_time now, client& k);
    uint32_t new_id();
    void reject(client_id c, const s_unidata_request& r, unidata_reject_reason reason);
    void deliver_local(client_id c, const s_unidata_request& r, uint8_t src_sap);
    void dispatch(sim_time now, outgoing_ptr o);
    void expire_held(sim_time now);
    backlog waiting() const;
    bool too_much(const backlog& all, uint8_t sap, size_t mark, size_t more) const;
    void settle(const outgoing& o);
    void confirm_to_client(const outgoing& o);
    void take_s_pdu(sim_time now, const s_pdu_origin& from, s_pdu& s, size_t header);
    void on_data(sim_time now, const s_pdu_origin& from, s_pdu& s, size_t header);
    void on_delivery_report(const s_pdu_origin& from, const s_pdu& s);
    bool indicate(const s_pdu_origin& from, const s_pdu& s, size_t header);
    void answer(sim_time now, const s_pdu_origin& from, const s_pdu& s, bool ok);
    int64_t utc(sim_time t) const; // the time must be known
    std::vector<uint8_t> fragment(const std::vector<uint8_t>& u_pdu, size_t from) const;

    const node_config& d_config;
    node_stats& d_stats;
    sis_lower& d_lower;
    hard_links d_hard_links;
    std::map<client_id, client> d_clients;
    std::map<uint8_t, client_id> d_saps;
    std::list<confirm> d_confirms;
    uint32_t d_next_id; // of S_PDUs with an ID
    // C_PDUs that a hard link does not let through.
    std::deque<outgoing_ptr> d_held;
    backlog d_held_backlog;
    std::deque<std::pair<client_id, std::vector<uint8_t>>> d_out;
    size_t d_out_octets = 0;
    size_t d_high = 65536;
    size_t d_low = 55000;
    bool d_broadcast = false;
    bool d_emcon = false;
};

} // namespace gr::hf::s5066
