/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Physical links, Channel Access Sublayer type 1 (Annex B).
#include "s5066/node_impl.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {
constexpr double called_patience_s = 300;
constexpr uint16_t link_window = 60; // half seconds
} // namespace

uint16_t node::impl::new_expedited_id()
{
    d_expedited_id = static_cast<uint16_t>((d_expedited_id + 1) & 0xfff);
    return d_expedited_id;
}

unsigned node::impl::links() const
{
    return static_cast<unsigned>(
        std::count_if(d_peers.begin(), d_peers.end(), [](const auto& e) {
            return e.second->link != link_state::none;
        }));
}

d_pdu node::impl::make_link_c_pdu(const peer& p,
                                  c_pdu_type type,
                                  uint8_t low,
                                  uint16_t id) const
{
    d_pdu d = make(p, d_pdu_type::expedited_non_arq_data);
    d.non_arq.c_pdu_id = id;
    d.non_arq.c_pdu_size = 1;
    d.non_arq.window = link_window;
    d.segment = encode(c_pdu{ type, low, {} });
    return d;
}

void node::impl::push_link_c_pdu(peer& p, c_pdu_type type, uint8_t low)
{
    d_pdu d = make_link_c_pdu(p, type, low, 0);
    for (const auto& q : p.control) {
        if (q.type == d.type && q.segment == d.segment) {
            return; // the request came in several copies
        }
    }
    if (p.control.size() < max_control) {
        d.non_arq.c_pdu_id = new_expedited_id();
        p.control.push_back(d);
    }
}

void node::impl::call(sim_time now, peer& p)
{
    if (links() >= d_config.max_links && p.link == link_state::none) {
        // Make room: the link that was idle for longest is given up.
        peer* oldest = nullptr;
        for (auto& [raw, q] : d_peers) {
            if (q->linked() && idle(*q) &&
                (!oldest || q->last_data < oldest->last_data)) {
                oldest = q.get();
            }
        }
        if (oldest) {
            link_closed(*oldest);
        }
    }
    p.link = link_state::calling;
    p.caller = true;
    p.request_id = new_expedited_id();
    p.tries = 0;
    p.silent = 0;
    p.probe = false;
    p.heard_request_id.reset();
    p.accept_due = false;
    p.accept_now = false;
    p.reset.active = false;
    p.sync_failures = 0;
    p.new_connection();
    p.last_data = now;
    trace(now, "calling " + p.addr.to_string());
}

void node::impl::link_made(sim_time now, peer& p)
{
    p.link = link_state::made;
    p.tries = 0;
    p.silent = 0;
    p.last_data = now;
    ++d_stats.links_made;
    trace(now, "link with " + p.addr.to_string() + " made");
}

void node::impl::link_closed(peer& p)
{
    p.link = link_state::none;
    p.accept_due = false;
    p.accept_now = false;
    p.ack_due = false;
    p.reset.active = false;
    p.sync_failures = 0;
    p.first_data_by = sim_time::zero();
    p.silent = 0;
    p.probe = false;
    p.heard_request_id.reset();
    p.heard_reset_id.reset();
    p.new_connection();
}

void node::impl::link_lost(sim_time now, peer& p, unidata_reject_reason reason)
{
    trace(now, "link with " + p.addr.to_string() + " failed");
    ++d_stats.links_failed;
    link_closed(p);
    for (const auto& o : p.expedited_tx.take_all()) {
        d_sis.on_failed(*o, reason);
    }
    for (const auto& o : p.tx.take_all()) {
        d_sis.on_failed(*o, reason);
    }
    d_sis.update_flow();
}

void node::impl::on_link_c_pdu(sim_time now, peer& p, const c_pdu& c, uint16_t id)
{
    switch (c.type) {
    case c_pdu_type::link_request:
        if (c.low & 1) {
            push_link_c_pdu(
                p, c_pdu_type::link_rejected, uint8_t(link_reject_reason::unknown));
            return;
        }
        if (p.link == link_state::none && links() >= d_config.max_links) {
            push_link_c_pdu(
                p, c_pdu_type::link_rejected, uint8_t(link_reject_reason::unknown));
            return;
        }
        p.heard_request = true;
        p.accept_due = true;
        p.accept_now = true;
        if (p.linked() && p.heard_request_id == id) {
            return; // a repeat: our answer got lost
        }
        // A new request from a linked node: it has lost its state, so ours is void, too. After
        // crossed calls our own data are already numbered from 0 and keep their numbers.
        p.rx.reset();
        p.expedited_rx.reset();
        p.management.reset();
        p.rates.reset();
        p.expedited_ack_due = false;
        p.reset.active = false;
        if (p.link != link_state::calling) {
            p.tx.rewind(0);
            p.expedited_tx.restart();
            p.caller = false;
        }
        p.heard_request_id = id;
        p.heard_reset_id.reset();
        link_made(now, p);
        p.first_data_by = now + from_seconds(2 * (d_config.peer_turnaround_s + 10) + 30);
        break;
    case c_pdu_type::link_accepted:
        p.heard_accept = true;
        if (p.link == link_state::calling) {
            link_made(now, p);
        }
        break;
    case c_pdu_type::link_rejected:
        if (p.link == link_state::calling) {
            link_lost(now, p, unidata_reject_reason::not_responding);
        }
        break;
    case c_pdu_type::link_break:
        if (p.link != link_state::none) {
            trace(now, "link with " + p.addr.to_string() + " ended by the peer");
            link_closed(p);
        }
        push_link_c_pdu(p, c_pdu_type::link_break_confirm, 0);
        break;
    case c_pdu_type::link_break_confirm:
        if (p.link == link_state::breaking) {
            trace(now, "link with " + p.addr.to_string() + " ended");
            link_closed(p);
        }
        break;
    case c_pdu_type::data:
        break;
    }
}

bool node::impl::idle(const peer& p) const
{
    return p.arq_idle() && !p.managing() && !p.ack_due && !p.expedited_ack_due &&
           !p.reset.active && p.control.empty();
}

void node::impl::check_links(sim_time now)
{
    for (auto& [raw, q] : d_peers) {
        peer& p = *q;
        if (!p.linked() || d_transmitting || d_receiving || d_waiting) {
            continue;
        }
        if (p.first_data_by > sim_time::zero() && now >= p.first_data_by) {
            trace(now, "no data on the link with " + p.addr.to_string());
            link_closed(p);
            continue;
        }
        // The caller breaks; the called side only when the caller seems to be gone, which takes
        // longer than losing one or two of its longest transmissions.
        const double limit = p.caller ? d_config.link_idle_s
                                      : 2 * d_config.link_idle_s + called_patience_s;
        if (idle(p) && now - p.last_data >= from_seconds(limit)) {
            trace(now, "idle link with " + p.addr.to_string());
            p.link = link_state::breaking;
            p.tries = 0;
            p.request_id = new_expedited_id();
        }
    }
}

} // namespace gr::hf::s5066
