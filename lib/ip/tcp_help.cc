/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/tcp_help.h"

#include <algorithm>

namespace gr::hf::ip {

namespace {

constexpr size_t header_min = 20;
constexpr uint8_t option_end = 0, option_nop = 1, option_scale = 3;
constexpr unsigned shift_max = 14;
// Limits of remembered connections and delivered segments.
constexpr size_t flows_max = 1024, delivered_max = 8192;
// A connection that was quiet for this long shares no window.
constexpr station_time quiet = std::chrono::minutes(5);
// A smaller window would leave nothing for fast retransmission.
constexpr uint32_t window_min = 4 * 1460;

uint16_t at16(const uint8_t* p) { return static_cast<uint16_t>(p[0] << 8 | p[1]); }
uint32_t at32(const uint8_t* p) { return uint32_t(at16(p)) << 16 | at16(p + 2); }

std::optional<unsigned> shift_of(const packet_view& v)
{
    const auto at = find_tcp_option(v, option_scale, 3);
    if (!at)
        return std::nullopt;
    return std::min<unsigned>(v.data[*at + 2], shift_max);
}

} // namespace

std::optional<tcp_fields> tcp_of(const packet_view& v)
{
    if (v.protocol != proto_tcp || !v.has_ports || v.size < v.upper + header_min)
        return std::nullopt;
    const uint8_t* p = v.data + v.upper;
    const size_t header = size_t(p[12] >> 4) * 4;
    if (header < header_min || v.upper + header > v.size)
        return std::nullopt;
    tcp_fields f;
    f.seq = at32(p + 4);
    f.ack = at32(p + 8);
    f.flags = p[13];
    f.window = at16(p + 14);
    f.payload = v.size - v.upper - header;
    return f;
}

std::optional<size_t> find_tcp_option(const packet_view& v, uint8_t kind, uint8_t length)
{
    if (!tcp_of(v))
        return std::nullopt;
    const size_t end = v.upper + size_t(v.data[v.upper + 12] >> 4) * 4;
    for (size_t k = v.upper + header_min; k < end && v.data[k] != option_end;) {
        if (v.data[k] == option_nop) {
            ++k;
            continue;
        }
        if (k + 2 > end || v.data[k + 1] < 2 || k + v.data[k + 1] > end)
            return std::nullopt;
        if (v.data[k] == kind && v.data[k + 1] == length)
            return k;
        k += v.data[k + 1];
    }
    return std::nullopt;
}

std::optional<segment_key> key_of_segment(const packet_view& v)
{
    const auto s = tcp_of(v);
    if (!s || (s->payload == 0 && !s->has(tcp_fields::syn | tcp_fields::fin)))
        return std::nullopt;
    const uint32_t ports = uint32_t(v.src_port) << 16 | v.dst_port;
    return segment_key{ v.src, v.dst, ports, s->seq, s->payload, s->flags };
}

tcp_direction direction_of(const packet_view& v)
{
    return { v.src, v.dst, uint32_t(v.src_port) << 16 | v.dst_port };
}

void tcp_flows::settled(station_time now, const segment_key& k, bool delivered)
{
    const auto it = d_in_sis.find(k);
    if (it != d_in_sis.end() && --it->second == 0)
        d_in_sis.erase(it);
    if (!delivered)
        return;
    if (d_delivered.size() >= delivered_max)
        for (auto d = d_delivered.begin(); d != d_delivered.end();)
            d = now - d->second >= d_repeat_wait / 2 ? d_delivered.erase(d)
                                                     : std::next(d);
    if (d_delivered.size() < delivered_max)
        d_delivered[k] = now;
}

bool tcp_flows::under_way(station_time now, const segment_key& k)
{
    if (d_in_sis.count(k) != 0)
        return true;
    const auto it = d_delivered.find(k);
    if (it == d_delivered.end())
        return false;
    const uint32_t ports = std::get<2>(k);
    const flow* f = flow_of(now,
                            { std::get<0>(k),
                              std::get<1>(k),
                              static_cast<uint16_t>(ports >> 16),
                              static_cast<uint16_t>(ports) },
                            false);
    // Anything heard after the delivery may be a reason to send it again.
    const bool heard_since = f != nullptr && f->heard_at > it->second;
    if (!heard_since && now - it->second < d_repeat_wait)
        return true;
    d_delivered.erase(it);
    return false;
}

tcp_flows::flow* tcp_flows::flow_of(station_time now, const flow_key& k, bool make)
{
    const auto it = d_flows.find(k);
    if (it != d_flows.end() || !make)
        return it != d_flows.end() ? &it->second : nullptr;
    if (d_flows.size() >= flows_max)
        d_flows.erase(std::min_element(
            d_flows.begin(), d_flows.end(), [](const auto& a, const auto& b) {
                return a.second.used_at < b.second.used_at;
            }));
    flow& f = d_flows[k];
    f.used_at = now;
    return &f;
}

void tcp_flows::from_host(station_time now, const packet_view& v)
{
    const auto t = tcp_of(v);
    if (!t)
        return;
    const bool syn = t->has(tcp_fields::syn);
    flow* f = flow_of(now, { v.src, v.dst, v.src_port, v.dst_port }, syn);
    if (f == nullptr)
        return;
    f->used_at = now;
    f->sends = f->sends || t->payload > 0;
    if (syn) {
        if (!t->has(tcp_fields::ack_valid)) {
            f->far_syn = false; // a new connection starts
            f->edge.reset();
        }
        f->near_syn = true;
        f->near_shift = shift_of(v);
    }
}

size_t tcp_flows::share(station_time now) const
{
    const auto active =
        std::count_if(d_flows.begin(), d_flows.end(), [now](const auto& f) {
            return f.second.sends && now - f.second.used_at < quiet;
        });
    return d_window / static_cast<size_t>(std::max<long>(active, 1));
}

bool tcp_flows::from_hf(station_time now, octets& packet)
{
    const auto v = read_packet(packet.data(), packet.size());
    const auto t = v ? tcp_of(*v) : std::nullopt;
    if (!t)
        return false;
    const bool syn = t->has(tcp_fields::syn);
    flow* f = flow_of(now, { v->dst, v->src, v->dst_port, v->src_port }, syn);
    if (f == nullptr)
        return false;
    f->heard_at = now;
    f->used_at = now;
    if (syn) {
        if (!t->has(tcp_fields::ack_valid)) {
            f->near_syn = false;
            f->edge.reset();
        }
        f->far_syn = true;
        f->far_shift = shift_of(*v);
        return false;
    }
    if (t->has(tcp_fields::rst) || !t->has(tcp_fields::ack_valid) || !f->near_syn ||
        !f->far_syn)
        return false;
    const unsigned shift = f->near_shift && f->far_shift ? *f->far_shift : 0;
    const uint32_t offered = t->ack + (uint32_t(t->window) << shift);
    const auto allowed =
        std::max<uint32_t>(window_min, static_cast<uint32_t>(share(now)));
    uint32_t edge = t->ack + allowed;
    if (f->edge && static_cast<int32_t>(*f->edge - edge) > 0)
        edge = *f->edge;
    if (static_cast<int32_t>(offered - edge) <= 0) {
        if (!f->edge || static_cast<int32_t>(offered - *f->edge) > 0)
            f->edge = offered;
        return false;
    }
    const uint32_t unit = 1u << shift;
    const uint32_t window = (edge - t->ack + unit - 1) >> shift;
    if (window >= t->window) {
        f->edge = offered;
        return false;
    }
    f->edge = t->ack + (window << shift);
    set_tcp_window(packet, v->upper, static_cast<uint16_t>(window));
    return true;
}

} // namespace gr::hf::ip
