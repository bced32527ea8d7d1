/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/cas/soft_links.h"

#include "s5066/cas/link_window.h"

#include <algorithm>
#include <string>

namespace gr::hf::s5066 {

namespace {
// One link in use, and a second one while this node decides which of two hard links
// takes precedence.
constexpr unsigned max_exclusive_links = 2;
// A link idle for this long ends if another station asks for one.
constexpr station_time idle_enough = std::chrono::seconds(10);
// Pause before the next request to a station with too many links.
constexpr station_time pause_after_refusal = std::chrono::seconds(30);
} // namespace

unsigned soft_links::count() const
{
    return static_cast<unsigned>(std::count_if(
        d_node.peers.begin(),
        d_node.peers.end(),
        [](const auto& e) { return !e.second->link.none(); }));
}

unsigned soft_links::exclusive_links() const
{
    return static_cast<unsigned>(std::count_if(
        d_node.peers.begin(),
        d_node.peers.end(),
        [](const auto& e) { return e.second->link.exclusive; }));
}

bool soft_links::excluded(const peer& p) const
{
    return !p.link.exclusive && !p.link.wants_exclusive && exclusive_links() > 0;
}

bool soft_links::exclusive_wanted() const
{
    return std::any_of(
        d_node.peers.begin(),
        d_node.peers.end(),
        [](const auto& e) { return e.second->link.wants_exclusive; });
}

d_pdu soft_links::make_c_pdu(const peer& p,
                             c_pdu_type type,
                             uint8_t low,
                             uint16_t id) const
{
    d_pdu d = d_maker.make(p, d_pdu_type::expedited_non_arq_data);
    d.non_arq.c_pdu_id = id;
    d.non_arq.c_pdu_size = 1;
    d.non_arq.window = window_of(p, type);
    d.segment = encode(c_pdu{ type, low, {} });
    return d;
}

void soft_links::push_c_pdu(peer& p, c_pdu_type type, uint8_t low)
{
    d_pdu d = make_c_pdu(p, type, low, 0);
    const auto same = [&d](const d_pdu& q) {
        return q.type == d.type && q.segment == d.segment;
    };
    // The request may arrive in several copies.
    if (!p.control.has(same) && p.control.room() > 0) {
        d.non_arq.c_pdu_id = d_node.ids.expedited();
        p.control.push(d);
    }
}

bool soft_links::may_call(const peer& p) const
{
    if (p.addr.is_group() || excluded(p) || d_broadcast)
        return false;
    return p.link.none() || p.link.breaking() ||
           (p.link.made() && p.link.wants_exclusive);
}

bool soft_links::call_due(const peer& p, const gr::hf::mode& last) const
{
    return (may_call(p) && (p.link.wants_exclusive || !p.arq_idle())) ||
           upgrade_due(p, last);
}

// Ends the link that was idle for longest.
void soft_links::make_room(station_time idle_since)
{
    peer* oldest = nullptr;
    for (auto& [raw, q] : d_node.peers)
        if (q->link.made() && !q->link.exclusive && q->idle() &&
            q->link.last_data <= idle_since &&
            (!oldest || q->link.last_data < oldest->link.last_data))
            oldest = q.get();
    if (oldest)
        closed(*oldest);
}

void soft_links::call(station_time now, peer& p)
{
    if (count() >= d_node.config.max_links && p.link.none() && !p.link.wants_exclusive)
        make_room(now);
    const bool again = p.link.made(); // to upgrade it
    p.link.call(now, d_node.ids.expedited());
    p.turn.forget_silence();
    p.reset.end();
    p.reset.in_sync();
    p.new_connection();
    p.arq.use_numbers(offers_large(p) && (again || !adapts_in_3_khz()));
    d_node.log.trace(now,
                     "calling " + p.addr.to_string() +
                         (p.link.wants_exclusive ? " for an exclusive link" : "") +
                         (p.arq.large ? ", asking for large windows" : ""));
}

void soft_links::made(station_time now, peer& p, bool exclusive)
{
    if (p.link.exclusive)
        d_events.push_back({ p.addr, false }); // the peer has restarted
    p.link.make(now, exclusive);
    // Warnings about the link before no longer apply.
    const auto stale = [](const d_pdu& d) {
        return d.type == d_pdu_type::warning && d.warning.reason == 1;
    };
    p.control.drop(stale);
    p.turn.silent = 0;
    ++d_node.stats.links_made;
    ++p.arq.numberings;
    d_node.stats.links_large += p.arq.large ? 1 : 0;
    p.management.extensions_announced = 0;
    d_node.log.trace(now,
                     std::string(exclusive ? "exclusive link" : "link") + " with " +
                         p.addr.to_string() + " made" +
                         (p.arq.large ? ", large windows" : ""));
    if (!exclusive)
        return;
    p.link.wants_exclusive = false;
    if (p.link.caller) {
        d_events.push_back({ p.addr, true });
        break_nonexclusive(now);
    }
}

void soft_links::closed(peer& p)
{
    if (p.link.exclusive)
        d_events.push_back({ p.addr, false });
    p.link.close();
    p.arq.ack_due = false;
    p.reset.end();
    p.reset.in_sync();
    p.reset.forget_heard();
    p.turn.forget_silence();
    p.end_connection();
}

void soft_links::lost(station_time now, peer& p, unidata_reject_reason reason)
{
    d_node.log.trace(
        now, "link with " + p.addr.to_string() + " failed" + p.link.moved_in_words(now));
    ++d_node.stats.links_failed;
    p.management.extensions.reset(); // perhaps it no longer understands us
    p.link.takes_large = false;
    if (p.link.wants_exclusive) {
        p.link.wants_exclusive = false;
        d_events.push_back({ p.addr, false });
    }
    closed(p);
    size_t unheard = 0;
    for (auto list : { p.expedited.tx.take_all(), p.arq.tx.take_all() })
        for (const auto& o : list)
            unheard += d_node.upper.on_failed(*o, reason) ? 0 : 1;
    if (unheard > 0) {
        d_node.stats.u_pdus_lost += unheard;
        d_node.log.trace(now,
                         std::to_string(unheard) + " U_PDUs for " + p.addr.to_string() +
                             " lost, sent without confirmation");
    }
    d_node.upper.update_flow();
}

void soft_links::make_exclusive(station_time now, address a, peer* p)
{
    if (!p) {
        d_events.push_back({ a, false });
        return;
    }
    if (p->link.made() && p->link.exclusive) {
        d_events.push_back({ a, true });
        return;
    }
    p->link.wants_exclusive = true;
    p->turn.ready_at = std::min(p->turn.ready_at, now);
    if (p->link.calling()) {
        p->link.request_id = d_node.ids.expedited(); // another request from now on
        p->link.tries = 0;
        p->restart_arq();
    }
}

void soft_links::begin_break(station_time now, address a, link_break_reason why)
{
    peer* p = d_node.find_peer(a);
    if (!p)
        return;
    p->link.wants_exclusive = false;
    if (p->link.none() || p->link.breaking())
        return;
    if (p->link.calling() && p->link.tries == 0) {
        closed(*p); // no request was sent yet
        return;
    }
    if (p->link.exclusive)
        d_events.push_back({ a, false });
    p->link.begin_break(why, d_node.ids.expedited());
    p->arq.ack_due = false;
    p->turn.ready_at = std::min(p->turn.ready_at, now);
}

void soft_links::break_nonexclusive(station_time now)
{
    for (auto& [raw, p] : d_node.peers)
        if (p->link.made() && !p->link.exclusive)
            begin_break(now, p->addr, link_break_reason::higher_priority);
}

soft_links::control soft_links::next_control(peer& p) const
{
    control c;
    if (p.link.accept_due) {
        c.d_pdus.push_back(
            make_c_pdu(p, c_pdu_type::link_accepted, 0, *p.link.heard_request_id));
        c.opening = c.d_pdus.back();
    }
    if (p.link.calling()) {
        ++p.link.tries;
        c.d_pdus.push_back(make_c_pdu(p,
                                      c_pdu_type::link_request,
                                      p.link.wants_exclusive ? 1 : 0,
                                      p.link.request_id));
        c.opening = c.d_pdus.back();
    } else if (p.link.breaking()) {
        ++p.link.tries;
        const auto acks = d_maker.last_acks(p);
        c.d_pdus.insert(c.d_pdus.end(), acks.begin(), acks.end());
        c.d_pdus.push_back(make_c_pdu(
            p, c_pdu_type::link_break, uint8_t(p.link.break_reason), p.link.request_id));
    }
    return c;
}

void soft_links::tell(station_time now)
{
    while (!d_events.empty()) {
        const event e = d_events.front();
        d_events.pop_front();
        if (e.made)
            d_node.upper.on_link_made(now, e.addr);
        else
            d_node.upper.on_link_down(now, e.addr);
    }
}

std::optional<link_reject_reason> soft_links::refusal(const peer& p, bool exclusive) const
{
    if (d_broadcast)
        return link_reject_reason::broadcast_only;
    if (exclusive) {
        return !p.link.exclusive && exclusive_links() >= max_exclusive_links
                   ? std::optional(link_reject_reason::exclusive_link)
                   : std::nullopt;
    }
    const bool for_other =
        std::any_of(d_node.peers.begin(), d_node.peers.end(), [&p](auto& e) {
            return e.second.get() != &p &&
                   (e.second->link.exclusive || e.second->link.wants_exclusive);
        });
    if (for_other)
        return link_reject_reason::exclusive_link;
    if (p.link.none() && count() >= d_node.config.max_links)
        return link_reject_reason::unknown;
    return std::nullopt;
}

bool soft_links::on_request(station_time now,
                            peer& p,
                            unsigned bits,
                            const non_arq_header& h)
{
    const bool exclusive = bits & 1;
    const uint16_t id = h.c_pdu_id;
    if (!exclusive && p.link.none() && count() >= d_node.config.max_links)
        make_room(now - idle_enough);
    if (const auto why = refusal(p, exclusive)) {
        push_c_pdu(p, c_pdu_type::link_rejected, uint8_t(*why));
        return false;
    }
    p.heard.link_request = true;
    p.link.accept_due = true;
    p.link.accept_now = true;
    if (p.link.made() && p.link.heard_request_id == id) {
        p.arq.rx.same_numbering();
        return false; // a repeat: our answer was lost
    }
    p.heard.news = true;
    // A new request from a linked node: it has lost its state, so ours is void, too.
    // After crossed calls our own data are already numbered from 0 and keep their
    // numbers. If only we have ended the link, the caller continues with the data it has
    // sent on it.
    if (!p.link.none() || p.link.ended_request_id != id) {
        p.arq.rx.restart();
        p.expedited.rx.reset();
    }
    p.arq.rx.same_numbering();
    p.management.reset();
    p.expedited.ack_due = false;
    p.reset.end();
    if (!p.link.calling()) {
        p.arq.tx.rewind(0);
        p.expedited.tx.restart();
        p.link.caller = false;
    }
    note_window(p, h.window);
    p.arq.use_numbers(d_node.config.uses_large_windows() &&
                      without_modes(h.window) == large_window_mark);
    p.link.heard_request_id = id;
    p.reset.forget_heard();
    made(now, p, exclusive);
    p.link.first_data_by = now + first_data_wait();
    return true;
}

// T_FIRST
station_time soft_links::first_data_wait() const
{
    const auto& c = d_node.config;
    return from_seconds(c.first_data_s > 0
                            ? c.first_data_s
                            : 2 * (c.peer_turnaround_s + 10) + 30 + d_access.cycle_s());
}

bool soft_links::on_accepted(station_time now, peer& p, const non_arq_header& h)
{
    if (names_request(without_modes(h.window)) && h.c_pdu_id != p.link.request_id) {
        // The peer still repeats its acceptance of a link from before this node restarted.
        d_node.log.detail(now, "acceptance of an earlier request");
        return false;
    }
    p.heard.link_accept = true;
    if (!p.link.calling())
        return false;
    note_window(p, h.window);
    p.arq.use_numbers(p.arq.large && without_modes(h.window) == large_window_mark);
    made(now, p, p.link.wants_exclusive);
    return true;
}

void soft_links::refused(station_time now, peer& p, link_reject_reason why)
{
    if (why != link_reject_reason::unknown || p.link.wants_exclusive) {
        lost(now, p, unidata_reject_reason::not_responding);
        return;
    }
    // It has too many links at present (refusal()), so the data wait.
    d_node.log.trace(now, p.addr.to_string() + " has no room for a link");
    closed(p);
    p.restart_arq();
    p.turn.not_before = now + pause_after_refusal;
}

// Late acknowledgements, and second copies of the link's last PDUs, may still arrive. They
// are no reason to warn.
void soft_links::end_quietly(peer& p)
{
    p.heard.link_break = true;
    p.control.drop([](const d_pdu& d) {
        const auto about = static_cast<d_pdu_type>(d.warning.received_type);
        return d.type == d_pdu_type::warning &&
               (about == d_pdu_type::ack_only || about == d_pdu_type::large_ack_only);
    });
}

bool soft_links::on_c_pdu(station_time now,
                          peer& p,
                          const c_pdu& c,
                          const non_arq_header& h)
{
    switch (c.type) {
    case c_pdu_type::link_request:
        return on_request(now, p, c.low, h);
    case c_pdu_type::link_accepted:
        return on_accepted(now, p, h);
    case c_pdu_type::link_rejected:
        if (p.link.calling())
            refused(now, p, static_cast<link_reject_reason>(c.low));
        break;
    case c_pdu_type::link_break:
        end_quietly(p);
        d_maker.push_last_acks(p);
        if (!p.link.none()) {
            d_node.log.trace(now,
                             "link with " + p.addr.to_string() + " ended by the peer" +
                                 p.link.moved_in_words(now));
            closed(p);
        }
        push_c_pdu(p, c_pdu_type::link_break_confirm, 0);
        break;
    case c_pdu_type::link_break_confirm:
        end_quietly(p);
        if (p.link.breaking()) {
            d_node.log.trace(now,
                             "link with " + p.addr.to_string() + " ended" +
                                 p.link.moved_in_words(now));
            closed(p);
        }
        break;
    case c_pdu_type::data:
        break;
    }
    return false;
}

} // namespace gr::hf::s5066
