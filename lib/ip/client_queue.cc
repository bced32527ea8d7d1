/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/client_impl.h"

#include <algorithm>

namespace gr::hf::ip {

namespace {

// SIS should have answered long before this.
constexpr station_time confirm_wait = std::chrono::minutes(30);
constexpr service services[] = { interactive, ordinary };

double air_seconds(const waiting_packet& w, double rate)
{
    return static_cast<double>(w.packet.size() * 8 * (size_t(1) + w.repeats)) / rate;
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

station_time client::impl::age_limit(service s) const
{
    return s == interactive ? d_config.interactive_age_max : d_config.queue.age_max;
}

bool client::impl::room(const hop_state& hop, service s, const waiting_packet& w) const
{
    const size_t size = w.packet.size(), depth = d_config.queue_octets;
    if (w.arq) {
        if (hop.all_outstanding() == 0 || hop.all_outstanding() + size <= depth)
            return true;
        // Octets of the ordinary class in SIS may take a whole transmission.
        return s == interactive &&
               (hop.outstanding[s] == 0 || hop.outstanding[s] + size <= depth / 16);
    }
    // Nothing reports when a datagram without ARQ has left. Estimate it by the rate.
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
        // Next hops take turns, starting after the one served last.
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
    const auto v = read_packet(w.packet.data(), w.packet.size());
    const auto maybe_tcp = v ? tcp_of(*v) : std::nullopt;
    const tcp_fields tcp = maybe_tcp.value_or(tcp_fields());
    station_time left = w.since + age_limit(s) - d_now;
    if (w.arq) {
        q.mode.mode = s5066::transmission_mode::arq;
        q.mode.confirmation = s5066::delivery_confirmation::node;
        held h{ s, v ? key_of_segment(*v) : std::nullopt, std::nullopt, 0 };
        if (h.segment)
            d_tcp.sent(*h.segment);
        const bool fair = d_config.queue.policy == queue_policy::fair;
        // A late segment is still worth more than its repeat. So the time already waited
        // does not count. The sender's window limits it.
        if (maybe_tcp && fair)
            left = age_limit(s);
        if (fair && d_config.queue.thin_acks && tcp.pure_ack() && !w.in_order) {
            h.ack = direction_of(*v);
            h.number = d_next_ack++;
            newest_ack& newest = d_acks[*h.ack];
            // Equal ACKs signal a loss to the sender.
            const bool advances =
                newest.number == 0 || static_cast<int32_t>(tcp.ack - newest.ack) > 0;
            if (advances && !w.insist)
                left = std::min(left, ack_life());
            newest = { h.number, tcp.ack, w };
        }
        hop.outstanding[s] += d_in_sis.add(d_now, node, d_config.sap, w.packet, h);
    } else {
        q.mode.mode = s5066::transmission_mode::non_arq;
        q.mode.retransmissions = w.repeats;
        d_sent_until =
            std::max(d_sent_until, d_now) + from_seconds(air_seconds(w, d_config.rate));
    }
    const double left_s = std::max(to_seconds(left), 0.0);
    q.ttl = std::clamp<uint32_t>(
        static_cast<uint32_t>(left_s) / s5066::sis_ttl_unit_s, 1, s5066::sis_ttl_max);
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
    using reason = s5066::unidata_reject_reason;
    const bool too_old = reject_reason && *reject_reason == uint8_t(reason::ttl_expired);
    if (const auto e = d_in_sis.settle(node, sap, head)) {
        if (too_old)
            outdated(*e);
        release(*e, !reject_reason);
        ++(reject_reason ? d_stats.rejected : d_stats.confirmed);
    }
    // The link has failed. Waiting packets would arrive too late to be of use. A packet
    // that only became too old says nothing about the others.
    if (reject_reason && !too_old)
        for (packet_queue& queue : hop->second.queue)
            queue.flush();
}

station_time client::impl::ack_life() const
{
    // The next segment arrives after its time on the air. queue_octets last about 140 s.
    // A turn takes some seconds more.
    const double segment_s =
        140 * static_cast<double>(mtu()) / static_cast<double>(d_config.queue_octets);
    return from_seconds(std::min(6 + 1.3 * segment_s, 60.0));
}

void client::impl::outdated(const s5066::u_pdu_ledger<held>::entry& e)
{
    if (!e.tag.ack)
        return;
    const auto it = d_acks.find(*e.tag.ack);
    if (it == d_acks.end() || it->second.number != e.tag.number) {
        ++d_stats.queues.acks_thinned;
        return;
    }
    waiting_packet again = std::move(it->second.packet);
    d_acks.erase(it);
    again.insist = true;
    again.since = d_now;
    hop_of(e.dst).queue[e.tag.s].put(d_now, std::move(again), dedup::none);
}

void client::impl::release(const s5066::u_pdu_ledger<held>::entry& e, bool delivered)
{
    hop_of(e.dst).outstanding[e.tag.s] -= e.cost();
    if (e.tag.segment)
        d_tcp.settled(d_now, *e.tag.segment, delivered);
    if (!e.tag.ack)
        return;
    const auto newest = d_acks.find(*e.tag.ack);
    if (newest != d_acks.end() && newest->second.number == e.tag.number)
        d_acks.erase(newest);
}

void client::impl::lost_sis()
{
    while (const auto e = d_in_sis.pop())
        release(*e);
    d_sent_until = d_now;
}

std::optional<station_time> client::impl::next_deadline() const
{
    std::optional<station_time> first = d_sis.next_deadline();
    const auto at = [&first](station_time t) {
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
