/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// MANAGEMENT D_PDUs and engineering orderwire messages (C.5).
#include "s5066/node_impl.h"

namespace gr::hf::s5066 {

namespace {

// Engineering orderwire messages (C.5): top nibble of the 12 bits
constexpr unsigned eow_rate_request = 1;
constexpr unsigned eow_rate_response = 2;
constexpr unsigned eow_unrecognised = 3;
constexpr unsigned eow_capability = 7;
// Response "refuse", reason "neither rate nor interleaver can be changed"
constexpr unsigned eow_refuse = eow_rate_response << 8 | 1u << 5 | 4u;

} // namespace

void node::impl::on_eow(sim_time now, peer& p, const d_pdu& d)
{
    const unsigned type = d.eow >> 8;
    if (type > eow_capability && type < 15 && d.type != d_pdu_type::management) {
        p.eow = static_cast<uint16_t>(eow_unrecognised << 8 | type);
    }
    if (type == eow_rate_request) {
        d_policy->on_advice(now, p.addr, d.eow);
    }
}

void node::impl::on_management(peer& p, const d_pdu& d)
{
    if (!d.management.valid || p.control.size() >= max_control) {
        return;
    }
    for (const auto& q : p.control) {
        if (q.type == d_pdu_type::management) {
            return; // a copy in the same transmission
        }
    }
    d_pdu r = make(p, d_pdu_type::management);
    r.eow = 0;
    r.management.ack = true;
    r.management.frame_id = d.management.frame_id;
    const unsigned type = d.eow >> 8;
    if (type == eow_rate_request || type == eow_capability) {
        // The modems are autobaud: rates change without a handshake, so it is refused.
        r.management.valid = true;
        r.eow = eow_refuse;
    } else if (type > eow_capability) {
        r.management.valid = true;
        r.eow = static_cast<uint16_t>(eow_unrecognised << 8 | type);
    }
    p.control.push_back(r);
}

} // namespace gr::hf::s5066
