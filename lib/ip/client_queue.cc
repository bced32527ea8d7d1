/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/client_impl.h"

#include <algorithm>
#include <cstring>

namespace gr::hf::ip {

namespace {

// SIS should have answered long before.
constexpr sim_time confirm_wait = std::chrono::minutes(30);
constexpr service services[] = { interactive, ordinary };

double air_seconds(const waiting_packet& w, double rate)
{
    return static_cast<double>(w.packet.size() * 8 * (size_t(1) + w.repeats)) / rate;
}

//! What makes two packets equal for the purpose of \p d.
bool is_duplicate(const packet_view& a, const packet_view& b, dedup d)
{
    if (a.version != b.version || a.protocol != b.protocol || a.src != b.src ||
        a.dst != b.dst)
        return false;
    const size_t na = a.size - a.upper, nb = b.size - b.upper;
    const uint8_t *pa = a.data + a.upper, *pb = b.data + b.upper;
    if (d == dedup::echo_newest) // type, code; identifier
        return na >= 8 && nb >= 8 && pa[0] == pb[0] &&
               std::memcmp(pa + 4, pb + 4, 2) == 0;
    // Ports, then the payload behind the UDP header.
    return d == dedup::payload && a.has_ports && b.has_ports && na == nb && na >= 8 &&
           a.src_port == b.src_port && a.dst_port == b.dst_port &&
           std::memcmp(pa + 8, pb + 8, na - 8) == 0;
}

} // namespace

sim_time client::impl::age_limit(service s) const
{
    return s == interactive ? d_config.interactive_age_max : d_config.age_max;
}

void client::impl::flush(hop_state& hop, service s)
{
    if (hop.queue[s].empty())
        return;
    ++d_stats.flushed_queues;
    d_stats.flushed_packets += hop.queue[s].size();
    hop.queue[s].clear();
    hop.octets_waiting[s] = 0;
}

void client::impl::enqueue(hop_state& hop, service s, waiting_packet w, dedup d)
{
    auto& queue = hop.queue[s];
    if (d != dedup::none) {
        const auto fresh = read_packet(w.packet.data(), w.packet.size());
        for (waiting_packet& old : queue) {
            const auto v = read_packet(old.packet.data(), old.packet.size());
            if (!fresh || !v || !is_duplicate(*fresh, *v, d))
                continue;
            ++d_stats.duplicates;
            if (d == dedup::echo_newest) {
                hop.octets_waiting[s] += w.packet.size() - old.packet.size();
                old = std::move(w);
            }
            return;
        }
    }
    hop.octets_waiting[s] += w.packet.size();
    queue.push_back(std::move(w));
    // All losses at one point: a TCP that has to repeat anyway repeats once.
    if (hop.octets_waiting[s] > d_config.waiting_octets)
        flush(hop, s);
}

bool client::impl::room(const hop_state& hop, const waiting_packet& w) const
{
    if (w.arq)
        return hop.outstanding == 0 ||
               hop.outstanding + w.packet.size() <= d_config.queue_octets;
    // Nothing tells when a datagram without ARQ has left: go by the rate.
    const double depth_s = static_cast<double>(d_config.queue_octets) * 8 / d_config.rate;
    return d_sent_until - d_now <= from_seconds(depth_s);
}

std::optional<octets> client::impl::poll_sis()
{
    if (auto first = d_sis.poll())
        return first;
    if (!d_sis.ready())
        return std::nullopt;
    for (const service s : services) {
        // Next hops take turns, beginning behind the one served last.
        auto it = d_hops.upper_bound(d_last);
        for (size_t left = d_hops.size(); left > 0; --left, ++it) {
            if (it == d_hops.end())
                it = d_hops.begin();
            auto& queue = it->second.queue[s];
            if (!queue.empty() && queue.front().since + age_limit(s) <= d_now)
                flush(it->second, s);
            if (!queue.empty() && room(it->second, queue.front()))
                return submit(it->first, it->second, s);
        }
    }
    return std::nullopt;
}

octets client::impl::submit(const s5066::address& node, hop_state& hop, service s)
{
    d_last = node;
    waiting_packet w = std::move(hop.queue[s].front());
    hop.queue[s].pop_front();
    hop.octets_waiting[s] -= w.packet.size();
    ++d_stats.sent;
    d_stats.sent_octets += w.packet.size();

    s5066::s_unidata_request q;
    q.priority = w.priority;
    q.dst_sap = d_config.sap;
    q.dst = node;
    q.mode.order = w.in_order ? s5066::delivery_order::in_order
                              : s5066::delivery_order::as_they_arrive;
    if (w.arq) {
        q.mode.mode = s5066::transmission_mode::arq;
        q.mode.confirmation = s5066::delivery_confirmation::node;
        hop.outstanding += d_in_sis.add(d_now, node, d_config.sap, w.packet, 0);
    } else {
        q.mode.mode = s5066::transmission_mode::non_arq;
        q.mode.retransmissions = w.repeats;
        d_sent_until =
            std::max(d_sent_until, d_now) + from_seconds(air_seconds(w, d_config.rate));
    }
    const double left_s = to_seconds(w.since + age_limit(s) - d_now);
    q.ttl = std::clamp<uint32_t>(static_cast<uint32_t>(std::max(left_s, 0.0)) /
                                     s5066::sis_ttl_unit_s,
                                 1,
                                 s5066::sis_ttl_max);
    q.u_pdu = std::move(w.packet);
    return s5066::encode(q);
}

void client::impl::sis_in(const uint8_t* p, size_t n)
{
    auto r = d_sis.primitive_in(d_now, p, n);
    d_stats.invalid_primitives = d_sis.invalid();
    if (r.what == s5066::sis_client::change::unbound)
        lost_sis();
    if (!r.data)
        return;
    if (const auto* u = std::get_if<s5066::s_unidata_indication>(&*r.data))
        from_hf(*u);
    else if (const auto* c = std::get_if<s5066::s_unidata_request_confirm>(&*r.data))
        settled(c->dst, c->dst_sap, c->u_pdu, false);
    else if (const auto* j = std::get_if<s5066::s_unidata_request_rejected>(&*r.data))
        settled(j->dst, j->dst_sap, j->u_pdu, true);
}

void client::impl::settled(const s5066::address& node,
                           uint8_t sap,
                           const octets& head,
                           bool rejected)
{
    const auto hop = d_hops.find(node);
    if (hop == d_hops.end())
        return;
    if (const auto e = d_in_sis.settle(node, sap, head)) {
        hop->second.outstanding -= e->cost();
        ++(rejected ? d_stats.rejected : d_stats.confirmed);
    }
    // The link has failed: what waits would come too late to be of use.
    if (rejected)
        for (const service s : services)
            flush(hop->second, s);
}

void client::impl::lost_sis()
{
    while (const auto e = d_in_sis.pop())
        d_hops[e->dst].outstanding -= e->cost();
    d_sent_until = d_now;
}

std::optional<sim_time> client::impl::next_deadline() const
{
    std::optional<sim_time> first = d_sis.next_deadline();
    const auto at = [&first](sim_time t) {
        if (!first || t < *first)
            first = t;
    };
    for (const auto& hop : d_hops)
        for (const service s : services) {
            const auto& queue = hop.second.queue[s];
            if (queue.empty())
                continue;
            at(queue.front().since + age_limit(s));
            if (!queue.front().arq && d_sis.ready()) {
                const double depth_s =
                    static_cast<double>(d_config.queue_octets) * 8 / d_config.rate;
                at(std::max(d_now, d_sent_until - from_seconds(depth_s)));
            }
        }
    if (const auto t = d_in_sis.oldest())
        at(*t + confirm_wait);
    return first;
}

void client::impl::on_deadline()
{
    d_sis.on_deadline(d_now);
    for (auto& hop : d_hops)
        for (const service s : services)
            if (!hop.second.queue[s].empty() &&
                hop.second.queue[s].front().since + age_limit(s) <= d_now)
                flush(hop.second, s);
    for (auto t = d_in_sis.oldest(); t && *t + confirm_wait <= d_now;
         t = d_in_sis.oldest()) {
        const auto e = d_in_sis.pop();
        d_hops[e->dst].outstanding -= e->cost();
    }
}

} // namespace gr::hf::ip
