/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/s_pdu.h"
#include "s5066/sis/hard_link.h"
#include "s5066/sis/sis_clients.h"
#include "s5066/sis/sis_delivery.h"
#include "s5066/words/timers.h"

namespace gr::hf::s5066 {

/*! \brief Subnetwork Interface Sublayer of one node (Annex A). Dispatches primitives and
 *         S_PDUs to its parts: clients, U_PDUs, hard links. Holds the state of the
 *         session.
 */
class sis_server : public sis_upper, private hard_link_user
{
public:
    sis_server(const node_config& config,
               node_stats& stats,
               node_log& log,
               sis_lower& lower);

    //! Handles one S_primitive of a client.
    void sis_in(station_time now, client_id c, const uint8_t* p, size_t n);
    //! The connection of a client has ended.
    void client_gone(station_time now, client_id c);
    //! The next S_primitive for a client.
    std::optional<sis_output> poll() { return d_clients.poll(); }

    // sis_upper
    unsigned on_s_pdu(station_time now,
                      const s_pdu_origin& from,
                      const uint8_t* p,
                      size_t n) override;
    void on_delivered(station_time now, const outgoing& o) override
    {
        d_delivery.on_delivered(now, o);
    }
    bool on_failed(const outgoing& o, unidata_reject_reason reason) override
    {
        return d_delivery.on_failed(o, reason);
    }
    void on_link_made(station_time now, address a) override
    {
        d_hard_links.on_link_made(now, a);
    }
    void on_link_down(station_time now, address a) override
    {
        d_hard_links.on_link_down(now, a);
    }
    bool hard_link_uses(address a) const override { return d_hard_links.uses(a); }
    void on_report(const link_report& r) override;
    void update_flow() override { d_delivery.update_flow(); }

    std::optional<hard_link> hard_link_established() const
    {
        return d_hard_links.established();
    }
    void set_broadcast(station_time now, bool on);
    void set_emcon(station_time now, bool on);
    unsigned bound_clients() const
    {
        return static_cast<unsigned>(d_clients.saps().size());
    }
    //! U_PDUs under way, and flow control.
    sis_delivery& delivery() { return d_delivery; }
    const sis_delivery& delivery() const { return d_delivery; }

    void on_time(station_time now);
    std::optional<due> next_due() const;

private:
    // hard_link_user
    void to_client(client_id c, const s_primitive& p) override { d_clients.send(c, p); }
    void to_node(station_time now, address a, const s_pdu& s) override;
    std::optional<bound> client_at(uint8_t sap) const override;
    void make_link(station_time now, address a) override { d_lower.make_link(now, a); }
    void break_link(station_time now, address a) override { d_lower.break_link(now, a); }
    void break_nonexclusive(station_time now) override
    {
        d_lower.break_nonexclusive(now);
    }
    void rules_changed(station_time now) override;

    void take(station_time now, sis_client& k, const uint8_t* p, size_t n);
    void on_bind(station_time now, sis_client& k, const s_bind_request& r);
    void on_establish(station_time now, sis_client& k, const hard_link& l);
    void take_s_pdu(station_time now, const s_pdu_origin& from, s_pdu s, size_t header);
    void tell_availability();
    node_status on_the_air() const;

    const node_config& d_config;
    node_stats& d_stats;
    sis_lower& d_lower;
    hard_links d_hard_links;
    sis_clients d_clients;
    sis_delivery d_delivery;
    bool d_broadcast = false;
    bool d_emcon = false;
};

} // namespace gr::hf::s5066
