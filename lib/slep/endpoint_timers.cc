/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/endpoint_impl.h"

#include <algorithm>

namespace gr::hf::slep {

namespace {

// A peer whose window stays shut is asked again after this.
constexpr sim_time window_again = std::chrono::minutes(5);
// A stream that only waits asks its peer after half of what it lives through, or this.
constexpr sim_time life_again = std::chrono::minutes(15);
// Early data waits so long for its SO.
constexpr sim_time orphan_wait = std::chrono::minutes(2);
// SIS should have answered long before.
constexpr sim_time confirm_wait = std::chrono::hours(1);

sim_time ask_life_after(const stream& s)
{
    const sim_time after = std::min(s.options.outage_max / 2, life_again);
    // Its question answers that of the other side, which waits for it.
    return s.opener ? after : after + after / 4;
}

} // namespace

template <typename F>
void endpoint::impl::each_deadline(F f) const
{
    const auto maybe = [&f](const std::optional<sim_time>& t) {
        if (t)
            f(*t);
    };
    maybe(d_sis.next_deadline());
    for (const auto& entry : d_streams) {
        const stream& s = entry.second;
        maybe(s.tx.hold_until());
        if (s.accept_at && *s.accept_at > d_now) // later it only waits for SIS
            f(*s.accept_at);
        maybe(s.answer_by);
        maybe(s.probe_at);
        maybe(s.ask_window_at);
        if (s.gap_since)
            f(*s.gap_since + d_config.gap_max);
        if (s.stalled_since)
            f(outage_end(s));
        if (s.only_waits())
            f(s.life_at + ask_life_after(s));
    }
    for (const auto& n : d_nodes)
        if (n.second.retry_at > d_now)
            f(n.second.retry_at);
    for (const auto& p : d_peers) {
        for (const auto& o : p.second.orphans)
            f(o.second.since + orphan_wait);
        if (const auto t = p.second.datagrams.oldest())
            f(*t + d_config.reliable_ttl);
    }
    for (const auto& d : d_datagrams)
        if (d.second.unconfirmed == 0)
            f(d.second.expires);
    if (const auto t = d_outstanding.oldest())
        f(*t + confirm_wait);
}

std::optional<sim_time> endpoint::impl::next_deadline() const
{
    std::optional<sim_time> first;
    each_deadline([&first](sim_time t) {
        if (!first || t < *first)
            first = t;
    });
    return first;
}

void endpoint::impl::on_deadline()
{
    d_sis.on_deadline(d_now);
    for (auto t = d_outstanding.oldest(); t && *t + confirm_wait <= d_now;
         t = d_outstanding.oldest())
        settle(*d_outstanding.pop(),
               uint8_t(s5066::unidata_reject_reason::not_responding));
    std::vector<stream_id> ids;
    ids.reserve(d_streams.size());
    for (const auto& s : d_streams)
        ids.push_back(s.first);
    for (const stream_id id : ids)
        if (stream* s = find(id))
            check_stream(*s);
    for (auto& p : d_peers)
        check_peer(p.second);
    for (auto it = d_datagrams.begin(); it != d_datagrams.end();) {
        const auto at = it++;
        if (at->second.unconfirmed == 0 && at->second.expires <= d_now)
            datagram_over(at, reason_lifetime_over);
    }
}

sim_time endpoint::impl::outage_end(const stream& s) const
{
    return std::max(*s.stalled_since, s.p->node->alive_at) + s.options.outage_max;
}

void endpoint::impl::ask_life(const node_state& n)
{
    // Streams that would ask soon ask at once: one exchange serves them all.
    for (auto& entry : d_streams) {
        stream& s = entry.second;
        if (s.p->node != &n || !s.only_waits() ||
            s.life_at + ask_life_after(s) / 2 > d_now)
            continue;
        s.life_asked = s.control_due = s.control_ask = true;
        make_ready(s);
    }
}

void endpoint::impl::check_stream(stream& s)
{
    const auto due = [this](std::optional<sim_time>& t) {
        if (!t || *t > d_now)
            return false;
        t.reset();
        return true;
    };
    node_state& n = *s.p->node;
    if (s.stalled_since && outage_end(s) <= d_now) {
        fail(s, reason_lifetime_over, s.tx.next_number() > 0);
        return;
    }
    if (due(s.answer_by)) {
        fail(s, reason_lifetime_over, true);
        return;
    }
    if (s.gap_since && *s.gap_since + d_config.gap_max <= d_now) {
        // Only time with a living link counts.
        if (n.heard_at >= *s.gap_since + d_config.gap_max / 2) {
            fail(s, reason_protocol_error, true);
            return;
        }
        s.gap_since = d_now;
    }
    if (s.tx.hold_until() && *s.tx.hold_until() <= d_now)
        s.tx.hold_over();
    if (s.only_waits() && s.life_at + ask_life_after(s) <= d_now)
        ask_life(n);
    if (due(s.probe_at))
        s.control_due = s.control_ask = true;
    if (due(s.ask_window_at)) {
        s.control_due = s.control_ask = true;
        s.ask_window_at = d_now + window_again;
    }
    make_ready(s);
}

void endpoint::impl::check_peer(peer_state& p)
{
    for (auto it = p.orphans.begin(); it != p.orphans.end();) {
        const auto at = it++;
        if (at->second.since + orphan_wait > d_now)
            continue;
        const uint8_t sid = at->first;
        const uint16_t mark = at->second.pdus.front().seq;
        p.orphans.erase(at);
        unknown_stream(p, sid, 0, mark);
    }
    d_stats.datagrams_dropped += p.datagrams.drop_older(d_now - d_config.reliable_ttl);
}

} // namespace gr::hf::slep
