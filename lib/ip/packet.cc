/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/packet.h"

namespace gr::hf::ip {

namespace {

constexpr size_t v4_header = 20, v6_header = 40;
constexpr uint8_t ext_hop_by_hop = 0, ext_routing = 43, ext_fragment = 44, ext_auth = 51,
                  ext_destination = 60;

uint16_t get16(const uint8_t* p) { return static_cast<uint16_t>(p[0] << 8 | p[1]); }

void put16(uint8_t* p, unsigned v)
{
    p[0] = static_cast<uint8_t>(v >> 8);
    p[1] = static_cast<uint8_t>(v);
}

//! RFC 1624, equation 3: update of the checksum after a word has changed.
uint16_t checksum_update(uint16_t sum, uint16_t before, uint16_t after)
{
    uint32_t s = static_cast<uint16_t>(~sum) + static_cast<uint16_t>(~before) + after;
    s = (s & 0xffff) + (s >> 16);
    s = (s & 0xffff) + (s >> 16);
    return static_cast<uint16_t>(~s);
}

void read_upper(packet_view& v)
{
    const uint8_t* p = v.data + v.upper;
    const size_t n = v.size - v.upper;
    if ((v.protocol == proto_tcp || v.protocol == proto_udp) && n >= 4) {
        v.has_ports = true;
        v.src_port = get16(p);
        v.dst_port = get16(p + 2);
    }
    if ((v.protocol == proto_icmp || v.protocol == proto_icmp6) && n >= 1)
        v.icmp_type = p[0];
}

bool read_v4(packet_view& v)
{
    const uint8_t* p = v.data;
    if (v.size < v4_header)
        return false;
    const size_t header = size_t(p[0] & 15) * 4;
    if (header < v4_header || header > v.size || get16(p + 2) != v.size ||
        checksum_fold(checksum_add(0, p, header)) != 0)
        return false;
    v.version = 4;
    v.traffic_class = p[1];
    v.dont_fragment = (p[6] & 0x40) != 0;
    v.hops = p[8];
    v.protocol = p[9];
    v.src = address::v4(p + 12);
    v.dst = address::v4(p + 16);
    v.upper = header;
    v.later_fragment = (get16(p + 6) & 0x1fff) != 0;
    return true;
}

bool read_v6(packet_view& v)
{
    const uint8_t* p = v.data;
    if (v.size < v6_header || v6_header + get16(p + 4) != v.size)
        return false;
    v.version = 6;
    v.traffic_class = static_cast<uint8_t>(p[0] << 4 | p[1] >> 4);
    v.dont_fragment = true;
    v.hops = p[7];
    v.protocol = p[6];
    v.src = address::v6(p + 8);
    v.dst = address::v6(p + 24);
    v.upper = v6_header;
    for (;;) {
        const uint8_t type = v.protocol;
        if (type != ext_hop_by_hop && type != ext_routing && type != ext_fragment &&
            type != ext_auth && type != ext_destination)
            return true;
        if (v.size - v.upper < 8)
            return false;
        const uint8_t* e = p + v.upper;
        size_t length = 8;
        if (type == ext_auth)
            length = (size_t(e[1]) + 2) * 4;
        else if (type != ext_fragment)
            length = (size_t(e[1]) + 1) * 8;
        if (length > v.size - v.upper)
            return false;
        v.upper += length;
        v.protocol = e[0];
        if (type == ext_fragment && (get16(e + 2) & 0xfff8) != 0) {
            v.later_fragment = true;
            return true;
        }
    }
}

} // namespace

uint32_t checksum_add(uint32_t sum, const uint8_t* p, size_t n)
{
    uint64_t s = sum;
    for (size_t k = 0; k + 1 < n; k += 2)
        s += get16(p + k);
    if (n % 2 != 0)
        s += uint64_t(p[n - 1]) << 8;
    while (s > 0xffffffffu)
        s = (s & 0xffffffffu) + (s >> 32);
    return static_cast<uint32_t>(s);
}

uint16_t checksum_fold(uint32_t sum)
{
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<uint16_t>(~sum);
}

std::optional<packet_view> read_packet(const uint8_t* p, size_t n)
{
    packet_view v;
    v.data = p;
    v.size = n;
    if (n == 0)
        return std::nullopt;
    const int version = p[0] >> 4;
    if (!(version == 4 && read_v4(v)) && !(version == 6 && read_v6(v)))
        return std::nullopt;
    if (!v.later_fragment)
        read_upper(v);
    return v;
}

void decrement_hops(octets& d)
{
    if (d.size() >= v6_header && d[0] >> 4 == 6) {
        --d[7];
    } else if (d.size() >= v4_header) {
        const uint16_t before = get16(&d[8]);
        --d[8];
        put16(&d[10], checksum_update(get16(&d[10]), before, get16(&d[8])));
    }
}

bool clamp_mss(octets& d, uint16_t mss)
{
    const auto v = read_packet(d.data(), d.size());
    constexpr size_t tcp_header = 20;
    constexpr uint8_t flag_syn = 2, option_end = 0, option_nop = 1, option_mss = 2;
    if (!v || v->protocol != proto_tcp || !v->has_ports ||
        v->size - v->upper < tcp_header)
        return false;
    uint8_t* tcp = &d[v->upper];
    const size_t header = size_t(tcp[12] >> 4) * 4;
    if ((tcp[13] & flag_syn) == 0 || header < tcp_header || header > v->size - v->upper)
        return false;
    for (size_t k = tcp_header; k < header && tcp[k] != option_end;) {
        if (tcp[k] == option_nop) {
            ++k;
            continue;
        }
        if (k + 2 > header || tcp[k + 1] < 2 || k + tcp[k + 1] > header)
            return false;
        if (tcp[k] == option_mss && tcp[k + 1] == 4) {
            if (get16(tcp + k + 2) <= mss)
                return false;
            // The value may lie across two words of the checksum.
            const size_t from = (k + 2) & ~size_t(1), to = (k + 5) & ~size_t(1);
            uint16_t before[2] = { get16(tcp + from), get16(tcp + to - 2) };
            put16(tcp + k + 2, mss);
            uint16_t sum = get16(tcp + 16);
            sum = checksum_update(sum, before[0], get16(tcp + from));
            if (to - from > 2)
                sum = checksum_update(sum, before[1], get16(tcp + to - 2));
            put16(tcp + 16, sum);
            return true;
        }
        k += tcp[k + 1];
    }
    return false;
}

void set_tcp_window(octets& d, size_t upper, uint16_t window)
{
    uint8_t* tcp = &d[upper];
    const uint16_t before = get16(tcp + 14);
    put16(tcp + 14, window);
    put16(tcp + 16, checksum_update(get16(tcp + 16), before, window));
}

bool mark_congestion(octets& d)
{
    const bool v6 = d[0] >> 4 == 6;
    const unsigned ecn = v6 ? d[1] >> 4 & 3u : d[1] & 3u;
    if (ecn == 0)
        return false;
    if (v6) {
        d[1] = static_cast<uint8_t>(d[1] | 0x30);
        return true;
    }
    d[1] = static_cast<uint8_t>(d[1] | 3);
    d[10] = d[11] = 0;
    const uint16_t c = checksum_fold(checksum_add(0, d.data(), size_t(d[0] & 15) * 4));
    d[10] = static_cast<uint8_t>(c >> 8);
    d[11] = static_cast<uint8_t>(c);
    return true;
}

std::vector<octets> fragments(const packet_view& v, size_t mtu)
{
    constexpr unsigned more = 0x2000, offset_mask = 0x1fff;
    const size_t header = v.version == 4 ? size_t(v.data[0] & 15) * 4 : 0;
    // Options may be required in every fragment or only in the first. Such datagrams are
    // not cut.
    if (v.version != 4 || v.dont_fragment || header != 20 || v.size <= mtu ||
        mtu < header + 8)
        return {};
    const size_t piece = (mtu - header) / 8 * 8;
    const unsigned flags = static_cast<unsigned>(v.data[6] << 8 | v.data[7]);
    std::vector<octets> all;
    for (size_t at = header; at < v.size; at += piece) {
        const size_t n = std::min(piece, v.size - at);
        octets d(v.data, v.data + header);
        d.insert(d.end(), v.data + at, v.data + at + n);
        const size_t offset = (flags & offset_mask) + (at - header) / 8;
        const bool last = at + n == v.size;
        const auto set = [&d](size_t where, size_t x) {
            d[where] = static_cast<uint8_t>(x >> 8);
            d[where + 1] = static_cast<uint8_t>(x);
        };
        set(2, d.size());
        set(6, (offset & offset_mask) | (last ? flags & more : more));
        set(10, 0);
        set(10, checksum_fold(checksum_add(0, d.data(), header)));
        all.push_back(std::move(d));
    }
    return all;
}

} // namespace gr::hf::ip
