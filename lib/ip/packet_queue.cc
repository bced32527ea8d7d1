/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/packet_queue.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr::hf::ip {

namespace {

constexpr long quantum = 1500;
// Further flows share one queue.
constexpr size_t flows_max = 1024;
// A fair queue accepts a standing delay of the first, unless it lasts for the second (as CoDel,
// RFC 8289, whose values are for wires). A round trip contains two transmissions.
constexpr station_time delay_target = std::chrono::seconds(30);
constexpr station_time delay_interval = std::chrono::seconds(300);

//! Whether two packets of one flow are equal for \p d.
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
    // Ports, then the payload after the UDP header.
    return d == dedup::payload && a.has_ports && b.has_ports && na == nb && na >= 8 &&
           a.src_port == b.src_port && a.dst_port == b.dst_port &&
           std::memcmp(pa + 8, pb + 8, na - 8) == 0;
}

} // namespace

packet_queue::flow_key packet_queue::key_of(const packet_view& v) const
{
    if (d_config.policy == queue_policy::whole)
        return {};
    const flow_key k{ v.src, v.dst, v.protocol, v.src_port, v.dst_port };
    return d_flows.size() < flows_max || d_flows.count(k) != 0 ? k : flow_key{};
}

bool packet_queue::is_known(flow& f, waiting_packet& w, const packet_view& v, dedup d)
{
    const auto tcp = tcp_of(v);
    const bool fair = d_config.policy == queue_policy::fair;
    const bool helped = fair && tcp && (d_config.thin_acks || d_config.drop_repeats);
    if (d == dedup::none && !helped)
        return false;
    for (waiting_packet& old : f.packets) {
        const auto o = read_packet(old.packet.data(), old.packet.size());
        if (!o)
            continue;
        if (d != dedup::none && is_duplicate(v, *o, d)) {
            ++d_stats.duplicates;
            if (d == dedup::payload)
                return true;
        } else {
            const auto t = tcp ? tcp_of(*o) : std::nullopt;
            const bool same_flow = t && v.src == o->src && v.dst == o->dst &&
                                   v.src_port == o->src_port && v.dst_port == o->dst_port;
            if (!same_flow || !helped)
                continue;
            const bool newer_ack = static_cast<int32_t>(tcp->ack - t->ack) > 0;
            if (d_config.thin_acks && tcp->pure_ack() && t->pure_ack() && newer_ack)
                ++d_stats.acks_thinned;
            else if (d_config.drop_repeats && tcp->seq == t->seq &&
                     tcp->payload == t->payload && tcp->flags == t->flags &&
                     (tcp->payload > 0 || tcp->has(tcp_fields::syn | tcp_fields::fin)))
                ++d_stats.repeats_dropped;
            else
                continue;
        }
        // The newer packet replaces the older one, since it knows more.
        f.octets += w.packet.size() - old.packet.size();
        d_octets += w.packet.size() - old.packet.size();
        if (d == dedup::none)
            w.since = old.since;
        old = std::move(w);
        return true;
    }
    return false;
}

void packet_queue::put(station_time now, waiting_packet w, dedup d)
{
    const auto v = read_packet(w.packet.data(), w.packet.size());
    if (!v)
        return;
    const flow_key k = key_of(*v);
    const auto at = d_flows.try_emplace(k);
    flow& f = at.first->second;
    if (is_known(f, w, *v, d))
        return;
    if (at.second) {
        f.deficit = quantum;
        d_fresh.push_back(k);
    }
    f.octets += w.packet.size();
    d_octets += w.packet.size();
    f.packets.push_back(std::move(w));
    expire(now);
    if (d_octets <= d_config.octets_max)
        return;
    if (d_config.policy == queue_policy::whole) {
        flush();
        return;
    }
    while (d_octets > d_config.octets_max) {
        const auto longest = std::max_element(
            d_flows.begin(), d_flows.end(), [](const auto& a, const auto& b) {
                return a.second.octets < b.second.octets;
            });
        ++d_stats.overflowed;
        drop_head(longest->second);
        forget_if_empty(longest->first);
    }
}

void packet_queue::drop_head(flow& f)
{
    f.octets -= f.packets.front().packet.size();
    d_octets -= f.packets.front().packet.size();
    f.packets.pop_front();
}

void packet_queue::forget_if_empty(const flow_key& k)
{
    const auto it = d_flows.find(k);
    if (it == d_flows.end() || !it->second.packets.empty())
        return;
    const flow_key key = k; // \p k may be part of the erased flow
    for (auto* line : { &d_fresh, &d_turns })
        line->erase(std::remove(line->begin(), line->end(), key), line->end());
    d_flows.erase(it);
}

void packet_queue::flush()
{
    if (d_flows.empty())
        return;
    ++d_stats.flushed_queues;
    for (const auto& f : d_flows)
        d_stats.flushed_packets += f.second.packets.size();
    d_flows.clear();
    d_fresh.clear();
    d_turns.clear();
    d_octets = 0;
}

std::vector<waiting_flow> packet_queue::flows() const
{
    std::vector<waiting_flow> found;
    for (const auto& [key, f] : d_flows) {
        const auto& [src, dst, protocol, src_port, dst_port] = key;
        found.push_back({ src,
                          dst,
                          protocol,
                          src_port,
                          dst_port,
                          f.packets.size(),
                          f.octets,
                          f.packets.front().since });
    }
    return found;
}

std::optional<station_time> packet_queue::expires() const
{
    std::optional<station_time> first;
    for (const auto& f : d_flows) {
        const station_time t = f.second.packets.front().since + d_config.age_max;
        if (!first || t < *first)
            first = t;
    }
    return first;
}

void packet_queue::expire(station_time now)
{
    for (auto it = d_flows.begin(); it != d_flows.end();) {
        const auto at = it++;
        flow& f = at->second;
        if (f.packets.front().since + d_config.age_max > now)
            continue;
        if (d_config.policy == queue_policy::whole) {
            flush();
            return;
        }
        while (!f.packets.empty() && f.packets.front().since + d_config.age_max <= now) {
            ++d_stats.overflowed;
            drop_head(f);
        }
        forget_if_empty(at->first);
    }
}

bool packet_queue::too_much_delay(flow& f, station_time now)
{
    // Never drop the last packet. It would leave the flow without any sign of life.
    if (f.packets.size() < 2 || now - f.packets.front().since < delay_target) {
        f.above_until.reset();
        return false;
    }
    if (!f.above_until)
        f.above_until = now + delay_interval;
    return now >= *f.above_until;
}

void packet_queue::obey_delay(flow& f, station_time now)
{
    const bool above = too_much_delay(f, now);
    if (!above) {
        f.dropping = false;
        return;
    }
    if (f.dropping && now < f.drop_at)
        return;
    if (!f.dropping) {
        f.dropping = true;
        f.drops = 0;
    }
    ++f.drops;
    f.drop_at = now + from_seconds(to_seconds(delay_interval) / std::sqrt(f.drops));
    if (mark_congestion(f.packets.front().packet)) {
        ++d_stats.marked;
    } else {
        ++d_stats.delay_dropped;
        drop_head(f);
    }
}

const waiting_packet* packet_queue::peek() const
{
    const auto& line = !d_fresh.empty() ? d_fresh : d_turns;
    return line.empty() ? nullptr : &d_flows.at(line.front()).packets.front();
}

const waiting_packet* packet_queue::next(station_time now)
{
    expire(now);
    while (!d_flows.empty()) {
        auto& line = !d_fresh.empty() ? d_fresh : d_turns;
        flow& f = d_flows.at(line.front());
        if (f.deficit <= 0) {
            f.deficit += quantum;
            d_turns.push_back(line.front());
            line.pop_front();
            continue;
        }
        if (d_config.policy == queue_policy::fair)
            obey_delay(f, now);
        return &f.packets.front();
    }
    return nullptr;
}

waiting_packet packet_queue::take()
{
    auto& line = !d_fresh.empty() ? d_fresh : d_turns;
    const flow_key k = line.front();
    flow& f = d_flows.at(k);
    waiting_packet w = std::move(f.packets.front());
    f.octets -= w.packet.size();
    d_octets -= w.packet.size();
    f.deficit -= static_cast<long>(w.packet.size());
    f.packets.pop_front();
    forget_if_empty(k);
    return w;
}

} // namespace gr::hf::ip
