/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/client_impl.h"

#include <algorithm>

namespace gr::hf::ip {

namespace {

// SIS should have answered long before.
constexpr sim_time confirm_wait = std::chrono::minutes(30);
constexpr service services[] = { interactive, ordinary };

double air_seconds(const waiting_packet& w, double rate)
{
    return static_cast<double>(w.packet.size() * 8 * (size_t(1) + w.repeats)) / rate;
}

bool is_tcp(const waiting_packet& w)
{
    const auto v = read_packet(w.packet.data(), w.packet.size());
    return v && v->protocol == proto_tcp;
}

queue_config config_of(const client_config& c, service s)
{
    queue_config q = c.queue;
    if (s == interactive)
        q.age_max = c.interactive_age_max;
    return q;
}

} // namespace

hop_state::hop_state(const client_config& c, queue_stats& stats)
    : queue{ packet_queue(config_of(c, interactive), stats),
             packet_queue(config_of(c, ordinary), stats) }
{
}

hop_state& client::impl::hop_of(const s5066::address& node)
{
    return d_hops.try_emplace(node, d_config, d_stats.queues).first->second;
}

sim_time client::impl::age_limit(service s) const
{
    return s == interactive ? d_config.interactive_age_max : d_config.queue.age_max;
}

bool client::impl::room(const hop_state& hop, service s, const waiting_packet& w) const
{
    const size_t size = w.packet.size(), depth = d_config.queue_octets;
    if (w.arq) {
        if (hop.all_outstanding() == 0 || hop.all_outstanding() + size <= depth)
            return true;
        // What SIS holds of the ordinary class may take a whole transmission.
        return s == interactive &&
               (hop.outstanding[s] == 0 || hop.outstanding[s] + size <= depth / 16);
    }
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
            packet_queue& queue = it->second.queue[s];
            const waiting_packet* first_waiting = queue.peek();
            if (first_waiting == nullptr || !room(it->second, s, *first_waiting))
                continue;
            const waiting_packet* w = queue.next(d_now);
            if (w != nullptr && room(it->second, s, *w))
                return submit(it->first, it->second, s);
        }
    }
    return std::nullopt;
}

octets client::impl::submit(const s5066::address& node, hop_state& hop, service s)
{
    d_last = node;
    waiting_packet w = hop.queue[s].take();
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
        const auto v = read_packet(w.packet.data(), w.packet.size());
        const auto segment = v ? key_of_segment(*v) : std::nullopt;
        if (segment)
            d_tcp.sent(*segment);
        hop.outstanding[s] +=
            d_in_sis.add(d_now, node, d_config.sap, w.packet, { s, segment });
    } else {
        q.mode.mode = s5066::transmission_mode::non_arq;
        q.mode.retransmissions = w.repeats;
        d_sent_until =
            std::max(d_sent_until, d_now) + from_seconds(air_seconds(w, d_config.rate));
    }
    // A TCP segment that is late is still worth more than its repeat, so what it has waited
    // does not count; the sender's window bounds that.
    const bool late_is_good =
        w.arq && d_config.queue.policy == queue_policy::fair && is_tcp(w);
    const sim_time begin = late_is_good ? d_now : w.since;
    const double left_s = to_seconds(begin + age_limit(s) - d_now);
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
        settled(c->dst, c->dst_sap, c->u_pdu, std::nullopt);
    else if (const auto* j = std::get_if<s5066::s_unidata_request_rejected>(&*r.data))
        settled(j->dst, j->dst_sap, j->u_pdu, j->reason);
}

void client::impl::settled(const s5066::address& node,
                           uint8_t sap,
                           const octets& head,
                           std::optional<uint8_t> reject_reason)
{
    const auto hop = d_hops.find(node);
    if (hop == d_hops.end())
        return;
    if (const auto e = d_in_sis.settle(node, sap, head)) {
        release(*e, !reject_reason);
        ++(reject_reason ? d_stats.rejected : d_stats.confirmed);
    }
    // The link has failed: what waits would come too late to be of use. One that has only
    // become too old says nothing about the others.
    using reason = s5066::unidata_reject_reason;
    const bool failed = reject_reason && *reject_reason != uint8_t(reason::ttl_expired);
    if (failed && d_config.discard_on_failure)
        for (packet_queue& queue : hop->second.queue)
            queue.flush();
}

void client::impl::release(const s5066::u_pdu_ledger<held>::entry& e, bool delivered)
{
    hop_of(e.dst).outstanding[e.tag.s] -= e.cost();
    if (e.tag.segment)
        d_tcp.settled(d_now, *e.tag.segment, delivered);
}

void client::impl::lost_sis()
{
    while (const auto e = d_in_sis.pop())
        release(*e);
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
            const packet_queue& queue = hop.second.queue[s];
            const waiting_packet* w = queue.peek();
            if (w == nullptr)
                continue;
            at(*queue.expires());
            if (!w->arq && d_sis.ready()) {
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
        for (packet_queue& queue : hop.second.queue)
            queue.expire(d_now);
    for (auto t = d_in_sis.oldest(); t && *t + confirm_wait <= d_now;
         t = d_in_sis.oldest()) {
        const auto e = d_in_sis.pop();
        release(*e);
    }
}

} // namespace gr::hf::ip
