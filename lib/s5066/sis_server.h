/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/node.h"
#include "s5066/outgoing.h"
#include "s5066/pdu.h"
#include "s5066/sis.h"

#include <deque>
#include <list>
#include <map>

namespace gr::hf::s5066 {

//! What the Subnetwork Interface Sublayer needs from the sublayers below it.
class sis_lower
{
public:
    virtual ~sis_lower() = default;
    //! Queues a DATA C_PDU for another node.
    virtual void submit(sim_time now, outgoing_ptr o) = 0;
    //! C_PDU octets in all queues that were never sent.
    virtual size_t unsent_octets() const = 0;
};

//! Where a S_PDU came from.
struct s_pdu_origin {
    address src;
    address dst;
    transmission_mode mode = transmission_mode::arq;
    bool expedited = false;
    //! (offset, length) of damaged and missing parts of the C_PDU, non-ARQ only.
    std::vector<std::pair<uint16_t, uint16_t>> errored;
    std::vector<std::pair<uint16_t, uint16_t>> missing;
};

/*! \brief Subnetwork Interface Sublayer of one node (Annex A): clients, SAPs, primitives,
 *         confirmations, flow control.
 */
class sis_server
{
public:
    sis_server(const node_config& config, node_stats& stats, sis_lower& lower);

    void sis_in(sim_time now, client_id c, const uint8_t* p, size_t n);
    void client_gone(client_id c);
    std::optional<std::pair<client_id, std::vector<uint8_t>>> poll();

    //! A S_PDU came from the air.
    void on_s_pdu(sim_time now, const s_pdu_origin& from, const uint8_t* p, size_t n);
    //! The peer has acknowledged all of it.
    void on_delivered(const outgoing& o);
    //! It will not be delivered.
    void on_failed(const outgoing& o, unidata_reject_reason reason);

    //! High water mark in octets of C_PDUs not yet sent.
    void set_water_marks(size_t high);
    //! To be called when the queues have become shorter.
    void update_flow();
    bool flow_on() const { return d_flow_on; }
    unsigned bound_clients() const { return static_cast<unsigned>(d_saps.size()); }

    void on_time(sim_time now);
    std::optional<sim_time> next_deadline() const;

private:
    struct client {
        bool bound = false;
        uint8_t sap = 0;
        uint8_t rank = 0;
        delivery_mode service;
        unsigned invalid = 0;
        sim_time keep_alive_at{};
        bool keep_alive_asked = false;
    };
    // A client confirmation that is waited for.
    struct confirm {
        outgoing_ptr o;
        sim_time deadline{};
    };

    void send(client_id c, const s_primitive& p);
    void invalid(client_id c, client& k);
    void unbind(client_id c, client& k, std::optional<unbind_reason> why);
    void on_bind(sim_time now, client_id c, client& k, const s_bind_request& r);
    void on_unidata(sim_time now, client_id c, client& k, s_unidata_request r);
    void reject(client_id c, const s_unidata_request& r, unidata_reject_reason reason);
    void deliver_local(client_id c, const s_unidata_request& r, uint8_t src_sap);
    void confirm_to_client(const outgoing& o);
    void on_data(sim_time now, const s_pdu_origin& from, s_pdu& s, size_t header);
    void on_delivery_report(const s_pdu_origin& from, const s_pdu& s);
    bool indicate(const s_pdu_origin& from, const s_pdu& s, size_t header);
    void answer(sim_time now, const s_pdu_origin& from, const s_pdu& s, bool ok);
    int64_t utc(sim_time t) const; // the time must be known
    std::vector<uint8_t> fragment(const std::vector<uint8_t>& u_pdu, size_t from) const;

    const node_config& d_config;
    node_stats& d_stats;
    sis_lower& d_lower;
    std::map<client_id, client> d_clients;
    std::map<uint8_t, client_id> d_saps;
    std::list<confirm> d_confirms;
    std::deque<std::pair<client_id, std::vector<uint8_t>>> d_out;
    size_t d_out_octets = 0;
    size_t d_high = 65536;
    size_t d_low = 55000;
    bool d_flow_on = true;
};

} // namespace gr::hf::s5066
