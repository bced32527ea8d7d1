/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Physical links, Channel Access Sublayer type 1 (Annex B).
#include "s5066/node_impl.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {
constexpr double called_patience_s = 300;
constexpr uint16_t link_window = 60; // half seconds
// Of an acceptance whose C_PDU ID is that of the request which it answers. The standard leaves
// both numbers to the sender; this value says that the ID has a meaning (our choice).
constexpr uint16_t naming_window = 61;
// One in use, one just long enough to find out which of two hard links takes precedence.
constexpr unsigned max_exclusive_links = 2;
// S5066-EP5, spare bits of link control C_PDUs as we use them (our reconstruction).
constexpr unsigned request_large = 2, accept_large = 1;
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

unsigned node::impl::exclusive_links() const
{
    return static_cast<unsigned>(
        std::count_if(d_peers.begin(), d_peers.end(), [](const auto& e) {
            return e.second->exclusive;
        }));
}

bool node::impl::excluded(const peer& p) const
{
    return !p.exclusive && !p.wants_exclusive && exclusive_links() > 0;
}

bool node::impl::exclusive_wanted() const
{
    return std::any_of(d_peers.begin(), d_peers.end(), [](const auto& e) {
        return e.second->wants_exclusive;
    });
}

d_pdu node::impl::make_link_c_pdu(const peer& p,
                                  c_pdu_type type,
                                  uint8_t low,
                                  uint16_t id) const
{
    d_pdu d = make(p, d_pdu_type::expedited_non_arq_data);
    d.non_arq.c_pdu_id = id;
    d.non_arq.c_pdu_size = 1;
    d.non_arq.window = type == c_pdu_type::link_accepted ? naming_window : link_window;
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

bool node::impl::large_windows() const
{
    return d_config.large_windows && d_config.extensions && !d_config.full_duplex;
}

bool node::impl::offers_large(const peer& p) const
{
    return large_windows() && p.has_extension(extension_large_windows);
}

bool node::impl::upgrade_due(const peer& p) const
{
    // What the peer can do is learned on a link without large windows. A second request makes a
    // new one, which repeats nothing that has arrived: the peer has just acknowledged all of ours
    // that it has, and has sent no data in so many turns, as it would have if our
    // acknowledgement of some had got lost.
    const unsigned turns = p.rx.advanced() ? most_yields + 1 : 1;
    const bool quiet = p.silent == 0 && p.acks_alone >= turns && !p.ack_due &&
                       !p.rx.incomplete() && !p.managing() && !p.reset.active &&
                       p.expedited_tx.idle() && !p.expedited_ack_due && p.control.empty();
    const double in_window =
        p.tx.window() * static_cast<double>(segment_length(p, d_tx.m));
    return p.linked() && !p.large && !p.exclusive && !p.wants_exclusive &&
           offers_large(p) && quiet &&
           static_cast<double>(p.tx.unsent_octets()) > in_window;
}

uint8_t node::impl::request_bits(const peer& p) const
{
    return static_cast<uint8_t>((p.wants_exclusive ? 1u : 0u) |
                                (p.large ? request_large : 0u));
}

void node::impl::call(sim_time now, peer& p)
{
    if (links() >= d_config.max_links && p.link == link_state::none &&
        !p.wants_exclusive) {
        // Make room: the link that was idle for longest is given up.
        peer* oldest = nullptr;
        for (auto& [raw, q] : d_peers) {
            if (q->linked() && !q->exclusive && idle(*q) &&
                (!oldest || q->last_data < oldest->last_data)) {
                oldest = q.get();
            }
        }
        if (oldest) {
            link_closed(*oldest);
        }
    }
    p.link = link_state::calling;
    p.exclusive = false;
    p.caller = true;
    p.request_id = new_expedited_id();
    p.tries = 0;
    p.called_at = now;
    p.silent = 0;
    p.probe = false;
    p.heard_request_id.reset();
    p.accept_due = false;
    p.accept_now = false;
    p.reset.active = false;
    p.sync_failures = 0;
    p.new_connection();
    p.use_numbers(offers_large(p));
    p.last_data = now;
    trace(now,
          "calling " + p.addr.to_string() +
              (p.wants_exclusive ? " for an exclusive link" : "") +
              (p.large ? ", asking for large windows" : ""));
}

void node::impl::link_made(sim_time now, peer& p, bool exclusive)
{
    if (p.exclusive) {
        d_link_events.push_back({ p.addr, false }); // the peer has started anew
    }
    p.link = link_state::made;
    p.exclusive = exclusive;
    // What was said about the link before does not hold any more.
    const auto stale = [](const d_pdu& d) {
        return d.type == d_pdu_type::warning && d.warning.reason == 1;
    };
    p.control.erase(std::remove_if(p.control.begin(), p.control.end(), stale),
                    p.control.end());
    p.tries = 0;
    p.silent = 0;
    p.last_data = now;
    ++d_stats.links_made;
    ++p.numberings;
    d_stats.links_large += p.large ? 1 : 0;
    p.extensions_told = 0;
    trace(now,
          std::string(exclusive ? "exclusive link" : "link") + " with " +
              p.addr.to_string() + " made" + (p.large ? ", large windows" : ""));
    if (!exclusive) {
        return;
    }
    p.wants_exclusive = false;
    if (p.caller) {
        d_link_events.push_back({ p.addr, true });
        break_nonexclusive(now);
    }
}

void node::impl::link_closed(peer& p)
{
    if (p.exclusive) {
        p.exclusive = false;
        d_link_events.push_back({ p.addr, false });
    }
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
    p.end_connection();
}

void node::impl::link_lost(sim_time now, peer& p, unidata_reject_reason reason)
{
    trace(now, "link with " + p.addr.to_string() + " failed");
    ++d_stats.links_failed;
    p.extensions.reset(); // perhaps it does not understand us any more
    if (p.wants_exclusive) {
        p.wants_exclusive = false;
        d_link_events.push_back({ p.addr, false });
    }
    link_closed(p);
    size_t unheard = 0;
    for (auto list : { p.expedited_tx.take_all(), p.tx.take_all() }) {
        for (const auto& o : list) {
            unheard += d_sis.on_failed(*o, reason) ? 0 : 1;
        }
    }
    if (unheard > 0) {
        d_stats.u_pdus_lost += unheard;
        trace(now,
              std::to_string(unheard) + " U_PDUs for " + p.addr.to_string() +
                  " lost, which were sent without confirmation");
    }
    d_sis.update_flow();
}

void node::impl::make_link(sim_time now, address a)
{
    peer* p = get_peer(a);
    if (!p) {
        d_link_events.push_back({ a, false });
        return;
    }
    if (p->linked() && p->exclusive) {
        d_link_events.push_back({ a, true });
        return;
    }
    p->wants_exclusive = true;
    p->ready_at = std::min(p->ready_at, now);
    if (p->link == link_state::calling) {
        p->request_id = new_expedited_id(); // another request from now on
        p->tries = 0;
        p->restart_arq();
    }
}

void node::impl::break_link(sim_time now, address a)
{
    begin_break(now, a, link_break_reason::higher_layer);
}

void node::impl::begin_break(sim_time now, address a, link_break_reason why)
{
    peer* p = find_peer(a);
    if (!p) {
        return;
    }
    p->wants_exclusive = false;
    if (p->link == link_state::none || p->link == link_state::breaking) {
        return;
    }
    if (p->link == link_state::calling && p->tries == 0) {
        link_closed(*p); // nobody has heard of it
        return;
    }
    if (p->exclusive) {
        p->exclusive = false;
        d_link_events.push_back({ a, false });
    }
    p->link = link_state::breaking;
    p->break_reason = why;
    p->tries = 0;
    p->request_id = new_expedited_id();
    p->ack_due = false;
    p->ready_at = std::min(p->ready_at, now);
}

void node::impl::break_nonexclusive(sim_time now)
{
    for (auto& [raw, p] : d_peers) {
        if (p->linked() && !p->exclusive) {
            begin_break(now, p->addr, link_break_reason::higher_priority);
        }
    }
}

// At the end of a link the peer may not have heard that its last data arrived, and would send them
// again on the next one.
std::vector<d_pdu> node::impl::last_acks(const peer& p) const
{
    std::vector<d_pdu> list;
    if (!p.data_last || !p.rx.advanced()) {
        return list;
    }
    for (const auto& a : p.rx.acks()) {
        d_pdu d = make_arq(p, d_pdu_type::ack_only);
        d.ack = a;
        list.push_back(d);
    }
    list.resize(std::min(list.size(), max_control / 4));
    return list;
}

void node::impl::push_last_acks(peer& p)
{
    const bool there =
        std::any_of(p.control.begin(), p.control.end(), [](const d_pdu& d) {
            return d.type == d_pdu_type::ack_only || d.type == d_pdu_type::large_ack_only;
        });
    const auto list = last_acks(p);
    if (!there && p.control.size() + list.size() < max_control) {
        p.control.insert(p.control.end(), list.begin(), list.end());
    }
}

void node::impl::tell_links(sim_time now)
{
    while (!d_link_events.empty()) {
        const link_event e = d_link_events.front();
        d_link_events.pop_front();
        if (e.made) {
            d_sis.on_link_made(now, e.addr);
        } else {
            d_sis.on_link_down(now, e.addr);
        }
    }
}

std::optional<link_reject_reason> node::impl::refusal(const peer& p, bool exclusive) const
{
    if (d_broadcast) {
        return link_reject_reason::broadcast_only;
    }
    if (exclusive) {
        return !p.exclusive && exclusive_links() >= max_exclusive_links
                   ? std::optional(link_reject_reason::exclusive_link)
                   : std::nullopt;
    }
    const bool for_other = std::any_of(d_peers.begin(), d_peers.end(), [&p](auto& e) {
        return e.second.get() != &p && (e.second->exclusive || e.second->wants_exclusive);
    });
    if (for_other) {
        return link_reject_reason::exclusive_link;
    }
    if (p.link == link_state::none && links() >= d_config.max_links) {
        return link_reject_reason::unknown;
    }
    return std::nullopt;
}

void node::impl::on_link_c_pdu(sim_time now,
                               peer& p,
                               const c_pdu& c,
                               const non_arq_header& h)
{
    const uint16_t id = h.c_pdu_id;
    switch (c.type) {
    case c_pdu_type::link_request:
        if (const auto why = refusal(p, c.low & 1)) {
            push_link_c_pdu(p, c_pdu_type::link_rejected, uint8_t(*why));
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
        p.use_numbers(large_windows() && (c.low & request_large));
        p.heard_request_id = id;
        p.heard_reset_id.reset();
        link_made(now, p, c.low & 1);
        p.first_data_by = now + from_seconds(d_config.first_data_s > 0
                                                 ? d_config.first_data_s
                                                 : 2 * (d_config.peer_turnaround_s + 10) +
                                                       30 + cycle_s());
        take_early(now, p);
        break;
    case c_pdu_type::link_accepted:
        if (h.window == naming_window && id != p.request_id) {
            // The peer still repeats it for a link that this node knew before it started.
            trace(now, "acceptance of an earlier request");
            break;
        }
        p.heard_accept = true;
        if (p.link == link_state::calling) {
            p.use_numbers(p.large && (c.low & accept_large));
            link_made(now, p, p.wants_exclusive);
            take_early(now, p);
        }
        break;
    case c_pdu_type::link_rejected:
        if (p.link == link_state::calling) {
            link_lost(now, p, unidata_reject_reason::not_responding);
        }
        break;
    case c_pdu_type::link_break:
        push_last_acks(p);
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
        if (p.exclusive && d_sis.hard_link_uses(p.addr)) {
            continue;
        }
        if (p.first_data_by > sim_time::zero() && now >= p.first_data_by) {
            trace(now, "no data on the link with " + p.addr.to_string());
            link_closed(p);
            continue;
        }
        // The caller breaks; the called side only when the caller seems to be gone, which takes
        // longer than losing one or two of its longest transmissions.
        const double limit =
            p.caller ? d_config.link_idle_s
                     : 2 * d_config.link_idle_s + called_patience_s + cycle_s();
        // An acknowledgement of expedited data does not say what it acknowledges, so none can go
        // with the break. If ours got lost, the peer has to have had time for repeats.
        const double late = p.caller && p.expedited_last ? called_patience_s : 0;
        if (idle(p) && now - p.last_data >= from_seconds(limit + late)) {
            trace(now, "idle link with " + p.addr.to_string());
            begin_break(now, p.addr, link_break_reason::no_more_data);
        }
    }
}

} // namespace gr::hf::s5066
